"""How many trees are boosted, how large and how fast, by the size of the data, where the user does not say."""

from math import sqrt

from unskew.learning.pace import Pace

LARGE_ROWS, LARGE_LABELED = 80_000, 1000
"""Rows for training (10^5, of which a fifth is held out) and labels among them that large trees need."""
MIDDLE_LABELED = 150
"""Labels from which on trees may have more leaves than the smallest."""
SMALL_LEAVES, MIDDLE_LEAVES, LARGE_LEAVES, LABELING_LEAVES = 4, 8, 31, 7


def is_large(n_rows: int, n_labeled: int) -> bool:
    """Whether there is enough for large trees, which learn few labels by heart, however many rows there are."""
    return n_rows >= LARGE_ROWS and n_labeled >= LARGE_LABELED


def tree_pace_for(n_rows: int, n_labeled: int, drive: float = 1.0) -> Pace:
    """Rounds of boosting and their rate; one batch, of all rows.

    `drive` multiplies the learning rate of networks; a step of trees is as large as it should be for any risk, so that
    its root does for them.

    Examples
    --------
    >>> tree_pace_for(5000, 100)
    Pace(max_epochs=200, batch_size=5000, learning_rate=0.05)
    >>> tree_pace_for(800_000, 8000)
    Pace(max_epochs=100, batch_size=800000, learning_rate=0.1)
    """
    if is_large(n_rows, n_labeled):
        return Pace(100, n_rows, 0.1)
    return Pace(200, n_rows, 0.05 * sqrt(drive))


def leaves_for(n_rows: int, n_labeled: int) -> int:
    """Leaves of a tree of the score function."""
    if is_large(n_rows, n_labeled):
        return LARGE_LEAVES
    return MIDDLE_LEAVES if n_labeled >= MIDDLE_LABELED else SMALL_LEAVES
