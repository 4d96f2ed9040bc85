"""What a table and a fitted model give as plain numbers, whatever kind they are of."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

from unskew.data.validation import part_of, plain_array

MOST_WORDS = 30
"""Columns that a column of words becomes, at most: the rarest words share the last."""


def finite_scores(score: Any) -> np.ndarray:
    """Scores of rows, one number each; ValueError names the first that is not finite."""
    checked: np.ndarray = np.asarray(column_or_1d(plain_array(score)), dtype=np.float64)
    if not np.isfinite(checked).all():
        row = int(np.flatnonzero(~np.isfinite(checked))[0])
        raise ValueError(f"score must be finite everywhere, but it is {checked[row]} at row {row}. Score it again.")
    return checked


def output_of(estimator: Any, method: str, X: Any) -> np.ndarray:
    """What the method of a ranker gives for each row; of any other classifier, the probability of class 1."""
    if hasattr(estimator, method):
        return np.asarray(getattr(estimator, method)(X))
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X))[:, 1]
    raise TypeError(
        f"what is scored must have a {method} or predict_proba, but a {type(estimator).__name__} has neither. Give a "
        "ranker of this package, or any classifier."
    )


def is_table(X: Any) -> bool:
    """Whether X has columns, or is images: a list of texts has none."""
    return len(_with_shape(X).shape) > 1


def complete_features(X: Any) -> Any:
    """The table as numbers without gaps, as a model that is linear in its columns takes it.

    A missing number is the mean of its column, and marked in a column beside. Dates and durations are counted in their
    units. Words become columns of zeros and ones, one for each of the most frequent and one for all others.
    """
    X = _with_shape(X)
    if not is_table(X):
        raise ValueError(
            "X must be a table or images, so that the probability of being positive can be learned from its columns, "
            f"but it is a {type(X).__name__}. Turn it into a table of numbers first."
        )
    try:
        return _without_gaps(_numeric_features(X))
    except (TypeError, ValueError):
        columns = (part_of(X, [number], axis=1) for number in range(X.shape[1]))
        return np.hstack([_features_of_column(each) for each in columns])


def _with_shape(X: Any) -> Any:
    X = plain_array(X)
    return X if hasattr(X, "shape") else np.asarray(X)


def _features_of_column(column: Any) -> np.ndarray:
    try:
        return np.asarray(_without_gaps(_numeric_features(column)))
    except (TypeError, ValueError):
        if np.asarray(column).dtype.kind in "fiub":  # an infinite number is not a word
            raise
        return _indicators(np.asarray(column, dtype=object).astype(str).ravel())


def _indicators(words: np.ndarray) -> np.ndarray:
    """A column of zeros and ones for each frequent word, the most frequent first, and one for all others.

    A word that occurs once says nothing of other rows, so that it is never among the frequent.
    """
    _, place, count = np.unique(words, return_inverse=True, return_counts=True)
    by_count = np.argsort(-count, kind="stable")
    frequent = by_count[count[by_count] > 1]
    if len(frequent) < len(count) or len(frequent) > MOST_WORDS:
        frequent = frequent[: MOST_WORDS - 1]
    columns = place[:, None] == frequent
    rare = ~columns.any(axis=1, keepdims=True)
    return np.hstack([columns, rare] if rare.any() else [columns]).astype(np.float64)


def _numeric_features(X: Any) -> Any:
    checked = check_array(X, accept_sparse="csr", ensure_all_finite="allow-nan", allow_nd=True)
    if checked.dtype.kind in "mM":  # numpy does not count these as numbers
        return np.where(np.isnat(checked), np.nan, checked.astype(np.float64))
    return checked.astype(np.float64) if checked.dtype == object else checked  # a frame of mixed columns


def _without_gaps(table: Any) -> Any:
    """Numbers with the mean of its column in place of each missing one, and a column that marks them."""
    if sparse.issparse(table):
        return table
    table = np.asarray(table, dtype=np.float64).reshape(len(table), -1)
    missing = np.isnan(table)
    some = missing.any(axis=0)
    if not some.any():
        return table
    count = np.maximum((~missing).sum(axis=0), 1)
    filled = np.where(missing, np.where(missing, 0.0, table).sum(axis=0) / count, table)
    return np.hstack([filled, missing[:, some].astype(np.float64)])
