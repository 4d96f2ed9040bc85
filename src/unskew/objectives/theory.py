"""What the paper's analysis bounds, as functions of numbers (Appendix B).

What does a wrong labeling probability cost, in risk (Prop. B.2) and in the order of two instances? And what does a
finite sample cost when the score function is chosen from finitely many (Theorem B.4)? An AUC risk lies in [0, 1]: a
bound of 1 or more is true and says nothing.

Parameters that several functions share:

- `max_error` >= 0 and `max_relative_error` in [0, 1), Eq. (51): bounds on the error of the labeling probability;
- `lower_bound` in (0, 1]: what no estimate of it falls below, the clip;
- `optimization_error` >= 0: how far the minimization stopped above the smallest estimated risk;
- `prior` in (0, 1), `label_freq` in (0, 1] and `alpha` in (0, 1): the shares of positives among all, of labeled among
  the positives, and of labeled among all;
- `n_labeled` >= 2 and `n_unlabeled` >= 1: sizes of the sample;
- `n_candidates` >= 1: score functions times labeling probabilities to choose from;
- `failure_prob` in (0, 1): probability that the sample is one for which the bound does not hold;
- `alpha_error` >= 0: error of the alpha in the estimator, by default that of the sample's share.
"""

import math
from collections.abc import Callable

import numpy as np

# Conditions are written so that NaN fails them.
_RULES: dict[str, tuple[str, Callable[[float], bool]]] = {
    **dict.fromkeys(("prior", "alpha", "failure_prob"), ("in (0, 1)", lambda x: 0 < x < 1)),
    "label_freq": ("in (0, 1]", lambda x: 0 < x <= 1),
    "lower_bound": ("in (0, 1], as a labeling probability is", lambda x: 0 < x <= 1),
    "max_relative_error": ("in [0, 1), because an estimate that may be zero guarantees nothing", lambda x: 0 <= x < 1),
    "n_labeled": ("at least 2, because Eq. (17) has a mean over pairs of labeled instances", lambda x: x >= 2),
    **dict.fromkeys(("n_unlabeled", "n_candidates"), ("at least 1", lambda x: x >= 1)),
    **dict.fromkeys(
        ("max_error", "max_confidence_error", "optimization_error", "alpha_error"), ("at least 0", lambda x: x >= 0)
    ),
}


def _check(**parameters: float) -> None:
    for name, value in parameters.items():
        must, holds = _RULES[name]
        if not holds(value):
            raise ValueError(f"{name} must be {must}, but it is {value}.")


def labeling_error_bound(max_error: float, lower_bound: float, prior: float) -> float:
    r"""Largest change of the AUC risk when the labeling probability is wrong by at most `max_error`.

    .. math:: \sup_s |R(s; \hat u) - R(s; u)| \le \frac{\epsilon}{(1 - \pi) \delta}

    Implements: Eq. (40).

    Examples
    --------
    >>> labeling_error_bound(max_error=0.125, lower_bound=0.25, prior=0.5)
    1.0
    """
    _check(max_error=max_error, lower_bound=lower_bound, prior=prior)
    return max_error / ((1 - prior) * lower_bound)


def labeling_excess_risk_bound(
    max_error: float, lower_bound: float, prior: float, optimization_error: float = 0.0
) -> float:
    r"""AUC risk lost at most by minimizing with the estimated labeling probability instead of the true one.

    .. math::
        R(\hat s; u) - \inf_s R(s; u) \le \frac{2 \epsilon}{(1 - \pi) \delta} + \xi, \qquad
        R(\hat s; \hat u) \le \inf_s R(s; \hat u) + \xi

    Implements: Eq. (42). As the paper states it; half of its first term is enough, because the proof bounds the change
    of the risk at two score functions one by one, and the difference of their losses still lies in [-1, 1].

    Examples
    --------
    >>> labeling_excess_risk_bound(max_error=0.125, lower_bound=0.25, prior=0.5, optimization_error=0.5)
    2.5
    """
    _check(optimization_error=optimization_error)
    return 2 * labeling_error_bound(max_error, lower_bound, prior) + optimization_error


