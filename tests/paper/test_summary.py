"""Summaries of results: statistics by hand, tables and pictures."""

import math
import re
import sys

import numpy as np
import pytest
from scipy import stats

from made_up_rows import rows_of, small
from unskew.errors import MissingExtra
from unskew.paper.plans import CLIPS, NINE, NOISE, PLANS, POWERS, PRIORS, SIX, Plan
from unskew.paper.summary import (
    _figures,
    draw,
    pictures,
    plan_on_datasets_of,
    summarize,
    to_latex,
    to_markdown,
    with_all_rows,
    write,
)
from unskew.paper.summary._records import MISSING
from unskew.paper.summary._statistics import (
    Mean,
    mean_of,
    paired_difference,
    paired_p_value,
    standard_errors_apart,
    standing,
)
from unskew.paper.summary._writing import _in_latex


def entries(summary, title, table=0):
    """The line of a title, by column."""
    lines = [line for group in summary.tables[table].groups for line in group]
    line = next(line for line in lines if line[0].text == title)
    return dict(zip(summary.tables[table].header, line, strict=True))


# Statistics.


def test_means_are_taken_within_each_prior_first():
    values = {(0.05, 0): 0.5, (0.05, 1): 0.7, (0.2, 0): 0.9}
    mean = mean_of(values, PRIORS)
    assert mean.value == pytest.approx((0.6 + 0.9) / 2)
    assert (mean.n, mean.missing) == (3, (0.1, 0.15))
    assert mean_of({}, PRIORS) is None


def test_a_complete_mean_is_the_plain_one_with_the_plain_standard_deviation():
    values = {(prior, seed): math.sin(100 * prior + seed) for prior in PRIORS for seed in range(10)}
    mean = mean_of(values, PRIORS)
    assert mean.value == pytest.approx(np.mean(list(values.values())))
    assert mean.std == pytest.approx(np.std(list(values.values()), ddof=1))
    assert mean.error == pytest.approx(mean.std / math.sqrt(40))
    assert not mean.missing


def test_a_single_run_has_no_standard_deviation():
    assert math.isnan(mean_of({(0.1, 0): 0.8}, [0.1]).std)


def test_paired_test_by_hand_over_the_runs_that_both_have():
    first = {(0.1, seed): value for seed, value in enumerate([0.91, 0.88, 0.95, 0.90])}
    second = {(0.1, seed): value for seed, value in enumerate([0.90, 0.89, 0.91, 0.86, 0.10])}
    difference = np.array([0.01, -0.01, 0.04, 0.04])
    t = difference.mean() / (difference.std(ddof=1) / 2)
    assert paired_p_value(first, second) == pytest.approx(2 * stats.t.sf(t, df=3))
    assert paired_p_value(first, second) == pytest.approx(
        stats.ttest_rel([0.91, 0.88, 0.95, 0.90], [0.90, 0.89, 0.91, 0.86]).pvalue
    )


def test_ties_constant_differences_and_too_few_pairs():
    runs = {(0.1, 0): 0.7, (0.1, 1): 0.8, (0.2, 0): 0.9}
    assert paired_p_value(runs, dict(runs)) == 1.0
    assert paired_p_value(runs, {run: value - 0.1 for run, value in runs.items()}) == 0.0
    assert paired_p_value(runs, {(0.1, 0): 0.5, (0.3, 0): 0.6}) is None


def test_bold_are_the_best_and_what_does_not_differ_from_it():
    noise = [0.0, 0.02, -0.02, 0.01]
    best = {(0.1, seed): 0.8 + 0.001 * seed for seed in range(4)}
    near = {run: best[run] - 0.001 + noise[run[1]] for run in best}
    far = {run: best[run] - 0.1 + noise[run[1]] for run in best}
    found = standing([near, best, dict(best), far, {}, {(0.1, 0): 0.1}], [0.1])
    # `near` has the highest mean; one pair alone is not tested, and a column without runs is nothing.
    assert found.bold == (True, True, True, False, False, False)
    assert found.untested == (False, False, False, False, False, True)


def test_a_mean_over_easier_priors_is_not_the_best():
    whole = {(0.1, 0): 0.6, (0.1, 1): 0.61, (0.2, 0): 0.9, (0.2, 1): 0.91}
    easy = {(0.2, 0): 0.80, (0.2, 1): 0.805}
    assert standing([whole, easy], [0.1, 0.2]).bold == (True, False)
    assert standing([{}, {}], [0.1]).bold == (False, False)


