"""The paired difference of two AUCs, against the estimates it is of and the truth of the toy law."""

import numpy as np
import pytest

from unskew.datasets import toy
from unskew.errors import NoEstimateWarning
from unskew.metrics import paired_difference, sar_auc

FIRST, SECOND = np.array([1.0, 0.3]), np.array([1.0, 0.0])


def draw(scenario, seed, n=1500):
    if scenario == "one-sample":
        return toy.draw(n, random_state=seed)
    return toy.draw_two_samples(120, n, random_state=seed)


@pytest.mark.parametrize("scenario", ["one-sample", "two-sample"])
def test_it_is_the_difference_of_the_two_estimates(scenario):
    data = draw(scenario, 0)
    judged = data.confidence, data.labeling_prob
    found = paired_difference(data.labeled, data.X @ FIRST, data.X @ SECOND, *judged, 0.02, scenario)
    first, second = (sar_auc(data.labeled, data.X @ each, *judged, scenario, clip=0.02) for each in (FIRST, SECOND))
    assert found.difference == pytest.approx(first.unclipped - second.unclipped)
    assert found.low < found.difference < found.high
    # Far narrower than what the two intervals would allow, because the errors are shared.
    assert found.high - found.low < 0.7 * (first.high - first.low)
    turned = paired_difference(data.labeled, data.X @ SECOND, data.X @ FIRST, *judged, 0.02, scenario)
    assert turned == pytest.approx((-found.difference, -found.high, -found.low))


@pytest.mark.parametrize("scenario", ["one-sample", "two-sample"])
def test_its_interval_covers_the_true_difference(scenario):
    law = toy.ToyLaw()
    truth = law.linear_auc(FIRST) - law.linear_auc(SECOND)
    found = []
    for seed in range(400):
        data = draw(scenario, seed)
        scores = data.X @ FIRST, data.X @ SECOND
        found.append(paired_difference(data.labeled, *scores, data.confidence, data.labeling_prob, scenario=scenario))
    covered = np.mean([each.low <= truth <= each.high for each in found])
    # Four standard errors of a share of 0.95 over 400 draws are 0.044.
    assert 0.91 <= covered <= 0.985
    error = np.std([each.difference for each in found]) / np.sqrt(len(found))
    assert abs(np.mean([each.difference for each in found]) - truth) < 4 * error


def test_the_same_ranking_differs_by_nothing():
    data = toy.draw(500, random_state=0)
    score = data.X[:, 0]
    # Ranks do not change under an increasing map.
    assert paired_difference(data.labeled, score, np.exp(score), data.confidence, data.labeling_prob) == (0, 0, 0)


def test_an_impossible_prior_is_told():
    data = toy.draw(500, random_state=0)
    tiny = np.full(500, 0.001)
    with pytest.warns(NoEstimateWarning, match="must be below 1"):
        found = paired_difference(data.labeled, data.X[:, 0], data.X[:, 1], data.confidence, tiny)
    assert np.isnan(found.difference)
    assert (found.low, found.high) == (-1, 1)
    with pytest.raises(ValueError, match="level must lie between 0 and 1, but it is 95"):
        paired_difference(data.labeled, data.X[:, 0], data.X[:, 1], data.confidence, data.labeling_prob, level=95)
