"""The likelihood of labels and confidence: by hand, by its slopes, and against numerical integration."""

import math

import numpy as np
import pytest
from scipy.special import expit

from unskew.objectives.joint_likelihood import (
    Told,
    flattening,
    one_sample_likelihood,
    two_sample_likelihood,
)

LABELED = np.array([True, True, False, True, False])
F, G = np.array([0.7, -1.2, 0.4, 2.0, -3.0]), np.array([-0.5, 0.3, -2.0, 1.0, 0.1])
TOLD = Told(
    logit=np.array([1.1, -0.4, 1.5]),
    noise=np.array([0.2, 0.05, 0.4]),
    unseen=0.6,
    at_top=np.array([False, False, False]),
    at_bottom=np.array([False, False, False]),
)


def sigmoid(z):
    return 1 / (1 + math.exp(-z))


def by_hand(two_sample):
    """Eqs. (P2) and (P3), row by row."""
    values, number = [], 0
    kappa = 1 / math.sqrt(1 + math.pi * TOLD.unseen / 8)
    for f, g, labeled in zip(F, G, LABELED, strict=True):
        positive = sigmoid(kappa * f)
        value = -math.log(1 + math.exp(g) * positive) if two_sample else 0.0
        if not labeled:
            values.append(value if two_sample else math.log(1 - sigmoid(g) * positive))
            continue
        y, noise = TOLD.logit[number], TOLD.noise[number]
        total = TOLD.unseen + noise
        middle = f + TOLD.unseen / total * (y - f)
        inner = 1 / math.sqrt(1 + math.pi * TOLD.unseen * noise / total / 8)
        value += g if two_sample else math.log(sigmoid(g))
        value += math.log(sigmoid(inner * middle)) - (y - f) ** 2 / (2 * total) - math.log(total) / 2
        values.append(value)
        number += 1
    return values


@pytest.mark.parametrize("two_sample", [False, True])
def test_likelihood_by_hand(two_sample):
    likelihood = two_sample_likelihood if two_sample else one_sample_likelihood
    np.testing.assert_allclose(likelihood(F, G, LABELED, TOLD).value, by_hand(two_sample), rtol=1e-12)


@pytest.mark.parametrize("likelihood", [one_sample_likelihood, two_sample_likelihood])
@pytest.mark.parametrize("ends", [(False, False), (True, False), (False, True)])
def test_slopes_are_those_of_the_value(likelihood, ends):
    told = TOLD._replace(at_top=np.full(3, ends[0]), at_bottom=np.full(3, ends[1]))
    found, step = likelihood(F, G, LABELED, told), 1e-6
    by_f = (likelihood(F + step, G, LABELED, told).value - likelihood(F - step, G, LABELED, told).value) / (2 * step)
    by_g = (likelihood(F, G + step, LABELED, told).value - likelihood(F, G - step, LABELED, told).value) / (2 * step)
    np.testing.assert_allclose(found.slope_f, by_f, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.slope_g, by_g, rtol=1e-6, atol=1e-9)


def test_information_of_unlabeled_rows_is_the_mean_curvature_over_both_outcomes():
    """In one sample, without confidence: E[slope²] over labeled and unlabeled, for each pair of f and g."""
    nobody = Told(*(np.empty(0) for _ in range(2)), 0.6, *(np.empty(0, dtype=bool) for _ in range(2)))
    unlabeled = one_sample_likelihood(F, G, np.zeros(5, dtype=bool), nobody)
    kappa = flattening(0.6)
    prob = expit(G) * expit(kappa * F)
    if_labeled = kappa * expit(-kappa * F)
    expected = prob * if_labeled**2 + (1 - prob) * unlabeled.slope_f**2
    np.testing.assert_allclose(unlabeled.info_ff, expected, rtol=1e-10)
    np.testing.assert_allclose(unlabeled.info_gg, prob * expit(-G) ** 2 + (1 - prob) * unlabeled.slope_g**2, rtol=1e-10)


@pytest.mark.parametrize("variance", [0.0, 0.3, 2.0, 6.0])
def test_flattened_sigmoid_is_near_the_mean_over_normal_values(variance):
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    for f in np.linspace(-6, 6, 13):
        mean = np.sum(weights * expit(f + math.sqrt(variance) * nodes)) / math.sqrt(2 * math.pi)
        assert abs(mean - expit(flattening(variance) * f)) < 0.02


def test_an_exact_confidence_leaves_nothing_for_the_label_to_say_about_f():
    """Eq. (P2) with v = 0: the slope in f of a labeled row is that of the confidence alone."""
    told = TOLD._replace(noise=np.zeros(3))
    slope = one_sample_likelihood(F, G, LABELED, told).slope_f[LABELED]
    np.testing.assert_allclose(slope, (told.logit - F[LABELED]) / told.unseen, rtol=1e-12)


def test_a_confidence_at_an_end_says_only_that_f_is_that_far_out():
    told = TOLD._replace(at_top=np.array([True, False, False]))

    def value_of_first(f, told):
        return one_sample_likelihood(np.array([f, *F[1:]]), G, LABELED, told).value[0]

    assert value_of_first(9.0, told) > value_of_first(1.1, told)
    assert value_of_first(1.1 + 1e-9, told) == pytest.approx(value_of_first(1.1 - 1e-9, told), abs=1e-8)  # no jump
    assert value_of_first(9.0, TOLD) < value_of_first(1.1, TOLD)
