"""Regression on the confidence: against its objective, against leaving labels out, and on a law with known truth."""

import numpy as np
import pytest
from scipy.optimize import minimize

from unskew.datasets import toy
from unskew.metrics import auc
from unskew.posterior.regression import _spread, _trust, cross_fitted_labeling, fit_regression, regress


@pytest.fixture
def small():
    rng = np.random.RandomState(0)
    everything = rng.normal(size=(40, 4))
    columns, target = everything[:9], rng.normal(size=9)
    balance = rng.uniform(0.5, 2, size=9)
    return columns, target, balance / balance.sum(), everything


def test_the_closed_form_is_the_minimum_of_eq_r1(small):
    columns, target, balance, everything = small
    pull, ridge = 0.3, 0.05

    def objective(theta):
        value = 0.0
        for row, t, v in zip(columns, target, balance, strict=True):
            value += v * (row @ theta - t) ** 2
        for row in everything:
            value += pull * (row @ theta) ** 2 / len(everything)
        return value + ridge * (1 + pull) * theta @ theta

    found = regress(columns, target, balance, everything.T @ everything / 40, pull, ridge)
    best = minimize(objective, np.zeros(4), tol=1e-12)
    np.testing.assert_allclose(found.coefficients, best.x, atol=1e-5)


def test_left_out_predictions_are_those_of_fits_without_the_label(small):
    columns, target, balance, everything = small
    moments = everything.T @ everything / 40
    found = regress(columns, target, balance, moments, 0.3, 0.05)
    for label in range(9):
        rest = np.arange(9) != label
        without = regress(columns[rest], target[rest], balance[rest], moments, 0.3, 0.05)
        assert found.left_out[label] == pytest.approx(columns[label] @ without.coefficients)


def test_spread_is_the_standard_deviation_over_all_rows():
    rng = np.random.RandomState(1)
    columns = np.column_stack([np.ones(50), rng.normal(size=(50, 3))])
    theta = rng.normal(size=4)
    assert _spread(theta, columns.T @ columns / 50) == pytest.approx((columns @ theta).std())


def test_trust_is_a_rank_correlation_of_at_least_0():
    sure = np.array([0.1, 0.4, 0.5, 0.9])
    assert _trust(np.exp(sure), sure) == pytest.approx(1)
    assert _trust(-sure, sure) == 0
    assert _trust(sure, np.full(4, 0.3)) == 0


@pytest.mark.parametrize("two_sample", [False, True])
def test_it_ranks_the_toy_law_nearly_as_well_as_the_truth(two_sample):
    draw = toy.draw_two_samples(100, 1500, random_state=0) if two_sample else toy.draw(1500, random_state=0)
    labeled = draw.labeled == 1
    request = draw.X, labeled, draw.confidence[labeled], np.ones(len(labeled)), two_sample
    model = fit_regression(*request, np.random.RandomState(0))
    new = toy.draw(3000, random_state=1)
    assert auc(new.y, model.logits(new.X)[:, 0]) > auc(new.y, new.law.posterior(new.X)) - 0.01


def test_a_table_that_is_fitted_to_in_part_has_the_same_weights_as_the_whole():
    rng = np.random.RandomState(0)
    features = rng.normal(size=(20_000, 2))
    labeled = rng.uniform(size=20_000) < 0.03 * np.exp(features[:, 0]) / np.exp(0.5)
    whole, _ = cross_fitted_labeling(features, labeled, np.ones(20_000), np.random.RandomState(0))
    some = np.sort(np.r_[np.flatnonzero(labeled), rng.choice(np.flatnonzero(~labeled), 4000, replace=False)])
    weight = np.where(labeled[some], 1.0, (~labeled).sum() / 4000)
    part, _ = cross_fitted_labeling(features[some], labeled[some], weight, np.random.RandomState(0))
    assert np.abs(np.log(part / whole[some])).mean() < 0.1
