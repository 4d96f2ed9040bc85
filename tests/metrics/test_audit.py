"""Rows to check by hand and what they say: against double loops, all rows, many draws, and the words of messages."""

import dataclasses

import numpy as np
import pytest
from scipy.special import expit, logit

from unskew.metrics import auc, audit_estimate, audit_sample
from unskew.metrics._audit_design import sampling_rate
from unskew.metrics._audit_intervals import shares_under
from unskew.metrics.audit import _cells

QUANTITIES = "prior", "auc", "precision", "recall"


def table(n=1500, seed=0, base=-2.5):
    """Scores, right probabilities and classes of a made-up table."""
    rng = np.random.RandomState(seed)
    odds = base + 1.5 * rng.standard_normal(n)
    probability = expit(odds)
    return odds + rng.standard_normal(n), probability, (rng.uniform(size=n) < probability).astype(int)


def true_values(score, truth, threshold):
    top = score >= threshold
    return truth.mean(), float(auc(truth, score)), truth[top].mean(), truth[top].sum() / truth.sum()


def test_draws_have_the_size_and_the_probabilities_that_they_say():
    score, _, _ = table(300)
    times, expected = np.zeros(300), np.full(300, np.nan)
    for seed in range(600):
        drawn = audit_sample(score, 40, seed, threshold=-1.0)
        assert len(set(drawn.rows.tolist())) == 40
        times[drawn.rows] += 1
        expected[drawn.rows] = drawn.inclusion
    assert not np.isnan(expected).any()
    assert expected.sum() == pytest.approx(40)
    error = np.sqrt(expected * (1 - expected) / 600)
    assert (np.abs(times / 600 - expected) <= 4.5 * error + 1e-12).all()


def test_more_rows_are_checked_at_the_top_and_some_everywhere():
    score, probability, _ = table()
    drawn = audit_sample(score, 100, probability=probability)
    stratum = drawn.stratum_of(score)
    assert (stratum[drawn.rows] == drawn.stratum).all()
    assert (np.bincount(drawn.stratum, minlength=stratum.max() + 1) >= 3).all()
    top = score >= drawn.threshold
    assert 1.1 * top.mean() < top[drawn.rows].mean() < 0.7
    assert set(stratum[top]).isdisjoint(stratum[~top])  # the cut is the edge of a stratum
    assert sampling_rate(1000, 0.1).mean() == pytest.approx(1)


def test_rows_with_equal_scores_are_in_the_same_stratum():
    score = np.repeat([3.0, 2.0, 1.0, 0.0], [5, 40, 5, 150])
    drawn = audit_sample(score, 30)
    assert len(drawn.rows) == 30
    assert len(drawn.edges) <= 3
    nothing_to_rank = audit_sample(np.zeros(50), 20)
    assert nothing_to_rank.inclusion == pytest.approx(np.full(20, 0.4))


def test_with_all_rows_checked_everything_is_exact():
    score, probability, truth = table(60, base=-0.5)
    score = np.round(score)  # with ties
    drawn = audit_sample(score, 60, probability=probability)
    found = audit_estimate(score, probability, drawn, truth[drawn.rows])
    for name, value in zip(QUANTITIES, true_values(score, truth, found.threshold), strict=True):
        ends = [getattr(found, name + end) for end in ("", "_low", "_high")]
        assert ends == pytest.approx([value] * 3, abs=5e-3)
        assert ends[0] == pytest.approx(value, abs=1e-9)


def test_estimates_are_weighted_sums_over_checked_rows():
    """Without probabilities: every checked row stands for 1 / inclusion rows; all pairs in a double loop."""
    score, _, truth = table(80, seed=3, base=-0.5)
    drawn = audit_sample(score, 40, seed_of(3), threshold=0.0)
    found = audit_estimate(score, None, drawn, truth[drawn.rows])
    weight = np.zeros(80)
    weight[drawn.rows] = truth[drawn.rows] / drawn.inclusion
    assert found.prior == pytest.approx(weight.sum() / 80)
    top = score >= 0
    assert found.precision == pytest.approx(weight[top].sum() / top.sum())
    assert found.recall == pytest.approx(weight[top].sum() / weight.sum())
    right = pairs = 0.0
    for i in range(80):
        for j in range(80):
            right += weight[i] * (1 - weight[j]) * ((score[i] > score[j]) + 0.5 * (score[i] == score[j]))
            pairs += weight[i] * (1 - weight[j])
    assert found.auc == pytest.approx(right / pairs)
    assert np.isnan(found.mean_probability)
    assert "no probabilities" in found.calibration


def seed_of(number):
    return np.random.RandomState(number)


