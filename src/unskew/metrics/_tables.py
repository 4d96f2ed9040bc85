"""What a table and a fitted model give as plain numbers, whatever kind they are of."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from unskew.data.validation import part_of, plain_array


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


def table_of_numbers(X: Any) -> Any:
    """The table as a forest takes it, missing values as they are and words by their place in the alphabet.

    Dates and durations are counted in their units. None where X is not a table.
    """
    X = plain_array(X)
    X = X if hasattr(X, "shape") else np.asarray(X)
    if len(X.shape) < 2:
        return None
    try:
        return _numeric_features(X)
    except (TypeError, ValueError):
        columns = (part_of(X, [number], axis=1) for number in range(X.shape[1]))
        return np.hstack([_column_of_numbers(each) for each in columns])


def _column_of_numbers(column: Any) -> np.ndarray:
    try:
        return np.asarray(_numeric_features(column))
    except (TypeError, ValueError):
        words = np.asarray(column, dtype=object).astype(str)
        return np.unique(words, return_inverse=True)[1].reshape(-1, 1)


def _numeric_features(X: Any) -> Any:
    checked = check_array(X, accept_sparse="csr", ensure_all_finite="allow-nan", allow_nd=True)
    if checked.dtype.kind in "mM":  # numpy does not count these as numbers
        return np.where(np.isnat(checked), np.nan, checked.astype(np.float64))
    return checked.astype(np.float64) if checked.dtype == object else checked  # a frame of mixed columns


def complete_features(X: Any) -> Any:
    """The table as numbers without gaps: a missing value is the mean of its column, and marked in a column beside."""
    table = table_of_numbers(X)
    if table is None:
        raise ValueError(
            "X must be a table or images, so that the probability of being positive can be learned from its columns, "
            f"but it is a {type(X).__name__}. Turn it into a table of numbers first."
        )
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
