"""The page of the benchmarks is what its rows say, and every script can be asked what it does."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import unskew

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"
SCRIPTS = (
    "pair_sums",
    "step_ratio",
    "cnn_step",
    "jobs",
    "beside_others",
    "long_training",
    "larger_than_memory",
    "million_rows",
    "explain",
    "warnings_study",
    "suggest",
    "workers",
    "subsampling",
    "scaling",
    "page",
)


@pytest.fixture(scope="module")
def modules():
    """`rows` and `page`, which find each other as they do when a script runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        yield importlib.import_module("rows"), importlib.import_module("page")
    for name in [
        each
        for each in sys.modules
        if each.partition(".")[0] in {"rows", "measure", "chapters", "large_table", "warned_tables", *SCRIPTS}
        if each.partition(".")[0] in {"rows", "measure", "chapters", "large_table", "estimate_beds", *SCRIPTS}
    ]:
        sys.modules.pop(name, None)


def cost(series, n_high, n_low, method, **entries):
    size = {"what": "cost", "series": series, "n_high": n_high, "n_low": n_low}
    return {**size, "method": method, "surrogate": "sigmoid", **entries}


def made_up_pairs(time_of_ours):
    """Chunks take 400 s at 10^4 x 10^6 pairs."""
    rows = [{"what": "batch", "method": "unskew, in a training step", "n_high": 20, "n_low": 1004}]
    rows[0] |= {"seconds": 1e-4, "ratio": 0.5}
    for series in ("fixed high", "fixed share"):
        for n_low in (10**5, 10**6, 10**7):
            ours = {"seconds": time_of_ours * n_low / 10**6, "extra_mb": 100.0, "from_part": False}
            rows.append(cost(series, 10_000, n_low, "unskew", **ours))
            rows.append(cost(series, 10_000, n_low, "dense torch", why_not="too large"))
    rows.append(cost("fixed high", 10_000, 10**6, "chunked torch", seconds=400.0, extra_mb=40.0, from_part=True))
    return rows


def verdicts(page, results):
    return {goal.text: goal.verdict for goal in importlib.import_module("chapters.goals").goals(results)}


def test_rows_come_back_as_they_were_written_with_the_machine_beside_them(modules, tmp_path):
    rows, _ = modules
    rows.save_rows([{"a": 1, "b": 0.123456789}, {"a": True, "c": None}], tmp_path / "new" / "one.csv")
    assert rows.read_rows(tmp_path / "new" / "one.csv") == [
        {"a": "1", "b": "0.12346", "c": ""},
        {"a": "yes", "b": "", "c": ""},
    ]
    for _ in range(2):  # a second run takes the place of the first
        rows.save_rows([{"a": 2}], tmp_path / "new" / "two.csv")
    machines = rows.read_rows(tmp_path / "new" / "machine.csv")
    assert [row["file"] for row in machines] == ["one.csv", "two.csv"]
    assert machines[0]["processor"]
    assert machines[0]["torch"]
    assert machines[0]["file"] == "one.csv"


def test_rows_of_other_processors_stay_and_those_of_this_one_are_replaced(modules, tmp_path):
    rows, _ = modules
    path = tmp_path / "steps.csv"
    here = rows.machine()["processor"]
    rows.save_rows([{"processor": "another", "ratio": 1.5}, {"processor": here, "ratio": 1.4}], path)
    rows.save_rows(rows.with_other_processors([{"ratio": 1.3}], path), path)
    assert rows.read_rows(path) == [{"processor": "another", "ratio": "1.5"}, {"processor": here, "ratio": "1.3"}]
    assert rows.with_other_processors([{"ratio": 1.3}], None) == [{"processor": here, "ratio": 1.3}]


def test_auto_with_trees_is_compared_with_the_better_of_network_and_trees(modules):
    ways = {"network": 0.7, "trees": 0.72, "auto": 0.8, "auto, trees": 0.75}
    rows = [
        {"table": "rules", "labels": "100", "seed": str(seed), "way": way, "auc": str(auc + seed / 100)}
        for seed in (0, 2)
        for way, auc in ways.items()
    ]
    section = importlib.import_module("chapters.rankings").trees_section(rows)
    assert "| rules | 2 | 100 | 0.710 | 0.730 | 0.810 | 0.760 | +0.030 |" in section