def order_preserving_ratio(max_relative_error: float) -> float:
    r"""Ratio of two posteriors beyond which a wrong labeling probability cannot reverse their order.

    .. math:: \frac{\eta(x)}{\eta(\bar x)} > \frac{1 + \rho}{1 - \rho}, \qquad
        \left| \frac{\hat u}{u} - 1 \right| \le \rho

    Implements: Eq. (55). Order means that of the best ranking under the estimate. Only relative errors count here: an
    estimate that is wrong by one factor everywhere keeps all orders.

    Examples
    --------
    >>> order_preserving_ratio(0.5)
    3.0
    """
    _check(max_relative_error=max_relative_error)
    return (1 + max_relative_error) / (1 - max_relative_error)


def guaranteed_order(posterior: np.ndarray, max_relative_error: float) -> np.ndarray:
    r"""Which pairs of instances keep their order, no matter how wrong the labeling probability is within the bound.

    .. math:: \frac{\eta(x)}{1 + \rho} > \frac{\eta(\bar x)}{1 - \rho}

    Implements: Eq. (54), which holds also for a posterior of zero, where the ratio of Eq. (55) has no value.

    Parameters
    ----------
    posterior : array of shape (n,), in [0, 1]

    Returns
    -------
    bool array of shape (n, n)
        True in row i, column j where the best ranking is sure to put instance i above instance j.

    Examples
    --------
    >>> guaranteed_order(np.array([0.9, 0.4, 0.2]), max_relative_error=0.3)
    array([[False,  True,  True],
           [False, False,  True],
           [False, False, False]])
    >>> bool(guaranteed_order(np.array([0.9, 0.4, 0.2]), max_relative_error=0.35)[1, 2])
    False
    """
    _check(max_relative_error=max_relative_error)
    values = np.asarray(posterior, dtype=np.float64)
    outside = ~((values >= 0) & (values <= 1))  # written so that NaN counts as outside
    if outside.any():
        raise ValueError(
            f"posterior must lie in [0, 1], but {int(outside.sum())} of {values.size} entries do not (first: "
            f"{values[outside][0]:g} at position {int(np.flatnonzero(outside)[0])})."
        )
    smallest, largest = values / (1 + max_relative_error), values / (1 - max_relative_error)
    return np.asarray(smallest[:, None] > largest[None, :])


def bracket_deviation_bound(
    n_labeled: int, n_unlabeled: int, *, alpha: float, lower_bound: float, n_candidates: int, failure_prob: float
) -> float:
    r"""Largest distance of the bracket of Eq. (17) from its mean, over all candidates, but for `failure_prob`.

    .. math::
        B = \frac{1}{\delta} \left[ \alpha \sqrt{\frac{2 \log(4 K / \tau)}{N^p}}
        + (1 - \alpha) \sqrt{\frac{\log(4 K / \tau)}{2} \left( \frac{1}{N^p} + \frac{1}{N} \right)} \right]

    Implements: Eq. (65). The bracket is taken with the true alpha; `risk_deviation_bound` adds that alpha is estimated.

    Examples
    --------
    >>> sizes = {"alpha": 0.2, "lower_bound": 0.1, "n_candidates": 10, "failure_prob": 0.05}
    >>> round(bracket_deviation_bound(1_000, 4_000, **sizes), 2)
    0.75
    >>> round(bracket_deviation_bound(100_000, 400_000, **sizes), 3)  # a hundred times the data, a tenth
    0.075
    """
    _check(n_labeled=n_labeled, n_unlabeled=n_unlabeled, alpha=alpha, lower_bound=lower_bound)
    _check(n_candidates=n_candidates, failure_prob=failure_prob)
    log_term = math.log(4 * n_candidates / failure_prob)
    labeled_pairs = math.sqrt(2 * log_term / n_labeled)
    mixed_pairs = math.sqrt(log_term / 2 * (1 / n_labeled + 1 / n_unlabeled))
    return (alpha * labeled_pairs + (1 - alpha) * mixed_pairs) / lower_bound


