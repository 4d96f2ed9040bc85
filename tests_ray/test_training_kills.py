"""A training on two nodes whose workers are killed: the model is that of an undisturbed one, to the last bit."""

import random

import numpy as np
import polars as pl
import pytest

import unskew
from killing import kill_node, kill_worker, meanwhile
from toy_table import toy_frame
from unskew import distributed

ABOUT = {"label": "known", "confidence": "risk", "exclude": ("truth", "case"), "seconds": 0.0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cases")
    for number, n in enumerate((900, 400)):
        toy_frame(n, seed=number).write_parquet(folder / f"{number}.parquet", row_group_size=200)
    return folder


def fitted(folder, workers, run):
    ranker = unskew.make("conf-auc", random_state=3, max_epochs=8, batch_size=100, learning_rate=1e-3)
    found = distributed.fit(ranker, folder, **ABOUT, workers=workers, run=run)
    assert not run.exists()
    rows = pl.concat([pl.read_parquet(each) for each in sorted(folder.iterdir())])
    return found.decision_function(rows), found.threshold_, found.prior_, found.history_


@pytest.fixture(scope="module")
def undisturbed(folder, connection, tmp_path_factory):
    return fitted(folder, connection, tmp_path_factory.mktemp("undisturbed") / "run")


def disturbed(kill, folder, cluster, pool, run, least, pause):
    """Kill when so many trainings were begun."""
    with meanwhile(kill, cluster, lambda: (run / f"training-{least}.pt").exists(), pause):
        return fitted(folder, pool, run)


def assert_same(found, expected):
    assert np.array_equal(found[0], expected[0])
    assert found[1:] == expected[1:]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_worker_is_killed(undisturbed, folder, cluster, pool, tmp_path, seed):
    least, pause = seed % 2, random.Random(seed).random() * 0.2
    assert_same(disturbed(kill_worker, folder, cluster, pool, tmp_path / "run", least, pause), undisturbed)


def test_a_node_is_killed_and_the_other_goes_on_alone(undisturbed, folder, cluster, pool, tmp_path):
    assert_same(disturbed(kill_node, folder, cluster, pool, tmp_path / "run", 0, 0.1), undisturbed)


def test_processes_on_this_machine_train_the_same(undisturbed, folder, tmp_path):
    assert_same(fitted(folder, 2, tmp_path / "run"), undisturbed)