def test_suggested_labels_are_compared_with_twice_as_many_random_ones(modules):
    aucs = {"none": (0.7, 0.72), "50 suggested": (0.74, 0.74), "100 random": (0.72, 0.74)}
    rows = [
        {"table": name, "seed": str(seed), "labels": "60", "way": way, "positives": "20", "auc": str(auc)}
        | {
            "own_auc": "0.8",
            "own_auc_true": "0.79",
            "own_auc_low": "0.7",
            "own_auc_high": str(0.8 + wider * (way == "50 suggested")),
        }
        | {"prior": "0.1", "prior_true": "0.12", "prior_low": "0.05", "prior_high": "0.2"}
        for name, worse, wider in (("met", 0.0, 0.1), ("missed", 0.05, 0.2))
        for way, own in aucs.items()
        for seed, auc in enumerate(each - worse * (way == "50 suggested") for each in own)
    ]
    section = importlib.import_module("chapters.labels").suggest_section(rows, [])
    assert "| met | 2 | 60 | 20 | 0.7100 | +0.0300 | +0.0200 | +0.0100 ± 0.0100 |" in section
    assert "| met, AUC | 0.100 (0.010) | 0.200 (0.010) | 0.100 (0.010) |" in section
    assert "100 random ones (`met`), or make the mean interval of the AUC as short (nowhere)" in section
    assert "Neither holds on `missed`." in section
    brings = importlib.import_module("chapters.labels").what_it_brings(rows)
    assert "| met | 2 | +0.0100 ± 0.0100 | yes | 0.200 and 0.100 | no | 0.010 and 0.010 |" in brings
    assert "| missed | 2 | -0.0400 ± 0.0100 | no | 0.300 and 0.100 | no | 0.010 and 0.010 |" in brings
    assert "- 100 random labels raise the true AUC more than 50 suggested ones on `missed`." in brings
    assert "- The interval of the AUC is longer after 50 suggested labels than after 100 random ones on `met`" in brings
    assert "- Suggested labels make the ranking worse than none on `missed`." in brings
    assert "- Random ones" not in brings


@pytest.mark.parametrize(("false", "verdict"), [("no", "met"), ("yes", "**missed**")])
def test_leaks_that_were_found_and_false_warnings_are_counted(modules, false, verdict):
    row = {"table": "one", "seed": "100", "labeled": "18", "what": "clean", "found": false}
    planted = [
        {**row, "what": "true_class", "found": found, "seed": seed} for seed, found in (("100", "yes"), ("101", "no"))
    ]
    section = importlib.import_module("chapters.warnings").warning_section([row, *planted])
    assert "| the true class | 1 of 2 | one (18 labels) |" in section
    assert f"Clean tables with a false warning: {int(false == 'yes')} of 1 (at most 1 of 20: {verdict})." in section
    assert section.count("\n|") == 3


@pytest.mark.parametrize(("time_of_ours", "verdict"), [(1.0, "met"), (2.0, "**missed**")])
def test_goals_are_judged_by_the_rows(modules, tmp_path, time_of_ours, verdict):
    rows, page = modules
    rows.save_rows(made_up_pairs(time_of_ours), tmp_path / "pair_sums.csv")
    step = {"processor": "slow", "inputs": 784, "batch": 8, "ratio_of_least": 1.24}
    steps = [step, {**step, "processor": "fast", "ratio_of_least": 1.26}]
    rows.save_rows(steps, tmp_path / "step_ratio.csv")
    found = verdicts(page, page.read_results(tmp_path))
    assert found["10,000 x 1,000,000 pairs: faster than chunked torch"] == verdict
    assert found["10,000 x 1,000,000 pairs: extra memory"] == "met"
    assert next(value for text, value in found.items() if text.startswith("Slope of log time")) == "met"
    assert found["Step of the perceptron with 784 inputs, over its matrix products (slow)"] == "met"
    assert found["Step of the perceptron with 784 inputs, over its matrix products (fast)"] == "**missed**"
    assert found["Step of the perceptron with 142 inputs, over its matrix products (slow)"] == "not measured"
    assert found["10,000,000 rows x 50 columns, scoring: peak memory"] == "not measured"


