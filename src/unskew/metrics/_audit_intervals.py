"""Intervals for totals of a finite table from a stratified sample, by inverting a test.

A quantity is in the interval if the rows that were checked do not contradict it: its test takes the variance that the
shares of positives would have if the quantity were true, as Wilson's interval does. So a stratum in which no positive
was found does not claim that it has none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.special import stdtrit
from scipy.stats import rankdata

CERTAIN = 1e6
"""Rows that a stratum counts for if all its rows were checked."""
TINY = 1e-9

Ends = tuple[float, float, float]
"""Estimate, low end, high end."""


@dataclass(frozen=True)
class SmallSample:
    """How much is made of two corrections for few rows: of the skewness, and of variances that are too small.

    Chosen so that intervals of 100 rows cover and are not longer than needed, on the first four beds of
    benchmarks/audit_coverage.py; the other four did not take part.
    """

    skew: float
    spread: float


FOR_SHARE, FOR_RECALL, FOR_AUC = SmallSample(0.0, 1.0), SmallSample(0.6, 0.5), SmallSample(1.0, 0.2)


@dataclass(frozen=True)
class Tuning:
    """How much of the model's probabilities is used, and what is left of the variance of each cell."""

    power: float
    left: np.ndarray
    added: np.ndarray


@dataclass(frozen=True)
class Cells:
    """Rows by stratum and side of the cut; all arrays have one entry per row of the table, or per checked row.

    Attributes
    ----------
    cell : int array of shape (n_rows,)
        Cell of each row of the table.
    checked : int array of shape (n,)
        Rows that were checked.
    truth : array of shape (n,)
        Their classes.
    probability : array of shape (n_rows,), or None
        What the model says; it may be wrong.
    """

    cell: np.ndarray
    mate: np.ndarray
    checked: np.ndarray
    truth: np.ndarray
    probability: np.ndarray | None
    score: np.ndarray
    top: np.ndarray
    level: float

    @property
    def count(self) -> int:
        """How many cells there are."""
        return len(self.mate)

    @cached_property
    def size(self) -> np.ndarray:
        """Rows of the table in each cell."""
        return np.bincount(self.cell, minlength=self.count).astype(float)

    @cached_property
    def found(self) -> np.ndarray:
        """Checked rows of each cell."""
        return self.sums(np.ones(len(self.checked)))

    @cached_property
    def n(self) -> np.ndarray:
        """Checked rows, where a cell without any counts as one like the other part of its stratum."""
        return np.asarray(np.maximum(self.found, 1))

    @cached_property
    def share(self) -> np.ndarray:
        """Share of positives among the checked rows of each cell."""
        own = self.sums(self.truth) / self.n
        return np.asarray(np.where(self.found > 0, own, own[self.mate]))

    @cached_property
    def worth(self) -> np.ndarray:
        """Rows drawn with replacement that would say as much, because no row is checked twice."""
        unseen = np.maximum(self.size - self.found, TINY)
        others = np.maximum(self.size - 1, 1)  # a cell of one row that was not checked is worth as much as any row
        return np.where(self.found >= self.size, CERTAIN, np.minimum(CERTAIN, self.n * others / unseen))

    @cached_property
    def rank(self) -> np.ndarray:
        """Rows below each row, ties and the row itself counted one half."""
        return np.asarray(rankdata(self.score) - 0.5)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sums of values of the checked rows, by cell."""
        return np.bincount(self.cell[self.checked], values, minlength=self.count)

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Means of values of all rows, by cell."""
        return np.asarray(np.bincount(self.cell, values, minlength=self.count) / self.size)

    def total(self, slope: np.ndarray, power: float = 0.0) -> float:
        r"""Sum of slope times class over the whole table.

        .. math:: \hat C = \lambda \sum_i c_i m_i + \sum_h \frac{N_h}{n_h} \sum_{i \in S_h} c_i (y_i - \lambda m_i)

        Implements: Eq. (A3).
        """
        residual, known = self.truth.astype(float), 0.0
        if self.probability is not None and power:
            residual = residual - power * self.probability[self.checked]
            known = power * float(slope @ self.probability)
        parts = self.sums(slope[self.checked] * residual) / self.n
        for each in np.flatnonzero(self.found == 0):
            within = self.cell == each
            guess = self.share[each] - (0 if self.probability is None else power * self.probability[within])
            parts[each] = np.mean(slope[within] * guess)
        return float(self.size @ parts) + known

    def tune(self, slope: np.ndarray) -> Tuning:
        """How much of the probabilities makes the variance of a total least; nothing if they do not help.

        The variance is taken to be smaller only in cells where both classes were found: elsewhere nothing shows that
        the probabilities explain anything.
        """
        nothing = Tuning(0.0, np.ones(self.count), np.zeros(self.count))
        if self.probability is None:
            return nothing
        of_truth, of_model = slope[self.checked] * self.truth, (slope * self.probability)[self.checked]
        cell = self.cell[self.checked]
        far, off = (each - (self.sums(each) / self.n)[cell] for each in (of_truth, of_model))
        weight = self.size**2 / self.worth / np.maximum(self.n - 1, 1)
        truth, model, both = (weight * self.sums(each) for each in (far * far, off * off, far * off))
        mixed = (self.share > 0) & (self.share < 1) & (self.found > 1)
        if model.sum() <= 0 or truth[mixed].sum() <= 0:
            return nothing
        power = float(np.clip(both.sum() / model.sum(), 0, 1))
        freedom = float((self.n - 1)[mixed].sum())
        after = truth - 2 * power * both + power**2 * model
        # One degree of freedom is spent, and the power was chosen to make the sum small.
        left = after[mixed].sum() * (freedom + 2) / max(freedom - 1, TINY)
        if left + power**2 * model[~mixed].sum() >= truth[mixed].sum():
            return nothing
        return Tuning(power, np.where(mixed, left / truth[mixed].sum(), 1.0), np.where(mixed, 0.0, power**2 * model))


