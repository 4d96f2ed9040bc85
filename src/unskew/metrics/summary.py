"""Means over repeated runs, and which methods are as good as the best."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import ttest_rel


@dataclass(frozen=True)
class RunSummary:
    """Mean and deviation of a result over all priors and seeds.

    Attributes
    ----------
    mean : float
        Mean of the means of each prior.
    std : float
        Standard deviation over all runs.
    n_runs : int
    """

    mean: float
    std: float
    n_runs: int


def mean_over_priors(runs: Mapping[float, Any]) -> RunSummary:
    """Summarize results by prior, each an array over seeds.

    Examples
    --------
    >>> mean_over_priors({0.05: [0.25, 0.75], 0.1: [0.5, 0.5, 0.5]}).mean
    0.5
    """
    values = np.concatenate([np.asarray(each, dtype=np.float64) for each in runs.values()])
    mean = float(np.mean([np.mean(each) for each in runs.values()]))
    return RunSummary(mean, float(values.std(ddof=1)) if len(values) > 1 else float("nan"), len(values))


def paired_t_test(first: Any, second: Any) -> float:
    """p-value of the two-sided paired t-test that two methods have the same mean over the same runs.

    Differences that are all zero give 1; differences that are all the same and not zero give 0.
    """
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1 or len(first) < 2:
        raise ValueError(
            "a paired t-test needs two results for each of two runs or more, in the same order, but the shapes are "
            f"{first.shape} and {second.shape}."
        )
    difference = first - second
    if np.ptp(difference) == 0:
        return 1.0 if difference[0] == 0 else 0.0
    return float(ttest_rel(first, second).pvalue)


def not_worse_than_best(results: Mapping[str, Any], level: float = 0.05) -> tuple[str, ...]:
    """Names of the methods whose mean does not differ from the best one's at this level: a table's bold figures.

    Examples
    --------
    >>> not_worse_than_best({"a": [0.90, 0.92, 0.91], "b": [0.89, 0.93, 0.90], "c": [0.70, 0.71, 0.72]})
    ('a', 'b')
    """
    best = max(results, key=lambda name: float(np.mean(results[name])))
    return tuple(name for name in results if name == best or paired_t_test(results[best], results[name]) >= level)
