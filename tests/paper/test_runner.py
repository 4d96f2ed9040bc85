"""Rows on disk, and runs: none lost, none done twice, none that depends on another."""

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

import unskew
from experiment_runs import QUICK, draw_fewer, run_settings, write_method
from unskew import datasets
from unskew.paper import PLANS, Setting, Store, run_plan
from unskew.paper.one_draw import Draw

CLOCK = ("seconds", "labeling_seconds")


def settings_and_results(rows):
    """Rows in any order, without the times that they took."""
    return sorted(json.dumps({key: row[key] for key in row if key not in CLOCK}, sort_keys=True) for row in rows)


def row_of(setting, auc=0.5):
    return {**asdict(setting), "auc": auc}


# Rows on disk


def test_rows_come_back_and_a_half_line_of_a_killed_run_is_removed(tmp_path):
    store = Store(tmp_path / "new", "table1")
    first, second = QUICK.settings()[:2]
    assert store.rows() == []
    store.append(row_of(first))
    with store.path.open("a") as file:
        file.write('{"dataset": "digi')
    assert store.rows() == [row_of(first)]
    with store.lock():
        store.append(row_of(second))
    assert list(store.finished()) == [first, second]
    assert len(store.path.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("{", "line 2 does not: Expecting property name"),
        ("[]", r"line 2 does not: the row must be an object, but it is \[\]"),
        ('{"dataset": "digits"}', "line 2 does not: the row must hold method, prior, label_freq, seed"),
        ("null", "line 2 does not: the row must be an object"),
        ("", "line 2 does not: Expecting value"),
        (
            json.dumps({**row_of(QUICK.settings()[0]), "prior": "0.2"}),
            "the row.prior must be a finite number, .* '0.2'",
        ),
    ],
)
def test_a_damaged_line_is_reported_with_its_number(tmp_path, line, found):
    store = Store(tmp_path, "table1")
    store.append(row_of(QUICK.settings()[0]))
    with store.path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(ValueError, match=rf"table1.jsonl must have one JSON object .*{found}"):
        store.rows()


def test_a_row_from_before_a_field_was_added_has_its_default(tmp_path):
    store, setting = Store(tmp_path, "table1"), QUICK.settings()[0]
    row = row_of(setting)
    store.append({name: value for name, value in row.items() if name != "labeling_noise"})
    assert store.finished() == {setting: row}


def test_a_full_disk_is_reported_and_spoils_no_other_line(tmp_path, monkeypatch):
    store, (first, second) = Store(tmp_path, "table1"), QUICK.settings()[:2]
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, content: write(handle, content[:20]))
    with pytest.raises(OSError, match="the disk is full"):
        store.append(row_of(first))
    monkeypatch.undo()
    with store.lock():  # as any run begins
        store.append(row_of(second))
    assert list(store.finished()) == [second]


def test_draws_of_two_priors_have_little_in_common():
    one, other = (Draw(Setting("toy", "ntc", prior, 0.1, 0, max_epochs=1)).split for prior in (0.1, 0.2))
    shared = {row.tobytes() for row in one.train.X} & {row.tobytes() for row in other.train.X}
    assert len(shared) < 1500  # 5,000 of 40,000 rows each


def test_a_second_run_in_the_same_folder_is_kept_away(tmp_path):
    first, second = Store(tmp_path, "table1"), Store(tmp_path, "table1")
    with first.lock():
        with pytest.raises(ValueError, match="another run is writing to .* Wait until it ends"), second.lock():
            pass
        with Store(tmp_path, "lbe").lock():
            pass
    with second.lock():
        pass


def test_a_killed_run_leaves_no_lock_behind(tmp_path):
    script = "import sys, time; from pathlib import Path; from unskew.paper import Store\n"
    script += "with Store(Path(sys.argv[1]), 'table1').lock():\n    print('locked', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"locked\n"
        with pytest.raises(ValueError, match="another run is writing to"), Store(tmp_path, "table1").lock():
            pass
        holder.kill()
    with Store(tmp_path, "table1").lock():
        pass


