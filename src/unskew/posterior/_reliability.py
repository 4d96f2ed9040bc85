"""How well the confidence follows from the row, counted as over all rows and not as over the labeled ones."""

import math

import numpy as np

MOST_WEIGHT = 20.0
"""What a label counts at most, in units of the median; set on the known laws of `benchmarks/probabilities.py`."""


def weights_for_all_rows(log_labeling: np.ndarray) -> np.ndarray:
    """What each labeled row counts, so that together they stand for all rows.

    That is the inverse of its labeling probability (or of its odds of being in the labeled sample: a common factor does
    not matter), whose logarithm is given. One label in a place where hardly any are would decide everything, and there
    the labeling probability is known worst. So weights are held at a multiple of the median one, and of a few labels at
    what the heavier half of the others counts at least: a single one never counts more than all others together.
    """
    most = min(MOST_WEIGHT, max(1.0, len(log_labeling) / 2 - 1))
    return np.asarray(np.exp(np.minimum(np.median(log_labeling) - log_labeling, math.log(most))))


def explained_share(found: np.ndarray, left_out: np.ndarray, weight: np.ndarray) -> float:
    r"""Share of the weighted variance of `found` that predictions without each row, `left_out`, explain; in [0, 1].

    .. math::
        1 - \frac{\sum_i w_i (y_i - \hat y_{-i})^2}{\sum_i w_i (y_i - \bar y_{-i})^2}, \quad
        \bar y_{-i} = \frac{\sum_{j \ne i} w_j y_j}{\sum_{j \ne i} w_j}

    The mean that a prediction must beat does not know the row either. Implements: Eq. (P10).

    Examples
    --------
    >>> y, even = np.array([0.0, 1.0, 2.0]), np.ones(3)
    >>> explained_share(y, y, even), round(explained_share(y, np.ones(3), even), 2)
    (1.0, 0.56)
    """
    if np.ptp(found) == 0:  # also of a single row
        return 0.0
    others = (weight @ found - weight * found) / (weight.sum() - weight)
    return float(np.clip(1 - weight @ (found - left_out) ** 2 / (weight @ (found - others) ** 2), 0, 1))
