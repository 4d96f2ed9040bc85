"""What a table and a fitted model give as plain numbers, whatever kind they are of."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, column_or_1d

from unskew.data.frames import frame_of_words, learn_schema, needs_schema
from unskew.data.validation import plain_array


def finite_scores(score: Any) -> np.ndarray:
    """Scores of rows, one number each; ValueError names the first that is not finite."""
    checked: np.ndarray = np.asarray(column_or_1d(plain_array(score)), dtype=np.float64)
    if not np.isfinite(checked).all():
        row = int(np.flatnonzero(~np.isfinite(checked))[0])
        raise ValueError(f"score must be finite everywhere, but it is {checked[row]} at row {row}. Score it again.")
    return checked


def probabilities_of_rows(probability: Any, score: np.ndarray) -> np.ndarray:
    prob: np.ndarray = np.asarray(column_or_1d(plain_array(probability)), dtype=np.float64)
    check_consistent_length(prob, score)
    outside = ~((prob >= 0) & (prob <= 1))
    if outside.any():
        row = int(outside.argmax())
        raise ValueError(
            f"probability must lie in [0, 1] everywhere, but it is {prob[row]} at row {row}. Pass probabilities, not "
            "scores, or None."
        )
    return prob


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

    Words, dates and missing values of a data frame, and words of an array, are encoded by a schema, as a ranker that is
    fitted on it encodes them. In an array of numbers a missing one is the mean of its column, and marked in a column
    beside; dates and durations are counted in their units.
    """
    X = _with_shape(X)
    if not is_table(X):
        raise ValueError(
            "X must be a table or images, so that the probability of being positive can be learned from its columns, "
            f"but it is a {type(X).__name__}. Turn it into a table of numbers first."
        )
    if needs_schema(X):
        return learn_schema(X)[1].astype(np.float64)
    try:
        return _without_gaps(_numeric_features(X))
    except (TypeError, ValueError):
        if getattr(X, "ndim", 0) != 2 or getattr(getattr(X, "dtype", None), "kind", "") not in "OUST":
            raise  # an infinite number, for one, is not a word
        return learn_schema(frame_of_words(X))[1].astype(np.float64)


def _with_shape(X: Any) -> Any:
    X = plain_array(X)
    return X if hasattr(X, "shape") else np.asarray(X)


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
