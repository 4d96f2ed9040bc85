"""SAR-EM: the classic of labels that are selected at random."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from unskew._support.parameters import Rule, at_least
from unskew.rankers._em import EMRanker, Logits, observed_loss


@dataclass(kw_only=True, eq=False, repr=False)
class SelectedAtRandomEM(EMRanker):
    r"""Estimate posterior h and propensity e by expectation maximization until both stand still.

    Expectation step, for the unlabeled (labeled instances have q = 1):

    .. math:: q(x) = \frac{h(x) (1 - e(x))}{1 - h(x) e(x)}

    Maximization step: e is fitted to the labels with weights q, and h to data that hold every instance twice, as a
    positive with weight q and as a negative with weight 1 - q, each for several epochs. Rounds end when the mean change
    of e and the gain of the log-likelihood are both below `tolerance`. The score is the logit of h. `history_` has one
    row per round, with the loss of what is observed, -log p(o|x); the round with the lowest one in validation is kept.

    Parameters
    ----------
    epochs_per_round : int, default=5
        Epochs of each maximization step; `max_epochs` counts the epochs of all rounds.
    tolerance : float, default=1e-4
        For the mean change of the propensity and for the gain of the mean log-likelihood.

    Attributes
    ----------
    network_, propensity_network_ : torch.nn.Module
        Logits of posterior and propensity; `posterior` and `propensity` give the probabilities.

    Notes
    -----
    **Assumption.**
    SAR, in the one-sample scenario. The data determine only the product of posterior and propensity; what separates the
    two is the form of the models and where they start.

    **Use it when.**
    Labels are biased, there is no confidence, and both functions are simple: the authors use logistic regressions
    (``network="linear"``), the propensity on few features.

    **Do not use it when.**
    There is confidence, see `conf-auc`; or with flexible networks, which can exchange posterior for propensity freely.
    Nor for two samples, where p(o|x) has no meaning.

    **Differs from its authors.**
    Both models are networks on all features; a maximization step goes on from the last one for `epochs_per_round`
    epochs instead of fitting anew to the end; `max_epochs` bounds the epochs of all rounds (the authors allow 500
    rounds); the best round in validation is kept as for all methods here.

    References
    ----------
    J. Bekker, P. Robberechts, J. Davis. Beyond the selected completely at random assumption for learning from positive
    and unlabeled data. ECML PKDD 2019.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> ranker = unskew.make("sar-em", max_epochs=5, random_state=0)
    >>> ranker.fit(data.X, data.labeled, confidence=data.confidence).decision_function(data.X).shape
    (300,)
    """

    epochs_per_round: int = 5
    tolerance: float = 1e-4

    name: ClassVar[str] = "sar-em"
    table_name: ClassVar[str] = "SAR-EM"
    position: ClassVar[int] = 11
    assumption: ClassVar[str] = "SAR"

    rules: ClassVar[dict[str, Rule]] = {"tolerance": at_least(0)}

    def converged(self, before: Logits, after: Logits, alpha: float) -> bool:
        """Whether propensity and log-likelihood both change less than `tolerance`."""
        old, new = (torch.sigmoid(torch.cat(each[2:])) for each in (before, after))  # propensities of all
        gain = observed_loss(before, alpha) - observed_loss(after, alpha)
        return bool((new - old).abs().mean() < self.tolerance and gain < self.tolerance)
