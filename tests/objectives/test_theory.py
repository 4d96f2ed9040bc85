"""Identities, rankings and bounds of the paper against exact values on laws with finitely many x: no sampling."""

import math
import re
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from finite_law import (
    FiniteLaw,
    all_rankings,
    estimated_terms,
    flat_labeling,
    is_lowest,
    laws_to_rank,
    pair_mean,
    puts_above,
    random_law,
    risk_by_double_loop,
    sigmoid_loss,
    small_and_random,
    sorts,
    worst_deviations,
    zero_one_loss,
)
from unskew import theory
from unskew.risk import absolute_auc_risk, confidence_auc_risk
from unskew.theory import labeling_error_bound, labeling_excess_risk_bound

SEEDS = st.integers(0, 2**31)

# Identities


@given(SEEDS, st.integers(2, 6))
def test_the_law_sums_what_the_double_loop_sums(seed, size):
    law, rng = random_law(seed, size), np.random.RandomState(seed)
    score, estimate = rng.normal(size=size), rng.uniform(0.1, 1, size)
    by_hand = risk_by_double_loop(score, law.mass, law.posterior, law.labeling_prob, estimate)
    assert law.rewritten_risk(sigmoid_loss(score), estimate=estimate) == pytest.approx(by_hand, abs=1e-12)


@given(SEEDS, st.integers(2, 6), st.booleans())
def test_densities_are_related_as_eqs_10_13_and_20_say(seed, size, with_zero):
    law = random_law(seed, size, with_zero=with_zero)
    assert law.alpha == pytest.approx(law.label_freq * law.prior, abs=1e-12)
    np.testing.assert_allclose(law.negative, (law.mass - law.prior * law.positive) / (1 - law.prior), atol=1e-12)
    np.testing.assert_allclose(law.labeled, law.propensity / law.label_freq * law.positive, atol=1e-12)
    np.testing.assert_allclose(law.mass, law.alpha * law.labeled + (1 - law.alpha) * law.unlabeled, atol=1e-12)
    # The change of measure, Eq. (20): points of posterior zero drop out on its right side.
    function, seen = np.random.RandomState(seed).normal(size=size), law.posterior > 0
    left = np.sum(law.labeled[seen] * function[seen] / law.labeling_prob[seen])
    assert left == pytest.approx(np.sum(law.mass * function * seen) / law.alpha, rel=1e-12, abs=1e-12)


@given(SEEDS, st.integers(2, 6), st.booleans())
def test_eqs_11_and_16_are_the_risk_of_positives_and_negatives(seed, size, with_zero):
    law, score = random_law(seed, size, with_zero=with_zero), np.random.RandomState(seed).normal(scale=3, size=size)
    margin = score[:, None] - score[None, :]
    for losses in (sigmoid_loss(score), zero_one_loss(score), np.logaddexp(0, -margin)):  # Eq. (11): any loss
        among_all, among_positives = (pair_mean(law.positive, losses, each) for each in (law.mass, law.positive))
        eq_11 = (among_all - law.prior * among_positives) / (1 - law.prior)
        assert eq_11 == pytest.approx(pair_mean(law.positive, losses, law.negative), abs=1e-12)
    for losses in (sigmoid_loss(score), zero_one_loss(score)):  # Eqs. (15) and (16): symmetric ones
        exact = pair_mean(law.positive, losses, law.negative)
        weight = 1 / law.propensity  # eta / u, Eq. (14), at points where both are zero as well
        pieces = (pair_mean(law.labeled * weight, losses, each) for each in (law.labeled, law.unlabeled))
        bracket = sum(share * piece for share, piece in zip((law.alpha, 1 - law.alpha), pieces, strict=True))
        eq_16 = absolute_auc_risk(torch.tensor(bracket), prior=law.prior, label_freq=law.label_freq)
        assert eq_16.item() == pytest.approx(exact, abs=1e-12)
        assert law.rewritten_risk(losses) == pytest.approx(exact, abs=1e-12)


