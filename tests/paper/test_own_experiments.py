"""Methods and data sets of one's own in a plan: run, shown, and run again when edited."""

from dataclasses import replace

import pytest

import unskew
from experiment_runs import QUICK, header, reproduce, reproduce_digits, wanted, write_method
from unskew.paper import PLANS, Setting, Store, run_plan
from unskew.paper.one_draw import Draw
from unskew.paper.own_files import digest_of, import_files


def test_a_method_of_ones_own_gets_a_column(tmp_path, own_registered):
    own = write_method(tmp_path / "mine.py", "-logit")
    arguments = ["table1", "--dataset", "digits", "--prior", "0.2", "--seeds", "2", "--epochs", "2"]
    result = reproduce(*arguments, "--method", "ntc", "--method", "mine", "--import", str(own), folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "Mine" in result.stdout
    rows = Store(tmp_path, "table1").finished()
    for seed in range(2):
        auc = {setting.method: row["auc"] for setting, row in rows.items() if setting.seed == seed}
        assert auc["ntc"] == pytest.approx(1 - auc["mine"])


def test_methods_of_an_imported_file_are_run_after_the_plans_unless_some_are_named(tmp_path, own_registered):
    own = ["--import", str(write_method(tmp_path / "mine.py"))]
    plan, _ = wanted(datasets=["digits"], imports=[tmp_path / "mine.py"])
    assert plan.methods == (*PLANS["table1"].methods, "mine")
    assert wanted(datasets=["digits"], methods=["ntc"], imports=[tmp_path / "mine.py"])[0].methods == ("ntc",)
    _, text = reproduce_digits(*own, folder=tmp_path, plan="lbe")
    assert header(text) == ["Ours", "LBE", "Mine"]
    told, _ = reproduce_digits(*own, folder=tmp_path, plan="weights")
    assert "mine is left out: weights shows only the weights of the paper's method" in told


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
    assert "run again" not in told
    assert "2 runs, 2 of them done already" in run("logit")[0]
    told, (second,), text = run("-logit")
    assert "2 runs, 1 of them done already\n1 of them are run again, because your file has changed since" in told
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
    assert told[3] == "1 of them are run again, because your file has changed since: ntc on mine"
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


def test_a_file_that_ends_with_an_error_is_reported_and_run_again_when_fixed(tmp_path, own_registered):
    own = tmp_path / "mine.py"
    own.write_text("1 / 0")
    for _ in range(2):
        with pytest.raises(ValueError, match="mine.py must run without an error, but it ended with ZeroDivisionError"):
            import_files([own])
    assert import_files([write_method(own)]) == ("mine",)
