"""The command that runs a plan."""

import re

import pytest
from typer.testing import CliRunner

from experiment_runs import draw_fewer, header, reproduce, reproduce_digits, reproduce_here, wanted
from unskew.cli import app
from unskew.paper import PLANS, Plan, Store


def test_data_sets_that_are_missing_are_reported_and_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("UNSKEW_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"table1 needs .* but the files of all are missing \(mnist"):
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
        (["table1", "--dataset", "digits", "--first-seed", "-1"], "--first-seed must be at least 0, but it is -1"),
        (["table1", "--dataset", "digits", "--prior", "2"], "--prior must lie between 0 and 1, but it is 2"),
        (
            ["table1", "--dataset", "digits", "--import", "nothing.py"],
            "nothing.py must be .* but it does not exist",
        ),
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


def test_the_tables_show_all_runs_of_the_plan_in_the_folder(tmp_path):
    reproduce_digits("--method", "ntc", "--method", "puauc", "--seeds", "2", folder=tmp_path)
    reproduce_digits("--method", "conf-auc", "--prior", "0.15", folder=tmp_path)
    text = (tmp_path / "table1.md").read_text()
    assert header(text) == ["Ours", "NTC", "PUAUC"]
    assert "6 of 12 runs" in text  # three methods, two priors, two seeds; the command's last options count
    assert "PUAUC" in (tmp_path / "table1.tex").read_text()


def test_seeds_from_a_given_one_on_are_shown_without_earlier_ones(tmp_path):
    arguments = ["--method", "ntc", "--method", "puauc"]
    reproduce_digits(*arguments, folder=tmp_path)
    told, text = reproduce_digits(*arguments, "--seeds", "2", "--first-seed", "5", folder=tmp_path)
    assert "table1: 4 runs, 0 of them done already" in told
    assert [row["seed"] for row in Store(tmp_path, "table1").rows()] == [0, 0, 5, 5, 6, 6]
    assert "4 of 4 runs" in text
    _, text = reproduce_digits(*arguments, "--first-seed", "5", folder=tmp_path)
    assert "4 of 4 runs" in text  # seed 6 continues seed 5
    _, text = reproduce_digits(*arguments, folder=tmp_path)
    assert "2 of 2 runs" in text  # and seed 0 stands alone


def test_what_other_plans_have_done_counts_as_done(tmp_path):
    reproduce_digits("--method", "ntc", "--method", "puauc", folder=tmp_path)
    told, _ = reproduce_digits("--method", "ntc", "--method", "conf-auc", folder=tmp_path, plan="prior")
    assert "prior: 2 runs, 1 of them done already" in told


def test_the_help_says_what_epochs_and_imports_do():
    text = " ".join(re.sub("[│╭╮╰╯─]", " ", CliRunner().invoke(app, ["reproduce", "--help"]).output).split())
    assert "below 30, also for the classifier that provides the confidence" in text
    assert "Without --method, its methods run after those of the plan" in text


@pytest.mark.parametrize("name", [name for name in PLANS if name not in ("table-human", "beyond")])
def test_a_short_form_of_every_plan_without_any_data(name, tmp_path):
    plan: Plan = PLANS[name].only(datasets=["digits"], priors=[0.2], seeds=1, max_epochs=1)
    arguments = [name, "--dataset", "digits", "--prior", "0.2", "--seeds", "1", "--epochs", "1"]
    result = reproduce_here(*arguments, folder=tmp_path)
    assert result.exit_code == 0, result.stderr
    assert list(Store(tmp_path, name).finished()) == plan.settings()
    assert result.stdout.splitlines()[0] == (tmp_path / f"{name}.md").read_text().splitlines()[0]
    assert f"{len(plan.settings())} of {len(plan.settings())} runs" in result.stdout


# How a short form of "beyond" goes is in test_beyond.py.
REAL = dict.fromkeys([name for name in PLANS if name != "beyond"], "mnist") | {
    "table-human": "fmnist-h",
    "c005": "diabetes",
    "c015": "blood",
}


@pytest.mark.parametrize("name", sorted(REAL, key=REAL.get))  # each data set is read once
def test_a_short_form_of_every_plan_on_real_data(name, tmp_path, real_data, own_registered):
    if REAL[name] == "mnist" and name != "table1":  # one plan for each data set draws as many as in the paper
        draw_fewer("mnist")
    arguments = [name, "--dataset", REAL[name], "--prior", "0.2", "--seeds", "1", "--epochs", "1"]
    result = reproduce_here(*arguments, folder=tmp_path)
    assert result.exit_code == 0, result.stderr
    stand_in = {"diabetes": "diabetes-2015", "blood": "blood-2015"}.get(REAL[name], REAL[name])
    assert {row["dataset"] for row in Store(tmp_path, name).rows()} == {stand_in}
