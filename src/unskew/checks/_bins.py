"""The values of a column in bins, with the rows that fall into each, and bounds on shares."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import beta

from unskew.checks._columns import Values

MOST_DISTINCT = 64
"""Up to so many different numbers, each is a bin of its own."""
LEVELS = 32
LABELED_PER_BIN = 8
LEVEL = 0.95


@dataclass(frozen=True)
class Bins:
    """Bins of a column, the missing values in the last one.

    Attributes
    ----------
    codes : int array of shape (n,)
        Bin of each row.
    edges : float array
        Where bins of numbers begin, but for the first, which has no lower end.
    values : float array or None
        The one value of each bin, where bins are single values.
    """

    codes: np.ndarray
    n_bins: int
    edges: np.ndarray
    values: np.ndarray | None

    @property
    def missing(self) -> int:
        """Number of the bin of missing values."""
        return self.n_bins - 1

    @cached_property
    def used(self) -> np.ndarray:
        """Numbers of the bins that are not empty."""
        return np.unique(self.codes)

    def count(self, rows: np.ndarray) -> np.ndarray:
        """Rows in each bin, of those that are marked."""
        return np.bincount(self.codes[rows], minlength=self.n_bins)


def bins_of(column: Values, labeled: np.ndarray) -> Bins:
    """Bins that are fine where many rows are, and end where the labeled rows end."""
    present = ~np.isnan(column.numbers)
    known = column.numbers[present]
    if column.kind == "categorical":
        n_categories = int(known.max()) + 1 if len(known) else 0
        return _single_values(column.numbers, present, np.arange(n_categories, dtype=np.float64))
    values = _few_distinct(known)
    if values is not None:
        return _single_values(column.numbers, present, values)
    own = known[labeled[present]]
    quantiles = np.quantile(known, np.linspace(0, 1, LEVELS + 1)[1:-1], method="lower")
    atoms = np.unique(quantiles[1:][np.diff(quantiles) == 0])
    edges = [quantiles, atoms, np.nextafter(atoms, np.inf)]
    if len(own):
        levels = np.linspace(0, 1, max(1, min(LEVELS, len(own) // LABELED_PER_BIN)) + 1)
        edges += [np.quantile(own, levels[:-1], method="lower"), [np.nextafter(own.max(), np.inf)]]
    begins = np.unique(np.concatenate(edges))
    codes = np.searchsorted(begins, column.numbers, "right")
    codes[~present] = len(begins) + 1
    return Bins(codes, len(begins) + 2, begins, None)


def _few_distinct(known: np.ndarray) -> np.ndarray | None:
    """The different values, where there are few."""
    if len(np.unique(known[:1000])) > MOST_DISTINCT:
        return None
    distinct = np.unique(known)
    return distinct if len(distinct) <= MOST_DISTINCT else None


def _single_values(numbers: np.ndarray, present: np.ndarray, values: np.ndarray) -> Bins:
    codes = np.full(len(numbers), len(values))
    codes[present] = np.searchsorted(values, numbers[present])
    return Bins(codes, len(values) + 1, values[1:], values)


def at_most(count: float, total: float, level: float = LEVEL) -> float:
    """Upper bound of a share of which `count` of `total` are known (Clopper and Pearson, one-sided).

    Examples
    --------
    >>> round(at_most(0, 30), 3)
    0.095
    """
    return 1.0 if count >= total else float(beta.ppf(level, count + 1, total - count))


def at_least(count: float, total: float, level: float = LEVEL) -> float:
    """Lower bound of a share of which `count` of `total` are known (Clopper and Pearson, one-sided).

    Examples
    --------
    >>> round(at_least(30, 30), 3)
    0.905
    """
    return 1 - at_most(total - count, total, level)
