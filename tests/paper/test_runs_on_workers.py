"""Runs that workers do: this process alone writes rows, and none is lost or done twice."""

import json

import pytest

from experiment_runs import QUICK, reproduce, run_settings
from pool_here import Here
from unskew.paper import Store, run_plan, runner
from unskew.paper.one_draw import Draw

PLAN = QUICK.only(seeds=2, max_epochs=1)


def results(rows):
    return sorted(json.dumps({key: row[key] for key in row if "seconds" not in key}, sort_keys=True) for row in rows)


@pytest.fixture(autouse=True)
def no_draw_yet(monkeypatch):
    monkeypatch.setattr(runner, "_kept", [])


def test_rows_are_those_of_this_process_whenever_it_is_interrupted(tmp_path):
    settings = PLAN.settings()
    alone = [row for seed in (0, 1) for row in run_settings([each for each in settings if each.seed == seed])]
    store = Store(tmp_path, PLAN.name)
    for after in (2, 0, 3):
        with pytest.raises(KeyboardInterrupt):
            run_plan(PLAN, tmp_path, workers=Here(after))
    assert store.count() == 5  # what had been finished
    last = Here()
    outcome = run_plan(PLAN, tmp_path, workers=last)
    assert (outcome.total, outcome.kept, outcome.failed) == (6, 5, ())
    assert len(last.done) == 1
    assert store.count() == 6
    assert results(store.rows()) == results(alone)


def test_runs_of_one_draw_share_it(tmp_path, monkeypatch):
    drawn = []

    class Counted(Draw):
        def __init__(self, setting):
            drawn.append(setting.split)
            super().__init__(setting)

    monkeypatch.setattr("unskew.paper.one_draw.Draw", Counted)
    run_plan(PLAN, tmp_path, workers=Here())
    assert len(drawn) == len(set(drawn)) == 2


def test_a_run_that_fails_is_told_and_the_others_go_on(tmp_path, monkeypatch):
    own = Draw.row

    def row(self, setting):
        if setting.method == "ntc":
            raise ValueError("no such luck")
        return own(self, setting)

    monkeypatch.setattr("unskew.paper.one_draw.Draw.row", row)
    outcome = run_plan(PLAN, tmp_path, workers=Here())
    assert len(outcome.failed) == 2
    assert all("ntc on digits" in each and "no such luck" in each for each in outcome.failed)
    assert Store(tmp_path, PLAN.name).count() == 4


def test_the_command_takes_workers_or_jobs(tmp_path):
    both = reproduce("table1", "--workers", "ray:2", "--jobs", "2", folder=tmp_path)
    assert both.returncode == 2
    assert "--jobs must not come with --workers" in both.stderr
    wrong = reproduce("table1", "--workers", "two", folder=tmp_path)
    assert wrong.returncode == 2
    assert "--workers must be ray:N" in wrong.stderr
