"""What every method must do: scikit-learn's contract, ours, and rank well where the truth is known."""

import math
import pickle
import warnings
from functools import cache
from inspect import signature

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch import nn

import unskew
from quick_fits import QUICK, fit
from unskew.datasets import toy
from unskew.errors import ConfidenceMissingWarning, NoHoldOutWarning
from unskew.metrics import cross_val_sar_auc
from unskew.surrogates import SURROGATES

NAMES = unskew.methods()

EXCEPTIONS = {
    "check_classifiers_classes": (
        "The check uses words as labels and says nowhere which one means labeled. Words have no order that does, so "
        "that they are refused without pos_label instead of being guessed at."
    ),
    "check_classifiers_train": (
        "The check wants predictions that agree with y on 83 % of the training data. Here y says which positives are "
        "labeled, and as many instances are called positive as there are by estimate, which is more than are labeled."
    ),
}


STRICTLY = {"xfail_strict": True} if "xfail_strict" in signature(parametrize_with_checks).parameters else {}
"""That a check which is expected to fail does fail: scikit-learn 1.8 can demand it."""


@pytest.mark.filterwarnings("ignore::unskew.errors.ConfidenceMissingWarning")
@pytest.mark.filterwarnings("ignore::unskew.errors.NoHoldOutWarning")
@parametrize_with_checks(
    # The checks give no confidence to estimate the prior from; half of their instances, or more, are labeled.
    [
        unskew.make(
            name, max_epochs=2, learning_rate=1e-3, prior=0.95 if "prior" in unskew.method_card(name).needs else None
        )
        for name in NAMES
    ],
    expected_failed_checks=lambda estimator: EXCEPTIONS,
    **STRICTLY,
)
@pytest.mark.filterwarnings("ignore::unskew.errors.UnscaledWarning")  # some checks have columns around 100
def test_scikit_learns_own_checks(estimator, check):
    try:
        check(estimator)
    except Exception as error:
        if check.func.__name__ not in EXCEPTIONS:
            raise
        raise error.with_traceback(None) from None  # expected: no time is spent on quoting the code of the check


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@cache
def plain_scores(name, kind):
    """Scores of a fit to the data of `toy_data` as float32: as they are, cut to whole numbers, or whether positive."""
    data = toy.draw(300, random_state=0)
    X = {"numbers": data.X, "whole": data.X.astype(int), "truth": data.X > 0}[kind].astype(np.float32)
    return unskew.make(name, **QUICK).fit(X, data.labeled, confidence=data.confidence).decision_function(X)


# What the excepted checks would have covered.


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.uint8, bool])
def test_numbers_of_any_type(name, dtype, toy_data):
    X = (toy_data.X > 0).astype(dtype) if dtype in (bool, np.uint8) else toy_data.X.astype(dtype)
    ranker = unskew.make(name, **QUICK).fit(X, toy_data.labeled, confidence=toy_data.confidence)
    kind = "truth" if dtype in (bool, np.uint8) else "whole" if np.issubdtype(dtype, np.integer) else "numbers"
    np.testing.assert_array_equal(ranker.decision_function(X), plain_scores(name, kind))


def test_predictions_reach_the_threshold_and_their_share_is_the_prior(name, toy_data):
    ranker = fit(name, toy_data)
    assert is_classifier(ranker)
    np.testing.assert_array_equal(ranker.classes_, [0, 1])
    score, predicted = ranker.decision_function(toy_data.X), ranker.predict(toy_data.X)
    np.testing.assert_array_equal(predicted, (score >= ranker.threshold_).astype(int))
    assert predicted.mean() == pytest.approx(ranker.prior_, abs=1 / len(predicted))
    assert ranker.label_freq_ == pytest.approx(toy_data.labeled.mean() / ranker.prior_)


def test_one_feature(name):
    data = toy.draw(200, random_state=0)
    fit(
        name,
        toy.ToyDraw(data.X[:, :1], *[getattr(data, f) for f in ("y", "labeled", "confidence", "labeling_prob", "law")]),
    )


# Ours.


