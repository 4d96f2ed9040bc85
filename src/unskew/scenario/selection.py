"""Which positives get labeled: the selection biases of the paper's experiments."""

import numpy as np

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
