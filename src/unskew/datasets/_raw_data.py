"""What readers share: numbers of a CSV file, answers as features, and which positives labelers favor (App. E.1)."""

import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unskew.data.records import RawData


def read_csv(path: Path, dtype: type[np.generic], **options: Any) -> np.ndarray:
    """Table of numbers, perhaps without rows. numpy's reader takes half a second for 250,000 rows."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "loadtxt: input contained no data")
        return np.loadtxt(path, delimiter=",", dtype=dtype, ndmin=2, **options)


def by_class(
    X: np.ndarray,
    classes: np.ndarray,
    positive: Collection[int],
    favored: Collection[int],
    confidence: np.ndarray | None = None,
) -> RawData:
    """Data set whose positives, and the favored among them, are classes.

    Examples
    --------
    >>> import numpy as np
    >>> from unskew import datasets
    >>> raw = datasets.by_class(np.zeros((4, 2), np.float32), np.array([0, 1, 2, 3]), positive=(1, 3), favored=(1,))
    >>> raw.y.tolist(), raw.favored.tolist()
    ([0, 1, 0, 1], [False, True, False, False])
    """
    return RawData(
        X.astype(np.float32, copy=False),
        np.isin(classes, list(positive)).astype(int),
        classes.astype(int),
        np.isin(classes, list(favored)),
        confidence,
    )


def by_distance(X: np.ndarray, y: np.ndarray) -> RawData:
    """Data set of two classes whose favored positives are those near the mean of all positives.

    Examples
    --------
    >>> import numpy as np
    >>> from unskew import datasets
    >>> raw = datasets.by_distance(np.array([[0.0], [1.0], [2.0], [9.0]], np.float32), np.array([0, 1, 1, 1]))
    >>> raw.y.tolist()
    [0, 1, 1, 1]
    """
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


def encode(
    answers: Mapping[str, np.ndarray],
    *,
    scaled: Sequence[str],
    unscaled: Sequence[str] = (),
    codes: Mapping[str, Sequence[int]],
    source: str,
) -> np.ndarray:
    """Features in float32: standardized numbers, numbers as they are, then zeros and ones for each code of a question.

    The codes are given and not read off the data, so that part of a data set has the columns of the whole. A code that
    is not listed is an error.
    """
    n_columns = len(scaled) + len(unscaled) + sum(map(len, codes.values()))
    X = np.zeros((len(next(iter(answers.values()))), n_columns), dtype=np.float32)
    columns = iter(X.T)
    for name in scaled:
        next(columns)[:] = _standardized(answers[name])
    for name in unscaled:
        next(columns)[:] = answers[name]
    for name, known in codes.items():
        check_codes(answers[name], name, known, source)
        for code in known:
            next(columns)[:] = answers[name] == code
    return X


def _standardized(values: np.ndarray) -> np.ndarray:
    """Mean 0 and deviation 1; a constant column becomes zeros."""
    values = values.astype(np.float64)
    return np.asarray((values - values.mean()) / (values.std() or 1.0))


def check_codes(values: np.ndarray, name: str, known: Sequence[int], source: str) -> None:
    """Refuse a question with a code that is not known."""
    unknown = ~np.isin(values, list(known))
    if unknown.any():
        row = int(np.argmax(unknown))
        raise ValueError(
            f"{source} must have only the codes {', '.join(map(str, known))} in {name}, but row {row} has "
            f"{values[row]:g}. Get it again, or correct that row."
        )
