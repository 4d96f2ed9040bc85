"""Summaries of results: statistics by hand, the paper's numbers, tables, pictures and the page of results."""

import importlib.util
import json
import math
import re
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from unskew.errors import MissingExtra
from unskew.experiments.plans import CLIPS, NINE, NOISE, PLANS, POWERS, PRIORS, SIX, Plan
from unskew.experiments.summary import (
    draw,
    on_datasets_of,
    published,
    summarize,
    to_latex,
    to_markdown,
    with_all_rows,
    write,
)
from unskew.experiments.summary import figures as figures_module
from unskew.experiments.summary.figures import pictures
from unskew.experiments.summary.latex import escaped
from unskew.experiments.summary.records import MISSING
from unskew.experiments.summary.statistics import Mean, mean_of, paired_p_value, standard_errors_apart, standing

ROOT = Path(__file__).parents[1]
PAPER = ROOT.parent / "shared" / "paper.tex"
LIKE_PAPER = ("mnist", "fmnist", "diabetes-2015")


def rows_of(plan, auc=lambda setting, rng: 0.7 + setting.prior + 0.01 * rng.normal()):
    """A row for every setting, with made-up results."""
    rng = np.random.RandomState(0)
    extras = {
        "best_epoch": 3,
        "epochs": 9,
        "n_labeled": 5,
        "n_train": 50,
        "versions": {"v": "1"},
        "machine": {"m": "x"},
    }
    rows = []
    for setting in plan.settings():
        lent = setting.method in ("conf-auc", "no-conf", "pg")
        row = {"auc": auc(setting, rng), "seconds": 2.0 + setting.seed, "labeling_seconds": 10.0 * lent, **extras}
        weights = {"weights": [0.5, 1.0, 2.0, 20.0]} if setting.method == "conf-auc" else {}
        rows.append({**asdict(setting), **row, **weights})
    return rows


def small(name, datasets=LIKE_PAPER, seeds=3):
    """A plan on few data sets and seeds."""
    plan = PLANS[name]
    return plan.only(datasets=plan.datasets if name == "table-human" else datasets, seeds=seeds)


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


# The paper's numbers.


@pytest.mark.parametrize(
    ("plan", "count"),
    [
        *((name, 6 * 9) for name in ("table1", "table1-std", "c005", "c015", "confidence-bias")),
        ("table-human", 2 * 9),
        ("lbe", 6 * 2),
        ("times", 9 + 3),
        ("noisy-confidence", 6 * 6),
        ("clipping", 6 * 5),
        ("noisy-labeling", 6 * 5),
        ("weights", 2),
        ("prior", 0),
    ],
)
def test_every_number_of_a_table_is_there(plan, count):
    assert len(published(plan)) == count
    if plan not in ("times", "weights"):
        assert all(0.3 < each.value < 1 for each in published(plan).values())
    assert all((each.std is not None) == plan.startswith("table1") for each in published(plan).values())


@pytest.mark.parametrize("name", PLANS)
def test_the_papers_numbers_are_found_by_the_plans_own_columns(name):
    plan = PLANS[name]
    values = [format(value, "g") for each in plan.variants.values() for value in each] or [""]
    keys = {(data, method, value) for data in plan.datasets for method in plan.methods for value in values}
    keys |= {(data, method, "") for data in plan.datasets for method in plan.extra}
    plain = {key for key in published(name) if key[2] not in ("full", "smallest", "largest")}
    assert plain == (keys if plain else set())


def printed_tables(label):
    """Headers and lines of the tables under a label of the paper, without what only makes them look nice."""
    text = PAPER.read_text()
    start = text.index(f"\\label{{{label}}}")
    body = text[start : text.index("\\end{table*}", start)]
    for content in re.findall(r"\\begin\{tabular\}\{[^}]*\}(.*?)\\end\{tabular\}", body, re.DOTALL):
        plain = re.sub(r"\\(?:multicolumn\{1\}\{c\}|bf|textbf)\{([^}]*)\}", r"\1", content)
        plain = re.sub(r"\\hline|\$|\\tau=", "", plain)
        lines = [[cell.strip() for cell in line.split("&")] for line in plain.split("\\\\")]
        header, *rest = (line for line in lines if len(line) > 1)
        yield header[1:], {line[0]: line[1:] for line in rest if not line[0].startswith("\\#")}


def printed(label):
    """Numbers under a label by title of line and column."""
    return {
        (line, column): cell
        for header, lines in printed_tables(label)
        for line, cells in lines.items()
        for column, cell in zip(header, cells, strict=True)
    }


PRINTED = ("Ours", "w/oConf", "NTC", "nnPU", "PUAUC", "PUSB", "PG", "Pconf", "NPU", "LBE")
TITLES = dict(zip(PRINTED, (*NINE, "lbe"), strict=True))
needs_paper = pytest.mark.skipif(not PAPER.exists(), reason="the paper's source is not beside the repository")