# Prop. 4.1: which rankings are best

INCREASING = {
    "identity": lambda r: r,
    "square": lambda r: r**2,
    "root": np.sqrt,
    "S-shaped": lambda r: r**3 / (r**3 + (1 - r) ** 3),
    "above zero at zero": lambda r: (1 + r) / 2,
    "with a jump": lambda r: 0.1 * r + 0.8 * (r > 0.4),
}
NOT_INCREASING = {"rise and fall": lambda r: 4 * r * (1 - r), "fall": lambda r: 1 - r, "flat": lambda r: 0.5 + 0 * r}


def test_prop_4_1_increasing_maps_of_the_confidence_keep_exactly_the_best_rankings():
    scores = all_rankings(5)
    losses = zero_one_loss(scores)
    for law in laws_to_rank():
        best = is_lowest(pair_mean(law.positive, losses, law.negative))  # of the AUC risk itself, Eq. (2)
        np.testing.assert_array_equal(best, sorts(scores, law.posterior))
        for name, transform in INCREASING.items():
            risk = law.rewritten_risk(losses, confidence=transform(law.posterior))
            np.testing.assert_array_equal(is_lowest(risk), best, err_msg=name)


@pytest.mark.parametrize("name", NOT_INCREASING)
def test_prop_4_1_fails_for_maps_that_do_not_increase(name):
    law = FiniteLaw(np.full(5, 0.2), np.array([0.1, 0.3, 0.5, 0.7, 0.9]), np.array([0.9, 0.2, 0.5, 0.3, 0.4]))
    scores = all_rankings(5)
    risk = law.rewritten_risk(zero_one_loss(scores), confidence=NOT_INCREASING[name](law.posterior))
    assert (is_lowest(risk) & ~sorts(scores, law.posterior)).any()


def test_prop_4_1_is_about_all_rankings_not_about_a_class_without_the_best_one():
    # Squaring shrinks the gap of the low pair and widens that of the high one, so the lesser evil changes.
    law = FiniteLaw(np.full(3, 1 / 3), np.array([0.9, 0.6, 0.1]), np.ones(3))
    losses = zero_one_loss(np.array([[2.0, 3.0, 1.0], [3.0, 1.0, 2.0]]))
    assert np.argmin(law.rewritten_risk(losses)) == 0
    assert np.argmin(law.rewritten_risk(losses, confidence=law.posterior**2)) == 1


# Prop. B.2: a wrong labeling probability


@given(seed=SEEDS, size=st.integers(2, 6), max_error=st.floats(0.0, 0.2))
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
        exact = risk_by_double_loop(score, mass, posterior, labeling_prob, labeling_prob)
        changed = risk_by_double_loop(score, mass, posterior, labeling_prob, estimate)
        assert abs(changed - exact) <= bound + 1e-12


def test_eq_40_is_reached_by_a_uniform_error():
    # u constant and estimated half as large: every weight doubles, and the bound is within its slack of 0 <= f <= 1.
    mass, posterior = np.array([0.5, 0.5]), np.array([0.2, 0.6])
    labeling_prob, estimate = np.array([0.2, 0.2]), np.array([0.1, 0.1])
    score = np.array([50.0, -50.0])  # the worst ranking: almost every pair that counts costs 1
    exact = risk_by_double_loop(score, mass, posterior, labeling_prob, labeling_prob)
    changed = risk_by_double_loop(score, mass, posterior, labeling_prob, estimate)
    bound = labeling_error_bound(0.1, 0.1, 0.4)
    assert bound == pytest.approx(1 / 0.6)
    assert 0.5 * bound < changed - exact <= bound


