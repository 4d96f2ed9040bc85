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
from unskew import datasets
from unskew.cli import app
from unskew.datasets._registry import _entries
from unskew.experiments import PLANS, Plan, Setting, Store, run_plan
from unskew.experiments.execution import Draw
from unskew.experiments.own_files import digest_of, import_files
from unskew.experiments.reproduce import Request, wanted_plan

CLOCK = ("seconds", "labeling_seconds")
QUICK = PLANS["table1"].only(datasets=["digits"], methods=["conf-auc", "ntc", "puauc"], priors=[0.2], max_epochs=2)


def settings_and_results(rows):
    """Rows in any order, without the times that they took."""
    return sorted(json.dumps({key: row[key] for key in row if key not in CLOCK}, sort_keys=True) for row in rows)


def write_method(path, score="logit", name="mine"):
    """A file that registers a method, whose score is this expression of the labeling probability's logit."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        "import unskew\n\n\n@unskew.register\nclass Mine(unskew.LabelingRanker):\n"
        f'    name, table_name, assumption = "{name}", "{name.capitalize()}", "none"\n\n'
        f"    def _to_score(self, logit):\n        return {score}\n"
    )
    return path


@pytest.fixture
def own_registered(monkeypatch):
    """What a test registers is forgotten after it."""
    monkeypatch.setattr("unskew.rankers._registered", {})
    monkeypatch.setattr("unskew.datasets._registry._entries", dict(_entries))


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
        assert (row["epochs"], row["n_labeled"], row["n_train"]) == (2, 6, 300)
        assert not {"method_file", "dataset_file"} & row.keys()  # these are for files of the user's own
        assert row["versions"]["unskew"] == unskew.__version__
        assert row["machine"]["cores"] >= 1
        assert ("weights" in row) == (row["method"] == "conf-auc")
    by_method = {row["method"]: row for row in rows[:3]}
    assert len(by_method["conf-auc"]["weights"]) == 6
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


def test_a_run_that_fails_is_told_and_the_others_go_on(tmp_path, own_registered):
    own = write_method(tmp_path / "mine.py", "1 / 0")
    outcome = run_plan(replace(QUICK, methods=("mine", "ntc"), seeds=2), tmp_path, imports=[own])
    titles = [f"mine on digits, prior 0.2, seed {seed}" for seed in range(2)]
    assert [message.partition(": ")[0] for message in outcome.failed] == titles
    assert "division by zero" in outcome.failed[0]
    assert len(Store(tmp_path, "table1").rows()) == 2


def test_a_draw_that_fails_is_told_for_all_its_runs(tmp_path, own_registered):
    @datasets.dataset("mine")  # with the paper's sizes, for which there are too few
    def read_mine():
        return datasets.load("digits")

    outcome = run_plan(replace(QUICK, datasets=("mine",), seeds=1), tmp_path)
    assert len(outcome.failed) == 3
    words = r"need \d+ instances of class 0, but there are 891. Ask for smaller parts \(sizes=Sizes\(...\)"
    assert all(re.search(words, message) for message in outcome.failed)


def test_what_has_too_few_labels_is_left_out_and_told(tmp_path):
    plan, told = PLANS["c005"].only(datasets=["digits"], methods=["ntc"], seeds=1, max_epochs=1), []
    outcome = run_plan(plan, tmp_path, say=told.append)
    assert (outcome.total, outcome.failed) == (3, ())
    assert told == [
        "left out: digits at prior 0.05 (with a label frequency of 0.05 training and validation part have 1 and 1 "
        "labeled instances, and methods need 2 in each)",
        "c005: 3 runs, 0 of them done already",
    ]
    assert [row["prior"] for row in Store(tmp_path, "c005").rows()] == [0.1, 0.15, 0.2]
    with pytest.raises(ValueError, match="nothing can be run: digits at prior 0.05 .* Ask for a larger prior"):
        run_plan(plan.only(priors=[0.05]), tmp_path)


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
    for _, counts, held_out_counts, options in seen:  # a tenth of 60 and 60 positives, and nothing of the others
        assert (counts, held_out_counts, options) == ((6, 294), (6, 294), {"validation"})


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
    own = write_method(tmp_path / "mine.py", "-logit")
    arguments = ["table1", "--dataset", "digits", "--prior", "0.2", "--seeds", "2", "--epochs", "2", "--jobs", "2"]
    result = reproduce(*arguments, "--method", "ntc", "--method", "mine", "--import", str(own), folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "Mine" in result.stdout
    rows = Store(tmp_path, "table1").finished()
    for seed in range(2):
        auc = {setting.method: row["auc"] for setting, row in rows.items() if setting.seed == seed}
        assert auc["ntc"] == pytest.approx(1 - auc["mine"])


def reproduce_digits(*arguments, folder, plan="table1"):
    """A quick form of a plan, in this process; returns what was told on standard error, and what was printed."""
    quick = ["--dataset", "digits", "--prior", "0.2", "--seeds", "1", "--epochs", "1"]
    result = reproduce_here(plan, *quick, *arguments, folder=folder)
    assert result.exit_code == 0, result.stderr
    return result.stderr, result.stdout


def header(text):
    """Titles of the methods in the first table."""
    return next(line for line in text.splitlines() if line.startswith("| Data")).strip("| ").split(" | ")[2:]


def test_methods_of_an_imported_file_are_run_after_the_plans_unless_some_are_named(tmp_path, own_registered):
    own = ["--import", str(write_method(tmp_path / "mine.py"))]
    plan, _ = wanted(datasets=["digits"], imports=[tmp_path / "mine.py"])
    assert plan.methods == (*PLANS["table1"].methods, "mine")
    assert wanted(datasets=["digits"], methods=["ntc"], imports=[tmp_path / "mine.py"])[0].methods == ("ntc",)
    _, text = reproduce_digits(*own, folder=tmp_path, plan="lbe")
    assert header(text) == ["Ours", "LBE", "Mine"]
    told, _ = reproduce_digits(*own, folder=tmp_path, plan="weights")
    assert "mine is left out: weights shows the weights of the paper's method alone" in told


def test_an_edited_method_is_run_again_and_its_new_rows_count(tmp_path, own_registered):
    own = tmp_path / "mine.py"
    arguments = ["--method", "ntc", "--method", "mine", "--import", str(own)]

    def run(score, **changes):
        write_method(own, score)
        told, text = reproduce_digits(*arguments, folder=tmp_path, **changes)
        return told, [row["auc"] for setting, row in finished().items() if setting.method == "mine"], text

    def finished():
        return Store(tmp_path, "table1").finished()

    told, (first,), _ = run("logit")
    assert "2 runs, 0 of them done already" in told
    assert "done again" not in told
    assert "2 runs, 2 of them done already" in run("logit")[0]
    told, (second,), text = run("-logit")
    assert "2 runs, 1 of them done already\n1 of them are done again, because a file of yours was edited since" in told
    assert second == pytest.approx(1 - first)
    assert f"{second:.4f}" in text
    assert len(Store(tmp_path, "table1").rows()) == 3
    told, (third,), _ = run("logit")  # as it was at first: these rows are still there
    assert "2 runs, 2 of them done already" in told
    assert third == first
    told, _, _ = run("-logit", plan="prior")  # another plan takes over what is right, and nothing else
    assert "2 runs, 2 of them done already" in told
    assert [row["auc"] for row in Store(tmp_path, "prior").rows() if row["method"] == "mine"] == [second]


def test_rows_of_an_earlier_version_of_a_file_stay_out_of_the_tables(tmp_path, own_registered):
    own = write_method(tmp_path / "mine.py")
    arguments = ["--method", "mine", "--import", str(own)]
    reproduce_digits(*arguments, "--seeds", "2", folder=tmp_path)
    write_method(own, "-logit")
    _, text = reproduce_digits(*arguments, folder=tmp_path)
    assert "1 of 1 runs" in text
    unskew.rankers._registered.clear()  # without the file, the version that ran last counts
    _, text = reproduce_digits("--method", "ntc", folder=tmp_path)
    assert "2 of 2 runs" in text
    assert header(text) == ["NTC", "mine"]


OWN_DATA = """
import numpy as np