def test_a_smaller_table_does_not_count_for_the_goal(modules, tmp_path):
    rows, page = modules
    row = {"what": "conf-auc, scoring", "rows": 1000, "columns": 50, "seconds": 1.0, "peak_mb": 2000.0}
    rows.save_rows([row], tmp_path / "larger_than_memory.csv")
    found = verdicts(page, page.read_results(tmp_path))
    assert found["10,000,000 rows x 50 columns, scoring: peak memory"] == "not measured"


def test_goals_of_the_network_on_a_large_table(modules, tmp_path):
    rows, page = modules
    seconds = {"network": (70.0, 50.0), "trees": (10.0, 10.0), "network, long training": (700.0, 500.0)}
    aucs = {"network": (0.8, 0.7), "trees": (0.9, 0.9), "network, long training": (0.805, 0.72)}
    laws = [
        {"rows": 1_000_000, "law": law, "what": what, "fit_seconds": seconds[what][law], "auc": aucs[what][law]}
        for law in (0, 1)
        for what in seconds
    ]
    smaller = {"rows": 1000, "law": 0, "what": "network", "fit_seconds": 1e6, "auc": 0.0}
    rows.save_rows([smaller, *laws], tmp_path / "long_training.csv")
    goals = importlib.import_module("chapters.goals").goals(page.read_results(tmp_path))
    found = {goal.text: (goal.measured, goal.verdict) for goal in goals if "1,000,000 rows: " in goal.text}
    ratio, gain = (value for text, value in found.items() if "network" in text or "epochs" in text)
    assert ratio == (6.0, "met")
    assert gain == (pytest.approx(0.02), "**missed**")


def test_fits_that_were_left_out_say_why(modules):
    _, page = modules
    row = {"rows": "1000", "labels": "50", "what": "one", "n_test": "100", "fit_seconds": "1.5", "score_seconds": "0.1"}
    row |= {"before_mb": "300", "peak_mb": "400", "auc": "0.75", "best_auc": "0.9", "why_not": ""}
    left_out = {"rows": "10000", "what": "one", "n_test": "100", "why_not": "took more than 9 s"}
    text = page.fit_section([row, left_out])
    assert "| one | 1,000 | 50 | 1.5 | 0.1 | 400 | 300 | 0.7500 |" in text
    assert "| one | 10,000 | – | – | – | – | – | took more than 9 s |" in text
    assert "At 1,000 rows one ranks best (0.7500; the true posterior 0.9000) and one is the fastest." in text
    assert "At 10,000 rows" not in text
    text = page.fit_section([row, {**row, "what": "two", "auc": "", "why_not": "took more than 9 s"}])
    assert "At 1,000 rows, of the 1 that were measured, one ranks best" in text


def test_a_large_table_has_the_truth_that_its_law_says(modules):
    law = importlib.import_module("large_table").Law.of(3)
    drawn = law.draw(20_000, 0)
    assert drawn.y.mean() == pytest.approx(drawn.posterior.mean(), abs=0.01)
    assert drawn.y.mean() == pytest.approx(0.1, abs=0.02)
    assert drawn.y[drawn.labeled == 1].all()
    assert drawn.labeled.sum() == pytest.approx(200, abs=50)
    assert np.array_equal(np.isfinite(drawn.confidence), drawn.labeled == 1)
    # Where many are positive, many were drawn to be: the posterior is calibrated.
    sure = drawn.posterior > 0.5
    assert drawn.y[sure].mean() == pytest.approx(drawn.posterior[sure].mean(), abs=0.05)
    # Labels favor rows that the law says they do.
    favor = drawn.X @ law.favored
    assert favor[drawn.labeled == 1].mean() > favor[drawn.y == 1].mean() + 0.1