@given(seed=SEEDS, size=st.integers(2, 6), max_error=st.floats(0.0, 0.5))
def test_eq_42_bounds_what_is_lost_by_minimizing_with_the_estimate(seed, size, max_error):
    law, rng = random_law(seed, size), np.random.RandomState(seed)
    estimate = np.clip(law.labeling_prob + rng.uniform(-max_error, max_error, size), 0.01, 1)
    error = np.abs(estimate - law.labeling_prob).max()
    losses = sigmoid_loss(rng.normal(scale=3, size=(8, size)))
    exact, changed = law.rewritten_risk(losses), law.rewritten_risk(losses, estimate=estimate)
    # Each of the eight scores minimizes the changed risk up to an optimization error of its own.
    for excess, optimization_error in zip(exact - exact.min(), changed - changed.min(), strict=True):
        given_numbers = error, estimate.min(), law.prior
        assert excess <= labeling_excess_risk_bound(*given_numbers, optimization_error) + 1e-12
        # What the docstring says of the factor 2.
        assert excess <= labeling_error_bound(*given_numbers) + optimization_error + 1e-12


def test_eq_42_is_reached_up_to_a_factor_of_four():
    # Two points that a flat estimate makes look alike: their true labeling probabilities lie error above and below it.
    error, flat = 0.1, 0.2
    posterior = 0.4 * np.array([1 + error / flat, 1 - error / flat])
    law = FiniteLaw(np.array([0.5, 0.5]), posterior, np.array([flat - error, flat + error]) / posterior)
    exact, changed = (
        law.rewritten_risk(zero_one_loss(np.array([[2.0, 1.0], [1.0, 2.0]])), estimate=estimate)
        for estimate in (None, np.full(2, flat))
    )
    assert changed[0] == pytest.approx(changed[1], abs=1e-12)  # so the minimization may return the wrong one
    assert exact[1] - exact[0] == pytest.approx(labeling_excess_risk_bound(error, flat, law.prior) / 4)


# Which orders survive


@pytest.mark.parametrize("max_relative_error", [0.05, 0.3, 0.6])
@pytest.mark.parametrize("seed", range(6))
def test_guaranteed_orders_are_those_that_no_estimate_reverses(seed, max_relative_error):
    law = random_law(seed, 4, with_zero=seed % 2 == 0)
    scores = all_rankings(4)
    losses, above = zero_one_loss(scores), puts_above(scores)
    always = np.ones((4, 4), dtype=bool)
    for signs in product((-1, 1), repeat=4):
        estimate = law.labeling_prob * (1 + max_relative_error * np.array(signs))
        best = is_lowest(law.rewritten_risk(losses, estimate=estimate))
        always &= above[best].all(axis=0)
    guaranteed = theory.guaranteed_order(law.posterior, max_relative_error)
    np.testing.assert_array_equal(always, guaranteed)
    positive = law.posterior[law.posterior > 0]
    beyond = positive[:, None] / positive[None, :] > theory.order_preserving_ratio(max_relative_error)
    np.testing.assert_array_equal(guaranteed[np.ix_(law.posterior > 0, law.posterior > 0)], beyond)


@pytest.mark.parametrize(("ratio", "kept"), [(3.003, True), (2.997, False)])
def test_a_pair_just_below_the_ratio_is_reversed_by_the_worst_estimate(ratio, kept):
    assert theory.order_preserving_ratio(0.5) == 3
    law = FiniteLaw(np.array([0.3, 0.7]), np.array([0.2 * ratio, 0.2]), np.array([0.4, 0.9]))
    losses = zero_one_loss(np.array([[2.0, 1.0], [1.0, 2.0], [1.0, 1.0]]))
    best = np.argmin(law.rewritten_risk(losses, estimate=law.labeling_prob * np.array([1.5, 0.5])))
    assert best == (0 if kept else 1)
    assert theory.guaranteed_order(law.posterior, 0.5)[0, 1] == kept


def test_what_orders_are_guaranteed_at_the_edges():
    assert theory.order_preserving_ratio(0.0) == 1
    posterior = np.array([0.75, 0.25, 0.25, 0.0])
    exact = theory.guaranteed_order(posterior, 0.0)
    np.testing.assert_array_equal(exact, posterior[:, None] > posterior[None, :])
    assert not theory.guaranteed_order(posterior, 0.5)[0, 1]  # just at the ratio they may look alike
    np.testing.assert_array_equal(theory.guaranteed_order(posterior, 0.999)[:, 3], [True, True, True, False])


