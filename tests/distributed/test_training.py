"""Fits by workers: here in this process, and as processes that are killed."""

import itertools
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext

import numpy as np
import polars as pl
import pytest
from filelock import FileLock

import unskew
from program import run_program
from toy_table import ASIDE, COLUMNS, toy_frame
from unskew import distributed
from unskew.data.holdout import hold_out_shared
from unskew.data.records import PUData
from unskew.data.rows import as_rows
from unskew.data.team import Share
from unskew.distributed import training
from unskew.distributed.crews import Crew, Processes, WorkerLost, processes_in
from unskew.distributed.member import learn
from unskew.learning import journal
from unskew.learning.team import OneWorker
from unskew.practice.model import TableModel
from unskew.rankers._prior import cut, cut_in
from unskew.rankers._shared import _SharedScores

ABOUT = {"label": "known", "confidence": "risk", "exclude": ("truth", "case")}
QUICK = {"random_state": 3, "max_epochs": 3, "batch_size": 100, "learning_rate": 1e-3}


class Here(Crew):
    """One worker, in this process."""

    count, on_this_machine = 1, True

    def work_together(self, tasks):
        for each in tasks:
            learn(each)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three files that no shard ends with."""
    folder = tmp_path_factory.mktemp("cases")
    for number, n in enumerate((500, 130, 470)):
        toy_frame(n, seed=number).write_parquet(folder / f"{number}.parquet", row_group_size=90)
    return folder


def fitted(folder, workers=None, method="conf-auc", **options):
    ranker = unskew.make(method, **{**QUICK, **options.pop("ranker", {})})
    return distributed.fit(ranker, folder, **ABOUT, workers=workers or Here(), **options)


def read_all(folder):
    return pl.concat([pl.read_parquet(each) for each in sorted(folder.glob("*.parquet"))])


def assert_same(found, expected, folder):
    rows = read_all(folder)
    assert np.array_equal(found.decision_function(rows), expected.decision_function(rows))
    assert np.array_equal(found.predict_proba(rows), expected.predict_proba(rows))
    for name in ("threshold_", "prior_", "label_freq_", "reliability_", "history_", "best_epoch_", "training_summary_"):
        assert getattr(found, name) == getattr(expected, name), name


@pytest.fixture(scope="module")
def alone(folder):
    return fitted(folder)


def test_a_folder_is_fitted_as_a_table_would_be(folder, alone):
    rows = read_all(folder)
    plain = unskew.make("conf-auc", **QUICK)
    plain.fit(rows.drop("known", "risk", "truth", "case"), rows["known"].to_numpy(), confidence=rows["risk"].to_numpy())
    assert alone.schema_ == plain.schema_
    assert list(alone.feature_names_in_) == list(plain.feature_names_in_)
    assert alone.training_summary_["alpha"] == plain.training_summary_["alpha"] == rows["known"].mean()
    assert alone.training_summary_["n_labeled"] == plain.training_summary_["n_labeled"]
    held = [each.training_summary_["n_validation_unlabeled"] for each in (alone, plain)]
    assert abs(held[0] - held[1]) <= 8  # each shard rounds its share
    # The posterior is fitted to all rows here as there, in another order.
    assert alone.prior_ == pytest.approx(plain.prior_, rel=0.02)
    assert np.corrcoef(alone.predict_proba(rows)[:, 1], plain.predict_proba(rows)[:, 1])[0, 1] > 0.99
    reached = (alone.decision_function(rows) >= alone.threshold_).sum()
    assert reached == round(alone.prior_ * len(rows))


def test_files_of_text_are_read_as_those_of_parquet(folder, tmp_path, alone):
    for each in folder.iterdir():
        pl.read_parquet(each).write_csv(tmp_path / f"{each.stem}.csv")
    found = fitted(tmp_path)
    assert found.schema_ == alone.schema_
    assert_same(found, alone, folder)


def test_two_processes_that_are_killed_again_and_again_give_the_same_ranker(folder, tmp_path, alone):
    crew, kills, rng = Processes(2), [], random.Random(0)

    def kill():
        """SIGKILL to either worker, twice, each time at another moment after the training got further."""
        for number in range(2):
            before = training._noted(tmp_path / "run") if number else []
            while training._noted(tmp_path / "run") == before:
                time.sleep(0.01)
            time.sleep(rng.uniform(0, 0.1))
            process = rng.choice(crew.running)
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills.append(process.returncode)
            while process in crew.running:
                time.sleep(0.01)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    found = fitted(folder, crew, run=tmp_path / "run", seconds=0.0)
    assert kills == [-signal.SIGKILL] * 2
    assert_same(found, alone, folder)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("method", ["conf-auc", "ntc", "conf-joint"])
def test_a_training_goes_on_from_each_of_its_notes(method, folder, tmp_path, monkeypatch):
    expected = fitted(folder, method=method)
    steps, written = itertools.count(), itertools.count()
    monkeypatch.setattr(journal.Journal, "is_due", lambda self: next(steps) % 7 == 0)
    write = journal.Journal.write

    def write_and_be_killed(self, state):
        write(self, state)
        if next(written) % 2:
            raise WorkerLost("it was killed by signal 9")

    monkeypatch.setattr(journal.Journal, "write", write_and_be_killed)
    found = fitted(folder, method=method, run=tmp_path / "run")
    assert next(written) > 3
    assert_same(found, expected, folder)


def test_an_interrupted_call_is_taken_up_by_the_next_one_and_no_other(folder, tmp_path, monkeypatch, alone):
    monkeypatch.setattr(journal.Journal, "is_due", lambda self: True)
    write = journal.Journal.write

    def interrupted(self, state):
        write(self, state)
        if state["history"]:
            raise KeyboardInterrupt

    monkeypatch.setattr(journal.Journal, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fitted(folder, run=tmp_path / "run")
    assert (tmp_path / "run" / "training-0.pt").exists()
    monkeypatch.setattr(journal.Journal, "write", write)
    begun = []
    monkeypatch.setattr(journal.Course, "_go_on_from", lambda self, state: begun.append(state))
    fitted(folder, run=tmp_path / "other")
    assert not begun
    monkeypatch.undo()
    assert_same(fitted(folder, run=tmp_path / "run"), alone, folder)


def test_another_request_begins_anew(folder, tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "training-0.pt").write_bytes(b"of another request")
    (tmp_path / "run" / "request.json").write_bytes(b"another")
    (tmp_path / "run" / "of the user.txt").write_bytes(b"")
    fitted(folder, run=tmp_path / "run")
    assert [each.name for each in (tmp_path / "run").iterdir()] == ["of the user.txt"]


class Lost(Here):
    def work_together(self, tasks):
        raise WorkerLost("it was killed by signal 9")


def test_what_cannot_be_fitted_is_refused_with_one_message(folder, tmp_path):
    with pytest.raises(MemoryError, match=r"lost 4 times, .*signal 9.* fewer workers on each machine"):
        fitted(folder, Lost())
    with pytest.raises(ValueError, match=r"method auto and ensemble ask for something else\. .*conf-auc, "):
        fitted(folder, method="auto")
    with pytest.raises(ValueError, match="--workers must be ray:N"):
        fitted(folder, "many")
    with pytest.raises(ValueError, match="workers is 0"):
        fitted(folder, "local:0")
    with pytest.raises(ValueError, match="a folder to fit on must hold tables"):
        fitted(tmp_path)
    with pytest.raises(ValueError, match="power of two and at least the number of workers, 1, but it is 6"):
        fitted(folder, shards=6)
    with FileLock(folder / "lock"), pytest.raises(ValueError, match="another training is using"):
        fitted(folder, run=folder)
    (folder / "lock").unlink(missing_ok=True)
    few = pl.concat([toy_frame(200).sort("known").head(10), toy_frame(200).sort("known").tail(10)])
    few.write_csv(tmp_path / "a.csv")
    with pytest.raises(ValueError, match="at least 32 rows, four for each of 8 shards, but it has 20"):
        fitted(tmp_path)
    few.drop("age").write_csv(tmp_path / "b.csv")
    with pytest.raises(ValueError, match=r'column "?age"? is in "?a.csv"? and missing in "?b.csv"?'):
        fitted(tmp_path)
    few.write_parquet(tmp_path / "c.parquet")
    with pytest.raises(ValueError, match="files of one format"):
        fitted(tmp_path)


def test_what_a_process_finds_wrong_is_raised_here(folder, tmp_path, monkeypatch):
    """A file that has changed after it was looked through."""
    for each in folder.glob("*.parquet"):
        (tmp_path / each.name).write_bytes(each.read_bytes())
    work = Processes.work_together

    def change_and_work(self, tasks):
        read_all(tmp_path).with_columns(level=pl.lit("high")).write_parquet(tmp_path / "0.parquet", row_group_size=90)
        work(self, tasks)

    monkeypatch.setattr(Processes, "work_together", change_and_work)
    with pytest.raises(ValueError, match=r"0\.parquet: column .*level.* is numeric"):
        fitted(tmp_path, 1)


def test_memory_that_is_too_small_is_said_before_rows_are_read(folder, monkeypatch):
    monkeypatch.setattr("unskew.distributed.shares.most_bytes", lambda: 1000)
    with pytest.raises(MemoryError, match="must fit into its memory"):
        fitted(folder)


@pytest.mark.parametrize(("workers", "count"), [(2, 2), ("3", 3), ("local:4", 4), ("ray:2", None)])
def test_processes_here_need_no_engine(workers, count):
    assert processes_in(workers) == count


def shared_record(scores, n_labeled):
    rows = np.arange(len(scores))
    sizes = tuple(len(each) for each in np.array_split(rows[n_labeled:], 4))
    X = as_rows(np.zeros((len(scores), 1)))
    return PUData(X, rows[:n_labeled], rows[n_labeled:], share=Share(OneWorker(4), sizes))


class Scored:
    scenario = "one-sample"

    def __init__(self, scores):
        self.scores = scores

    def scores_at(self, X, rows):
        return self.scores[rows]


@pytest.mark.parametrize(
    "scores",
    [
        np.random.RandomState(0).normal(size=400) * 1e3,
        np.random.RandomState(1).normal(size=400).astype(np.float32).astype(float),
        np.random.RandomState(2).choice([-1.5, -0.0, 0.0, 2.5], size=401),
        np.full(30, -3.25),
        np.array([-np.finfo(float).max, -5e-324, 0.0, 5e-324, 1.0, np.finfo(float).max] * 3),
    ],
)
def test_a_cut_by_counts_is_that_of_all_scores_in_memory(scores):
    found = _SharedScores(Scored(scores), shared_record(scores, 5))
    ordered = np.sort(scores)
    assert [found.at(place) for place in (0, 3, len(scores) // 2, len(scores) - 1)] == [
        ordered[place] for place in (0, 3, len(scores) // 2, len(scores) - 1)
    ]
    for share in (0.001, 0.2, 0.5, 0.9):
        assert cut_in(found, share) == cut(scores, share)


def test_workers_hold_out_the_same_labeled_rows_and_all_know_how_many_others():
    data = shared_record(np.zeros(400), 20)
    halves = []
    for rank in range(2):
        team = OneWorker(4, 2, rank)
        own = np.concatenate([data.unlabeled_rows[data.share.slices()[shard]] for shard in team.shards])
        part = PUData(data.X, data.labeled_rows, own, share=Share(team, data.share.sizes))
        halves.append(hold_out_shared(part, 0.2, 7, 1000))
    whole = hold_out_shared(data, 0.2, 7, 1000)
    for kind in (0, 1):
        assert all(np.array_equal(each[kind].labeled_rows, whole[kind].labeled_rows) for each in halves)
        joined = np.concatenate([each[kind].unlabeled_rows for each in halves])
        assert np.array_equal(joined, whole[kind].unlabeled_rows)
        assert {each[kind].share.sizes for each in halves} == {whole[kind].share.sizes}
        assert whole[kind].n_unlabeled == len(whole[kind].unlabeled_rows)
        assert whole[kind].alpha == 20 / 400
    assert hold_out_shared(data, 0.2, 7, 3)[1].share.sizes == (3, 3, 3, 3)


def test_the_command_writes_a_model_that_scores_files(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "crew_of", lambda workers: nullcontext(Here()))
    out = tmp_path / "m.unskew"
    options = "--method", "conf-auc", "--epochs", 2, "--no-estimate", "--workers", "local:2", "--out", out
    done = run_program("fit", folder, *COLUMNS, *ASIDE, *map(str, options))
    assert done.returncode == 0, done.stderr
    model = TableModel.load(out)
    assert model.source.n_rows == 1100
    assert model.source.file == folder.name
    assert [each.name for each in tmp_path.iterdir()] == ["m.unskew"]
    assert len(model.score(read_all(folder))) == 1100


def test_the_command_refuses_what_workers_cannot_do(folder):
    done = run_program("fit", folder, *COLUMNS, "--workers", "local:2")
    assert done.returncode == 2
    assert "method auto" in done.stderr
    done = run_program("fit", folder, *COLUMNS, "--method", "ntc", "--workers", "2", "--validation", folder)
    assert done.returncode == 2
    assert "--validation must not come with --workers" in done.stderr


NOT_ASKED = """
import sys
import unskew, torch
data = unskew.datasets.toy.draw(200, random_state=0)
unskew.make("conf-auc", max_epochs=1, random_state=0).fit(data.X, data.labeled, confidence=data.confidence)
assert not torch.distributed.is_initialized()
assert not [name for name in sys.modules if name.startswith(("unskew.distributed", "unskew.workers", "ray"))]
"""


def test_an_ordinary_fit_starts_nothing_of_this():
    subprocess.run([sys.executable, "-c", NOT_ASKED], check=True)