from unskew import datasets


@datasets.dataset("mine", network={network!r}, sizes=datasets.Sizes(100, 100, 100, 100), batch_size=32)
def read_mine():
    raw = datasets.load("digits")
    X = {scale} * np.tile(raw.X, np.prod({shape}) // 64).reshape(-1, *{shape})
    return datasets.by_class(X, raw.classes, (1, 3, 5, 7, 9), (1, 3, 5))
"""


def write_data(path, scale=1.0, network="linear", shape=(64,)):
    path.write_text(OWN_DATA.format(scale=scale, network=network, shape=shape))
    return path


def test_an_edited_data_set_is_drawn_again(tmp_path, own_registered):
    plan, told = replace(QUICK, datasets=("mine",), methods=("ntc",), priors=(0.4,), seeds=1), []
    for scale in (1.0, 1.0, 0.1):
        run_plan(plan, tmp_path, imports=[write_data(tmp_path / "mine.py", scale)], say=told.append)
    assert told[:2] == ["table1: 1 runs, 0 of them done already", "table1: 1 runs, 1 of them done already"]
    assert told[3] == "1 of them are done again, because a file of yours was edited since: ntc on mine"
    before, after = Store(tmp_path, "table1").rows()
    assert before["dataset_file"] != after["dataset_file"]
    assert before["validation_risk"] != after["validation_risk"]
    assert Store(tmp_path, "table1").finished() == {plan.settings()[0]: after}
    assert (after["n_train"], after["n_labeled"]) == (100, 4)


@pytest.mark.parametrize(
    ("network", "shape", "expected"),
    [("linear", (64,), "linear"), (None, (64,), "mlp"), ("mlp", (1, 16, 16), "mlp"), (None, (1, 16, 16), "cnn")],
)
def test_the_network_is_the_registered_one_or_goes_by_the_shape(network, shape, expected, tmp_path, own_registered):
    import_files([write_data(tmp_path / "mine.py", network=network, shape=shape)])
    draw = Draw(Setting("mine", "ntc", 0.4, 0.1, 0, max_epochs=1))
    assert draw.training == {"network": expected, "batch_size": 32, "learning_rate": 1e-4}
    assert draw.lender[0].labeling_.kind == expected


def test_two_files_of_one_name_are_both_run(tmp_path, own_registered):
    files = [write_method(tmp_path / name / "mine.py", name=name) for name in ("one", "two")]
    assert import_files(files) == ("one", "two")
    assert import_files(files) == ("one", "two")
    assert unskew.methods()[-2:] == ("one", "two")
    assert digest_of("method", "one") != digest_of("method", "two")  # each has a module of its own


def test_a_file_that_ends_with_an_error_is_told_and_run_again_when_mended(tmp_path, own_registered):
    own = tmp_path / "mine.py"
    own.write_text("1 / 0")
    for _ in range(2):
        with pytest.raises(ValueError, match="mine.py must run without an error, but it ended with ZeroDivisionError"):
            import_files([own])
    assert import_files([write_method(own)]) == ("mine",)


def test_the_tables_show_all_runs_of_the_plan_in_the_folder(tmp_path):
    reproduce_digits("--method", "ntc", "--method", "puauc", "--seeds", "2", folder=tmp_path)
    reproduce_digits("--method", "conf-auc", "--prior", "0.15", folder=tmp_path)
    text = (tmp_path / "table1.md").read_text()
    assert header(text) == ["Ours", "NTC", "PUAUC"]
    assert "6 of 12 runs" in text  # three methods, two priors, two seeds; the command's last options count
    assert "PUAUC" in (tmp_path / "table1.tex").read_text()


def test_what_other_plans_have_done_counts_as_done(tmp_path):
    reproduce_digits("--method", "ntc", "--method", "puauc", folder=tmp_path)
    told, _ = reproduce_digits("--method", "ntc", "--method", "conf-auc", folder=tmp_path, plan="prior")
    assert "prior: 2 runs, 1 of them done already" in told


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


def test_the_help_tells_what_epochs_and_imports_do():
    text = " ".join(re.sub("[│╭╮╰╯─]", " ", CliRunner().invoke(app, ["reproduce", "--help"]).output).split())
    assert "below 30 the classifier that gives the confidence gets no more either" in text
    assert "Without --method its methods are run after those of the plan" in text


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
