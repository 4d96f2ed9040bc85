"""Scores that are sums over features: what each adds is known at once."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unskew.explaining._columns import Columns

Contributions = Callable[[np.ndarray], np.ndarray]
"""From rows of shape (n, n_features) to what each column adds to their score, shape (n, n_columns)."""


@dataclass(frozen=True)
class Additive:
    """A weighted sum of numbers, each of which is a function of one feature.

    Attributes
    ----------
    numbers : callable
        From rows of shape (n, n_features) to numbers of shape (n, n_numbers).
    weight : array of shape (n_numbers,)
    source : array of int, shape (n_numbers,)
        The feature that each number is a function of.
    """

    numbers: Callable[[np.ndarray], np.ndarray]
    weight: np.ndarray
    source: np.ndarray

    def against(self, background: np.ndarray, columns: Columns) -> Contributions:
        r"""Contributions against the mean of the background.

        .. math:: \varphi_c(x) = \sum_{f \in c} w_f \Big(z_f(x) - \frac1B \sum_b z_f(b)\Big)

        Implements: Eq. (E2).
        """
        center = self.numbers(background).mean(axis=0)
        return lambda X: columns.summed((self.numbers(X) - center) * self.weight, self.source)
