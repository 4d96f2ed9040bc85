"""What is said of an estimate that rests on a confidence which the rows hardly explain."""

from dataclasses import replace

import numpy as np
import pytest

from unskew.datasets import toy
from unskew.errors import LowReliabilityWarning, NoEstimateWarning
from unskew.metrics import compare_rankings, estimate_ranking
from unskew.metrics.reliability import INTERVALS_ONLY_BELOW, WARN_BELOW, check_reliability, shows_points
from unskew.posterior import fit_posterior


@pytest.mark.parametrize(
    ("reliability", "level", "points"),
    [
        (1.0, "good", True),
        (WARN_BELOW, "good", True),
        (WARN_BELOW - 0.01, "note", True),
        (INTERVALS_ONLY_BELOW, "note", True),
        (INTERVALS_ONLY_BELOW - 0.01, "warning", False),
        (0.0, "warning", False),
    ],
)
def test_levels(reliability, level, points):
    finding = check_reliability(reliability)
    assert finding.level == level
    assert shows_points(reliability) == points
    assert f"reliability {reliability:.2f} of 1" in finding.text
    assert bool(finding.advice) == (level != "good")


def test_labels_of_one_confidence_get_other_advice_than_more_columns():
    data = toy.draw(300, random_state=0)
    posterior = fit_posterior(data.X, data.labeled, np.full(300, 0.6))
    for use in (lambda: estimate_ranking(data.X[:, 0], posterior), lambda: compare_rankings(*data.X.T, posterior)):
        with pytest.warns(LowReliabilityWarning, match=r"All labels have the same confidence.*confidence of its own"):
            use()


def test_old_records_show_what_they_showed():
    assert shows_points(None)


def test_every_public_estimate_warns_below_the_threshold_and_not_above():
    data = toy.draw(300, random_state=0)
    posterior = fit_posterior(data.X, data.labeled, data.confidence, random_state=0)
    first, second = data.X.T
    for reliability in (WARN_BELOW, WARN_BELOW - 0.01):
        judge = replace(posterior, reliability=reliability)
        for use in (
            lambda judge=judge: estimate_ranking(first, judge),
            lambda judge=judge: compare_rankings(first, second, judge),
        ):
            if reliability >= WARN_BELOW:
                use()  # a warning would be an error
                continue
            with pytest.warns(LowReliabilityWarning, match="Rely on the intervals"):
                use()


@pytest.mark.filterwarnings("ignore::unskew.errors.LowReliabilityWarning")
def test_a_share_below_that_of_the_labeled_rows_is_impossible_and_said():
    """Each label is known to be positive, and there are more than the confidence allows."""
    data = toy.draw(500, random_state=0)
    labeled = (data.law.posterior(data.X) > np.quantile(data.law.posterior(data.X), 0.6)).astype(int)
    low = np.full(len(labeled), 0.1)
    posterior = fit_posterior(data.X, labeled, low)
    with pytest.warns(NoEstimateWarning, match=r"40 % of all rows are labeled, .*but by the confidence at most"):
        estimate_ranking(data.X[:, 0], posterior)