def test_same_seed_same_scores_and_inputs_untouched(name, toy_data):
    X, y, confidence = toy_data.X.copy(), toy_data.labeled.copy(), toy_data.confidence.copy()
    first, second, other = (fit(name, toy_data, random_state=seed, network="mlp") for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))
    if name not in ("conf-gp", "ntc-linear"):  # nothing in these is random
        assert not np.array_equal(first.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(toy_data.X, X)
    np.testing.assert_array_equal(toy_data.labeled, y)
    np.testing.assert_array_equal(toy_data.confidence, confidence)


def test_fit_touches_no_global_generator(name, toy_data):
    torch_state, numpy_state = torch.random.get_rng_state(), np.random.get_state()  # noqa: NPY002
    fit(name, toy_data, network="mlp")
    assert torch.equal(torch.random.get_rng_state(), torch_state)
    np.testing.assert_equal(np.random.get_state(), numpy_state)  # noqa: NPY002


def test_clone_and_pickle(name, toy_data):
    ranker = fit(name, toy_data)
    copy = clone(ranker)
    assert copy.get_params() == ranker.get_params()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        copy.decision_function(toy_data.X)
    score = pickle.loads(pickle.dumps(ranker)).decision_function(toy_data.X)
    np.testing.assert_array_equal(score, ranker.decision_function(toy_data.X))


def test_five_labeled_positives(name, five_labeled):
    X, y, confidence = five_labeled
    ranker = unskew.make(name, **QUICK).fit(X, y, confidence=confidence)
    summary = ranker.training_summary_
    assert (summary["n_labeled"], summary["n_validation_labeled"]) == ((3, 2) if ranker.holds_out else (5, 0))
    assert np.isfinite(ranker.decision_function(X)).all()


@pytest.mark.parametrize("n_labeled", [2, 3])
def test_two_or_three_labeled_work_and_say_that_nothing_is_held_out(name, n_labeled, five_labeled):
    X, _, confidence = five_labeled
    y = np.r_[np.ones(n_labeled, int), np.zeros(80 - n_labeled, int)]
    ranker = unskew.make(name, **QUICK)
    with pytest.warns(NoHoldOutWarning, match=f"there are {n_labeled} and {80 - n_labeled}"):
        ranker.fit(X, y, confidence=confidence)
    assert ranker.training_summary_["n_validation_labeled"] == 0


@pytest.mark.parametrize("network", ["linear", "kernel", "mlp", "cnn"])
def test_torchs_default_type_does_not_matter(network, tmp_path):
    rng = np.random.RandomState(0)
    X = rng.uniform(size=(60, 1, 16, 16) if network == "cnn" else (60, 3))
    y = np.repeat([1, 0], [15, 45])
    ranker = unskew.make("no-conf", network=network, max_epochs=2, random_state=0).fit(X, y)
    ranker.save(tmp_path / "model")
    expected = ranker.decision_function(X)
    torch.set_default_dtype(torch.float64)
    try:
        for each in (ranker, unskew.load(tmp_path / "model"), clone(ranker).fit(X, y)):
            np.testing.assert_array_equal(each.decision_function(X), expected)
    finally:
        torch.set_default_dtype(torch.float32)


def test_explicit_validation_data(name, toy_data):
    held_out = toy.draw(100, random_state=9)
    validation = (held_out.X, held_out.labeled, held_out.confidence)
    ranker = unskew.make(name, **QUICK).fit(
        toy_data.X, toy_data.labeled, confidence=toy_data.confidence, validation=validation
    )
    summary = ranker.training_summary_
    if not ranker.holds_out:  # all rows teach
        assert summary["n_labeled"] == toy_data.labeled.sum() + held_out.labeled.sum()
        assert summary["n_validation_unlabeled"] == 0
        return
    assert summary["n_labeled"] == toy_data.labeled.sum()
    assert summary["n_validation_unlabeled"] == 100 - held_out.labeled.sum()
    assert len(ranker.history_) == math.ceil(QUICK["max_epochs"] / getattr(ranker, "epochs_per_round", 1))
    assert ranker.best_epoch_ == int(np.argmin([row.validation_risk for row in ranker.history_]))
    assert list(pd.DataFrame(ranker.history_).columns) == ["epoch", "train_risk", "validation_risk"]


@pytest.mark.parametrize("kind", ["pandas", "polars", "torch", "list", "csr", "csc"])
def test_tables_of_any_kind_give_the_same_scores(name, kind, toy_data):
    X = toy_data.X.astype(np.float32)
    table = {
        "pandas": lambda: pd.DataFrame(X, columns=["a", "b"]),
        "polars": lambda: pl.DataFrame(X, schema=["a", "b"]),
        "torch": lambda: torch.from_numpy(X),
        "list": lambda: X.tolist(),
        "csr": lambda: sparse.csr_matrix(X),
        "csc": lambda: sparse.csc_array(X),
    }[kind]()
    y, confidence = toy_data.labeled, toy_data.confidence
    if kind in ("pandas", "polars"):
        series = pd.Series if kind == "pandas" else pl.Series
        y, confidence = series(y.tolist()), series([None if np.isnan(each) else each for each in confidence])
    ranker = unskew.make(name, **QUICK).fit(table, y, confidence=confidence)
    np.testing.assert_array_equal(ranker.decision_function(table), plain_scores(name, "numbers"))
    if kind in ("pandas", "polars"):
        assert list(ranker.feature_names_in_) == ["a", "b"]


def test_images(name):
    rng = np.random.RandomState(0)
    X, y = rng.uniform(size=(60, 3, 16, 16)), np.repeat([1, 0], [12, 48])
    for network in ("cnn", "mlp", "linear"):
        ranker = unskew.make(name, network=network, max_epochs=1, random_state=0)
        ranker.fit(X, y, confidence=np.full(60, 0.7))
        assert ranker.decision_function(torch.from_numpy(X)).shape == (60,)
    with pytest.raises(
        ValueError, match=r"rows of shape \(3, 16, 16\), as in training, but they have shape \(3, 8, 8\)"
    ):
        ranker.predict(np.zeros((2, 3, 8, 8)))


def test_a_users_own_network(name, toy_data):
    def network(shape):
        return nn.Sequential(nn.Linear(shape[0], 4), nn.Tanh(), nn.Linear(4, 1))

    first, second = (fit(name, toy_data, network=network) for _ in range(2))
    np.testing.assert_array_equal(first.decision_function(toy_data.X), second.decision_function(toy_data.X))


def test_a_failed_fit_leaves_the_fitted_estimator_as_it_was(name, toy_data):
    ranker = fit(name, toy_data)
    before = ranker.decision_function(toy_data.X)
    attributes = set(vars(ranker))
    bad = np.column_stack([toy_data.X, np.full(300, np.nan)])
    with pytest.raises(ValueError, match="NaN"):
        ranker.fit(bad, toy_data.labeled, confidence=toy_data.confidence)
    assert set(vars(ranker)) == attributes
    np.testing.assert_array_equal(ranker.decision_function(toy_data.X), before)
    # A second fit without confidence forgets what only confidence gave.
    if "prior" not in ranker.needs:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConfidenceMissingWarning)
            ranker.fit(toy_data.X, toy_data.labeled)
        assert not hasattr(ranker, "prior_")


