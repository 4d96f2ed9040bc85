r"""The AUC risks: of positives and negatives, and of biased positive-unlabeled data with confidence.

Scores come in as tensors, a scalar tensor goes out. The functions of PU data return the *bracket* of their equation:
the factor in front of it and the constant behind it need the prior and the label frequency, and change no ranking.
`absolute_auc_risk` adds them where they are known.
"""

from functools import lru_cache

import torch
from torch import Tensor

from unskew.objectives.pairs import pair_sum
from unskew.objectives.surrogates import Surrogate, as_surrogate, sigmoid


def pair_mean(
    high: Tensor,
    low: Tensor,
    surrogate: Surrogate,
    *,
    high_weight: Tensor | None = None,
    low_weight: Tensor | None = None,
) -> Tensor:
    r"""Mean over all pairs of :math:`a_n b_m \ell(s_n - s_m)`, n from `high` and m from `low`."""
    total = pair_sum(high, low, surrogate, high_weight=high_weight, low_weight=low_weight)
    return total / (len(high) * len(low))


def distinct_pair_mean(
    score: Tensor, surrogate: Surrogate, *, high_weight: Tensor | None = None, low_weight: Tensor | None = None
) -> Tensor:
    r"""Mean over the pairs n != m of one sample of :math:`a_n b_m \ell(s_n - s_m)`; needs two scores or more."""
    n, no_others = len(score), score[:0]
    total = pair_sum(score, no_others, surrogate, high_weight=high_weight, low_weight=low_weight, high_among_low=True)
    return total / (n * (n - 1))


def pn_auc_risk(positive: Tensor, negative: Tensor, surrogate: str | Surrogate = sigmoid) -> Tensor:
    r"""AUC risk of scored positives and negatives: what could be computed if negatives were known.

    .. math:: \frac{1}{N^p N^n} \sum_{n} \sum_{m} \ell(s(x^p_n) - s(x^n_m))

    Implements: Eq. (4). With the surrogate ``"zero_one"`` it is one minus the AUC.
    """
    return pair_mean(positive, negative, as_surrogate(surrogate))


def confidence_auc_risk(
    labeled: Tensor, unlabeled: Tensor, weight: Tensor, alpha: float, surrogate: str | Surrogate = sigmoid
) -> Tensor:
    r"""AUC risk from biased one-sample PU scores, without the factor c/(1-pi) and the constant.

    .. math::
        \frac{\hat\alpha}{N^p (N^p - 1)} \sum_{n \neq m} w_n \ell(s^p_n - s^p_m)
        + \frac{1 - \hat\alpha}{N^p N} \sum_{n, m} w_n \ell(s^p_n - s_m), \qquad w_n = r_n / \hat u_n

    Implements: Eq. (17). One-sample scenario: `unlabeled` are what labeling left over. Neither the prior nor the label
    frequency is needed to minimize it.

    Parameters
    ----------
    labeled, unlabeled : tensors of shape (n_labeled,) and (n_unlabeled,)
        Scores.
    weight : tensor of shape (n_labeled,), >= 0
        Confidence over labeling probability, see `unskew.weights.inverse_labeling_weight`.
    alpha : float in (0, 1)
        Share of labeled instances in the whole data.
    surrogate : str or Surrogate
        A symmetric one; for the others there is `nonsymmetric_auc_risk`.

    Examples
    --------
    >>> import torch
    >>> score = torch.tensor([2.0, 1.0])
    >>> confidence_auc_risk(score, torch.tensor([0.0]), weight=torch.ones(2), alpha=2 / 3, surrogate="unhinged")
    tensor(0.2500)
    """
    surrogate = _symmetric(surrogate)
    n_labeled, n_unlabeled = labeled.numel(), unlabeled.numel()
    if n_labeled < 2:  # with one labeled score there is no pair of two labeled ones
        return (1 - alpha) * pair_mean(labeled, unlabeled, surrogate, high_weight=weight)
    # Both terms in one sum over everything, p = alpha p^l + (1 - alpha) p^u.
    share_labeled, share_unlabeled = alpha / (n_labeled * (n_labeled - 1)), (1 - alpha) / (n_labeled * n_unlabeled)
    share = _two_levels(n_labeled, n_unlabeled, share_labeled, share_unlabeled, labeled.dtype, labeled.device)
    return pair_sum(labeled, unlabeled, surrogate, high_weight=weight, low_weight=share, high_among_low=True)


