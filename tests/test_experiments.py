"""Plans, rows on disk, and runs: none lost, none done twice, none that depends on another."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace

import numpy as np
import pytest
from typer.testing import CliRunner

import unskew
from unskew.cli import app
from unskew.experiments import PLANS, Plan, Setting, Store, run_plan
from unskew.experiments.execution import Draw
from unskew.experiments.reproduce import Request, wanted_plan
from unskew.experiments.settings import SIZES
from unskew.records import Sizes

CLOCK = ("seconds", "labeling_seconds")
QUICK = PLANS["table1"].only(datasets=["digits"], methods=["conf-auc", "ntc", "puauc"], priors=[0.2], max_epochs=2)


def settings_and_results(rows):
    """Rows in any order, without the times that they took."""
    return sorted(json.dumps({key: row[key] for key in row if key not in CLOCK}, sort_keys=True) for row in rows)


def row_of(setting, auc=0.5):
    return {**asdict(setting), "auc": auc}


def run_settings(settings):
    draw = Draw(settings[0])
    return [draw.row(setting) for setting in settings]


# Settings and plans


def test_a_setting_comes_back_from_its_row():
    setting = Setting("mnist", "npu", 0.1, 0.02 / 0.15, 3, clip=0.05, power=2.0, transform="odds")
    row = json.loads(json.dumps({**asdict(setting), "auc": 0.9}))
    assert Setting.of_row(row) == setting


def test_with_power_one_both_transforms_are_one_setting():
    assert Setting("mnist", "ntc", 0.1, 0.1, 0, transform="odds") == Setting("mnist", "ntc", 0.1, 0.1, 0)
    assert Setting("mnist", "ntc", 0.1, 0.1, 0, transform="odds", power=2.0).transform == "odds"


def test_plans_have_the_size_of_the_papers_tables():
    sizes = {name: len(plan.settings()) for name, plan in PLANS.items()}
    assert sizes["table1"] == 6 * 9 * 4 * 10
    assert sizes["table-human"] == 2 * 9 * 4 * 10
    assert sizes["lbe"] == 6 * 2 * 4 * 10
    assert sizes["noisy-confidence"] == 6 * (5 + 1) * 4 * 10  # no noise, four levels, w/oConf
    assert sizes["clipping"] == 6 * 5 * 4 * 10
    assert sizes["weights"] == 10
    for plan in PLANS.values():
        assert len(set(plan.settings())) == len(plan.settings())


def test_a_fixed_number_of_labeled_instances():
    for setting in PLANS["prior-fixed-labeled"].settings():
        assert setting.prior * setting.label_freq == pytest.approx(0.02)


def test_what_plans_share_is_the_same_setting():
    table1 = set(PLANS["table1"].settings())
    assert set(PLANS["prior"].settings()) == table1
    shared = "noisy-confidence", "clipping", "noisy-labeling", "transform-power", "transform-odds", "weights"
    for name in (*shared, "prior-fixed-labeled"):
        assert table1 & set(PLANS[name].settings())
    assert not table1 & set(PLANS["confidence-bias"].settings())


def test_part_of_a_plan():
    part = PLANS["noisy-confidence"].only(datasets=["toy"], methods=["conf-auc"], priors=[0.3], seeds=2, max_epochs=7)
    settings = part.settings()
    assert len(settings) == 5 * 2
    assert {(each.dataset, each.prior, each.max_epochs) for each in settings} == {("toy", 0.3, 7)}
    assert PLANS["table1"].only() == PLANS["table1"]


# Rows on disk


def test_rows_come_back_and_the_last_of_a_killed_run_is_mended(tmp_path):
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


@pytest.mark.parametrize("line", ["{", "[]", '{"dataset": "digits"}', "null", ""])
def test_a_damaged_line_is_told_with_its_number(tmp_path, line):
    store = Store(tmp_path, "table1")
    store.append(row_of(QUICK.settings()[0]))
    with store.path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(ValueError, match=r"table1.jsonl must have one JSON object .* but line 2 has not"):
        store.rows()


def test_a_full_disk_is_told_and_spoils_no_other_line(tmp_path, monkeypatch):
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
        with pytest.raises(ValueError, match="another run writes to"), second.lock():
            pass
        with Store(tmp_path, "lbe").lock():
            pass
    with second.lock():
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
        assert (row["epochs"], row["n_labeled"], row["n_train"]) == (2, 8, 400)
        assert row["versions"]["unskew"] == unskew.__version__
        assert row["machine"]["cores"] >= 1
        assert ("weights" in row) == (row["method"] == "conf-auc")
    by_method = {row["method"]: row for row in rows[:3]}
    assert len(by_method["conf-auc"]["weights"]) == 8
    assert by_method["conf-auc"]["labeling_seconds"] == by_method["ntc"]["seconds"]
    assert by_method["puauc"]["labeling_seconds"] == 0


def test_results_do_not_depend_on_the_number_of_jobs(undisturbed, tmp_path):
    plan, rows = undisturbed
    run_plan(plan, tmp_path, jobs=2)
    assert settings_and_results(Store(tmp_path, plan.name).rows()) == settings_and_results(rows)


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
    monkeypatch.setattr("unskew.experiments.execution.Draw", None)  # would fail if anything were run
    assert run_plan(plan, tmp_path).kept == 6


def test_a_run_that_fails_is_told_and_the_others_go_on(tmp_path):
    plan = replace(QUICK, priors=(0.01, 0.2), seeds=1)  # there is nothing to label of 4 positives
    outcome = run_plan(plan, tmp_path)
    titles = [f"{name} on digits, prior 0.01, seed 0" for name in plan.methods]
    assert [message.partition(": ")[0] for message in outcome.failed] == titles
    assert "y must have labeled instances" in outcome.failed[0]
    assert len(Store(tmp_path, plan.name).rows()) == 3


def test_a_draw_that_fails_is_told_for_all_its_runs(tmp_path, monkeypatch):
    monkeypatch.setitem(SIZES, "digits", Sizes())  # the paper's, for which there are too few
    outcome = run_plan(replace(QUICK, seeds=1), tmp_path)
    assert len(outcome.failed) == 3
    assert all("instances of class 0, but there are 891" in message for message in outcome.failed)


def variant(**changes):
    return Setting("digits", "conf-auc", 0.2, 0.1, 0, max_epochs=2, **changes)


def test_each_variation_changes_the_result_and_none_at_its_neutral_value():
    changes = [
        {"clip": 0.9},  # two epochs leave the labeling probability near one half
        {"power": 4.0},
        {"power": 4.0, "transform": "odds"},
        {"confidence_noise": 0.15},
        {"labeling_noise": 0.15},
    ]
    plain, *rows = run_settings([variant(), *(variant(**change) for change in changes)])
    for change, row in zip(changes, rows, strict=True):
        assert row["validation_risk"] != plain["validation_risk"], change
        assert ("weights" in row) == ("labeling_noise" not in change)
    (again,) = run_settings([variant(clip=0.01, power=1.0, confidence_noise=0.0, labeling_noise=0.0)])
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
    for _, counts, held_out_counts, options in seen:  # a tenth of the 80 and 60 positives, and nothing of the others
        assert (counts, held_out_counts, options) == ((8, 392), (6, 294), {"validation"})


# Killed at any moment

REPRODUCE = [sys.executable, "-m", "unskew", "reproduce", "table1", "--dataset", "digits", "--prior", "0.2"]
REPRODUCE += ["--method", "conf-auc", "--method", "ntc", "--method", "puauc", "--epochs", "2", "--seeds", "2"]


def test_killed_three_times_and_no_run_is_lost_or_done_twice(undisturbed, tmp_path):
    command = [*REPRODUCE, "--jobs", "2", "--out", str(tmp_path)]
    rng = random.Random(time.time_ns())
    kept = []
    for _ in range(3):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(2, 9))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        rows = Store(tmp_path, "table1").rows()
        assert {json.dumps(row) for row in kept} <= {json.dumps(row) for row in rows}  # as they were, times and all
        kept = rows
    subprocess.run(command, check=True, capture_output=True)
    rows = Store(tmp_path, "table1").rows()
    assert len(rows) == len({Setting.of_row(row) for row in rows})
    assert settings_and_results(rows) == settings_and_results(undisturbed[1])


# The command


def reproduce(*arguments, folder, **environment):
    command = [sys.executable, "-m", "unskew", "reproduce", *arguments, "--out", str(folder)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def reproduce_here(*arguments, folder):
    """The same in this process, which has loaded all that is needed already."""
    return CliRunner().invoke(app, ["reproduce", *arguments, "--out", str(folder)])


def wanted(**changes):
    told = []
    return wanted_plan(Request("table1", **changes), told.append), told


def test_data_sets_that_are_missing_are_told_and_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("UNSKEW_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="none of the data sets of table1 is there"):
        wanted()
    with pytest.raises(FileNotFoundError, match="mnist"):
        wanted(datasets=["digits", "mnist"])
    plan, told = wanted(datasets=["digits", "toy"])
    assert plan.datasets == ("digits", "toy")
    assert told == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tabel1"], "there is no plan 'tabel1'.* Did you mean 'table1'?"),
        (["table1", "--dataset", "minst"], "there is no data set 'minst'"),
        (["table1", "--dataset", "digits", "--method", "conf"], "there is no method 'conf'"),
        (["table1", "--dataset", "digits", "--seeds", "0"], "--seeds must be at least 1, but it is 0"),
        (["table1", "--dataset", "digits", "--prior", "2"], "--prior must lie between 0 and 1, but it is 2"),
        (["table1", "--dataset", "digits", "--import", "nothing.py"], "nothing.py must be a Python file"),
        ([], "the name of a plan must be given"),
    ],
)
def test_wrong_requests_are_refused_in_one_message(arguments, message, tmp_path):
    result = reproduce(*arguments, folder=tmp_path / "out")
    assert result.returncode == 2
    assert result.stderr.startswith("error: ")
    assert len(result.stderr.strip().splitlines()) == 1
    assert re.search(message, result.stderr), result.stderr
    assert not (tmp_path / "out").exists()


def test_a_method_of_ones_own_gets_a_column(tmp_path):
    own = tmp_path / "mine.py"
    own.write_text(
        "import unskew\n\n\n@unskew.register\nclass Mine(unskew.LabelingRanker):\n"
        '    name, table_name, assumption = "mine", "Mine", "none"\n\n'
        "    def _to_score(self, logit):\n        return -logit\n"
    )
    arguments = ["table1", "--dataset", "digits", "--prior", "0.2", "--seeds", "2", "--epochs", "2", "--jobs", "2"]
    result = reproduce(*arguments, "--method", "ntc", "--method", "mine", "--import", str(own), folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "Mine" in result.stdout
    rows = Store(tmp_path, "table1").finished()
    for seed in range(2):
        auc = {setting.method: row["auc"] for setting, row in rows.items() if setting.seed == seed}
        assert auc["ntc"] == pytest.approx(1 - auc["mine"])


@pytest.mark.parametrize("name", [name for name in PLANS if name != "table-human"])
def test_a_short_form_of_every_plan_without_any_data(name, tmp_path):
    plan: Plan = PLANS[name].only(datasets=["digits"], priors=[0.2], seeds=1, max_epochs=1)
    arguments = [name, "--dataset", "digits", "--prior", "0.2", "--seeds", "1", "--epochs", "1"]
    result = reproduce_here(*arguments, folder=tmp_path)
    assert result.exit_code == 0, result.stderr
    assert list(Store(tmp_path, name).finished()) == plan.settings()
    assert result.stdout.splitlines()[0] == (tmp_path / f"{name}.md").read_text().splitlines()[0]
    assert f"{len(plan.settings())} of {len(plan.settings())} runs" in result.stdout


REAL = dict.fromkeys(PLANS, "mnist") | {"table-human": "fmnist-h", "c005": "diabetes", "c015": "blood"}


@pytest.mark.parametrize("name", PLANS)
def test_a_short_form_of_every_plan_on_real_data(name, tmp_path, real_data):
    arguments = [name, "--dataset", REAL[name], "--prior", "0.2", "--seeds", "1", "--epochs", "1"]
    result = reproduce_here(*arguments, folder=tmp_path)
    assert result.exit_code == 0, result.stderr
    stand_in = {"diabetes": "diabetes-2015", "blood": "blood-2015"}.get(REAL[name], REAL[name])
    assert {row["dataset"] for row in Store(tmp_path, name).rows()} == {stand_in}


@pytest.mark.parametrize("dataset", ["svhn", "cifar10", "cifar10-h"])
def test_images_in_color_train_the_papers_cnn(dataset, real_data):
    (row,) = run_settings([Setting(dataset, "puauc", 0.2, 0.1, 0, max_epochs=1)])
    assert 0.3 < row["auc"] < 0.9
