"""The rows of a file that a page shows first: the best that nobody has labeled yet, with their reasons."""

import numpy as np
import polars as pl
import pytest

from page_samples import Page
from program import run_program
from toy_table import ASIDE, COLUMNS, run, toy_frame, write_toy
from unskew.errors import TableError
from unskew.practice.first_rows import first_rows
from unskew.practice.list_options import ListOptions
from unskew.practice.model import TableModel
from unskew.practice.score import score_file


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("first")
    write_toy(folder / "cases.csv", 400)
    write_toy(folder / "new.parquet", 300, seed=3)
    fast = "--method", "conf-reg", "--no-estimate", "--out", folder / "m.unskew"
    run("fit", folder / "cases.csv", *COLUMNS, *ASIDE, *fast)
    return folder


@pytest.fixture
def model(folder):
    return TableModel.load(folder / "m.unskew")


def test_the_first_rows_are_the_best_of_those_not_labeled_yet(folder, model):
    frame = toy_frame(300, seed=3)
    score = pl.Series(model.score(frame))
    labeled = frame["known"].to_numpy() == 1
    assert labeled[score.arg_sort(descending=True).to_numpy()[:20]].any()  # else nothing would be left out
    expected = frame.with_columns(score=score).filter(~labeled).sort("score", descending=True)["case"][:20].to_list()
    found = first_rows(model, folder / "new.parquet", ["case"])
    assert [each.names for each in found.rows] == [(("case", name),) for name in expected]
    assert [each.rank for each in found.rows] == list(range(1, 21))
    assert (found.n_ranked, found.skipped, found.file) == (300 - labeled.sum(), True, "new.parquet")
    assert all(0 <= each.probability <= 1 and len(each.reasons) == 3 for each in found.rows)
    assert "left out" in found.notes[-1]


def test_rows_are_those_of_the_list(folder, model):
    out = folder / "list.parquet"
    options = ListOptions(ids=["case"], top=7, reasons=3, skip_labeled=True)
    score_file(model, folder / "new.parquet", out, options)
    listed = pl.read_parquet(out)
    found = first_rows(model, folder / "new.parquet", ["case"], 7)
    assert [each.reasons for each in found.rows] == listed.select(pl.col("^reason.*$")).rows()
    assert [each.probability for each in found.rows] == listed["probability"].to_list()


def test_without_ids_a_row_is_known_by_its_number_in_the_file(folder, model):
    frame = toy_frame(300, seed=3)
    cases = first_rows(model, folder / "new.parquet", ["case"], 5).rows
    numbers = first_rows(model, folder / "new.parquet", n=5).rows
    for case, number in zip(cases, numbers, strict=True):
        ((column, row),) = number.names
        assert column == "row"
        assert frame["case"][int(row.replace(",", "")) - 1] == case.names[0][1]


def test_without_a_label_column_all_rows_are_ranked(folder, model):
    frame = toy_frame(300, seed=3).drop("known")
    frame.write_csv(folder / "later.csv")
    found = first_rows(model, folder / "later.csv", ["case"], 3)
    best = frame["case"][int(np.argmax(model.score(frame)))]
    assert (found.n_ranked, found.skipped, found.rows[0].names) == (300, False, (("case", best),))


def test_the_page_shows_the_rows_of_the_file_that_is_named(folder):
    out = folder / "page.html"
    run("report", folder / "m.unskew", folder / "new.parquet", "--id", "case", "--rows", 4, "--out", out)
    page = Page(out.read_text())
    shown = page.by_id["first-rows"]
    expected = first_rows(TableModel.load(folder / "m.unskew"), folder / "new.parquet", ["case"], 4)
    for row in expected.rows:
        assert row.names[0][1] in shown["text"]
        assert all(reason in shown["text"] for reason in row.reasons)
    assert page.text.count("likely to be positive") >= 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--id", "case"], "--id must come with DATA, whose rows it names"),
        (["new.parquet", "--rows", "0"], "--rows must be 1 or more"),
        (["new.parquet", "--id", "cases"], 'there must be a column "cases"'),
        (["missing.csv"], "missing.csv"),
    ],
)
def test_a_request_that_makes_no_page_is_refused(folder, arguments, words):
    result = run_program("report", "m.unskew", *arguments, "--out", "none.html", cwd=folder)
    assert result.returncode == 2
    assert words in " ".join(result.stderr.split())
    assert not (folder / "none.html").exists()


def test_a_list_may_leave_out_what_is_labeled(folder):
    out = folder / "unlabeled.csv"
    run("score", folder / "m.unskew", folder / "new.parquet", "--id", "case", "--skip-labeled", "--out", out)
    listed, frame = pl.read_csv(out), toy_frame(300, seed=3)
    unlabeled = frame.filter(pl.col("known") == 0)["case"]
    assert sorted(listed["case"]) == sorted(unlabeled)
    assert listed["rank"].to_list() == list(range(1, len(unlabeled) + 1))


def test_what_cannot_be_left_out_is_refused(folder, model):
    for options, words in (
        (ListOptions(skip_labeled=True, keep_order=True), "--skip-labeled must not come with --keep-order"),
        (ListOptions(skip_labeled=True), 'there must be a column "known"'),
    ):
        toy_frame(30).drop("known").write_csv(folder / "unknown.csv")
        with pytest.raises((ValueError, TableError), match=words):
            score_file(model, folder / "unknown.csv", folder / "none.csv", options)
    toy_frame(30).with_columns(known=pl.lit("perhaps")).write_csv(folder / "odd.csv")
    with pytest.raises(TableError, match='label column "known" must say 1/0'):
        score_file(model, folder / "odd.csv", folder / "none.csv", ListOptions(skip_labeled=True))
    assert not (folder / "none.csv").exists()
