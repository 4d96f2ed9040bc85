"""Which of two rankings of the same rows is better, without one negative label."""

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t as student

from unskew.metrics._sample import (
    auc_of,
    influence_of,
    parts_of,
    prior_and_label_freq,
    read_sample,
    warn_that_nothing_can_be_told,
)
from unskew.objectives.weights import effective_sample_size


class PairedDifference(NamedTuple):
    """AUC of the first ranking minus that of the second, with its interval."""

    difference: float
    low: float
    high: float


def paired_difference(
    y: Any,
    score_a: Any,
    score_b: Any,
    confidence: Any,
    labeling_prob: Any,
    clip: float = 0.0,
    scenario: str = "one-sample",
    level: float = 0.95,
    prior: float | None = None,
) -> PairedDifference:
    """Difference of the AUCs that `sar_auc` estimates for two scores of the same rows, with an interval.

    Both estimates share rows and weights, so that most of their errors cancel: the interval is far narrower than those
    of the two AUCs. It comes from the difference of the influence that each row has on them, with Student's quantile
    for as many degrees of freedom as the weights are worth (decision 5).

    Parameters
    ----------
    y, confidence, labeling_prob, clip, scenario, level, prior
        As in `sar_auc`.
    score_a, score_b : arrays of shape (n,)
        Two scores of the same rows.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(5000, random_state=0)
    >>> evidence = data.confidence, data.labeling_prob
    >>> found = paired_difference(data.labeled, data.X[:, 0], data.X[:, 1], *evidence)
    >>> found.low < data.law.linear_auc([1, 0]) - data.law.linear_auc([0, 1]) < found.high
    True
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, but it is {level!r}.")
    evidence = confidence, labeling_prob, scenario, clip, prior
    first, second = (read_sample(y, score, *evidence) for score in (score_a, score_b))
    if prior_and_label_freq(first)[0] >= 1:
        warn_that_nothing_can_be_told(first)
        return PairedDifference(float("nan"), -1.0, 1.0)
    difference = auc_of(*parts_of(first)) - auc_of(*parts_of(second))
    error = (influence_of(first) - influence_of(second)).standard_error
    half_width = student.ppf((1 + level) / 2, max(1.0, effective_sample_size(first.weight) - 1)) * error
    clipped = np.clip([difference, difference - half_width, difference + half_width], -1, 1)
    return PairedDifference(*clipped.tolist())
