r"""The AUC risks: of positives and negatives, and of biased positive-unlabeled data with confidence.

Scores come in as tensors, a scalar tensor goes out. The functions of PU data return the *bracket* of their equation:
the factor in front of it and the constant behind it need the prior and the label frequency, and change no ranking.
`absolute_auc_risk` adds them where they are known.

The public functions check their arguments, which takes longer than a small risk does. Training calls
`weighted_auc_risk`, which checks nothing: its batches come from data that were checked before.
"""

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from unskew._support.parameters import Rule, above, check_value
from unskew.data.records import ScoredBatch
from unskew.data.validation import SCENARIOS, check_choice
from unskew.objectives.pairs import mean_over_distinct_pairs, mean_over_pairs, pair_sum
from unskew.objectives.surrogates import Surrogate, as_surrogate, sigmoid


def pair_mean(
    high: Tensor,
    low: Tensor,
    surrogate: str | Surrogate,
    *,
    high_weight: Tensor | None = None,
    low_weight: Tensor | None = None,
) -> Tensor:
    r"""Mean over all pairs of :math:`a_n b_m \ell(s_n - s_m)`, n from `high` and m from `low`.

    Examples
    --------
    >>> import torch
    >>> from unskew import risk
    >>> float(risk.pair_mean(torch.tensor([2.0, 0.0]), torch.tensor([1.0]), "zero_one"))
    0.5
    """
    _check_scores(high=high, low=low)
    _check_weight("high_weight", high_weight, "high", high)
    _check_weight("low_weight", low_weight, "low", low)
    return mean_over_pairs(high, low, as_surrogate(surrogate), high_weight, low_weight)


def distinct_pair_mean(
    score: Tensor, surrogate: str | Surrogate, *, high_weight: Tensor | None = None, low_weight: Tensor | None = None
) -> Tensor:
    r"""Mean over the pairs n != m of one sample of :math:`a_n b_m \ell(s_n - s_m)`; needs two scores or more.

    Examples
    --------
    >>> import torch
    >>> from unskew import risk
    >>> float(risk.distinct_pair_mean(torch.tensor([2.0, 0.0, 1.0]), "zero_one"))
    0.5
    """
    _check_scores(score=score)
    if len(score) < 2:
        raise ValueError("score must have at least two entries, but it has one. Leave out samples without pairs.")
    _check_weight("high_weight", high_weight, "score", score)
    _check_weight("low_weight", low_weight, "score", score)
    return mean_over_distinct_pairs(score, as_surrogate(surrogate), high_weight, low_weight)


def pn_auc_risk(positive: Tensor, negative: Tensor, surrogate: str | Surrogate = sigmoid) -> Tensor:
    r"""AUC risk of scored positives and negatives: what could be computed if negatives were known.

    .. math:: \frac{1}{N^p N^n} \sum_{n} \sum_{m} \ell(s(x^p_n) - s(x^n_m))

    Implements: Eq. (4). With the surrogate ``"zero_one"`` it is one minus the AUC.

    Examples
    --------
    >>> import torch
    >>> from unskew import risk
    >>> float(risk.pn_auc_risk(torch.tensor([2.0, 0.0]), torch.tensor([1.0, -1.0]), "zero_one"))
    0.25
    """
    _check_scores(positive=positive, negative=negative)
    return mean_over_pairs(positive, negative, as_surrogate(surrogate))


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
    _check_batch(labeled, unlabeled, weight)
    check_value("alpha", alpha, above(0, 1))
    return _one_sample(labeled, unlabeled, weight, alpha, _symmetric_surrogate(surrogate))


def nonsymmetric_auc_risk(
    labeled: Tensor, unlabeled: Tensor, weight: Tensor, alpha: float, surrogate: str | Surrogate
) -> Tensor:
    r"""AUC risk from biased one-sample PU scores for any surrogate, without the factor c/(1-pi).

    .. math::
        \hat\alpha \hat E_{ll}[w_n \ell] + (1 - \hat\alpha) \hat E_{lu}[w_n \ell] - \hat\alpha \hat E_{ll}[w_n w_m \ell]

    Implements: Eq. (102). The last term is the positive-positive term of Eq. (11), which only symmetric surrogates
    turn into a constant. Parameters as in `confidence_auc_risk`.

    Examples
    --------
    >>> import torch
    >>> from unskew import risk
    >>> labeled, unlabeled = torch.tensor([2.0, 1.0]), torch.tensor([0.0, 1.5, -1.0])
    >>> weight = torch.tensor([1.0, 3.0])
    >>> bool(risk.nonsymmetric_auc_risk(labeled, unlabeled, weight, 0.4, "logistic") > 0)
    True
    """
    _check_batch(labeled, unlabeled, weight)
    check_value("alpha", alpha, above(0, 1))
    return _nonsymmetric(labeled, unlabeled, weight, alpha, as_surrogate(surrogate))