def test_without_confidence(toy_data):
    with pytest.warns(ConfidenceMissingWarning, match="none was given: every labeled instance counts as certain"):
        unsure = unskew.make("conf-auc", **QUICK).fit(toy_data.X, toy_data.labeled)
    without = unskew.make("no-conf", **QUICK).fit(toy_data.X, toy_data.labeled)
    np.testing.assert_array_equal(unsure.decision_function(toy_data.X), without.decision_function(toy_data.X))
    # no-conf reads confidence only for its estimates.
    np.testing.assert_array_equal(
        without.decision_function(toy_data.X), fit("no-conf", toy_data).decision_function(toy_data.X)
    )


# Ecosystem.


def test_score_is_the_auc_against_true_classes(toy_data):
    ranker = fit("conf-auc", toy_data)
    assert ranker.score(toy_data.X, toy_data.y) == unskew.metrics.auc(toy_data.y, ranker.decision_function(toy_data.X))


def test_cross_validated_auc_is_repeatable_and_honest():
    data = toy.draw(1000, random_state=4)
    ranker = unskew.make("conf-auc", learning_rate=6e-3, batch_size=256, max_epochs=10, random_state=0)
    arguments = ranker, data.X, data.labeled, data.confidence
    first, second = (cross_val_sar_auc(*arguments, n_folds=3, random_state=0) for _ in range(2))
    assert first == second
    test = toy.draw(20_000, random_state=5)
    true = ranker.fit(data.X, data.labeled, confidence=data.confidence).score(test.X, test.y)
    assert first.low <= true <= first.high
    with pytest.raises(ValueError, match="5 folds need at least 10 labeled instances, but there are 4"):
        cross_val_sar_auc(ranker, np.zeros((20, 2)), np.r_[np.ones(4), np.zeros(16)], np.ones(20))


