"""Functions of which nothing is known: all coalitions of a few columns, or orders of columns at random."""

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial

import numpy as np

from unskew.explaining._columns import Columns

BLOCK_NUMBERS = 4_000_000
"""Numbers in the rows that are made up at once, about."""
Function = Callable[[np.ndarray], np.ndarray]
"""From rows of shape (n, n_features) to scores of shape (n,)."""


@dataclass(frozen=True)
class Sampled:
    """Contributions of the columns to any function of the row, against background rows.

    Attributes
    ----------
    function : callable
    background : array of shape (n_background, n_features)
    at_background : array of shape (n_background,)
        Values of the function there.
    columns : Columns
    places : array of shape (n_background, n_pairs, 2, n_columns)
        For each background row some orders, and each beside its reverse: the place of every column. They are the same
        for all rows to explain, so that what a row gets does not depend on the others.
    """

    function: Function
    background: np.ndarray
    at_background: np.ndarray
    columns: Columns
    places: np.ndarray

    @classmethod
    def of(
        cls, function: Function, background: np.ndarray, columns: Columns, n_orders: int, rng: np.random.RandomState
    ) -> "Sampled":
        """Draw the orders."""
        drawn = np.argsort(rng.uniform(size=(len(background), n_orders // 2, len(columns))), axis=-1)
        places = np.stack([drawn, len(columns) - 1 - drawn], axis=2)
        return cls(function, background, function(background), columns, places)

    @property
    def takes_all(self) -> bool:
        """Whether all coalitions are no more work than the orders, so that nothing is left to chance."""
        n_pairs, d = self.places.shape[1], len(self.columns)
        return d <= 1 or 2**d - 2 <= 2 * n_pairs * (d - 1)

    def contributions(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What each column adds for each row, and its standard error; both of shape (n, n_columns)."""
        n_masks = 2 ** len(self.columns) if self.takes_all else self.places[0].size
        size = max(1, BLOCK_NUMBERS // (len(self.background) * n_masks * X.shape[1]))
        found, error = np.empty((len(X), len(self.columns))), np.zeros((len(X), len(self.columns)))
        for begin in range(0, len(X), size):
            block = slice(begin, begin + size)
            if self.takes_all:
                found[block] = self._by_all_coalitions(X[block])
            else:
                found[block], error[block] = self._by_orders(X[block])
        return found, error

    def _by_all_coalitions(self, X: np.ndarray) -> np.ndarray:
        masks = all_coalitions(len(self.columns))
        inner = masks[1:-1][:, self.columns.of_feature]
        rows = np.where(inner, X[:, None, None], self.background[None, :, None]).reshape(-1, X.shape[1])
        values = np.empty((len(X), len(self.background), len(masks)))
        values[..., 1:-1] = self.function(rows).reshape(len(X), len(self.background), -1) if len(rows) else 0
        values[..., 0], values[..., -1] = self.at_background, self.function(X)[:, None]
        return contributions_by_coalitions(values.mean(axis=1), masks)

    def _by_orders(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n_background, n_pairs, _, d = self.places.shape
        places = self.places.reshape(n_background, 2 * n_pairs, d)
        order = np.argsort(places, axis=-1)
        moves = np.take_along_axis(self._differs(X)[:, :, None], order[None], axis=-1)
        count = moves.cumsum(axis=-1, dtype=np.int32)
        arrived = count == count[..., -1:]  # all that differs has been changed: the row itself
        values = np.empty((*moves.shape[:-1], d + 1))
        values[..., 0] = self.at_background[:, None]
        values[..., 1:] = np.where(arrived, self.function(X)[:, None, None, None], 0)
        row, beside, number, step = np.nonzero(moves & ~arrived)
        from_row = places[beside, number][:, self.columns.of_feature] <= step[:, None]
        values[row, beside, number, step + 1] = self.function(np.where(from_row, X[row], self.background[beside]))
        values = _carried_forward(values, moves)
        gains = np.take_along_axis(np.diff(values, axis=-1), places[None], axis=-1)
        return mean_and_error(gains.reshape(len(X), n_background, n_pairs, 2, d).mean(axis=3))

    def _differs(self, X: np.ndarray) -> np.ndarray:
        """Columns in which each row differs from each background row, shape (n, n_background, n_columns)."""
        first, second = X[:, None], self.background[None]
        differs = (first != second) & ~(np.isnan(first) & np.isnan(second))
        if self.columns.one_feature_each:
            return np.asarray(differs)
        flat = differs.reshape(-1, X.shape[1]).astype(np.float32)
        return self.columns.summed(flat).reshape(*differs.shape[:2], -1) > 0


def _carried_forward(values: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """Values along an order, where a step that changes nothing leaves the value as it was."""
    known = np.concatenate([np.ones((*moves.shape[:-1], 1), dtype=bool), moves], axis=-1)
    last = np.maximum.accumulate(np.where(known, np.arange(known.shape[-1], dtype=np.int32), 0), axis=-1)
    return np.take_along_axis(values, last, axis=-1)


def mean_and_error(gains: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Contributions from the gains of each column in each pair of orders, and their standard error.

    With :math:`g_{bi}` the mean gain of a column in an order and its reverse, pair i of m beside background row b,

    .. math::
        \hat\varphi = \frac{1}{Bm} \sum_{b, i} g_{bi}, \qquad
        \mathrm{se}^2 = \frac{1}{B^2} \sum_b \frac{1}{m (m - 1)} \sum_i (g_{bi} - \bar g_b)^2

    Every background row counts the same, so that only the orders are left to chance. Implements: Eq. (E5). `gains` has
    the shape (n, n_background, n_pairs, n_columns).
    """
    n_background, n_pairs = gains.shape[1:3]
    variance = gains.var(axis=2, ddof=1).sum(axis=1) / (n_pairs * n_background**2)
    return gains.mean(axis=(1, 2)), np.sqrt(variance)


def all_coalitions(n_columns: int) -> np.ndarray:
    """All sets of columns as masks, shape (2^n_columns, n_columns): the first is empty, the last has all."""
    return (np.arange(1 << n_columns)[:, None] >> np.arange(n_columns) & 1).astype(bool)


def contributions_by_coalitions(values: np.ndarray, masks: np.ndarray) -> np.ndarray:
    r"""Shapley values from the values of all coalitions, those of `all_coalitions`.

    .. math:: \varphi_c = \sum_{S \not\ni c} \frac{|S|!\, (d - |S| - 1)!}{d!} \big(v(S \cup c) - v(S)\big)

    Implements: Eq. (E1). `values` has shape (n, 2^d), the result (n, d).
    """
    d = masks.shape[1]
    size = masks.sum(axis=1)
    weight = np.array([factorial(s) * factorial(d - s - 1) / factorial(d) for s in range(d)])
    joined, without = weight[np.maximum(size - 1, 0)], -weight[np.minimum(size, d - 1)]
    return np.asarray(values @ np.where(masks, joined[:, None], without[:, None]))