def test_rows_of_another_plan_are_taken_over(tmp_path):
    settings = QUICK.settings()
    other = Store(tmp_path, "table1")
    for setting in settings[:2]:
        other.append(row_of(setting, 0.7))
    store = Store(tmp_path, "prior")
    store.append(row_of(settings[0], 0.6))
    assert store.adopt(settings) == 1
    assert [row["auc"] for row in store.rows()] == [0.6, 0.7]
    assert store.adopt(settings) == 0


# Runs


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Rows of a plan of two draws, done one after another in this process."""
    folder = tmp_path_factory.mktemp("undisturbed")
    plan = replace(QUICK, seeds=2)
    outcome = run_plan(plan, folder, jobs=1)
    assert (outcome.total, outcome.kept, outcome.failed) == (6, 0, ())
    return plan, Store(folder, plan.name).rows()


def test_a_row_has_what_a_table_needs(undisturbed):
    plan, rows = undisturbed
    assert [Setting.of_row(row) for row in rows] == plan.settings()
    for row in rows:
        assert 0 <= row["auc"] <= 1
        assert row["seconds"] > 0
        assert (row["epochs"], row["n_labeled"], row["n_train"]) == (2, 6, 300)
        assert not {"method_file", "dataset_file"} & row.keys()  # these are for files of the user's own
        assert row["versions"]["unskew"] == unskew.__version__
        assert row["machine"]["cores"] >= 1
        assert ("weights" in row) == (row["method"] == "conf-auc")
    by_method = {row["method"]: row for row in rows[:3]}
    assert len(by_method["conf-auc"]["weights"]) == 6
    assert by_method["conf-auc"]["labeling_seconds"] == by_method["ntc"]["seconds"]
    assert by_method["puauc"]["labeling_seconds"] == 0


def test_results_do_not_depend_on_the_number_of_jobs(undisturbed, tmp_path, own_registered):
    """Nor on methods of one's own beside them, which each process imports."""
    plan, rows = undisturbed
    own = write_method(tmp_path / "mine.py", "-logit")
    run_plan(replace(plan, methods=(*plan.methods, "mine")), tmp_path, jobs=2, imports=[own])
    found = Store(tmp_path, plan.name).finished()
    mine = {setting.seed: row["auc"] for setting, row in found.items() if setting.method == "mine"}
    others = [row for setting, row in found.items() if setting.method != "mine"]
    assert settings_and_results(others) == settings_and_results(rows)
    assert mine == {row["seed"]: pytest.approx(1 - row["auc"]) for row in rows if row["method"] == "ntc"}


def test_results_do_not_depend_on_order_or_company(undisturbed):
    plan, rows = undisturbed
    one_draw = [setting for setting in plan.settings() if setting.seed == 1]
    backwards = run_settings(one_draw[::-1])
    alone = run_settings([one_draw[0]])
    expected = [row for row in rows if row["seed"] == 1]
    assert settings_and_results(backwards) == settings_and_results(expected)
    assert settings_and_results(alone) == settings_and_results(expected[:1])


def test_what_is_done_is_not_done_again(undisturbed, tmp_path, monkeypatch):
    plan, rows = undisturbed
    store = Store(tmp_path, plan.name)
    for row in rows[1:]:
        store.append(row)
    outcome = run_plan(plan, tmp_path)
    assert (outcome.total, outcome.kept) == (6, 5)
    assert settings_and_results(store.rows()) == settings_and_results(rows)
    monkeypatch.setattr("unskew.paper.one_draw.Draw", None)  # would fail if anything were run
    assert run_plan(plan, tmp_path).kept == 6


def test_a_run_that_fails_is_reported_and_the_others_go_on(tmp_path, own_registered):
    own = write_method(tmp_path / "mine.py", "1 / 0")
    outcome = run_plan(replace(QUICK, methods=("mine", "ntc"), seeds=2), tmp_path, imports=[own])
    titles = [f"mine on digits, prior 0.2, seed {seed}" for seed in range(2)]
    assert [message.partition(": ")[0] for message in outcome.failed] == titles
    assert "division by zero" in outcome.failed[0]
    assert len(Store(tmp_path, "table1").rows()) == 2