def labeled_share_error(n_labeled: int, n_unlabeled: int, alpha: float) -> float:
    r"""Distance of the share of labeled instances in the sample from that in the population.

    .. math:: \epsilon_\alpha = |\hat\alpha - \alpha|, \qquad \hat\alpha = \frac{N^p}{N^p + N}

    Implements: Eq. (72).

    Examples
    --------
    >>> labeled_share_error(n_labeled=2, n_unlabeled=6, alpha=0.5)
    0.25
    """
    _check(n_labeled=n_labeled, n_unlabeled=n_unlabeled, alpha=alpha)
    return abs(n_labeled / (n_labeled + n_unlabeled) - alpha)


def risk_deviation_bound(
    n_labeled: int,
    n_unlabeled: int,
    *,
    prior: float,
    label_freq: float,
    lower_bound: float,
    n_candidates: int,
    failure_prob: float,
    alpha_error: float | None = None,
) -> float:
    r"""Largest distance of the estimated AUC risk from its mean, over all candidates, but for `failure_prob`.

    .. math:: \Gamma = \frac{c}{1 - \pi} \left[ B + \frac{\epsilon_\alpha}{\delta} \right]

    Implements: Eq. (77). B is `bracket_deviation_bound` with alpha = c pi; see also `labeled_share_error`.

    Examples
    --------
    >>> from unskew import theory
    >>> known = dict(prior=0.1, label_freq=0.5, lower_bound=0.1, n_candidates=10, failure_prob=0.05)
    >>> theory.risk_deviation_bound(1000, 10_000, **known) < theory.risk_deviation_bound(100, 1000, **known)
    True
    """
    _check(prior=prior, label_freq=label_freq)
    n, alpha = (n_labeled, n_unlabeled), label_freq * prior
    bracket = bracket_deviation_bound(
        *n, alpha=alpha, lower_bound=lower_bound, n_candidates=n_candidates, failure_prob=failure_prob
    )
    alpha_error = labeled_share_error(*n, alpha) if alpha_error is None else alpha_error
    _check(alpha_error=alpha_error)
    return label_freq / (1 - prior) * (bracket + alpha_error / lower_bound)


def excess_risk_bound(
    n_labeled: int,
    n_unlabeled: int,
    *,
    prior: float,
    label_freq: float,
    lower_bound: float,
    n_candidates: int,
    failure_prob: float,
    alpha_error: float | None = None,
    max_confidence_error: float = 0.0,
    max_error: float = 0.0,
    optimization_error: float = 0.0,
) -> float:
    r"""AUC risk of the learned score above the best candidate's at most, but for `failure_prob`.

    .. math::
        R(\hat s) - \inf_{s \in S} R(s) \le 2 \Gamma + \frac{2 (c \epsilon_r + \epsilon_u)}{(1 - \pi) \delta} + \xi

    Implements: Eq. (82). As the paper states it, for finitely many candidates; half of the term with the errors of
    confidence and labeling probability is enough, as in Eq. (42). `max_confidence_error` >= 0 bounds the error of the
    confidence as an estimate of the posterior.

    Examples
    --------
    Sizes of the paper's experiments: with nothing else wrong and a single candidate the bound still says nothing.

    >>> paper = {"prior": 0.05, "label_freq": 0.1, "lower_bound": 0.01, "n_candidates": 1, "failure_prob": 0.05}
    >>> round(excess_risk_bound(25, 4_975, **paper), 1)
    6.3
    """
    _check(max_confidence_error=max_confidence_error, max_error=max_error)
    deviation = risk_deviation_bound(
        n_labeled,
        n_unlabeled,
        prior=prior,
        label_freq=label_freq,
        lower_bound=lower_bound,
        n_candidates=n_candidates,
        failure_prob=failure_prob,
        alpha_error=alpha_error,
    )
    # An error of the confidence costs as much as one of the labeling probability c times as large.
    both_errors = label_freq * max_confidence_error + max_error
    return 2 * deviation + labeling_excess_risk_bound(both_errors, lower_bound, prior, optimization_error)