def test_difference_in_standard_errors_by_hand():
    ours = Mean(0.90, 0.02, dict.fromkeys(PRIORS, 5))
    assert standard_errors_apart(ours, 0.89, 0.03) == pytest.approx(0.01 / math.sqrt(0.02**2 / 20 + 0.03**2 / 40))
    assert standard_errors_apart(ours, 0.89, None) == pytest.approx(0.01 / math.sqrt(0.02**2 / 20 + 0.02**2 / 40))
    assert standard_errors_apart(Mean(0.9, 0.02, {0.1: 5, 0.2: 0}), 0.89, 0.03) is None
    assert standard_errors_apart(Mean(0.9, math.nan, {0.1: 1}), 0.89, 0.03) is None


def test_paired_difference_by_hand():
    first = {(0.1, 0): 0.9, (0.1, 1): 0.8, (0.2, 0): 0.7, (0.2, 1): 0.9, (0.2, 7): 0.1}
    second = {(0.1, 0): 0.8, (0.1, 1): 0.6, (0.2, 0): 0.7, (0.2, 1): 0.8}
    found = paired_difference(first, second, [0.1, 0.2])
    assert found.mean.value == pytest.approx((0.15 + 0.05) / 2)
    variance = (2 * 0.05**2 + 2 * 0.05**2) / 2  # within priors, on two degrees of freedom
    assert found.error == pytest.approx(math.sqrt(variance * (1 / 2 + 1 / 2)) / 2)
    assert math.isnan(paired_difference({(0.1, 0): 0.9}, {(0.1, 0): 0.8}, [0.1]).error)
    assert paired_difference(first, {}, [0.1]) is None


# Tables.


def test_means_stand_beside_the_papers_with_their_distance():
    plan = small("table1", datasets=("mnist",))
    rows = rows_of(plan)
    summary = summarize(plan, rows)
    ours = [row["auc"] for row in rows if row["method"] == "conf-auc"]
    assert entries(summary, "Mnist")["Ours"].text == f"{np.mean(ours):.4f}"
    assert entries(summary, "Mnist")["priors × seeds"].text == "4 × 3"
    assert entries(summary, "paper")["Ours"].text == "0.8979"
    apart = (np.mean(ours) - 0.8979) / math.sqrt(np.var(ours, ddof=1) / 12 + 0.0158**2 / 40)
    assert entries(summary, "difference / s.e.")["Ours"].text == f"{apart:+.1f}"
    assert (summary.runs, summary.planned) == (4 * 3 * 9, 4 * 3 * 9)


def test_identical_methods_are_both_bold():
    levels = {"ntc": 0.9, "pg": 0.9}
    plan = small("table1", datasets=("mnist",))
    line = entries(summarize(plan, rows_of(plan, lambda s, rng: levels.get(s.method, 0.6) + s.seed / 99)), "Mnist")
    assert [title for title, entry in line.items() if entry.bold] == ["NTC", "PG"]


def test_stand_ins_go_by_their_own_names_and_are_not_compared():
    plan = small("table1", datasets=("diabetes-2015",))
    summary = summarize(plan, rows_of(plan))
    titles = [line[0].text for group in summary.tables[0].groups for line in group]
    assert titles == ["Diabetes-2015", "paper, Diabetes"]
    assert entries(summary, "paper, Diabetes")["Ours"].text == "0.7342"
    assert any("The data differ" in note for note in summary.notes)


def test_other_priors_or_epochs_are_not_compared_with_the_paper():
    for plan in (small("table1").only(priors=[0.1]), small("table1").only(max_epochs=2)):
        text = to_markdown(summarize(plan, rows_of(plan)))
        assert "| paper |" in text
        assert "| difference / s.e. |" not in text
        assert "for other priors or epochs than these" in text


def test_a_data_set_that_the_paper_does_not_have_stands_alone():
    plan = small("table1", datasets=("digits",), seeds=2)
    text = to_markdown(summarize(plan, rows_of(plan)))
    assert "| Digits | 4 × 2 |" in text
    assert "| paper" not in text


def test_incomplete_entries_are_marked_and_explained():
    plan = small("table1", datasets=("mnist",))
    rows = [r for r in rows_of(plan) if not (r["method"] in ("npu", "ntc") and r["prior"] == 0.05)]
    rows = [row for row in rows if not (row["method"] == "pusb" and row["prior"] == 0.1 and row["seed"] > 0)]
    rows = [row for row in rows if row["method"] != "pconf"]
    summary = summarize(plan, rows)
    line = entries(summary, "Mnist")
    assert [title for title, entry in line.items() if entry.mark == "†"] == ["NTC", "PUSB", "NPU"]
    assert "† Mnist (NTC, NPU): 9 of 12 runs, none at prior 0.05." in summary.notes
    assert "† Mnist (PUSB): 10 of 12 runs." in summary.notes
    assert line["Pconf"].text == MISSING
    apart = entries(summary, "difference / s.e.")
    assert apart["NTC"].text == MISSING  # over other priors than the paper's mean
    assert apart["PUSB"].text != MISSING


