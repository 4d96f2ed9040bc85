"""Means over priors and seeds, the paired test behind bold entries, and the distance from a published mean."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.05
"""Entries that differ from the best of their row at this level are not bold (Table 1)."""
PAPER_RUNS = 40
"""Runs behind each of the paper's means: four priors, ten seeds."""
_ROUNDING = 1e-12

Run = tuple[float, int]
"""Prior and seed: what runs of two methods on the same draw have in common."""


@dataclass(frozen=True)
class Mean:
    """Mean over priors and seeds.

    Attributes
    ----------
    value : float
        Mean over the priors of the means over seeds.
    std : float
        Standard deviation of the runs, each prior counting the same; NaN for a single run.
    counts : mapping of float to int
        Number of runs at each prior that was wanted.
    """

    value: float
    std: float
    counts: Mapping[float, int]

    @property
    def n(self) -> int:
        """Number of runs."""
        return sum(self.counts.values())

    @property
    def error(self) -> float:
        """Standard error."""
        return self.std / math.sqrt(self.n)

    @property
    def missing(self) -> tuple[float, ...]:
        """Priors without a run."""
        return tuple(prior for prior, count in self.counts.items() if not count)


def mean_of(values: Mapping[Run, float], priors: Sequence[float]) -> Mean | None:
    """Mean of the runs at these priors; None if there are none.

    Means are taken within each prior first: a prior that has more runs than another must not count for more.

    Examples
    --------
    >>> mean = mean_of({(0.1, 0): 0.6, (0.1, 1): 0.8, (0.2, 0): 0.9}, [0.1, 0.2, 0.3])
    >>> round(mean.value, 4), mean.n, mean.missing
    (0.8, 3, (0.3,))
    """
    groups = {prior: [value for (at, _), value in values.items() if at == prior] for prior in priors}
    counts = {prior: len(group) for prior, group in groups.items()}
    filled = [np.asarray(group, float) for group in groups.values() if group]
    if not filled:
        return None
    value = float(np.mean([group.mean() for group in filled]))
    n = sum(counts.values())
    variance = np.mean([np.mean((group - value) ** 2) for group in filled]) * n / (n - 1) if n > 1 else math.nan
    return Mean(value, math.sqrt(variance), counts)


def paired_p_value(first: Mapping[Run, float], second: Mapping[Run, float]) -> float | None:
    """p-value of the paired t-test over the runs that both have; None if there are fewer than two.

    Examples
    --------
    >>> paired_p_value({(0.1, 0): 0.7, (0.1, 1): 0.8}, {(0.1, 0): 0.7, (0.1, 1): 0.8})
    1.0
    """
    shared = sorted(first.keys() & second.keys())
    if len(shared) < 2:
        return None
    difference = np.array([first[run] - second[run] for run in shared])
    if np.abs(difference).max() < _ROUNDING:  # identical results are not different
        return 1.0
    if np.ptp(difference) < _ROUNDING:  # always better by the same: no doubt, and no t either
        return 0.0
    return float(stats.ttest_rel([first[run] for run in shared], [second[run] for run in shared]).pvalue)


@dataclass(frozen=True)
class Standing:
    """Which of several results belong to the best.

    Attributes
    ----------
    bold : tuple of bool
        The best, and those that do not differ from it significantly.
    untested : tuple of bool
        Those that share fewer than two runs with the best, so that nothing can be said.
    """

    bold: tuple[bool, ...]
    untested: tuple[bool, ...]


def standing(results: Sequence[Mapping[Run, float]], priors: Sequence[float]) -> Standing:
    """Compare the results of a row with its best one."""
    means = [mean_of(each, priors) for each in results]
    present = {place: mean for place, mean in enumerate(means) if mean}
    # A mean over fewer priors is one of easier or harder problems: it is the best only where all are like that.
    whole = {place: mean for place, mean in present.items() if not mean.missing} or present
    if not whole:
        return Standing((False,) * len(means), (False,) * len(means))
    best = max(whole, key=lambda place: whole[place].value)
    p_values = [paired_p_value(results[best], each) for each in results]
    return Standing(
        bold=tuple(place == best or (p is not None and p >= LEVEL) for place, p in enumerate(p_values)),
        untested=tuple(place in present and place != best and p is None for place, p in enumerate(p_values)),
    )


def standard_errors_apart(ours: Mean, paper: float, paper_std: float | None) -> float | None:
    """Difference from the paper's mean in standard errors of the difference; None where it means nothing.

    Parameters
    ----------
    ours : Mean
    paper : float
        Mean over `PAPER_RUNS` runs.
    paper_std : float or None
        Standard deviation of these; where it was not published ours takes its place.

    Examples
    --------
    >>> ours = Mean(0.91, 0.02, {0.1: 20, 0.2: 20})
    >>> round(standard_errors_apart(ours, 0.90, 0.02), 3)
    2.236
    """
    if ours.missing or not ours.std > 0:
        return None
    theirs = ours.std if paper_std is None else paper_std
    return (ours.value - paper) / math.sqrt(ours.std**2 / ours.n + theirs**2 / PAPER_RUNS)