def test_the_total_with_probabilities_is_the_formula_by_hand():
    score, probability, truth = table(80, seed=4, base=-0.5)
    drawn = audit_sample(score, 40, threshold=0.0)
    cells = _cells(score, probability, drawn, truth[drawn.rows].astype(float), 0.0, 0.95)
    slope, power = np.arange(80.0), 0.7
    by_hand = sum(power * slope[i] * probability[i] for i in range(80))
    for row, inclusion in zip(drawn.rows, drawn.inclusion, strict=True):
        by_hand += slope[row] * (truth[row] - power * probability[row]) / inclusion
    assert cells.total(slope, power) == pytest.approx(by_hand)


def test_shares_under_a_total_are_the_most_likely_ones_that_have_it():
    score, _, truth = table(400, seed=5)
    drawn = audit_sample(score, 21, threshold=0.0)
    cells = _cells(score, None, drawn, truth[drawn.rows].astype(float), 0.0, 0.95)
    slope = np.ones(cells.count)
    share = shares_under(cells, slope, 80.0)
    assert cells.size @ share == pytest.approx(80)

    def likelihood(p):
        hits = cells.worth * cells.share
        p = np.clip(p, 1e-12, 1 - 1e-12)
        return float(hits @ np.log(p) + (cells.worth - hits) @ np.log(1 - p))

    rng = np.random.RandomState(0)
    for _ in range(200):  # along the plane of shares with the same total nothing is more likely
        step = rng.standard_normal(cells.count)
        step -= cells.size * (step @ cells.size) / (cells.size @ cells.size)
        other = share + 1e-3 * step
        if (other >= 0).all() and (other <= 1).all():
            assert likelihood(other) <= likelihood(share) + 1e-9


@pytest.mark.parametrize("wrong", ["right", "squared", "turned"])
def test_intervals_cover_whatever_the_probabilities_say(wrong):
    change = {"right": lambda p: p, "squared": lambda p: p**2, "turned": lambda p: (1 - p) / 5}[wrong]
    covered = np.zeros((200, 4))
    for seed in range(200):
        score, probability, truth = table(1500, seed)
        said = change(probability)
        drawn = audit_sample(score, 100, seed, probability=probability)
        found = audit_estimate(score, said, drawn, truth[drawn.rows])
        true = true_values(score, truth, found.threshold)
        for place, (name, value) in enumerate(zip(QUANTITIES, true, strict=True)):
            covered[seed, place] = getattr(found, f"{name}_low") <= value <= getattr(found, f"{name}_high")
    # Three standard errors of a share of 0.95 over 200 draws are 0.046.
    assert (covered.mean(0) >= 0.90).all(), covered.mean(0)


def test_good_probabilities_make_intervals_shorter_and_useless_ones_do_not_make_them_longer():
    lengths = {"none": [], "good": [], "useless": []}
    for seed in range(40):
        score, probability, truth = table(1500, seed, base=-1.0)
        drawn = audit_sample(score, 100, seed, threshold=0.0)
        useless = np.random.RandomState(seed).uniform(size=1500)
        for name, said in (("none", None), ("good", np.clip(0.8 * truth + 0.1, 0, 1)), ("useless", useless)):
            found = audit_estimate(score, said, drawn, truth[drawn.rows])
            lengths[name].append(found.prior_high - found.prior_low)
    none, good, useless = (np.mean(lengths[name]) for name in ("none", "good", "useless"))
    assert good < 0.8 * none
    assert useless < 1.01 * none


def test_without_a_positive_the_share_is_bounded_and_the_rest_is_open():
    score, probability, _ = table(400)
    drawn = audit_sample(score, 60, probability=probability)
    found = audit_estimate(score, probability, drawn, np.zeros(60))
    assert found.prior == 0
    assert found.prior_low == 0
    assert 0.02 < found.prior_high < 0.3
    assert np.isnan(found.auc)
    assert (found.auc_low, found.auc_high, found.recall_low, found.recall_high) == (0, 1, 0, 1)
    all_positive = audit_estimate(score, probability, drawn, np.ones(60))
    assert all_positive.prior == all_positive.prior_high == 1
    assert np.isnan(all_positive.auc)


def test_another_cut_than_that_of_the_draw():
    score, probability, truth = table(1500)
    drawn = audit_sample(score, 100, probability=probability)
    for threshold in (score.max() + 1, np.sort(score)[-2], -1.0, score.min()):
        found = audit_estimate(score, probability, drawn, truth[drawn.rows], threshold=threshold)
        assert found.n_top == (score >= threshold).sum()
        assert 0 <= found.precision_low <= found.precision_high <= 1
        assert 0 <= found.recall_low <= found.recall_high <= 1
    without_cut = audit_sample(score, 100)
    found = audit_estimate(score, probability, without_cut, truth[without_cut.rows])
    assert found.n_top == pytest.approx(probability.sum(), abs=1)
    assert audit_estimate(score, None, without_cut, truth[without_cut.rows]).n_top == 150


