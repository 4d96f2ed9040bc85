"""Folders scored in parts, without Ray: workers are this process, which does tasks in any order and loses some."""

import json
from contextlib import nullcontext

import numpy as np
import polars as pl
import pytest
from filelock import FileLock

from pool_here import Here
from program import run_program
from toy_table import ASIDE, COLUMNS, run, toy_frame, write_toy
from unskew import distributed
from unskew.distributed import parts, scoring, tasks
from unskew.practice.list_options import ListOptions
from unskew.practice.model import TableModel
from unskew.practice.score import score_file

N = 700


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, and a folder of files of which many rows have the same score."""
    folder = tmp_path_factory.mktemp("scored")
    write_toy(folder / "cases.csv", 400)
    fast = "--method", "ntc-linear", "--no-estimate", "--out", folder / "m.unskew"
    run("fit", folder / "cases.csv", *COLUMNS, *ASIDE, *fast)
    (folder / "new").mkdir()
    frame = toy_frame(N, seed=3)[np.random.default_rng(0).integers(0, 90, N)]
    frame = frame.with_columns(case=pl.format("n{}", pl.int_range(N)))
    frame[:300].write_parquet(folder / "new" / "a.parquet", row_group_size=70)
    frame[300:310].write_csv(folder / "new" / "b.csv")
    frame[310:310].write_parquet(folder / "new" / "c.parquet")
    frame[310:].write_parquet(folder / "new" / "d.parquet", row_group_size=1000)
    frame.write_csv(folder / "whole.csv")
    return folder


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Parts and ranges so small that every kind of cut occurs."""
    monkeypatch.setattr(parts, "ROWS_OF_PART", 150)
    monkeypatch.setattr(scoring, "ROWS_OF_RANGE", 60)
    monkeypatch.setattr(tasks, "ROWS_AT_ONCE", 41)
    tasks._model.cache_clear()


def scored(folder, out, pool=None, **options):
    return distributed.score(folder / "m.unskew", folder / "new", out, workers=pool or Here(), **options)


def read_all(out):
    names = sorted(each.name for each in out.iterdir() if not each.name.startswith("_"))
    assert names == ["a.parquet", "b.csv", "c.parquet", "d.parquet"]
    frames = [pl.read_csv(out / name) if name.endswith("csv") else pl.read_parquet(out / name) for name in names]
    return pl.concat([each for each in frames if len(each)])


def test_files_together_are_the_list_of_the_whole_table(folder, tmp_path):
    found = scored(folder, tmp_path / "out", ids=["case"])
    rows = read_all(tmp_path / "out")
    whole = tmp_path / "whole.parquet"
    model = TableModel.load(folder / "m.unskew")
    expected = score_file(model, folder / "whole.csv", whole, ListOptions(ids=["case"], keep_order=True))
    listed = pl.read_parquet(whole)
    assert rows["case"].to_list() == listed["case"].to_list()
    np.testing.assert_allclose(rows["score"], listed["score"], rtol=1e-6)
    score = rows["score"].to_numpy()
    assert rows["rank"].to_list() == (1 + (score[None] > score[:, None]).sum(axis=1)).tolist()
    assert rows["rank"].n_unique() < 150  # ties have one rank, also across files
    assert found.n_rows == expected.n_rows == N
    assert found.n_files == 4
    assert found.drift.flagged == expected.drift.flagged
    assert [each.column for each in found.drift.moved] == [each.column for each in expected.drift.moved]
    assert sorted(found.notes) == sorted(expected.notes)


def test_without_ids_rows_are_numbered_in_their_file(folder, tmp_path):
    scored(folder, tmp_path / "out")
    assert pl.read_parquet(tmp_path / "out" / "a.parquet")["row"].to_list() == list(range(1, 301))
    assert pl.read_csv(tmp_path / "out" / "b.csv").columns[:3] == ["row", "rank", "score"]


