"""Scores that are sums of cosines of the row: products over columns, whose Shapley values are an integral."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unskew.explaining._additive import Contributions
from unskew.explaining._columns import Columns

MOST_WORK = 25_600
"""Waves times columns squared, up to which the integral takes no longer than sampling does, about."""
BLOCK_NUMBERS = 1 << 13
"""Complex numbers worked on at once, about: what they become stays in the cache."""


@dataclass(frozen=True)
class Waves:
    r"""Sum of cosines :math:`\sum_k A_k \cos(a_k^T z(x) + \beta_k)` of numbers, each a function of one feature.

    Attributes
    ----------
    numbers : callable
        From rows of shape (n, n_features) to z, of shape (n, n_numbers).
    source : array of int, shape (n_numbers,)
        The feature that each number is a function of.
    frequencies : array of shape (n_numbers, n_waves)
    phases, amplitudes : arrays of shape (n_waves,)
    """

    numbers: Callable[[np.ndarray], np.ndarray]
    source: np.ndarray
    frequencies: np.ndarray
    phases: np.ndarray
    amplitudes: np.ndarray

    def is_quick(self, n_columns: int) -> bool:
        """Whether exact contributions take no longer than sampled ones."""
        return len(self.phases) * n_columns**2 <= MOST_WORK

    def value(self, X: np.ndarray) -> np.ndarray:
        """The sum itself, shape (n,)."""
        return np.asarray(np.cos(self.numbers(X) @ self.frequencies + self.phases) @ self.amplitudes)

    def against(self, background: np.ndarray, columns: Columns) -> Contributions:
        """Contributions against these rows, each in its turn, by Eq. (E4)."""
        own = columns.of_feature[self.source]
        used = np.unique(own)
        start = self.amplitudes * np.exp(1j * self.phases)
        factors = self._factors(background, own, used)

        def contributions(X: np.ndarray) -> np.ndarray:
            found = np.zeros((len(X), len(columns)))
            size = max(1, BLOCK_NUMBERS // (len(background) * len(start)))
            for begin in range(0, len(X), size):
                block = slice(begin, begin + size)
                found[block, used] = contributions_to_product(self._factors(X[block], own, used), factors, start)
            return found

        return contributions

    def _factors(self, X: np.ndarray, own: np.ndarray, used: np.ndarray) -> list[np.ndarray]:
        """Waves of each column alone, each of shape (n, n_waves)."""
        z = self.numbers(X)
        return [np.exp(1j * (z[:, own == column] @ self.frequencies[own == column])) for column in used]


def contributions_to_product(of_x: list[np.ndarray], of_b: list[np.ndarray], start: np.ndarray) -> np.ndarray:
    r"""Shapley values of the columns in the real part of a sum of products over columns.

    With :math:`p_{ck}` the factor of column c in wave k by the row, and :math:`q_{ck}` by a background row, a coalition
    has the value :math:`\sum_k A_k \prod_{c \in S} p_{ck} \prod_{c \notin S} q_{ck}`. Its multilinear extension along
    the diagonal is a polynomial, which Gauss-Legendre nodes, half as many as columns, integrate exactly:

    .. math::
        \varphi_c = \frac1B \sum_b \Re \sum_k A_k
        \int_0^1 (p_{ck} - q_{ck}) \prod_{c' \ne c} (t p_{c'k} + (1-t) q_{c'k})\, dt

    Implements: Eq. (E4). Factors are arrays of shape (n, n_waves) and (n_background, n_waves), one pair for each
    column; `start` has the complex amplitudes. The result has shape (n, n_columns).
    """
    n_columns, (n_rows, n_background) = len(of_x), (len(of_x[0]), len(of_b[0]))
    found = np.zeros((n_rows, n_columns))
    nodes, weights = np.polynomial.legendre.leggauss((n_columns + 1) // 2)
    for t, weight in zip(((nodes + 1) / 2).tolist(), (weights / 2).tolist(), strict=True):
        mixed = [(t * p)[:, None] + ((1 - t) * q)[None] for p, q in zip(of_x, of_b, strict=True)]
        after = [np.broadcast_to(start, mixed[0].shape)]  # products of what comes after each column, the last first
        for factor in mixed[:0:-1]:
            after.append(after[-1] * factor)
        before = None
        for column, (p, q) in enumerate(zip(of_x, of_b, strict=True)):
            others = after[-1 - column] if before is None else after[-1 - column] * before
            by_row = np.einsum("rk,rk->r", p, others.sum(axis=1))
            by_background = np.einsum("rbk,bk->r", others, q)  # not a matrix product, which would wake other threads
            found[:, column] += weight * (by_row - by_background).real
            before = mixed[column] if before is None else before * mixed[column]
    return found / n_background