def test_the_probabilities_are_judged():
    score, probability, truth = table(4000, base=-1.0)
    drawn = audit_sample(score, 400, probability=probability)
    classes = truth[drawn.rows]

    def judged(said):
        return audit_estimate(score, said, drawn, classes)

    right = judged(probability)
    assert right.calibration == "Nothing speaks against the probabilities."
    assert right.slope_low < 1 < right.slope_high
    assert right.intercept_low < 0 < right.intercept_high
    assert judged(np.sqrt(probability)).calibration.startswith("The probabilities are too high: they expect ")
    assert judged(probability**3).calibration.startswith("The probabilities are too low: they expect ")
    center = logit(probability.mean())
    odds = logit(probability) - center
    assert "too cautious" in judged(expit(0.3 * odds + center + 0.1)).calibration
    extreme = expit(4 * (logit(probability) - np.quantile(logit(probability), 1 - truth.mean())))
    assert abs(extreme.mean() - truth.mean()) < 0.03
    assert "too extreme" in judged(extreme).calibration
    assert np.isnan(judged(np.full(4000, truth.mean())).slope)


def test_wrong_requests_are_refused_by_name():
    score, probability, truth = table(200)
    drawn = audit_sample(score, 20, probability=probability)
    classes = truth[drawn.rows]
    with pytest.raises(ValueError, match="n must be from 10 to the number of rows, 200, but it is 9"):
        audit_sample(score, 9)
    with pytest.raises(ValueError, match="score must be finite everywhere, but it is nan at row 3"):
        audit_sample(np.where(np.arange(200) == 3, np.nan, score), 20)
    with pytest.raises(ValueError, match=r"probability must lie in \[0, 1\] everywhere, but it is 2.0 at row 1"):
        audit_estimate(score, np.where(np.arange(200) == 1, 2.0, probability), drawn, classes)
    with pytest.raises(ValueError, match="one class for each of the 20 drawn rows, but it has 19.*not a random part"):
        audit_estimate(score, probability, drawn, classes[1:])
    with pytest.raises(ValueError, match="truth must be 0 or 1, but it is 0.5 at place 0"):
        audit_estimate(score, probability, drawn, np.where(np.arange(20) == 0, 0.5, classes))
    with pytest.raises(ValueError, match="score must be the one that the rows were drawn with"):
        audit_estimate(-score, probability, drawn, classes)
    with pytest.raises(ValueError, match="level must lie between 0 and 1, but it is 95"):
        audit_estimate(score, probability, drawn, classes, level=95)


def test_the_order_of_the_checked_rows_does_not_matter():
    score, probability, truth = table(500)
    drawn = audit_sample(score, 50, probability=probability)
    turned = dataclasses.replace(
        drawn, rows=drawn.rows[::-1], inclusion=drawn.inclusion[::-1], stratum=drawn.stratum[::-1]
    )
    first, second = (audit_estimate(score, probability, each, truth[each.rows]) for each in (drawn, turned))
    for name in QUANTITIES:
        for end in ("", "_low", "_high"):
            assert getattr(first, name + end) == pytest.approx(getattr(second, name + end), abs=1e-5)


@pytest.mark.parametrize("seed", range(40))
def test_another_cut_than_that_of_the_draw_leaves_cells_of_one_row(seed):
    """The cut of the estimate may split off a single row that was not checked."""
    rng = np.random.RandomState(seed)
    score = rng.normal(size=100)
    prob = 1 / (1 + np.exp(2 - score))
    truth = (rng.uniform(size=100) < prob).astype(int)
    rows = audit_sample(score, 20, rng)
    found = audit_estimate(score, prob, rows, truth[rows.rows])
    assert 0 <= found.prior_low <= found.prior <= found.prior_high <= 1
    assert 0 <= found.auc_low <= found.auc_high <= 1


def test_right_probabilities_are_not_blamed_for_the_chance_of_the_classes():
    """With all rows checked the share of positives is exact, and yet not the mean of the right probabilities."""
    blamed = 0
    for seed in range(20):
        rng = np.random.RandomState(seed)
        score = rng.normal(size=200)
        prob = 1 / (1 + np.exp(1 - score))
        truth = (rng.uniform(size=200) < prob).astype(int)
        rows = audit_sample(score, 200, rng, probability=prob)
        blamed += "too high:" in (said := audit_estimate(score, prob, rows, truth[rows.rows]).calibration)
        blamed += "too low:" in said
    assert blamed <= 5
