"""Metrics against loops by hand, scikit-learn, and the truth of the toy law."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

import unskew
from unskew.datasets import toy
from unskew.errors import NoEstimateWarning
from unskew.metrics import auc, out_of_fold, sar_auc, sar_curves
from unskew.metrics._sample import influence_of, read_sample

DIRECTION = np.array([1.0, 0.3])


@given(seed=st.integers(0, 2**31), n=st.integers(2, 60), levels=st.integers(1, 20))
def test_auc_is_scikit_learns_with_ties_and_weights(seed, n, levels):
    rng = np.random.RandomState(seed)
    y = np.r_[0, 1, rng.randint(0, 2, n)]
    score, weight = rng.randint(0, levels, n + 2) / 3, rng.uniform(0.1, 5, n + 2)
    assert auc(y, score) == pytest.approx(roc_auc_score(y, score))
    assert auc(y, score, sample_weight=weight) == pytest.approx(roc_auc_score(y, score, sample_weight=weight))


def test_auc_needs_both_classes():
    with pytest.raises(ValueError, match=r"both must occur, but it holds \[1\]"):
        auc([1, 1], [0.1, 0.2])


def by_hand(y, score, confidence, prob, one_sample):
    """The estimate as METHODS writes it, pair by pair."""
    labeled, unlabeled = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    alpha = len(labeled) / len(y) if one_sample else 1.0

    def above(j, n):
        return 1.0 if score[j] > score[n] else 0.5 if score[j] == score[n] else 0.0

    weighted = total = 0.0
    for n in labeled:
        weight = confidence[n] / prob[n]
        mean_unlabeled = sum(above(j, n) for j in unlabeled) / len(unlabeled)
        mean_labeled = sum(above(j, n) for j in labeled if j != n) / (len(labeled) - 1)
        share = alpha * mean_labeled + (1 - alpha) * mean_unlabeled if one_sample else mean_unlabeled
        weighted, total = weighted + weight * share, total + weight
    prior = alpha * total / len(labeled)
    if one_sample:
        prior = max(prior, alpha)  # labeled instances are positive
    return 1 - (weighted / total - prior / 2) / (1 - prior), prior


@pytest.mark.parametrize("scenario", ["one-sample", "two-sample"])
@pytest.mark.parametrize("least_prob", [0.2, 0.5])  # the prior that follows from the second is below the labeled share
def test_sar_auc_equals_the_double_loop_with_ties(scenario, least_prob):
    rng = np.random.RandomState(3)
    y = np.r_[np.ones(6, int), np.zeros(20, int)][rng.permutation(26)]
    score = rng.randint(0, 6, 26) + 2.0 * y  # many ties
    confidence, prob = np.where(y == 1, rng.uniform(0.3, 1, 26), np.nan), rng.uniform(least_prob, 2 * least_prob, 26)
    if scenario == "two-sample":
        prob = 3 * prob
    estimate = sar_auc(y, score, confidence, prob, scenario)
    expected, prior = by_hand(y, score, confidence, prob, scenario == "one-sample")
    assert estimate.auc == pytest.approx(np.clip(expected, 0, 1))
    assert estimate.prior == pytest.approx(prior)
    assert estimate.low <= estimate.auc <= estimate.high


@pytest.mark.parametrize("scenario", ["one-sample", "two-sample"])
def test_a_known_prior_takes_the_place_of_the_estimate(scenario):
    rng = np.random.RandomState(3)
    y = np.r_[np.ones(6, int), np.zeros(20, int)][rng.permutation(26)]
    score = rng.randint(0, 6, 26) + 2.0 * y
    confidence, prob = np.where(y == 1, rng.uniform(0.3, 1, 26), np.nan), rng.uniform(0.2, 0.4, 26)
    prob = prob if scenario == "one-sample" else 10 * prob
    unknown, share = by_hand(y, score, confidence, prob, scenario == "one-sample")
    weighted_risk = (1 - unknown) * (1 - share) + share / 2
    found = sar_auc(y, score, confidence, prob, scenario, prior=0.3)
    assert found.unclipped == pytest.approx(1 - (weighted_risk - 0.3 / 2) / 0.7)
    assert found.prior == pytest.approx(0.3)
    if scenario == "one-sample":
        assert found.label_freq == pytest.approx(6 / 26 / 0.3)
    # Neither does the scale of the weights matter, nor does anything else change.
    assert sar_auc(y, score, confidence, prob / 2, scenario, prior=0.3).unclipped == pytest.approx(found.unclipped)
    assert sar_auc(y, score, confidence, prob, scenario, prior=share).unclipped == pytest.approx(unknown)
    plain, given = (sar_curves(y, score, confidence, prob, scenario, prior=each) for each in (None, 0.3))
    np.testing.assert_allclose(given.tpr, plain.tpr)
    some = given.flagged > 0
    np.testing.assert_allclose(given.precision[some], np.minimum(1, 0.3 * given.tpr[some] / given.flagged[some]))


@cache
def toy_samples(scenario):
    """Labels, scores, confidence and labeling probability of 300 draws from the toy law."""
    law, samples = toy.ToyLaw(), []
    for seed in range(300):
        data = toy.draw(1500, law, seed) if scenario == "one-sample" else toy.draw_two_samples(120, 1500, law, seed)
        samples.append((data.labeled, data.X @ DIRECTION, data.confidence, data.labeling_prob))
    return samples


@pytest.mark.parametrize("interval", ["u-statistic", "bootstrap"])
@pytest.mark.parametrize("scenario", ["one-sample", "two-sample"])
def test_the_interval_with_a_known_prior_covers(scenario, interval):
    law = toy.ToyLaw()
    truth, covered, width = law.linear_auc(DIRECTION), [], []
    for seed, sample in enumerate(toy_samples(scenario)[: 300 if interval == "u-statistic" else 40]):
        known = sar_auc(*sample, scenario, 0.95, seed, prior=law.prior, interval=interval)
        covered.append(known.low <= truth <= known.high)
        if seed < 10:
            unknown = sar_auc(*sample, scenario, 0.95, seed, interval=interval)
            width.append((known.high - known.low, unknown.high - unknown.low))
    assert np.mean(covered) >= (0.92 if interval == "u-statistic" else 0.85)
    assert np.mean(covered) <= 0.99 or interval == "bootstrap"
    assert not np.allclose(*np.transpose(width))


@pytest.mark.parametrize(
    ("prior", "scenario"), [(0.2, "one-sample"), (1.0, "two-sample"), ("x", "one-sample"), (True, "two-sample")]
)
def test_an_impossible_prior_is_refused(prior, scenario):
    y, score = np.repeat([1, 0], [3, 7]), np.arange(10.0)
    with pytest.raises(ValueError, match="prior must be .* but it is .*Leave it out"):
        sar_auc(y, score, np.full(10, 0.9), np.full(10, 0.5), scenario, prior=prior)


@pytest.mark.parametrize("scenario", ["one-sample", "two-sample"])
def test_sar_auc_is_right_on_the_toy_law_and_its_interval_covers(scenario):
    law = toy.ToyLaw()
    truth = law.linear_auc(DIRECTION)
    estimates = [sar_auc(*sample, scenario) for sample in toy_samples(scenario)]
    aucs = np.array([each.auc for each in estimates])
    assert abs(aucs.mean() - truth) < 4 * aucs.std(ddof=1) / np.sqrt(len(aucs))
    covered = np.mean([each.low <= truth <= each.high for each in estimates])
    assert 0.92 <= covered <= 0.98
    prior = np.mean([each.prior for each in estimates])
    assert prior == pytest.approx(law.prior, rel=0.03)
    if scenario == "one-sample":
        # The mean of c-hat = 1 / mean(w) leans upwards by Jensen's inequality; its inverse does not.
        assert np.mean([1 / each.label_freq for each in estimates]) == pytest.approx(1 / law.label_freq, rel=0.03)
        # Labeled against unlabeled, the naive figure, is far off: the labels prefer what the score prefers less.
        data = toy.draw(200_000, law, 0)
        assert abs(auc(data.labeled, data.X @ DIRECTION) - truth) > 0.02
    else:
        assert all(np.isnan(each.label_freq) for each in estimates)


@pytest.mark.parametrize("prior", [None, 0.3])
@pytest.mark.parametrize(("scenario", "least_prob"), [("one-sample", 0.5), ("one-sample", 0.85), ("two-sample", 2)])
def test_the_influence_of_a_row_is_what_leaving_it_out_does(scenario, least_prob, prior):
    """Labeling probabilities near one give a prior that is raised to the share of labeled rows."""
    rng, n_labeled, n = np.random.RandomState(0), 75, 300
    y, score = np.repeat([1, 0], [n_labeled, n - n_labeled]), rng.normal(size=n)
    score[:n_labeled] += 1
    confidence, prob = rng.uniform(0.5, 1, n), rng.uniform(least_prob, 1.15 * least_prob, n)
    rows = y, score, confidence, prob

    def estimate(kept):
        return sar_auc(*(each[kept] for each in rows), scenario, prior=prior)

    found = estimate(np.ones(n, dtype=bool))
    assert (found.prior == pytest.approx(0.25)) == (prior is None and least_prob == 0.85)
    moved = np.array([found.unclipped - estimate(np.arange(n) != row).unclipped for row in range(n)])
    influence = influence_of(read_sample(*rows, scenario, 0.0, prior))
    parts = [influence.labeled, influence.unlabeled]
    if scenario == "one-sample":
        parts, ours = [np.concatenate(parts)], [(n - 1) * moved]
    else:
        ours = [(n_labeled - 1) * moved[:n_labeled], (n - n_labeled - 1) * moved[n_labeled:]]
    for mine, expected in zip(parts, ours, strict=True):
        # Without its mean, which the standard error does not see.
        difference = (mine - mine.mean()) - (expected - expected.mean())
        assert np.abs(difference).max() < 0.03 * np.abs(expected - expected.mean()).max()


@pytest.mark.parametrize(("scenario", "least_prob"), [("one-sample", 0.5), ("one-sample", 0.85), ("two-sample", 2)])
def test_the_bootstrap_estimates_the_prior_as_the_estimate_does(scenario, least_prob):
    """Both intervals are of about one length, whether the prior is that of the weights or the share of labeled rows."""
    rng, n = np.random.RandomState(0), 1200
    # With weights so different a mean of them would vary where the share of labeled rows does not.
    n_labeled, power = (600, 9) if least_prob == 0.85 else (300, 0.5)
    y, score = np.repeat([1, 0], [n_labeled, n - n_labeled]), rng.normal(size=n)
    score[:n_labeled] += 1
    confidence = rng.uniform(size=n) ** power
    prob = rng.uniform(least_prob, 1.15 * least_prob, n)
    plain, resampled = (
        sar_auc(y, score, confidence, prob, scenario, random_state=0, interval=each)
        for each in ("u-statistic", "bootstrap")
    )
    assert resampled.high - resampled.low == pytest.approx(plain.high - plain.low, rel=0.1)
    assert (resampled.low + resampled.high) / 2 == pytest.approx(plain.auc, abs=0.01)


@pytest.mark.parametrize(("distance", "n"), [(3.0, 1000), (3.5, 1000), (3.5, 5000)])
def test_the_interval_covers_an_auc_near_one(distance, n):
    """Two normal laws so far apart that many estimates are at the end of the scale, or beyond."""
    truth, covered = norm.cdf(distance / math.sqrt(2)), []
    for seed in range(200):
        rng = np.random.RandomState(seed)
        positive = rng.uniform(size=n) < 0.2
        score = rng.normal(size=n) + distance * positive
        posterior = expit(distance * score - distance**2 / 2 + logit(0.2))
        propensity = 0.1 + 0.2 * norm.cdf(score - distance)
        labeled = positive & (rng.uniform(size=n) < propensity)
        found = sar_auc(labeled, score, posterior, posterior * propensity)
        assert found.low < found.auc <= found.high
        covered.append(found.low <= truth <= found.high)
    assert np.mean(covered) >= 0.93


def test_bootstrap_interval_is_repeatable_and_near_the_other():
    data = toy.draw(3000, random_state=0)
    arguments = data.labeled, data.X @ DIRECTION, data.confidence, data.labeling_prob
    first, second = (sar_auc(*arguments, random_state=1, interval="bootstrap") for _ in range(2))
    assert first == second
    plain = sar_auc(*arguments)
    assert first.auc == plain.auc
    assert (first.low, first.high) == pytest.approx((plain.low, plain.high), abs=0.03)


def test_sar_auc_depends_on_scores_only_by_their_order():
    data = toy.draw(500, random_state=5)
    score = data.X @ DIRECTION
    first = sar_auc(data.labeled, score, data.confidence, data.labeling_prob)
    second = sar_auc(data.labeled, np.exp(score / 2), data.confidence, data.labeling_prob)
    assert first == second


@pytest.mark.parametrize("scenario", ["one-sample", "two-sample"])
@settings(max_examples=25)
@given(seed=st.integers(0, 2**31))
def test_curves_by_hand(scenario, seed):
    rng = np.random.RandomState(seed)
    y = np.r_[1, 1, 0, 0, rng.randint(0, 2, 12)]
    score, prob = rng.randint(0, 5, 16).astype(float), rng.uniform(0.4, 1, 16)
    confidence = rng.uniform(0.2, 1, 16)
    prob = prob if scenario == "one-sample" else 4 * prob
    curves = sar_curves(y, score, confidence, prob, scenario)
    weight = np.where(y == 1, confidence / prob, 0)
    anything = score if scenario == "one-sample" else score[y == 0]  # a sample of p(x)
    assert curves.thresholds[0] == np.inf
    assert (curves.tpr[0], curves.fpr[0], curves.flagged[0]) == (0, 0, 0)
    for place, threshold in enumerate(curves.thresholds[1:], start=1):
        tpr, flagged = weight[score >= threshold].sum() / weight.sum(), np.mean(anything >= threshold)
        assert curves.tpr[place] == pytest.approx(tpr)
        assert curves.flagged[place] == pytest.approx(flagged)
        if flagged:
            assert curves.precision[place] == pytest.approx(min(1, curves.prior * tpr / flagged))
        if curves.prior < 1:
            fpr = (flagged - curves.prior * tpr) / (1 - curves.prior)
            assert curves.fpr[place] == pytest.approx(np.clip(fpr, 0, 1))
    assert curves.tpr[-1] == curves.flagged[-1] == pytest.approx(1)


def test_curves_without_negatives_left_say_so():
    draw = toy.draw(200, random_state=0)
    with pytest.warns(NoEstimateWarning, match="The false positive rate is NaN"):
        curves = sar_curves(draw.labeled, draw.X[:, 0], draw.confidence, np.full(200, 0.02))
    assert curves.prior == 1
    assert np.isnan(curves.fpr[1:]).all()


def test_a_prior_below_the_share_of_labeled_rows_is_raised_for_all_estimates():
    """Labeled rows are positive: confidence and labeling probability that say less are wrong in their scale only."""
    draw = toy.draw(600, random_state=0)
    judged = draw.labeled, draw.X[:, 0], np.full(600, 0.1)
    estimate, right = (sar_auc(*judged, np.full(600, u)) for u in (0.9, 0.1))
    assert estimate.prior == pytest.approx(draw.labeled.mean())
    assert estimate.auc == pytest.approx(right.auc)
    curves = sar_curves(*judged, np.full(600, 0.9))
    assert np.trapezoid(curves.tpr, curves.fpr) == pytest.approx(estimate.auc, abs=0.01)


@pytest.mark.parametrize("clip", [-1, 1, 2, float("nan"), "x", True])
def test_a_clip_beyond_its_range_is_told(clip):
    draw = toy.draw(200, random_state=0)
    with pytest.raises(ValueError, match=r"clip must be a number in \[0, 1\)"):
        sar_auc(draw.labeled, draw.X[:, 0], draw.confidence, draw.labeling_prob, clip=clip)


def test_curves_meet_the_truth_on_the_toy_law():
    data = toy.draw(60_000, random_state=2)
    score = data.X @ DIRECTION
    curves = sar_curves(data.labeled, score, data.confidence, data.labeling_prob)
    for threshold in (0.0, 1.0, 2.0):
        place = np.searchsorted(-curves.thresholds, -threshold, "right") - 1
        flagged = score >= threshold
        assert curves.tpr[place] == pytest.approx(flagged[data.y == 1].mean(), abs=0.03)
        assert curves.fpr[place] == pytest.approx(flagged[data.y == 0].mean(), abs=0.02)
        assert curves.precision[place] == pytest.approx(data.y[flagged].mean(), abs=0.04)


def test_sar_auc_tells_what_is_wrong():
    y, score, confidence, prob = [1, 1, 0, 0], [3.0, 2, 1, 0], [0.9, 0.8, np.nan, np.nan], [0.5, 0.5, 0.1, 0.1]
    with pytest.raises(ValueError, match=r"labeling_prob must lie in \(0, 1\].*first: 1.5 at row 1"):
        sar_auc(y, score, confidence, [0.5, 1.5, 0, 0])
    with pytest.raises(ValueError, match=r"first: 0.0 at row 0\). Pass clip=0.01"):
        sar_auc(y, score, confidence, [0.0, 0.5, 0, 0])
    assert sar_auc(y, score, confidence, [0.0, 0.5, 0, 0], clip=0.9).prior > 0
    with pytest.raises(ValueError, match="level must lie between 0 and 1, but it is 95"):
        sar_auc(y, score, confidence, prob, level=95)
    with pytest.raises(ValueError, match="scenario must be one of .*'onesample'. Did you mean 'one-sample'?"):
        sar_auc(y, score, confidence, prob, "onesample")
    with pytest.raises(ValueError, match="at least two labeled"):
        sar_auc([1, 0, 0, 0], score, confidence, prob)
    with pytest.raises(ValueError, match="NaN"):
        sar_auc(y, [np.nan, 1, 2, 3], confidence, prob)


@pytest.mark.parametrize("interval", ["u-statistic", "bootstrap"])
def test_an_impossible_prior_is_told_instead_of_an_auc(interval):
    y, score = np.repeat([1, 0], 50), np.arange(100.0)
    with pytest.warns(NoEstimateWarning, match="must be below 1 for an AUC, but it is 1: labeling probabilities are"):
        estimate = sar_auc(y, score, np.ones(100), np.full(100, 0.5), interval=interval)
    assert np.isnan(estimate.auc)
    assert (estimate.low, estimate.high, estimate.prior) == (0, 1, 1)
    with pytest.warns(NoEstimateWarning, match="it is 5"):
        assert np.isnan(sar_auc(y, score, np.ones(100), np.full(100, 0.1)).unclipped)


def test_one_unlabeled_row_is_too_few():
    with pytest.raises(ValueError, match="at least two unlabeled instances .*only one of"):
        sar_auc([1, 1, 0], [3.0, 2, 1], [0.9, 0.8, 0.1], [0.5, 0.5, 2.0], "two-sample")


def test_a_labeling_probability_that_is_known_is_not_estimated_again():
    data = toy.draw(300, random_state=0)
    arguments = data.X, data.labeled, data.confidence
    quick = {"network": "linear", "max_epochs": 1, "random_state": 0}
    options = {"n_folds": 2, "random_state": 0}
    first = out_of_fold(unskew.make("puauc", **quick), *arguments, **options)
    other = out_of_fold(unskew.make("ntc", **quick), *arguments, **options)
    assert (other.labeling_prob == first.labeling_prob).all()
    again = out_of_fold(unskew.make("ntc", **quick), *arguments, **options, labeling_prob=first.labeling_prob)
    assert (again.score == other.score).all()
    assert again.labeling_prob is first.labeling_prob
