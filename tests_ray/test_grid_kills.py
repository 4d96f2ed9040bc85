"""A plan whose runs are done by workers that are killed: no finished row is lost, none is there twice."""

import json
import random

import pytest

from experiment_runs import QUICK
from killing import kill_node, kill_worker, meanwhile
from unskew.paper import Store, run_plan

PLAN = QUICK.only(seeds=5, max_epochs=2)


def results(folder):
    rows = Store(folder, PLAN.name).rows()
    return sorted(json.dumps({key: row[key] for key in row if "seconds" not in key}, sort_keys=True) for row in rows)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, connection):
    folder = tmp_path_factory.mktemp("grid")
    assert run_plan(PLAN, folder, workers=connection).failed == ()
    return results(folder)


def disturbed(kill, cluster, pool, folder, least, pause):
    store = Store(folder, PLAN.name)
    with meanwhile(kill, cluster, lambda: store.count() >= least, pause):
        outcome = run_plan(PLAN, folder, workers=pool)
    assert outcome.failed == ()
    assert [each.name for each in folder.iterdir() if ".part" in each.name] == []
    return results(folder)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_worker_is_killed(undisturbed, cluster, pool, tmp_path, seed):
    rng = random.Random(seed)
    least, pause = rng.randrange(len(PLAN.settings()) // 2), rng.random() * 0.2
    assert disturbed(kill_worker, cluster, pool, tmp_path, least, pause) == undisturbed


def test_a_node_is_killed(undisturbed, cluster, pool, tmp_path):
    assert disturbed(kill_node, cluster, pool, tmp_path, 2, 0.1) == undisturbed