# Ranking well where the truth is known.


@cache  # several tests look at the same training
def train_on_toy(name, scenario="one-sample", **parameters):
    data = (
        toy.draw(6000, random_state=0) if scenario == "one-sample" else toy.draw_two_samples(500, 6000, random_state=0)
    )
    parameters = {"learning_rate": 4e-3, "max_epochs": 20, "random_state": 0, "scenario": scenario, **parameters}
    ranker = unskew.make(name, **parameters).fit(data.X, data.labeled, confidence=data.confidence)
    test = toy.draw(20_000, random_state=1)
    best = unskew.metrics.auc(test.y, test.law.posterior(test.X))
    return ranker, test, best - ranker.score(test.X, test.y)


@pytest.mark.parametrize("scenario", ["one-sample", "two-sample"])
def test_conf_auc_is_near_the_best_ranking_and_the_others_are_not(scenario):
    _, _, ours = train_on_toy("conf-auc", scenario)
    assert ours < 0.01
    for name in ("no-conf", "ntc"):
        assert train_on_toy(name, scenario)[2] > ours + 0.01


def test_the_ranking_survives_a_strictly_increasing_map_of_the_confidence():
    # Prop. 4.1: the best ranking is the same under h(r) = r^2 and sqrt(r).
    data, test = toy.draw(6000, random_state=0), toy.draw(20_000, random_state=1)
    posterior = test.law.posterior(test.X)
    for power in (0.5, 2.0):
        ranker = unskew.make("conf-auc", learning_rate=4e-3, max_epochs=20, random_state=0)
        ranker.fit(data.X, data.labeled, confidence=data.confidence**power)
        assert unskew.metrics.auc(test.y, posterior) - ranker.score(test.X, test.y) < 0.015
        assert spearmanr(ranker.decision_function(test.X), posterior).statistic > 0.9


class TrueLabeling(BaseEstimator):
    """The labeling probability that the toy law has."""

    def __sklearn_is_fitted__(self):
        return True

    def predict_proba(self, X):
        prob = toy.ToyLaw().labeling_prob(np.asarray(X, dtype=np.float64))
        return np.column_stack([1 - prob, prob])


@pytest.mark.parametrize("surrogate", [name for name in SURROGATES if name != "zero_one"])
def test_conf_auc_learns_a_linear_score_with_every_surrogate(surrogate):
    # Linear, because unbounded surrogates could drive a network's scores apart without end.
    parameters = {"surrogate": surrogate, "network": "linear", "learning_rate": 0.01, "labeling": TrueLabeling()}
    ranker, test, _ = train_on_toy("conf-auc", **parameters)
    linear_best = max(test.law.linear_auc([np.cos(a), np.sin(a)]) for a in np.linspace(-1.5, 1.5, 200))
    # The unhinged loss has no minimum, and Adam walks along the signs of its constant gradient, not along the gradient.
    assert ranker.score(test.X, test.y) > linear_best - (0.06 if surrogate == "unhinged" else 0.015)


def test_two_samples_with_a_non_symmetric_surrogate():
    _, _, behind = train_on_toy("conf-auc", "two-sample", surrogate="logistic")
    assert behind < 0.02


def test_prior_and_label_frequency_are_estimated():
    ranker, test, _ = train_on_toy("conf-auc", crossfit=3)
    assert ranker.prior_ == pytest.approx(test.law.prior, rel=0.25)
    assert ranker.label_freq_ == pytest.approx(test.law.label_freq, rel=0.25)