@given(SEEDS, st.floats(0.01, 100))
def test_one_factor_everywhere_changes_no_best_ranking(seed, factor):
    law, scores = random_law(seed, 3), all_rankings(3)
    losses = zero_one_loss(scores)
    scaled = law.rewritten_risk(losses, estimate=law.labeling_prob * factor)
    assert sorts(scores, law.posterior)[np.argmin(scaled)]


# Theorem B.4


def by_hand(n_labeled, n_unlabeled, *, prior, label_freq, lower_bound, n_candidates, failure_prob, **errors):
    """B, Gamma and the right side of Eq. (82), each line as the paper prints it."""
    pi, c, delta, K, tau = prior, label_freq, lower_bound, n_candidates, failure_prob
    alpha = c * pi
    alpha_error = errors.get("alpha_error", abs(n_labeled / (n_labeled + n_unlabeled) - alpha))
    first = alpha * math.sqrt(2 * math.log(4 * K / tau) / n_labeled)
    second = (1 - alpha) * math.sqrt(math.log(4 * K / tau) / 2 * (1 / n_labeled + 1 / n_unlabeled))
    bracket = 1 / delta * (first + second)
    gamma = c / (1 - pi) * (bracket + alpha_error / delta)
    nuisance = 2 * (c * errors.get("max_confidence_error", 0) + errors.get("max_error", 0)) / ((1 - pi) * delta)
    return bracket, gamma, 2 * gamma + nuisance + errors.get("optimization_error", 0)


CASE = {"prior": 0.3, "label_freq": 0.4, "lower_bound": 0.05, "n_candidates": 12, "failure_prob": 0.1}
ERRORS = {"alpha_error": 0.01, "max_confidence_error": 0.03, "max_error": 0.02, "optimization_error": 0.005}


@given(
    st.integers(2, 10**6),
    st.integers(1, 10**6),
    st.fixed_dictionaries(
        {
            "prior": st.floats(0.01, 0.99),
            "label_freq": st.floats(0.01, 1),
            "lower_bound": st.floats(0.001, 1),
            "n_candidates": st.integers(1, 10**9),
            "failure_prob": st.floats(1e-6, 0.999),
        },
        optional=dict.fromkeys(ERRORS, st.floats(0, 1)),
    ),
)
def test_eqs_65_72_77_82_equal_the_formulas_by_hand(n_labeled, n_unlabeled, given_numbers):
    bracket, gamma, bound = by_hand(n_labeled, n_unlabeled, **given_numbers)
    alpha = given_numbers["prior"] * given_numbers["label_freq"]
    for_bracket = {name: given_numbers[name] for name in ("lower_bound", "n_candidates", "failure_prob")}
    for_gamma = {name: value for name, value in given_numbers.items() if name in CASE or name == "alpha_error"}
    assert theory.bracket_deviation_bound(n_labeled, n_unlabeled, alpha=alpha, **for_bracket) == pytest.approx(bracket)
    assert theory.risk_deviation_bound(n_labeled, n_unlabeled, **for_gamma) == pytest.approx(gamma)
    assert theory.excess_risk_bound(n_labeled, n_unlabeled, **given_numbers) == pytest.approx(bound)


def test_the_bound_falls_with_data_and_rises_with_errors():
    start = theory.excess_risk_bound(200, 1000, **CASE, **ERRORS)
    assert theory.excess_risk_bound(201, 1000, **CASE, **ERRORS) < start
    assert theory.excess_risk_bound(200, 1001, **CASE, **ERRORS) < start
    for name, step in {"failure_prob": 0.01, "lower_bound": 0.01}.items():
        assert theory.excess_risk_bound(200, 1000, **{**CASE, **ERRORS, name: CASE[name] + step}) < start
    assert theory.excess_risk_bound(200, 1000, **{**CASE, "n_candidates": 13}, **ERRORS) > start
    for name, value in ERRORS.items():
        assert theory.excess_risk_bound(200, 1000, **CASE, **{**ERRORS, name: value + 0.001}) > start