def shares_under(cells: Cells, slope: np.ndarray, total: float) -> np.ndarray:
    r"""Shares of positives of all cells, most likely given that slopes times positives have this total.

    .. math:: \frac{k_h - n_h p_h}{p_h (1 - p_h)} = \mu N_h \bar c_h, \qquad \sum_h N_h \bar c_h p_h = C_0

    Implements: Eq. (A4).
    """
    pull, n = cells.size * slope, cells.worth
    k = n * cells.share

    def shares(multiplier: float) -> np.ndarray:
        bend = multiplier * pull
        middle = n + bend
        root = np.sqrt(np.maximum(middle**2 - 4 * bend * k, 0))
        negative = middle < 0
        if not negative.any():
            return np.asarray(2 * k / np.maximum(middle + root, 1e-300))
        usual = 2 * k / np.where(negative, 1, np.maximum(middle + root, 1e-300))
        return np.asarray(np.where(negative, (middle - root) / np.where(negative, 2 * bend, 1), usual))

    def excess(multiplier: float) -> float:
        return float(pull @ shares(multiplier)) - total

    at_once = excess(0.0)
    scale = np.abs(pull).max()
    if abs(at_once) <= 1e-12 * np.abs(pull).sum() or scale == 0:
        return shares(0.0)
    near, far = 0.0, float(np.sign(at_once) * n.mean() / scale)
    for _ in range(60):
        if excess(far) * at_once <= 0:
            return shares(brentq(excess, near, far, xtol=abs(far) * 1e-7, rtol=1e-7))
        near, far = far, 4 * far
    return shares(far)  # no shares reach the total: the nearest ones


@dataclass(frozen=True)
class Moments:
    """Means of the slope, its square and its cube over the rows of each cell."""

    first: np.ndarray
    second: np.ndarray
    third: np.ndarray


def contradiction(
    cells: Cells, gap: float, share: np.ndarray, slope: Moments, tuning: Tuning, small: SmallSample = FOR_SHARE
) -> float:
    r"""By how much an estimate that is off by `gap` exceeds what chance explains; at most 0 inside the interval.

    .. math:: |D| / \sqrt{V_0} - \bigl\{t \pm \kappa \gamma_0 (t^2 - 1) / 6\bigr\}

    with the variance :math:`V_0` and the skewness :math:`\gamma_0` of the estimate if the shares were true.

    Implements: Eq. (A5).
    """
    own = _spread(share, slope)
    # Shares that were estimated from n rows vary less than true ones, by one part in n.
    own = own + small.spread * _spread(cells.share, slope) / np.maximum(cells.n - 1, 1)
    variance = float(np.sum(cells.size**2 / cells.worth * own * tuning.left + tuning.added))
    variance = max(variance, 1e-30)
    limit = float(stdtrit(max(2, len(cells.checked) - cells.count), (1 + cells.level) / 2))
    third = share * slope.third - 3 * share**2 * slope.first * slope.second + 2 * (share * slope.first) ** 3
    unseen = np.maximum(1 - cells.n / cells.size, 0)
    cubes = cells.size**3 / cells.n**2 * unseen * (2 * unseen - 1) * third * tuning.left**1.5
    shift = small.skew * float(cubes.sum()) / variance**1.5 * (limit**2 - 1) / 6
    return float(abs(gap) / np.sqrt(variance) - limit - np.sign(gap) * np.clip(shift, -limit / 2, limit / 2))


def _spread(share: np.ndarray, slope: Moments) -> np.ndarray:
    """Variance of slope times class of one row of each cell."""
    return np.asarray(np.maximum(share * slope.second - (share * slope.first) ** 2, 0))


def interval(value: float, excess: Callable[[float], float]) -> Ends:
    """A share, and the ends of the interval where `excess` is at most 0."""
    ends = []
    for end in (0.0, 1.0):
        inside = abs(end - TINY)
        if abs(value - end) < 1e-7 or excess(inside) <= 0:
            ends.append(end)
        elif excess(value) >= 0:
            ends.append(value)
        else:
            ends.append(float(brentq(excess, value, inside, xtol=1e-5)))
    return value, ends[0], ends[1]
