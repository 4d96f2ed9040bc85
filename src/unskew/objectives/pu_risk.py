r"""Classification risks from positive-unlabeled scores: the parts that several methods share.

One substitution turns a risk for two samples into one for one sample: expectations over everything become

.. math:: E_x[\cdot] = \alpha E_l[\cdot] + (1 - \alpha) E_u[\cdot]

because there the unlabeled are what labeling left over. The methods' own objectives live in their files.
"""

import torch
from torch import Tensor

from unskew.objectives.surrogates import Surrogate


def mean_over_everything(labeled: Tensor, unlabeled: Tensor, alpha: float, scenario: str) -> Tensor:
    """Mean of a quantity over all instances, from its values at the labeled and at the unlabeled ones.

    Examples
    --------
    >>> labeled, unlabeled = torch.tensor([1.0, 1.0]), torch.tensor([0.0])
    >>> mean_over_everything(labeled, unlabeled, 0.25, "one-sample")
    tensor(0.2500)
    >>> mean_over_everything(labeled, unlabeled, 0.25, "two-sample")
    tensor(0.)
    """
    if scenario == "two-sample":
        return unlabeled.mean()
    return alpha * labeled.mean() + (1 - alpha) * unlabeled.mean()


def pu_risk_parts(
    labeled: Tensor, unlabeled: Tensor, alpha: float, prior: float, surrogate: Surrogate, scenario: str
) -> tuple[Tensor, Tensor]:
    r"""Risk of the positives and risk of the negatives, both from PU scores.

    .. math:: R^+ = \pi E_l[\ell(g)], \qquad R^- = E_x[\ell(-g)] - \pi E_l[\ell(-g)]

    Their sum is the unbiased risk (uPU) where the labeled are an unbiased sample of the positives (SCAR). Estimated
    from few instances the second part falls below zero, which no risk does: see `absolute_correction` and
    `nonnegative_correction`.

    Parameters
    ----------
    labeled, unlabeled : tensors of shape (n_labeled,) and (n_unlabeled,)
        Scores.
    alpha : float in (0, 1)
        Share of labeled instances in the whole data; read in the one-sample scenario only.
    prior : float in (0, 1)
    surrogate : Surrogate
        Loss of a score times its sign.
    scenario : "one-sample" or "two-sample"

    Examples
    --------
    >>> import torch
    >>> from unskew import pu_risk
    >>> from unskew.surrogates import logistic
    >>> positive, negative = pu_risk.pu_risk_parts(torch.ones(3), torch.zeros(5), 0.3, 0.4, logistic, "one-sample")
    >>> positive.ndim, negative.ndim
    (0, 0)
    """
    loss_if_negative = surrogate(-labeled)
    everything = mean_over_everything(loss_if_negative, surrogate(-unlabeled), alpha, scenario)
    return prior * surrogate(labeled).mean(), everything - prior * loss_if_negative.mean()


def absolute_correction(positive: Tensor, negative: Tensor) -> Tensor:
    """Return the sum of both parts with the absolute value of the second, which cannot be driven below zero.

    Examples
    --------
    >>> import torch
    >>> from unskew import pu_risk
    >>> float(pu_risk.absolute_correction(torch.tensor(0.5), torch.tensor(-0.25)))
    0.75
    """
    return positive + negative.abs()


def nonnegative_correction(positive: Tensor, negative: Tensor, beta: float = 0.0, gamma: float = 1.0) -> Tensor:
    """Return the sum of both parts with the second held at -beta; below that its gradient pushes it up again.

    The correction of Kiryo et al. (2017): where the second part is below -beta, the value is the first part minus beta,
    and the gradient is that of -gamma times the second part alone.

    Examples
    --------
    >>> import torch
    >>> from unskew import pu_risk
    >>> float(pu_risk.nonnegative_correction(torch.tensor(0.5), torch.tensor(0.25)))
    0.75
    """
    push_up = -gamma * negative
    held = push_up + (positive - beta - push_up).detach()
    return torch.where(negative < -beta, held, positive + negative)
