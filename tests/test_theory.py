"""The bounds of App. B against exact values on laws with finitely many x."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.theory import labeling_error_bound


def rewritten_risk(score, mass, posterior, labeling_prob, estimate):
    """R(s; u-hat) of App. B.2, summed over every pair of points of a finite law."""
    prior, alpha = float(mass @ posterior), float(mass @ labeling_prob)
    label_freq = alpha / prior
    labeled_mass = mass * labeling_prob / alpha
    total = 0.0
    for n in range(len(mass)):
        for m in range(len(mass)):
            loss = 1 / (1 + np.exp(score[n] - score[m]))
            total += labeled_mass[n] * mass[m] * posterior[n] / estimate[n] * loss
    return label_freq / (1 - prior) * total - prior / (2 * (1 - prior))


@given(seed=st.integers(0, 2**31), size=st.integers(2, 6), max_error=st.floats(0.0, 0.2))
def test_eq_40_bounds_the_change_of_the_risk(seed, size, max_error):
    rng = np.random.RandomState(seed)
    mass = rng.dirichlet(np.ones(size))
    posterior = rng.uniform(0.05, 0.9, size)
    labeling_prob = posterior * rng.uniform(0.1, 1, size)
    estimate = np.clip(labeling_prob + rng.uniform(-max_error, max_error, size), 0.01, 1)
    # Clipping at 0.01 may push the error past max_error where u itself is smaller.
    error = np.abs(estimate - labeling_prob).max()
    bound = labeling_error_bound(error, estimate.min(), float(mass @ posterior))
    for _ in range(5):
        score = rng.normal(scale=3, size=size)
        exact = rewritten_risk(score, mass, posterior, labeling_prob, labeling_prob)
        changed = rewritten_risk(score, mass, posterior, labeling_prob, estimate)
        assert abs(changed - exact) <= bound + 1e-12


def test_eq_40_is_reached_by_a_uniform_error():
    # u constant and estimated half as large: every weight doubles, and the bound is within its slack of 0 <= f <= 1.
    mass, posterior = np.array([0.5, 0.5]), np.array([0.2, 0.6])
    labeling_prob, estimate = np.array([0.2, 0.2]), np.array([0.1, 0.1])
    score = np.array([50.0, -50.0])  # the worst ranking: almost every pair that counts costs 1
    exact = rewritten_risk(score, mass, posterior, labeling_prob, labeling_prob)
    changed = rewritten_risk(score, mass, posterior, labeling_prob, estimate)
    bound = labeling_error_bound(0.1, 0.1, 0.4)
    assert bound == pytest.approx(1 / 0.6)
    assert 0.5 * bound < changed - exact <= bound