def test_goals_of_a_command_name_the_method_they_were_measured_with(modules, tmp_path):
    rows, page = modules
    csv = {"what": "csv", "method": "auto", "epochs": "by size", "rows": 10**6, "ratio": 1.2, "peak_over_file": 3.1}
    large = {"what": "parquet", "method": "auto", "epochs": "by size", "rows": 10**7, "peak_mb": 1999}
    rows.save_rows([csv, large], tmp_path / "million_rows.csv")
    results = page.read_results(tmp_path)
    found = verdicts(page, results)
    name = "`unskew fit --method auto`, 1,000,000 rows of CSV"
    assert found[f"{name}: time, over reading with polars and the fit alone"] == "met"
    assert found[f"{name}: peak memory, over the file"] == "**missed**"
    assert found["`unskew fit --method auto`, 10,000,000 rows (parquet): peak memory"] == "met"
    assert "| csv, auto | by size | 1,000,000 |" in page.page(results)
    # What was measured alone, and last, counts.
    rows.save_rows([{**csv, "peak_over_file": 2.5}], tmp_path / "million_rows_peak.csv")
    found = verdicts(page, page.read_results(tmp_path))
    assert found[f"{name}: peak memory, over the file"] == "met"


@pytest.mark.parametrize(("hung", "verdict"), [(0, "met"), (1, "**missed**")])
def test_no_damaged_file_may_end_in_anything_but_a_message(modules, tmp_path, hung, verdict):
    rows, page = modules
    row = {"kind": "trees", "files": 10_000, "read": 2_000, "refused_by_name": 8_000 - hung, "loaded_wrong": 0}
    rows.save_rows([{**row, "traceback": 0, "aborted": 0, "hung": hung}], tmp_path / "damaged_files.csv")
    text = "10,000 damaged files (trees): loaded wrong, or ended in anything but a message"
    assert verdicts(page, page.read_results(tmp_path))[text] == verdict


def test_page_and_pictures_from_made_up_rows(modules, tmp_path, monkeypatch):
    rows, page = modules
    rows.save_rows(made_up_pairs(2.0), tmp_path / "rows" / "pair_sums.csv")
    monkeypatch.setattr(sys, "argv", ["page.py", "--rows", str(tmp_path / "rows"), "--docs", str(tmp_path / "docs")])
    page.main()
    text = (tmp_path / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert "These goals are missed: 10,000 x 1,000,000 pairs: faster than chunked torch (200 times)." in text
    assert "~400 s, 40 MB" in text
    assert "dense torch was not measured (too large)." in text
    for name in ("pair_sums_time", "pair_sums_memory", "steps", "beside_others"):
        assert (tmp_path / "docs" / "benchmarks" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_a_page_without_any_rows(modules, tmp_path):
    _, page = modules
    assert "No goal that was measured is missed." in page.page(page.read_results(tmp_path))


def test_committed_page_is_what_the_committed_rows_say(modules):
    _, page = modules
    results = page.read_results(ROOT / "results" / "benchmarks")
    assert (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8") == page.page(results)
    suggestions = (ROOT / "docs" / "suggestions.md").read_text(encoding="utf-8")
    assert page.with_what_it_brings(suggestions, results) == suggestions, "run: python benchmarks/page.py"


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_says_what_it_does(modules, name, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "libauc", None)  # as where it is not installed; loading it takes seconds
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "--help"])
    script = importlib.import_module(name)
    with pytest.raises(SystemExit) as end:
        script.main()
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert script.__doc__.splitlines()[0].split()[0] in text
    assert "--out" in text or name == "page"


def test_choices_of_the_last_epoch_keep_it(modules):
    choices = importlib.import_module("paper_choices")
    data = unskew.datasets.toy.draw(300, random_state=0)
    parameters = {"network": "linear", "max_epochs": 5, "learning_rate": 0.5, "random_state": 0, "probability": False}
    best, last = (choices.changed("ntc", keep, parameters).fit(data.X, data.labeled) for keep in ("best", "last"))
    assert last.best_epoch_ == 4 != best.best_epoch_


def test_a_study_continues_a_file_that_holds_its_header_alone(modules, tmp_path):
    rows, _ = modules
    path = tmp_path / "study.csv"
    for value in (1, 2):
        with rows.continued(path, ["seed", "auc"]) as (known, append):
            if value == 2:
                append({"seed": value, "auc": 0.5})
        assert path.read_text().count("seed,auc") == 1
    with rows.continued(path, ["seed", "auc"]) as (known, _):
        assert known == [{"seed": "2", "auc": "0.5"}]