def test_lines_that_lack_the_same_are_named_together():
    plan = small("prior", datasets=("mnist", "fmnist"))
    short = [row for row in rows_of(plan) if row["prior"] != 0.1 or row["seed"] > 0]
    assert "† all lines (0.1): 2 of 3 runs." in summarize(plan, short).notes
    short = [row for row in rows_of(plan) if row["method"] not in ("npu", "ntc") or row["prior"] != 0.1 or row["seed"]]
    notes = [note for note in summarize(plan, short).notes if note.startswith("†")]
    assert notes == ["† Mnist, NTC; Mnist, NPU; Fmnist, NTC; Fmnist, NPU (0.1): 2 of 3 runs."]


def test_one_run_each_is_not_tested():
    plan = small("table1", datasets=("mnist",), seeds=1).only(priors=[0.1])
    summary = summarize(plan, rows_of(plan))
    assert sum(entry.mark == "‡" for entry in entries(summary, "Mnist").values()) == 8
    assert any("not tested" in note for note in summary.notes)


def test_standard_deviations_as_in_the_papers_full_table():
    plan = small("table1-std", datasets=("mnist",))
    rows = rows_of(plan)
    summary = summarize(plan, rows)
    assert [len(table.header) - 2 for table in summary.tables] == [5, 4]
    npu = [row["auc"] for row in rows if row["method"] == "npu"]
    assert entries(summary, "Mnist", table=1)["NPU"].text == f"{np.mean(npu):.4f} ({np.std(npu, ddof=1):.4f})"
    assert entries(summary, "paper", table=1)["NPU"].text == "0.8285 (0.0598)"


@pytest.mark.parametrize(
    ("name", "values"), [("noisy-confidence", NOISE), ("clipping", CLIPS), ("noisy-labeling", NOISE)]
)
def test_variants_in_columns_and_methods_to_compare_with_last(name, values):
    plan = small(name, datasets=("mnist",))
    change = next(iter(plan.variants))
    rows = rows_of(plan, lambda s, rng: 0.8 + getattr(s, change) / 10 if s.method == "conf-auc" else 0.7)
    summary = summarize(plan, rows)
    titles = [format(value, "g") for value in values] + ["w/oConf"] * (name == "noisy-confidence")
    assert list(summary.tables[0].header[2:]) == titles
    for value in values:
        assert entries(summary, "Mnist")[format(value, "g")].text == f"{0.8 + value / 10:.4f}"
    assert all(not entry.bold for entry in entries(summary, "Mnist").values())


def test_times_alone_and_with_the_labeling_network():
    plan = small("times", datasets=("mnist",))
    summary = summarize(plan, rows_of(plan))
    std = np.std([2.0, 3.0, 4.0] * 4, ddof=1)
    assert entries(summary, "Mnist")["NTC"].text == f"3.00 ({std:.2f})"
    assert entries(summary, "Mnist, with labeling network")["PG"].text == f"13.00 ({std:.2f})"
    assert entries(summary, "Mnist, with labeling network")["NTC"].text == MISSING
    assert entries(summary, "paper")["PG"].text == "0.33"
    assert entries(summary, "paper, with labeling network")["PG"].text == "85.15"
    assert any("nine networks" in note for note in summary.notes)


def test_numbers_of_the_weights():
    plan = small("weights", datasets=("mnist",), seeds=2)
    line = entries(summarize(plan, rows_of(plan)), "Mnist")
    effective = 23.5**2 / (0.25 + 1 + 4 + 400)
    texts = [line[title].text for title in ("runs", "labeled", "smallest", "median", "largest", "below 10")]
    assert texts == ["2", "4", "0.50", "1.50", "20.0", "75%"]
    assert line["effective sample size"].text == f"{effective:.1f}"


def test_numbers_of_curves():
    plan = small("transform-odds", datasets=("mnist",))
    rows = rows_of(plan, lambda s, rng: {"conf-auc": 0.9, "pconf": 0.8 - s.power / 100}.get(s.method, 0.7))
    table = summarize(plan, rows).tables[0]
    assert table.header[3:] == tuple(f"k = {value:g}" for value in POWERS)
    assert [line[1].text for line in table.groups[0]] == ["Ours", "Pconf", "w/oConf"]
    assert [entry.text for entry in table.groups[0][1][3:]] == [f"{0.8 - k / 100:.4f} ± 0.0000" for k in POWERS]


