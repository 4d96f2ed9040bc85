r"""The joint likelihood of labels and confidence as two risks: of the posterior's network and of the propensity's.

With f the logit of the posterior, g that of the propensity and y that of the confidence, a row is labeled with
probability :math:`\sigma(f) \sigma(g)`, and the confidence of a labeled row is normal around f on the scale of the
logit. Each risk is the negative log likelihood in one of the two functions, the other one held.
"""

from torch import Tensor
from torch.nn.functional import softplus

from unskew.data.records import ScoredBatch

LEAST_CONFIDENCE = 1e-3
"""Confidence nearer to 0 or to 1 counts as this far away: the logit has no end."""


def confidence_logit(confidence: Tensor) -> Tensor:
    """Logit of a confidence, its ends held."""
    return confidence.clamp(LEAST_CONFIDENCE, 1 - LEAST_CONFIDENCE).logit()


def unlabeled_loss(score: Tensor, other_prob: Tensor) -> Tensor:
    r"""Negative log probability of being unlabeled, :math:`-\log\{1 - \sigma(s) p\}`, without a loss of digits.

    .. math:: \log(1 + e^s) - \log(1 + (1 - p) e^s)

    is exact where the product is near 1, and the logarithm itself where it is small.
    """
    product = other_prob * score.sigmoid()
    small = product < 0.5
    direct = -(-product.where(small, product.new_zeros(()))).log1p()
    return direct.where(small, softplus(score) - softplus(score + (-other_prob).log1p()))


def posterior_risk(batch: ScoredBatch, deviation: float) -> Tensor:
    r"""Risk of f where the propensity e is held; `deviation` is that of the confidence on the scale of the logit.

    .. math::
        \alpha E_l\Big[\log(1 + e^{-f}) + \frac{(y - f)^2}{2 s^2}\Big] - (1 - \alpha) E_u[\log\{1 - e\, \sigma(f)\}]

    Implements: Eq. (J1).
    """
    assert batch.unlabeled_weight is not None
    labeled = softplus(-batch.labeled)
    if batch.confidence is not None:
        labeled = labeled + (confidence_logit(batch.confidence) - batch.labeled).square() / (2 * deviation**2)
    unlabeled = unlabeled_loss(batch.unlabeled, batch.unlabeled_weight)
    return batch.alpha * labeled.mean() + (1 - batch.alpha) * unlabeled.mean()


def propensity_risk(batch: ScoredBatch) -> Tensor:
    r"""Risk of g where the posterior h is held.

    .. math:: \alpha E_l[\log(1 + e^{-g})] - (1 - \alpha) E_u[\log\{1 - h\, \sigma(g)\}]

    Implements: Eq. (J2).
    """
    assert batch.unlabeled_weight is not None
    unlabeled = unlabeled_loss(batch.unlabeled, batch.unlabeled_weight)
    return batch.alpha * softplus(-batch.labeled).mean() + (1 - batch.alpha) * unlabeled.mean()
