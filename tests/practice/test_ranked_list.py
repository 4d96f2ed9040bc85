"""The list that `unskew score` writes: its order, its first rows, reasons, and the memory and files it takes."""

import errno
import os
import re
import signal
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import unskew
from toy_table import ASIDE, COLUMNS, run, toy_frame, write_toy
from unskew.errors import TableError, TakesLongWarning
from unskew.practice import reasons, score
from unskew.practice.list_options import ListOptions
from unskew.practice.model import TableModel
from unskew.practice.score import score_file
from unskew.tables import sorting

N = 500


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, and a file of which many rows have the same score."""
    folder = tmp_path_factory.mktemp("ranked")
    write_toy(folder / "cases.csv", 400)
    fast = "--method", "conf-reg", "--no-estimate", "--out", folder / "m.unskew"
    run("fit", folder / "cases.csv", *COLUMNS, *ASIDE, *fast)
    frame = toy_frame(N, seed=3)
    few = frame[np.random.default_rng(0).integers(0, 90, N)].with_columns(case=pl.format("n{}", pl.int_range(N)))
    few.write_csv(folder / "new.csv")
    few.write_parquet(folder / "new.parquet")
    return folder


@pytest.fixture
def small_runs(monkeypatch):
    """Parts so small that every kind of block, run and cut occurs."""
    monkeypatch.setattr(sorting, "RUN_ROWS", 60)
    monkeypatch.setattr(sorting, "ROWS_AT_ONCE", 23)
    monkeypatch.setattr(score, "ROWS_AT_ONCE", 31)
    monkeypatch.setattr(reasons, "FIRST_BLOCK", 7)
    monkeypatch.setattr(reasons, "BLOCK_ROWS", 40)
    read = score.read_batches
    monkeypatch.setattr(score, "read_batches", lambda *args, **more: read(*args, **more, rows=37))


def read_model(folder):
    """The model, but with scores of few digits: else what batch a row is in would decide ties by its last bit."""
    model = TableModel.load(folder / "m.unskew")
    exact = model.ranker.decision_function
    model.ranker.decision_function = lambda X: exact(X).round(2)
    return model


def ranked(folder, out="out.parquet", data="new.csv", **options):
    """The list as a frame."""
    model = read_model(folder)
    score_file(model, folder / data, folder / out, ListOptions(**{"ids": ["case"], **options}))
    return pl.read_parquet(folder / out)


def by_hand(folder):
    """Ranks by counting, in the order of the file."""
    frame = pl.read_parquet(folder / "new.parquet")
    model = read_model(folder)
    own = model.score(frame)
    rank = 1 + (own[None, :] > own[:, None]).sum(axis=1)
    assert len(np.unique(own)) < 90  # else there are no ties
    probability = model.ranker.predict_proba(model.schema.transform(frame))[:, 1]
    return pl.DataFrame({"case": frame["case"], "rank": rank, "score": own, "probability": probability})


@pytest.mark.parametrize("data", ["new.csv", "new.parquet"])
@pytest.mark.usefixtures("small_runs")
def test_the_list_is_sorted_by_rank_and_ties_keep_their_order(folder, data):
    expected = by_hand(folder)
    in_order = ranked(folder, data=data, keep_order=True)
    assert in_order["case", "rank"].equals(expected["case", "rank"])
    assert in_order["score"].to_numpy() == pytest.approx(expected["score"].to_numpy(), abs=1e-6)
    assert in_order["probability"].to_numpy() == pytest.approx(expected["probability"].to_numpy(), abs=1e-6)
    assert ranked(folder, data=data).equals(in_order.sort("rank", maintain_order=True))


@pytest.mark.parametrize("ids", [["case"], []])
@pytest.mark.parametrize("top", [1, 29, 30, 200, N, 9999])
@pytest.mark.usefixtures("small_runs")
def test_top_is_the_head_of_the_whole_list(folder, top, ids):
    whole, in_order = ranked(folder, ids=ids), ranked(folder, ids=ids, keep_order=True)
    best = ranked(folder, ids=ids, top=top)
    assert best.equals(whole.head(top))
    name = best.columns[0]
    assert ranked(folder, ids=ids, top=top, keep_order=True).equals(in_order.filter(pl.col(name).is_in(best[name])))


@pytest.mark.usefixtures("small_runs")
def test_reasons_are_those_of_explain_whatever_the_blocks(folder):
    frame = pl.read_parquet(folder / "new.parquet")
    found = unskew.explain(TableModel.load(folder / "m.unskew"), frame)
    expected = {}
    for row, case in enumerate(frame["case"]):
        words = [f"{r.column} = {r.value} ({'raises' if r.contribution > 0 else 'lowers'})" for r in found.reasons(row)]
        expected[case] = (words + [None] * 3)[:3]
    for options in ({}, {"keep_order": True}, {"top": 20}, {"data": "new.parquet", "top": 150}):
        table = ranked(folder, reasons=3, **options)
        assert table.columns == ["case", "rank", "score", "probability", "reason 1", "reason 2", "reason 3"]
        assert table.drop("reason 1", "reason 2", "reason 3").equals(ranked(folder, **options))
        assert {row[0]: list(row[4:]) for row in table.rows()} == {each: expected[each] for each in table["case"]}


def test_the_background_is_drawn_from_the_whole_file():
    drawn = []
    for sizes in ([1000] * 5, [13] * 384 + [8], [5000]):
        sample, begin = reasons.RowSample(most=100), 0
        for size in sizes:
            sample.add(pl.DataFrame({"x": np.arange(begin, begin + size)}))
            begin += size
        drawn.append(sample.rows()["x"].to_list())
    assert drawn[0] == drawn[1] == drawn[2] == sorted(set(drawn[0]))
    assert len(drawn[0]) == 100
    counts = np.histogram(drawn[0], 5, (0, 5000))[0]
    assert counts.min() >= 8  # 20 of each fifth, give or take three standard deviations
    few = reasons.RowSample(most=100)
    few.add(pl.DataFrame({"x": [3, 1, 2]}))
    assert few.rows()["x"].to_list() == [3, 1, 2]


def test_nobody_is_asked_to_wait_without_being_told(folder, monkeypatch):
    monkeypatch.setattr(reasons, "SEEN", 0.0)
    monkeypatch.setattr(reasons, "LONG", 0.0)
    with pytest.warns(TakesLongWarning, match=r"explaining 500 rows takes about .* use --top\.$") as told:
        ranked(folder, reasons=1)
    assert len(told) == 1
    note = run("score", folder / "m.unskew", folder / "new.csv", "--reasons", 1, "--out", folder / "o.csv").stderr
    assert note.count("note: explaining 500 rows takes about") == 1


def test_reasons_that_look_like_formulas_are_harmless(tmp_path):
    frame = toy_frame(300).rename({"age": "=age", "level": "row", "color": "rank"})
    frame.write_csv(tmp_path / "cases.csv")
    fast = "--method", "ntc-linear", "--no-estimate", "--out", tmp_path / "m.unskew"
    run("fit", tmp_path / "cases.csv", "--label", "known", *ASIDE, "--exclude", "risk", *fast)
    arguments = "score", tmp_path / "m.unskew", tmp_path / "cases.csv", "--reasons", 4, "--out", tmp_path / "out.csv"
    told = run(*arguments).stderr
    table = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    assert table.columns == ["row", "rank", "score", *(f"reason {number}" for number in range(1, 5))]
    texts = [text for name in table.columns[3:] for text in table[name].drop_nulls()]
    assert sum(text.startswith("'=age = ") for text in texts) == sum("=age" in text for text in texts) > 100
    assert {"row = ", "rank ="} <= {text[:6] for text in texts}  # columns of the file may have such names
    assert told.count("so that no spreadsheet runs formulas") == 1
    assert '"reason 1"' in told
    run(*arguments, "--raw")
    raw = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    assert raw.equals(table.with_columns(pl.all().str.strip_prefix("'")))


@pytest.mark.parametrize(("n", "note"), [(0, None), (1, "there are no reasons"), (2, None)])
def test_reasons_of_hardly_any_rows(folder, tmp_path, n, note):
    pl.read_csv(folder / "new.csv")[[0, 1]].head(n).write_csv(tmp_path / "few.csv")
    for order in ([], ["--keep-order"]):
        arguments = "--id", "case", "--reasons", 2, "--top", 5, *order, "--out", tmp_path / "out.csv"
        told = run("score", folder / "m.unskew", tmp_path / "few.csv", *arguments)
        table = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
        assert (table.height, table.columns[-2:]) == (n, ["reason 1", "reason 2"])
        assert ("there are no reasons" in told.stderr) == (note is not None)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--top", 0], "--top must be 1 or more"),
        (["--top", -3], "but it is -3"),
        (["--reasons", -1], "--reasons must be from 1 to"),
        (["--reasons", 99], "number of columns that the model uses, 5, but it is 99"),
        (["--reasons", 2, "--id", "reason 2"], "must not be called 'reason 2'"),
    ],
)
def test_what_no_list_can_have_is_refused(folder, options, words):
    out = folder / "refused.csv"
    said = run("score", folder / "m.unskew", folder / "new.csv", *options, "--out", out, code=1)
    assert words in str(said.exception)
    assert not out.exists()


def test_the_command_says_how_many_rows_there_are(folder, tmp_path):
    out = tmp_path / "out.csv"
    arguments = "score", folder / "m.unskew", folder / "new.csv", "--out", out
    assert run(*arguments, "--top", 20).output.endswith(f"500 rows ranked, the best 20 written: {out}\n")
    assert run(*arguments).output.endswith(f"500 rows ranked: {out}\n")
    assert os.listdir(tmp_path) == ["out.csv"]


@pytest.mark.usefixtures("small_runs")
def test_after_an_error_nothing_is_left_and_the_old_list_stays(folder, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("old")
    bad = pl.read_csv(folder / "new.csv", infer_schema=False)
    age = bad["age"].to_list()
    bad.with_columns(age=pl.Series([*age[:-1], "old"])).write_csv(tmp_path / "bad.csv")
    for options in (ListOptions(), ListOptions(keep_order=True)):
        with pytest.raises(TableError, match="row 500"):
            score_file(TableModel.load(folder / "m.unskew"), tmp_path / "bad.csv", out, options)
        assert sorted(os.listdir(tmp_path)) == ["bad.csv", "out.csv"]
        assert out.read_text() == "old"


def test_a_ranker_that_was_saved_in_python_scores_a_file(tmp_path):
    frame = toy_frame(300, seed=2)
    X = frame.select("age", "level", "color", "member", "day")
    ranker = unskew.make("conf-reg", random_state=0).fit(X, frame["known"].to_numpy(), frame["risk"].to_numpy())
    ranker.save(tmp_path / "m.unskew")
    frame.write_csv(tmp_path / "new.csv")
    options = "--reasons", 2, "--keep-order", "--out", tmp_path / "out.parquet"
    told = run("score", tmp_path / "m.unskew", tmp_path / "new.csv", *options).stderr
    assert "4 columns that the model does not use" in told
    table = pl.read_parquet(tmp_path / "out.parquet")
    assert table["score"].to_numpy() == pytest.approx(ranker.decision_function(X), abs=1e-6)
    assert table["probability"].to_numpy() == pytest.approx(ranker.predict_proba(X)[:, 1], abs=1e-6)
    words = [str(reason).partition(" (")[0] for reason in unskew.explain(ranker, X).reasons(0, 2)]
    assert [table[name][0].partition(" (")[0] for name in ("reason 1", "reason 2")] == words
    refused = run("report", tmp_path / "m.unskew", "--out", tmp_path / "page.html", code=1).exception
    assert "without the name of its label" in str(refused)
    unskew.make("conf-reg").fit(X[["level"]], frame["known"].to_numpy(), frame["risk"].to_numpy()).save(tmp_path / "n")
    refused = run("score", tmp_path / "n", tmp_path / "new.csv", "--out", tmp_path / "out.csv", code=1).exception
    assert "without the columns of a table" in str(refused)


SLOW = """
import sys, time
from pathlib import Path
from unskew.practice import score
from unskew.practice.model import TableModel
from unskew.tables import sorting
sorting.RUN_ROWS = 50
read = score.read_batches
def slowly(*args, **more):
    for number, frame in enumerate(read(*args, **more, rows=50)):
        yield frame
        if number == 5:
            print("now", flush=True)
            time.sleep(60)