def two_sample_auc_risk(
    labeled: Tensor, unlabeled: Tensor, weight: Tensor, surrogate: str | Surrogate = sigmoid
) -> Tensor:
    r"""AUC risk from biased two-sample PU scores, without the factor c/((1-pi) alpha) and the constant.

    .. math:: \frac{1}{N^p N} \sum_{n, m} w_n \ell(s^p_n - s_m), \qquad w_n = r_n / \hat w_n

    Implements: Eq. (106). Two-sample scenario: `unlabeled` are a sample of everything, drawn apart from the labeled;
    `weight` is confidence over density ratio.

    Examples
    --------
    >>> import torch
    >>> from unskew import risk
    >>> labeled, unlabeled = torch.tensor([2.0, 1.0]), torch.tensor([0.0, 1.5, -1.0])
    >>> weight = torch.tensor([1.0, 3.0])
    >>> round(float(risk.two_sample_auc_risk(labeled, unlabeled, weight, "zero_one")), 3)
    0.5
    """
    _check_batch(labeled, unlabeled, weight)
    return mean_over_pairs(labeled, unlabeled, _symmetric_surrogate(surrogate), weight)


def nonsymmetric_two_sample_auc_risk(
    labeled: Tensor, unlabeled: Tensor, weight: Tensor, surrogate: str | Surrogate
) -> Tensor:
    r"""AUC risk from biased two-sample PU scores for any surrogate, without the factor 1/((1-pi) pi).

    .. math:: \hat E_{lu}[w_n \ell] - \hat E_{ll}[w_n w_m \ell]

    The step from Eq. (17) to Eq. (102), taken from Eq. (106): the positive-positive term of Eq. (11) with
    p^p = (r / w) p^l / pi (decision 9).

    Examples
    --------
    >>> import torch
    >>> from unskew import risk
    >>> labeled, unlabeled = torch.tensor([2.0, 1.0]), torch.tensor([0.0, 1.5, -1.0])
    >>> weight = torch.tensor([1.0, 3.0])
    >>> risk.nonsymmetric_two_sample_auc_risk(labeled, unlabeled, weight, "logistic").ndim
    0
    """
    _check_batch(labeled, unlabeled, weight)
    return _nonsymmetric(labeled, unlabeled, weight, None, as_surrogate(surrogate))


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

    Examples
    --------
    >>> import torch
    >>> from unskew import risk
    >>> labeled, unlabeled = torch.tensor([2.0, 1.0]), torch.tensor([0.0, 1.5, -1.0])
    >>> weight = torch.tensor([1.0, 3.0])
    >>> bracket = risk.confidence_auc_risk(labeled, unlabeled, weight, 0.4, "sigmoid")
    >>> risk.absolute_auc_risk(bracket, prior=0.5, label_freq=0.8).ndim
    0
    """
    check_choice("scenario", scenario, SCENARIOS)
    check_value("prior", prior, above(0, 1))
    if scenario == "two-sample":
        factor = 1 / ((1 - prior) * prior)
    elif label_freq is None:
        raise ValueError("the one-sample AUC risk needs label_freq, the share of the positives that are labeled.")
    else:
        words = "a number above 0 and at most 1"
        check_value("label_freq", label_freq, Rule(words, lambda value: above(0).allows(value) and value <= 1))
        factor = label_freq / (1 - prior)
    constant = prior / (2 * (1 - prior)) if as_surrogate(surrogate).symmetric else 0.0
    return factor * bracket - constant


def weighted_auc_risk(batch: ScoredBatch, surrogate: Surrogate, scenario: str) -> Tensor:
    """Risk of a batch in the form for its scenario and surrogate, without any check: what training minimizes.

    Examples
    --------
    >>> import torch
    >>> from unskew import risk
    >>> from unskew.records import ScoredBatch
    >>> from unskew.surrogates import sigmoid
    >>> batch = ScoredBatch(torch.tensor([2.0, 1.0]), torch.tensor([0.0, 1.5]), 0.5, weight=torch.ones(2))
    >>> risk.weighted_auc_risk(batch, sigmoid, "one-sample").ndim
    0
    """
    assert batch.weight is not None
    alpha = batch.alpha if scenario == "one-sample" else None
    if not surrogate.symmetric:
        return _nonsymmetric(batch.labeled, batch.unlabeled, batch.weight, alpha, surrogate)
    if alpha is None:
        return mean_over_pairs(batch.labeled, batch.unlabeled, surrogate, batch.weight)
    return _one_sample(batch.labeled, batch.unlabeled, batch.weight, alpha, surrogate)


def _one_sample(labeled: Tensor, unlabeled: Tensor, weight: Tensor, alpha: float, surrogate: Surrogate) -> Tensor:
    n_labeled, n_unlabeled = labeled.numel(), unlabeled.numel()
    if n_labeled < 2:  # with one labeled score there is no pair of two labeled ones
        return (1 - alpha) * mean_over_pairs(labeled, unlabeled, surrogate, weight)
    # Both terms in one sum over everything, p = alpha p^l + (1 - alpha) p^u.
    share_labeled, share_unlabeled = alpha / (n_labeled * (n_labeled - 1)), (1 - alpha) / (n_labeled * n_unlabeled)
    share = _two_levels(n_labeled, n_unlabeled, share_labeled, share_unlabeled, labeled.dtype, labeled.device)
    return pair_sum(labeled, unlabeled, surrogate, high_weight=weight, low_weight=share, high_among_low=True)


def _nonsymmetric(
    labeled: Tensor, unlabeled: Tensor, weight: Tensor, alpha: float | None, surrogate: Surrogate
) -> Tensor:
    """Risk for any surrogate, of two samples if alpha is None."""
    risk = mean_over_pairs(labeled, unlabeled, surrogate, weight)
    risk = risk if alpha is None else (1 - alpha) * risk
    if len(labeled) < 2:
        return risk
    if alpha is None:
        return risk - mean_over_distinct_pairs(labeled, surrogate, weight, weight)
    # w_n l - w_n w_m l = w_n (1 - w_m) l: the first and the last term are one sum over pairs.
    return risk + alpha * mean_over_distinct_pairs(labeled, surrogate, weight, 1 - weight)


@lru_cache(maxsize=8)
def _two_levels(
    n_first: int, n_second: int, first: float, second: float, dtype: torch.dtype, device: torch.device
) -> Tensor:
    """Vector of `first`, n_first times, and then of `second`; kept, because every step of a training needs the same."""
    with torch.inference_mode(False):  # a vector made while validating must serve in training as well
        levels = torch.full((n_first + n_second,), second, dtype=dtype, device=device)
        levels[:n_first] = first
    return levels


def _symmetric_surrogate(surrogate: str | Surrogate) -> Surrogate:
    surrogate = as_surrogate(surrogate)
    if not surrogate.symmetric:
        raise ValueError(
            "this risk needs a symmetric surrogate (sigmoid, ramp, unhinged), but "
            f"{surrogate.name!r} is not symmetric: its positive-positive term is not constant. Use "
            "unskew.risk.nonsymmetric_auc_risk (one-sample) or unskew.risk.nonsymmetric_two_sample_auc_risk."
        )
    return surrogate


def _check_batch(labeled: Any, unlabeled: Any, weight: Any) -> None:
    _check_scores(labeled=labeled, unlabeled=unlabeled)
    _check_weight("weight", weight, "labeled", labeled)


def _check_scores(**scores: Any) -> None:
    """Refuse scores that are not tensors of one type and device, of shape (n,), finite, with at least one each."""
    first_name, first = next(iter(scores.items()))
    for name, score in scores.items():
        _check_vector(name, score, first_name, first)
        if not len(score):
            raise ValueError(f"{name} must have at least one score, but it is empty. Leave out batches without pairs.")
        advice = "Find out where the network or its input stops being finite."
        _require_all(torch.isfinite(score), f"{name} must be finite", score, advice)


def _check_weight(name: str, weight: Any, score_name: str, score: Tensor) -> None:
    """Refuse weights that do not go with the scores, one each, or are negative or not finite."""
    if weight is None and name != "weight":
        return
    _check_vector(name, weight, score_name, score)
    if len(weight) != len(score):
        raise ValueError(
            f"{name} must have one entry for each score of {score_name}, {len(score)}, but it has {len(weight)}. Pass "
            "the weights of the same instances in the same order."
        )
    holds = torch.isfinite(weight) & (weight >= 0)
    advice = "Weights are confidence over labeling probability: clip the latter, and give 0 to what should not count."
    _require_all(holds, f"{name} must be finite and not negative", weight, advice)


def _check_vector(name: str, values: Any, first_name: str, first: Tensor) -> None:
    if not isinstance(values, Tensor):
        raise TypeError(
            f"{name} must be a torch tensor, but it is a {type(values).__name__}. Pass torch.as_tensor({name}), of the "
            "type and on the device of the others."
        )
    if not values.is_floating_point():
        raise TypeError(f"{name} must have a floating-point type, but it has {values.dtype}. Pass {name}.float().")
    if values.dim() != 1:
        raise ValueError(
            f"{name} must have the shape (n,), but its shape is {tuple(values.shape)}. Pass {name}.flatten() if these "
            "are one number per instance."
        )
    if (values.dtype, values.device) != (first.dtype, first.device):
        raise TypeError(
            f"{first_name} and {name} must have one type and be on one device, but they are {first.dtype} on "
            f"{first.device} and {values.dtype} on {values.device}. Pass {name}.to({first_name})."
        )


def _require_all(holds: Tensor, must: str, values: Tensor, advice: str) -> None:
    if not holds.all():
        bad = torch.nonzero(~holds).flatten()
        first = int(bad[0])
        raise ValueError(
            f"{must}, but {len(bad)} of {len(values)} entries are not (first: {values[first].item():g} at position "
            f"{first}). {advice}"
        )