def test_after_an_interruption_what_is_finished_is_kept_and_the_result_is_the_same(folder, tmp_path):
    scored(folder, tmp_path / "once", undisturbed := Here())
    n_tasks = len(undisturbed.done)
    for after in (0, 2, n_tasks // 2, n_tasks - 4, n_tasks - 1):
        out = tmp_path / f"out{after}"
        with pytest.raises(KeyboardInterrupt):
            scored(folder, out, Here(after))
        assert (out / scoring.WAITING).is_dir()
        known = {each.name: each.stat().st_mtime_ns for each in (out / scoring.WAITING).iterdir()}
        with pytest.raises(KeyboardInterrupt):
            scored(folder, out, Here(n_tasks - 1))  # all but the last task, which is that of the first file
        later = {each.name: each.stat().st_mtime_ns for each in (out / scoring.WAITING).iterdir()}
        assert {name: later[name] for name in known} == known  # nothing was done twice
        scored(folder, out)
        for path in (tmp_path / "once").iterdir():
            assert path.read_bytes() == (out / path.name).read_bytes()
        assert sorted(each.name for each in out.iterdir()) == sorted(
            each.name for each in (tmp_path / "once").iterdir()
        )


def test_what_was_all_done_is_not_done_again_until_a_file_changes(folder, tmp_path):
    out = tmp_path / "out"
    scored(folder, out)
    pool = Here(0)
    again = scored(folder, out, pool)
    assert again.n_rows == N
    assert again.drift is None
    assert "scored before" in again.notes[0]
    (out / "b.csv").unlink()
    with pytest.raises(KeyboardInterrupt):
        scored(folder, out, pool)


def test_a_request_that_changed_begins_anew(folder, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        scored(folder, out, Here(3))
    scored(folder, out, ids=["case"])
    assert read_all(out).columns[0] == "case"


def test_formulas_in_csv_files_are_made_harmless(folder, tmp_path):
    new = tmp_path / "new"
    new.mkdir()
    pl.read_csv(folder / "new" / "b.csv").with_columns(case=pl.lit("=1+1")).write_csv(new / "b.csv")
    found = distributed.score(folder / "m.unskew", new, tmp_path / "out", workers=Here(), ids=["case"])
    assert "a ' was put before 10 cells" in " ".join(found.notes)
    assert pl.read_csv(tmp_path / "out" / "b.csv")["case"].to_list() == ["'=1+1"] * 10
    distributed.score(folder / "m.unskew", new, tmp_path / "raw", workers=Here(), ids=["case"], raw=True)
    assert pl.read_csv(tmp_path / "raw" / "b.csv")["case"].to_list() == ["=1+1"] * 10


def test_what_cannot_be_scored_is_refused_and_leaves_nothing(folder, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(ValueError, match=r"--workers must be ray:N"):
        distributed.score(folder / "m.unskew", folder / "new", out, workers="4")
    with pytest.raises(ValueError, match="there is none. Check the path"):
        distributed.score(folder / "m.unskew", tmp_path / "nowhere", out, workers=Here())
    with pytest.raises(FileExistsError, match="must not be the folder that is read"):
        distributed.score(folder / "m.unskew", folder / "new", folder / "new", workers=Here())
    new = tmp_path / "new"
    new.mkdir()
    with pytest.raises(ValueError, match="a folder to score must hold tables"):
        distributed.score(folder / "m.unskew", new, out, workers=Here())
    good = pl.read_csv(folder / "new" / "b.csv")
    good.write_csv(new / "b.csv")
    with pytest.raises(ValueError, match="no_such"):
        distributed.score(folder / "m.unskew", new, out, workers=Here(), ids=["no_such"])
    assert not out.exists()
    good.with_columns(level=pl.lit("high")).write_csv(new / "z.csv")  # is found out while it is scored
    with pytest.raises(ValueError, match=r"z\.csv.*level.*high"):
        distributed.score(folder / "m.unskew", new, out, workers=Here())
    assert list(out.iterdir()) == []


def test_two_runs_do_not_write_to_one_folder(folder, tmp_path):
    out = tmp_path / "out" / scoring.WAITING
    out.mkdir(parents=True)
    with FileLock(out / "lock"), pytest.raises(ValueError, match="another run is writing"):
        scored(folder, tmp_path / "out")


def test_the_command_refuses_what_only_lists_have(folder, tmp_path):
    done = run_program(
        "score", folder / "m.unskew", folder / "new", "--out", tmp_path / "o", "--workers", "ray:2", "--top", "5"
    )
    assert done.returncode == 2
    assert "--top must not come with --workers" in done.stderr
    no_folder = run_program("score", folder / "m.unskew", folder / "new", "--workers", "ray:2")
    assert no_folder.returncode == 2
    assert "--out must be a folder where --workers is given, but it is scored.csv" in no_folder.stderr


def test_the_command_says_what_was_found(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("unskew.distributed.scoring.connected", lambda workers: nullcontext(Here()))
    done = run_program(
        "score",
        folder / "m.unskew",
        folder / "new",
        "--out",
        tmp_path / "o",
        "--workers",
        "ray:2",
        "--json",
        tmp_path / "j",
    )
    assert done.returncode == 0, done.stderr
    assert f"{N} rows of 4 files ranked" in done.stdout
    assert json.loads((tmp_path / "j").read_text())["rows"] == N
