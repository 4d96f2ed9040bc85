"""The plan that goes beyond the paper: kinds of confidence, baselines, and its tables."""

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import numpy as np
import pytest

import unskew
from experiment_runs import reproduce_here, run_settings, write_method
from made_up_rows import rows_of
from unskew.data.records import Labeled, Split
from unskew.errors import MissingExtra
from unskew.objectives.auc import auc
from unskew.paper import PLANS, Setting, Store
from unskew.paper.baselines import BASELINES, baseline_scores
from unskew.paper.one_draw import Draw
from unskew.paper.reproduce import Request, wanted_plan
from unskew.paper.summary import plan_on_datasets_of, summarize, to_markdown
from unskew.paper.summary._records import method_title

BEYOND = PLANS["beyond"]
KINDS = ["as it is", "r^4", "r^0.25", "noise 0.15", "4 levels", "5 votes", "from trees", "labels by confidence"]


@pytest.fixture
def no_lightgbm(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)


def wanted_here(**changes):
    told = []
    return wanted_plan(Request("beyond", datasets=["digits"], **changes), told.append), told


# Baselines


def split_of(shape=(4,), n=400):
    """Labels that depend on the class alone; of images as of tables."""
    rng = np.random.RandomState(0)

    def part(prior, size):
        y = (np.arange(size) < prior * size).astype(int)
        return rng.normal(size=(size, *shape)) + 0.8 * y.reshape(-1, *[1] * len(shape)), y

    def labeled(size):
        X, y = part(0.3, size)
        is_labeled = y * (rng.uniform(size=size) < 0.3)
        return Labeled(X, is_labeled, np.where(is_labeled, 0.9, np.nan))

    return Split(labeled(n), labeled(n // 2), *part(0.5, 500))


@pytest.mark.parametrize("shape", [(4,), (1, 3, 3)])
def test_a_baseline_ranks_positives_first(shape):
    split = split_of(shape)
    scores, seconds = baseline_scores("logistic", split, seed=0)
    assert auc(split.test_y, scores) > 0.8
    assert seconds > 0
    assert (scores == baseline_scores("logistic", split, seed=0)[0]).all()


def test_boosted_trees_rank_positives_first():
    pytest.importorskip("lightgbm")
    split = split_of()
    assert auc(split.test_y, baseline_scores("lightgbm", split, seed=0)[0]) > 0.75


class CountingClassifier:
    """Keeps what it was made with and fitted to."""

    made = []

    def __init__(self, **parameters):
        self.parameters = parameters
        self.made.append(self)

    def fit(self, X, y):
        self.shape, self.n_labeled = X.shape, y.sum()

    def predict_proba(self, X):
        return np.c_[1 - X[:, 0], X[:, 0]]


def test_boosted_trees_are_small_and_see_training_and_validation_rows(monkeypatch):
    fake = ModuleType("lightgbm")
    fake.LGBMClassifier, fake.__spec__ = CountingClassifier, ModuleSpec("lightgbm", None)
    monkeypatch.setitem(sys.modules, "lightgbm", fake)
    monkeypatch.setattr(CountingClassifier, "made", [])
    split = split_of((1, 3, 3))
    scores, _ = baseline_scores("lightgbm", split, seed=7)
    (model,) = CountingClassifier.made
    assert model.shape == (600, 9)
    assert model.n_labeled == split.train.y.sum() + split.validation.y.sum()
    wanted = {"num_leaves": 7, "learning_rate": 0.05, "n_estimators": 100, "min_child_samples": 20, "n_jobs": 1}
    assert wanted.items() <= model.parameters.items()
    assert model.parameters["random_state"] == 7
    assert (scores == split.test_X[:, 0, 0, 0]).all()


def test_as_few_folds_as_there_are_labels():
    split = split_of()
    few = [np.flatnonzero(part.y)[:2] for part in (split.train, split.validation)]
    parts = [
        Labeled(part.X, np.isin(np.arange(len(part.y)), rows).astype(int), part.confidence)
        for part, rows in zip((split.train, split.validation), few, strict=True)
    ]
    scores, _ = baseline_scores("logistic", Split(*parts, split.test_X, split.test_y), seed=0)
    assert np.isfinite(scores).all()


def test_baselines_are_no_methods_of_the_package():
    assert not BASELINES.keys() & set(unskew.methods())


def test_a_row_of_a_baseline_has_what_other_rows_have():
    settings = [Setting("digits", name, 0.2, 0.1, 0, max_epochs=2) for name in ("conf-auc", "logistic")]
    ours, row = run_settings(settings)
    assert row.keys() == ours.keys() - {"weights"}
    assert (row["best_epoch"], row["epochs"], row["validation_risk"], row["labeling_seconds"]) == (None, 0, None, 0)
    assert row["auc"] > 0.6
    assert "scikit-learn" in row["versions"]


def test_what_is_not_installed_is_said_and_left_out(no_lightgbm):
    plan, told = wanted_here()
    assert plan.methods == tuple(name for name in BEYOND.methods if name != "lightgbm")
    words = "lightgbm needs the package lightgbm, which is not installed. Install it with: pip install 'unskew[trees]'"
    assert told == [f"lightgbm is left out: {words}"]
    with pytest.raises(MissingExtra, match=r"unskew\[trees\]"):  # it was asked for
        wanted_here(methods=["conf-auc", "lightgbm"])
    assert wanted_here(methods=["conf-auc", "logistic"])[1] == []


def test_a_method_of_ones_own_is_not_called_as_a_baseline(tmp_path, own_registered):
    own = write_method(tmp_path / "mine.py", name="logistic")
    with pytest.raises(ValueError, match="must not be called 'logistic', as a baseline is. Choose another name"):
        wanted_here(imports=[own])


# Draws


def test_trees_are_another_draw_with_its_own_confidence():
    settings = [Setting("digits", "conf-auc", 0.2, 0.1, 0, max_epochs=2, source=each) for each in ("network", "trees")]
    network, trees = (Draw(setting).split for setting in settings)
    assert (network.train.X == trees.train.X).all()
    assert not np.array_equal(network.train.confidence, trees.train.confidence, equal_nan=True)


def test_votes_of_training_and_validation_rows_are_drawn_apart_and_again_the_same():
    from unskew.paper.one_draw import _with_changed_confidence

    setting = Setting("digits", "conf-auc", 0.2, 0.1, 0, max_epochs=2, votes=5)
    draw = Draw(setting)
    one, other = (_with_changed_confidence(draw.split, setting) for _ in range(2))
    for part in ("train", "validation"):
        found, again = getattr(one, part), getattr(other, part)
        assert (np.isnan(found.confidence) == (found.y == 0)).all()
        assert np.array_equal(found.confidence, again.confidence, equal_nan=True)
        assert set(np.round(5 * found.confidence[found.y == 1], 9)) <= set(range(6))


# The whole plan


def test_a_short_form_of_the_plan_and_its_continuation(tmp_path, monkeypatch):
    """All its methods that exist here, on one draw of each kind."""
    known = [name for name in BEYOND.methods if name in unskew.methods() or name == "logistic"]
    known += [name for name in ("lightgbm",) if importlib.util.find_spec(name)]
    plan = BEYOND.only(datasets=["digits"], methods=known, priors=[0.2], seeds=1, first_seed=3, max_epochs=2)
    arguments = [
        "beyond",
        "--dataset",
        "digits",
        "--prior",
        "0.2",
        "--seeds",
        "1",
        "--first-seed",
        "3",
        "--epochs",
        "2",
    ]
    arguments += [word for name in known for word in ("--method", name)]
    result = reproduce_here(*arguments, folder=tmp_path)
    assert result.exit_code == 0, result.stderr
    assert set(Store(tmp_path, "beyond").finished()) == set(plan.settings())
    assert {setting.seed for setting in plan.settings()} == {3}
    assert "Not in the paper. " in result.stdout
    for kind in KINDS:
        assert f"| Digits | {kind} | 1 × 1 |" in result.stdout

    lines = (tmp_path / "beyond.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "beyond.jsonl").write_text("".join(lines[:-1]) + lines[-1][:20])  # as a killed run leaves it
    again = reproduce_here(*arguments, folder=tmp_path)
    assert f"{len(lines)} runs, {len(lines) - 1} of them done already" in again.stderr
    assert (tmp_path / "beyond.jsonl").read_text().splitlines(keepends=True)[:-1] == lines[:-1]
    monkeypatch.setattr("unskew.paper.one_draw.Draw", None)  # would fail if anything were run
    assert reproduce_here(*arguments, folder=tmp_path).exit_code == 0


def test_annotated_images_have_a_short_form_too(tmp_path, real_data):
    arguments = ["--prior", "0.2", "--seeds", "1", "--epochs", "1", "--method", "conf-auc", "--method", "logistic"]
    result = reproduce_here("beyond", "--dataset", "fmnist-h", *arguments, folder=tmp_path)
    assert result.exit_code == 0, result.stderr
    assert "| Fmnist-H | 5 votes |" in result.stdout
    assert "from trees" not in result.stdout


# Tables


def made_up(datasets=("mnist", "fmnist-h")):
    plan = BEYOND.only(datasets=datasets, methods=["conf-auc", "auto", "logistic"], priors=[0.1, 0.2], seeds=3)
    plan = plan.only(first_seed=0)
    levels = {"conf-auc": 0.8, "auto": 0.85, "logistic": 0.7}
    wiggle = {"conf-auc": 0.01, "auto": 0.03, "logistic": 0.0}

    def auc_of(setting, rng):
        return levels[setting.method] + setting.prior + setting.seed * wiggle[setting.method] + setting.votes / 1000

    return plan, rows_of(plan, auc_of)


def lines_of(table):
    return {
        (line[0].text, line[1].text): [entry.text for entry in line[2:]] for group in table.groups for line in group
    }


def test_means_and_differences_by_hand():
    means, from_ours, from_logistic = (lines_of(table) for table in summarize(*made_up()).tables)
    assert means["Mnist", "as it is"] == ["2 × 3", "0.9600", "1.0300", "0.8500"]
    assert means["Mnist", "5 votes"] == ["2 × 3", "0.9650", "1.0350", "0.8500"]  # the baseline's is the same run
    # Differences of 0.05, 0.07 and 0.09 at each prior: s = 0.02 and the error s / √6, whatever the priors' means.
    assert from_ours["Mnist", "as it is"] == ["2 × 3", "+0.0700 ± 0.0082", "-0.1100 ± 0.0041"]
    assert from_logistic["Mnist", "as it is"] == ["2 × 3", "+0.1100 ± 0.0041", "+0.1800 ± 0.0122"]
    assert [kind for name, kind in means if name == "Mnist"] == KINDS
    assert [kind for name, kind in means if name == "Fmnist-H"] == [kind for kind in KINDS if kind != "from trees"]


def test_the_tables_say_what_they_compare_with_and_what_is_missing():
    plan, rows = made_up(["mnist"])
    rows = [row for row in rows if not (row["method"] == "auto" and row["levels"] and row["seed"] == 2)]
    text = to_markdown(summarize(plan, rows))
    auto = method_title("auto")
    assert f"| minus Ours | confidence | priors × seeds | {auto} | Logistic |" in text
    assert "| minus Logistic | confidence |" in text
    assert f"† Mnist, 4 levels ({auto}): 4 of 6 runs" in text
    assert "Baselines (Logistic) tell labeled from unlabeled rows" in text
    alone = plan.only(methods=["auto"])
    assert len(summarize(alone, rows).tables) == 1


def test_the_page_of_results_finds_tables_and_annotated_images_of_the_plan():
    rows = rows_of(BEYOND.only(datasets=["fmnist-h", "diabetes-2015"], seeds=1))
    assert plan_on_datasets_of(BEYOND, rows).datasets == ("diabetes-2015", "fmnist-h")
    assert plan_on_datasets_of(PLANS["table1"], rows).datasets == ()
    assert plan_on_datasets_of(BEYOND, rows_of(PLANS["table1"].only(seeds=1))).datasets == ()
    few = rows_of(BEYOND.only(datasets=["mnist"], methods=["auto"], priors=[0.2], seeds=1))[:1]
    assert plan_on_datasets_of(BEYOND, few).datasets == ("mnist",)