def test_a_draw_that_fails_is_reported_for_all_its_runs(tmp_path, own_registered):
    @datasets.dataset("mine")  # with the paper's sizes, for which there are too few
    def read_mine():
        return datasets.load("digits")

    outcome = run_plan(replace(QUICK, datasets=("mine",), seeds=1), tmp_path)
    assert len(outcome.failed) == 3
    words = r"need \d+ instances of class 0, but there are 891. Use smaller parts \(sizes=Sizes\(...\)"
    assert all(re.search(words, message) for message in outcome.failed)


def test_what_has_too_few_labels_is_left_out_with_a_message(tmp_path):
    plan, told = PLANS["c005"].only(datasets=["digits"], methods=["ntc"], seeds=1, max_epochs=1), []
    outcome = run_plan(plan, tmp_path, say=told.append)
    assert (outcome.total, outcome.failed) == (3, ())
    assert told == [
        "left out: digits at prior 0.05 (with a label frequency of 0.05 training and validation part have 1 and 1 "
        "labeled instances, and methods need 2 in each)",
        "c005: 3 runs, 0 of them done already",
    ]
    assert [row["prior"] for row in Store(tmp_path, "c005").rows()] == [0.1, 0.15, 0.2]
    with pytest.raises(ValueError, match="nothing can be run: digits at prior 0.05 .* Use a larger prior"):
        run_plan(plan.only(priors=[0.05]), tmp_path)


def variant(**changes):
    return Setting("digits", "conf-auc", 0.2, 0.1, 0, max_epochs=2, **changes)


def test_each_variation_changes_the_result_and_none_at_its_neutral_value():
    changes = [
        {"clip": 0.9},  # two epochs leave the labeling probability near one half
        {"power": 4.0},
        {"power": 4.0, "transform": "odds"},
        {"confidence_noise": 0.15},
        {"levels": 4},
        {"votes": 5},
        {"labeling_noise": 0.15},
    ]
    plain, *rows = run_settings([variant(), *(variant(**change) for change in changes)])
    for change, row in zip(changes, rows, strict=True):
        assert row["validation_risk"] != plain["validation_risk"], change
        assert ("weights" in row) == ("labeling_noise" not in change)
    neutral = {"clip": 0.01, "power": 1.0, "confidence_noise": 0.0, "levels": 0, "votes": 0, "labeling_noise": 0.0}
    (again,) = run_settings([variant(**neutral)])
    assert settings_and_results([again]) == settings_and_results([plain])


def test_the_true_class_never_reaches_a_fit(monkeypatch):
    """What differs in nothing but hidden classes is the same to every method."""
    seen = []
    original = unskew.rankers.Ranker.fit

    def spy(self, X, y, confidence=None, **options):
        _, held_out, held_out_confidence = options["validation"]
        counts = np.asarray(y).sum(), np.isnan(confidence).sum()
        held_out_counts = np.asarray(held_out).sum(), np.isnan(held_out_confidence).sum()
        seen.append((self.name, counts, held_out_counts, set(options)))
        return original(self, X, y, confidence=confidence, **options)

    monkeypatch.setattr(unskew.rankers.Ranker, "fit", spy)
    run_settings(QUICK.only(seeds=1).settings())
    assert [name for name, *_ in seen] == ["ntc", "conf-auc", "puauc"]  # the labeling network once for all
    for _, counts, held_out_counts, options in seen:  # a tenth of 60 and 60 positives, and nothing of the others
        assert (counts, held_out_counts, options) == ((6, 294), (6, 294), {"validation"})


@pytest.mark.parametrize("method", unskew.methods())
def test_noise_on_the_labeling_probability_for_every_method(method):
    noises = (0.0, 0.15)
    settings = [Setting("digits", method, 0.2, 0.1, 0, max_epochs=2, labeling_noise=noise) for noise in noises]
    plain, noisy = run_settings(settings)
    json.dumps(noisy, allow_nan=False)
    assert (noisy["auc"] != plain["auc"]) == unskew.rankers.ranker_class(method).uses_labeling
    if method in ("ntc", "pg"):  # their score is the labeling probability itself, which the noise spoils after training
        assert (noisy["best_epoch"], noisy["epochs"], noisy["validation_risk"]) == (None, 0, None)
        assert plain["epochs"] == 2