def test_notes_of_curves_say_what_their_errors_contain():
    over_k, over_prior = (
        " ".join(summarize(small(name), rows_of(small(name))).notes) for name in ("transform-power", "prior")
    )
    assert "± its standard error" not in over_k
    assert "± s/√n, with s the standard deviation of all n runs. It includes the spread between priors" in over_k
    assert "± its standard error" in over_prior  # of one prior each


def test_a_method_that_is_not_known_here_goes_by_its_name():
    plan = Plan("mine", "A table of my own", "nowhere", datasets=("my-data",), methods=("my_method", "ntc"), seeds=2)
    text = to_markdown(summarize(plan, rows_of(plan)))
    assert "| Data | priors × seeds | my_method | NTC |" in text
    assert "| My-Data |" in text


def test_a_plan_of_an_unknown_kind_is_refused():
    plan = Plan("mine", "A table", "nowhere", show="pie", datasets=("toy",), methods=("ntc",), seeds=1)
    with pytest.raises(ValueError, match="show of plan 'mine' must be one of methods, .* but it is 'pie'"):
        summarize(plan, rows_of(plan))


# Markdown, LaTeX, files.


@pytest.mark.parametrize("name", PLANS)
def test_every_line_of_a_table_has_as_many_columns_in_markdown_and_latex(name):
    plan = small(name, seeds=2)
    summary = summarize(plan, rows_of(plan)[3:])  # a little is missing everywhere
    for block in re.findall(r"(?:^\|.*\n?)+", to_markdown(summary), re.MULTILINE):
        assert len({line.count("|") for line in block.splitlines()}) == 1
    text = to_latex(summary)
    assert text.isascii()
    assert text.count("{") == text.count("}")
    assert len(re.findall(r"(?<!\\)\$", text)) % 2 == 0
    opened, closed = re.findall(r"\\begin\{(.*?)\}", text), re.findall(r"\\end\{(.*?)\}", text)
    assert sorted(opened) == sorted(closed)
    for columns, body in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, re.DOTALL):
        lines = [line for line in body.splitlines() if line.endswith("\\\\")]
        assert len(lines) > 1
        assert {line.count("&") + 1 for line in lines} == {len(columns)}


def test_bold_in_both_languages():
    plan = small("lbe", datasets=("mnist",))
    summary = summarize(plan, rows_of(plan, lambda s, rng: 0.9 if s.method == "lbe" else 0.7 + s.seed / 99))
    assert "**0.9000**" in to_markdown(summary)
    assert r"{\bf 0.9000}" in to_latex(summary)


def test_what_latex_would_take_for_commands_is_written_out():
    assert _in_latex(r"50% of a_b & c\d{x}^2 #1 ~$") == (r"50\% of a\_b \& c\textbackslash{}d\{x\}\^{}2 \#1 \~{}\$")


def test_files_of_a_summary(tmp_path):
    plan = small("prior", seeds=2)
    written = write(summarize(plan, rows_of(plan)), tmp_path / "new")
    assert [path.name for path in written.files] == ["prior.md", "prior.tex", "prior.png", "prior.svg"]
    assert all(path.stat().st_size for path in written.files)
    assert not written.message
    assert "](prior.png)" in written.files[0].read_text()
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(path.name for path in written.files)


def test_without_matplotlib_tables_are_written_and_a_message_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    plan = small("prior", seeds=2)
    summary = summarize(plan, rows_of(plan))
    with pytest.raises(MissingExtra, match="matplotlib"):
        draw(summary)
    written = write(summary, tmp_path)
    assert [path.name for path in written.files] == ["prior.md", "prior.tex"]
    assert "pip install 'unskew[plots]'" in written.message
    assert "](" not in written.files[0].read_text()


def test_nothing_to_summarize(tmp_path):
    summary = summarize(PLANS["prior"], [])
    assert (summary.tables, summary.panels, summary.runs) == ((), (), 0)
    assert draw(summary) is None
    assert "No runs yet: Mnist, Fmnist" in to_markdown(summary)
    assert len(write(summary, tmp_path).files) == 2


# Pictures.


