"""Means over priors and seeds, tests between them, their distance from published means, and which lack runs."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.05
"""Entries that differ from the best of their row at this level are not bold (Table 1)."""
PAPER_RUNS = 40
"""Runs behind each of the paper's means: four priors, ten seeds."""
_ROUNDING = 1e-12
_DAGGER = "†"

Run = tuple[float, int]
"""Prior and seed, which runs of two methods on the same draw share."""


@dataclass(frozen=True)
class Mean:
    """Mean over the priors of the means over seeds."""

    value: float
    std: float  # of the runs, each prior counting the same; NaN for a single run
    counts: Mapping[float, int]  # of runs, at each prior that was wanted

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
    """Mean of the runs at these priors; None without runs.

    Means are taken within each prior first, so that a prior with more runs does not count for more.

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


@dataclass(frozen=True)
class Difference:
    """Mean of paired differences, as that of `Mean`, and its standard error."""

    mean: Mean
    error: float  # NaN where no prior has two runs


def paired_difference(
    first: Mapping[Run, float], second: Mapping[Run, float], priors: Sequence[float]
) -> Difference | None:
    """First minus second over the runs that both have; None without any.

    The standard error counts only the spread within priors, which are the same in both, with one variance for all.

    Examples
    --------
    >>> first, second = {(0.1, 0): 0.6, (0.1, 1): 0.8, (0.2, 0): 0.9}, {(0.1, 0): 0.5, (0.1, 1): 0.6, (0.2, 0): 0.8}
    >>> found = paired_difference(first, second, [0.1, 0.2])
    >>> round(found.mean.value, 4), round(found.error, 4), found.mean.n
    (0.125, 0.0433, 3)
    """
    differences = {run: first[run] - second[run] for run in sorted(first.keys() & second.keys())}
    mean = mean_of(differences, priors)
    if mean is None:
        return None
    groups = [np.array([each for (at, _), each in differences.items() if at == prior]) for prior in priors]
    filled = [group for group in groups if len(group)]
    freedom = mean.n - len(filled)
    squares = sum(float(((group - group.mean()) ** 2).sum()) for group in filled)
    variance = squares / freedom if freedom else math.nan
    return Difference(mean, math.sqrt(variance * sum(1 / len(group) for group in filled)) / len(filled))


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
    if np.ptp(difference) < _ROUNDING:  # always better by the same amount, for which t is not defined
        return 0.0
    return float(stats.ttest_rel([first[run] for run in shared], [second[run] for run in shared]).pvalue)


@dataclass(frozen=True)
class Standing:
    """Which of several results belong to the best."""

    bold: tuple[bool, ...]  # the best, and those that do not differ from it significantly
    untested: tuple[bool, ...]  # those that share fewer than two runs with the best


def standing(results: Sequence[Mapping[Run, float]], priors: Sequence[float]) -> Standing:
    """Compare the results of a row with its best one."""
    means = [mean_of(each, priors) for each in results]
    present = {place: mean for place, mean in enumerate(means) if mean}
    # A mean over some of the priors is one of easier or harder problems; it counts only where all lack priors.
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
    """Difference from the paper's mean in standard errors of the difference; None where priors or a deviation lack.

    `paper` is a mean over `PAPER_RUNS` runs, with the deviation `paper_std`; ours is used where that is not published.

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


def most_seeds(means: Iterable[Mean | None]) -> int:
    """Seeds at the prior that has the most."""
    return max((count for mean in means if mean for count in mean.counts.values()), default=0)


def mark_of(mean: Mean, seeds: int) -> str:
    """A dagger where not every prior has that many seeds."""
    return _DAGGER if any(count != seeds for count in mean.counts.values()) else ""


def partial_notes(lines: Mapping[str, Mapping[str, Mean | None]]) -> list[str]:
    """A sentence for each kind of incomplete entry, with the lines and columns where it occurs."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for title, means in lines.items():
        seeds = most_seeds(means.values())
        lacks: dict[str, list[str]] = {}
        for column, mean in means.items():
            if mean and mark_of(mean, seeds):
                lacks.setdefault(_missing_runs(mean, seeds), []).append(column)
        for lack, columns in lacks.items():
            kinds.setdefault((lack, ", ".join(columns)), []).append(title)
    return [
        f"{_DAGGER} {'all lines' if 1 < len(titles) == len(lines) else '; '.join(titles)} ({columns}): {lack}."
        for (lack, columns), titles in kinds.items()
    ]


def _missing_runs(mean: Mean, seeds: int) -> str:
    text = f"{mean.n} of {seeds * len(mean.counts)} runs"
    missing = ", ".join(format(prior, "g") for prior in mean.missing)
    return f"{text}, none at prior {missing}" if missing else text