def nonsymmetric_auc_risk(
    labeled: Tensor, unlabeled: Tensor, weight: Tensor, alpha: float, surrogate: str | Surrogate
) -> Tensor:
    r"""AUC risk from biased one-sample PU scores for any surrogate, without the factor c/(1-pi).

    .. math::
        \hat\alpha \hat E_{ll}[w_n \ell] + (1 - \hat\alpha) \hat E_{lu}[w_n \ell] - \hat\alpha \hat E_{ll}[w_n w_m \ell]

    Implements: Eq. (102). The last term is the positive-positive term of Eq. (11), which only symmetric surrogates
    turn into a constant. Parameters as in `confidence_auc_risk`.
    """
    surrogate = as_surrogate(surrogate)
    risk = (1 - alpha) * pair_mean(labeled, unlabeled, surrogate, high_weight=weight)
    if len(labeled) > 1:
        # w_n l - w_n w_m l = w_n (1 - w_m) l: the first and the last term are one sum over pairs.
        both = distinct_pair_mean(labeled, surrogate, high_weight=weight, low_weight=1 - weight)
        risk = risk + alpha * both
    return risk


def two_sample_auc_risk(
    labeled: Tensor, unlabeled: Tensor, weight: Tensor, surrogate: str | Surrogate = sigmoid
) -> Tensor:
    r"""AUC risk from biased two-sample PU scores, without the factor c/((1-pi) alpha) and the constant.

    .. math:: \frac{1}{N^p N} \sum_{n, m} w_n \ell(s^p_n - s_m), \qquad w_n = r_n / \hat w_n

    Implements: Eq. (106). Two-sample scenario: `unlabeled` are a sample of everything, drawn apart from the labeled;
    `weight` is confidence over density ratio.
    """
    return pair_mean(labeled, unlabeled, _symmetric(surrogate), high_weight=weight)


def nonsymmetric_two_sample_auc_risk(
    labeled: Tensor, unlabeled: Tensor, weight: Tensor, surrogate: str | Surrogate
) -> Tensor:
    r"""AUC risk from biased two-sample PU scores for any surrogate, without the factor 1/((1-pi) pi).

    .. math:: \hat E_{lu}[w_n \ell] - \hat E_{ll}[w_n w_m \ell]

    The step from Eq. (17) to Eq. (102), taken from Eq. (106): the positive-positive term of Eq. (11) with
    p^p = (r / w) p^l / pi (decision 9).
    """
    surrogate = as_surrogate(surrogate)
    risk = pair_mean(labeled, unlabeled, surrogate, high_weight=weight)
    if len(labeled) > 1:
        risk = risk - distinct_pair_mean(labeled, surrogate, high_weight=weight, low_weight=weight)
    return risk


def absolute_auc_risk(
    bracket: Tensor,
    *,
    prior: float,
    label_freq: float | None = None,
    surrogate: str | Surrogate = sigmoid,
    scenario: str = "one-sample",
) -> Tensor:
    r"""AUC risk itself from the bracket of its PU form, where the prior (and the label frequency) are known.

    .. math:: R = \frac{c}{1 - \pi} L - \frac{\pi}{2 (1 - \pi)}

    Implements: Eq. (16). In the two-sample scenario the factor is 1/((1-pi) pi), because c / alpha = 1 / pi, and
    `label_freq` is not needed. A non-symmetric surrogate has no constant: it is inside its bracket already.
    """
    if scenario == "two-sample":
        factor = 1 / ((1 - prior) * prior)
    elif label_freq is None:
        raise ValueError("the one-sample AUC risk needs label_freq, the share of the positives that are labeled.")
    else:
        factor = label_freq / (1 - prior)
    constant = prior / (2 * (1 - prior)) if as_surrogate(surrogate).symmetric else 0.0
    return factor * bracket - constant


@lru_cache(maxsize=8)
def _two_levels(
    n_first: int, n_second: int, first: float, second: float, dtype: torch.dtype, device: torch.device
) -> Tensor:
    """Vector of `first`, n_first times, and then of `second`; kept, because every step of a training needs the same."""
    with torch.inference_mode(False):  # a vector made while validating must serve in training as well
        levels = torch.full((n_first + n_second,), second, dtype=dtype, device=device)
        levels[:n_first] = first
    return levels


def _symmetric(surrogate: str | Surrogate) -> Surrogate:
    surrogate = as_surrogate(surrogate)
    if not surrogate.symmetric:
        raise ValueError(
            "this risk needs a symmetric surrogate (sigmoid, ramp, unhinged), but "
            f"{surrogate.name!r} is not symmetric: its positive-positive term is no constant. Use "
            "unskew.risk.nonsymmetric_auc_risk (one-sample) or unskew.risk.nonsymmetric_two_sample_auc_risk."
        )
    return surrogate