@pytest.mark.parametrize("name", [name for name, plan in PLANS.items() if plan.show == "curve"])
def test_a_panel_for_each_data_set_and_a_line_for_each_method(name):
    plan = small(name, seeds=2)
    figure = draw(summarize(plan, rows_of(plan)))
    assert [axes.get_title() for axes in figure.axes] == ["Mnist", "Fmnist", "Diabetes-2015"]
    count = len({*plan.methods, *plan.extra})
    for axes in figure.axes:
        named = [line for line in axes.lines if not line.get_label().startswith("_")]
        assert len(named) == count
        assert len({(line.get_marker(), line.get_linestyle(), line.get_markerfacecolor()) for line in named}) == count
        assert axes.get_xscale() == ("linear" if plan.axis == "prior" else "log")
    assert [text.get_text() for text in figure.legends[0].get_texts()][0] == "Ours"
    assert len(figure.legends[0].get_texts()) == count


def test_a_line_has_the_means_of_its_rows():
    plan = small("prior", datasets=("mnist",))
    figure = draw(summarize(plan, rows_of(plan, lambda setting, rng: setting.prior)))
    assert np.allclose(figure.axes[0].lines[0].get_xydata(), np.c_[PRIORS, PRIORS])


def test_pictures_are_the_same_each_time_and_leave_no_trace():
    import matplotlib

    before = dict(matplotlib.rcParams)
    plan = small("weights", seeds=2)
    summary = summarize(plan, rows_of(plan))
    first = pictures(summary)
    assert first == pictures(summary)
    assert first[".png"].startswith(b"\x89PNG")
    assert first[".svg"].startswith(b"<svg")
    assert dict(matplotlib.rcParams) == before
    assert set(_figures._LOOKS) == {*NINE, "lbe"}


# Which data sets, and the page.


def test_plans_take_the_data_sets_that_their_rows_are_about():
    table1 = rows_of(PLANS["table1"].only(datasets=("blood-2015", "mnist", "digits"), seeds=1))
    rows = table1 + rows_of(PLANS["table-human"].only(seeds=1))
    assert plan_on_datasets_of(PLANS["table1"], rows).datasets == ("mnist", "blood-2015", "digits")
    assert plan_on_datasets_of(PLANS["table-human"], rows).datasets == PLANS["table-human"].datasets
    assert plan_on_datasets_of(PLANS["weights"], rows).datasets == ("mnist", "blood-2015", "digits")
    for name in ("lbe", "clipping", "noisy-confidence", "transform-power", "prior-fixed-labeled", "c005"):
        assert plan_on_datasets_of(PLANS[name], rows).datasets == ()
    assert set(plan_on_datasets_of(PLANS["table1"], rows_of(PLANS["table1"].only(seeds=1))).datasets) == set(SIX)


def test_a_plan_is_widened_to_all_that_its_rows_are_about():
    whole = PLANS["table1"].only(datasets=("blood-2015", "mnist"), methods=("mine", "ntc", "conf-auc"), seeds=2)
    part = PLANS["table1"].only(datasets=("digits",), methods=("puauc",), priors=[0.3], seeds=1)
    wide = with_all_rows(part, rows_of(whole) + rows_of(part))
    assert wide.datasets == ("mnist", "blood-2015", "digits")
    assert wide.methods == ("conf-auc", "ntc", "puauc", "mine")
    assert (wide.priors, wide.seeds) == ((*PRIORS, 0.3), 2)
    assert with_all_rows(part, rows_of(whole.only(max_epochs=2))) == part
    assert with_all_rows(part, []) == part


def test_a_plan_is_widened_neither_to_earlier_seeds_nor_over_a_gap():
    rows = [row for row in rows_of(PLANS["table1"].only(datasets=("mnist",), seeds=10)) if row["seed"] != 7]
    part = PLANS["table1"].only(datasets=("mnist",), seeds=1, first_seed=4)
    assert with_all_rows(part, rows).seed_numbers == range(4, 7)
    assert with_all_rows(part.only(first_seed=0), rows).seed_numbers == range(7)
    early = [row for row in rows if row["seed"] < 4] + rows_of(part.only(methods=["ntc"]))
    assert summarize(with_all_rows(part, early), early).runs == 4  # of ntc, and nothing of earlier seeds


def test_methods_beside_the_variants_of_a_plan_stay_there_unless_they_were_varied():
    plan = small("noisy-confidence", seeds=1)
    part = plan.only(methods=["conf-auc"])
    assert with_all_rows(part, rows_of(plan)) == plan
    varied = plan.only(methods=["no-conf"])
    wide = with_all_rows(part, rows_of(varied))
    assert (wide.methods, wide.extra) == (("conf-auc", "no-conf"), ())
    assert with_all_rows(plan, rows_of(part)).extra == ("no-conf",)
