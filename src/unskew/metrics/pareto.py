"""How heavy the tail of some weights is: the check of Pareto smoothed importance sampling."""

from dataclasses import dataclass

import numpy as np

LEAST_TAIL = 5
"""Fewest large weights that a tail is judged by, as in Pareto smoothed importance sampling."""


@dataclass(frozen=True)
class ParetoTail:
    """Shape k of a generalized Pareto tail, and how many weights it was fitted to."""

    shape: float
    n_tail: int


def pareto_tail(weight: np.ndarray) -> ParetoTail | None:
    """Shape of the tail of the largest weights, k-hat; None where they are too few.

    Means of the weights have a finite variance for k < 1/2, and are hopeless in practice above 0.7. The tail holds the
    largest fifth, or 3 sqrt(n) if that is fewer. Largest weights that are all equal have no tail, and k is -infinity.

    References
    ----------
    Vehtari, Simpson, Gelman, Yao, Gabry. Pareto smoothed importance sampling. JMLR 25 (2024).

    Examples
    --------
    >>> weight = np.random.RandomState(2).pareto(2.0, 100_000)  # k = 1/2
    >>> round(pareto_tail(weight).shape, 1)
    0.5
    """
    ordered = np.sort(np.asarray(weight, dtype=np.float64))
    n_tail = int(min(0.2 * len(ordered), 3 * np.sqrt(len(ordered))))
    if n_tail < LEAST_TAIL:
        return None
    excess = ordered[-n_tail:] - ordered[-n_tail - 1]
    above = excess[excess > 1e-12 * ordered[-1]]  # ties with the cut are no part of the tail
    if len(above) < LEAST_TAIL or np.ptp(above) <= 1e-9 * above[-1]:
        return ParetoTail(float("-inf"), n_tail)
    return ParetoTail(fit_pareto_shape(above), n_tail)


def fit_pareto_shape(excess: np.ndarray) -> float:
    r"""Shape k of the generalized Pareto law of positive excesses, drawn a little towards 1/2 where they are few.

    The likelihood of :math:`\theta = -k / \sigma` is averaged over a grid; :math:`k = \frac1n \sum_i \log(1 - \theta
    x_i)` then follows. The pull towards 1/2 is worth ten excesses.

    References
    ----------
    Zhang, Stephens. A new and efficient estimation method for the generalized Pareto distribution. Technometrics 51
    (2009).
    """
    x = np.sort(excess)
    n = len(x)
    n_grid = 30 + int(np.sqrt(n))
    quartile = x[int(n / 4 + 0.5) - 1]
    theta = 1 / x[-1] + (1 - np.sqrt(n_grid / (np.arange(1, n_grid + 1) - 0.5))) / (3 * quartile)
    shape = np.log1p(-theta[:, None] * x).mean(axis=1)
    log_likelihood = n * (np.log(-theta / shape) - shape - 1)
    posterior = np.exp(log_likelihood - log_likelihood.max())
    mean_theta = float(posterior @ theta / posterior.sum())
    raw = float(np.log1p(-mean_theta * x).mean())
    return (n * raw + 10 * 0.5) / (n + 10)
