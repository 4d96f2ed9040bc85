"""The plain AUC, where the true class is known."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from unskew.data.labels import zero_or_one
from unskew.data.validation import check_sample_weight, plain_array


def auc(y: Any, score: Any, *, sample_weight: Any = None) -> float:
    r"""Probability that a positive is ranked above a negative, ties counted as one half.

    .. math:: \mathrm{AUC}(s) = 1 - E_{p} E_{n} [\ell_{01}(s(x^p) - s(x^n))]

    Implements: Eq. (1). By sorting, in O(n log n).

    Parameters
    ----------
    y : array of shape (n,)
        True class, 1 positive and 0 negative; both occur.
    score : array of shape (n,)
    sample_weight : array of shape (n,), optional
        Not negative, and above zero for some row of each class.

    Examples
    --------
    >>> auc([1, 1, 0, 0], [3.0, 1.0, 1.0, 0.0])
    0.875
    """
    y, score = column_or_1d(plain_array(y)), column_or_1d(plain_array(score))
    check_consistent_length(y, score)
    check_array(score, ensure_2d=False, input_name="score")
    _require_both_classes(y)
    positive = y == 1
    weight = np.ones(len(y)) if sample_weight is None else check_sample_weight(sample_weight, positive)
    above = share_above(score[~positive], score[positive], weight[~positive])
    return float(1 - np.average(above, weights=weight[positive]))


def _require_both_classes(y: np.ndarray) -> None:
    must = "y must hold the true class, 1 or 0, and both must occur"
    wrong = np.flatnonzero(~zero_or_one(y))
    if wrong.size:
        first = y[wrong[:1]].tolist()[0]
        raise ValueError(
            f"{must}, but {wrong.size} of {len(y)} entries are something else (first: {first!r} at row {wrong[0]}). "
            "Write classes as 1 and 0, and leave out rows whose class is unknown."
        )
    if y.min() == y.max():
        raise ValueError(f"{must}, but it holds {np.unique(y).tolist()}. Take rows of both classes.")


def share_above(sample: np.ndarray, score: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Share of `sample` above each score, ties counted as one half; weighted if weights are given."""
    order = np.argsort(sample, kind="stable")
    ordered = sample[order]
    total = np.concatenate([[0.0], np.cumsum(np.ones(len(sample)) if weight is None else weight[order])])
    below, not_above = np.searchsorted(ordered, score, "left"), np.searchsorted(ordered, score, "right")
    return np.asarray(1 - (total[below] + total[not_above]) / (2 * total[-1]))
