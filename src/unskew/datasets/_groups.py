"""What is positive, and which positives labelers favor (App. E.1)."""

from collections.abc import Collection

import numpy as np

from unskew.data.records import RawData


def by_class(
    X: np.ndarray,
    classes: np.ndarray,
    positive: Collection[int],
    favored: Collection[int],
    confidence: np.ndarray | None = None,
) -> RawData:
    """Data set whose positives, and the favored among them, are classes."""
    return RawData(
        X.astype(np.float32, copy=False),
        np.isin(classes, list(positive)).astype(int),
        classes.astype(int),
        np.isin(classes, list(favored)),
        confidence,
    )


def by_distance(X: np.ndarray, y: np.ndarray) -> RawData:
    """Data set of two classes whose favored positives are those near the mean of all positives."""
    return RawData(X.astype(np.float32, copy=False), y.astype(int), y.astype(int), favored_by_distance(X, y))


def favored_by_distance(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Positives that are nearer to the mean of all positives than the median of their distances.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [9.0], [1.0]])
    >>> favored_by_distance(X, np.array([1, 1, 1, 1, 0]))
    array([False,  True,  True, False, False])
    """
    positive = np.flatnonzero(y == 1)
    chosen = X[positive]
    distance = np.linalg.norm(chosen - chosen.mean(axis=0, dtype=np.float64), axis=1)
    favored = np.zeros(len(y), dtype=bool)
    favored[positive[distance < np.median(distance)]] = True
    return favored