def test_networks_are_trained_on_digits():
    """A few hundred rows are one of the paper's batches: with these, 200 epochs would be 200 small steps."""
    draws = [Draw(Setting("digits", "ntc", 0.2, 0.1, seed)) for seed in range(2)]
    assert np.mean([np.nanstd(draw.split.train.confidence) for draw in draws]) > 0.15
    assert np.mean([draw.row(draw.setting)["auc"] for draw in draws]) > 0.7


@pytest.mark.parametrize("dataset", ["svhn", "cifar10", "cifar10-h"])
def test_images_in_color_train_the_papers_cnn(dataset, real_data, own_registered):
    if dataset != "cifar10-h":  # one of them with all its images
        draw_fewer(dataset)
    (row,) = run_settings([Setting(dataset, "puauc", 0.2, 0.1, 0, max_epochs=1)])
    assert 0.3 < row["auc"] < 0.9


# Interrupted or killed at any time

REPRODUCE = ["reproduce", "table1", "--dataset", "digits", "--prior", "0.2", "--seeds", "2", "--jobs", "2"]
REPRODUCE += ["--method", "conf-auc", "--method", "ntc", "--method", "puauc", "--epochs", "2"]

STARTER = """
import json, multiprocessing, os, sys
import sklearn.datasets, threadpoolctl, torch
import unskew.paper.one_draw
from unskew import cli
from unskew.paper import runner

unskew.make("conf-auc")
runner.get_context = lambda way: multiprocessing.get_context("fork")
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        sys.argv = ["unskew", *json.loads(line)]
        nowhere = os.open(os.devnull, os.O_RDWR)
        for each in range(3):
            os.dup2(nowhere, each)
        try:
            cli.main()
        except SystemExit as end:
            os._exit(end.code or 0)
        except BaseException:
            os._exit(1)
        os._exit(0)
    print(pid, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


class Starter:
    """Starts ``unskew`` as a copy of a process that has loaded torch already; so do the workers of a run."""

    def __init__(self, process):
        self._process = process

    def start(self, arguments):
        """Process number of the started program; the next one can be started when it has ended."""
        self._process.stdin.write(json.dumps(arguments) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def wait(self):
        """Exit code of the program, when it has ended."""
        return int(self._process.stdout.readline())


@pytest.fixture(scope="module")
def starter():
    command = [sys.executable, "-c", STARTER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Starter(process)
        process.kill()


def test_killed_three_times_and_no_run_is_lost_or_done_twice(undisturbed, tmp_path, starter):
    command = [*REPRODUCE, "--out", str(tmp_path)]
    rng = random.Random(time.time_ns())
    kept = []
    for _ in range(3):
        pid = starter.start(command)
        time.sleep(rng.uniform(0.1, 1.1))
        with contextlib.suppress(ProcessLookupError):  # it may be done
            os.kill(pid, signal.SIGKILL)
        assert starter.wait() in (-signal.SIGKILL, 0)
        rows = Store(tmp_path, "table1").rows()
        assert {json.dumps(row) for row in kept} <= {json.dumps(row) for row in rows}  # as they were, times and all
        kept = rows
    starter.start(command)
    assert starter.wait() == 0
    rows = Store(tmp_path, "table1").rows()
    assert len(rows) == len({Setting.of_row(row) for row in rows})
    assert settings_and_results(rows) == settings_and_results(undisturbed[1])


def children_of(pid):
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(each) for each in listed.stdout.split()]


def is_running(pid):
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up under /proc")
def test_an_interrupted_run_ends_its_processes_at_once(tmp_path, starter):
    process = starter.start([*REPRODUCE, "--epochs", "100000", "--out", str(tmp_path)])
    try:
        children, deadline = [], time.monotonic() + 60
        while len(children) < 2 and time.monotonic() < deadline:  # the workers
            time.sleep(0.1)
            children = children_of(process)
        assert len(children) >= 2
        time.sleep(1)  # by now they train
        assert all(is_running(pid) for pid in children)
        os.kill(process, signal.SIGINT)
        deadline = time.monotonic() + 20
        while is_running(process) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not is_running(process)
    finally:
        if is_running(process):
            os.kill(process, signal.SIGKILL)
        starter.wait()
    time.sleep(0.5)
    assert not [pid for pid in children if is_running(pid)]