def test_the_bound_vanishes_with_endless_data_and_no_error():
    alpha = CASE["prior"] * CASE["label_freq"]
    sizes = [(round(alpha * total), round((1 - alpha) * total)) for total in (10**4, 10**8, 10**16)]
    bounds = [theory.excess_risk_bound(*size, **CASE) for size in sizes]
    # Without other errors it goes with one over the root of the size.
    assert bounds[0] / bounds[1] == pytest.approx(100, rel=1e-3)
    assert 0 < bounds[2] < 1e-5
    # With them, what remains is Prop. B.2's loss, the confidence's error counting c times.
    rest = {name: ERRORS[name] for name in ("max_confidence_error", "max_error", "optimization_error")}
    both = CASE["label_freq"] * rest["max_confidence_error"] + rest["max_error"]
    limit = labeling_excess_risk_bound(both, CASE["lower_bound"], CASE["prior"], rest["optimization_error"])
    assert theory.excess_risk_bound(*sizes[2], **CASE, **rest) == pytest.approx(limit, abs=1e-5)


def test_counted_samples_give_the_estimator_of_eq_17_and_its_mean_is_eq_16():
    law, score = random_law(3, 3), np.array([0.3, -0.8, 1.1])
    weight = law.posterior / law.labeling_prob
    kernel = weight[:, None] * sigmoid_loss(score)
    mean = 0.0
    for points in product(range(3), repeat=5):  # every sample of three labeled and two unlabeled instances
        high, low = list(points[:3]), list(points[3:])
        pieces = (torch.tensor(each) for each in (score[high], score[low], weight[high]))
        estimate = confidence_auc_risk(*pieces, law.alpha).item()
        counts = (np.bincount(each, minlength=3)[None].astype(float) for each in (high, low))
        labeled_pairs, mixed_pairs = estimated_terms(kernel, *counts)
        assert estimate == pytest.approx((law.alpha * labeled_pairs + (1 - law.alpha) * mixed_pairs).item())
        mean += law.labeled[high].prod() * law.unlabeled[low].prod() * estimate
    exact = pair_mean(law.positive, sigmoid_loss(score), law.negative)
    eq_16 = absolute_auc_risk(torch.tensor(mean), prior=law.prior, label_freq=law.label_freq)
    assert eq_16.item() == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize(
    ("setting", "says_something"),
    [(flat_labeling(2000, 7900), True), (flat_labeling(2, 2), False)]
    + [(small_and_random(seed), False) for seed in range(5)],
)
def test_eqs_65_77_and_82_fail_for_no_more_samples_than_they_may(setting, says_something):
    law, scores, estimates, confidence, *sizes = setting
    *left_sides, probability = worst_deviations(*setting)
    candidates = {"lower_bound": np.min(estimates), "n_candidates": len(scores) * len(estimates), "failure_prob": 0.01}
    shares = {"prior": law.prior, "label_freq": law.label_freq}
    errors = {
        "max_error": np.abs(np.array(estimates) - law.labeling_prob).max(),
        "max_confidence_error": np.abs(confidence - law.posterior).max(),
    }
    bounds = (
        theory.bracket_deviation_bound(*sizes, alpha=law.alpha, **candidates),
        theory.risk_deviation_bound(*sizes, **shares, **candidates),
        theory.excess_risk_bound(*sizes, **shares, **candidates, **errors),
    )
    for left_side, bound, slack in zip(left_sides, bounds, (4, 4, 10), strict=True):
        assert 1 - probability[left_side <= bound].sum() <= 0.01  # what all_counts left out is taken for failed
        if says_something:  # a bound a few times smaller would fail too often: the line above has something to say
            assert probability[left_side > bound / slack].sum() > 0.01
    worst_candidate = np.ptp(law.rewritten_risk(sigmoid_loss(scores)))
    assert (bounds[-1] < worst_candidate) == says_something