@needs_paper
@pytest.mark.parametrize(
    ("plan", "label"),
    [
        ("table1", "result_all_std"),
        ("table-human", "result_cifar10h"),
        ("c005", "tab:c005"),
        ("c015", "tab:c015"),
        ("confidence-bias", "result_conf_dep"),
        ("noisy-confidence", "result_noisy"),
        ("clipping", "table:clipping"),
        ("noisy-labeling", "result_noisy_u"),
    ],
)
def test_numbers_are_those_printed(plan, label):
    def key(line, column):
        method = TITLES.get(column, "conf-auc")
        return line.lower(), method, "" if column in TITLES else format(float(column), "g")

    def number(cell):
        value, _, std = cell.rstrip(")").partition("(")
        return float(value), float(std) if std else None

    found = {key(*place): number(cell) for place, cell in printed(label).items()}
    assert found == {place: (each.value, each.std) for place, each in published(plan).items()}


@needs_paper
def test_numbers_printed_another_way():
    table1 = {(line.lower(), TITLES[column], ""): float(cell) for (line, column), cell in printed("result_all").items()}
    assert table1 == {place: each.value for place, each in published("table1").items()}
    lbe = {(column.lower(), TITLES[line], ""): float(cell) for (line, column), cell in printed("table:lbe").items()}
    assert lbe == {place: each.value for place, each in published("lbe").items()}
    times = {("mnist", TITLES[column], ""): float(cell) for (_, column), cell in printed("table:comptime").items()}
    sentence = re.search(r"were \$([\d.]+)\$, \$([\d.]+)\$, and \$([\d.]+)\$, respectively", PAPER.read_text())
    owners = zip(("conf-auc", "no-conf", "pg"), sentence.groups(), strict=True)
    full = {("mnist", method, "full"): float(number) for method, number in owners}
    assert times | full == {place: each.value for place, each in published("times").items()}
    ends = re.search(r"ranged from around \$([\d.]+)\$ to about \$([\d.]+)\$", PAPER.read_text())
    assert [float(each) for each in ends.groups()] == [each.value for each in published("weights").values()]


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
    assert any("different data" in note for note in summary.notes)


def test_other_priors_or_epochs_are_not_compared_with_the_paper():
    for plan in (small("table1").only(priors=[0.1]), small("table1").only(max_epochs=2)):
        text = to_markdown(summarize(plan, rows_of(plan)))
        assert "| paper |" in text
        assert "| difference / s.e. |" not in text
        assert "not for these" in text


def test_a_data_set_that_the_paper_does_not_have_stands_alone():
    plan = small("table1", datasets=("digits",), seeds=2)
    text = to_markdown(summarize(plan, rows_of(plan)))
    assert "| Digits | 4 × 2 |" in text
    assert "| paper" not in text


def test_incomplete_entries_are_marked_and_told():
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
    assert "± s/√n, with s the standard deviation of all n runs. It contains the spread between priors" in over_k
    assert "± its standard error" in over_prior  # of one prior each


def test_a_method_that_is_not_known_here_goes_by_its_name():
    plan = Plan("mine", "A table of my own", "nowhere", datasets=("my-data",), methods=("my_method", "ntc"), seeds=2)
    text = to_markdown(summarize(plan, rows_of(plan)))
    assert "| Data | priors × seeds | my_method | NTC |" in text
    assert "| My-Data |" in text


def test_a_plan_of_an_unknown_kind_is_refused():
    plan = Plan("mine", "A table", "nowhere", show="pie", datasets=("toy",), methods=("ntc",), seeds=1)
    with pytest.raises(ValueError, match="show must be methods, .* 'mine' has 'pie'"):
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
    assert escaped(r"50% of a_b & c\d{x}^2 #1 ~$") == (r"50\% of a\_b \& c\textbackslash{}d\{x\}\^{}2 \#1 \~{}\$")


def test_files_of_a_summary(tmp_path):
    plan = small("prior", seeds=2)
    written = write(summarize(plan, rows_of(plan)), tmp_path / "new")
    assert [path.name for path in written.files] == ["prior.md", "prior.tex", "prior.png", "prior.svg"]
    assert all(path.stat().st_size for path in written.files)
    assert not written.message
    assert "](prior.png)" in written.files[0].read_text()
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(path.name for path in written.files)


def test_without_matplotlib_tables_are_written_and_told_what_is_missing(tmp_path, monkeypatch):
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
    assert set(figures_module._LOOKS) == {*NINE, "lbe"}


# Which data sets, and the page.


