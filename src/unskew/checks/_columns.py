"""The columns of a table as numbers, one at a time, whatever form the table is in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from unskew._support.text import number_in_words

if TYPE_CHECKING:  # reading files needs polars, which arrays do without
    from unskew.tables import Column, Schema

MOST_LABELED, MOST_UNLABELED = 50_000, 100_000
"""Rows that columns are checked on, at most: what is found on so many is found on all."""


@dataclass(frozen=True)
class Values:
    """One column of the rows that are checked.

    Attributes
    ----------
    kind : {"numeric", "boolean", "categorical", "date"}
    numbers : float64 array of shape (n,)
        NaN where missing; of a categorical column, the number of the category; dates in days.
    in_words : function
        A number as people write it.
    """

    name: str
    kind: str
    numbers: np.ndarray
    in_words: Callable[[float], str]
    n_categories: int = 0


@dataclass(frozen=True)
class Checked:
    """The rows of a table that are checked: all, or of many some that are drawn at random.

    Attributes
    ----------
    rows : int array of shape (n,)
        Their numbers, from 0, ascending.
    labeled : bool array of shape (n,)
    confidence : float64 array of shape (n,) or None
    n_labeled, n_unlabeled : int
        Rows of the whole table.
    features : array, sparse matrix, rows in compact form
    schema : Schema or None
        What the features mean; without one, each is a column of numbers.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([1, 0, 0])
    >>> checked = Checked.of(X, y, None, None)
    >>> checked.n_labeled, checked.n_unlabeled
    (1, 2)
    """

    rows: np.ndarray
    labeled: np.ndarray
    confidence: np.ndarray | None
    n_labeled: int
    n_unlabeled: int
    features: Any
    schema: Schema | None
    names: tuple[str, ...]

    @classmethod
    def of(
        cls, X: Any, y: np.ndarray, confidence: np.ndarray | None, schema: Schema | None, names: tuple[str, ...] = ()
    ) -> Checked:
        """Rows of a table; the draw is always the same."""
        kinds = np.flatnonzero(y == 1), np.flatnonzero(y != 1)
        rng = np.random.RandomState(0)
        limits = MOST_LABELED, MOST_UNLABELED
        if all(len(each) <= most for each, most in zip(kinds, limits, strict=True)):
            rows, features = np.arange(len(y)), X
        else:
            drawn = (
                each if len(each) <= most else rng.choice(each, most, replace=False)
                for each, most in zip(kinds, limits, strict=True)
            )
            rows = np.sort(np.concatenate(list(drawn)))
            features = X.part(rows) if hasattr(X, "part") else X[rows]
        if not isinstance(features, np.ndarray) and hasattr(features, "part") and not features.in_memory:
            features = features.part(rows)
        labeled = y[rows] == 1
        sure = None if confidence is None else np.asarray(confidence, dtype=np.float64)[rows]
        names = schema.names if schema is not None else names
        return cls(rows, labeled, sure, len(kinds[0]), len(kinds[1]), features, schema, names)

    def dense(self, rows: np.ndarray) -> np.ndarray:
        """Features of some of these rows as an array."""
        return self.features.take(rows) if hasattr(self.features, "layout") else dense(self.features[rows])

    def features_of(self, columns: tuple[str, ...]) -> np.ndarray:
        """Numbers of the features that were made from these columns."""
        return np.flatnonzero(np.isin(self.names if self.schema is None else self.schema.feature_columns, columns))

    @property
    def n_features(self) -> int:
        """Count of the features."""
        return len(self.names) if self.schema is None else len(self.schema.feature_names)

    @property
    def n_columns(self) -> int:
        """Count of the columns."""
        return len(self.names)

    def columns(self) -> Iterator[Values]:
        """The columns, one after another."""
        if self.schema is None:
            matrix = sparse.csc_array(self.features) if sparse.issparse(self.features) else self.features
            for place, name in enumerate(self.names):
                numbers = dense(matrix[:, [place]]).astype(np.float64).ravel()
                numbers = np.where(np.isfinite(numbers), numbers, np.nan)
                spread = float(np.nanstd(numbers)) if np.isfinite(numbers).any() else 0.0
                yield Values(name, "numeric", numbers, partial(number_in_words, spread=spread))
            return
        of_column = _from_array if isinstance(self.features, np.ndarray) else _from_codes
        for column, numbers in of_column(self.features, self.schema.columns):
            yield Values(column.name, str(column.kind), numbers, partial(_in_words, column), len(column.categories))


def dense(block: Any) -> np.ndarray:
    """Features of some rows as an array."""
    return np.asarray(block.toarray() if sparse.issparse(block) else block)


def _in_words(column: Column, number: float) -> str:
    if column.kind == "categorical":
        return column.in_words(column.categories[int(number)])
    return column.in_words(float(f"{number:.7g}"))  # features hold no more digits


def _from_array(features: np.ndarray, columns: tuple[Column, ...]) -> Iterator[tuple[Column, np.ndarray]]:
    """Values of each column from features that are one-hot and standardized."""
    begin = 0
    for column in columns:
        own = features[:, begin : begin + len(column.feature_names)]
        begin += own.shape[1]
        missing = own[:, -1] == 1 if column.n_missing else np.zeros(len(own), dtype=bool)
        if column.categories:
            marks = own[:, : len(column.categories)]
            code = marks.argmax(axis=1)
            numbers, missing = code.astype(np.float64), missing | ~marks.any(axis=1)
        else:
            numbers = _in_units(column, own[:, 0] if column.varies else np.zeros(len(own)))
        yield column, np.where(missing, np.nan, numbers)


def _from_codes(features: Any, columns: tuple[Column, ...]) -> Iterator[tuple[Column, np.ndarray]]:
    """The same from numbers and codes in compact form."""
    n_numbers = n_codes = 0
    for column in columns:
        numbers = np.zeros(len(features))
        if column.varies:
            numbers = features.numbers[:, n_numbers]
            n_numbers += 1
        if not (column.categories or column.n_missing):
            yield column, _in_units(column, numbers)
            continue
        code = features.codes[:, n_codes]
        n_codes += 1
        if column.categories:
            yield column, np.where(code < len(column.categories), code, np.nan)
        else:
            yield column, np.where(code == 0, np.nan, _in_units(column, numbers))


def _in_units(column: Column, feature: np.ndarray) -> np.ndarray:
    """Numbers of a column as they are in the table, from its standardized feature."""
    feature = feature.astype(np.float64)
    if not column.varies:
        return np.full(len(feature), column.low)
    return feature if column.kind == "boolean" else column.mean + column.std * feature