@given(SEEDS, st.integers(2, 6), st.floats(0, 0.3), st.floats(0, 0.3))
def test_eq_82_with_endless_data_holds_with_half_its_term_of_errors(seed, size, error, confidence_error):
    law, rng = random_law(seed, size), np.random.RandomState(seed)
    estimate = np.clip(law.labeling_prob + rng.uniform(-error, error, size), 0.01, 1)
    confidence = np.clip(law.posterior + rng.uniform(-confidence_error, confidence_error, size), 0, 1)
    losses = sigmoid_loss(rng.normal(scale=3, size=(8, size)))
    exact, changed = law.rewritten_risk(losses), law.rewritten_risk(losses, confidence, estimate)
    error, confidence_error = np.abs(estimate - law.labeling_prob).max(), np.abs(confidence - law.posterior).max()
    numbers = {"prior": law.prior, "label_freq": law.label_freq, "lower_bound": estimate.min()}
    endless = {"n_candidates": 8, "failure_prob": 0.5, "alpha_error": 0.0}
    errors = {"max_error": error, "max_confidence_error": confidence_error}
    bound = theory.excess_risk_bound(10**30, 10**30, **numbers, **endless, **errors)
    assert exact[np.argmin(changed)] - exact.min() <= bound / 2 + 1e-12


# Arguments that cannot be


@pytest.mark.parametrize(
    ("name", "impossible", "must"),
    [
        ("n_labeled", [1], r"at least 2, because Eq. \(17\) has a mean over pairs of labeled instances"),
        ("n_unlabeled", [0], "at least 1"),
        ("prior", [0.0, 1.0, math.nan], r"in \(0, 1\)"),
        ("label_freq", [0.0, 1.1], r"in \(0, 1\]"),
        ("lower_bound", [0.0, -0.1, 1.5], r"in \(0, 1\], as a labeling probability is"),
        ("n_candidates", [0], "at least 1"),
        ("failure_prob", [0.0, 1.0], r"in \(0, 1\)"),
        *((name, [-0.1, math.nan], "at least 0") for name in ERRORS),
    ],
)
def test_impossible_arguments_are_named(name, impossible, must):
    small = {"max_error": 0.1, "lower_bound": 0.1, "prior": 0.2, "optimization_error": 0.0}
    for value in impossible:
        message = rf"^{name} must be {must}, but it is {re.escape(str(value))}\.$"
        with pytest.raises(ValueError, match=message):
            theory.excess_risk_bound(**{"n_labeled": 200, "n_unlabeled": 1000, **CASE, **ERRORS, name: value})
        if name in small:
            with pytest.raises(ValueError, match=message):
                labeling_excess_risk_bound(**{**small, name: value})


def test_impossible_alphas_and_orders_are_named():
    message = r"^alpha must be in \(0, 1\), but it is 1\.0\.$"
    with pytest.raises(ValueError, match=message):
        theory.labeled_share_error(5, 10, alpha=1.0)
    with pytest.raises(ValueError, match=message):
        theory.bracket_deviation_bound(5, 10, alpha=1.0, lower_bound=0.1, n_candidates=1, failure_prob=0.1)
    posterior = np.array([0.5, 1.2, np.nan])
    for value in (-0.1, 1.0):
        message = rf"max_relative_error must be in \[0, 1\), because .* guarantees nothing, but it is {value}\."
        with pytest.raises(ValueError, match=message):
            theory.order_preserving_ratio(value)
        with pytest.raises(ValueError, match=message):
            theory.guaranteed_order(posterior, value)
    message = r"posterior must lie in \[0, 1\], but 2 of 3 entries do not \(first: 1.2 at position 1\)"
    with pytest.raises(ValueError, match=message):
        theory.guaranteed_order(posterior, 0.1)