score.read_batches = slowly
folder, out = map(Path, sys.argv[1:])
score.score_file(TableModel.load(folder / "m.unskew"), folder / "new.csv", out)
"""


@pytest.mark.skipif(os.name == "nt", reason="there are no locks by which an abandoned folder could be known")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_what_was_interrupted_leaves_nothing_behind(folder, tmp_path, how):
    out = tmp_path / "out.csv"
    with subprocess.Popen([sys.executable, "-c", SLOW, folder, out], stdout=-1, stderr=-1) as running:
        assert running.stdout.readline() == b"now\n"
        (scratch,) = os.listdir(tmp_path)
        assert scratch.startswith(".out.csv.")
        running.send_signal(how)
        running.wait(30)
    if how == signal.SIGKILL:  # nobody can clean up then, except the next one
        assert os.listdir(tmp_path) == [scratch]
        score_file(TableModel.load(folder / "m.unskew"), folder / "new.csv", out, ListOptions())
        assert os.listdir(tmp_path) == ["out.csv"]
    else:
        assert os.listdir(tmp_path) == []


@pytest.mark.usefixtures("small_runs")
@pytest.mark.parametrize("keep_order", [True, False])
def test_a_full_disk_is_named_by_the_folder_and_leaves_nothing_behind(folder, tmp_path, keep_order):
    resource = pytest.importorskip("resource")
    model, before = read_model(folder), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))
    try:
        with pytest.raises(OSError, match=f"^{re.escape(str(tmp_path))}: rows must wait .* free some space") as caught:
            score_file(model, folder / "new.csv", tmp_path / "out.csv", ListOptions(keep_order=keep_order))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.errno == errno.EFBIG
    assert os.listdir(tmp_path) == []
