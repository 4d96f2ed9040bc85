"""How many rows to review, by the commands that an analyst types, and in words."""

import csv
import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from program import run_program
from toy_table import ASIDE, COLUMNS, run, write_toy
from unskew.metrics import best_cut, best_cut_of_list
from unskew.metrics.cuts import Costs
from unskew.practice.cut import cut_for_page, cut_json, cut_of_sorted, cut_sentence, cut_table
from unskew.practice.model import TableModel
from unskew.tables import sorting

MONEY = "--cost-review", 20, "--gain-positive", 100
COSTS = {"cost_review": 20, "gain_positive": 100}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Folder with a model, a file to fit on and one to score, and what fit printed."""
    folder = tmp_path_factory.mktemp("cut")
    write_toy(folder / "cases.csv", 700)
    write_toy(folder / "new.csv", 500, seed=1)
    fast = "--method", "conf-reg", "--out", folder / "m.unskew", "--json", folder / "fit.json"
    told = run("fit", folder / "cases.csv", *COLUMNS, *ASIDE, *fast, *MONEY)
    return folder, told.output


def rows_of_sentence(output):
    return int(re.search(r"Review the ([\d,]+) rows with the highest scores: about", output)[1].replace(",", ""))


def test_fit_says_how_many_rows_to_review(fitted):
    folder, told = fitted
    cut = json.loads((folder / "fit.json").read_text())["cut"]
    assert rows_of_sentence(told) == cut["n"]
    assert cut["profit_low"] < cut["profit"] < cut["profit_high"]
    assert cut["costs"] == {"cost_review": 20.0, "gain_positive": 100.0, "cost_miss": None, "capacity": None}
    for words in ("How many rows to review", "profit of reviewing nothing", "profit of reviewing all 700 rows"):
        assert words in told


def test_report_says_the_same_from_the_model_file(fitted, tmp_path):
    folder, told = fitted
    again = run("report", folder / "m.unskew", *MONEY, "--out", tmp_path / "r.html", "--json", tmp_path / "r.json")
    sentence = next(line for line in told.splitlines() if line.startswith("Review the"))
    assert sentence in again.output
    assert json.loads((tmp_path / "r.json").read_text())["cut"]["n"] == rows_of_sentence(told)
    few = run("report", folder / "m.unskew", *MONEY, "--capacity", 30, "--out", tmp_path / "r.html").output
    assert "Review the 30 rows" in few
    assert f"Without the limit of 30 rows, it would be best to review {rows_of_sentence(told)}." in few


def test_what_report_knows_is_what_the_model_file_gives_in_python(fitted):
    folder, told = fitted
    model = TableModel.load(folder / "m.unskew")
    cut = best_cut(model.evidence, **COSTS)
    assert cut.n == rows_of_sentence(told)
    score = model.ranker.decision_function(model.schema.transform(pl.read_csv(folder / "cases.csv")))
    assert np.sum(score >= cut.threshold) == cut.n


def test_without_money_nothing_is_said_of_it(fitted, tmp_path):
    folder, _ = fitted
    output = run("report", folder / "m.unskew", "--out", tmp_path / "r.html", "--json", tmp_path / "r.json").output
    assert "Review" not in output
    assert "cut" not in json.loads((tmp_path / "r.json").read_text())


def test_evaluate_says_it_of_the_file(fitted, tmp_path):
    folder, _ = fitted
    money = "--cost-review", 20, "--cost-miss", 100
    told = run("evaluate", folder / "m.unskew", folder / "new.csv", *COLUMNS, *money, "--json", tmp_path / "e.json")
    cut = json.loads((tmp_path / "e.json").read_text())["cut"]
    assert f"Review the {cut['n']} rows" in told.output
    assert "Reviews and missed positives together cost about" in told.output
    assert cut["profit_low"] < cut["profit"] < cut["profit_high"] < 0


@pytest.fixture
def small_runs(monkeypatch):
    monkeypatch.setattr(sorting, "RUN_ROWS", 60)
    monkeypatch.setattr(sorting, "ROWS_AT_ONCE", 23)


@pytest.mark.usefixtures("small_runs")
@pytest.mark.parametrize("keep_order", [False, True])
@pytest.mark.parametrize("capacity", [None, 45])
def test_score_cuts_the_list_where_it_earns_most(fitted, tmp_path, capacity, keep_order):
    folder, _ = fitted
    out, extra = tmp_path / "s.csv", [] if capacity is None else ["--capacity", capacity]
    extra += ["--keep-order"] if keep_order else []
    told = run("score", folder / "m.unskew", folder / "new.csv", "--id", "case", *MONEY, *extra, "--out", out).output
    whole = tmp_path / "whole.csv"
    run("score", folder / "m.unskew", folder / "new.csv", "--id", "case", "--out", whole)
    everything = pl.read_csv(whole)
    evidence = TableModel.load(folder / "m.unskew").evidence
    arrays = everything["score"].to_numpy(), everything["probability"].to_numpy()
    expected = best_cut_of_list(*arrays, **COSTS, capacity=capacity, like=evidence)
    written = pl.read_csv(out)
    assert len(written) == expected.n == rows_of_sentence(told)
    assert set(written["case"]) == set(everything["case"][: expected.n])
    assert f"500 rows ranked, the best {expected.n} written" in told
    assert cut_sentence(expected) in told


def test_a_list_in_parts_has_the_same_cut_as_in_one(fitted):
    """Parts of every size, with ties across their borders."""
    rng = np.random.RandomState(0)
    score, prob = np.sort(rng.randint(0, 60, 400))[::-1].astype(float), rng.uniform(0, 1, 400)
    evidence = TableModel.load(fitted[0] / "m.unskew").evidence
    for size, capacity in ((1, 100), (7, None), (50, 33), (1000, None)):
        parts = [(score[k : k + size], prob[k : k + size]) for k in range(0, 400, size)]
        parts.insert(1, (score[:0], prob[:0]))
        costs = Costs(0.6, 1.0, None, capacity)
        found = cut_of_sorted(parts, 400, costs, evidence)
        whole = best_cut_of_list(score, prob, cost_review=0.6, gain_positive=1.0, capacity=capacity, like=evidence)
        assert found.n == whole.n
        for name in ("profit", "profit_low", "profit_high", "recall_high", "precision_low"):
            assert getattr(found, name) == pytest.approx(getattr(whole, name))
        assert found.curve.n == whole.curve.n
        assert found.unlimited == (None if capacity is None else whole.unlimited)
        assert found.first_tie == whole.first_tie == np.sum(score == score[0])


def test_a_list_of_which_nothing_is_worth_it_has_no_rows(fitted, tmp_path):
    folder, _ = fitted
    for more in ([], ["--keep-order"]):
        told = run(
            *("score", folder / "m.unskew", folder / "new.csv", "--cost-review", 5, "--gain-positive", 5, *more),
            *("--out", tmp_path / "s.csv"),
        ).output
        assert "Review nothing: a review costs as much as a positive is worth, or more." in told
        with (tmp_path / "s.csv").open() as file:
            assert list(csv.reader(file)) == [["row", "rank", "score", "probability"]]


def test_an_empty_file_is_cut_to_an_empty_list(fitted, tmp_path):
    folder, _ = fitted
    pl.read_csv(folder / "new.csv")[:0].write_csv(tmp_path / "none.csv")
    told = run("score", folder / "m.unskew", tmp_path / "none.csv", *MONEY, "--out", tmp_path / "s.csv").output
    assert "0 rows ranked" in told


def test_a_model_without_estimates_has_points_alone_and_says_so(fitted, tmp_path):
    folder, _ = fitted
    model = tmp_path / "m.unskew"
    run("fit", folder / "cases.csv", *COLUMNS, *ASIDE, "--method", "conf-reg", "--no-estimate", "--out", model)
    result = run_program("score", model, folder / "new.csv", *MONEY, "--out", tmp_path / "s.csv")
    assert "note: the number of rows to review has no intervals, because the model file does not say" in result.stderr
    assert re.search(r"about \d+ positives, which earns about [\d,]+\.", result.stdout)
    wrong = run_program("report", model, *MONEY, "--out", tmp_path / "r.html")
    assert wrong.returncode == 2
    assert "must hold estimates, but this one has none: the model was fitted with --no-estimate. Fit" in wrong.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--cost-review", "-1", "--gain-positive", "5"],
            "--cost-review must be a number of 0 .* but it is -1",
        ),
        (["--cost-review", "1"], "neither was given. Give --gain-positive, .* or --cost-miss"),
        (["--cost-review", "1", "--gain-positive", "5", "--cost-miss", "5"], "both were given"),
        (["--capacity", "5"], "--capacity must come with --cost-review, .* Give it, too"),
        (["--cost-review", "1", "--cost-miss", "0"], "--cost-miss must be a number above 0, .* but it is 0"),
        (
            ["--cost-review", "1", "--cost-miss", "2", "--capacity", "0"],
            "--capacity must be a whole number of 1",
        ),
        (["--cost-review", "1", "--cost-miss", "2", "--top", "3"], "both --top and --cost-review were given. Leave"),
    ],
)
def test_wrong_requests_are_one_message(fitted, tmp_path, options, words):
    folder, _ = fitted
    result = run_program("score", folder / "m.unskew", folder / "new.csv", *options, "--out", tmp_path / "s.csv")
    assert result.returncode == 2
    assert re.search(words, result.stderr)
    assert len(result.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "s.csv").exists()


def test_what_has_no_probabilities_cannot_be_cut(fitted, tmp_path):
    folder, _ = fitted
    plain = "--label", "known", *ASIDE, "--exclude", "risk", "--method", "ntc-linear", "--out", tmp_path / "m.unskew"
    run("fit", folder / "cases.csv", *plain)
    result = run_program("score", tmp_path / "m.unskew", folder / "new.csv", *MONEY, "--out", tmp_path / "s.csv")
    assert result.returncode == 2
    assert "the model must have probabilities, but it was fitted without confidence. Fit again" in result.stderr
    result = run_program("fit", folder / "cases.csv", *plain, *MONEY)
    assert result.returncode == 2
    assert "fit must estimate how good the model is, but there is no confidence. Give --confidence" in result.stderr
    result = run_program("evaluate", folder / "m.unskew", folder / "new.csv", *COLUMNS[:2], "--truth", "truth", *MONEY)
    assert result.returncode == 2
    assert "each label must have a confidence, but none was given" in result.stderr


@pytest.fixture(scope="module")
def cut(fitted):
    return best_cut(TableModel.load(fitted[0] / "m.unskew").evidence, **COSTS)


def test_sentences(cut):
    whole = replace(cut, n=120, expected_positives=61.2, expected_positives_low=44.7, expected_positives_high=78.1)
    whole = replace(whole, profit=4912.0, profit_low=3312.0, profit_high=6571.0)
    assert cut_sentence(whole) == (
        "Review the 120 rows with the highest scores: about 61 positives (45 to 78), which earns about 4,900 (3,300 to "
        "6,600)."
    )
    assert cut_sentence(whole, with_points=False) == (
        "Review the 120 rows with the highest scores: between 45 and 78 positives, which earns between 3,300 and 6,600."
    )
    lost = replace(whole, costs=Costs(20.0, None, 100.0), profit=-9943.0, profit_low=-13035.0, profit_high=-7670.0)
    assert cut_sentence(lost).endswith("Reviews and missed positives together cost about 9,900 (7,700 to 13,000).")
    assert cut_sentence(replace(whole, n=700)).startswith("Review all 700 rows: about")
    one = replace(whole, n=1, expected_positives=1.0, expected_positives_low=0.4, expected_positives_high=1.0)
    assert cut_sentence(one).startswith("Review the 1 row with the highest score: about 1 positive (0 to 1), which")


def test_sentences_about_nothing(cut):
    nothing = replace(cut, n=0)
    assert "where more than 20 % of the rows are positive, and by the estimates" in cut_sentence(nothing)
    tied = replace(nothing, costs=Costs(20.0, 100.0, None, 4), first_tie=9, unlimited=cut.everything)
    assert cut_sentence(tied) == (
        "Review nothing: 9 rows share the highest score, so none of them goes before the others, and only 4 can be "
        "reviewed."
    )


def test_the_table_leaves_out_what_is_not_there(cut):
    rows = dict(cut_table(cut).rows)
    assert rows["rows to review"].startswith(f"{cut.n} (")
    assert rows["profit of reviewing nothing"] == "0"
    none = dict(cut_table(replace(cut, n=0, threshold=None, precision=None)).rows)
    assert "precision" not in none
    assert "lowest score among them" not in none


def test_what_a_page_gets(cut):
    part = cut_for_page(cut)
    assert part["sentence"] == cut_sentence(cut)
    assert part["table"] == cut_table(cut)
    assert part["chart"].count('class="area first"') == part["chart"].count('class="dot chosen"') == 1
    places = [len(each.split()) for each in re.findall(r'points="([^"]*)"', part["chart"])]
    assert places == [2 * len(cut.curve.n), 2, len(cut.curve.n)]  # the band, no profit, the profit
    only = cut_for_page(cut, with_points=False)["chart"]
    assert 'class="line first"' not in only
    assert 'class="area first"' in only
    bare = replace(cut, curve=replace(cut.curve, profit_low=(None,) * len(cut.curve.n)))
    assert 'class="area' not in cut_for_page(bare)["chart"]
    json.dumps(cut_json(bare), allow_nan=False)