def test_plans_take_the_data_sets_that_their_rows_are_about():
    table1 = rows_of(PLANS["table1"].only(datasets=("blood-2015", "mnist", "digits"), seeds=1))
    rows = table1 + rows_of(PLANS["table-human"].only(seeds=1))
    assert on_datasets_of(PLANS["table1"], rows).datasets == ("mnist", "blood-2015", "digits")
    assert on_datasets_of(PLANS["table-human"], rows).datasets == PLANS["table-human"].datasets
    assert on_datasets_of(PLANS["weights"], rows).datasets == ("mnist", "blood-2015", "digits")
    for name in ("lbe", "clipping", "noisy-confidence", "transform-power", "prior-fixed-labeled", "c005"):
        assert on_datasets_of(PLANS[name], rows).datasets == ()
    assert set(on_datasets_of(PLANS["table1"], rows_of(PLANS["table1"].only(seeds=1))).datasets) == set(SIX)


def test_a_plan_is_widened_to_all_that_its_rows_are_about():
    whole = PLANS["table1"].only(datasets=("blood-2015", "mnist"), methods=("mine", "ntc", "conf-auc"), seeds=2)
    part = PLANS["table1"].only(datasets=("digits",), methods=("puauc",), priors=[0.3], seeds=1)
    wide = with_all_rows(part, rows_of(whole) + rows_of(part))
    assert wide.datasets == ("mnist", "blood-2015", "digits")
    assert wide.methods == ("conf-auc", "ntc", "puauc", "mine")
    assert (wide.priors, wide.seeds) == ((*PRIORS, 0.3), 2)
    assert with_all_rows(part, rows_of(whole.only(max_epochs=2))) == part
    assert with_all_rows(part, []) == part


def test_methods_beside_the_variants_of_a_plan_stay_there_unless_they_were_varied():
    plan = small("noisy-confidence", seeds=1)
    part = plan.only(methods=["conf-auc"])
    assert with_all_rows(part, rows_of(plan)) == plan
    varied = plan.only(methods=["no-conf"])
    wide = with_all_rows(part, rows_of(varied))
    assert (wide.methods, wide.extra) == (("conf-auc", "no-conf"), ())
    assert with_all_rows(plan, rows_of(part)).extra == ("no-conf",)


@pytest.fixture(scope="module")
def results_page():
    spec = importlib.util.spec_from_file_location("results_page", ROOT / "docs" / "results_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_of_results_is_what_the_rows_say(results_page):
    text = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert results_page.page() == text, "run: python docs/results_page.py"
    for picture in re.findall(r"\]\((results/.*?\.png)\)", text):
        assert (ROOT / "docs" / picture).exists(), "run: python docs/results_page.py"


def test_page_with_commands_and_analysis(results_page, tmp_path):
    plan = small("clipping", datasets=("mnist",), seeds=2)
    rows = rows_of(plan, lambda setting, rng: 0.8 + setting.clip)
    (tmp_path / "clipping.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "commands.txt").write_text("unskew reproduce clipping --dataset mnist\n")
    note = "{{mnist conf-auc=0.1}} is {{mnist conf-auc=0.1 - conf-auc=0.05}} more, {{mnist conf-auc=0.1 - paper}}."
    (tmp_path / "clipping.md").write_text(note)
    text = results_page.page(tmp_path, tmp_path)
    assert "```\nunskew reproduce clipping --dataset mnist\n```" in text
    assert "0.9000 is +0.0500 more, +0.0005." in text
    assert "- m x" in text
    assert "## clipping" in text
    assert "## table1" not in text
    for wrong in ("{{mnist conf}}", "{{cifar conf-auc}}"):
        (tmp_path / "clipping.md").write_text(wrong)
        with pytest.raises(ValueError, match="there (is|are) no"):
            results_page.page(tmp_path, tmp_path)


def test_page_with_the_study_of_open_choices(results_page, tmp_path):
    lines = [
        "dataset,method,choice,draws,auc,difference,error",
        "mnist,ntc,as in the experiments,4,0.84,0,0",
        "mnist,ntc,weights of the last epoch,4,0.86,0.02,0.003",
    ]
    (tmp_path / "choices").mkdir()
    (tmp_path / "choices" / "mnist.csv").write_text("\n".join(lines))
    (tmp_path / "choices" / "machine.csv").write_text("file\nmnist.csv\n")
    (tmp_path / "paper_choices.md").write_text("The epoch matters.")
    text = results_page.page(tmp_path, tmp_path)
    for line in (
        "| Mnist, 4 draws | NTC |",
        "| as in the experiments | 0.8400 |",
        "| weights of the last epoch | 0.8600 (+0.020 ± 0.003) |",
        "| paper | 0.8575 |",
        "The epoch matters.",
    ):
        assert f"\n{line}\n" in text
