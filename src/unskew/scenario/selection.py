"""Which positives get labeled: the selection biases of the paper's experiments."""

import numpy as np
from scipy.special import expit

FAVORED_SHARE = 0.9
"""Share of the labeled positives that comes from the favored ones (App. E.1)."""


def select_favored(
    positive_rows: np.ndarray, favored: np.ndarray, n_labeled: int, rng: np.random.RandomState
) -> np.ndarray:
    """Choose rows to label: 90 % from the favored positives, the rest from the others.

    Parameters
    ----------
    positive_rows : int array of shape (n_positive,)
        Rows that may be labeled.
    favored : bool array of shape (n_positive,)
        Which of them labelers prefer.
    n_labeled : int
        How many to choose.
    rng : RandomState
    """
    n_favored = min(round(FAVORED_SHARE * n_labeled), int(favored.sum()))
    n_other = n_labeled - n_favored
    if n_other > int((~favored).sum()):
        raise ValueError(
            f"{n_labeled} rows are to be labeled, {n_other} of them not favored, but there are only "
            f"{int((~favored).sum())} such positives. Lower the label frequency."
        )
    chosen = (
        rng.choice(positive_rows[favored], n_favored, replace=False),
        rng.choice(positive_rows[~favored], n_other, replace=False),
    )
    return np.concatenate(chosen)


def select_confident(
    positive_rows: np.ndarray, confidence: np.ndarray, n_labeled: int, rng: np.random.RandomState
) -> np.ndarray:
    r"""Choose rows to label, with probabilities that rise with the confidence r as :math:`\sigma(4r - 2)` (App. F.4).

    Parameters
    ----------
    positive_rows : int array of shape (n_positive,)
        Rows that may be labeled.
    confidence : array of shape (n_positive,)
    n_labeled : int
        How many to choose.
    rng : RandomState
    """
    if n_labeled > len(positive_rows):
        raise ValueError(
            f"{n_labeled} rows are to be labeled, but there are only {len(positive_rows)} positives. Lower the label "
            "frequency."
        )
    weight = expit(4 * confidence - 2)
    return np.asarray(rng.choice(positive_rows, n_labeled, replace=False, p=weight / weight.sum()))
