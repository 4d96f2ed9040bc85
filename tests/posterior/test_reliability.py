"""Reliability: its formula by hand, left-out predictions against fits without the label, and where it must be low."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from unskew.datasets import toy
from unskew.posterior import fit_posterior
from unskew.posterior._confidence import MOST_LABELED, confidence_logit, fit_confidence
from unskew.posterior._joint_fit import JointData, JointFit, slope_and_information
from unskew.posterior._reliability import MOST_WEIGHT, explained_share, weights_for_all_rows


def unweighted(features, confidence):
    """Share that the regression on labels alone explains of labels that all count the same."""
    alone, y = fit_confidence(features, confidence, np.random.RandomState(0)), confidence_logit(confidence)
    rows = alone.left_out
    return explained_share(y[rows], y[rows] - alone.residual[rows], np.ones(len(rows)))


def test_explained_share_by_a_double_loop():
    rng = np.random.RandomState(0)
    y, weight = rng.normal(size=15), rng.uniform(0.1, 5, size=15)
    predicted = y + 0.4 * rng.normal(size=15)
    missed = spread = 0.0
    for i in range(15):
        total = of_weights = 0.0
        for j in range(15):
            if j != i:
                total, of_weights = total + weight[j] * y[j], of_weights + weight[j]
        missed += weight[i] * (y[i] - predicted[i]) ** 2
        spread += weight[i] * (y[i] - total / of_weights) ** 2
    assert explained_share(y, predicted, weight) == pytest.approx(1 - missed / spread, rel=1e-12)
    assert explained_share(y, predicted, 7 * weight) == pytest.approx(1 - missed / spread, rel=1e-12)


def test_explained_share_stays_between_its_ends():
    y, weight = np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0, 1.0])
    assert explained_share(y, y, weight) == 1
    assert explained_share(y, -5 * y, weight) == 0
    assert explained_share(np.full(3, 0.2), y, weight) == 0  # nothing varies, nothing is explained
    assert explained_share(y[:1], y[:1], weight[:1]) == 0


def test_weights_are_inverse_labeling_probabilities_as_far_as_they_may_be():
    labeling = np.r_[np.full(60, 0.2), np.full(38, 0.4), 0.02, 1e-6]
    weight = weights_for_all_rows(np.log(labeling))
    np.testing.assert_allclose(weight, np.r_[np.ones(60), np.full(38, 0.5), 10, MOST_WEIGHT])
    np.testing.assert_allclose(weights_for_all_rows(np.log(labeling) + 5), weight)  # a factor does not matter


@pytest.mark.parametrize("n", [3, 4, 7, 20, 300])
def test_no_label_counts_more_than_all_others(n):
    log_labeling = np.random.RandomState(n).normal(size=n)
    log_labeling[0] = -1000.0
    weight = weights_for_all_rows(log_labeling)
    assert np.isfinite(weight).all()
    assert weight[0] <= weight[1:].sum() * (1 + 1e-12)


def a_joint_fit(two_sample, unseen, noise):
    rng = np.random.RandomState(1)
    A = np.column_stack([np.ones(200), rng.normal(size=(200, 3))])
    B = np.column_stack([np.ones(200), rng.normal(size=200)])
    labeled, scale = np.arange(200) < 25, np.array([5.0, 1, 1, 1, 1, 0.4])
    y = A[:25] @ np.array([-0.5, 1, 0.5, 0]) + 0.5 * rng.normal(size=25)
    return JointFit.of(JointData.of((A, B), scale, labeled, np.ones(200), y, (unseen, noise), two_sample))


@pytest.mark.parametrize("two_sample", [False, True])
def test_left_out_logits_are_those_of_fits_without_the_confidence(two_sample):
    """Nobody told the confidence of this row: its noise is without end. That it is labeled stays known."""
    fit = a_joint_fit(two_sample, unseen=0.3, noise=1e-4)
    told, found = fit.data.told, fit.left_out_logits()
    kappa = (1 + math.pi * 0.3 / 8) ** -0.5
    in_fit, left_out = [], []
    for label in range(25):
        noise = told.noise.copy()
        noise[label] = 1e6
        data, theta = replace(fit.data, told=told._replace(noise=noise)), fit.coefficients
        for _ in range(30):
            slope, information = slope_and_information(data, theta)
            theta = theta + np.linalg.solve(information, slope)
        for values, coefficients in ((left_out, theta), (in_fit, fit.coefficients)):
            f = float(data.logits(coefficients)[0][label])
            values.append(f + 0.3 * kappa * expit(-kappa * f))
    moved = np.abs(np.array(left_out) - in_fit)
    assert moved.max() > 0.1  # else nothing would be tested
    assert np.abs(found - left_out).mean() < 0.3 * moved.mean()
    assert np.corrcoef(found - in_fit, np.array(left_out) - in_fit)[0, 1] > 0.95


def test_predictions_beyond_the_end_of_a_scale_agree_with_it():
    rng = np.random.RandomState(0)
    A, B = np.column_stack([np.ones(60), np.linspace(-2, 2, 60)]), np.ones((60, 1))
    labeled = np.arange(60) >= 40
    y = np.minimum(3 * A[labeled, 1], 4.0) + 0.01 * rng.normal(size=20) * (3 * A[labeled, 1] < 4)
    data = JointData.of((A, B), np.array([5.0, 5, 1]), labeled, np.ones(60), y, (0.01, 1e-4), False)
    found = JointFit.of(data).left_out_logits()
    at_end = y == 4.0
    assert (found[at_end] <= 4.0).all()
    assert (found[at_end] == 4.0).any()


def test_reliability_of_exact_noisy_and_meaningless_confidence():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(800, 2))
    eta = expit(1.5 * X[:, 0] - 1.5)
    labeled = (rng.uniform(size=800) < 0.4 * eta).astype(int)
    noisy = np.clip(eta + 0.15 * rng.normal(size=800), 0, 1)
    values = [fit_posterior(X, labeled, each).reliability for each in (eta, noisy, rng.uniform(size=800))]
    assert values[0] > 0.95 > values[1] > 0.1 > values[2] >= 0
    assert fit_posterior(X, labeled, np.full(800, 0.7)).reliability == 0


@pytest.mark.parametrize("two_sample", [False, True])
def test_a_corner_full_of_labels_does_not_speak_for_the_rest(two_sample):
    """Nearly all labels are where the confidence is a line; elsewhere, where most rows are, it is anything."""
    rng = np.random.RandomState(0)
    X = rng.uniform(-1, 1, size=(2000, 2))
    corner = X[:, 0] > 0.3
    eta = np.where(corner, expit(4 * X[:, 1]), rng.uniform(0.05, 0.95, size=2000))
    labeled = rng.uniform(size=2000) < eta * np.where(corner, 0.5, 0.03)
    scenario = "two-sample" if two_sample else "one-sample"
    found = fit_posterior(X, labeled.astype(int), eta, scenario=scenario)
    plain = unweighted(found.model.scaling.apply(X[labeled]), eta[labeled])
    assert 15 < (labeled & ~corner).sum() < 0.2 * (labeled & corner).sum()
    assert plain > 0.8
    assert found.reliability < plain - 0.3


def test_a_fit_that_gives_up_what_labels_say_is_not_reliable():
    """A posterior that swings along a column: left-out labels are predicted well by the regression on labels alone."""
    rng = np.random.RandomState(4)
    X = rng.uniform(-2, 2, size=(2000, 4))
    eta = expit(2.2 * np.sin(2 * X[:, 0]) + X[:, 1] - 2.3)
    labeled = rng.uniform(size=2000) < eta * expit(1.2 * X[:, 2] - 1.2)
    found = fit_posterior(X, labeled.astype(int), eta)
    assert unweighted(found.model.scaling.apply(X[labeled]), eta[labeled]) > 0.8
    assert np.abs(found.prob - eta).mean() > 0.05
    assert found.reliability < 0.8


def test_only_labels_that_were_left_out_count_in_the_regression():
    data = toy.draw(12_000, random_state=0)
    labeled = data.labeled == 1
    features, sure = data.X[labeled], data.confidence[labeled]
    alone = fit_confidence(features, sure, np.random.RandomState(0))
    assert len(sure) > MOST_LABELED
    assert len(np.unique(alone.left_out)) == MOST_LABELED
    usual = np.delete(alone.residual, alone.left_out)
    np.testing.assert_allclose(usual, np.sqrt(np.mean(alone.residual[alone.left_out] ** 2)))
    assert fit_posterior(data.X, data.labeled, data.confidence).reliability > 0.95
