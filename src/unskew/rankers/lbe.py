"""LBE: labeling bias estimation."""

from dataclasses import dataclass
from typing import ClassVar

from unskew.rankers._em import EMRanker, Logits


@dataclass(kw_only=True, eq=False, repr=False)
class LabelingBiasEstimation(EMRanker):
    r"""Estimate posterior h and propensity e together by expectation maximization, and rank by the posterior.

    Expectation step, for the unlabeled (labeled instances have q = 1):

    .. math:: q(x) = \frac{h(x) (1 - e(x))}{1 - h(x) e(x)}

    Maximization step: one or more epochs of the cross entropy of h with q, plus the cross entropy of e with the labels
    *weighted by q*:

    .. math:: E_x[-q \log h - (1 - q) \log(1 - h)] + E_x[q (-o \log e - (1 - o) \log(1 - e))]

    The posterior starts as the labeling probability, the propensity at 1/2. The score is the logit of h. `history_` has
    one row per round, with the loss of what is observed, -log p(o|x); the round with the lowest one in validation is
    kept.

    Parameters
    ----------
    epochs_per_round : int, default=1
        Epochs of each maximization step; `max_epochs` counts the epochs of all rounds.

    Attributes
    ----------
    network_, propensity_network_ : torch.nn.Module
        Logits of posterior and propensity; `posterior` and `propensity` give the probabilities.

    Notes
    -----
    **Assumption.**
    SAR, in the one-sample scenario. The data determine only the product of posterior and propensity; what separates the
    two is the form of the networks and where they start.

    **Use it when.**
    Labels are biased, there is no confidence, and the form of the networks is known to suit both functions.

    **Do not use it when.**
    There is confidence, which separates posterior and propensity: see `conf-auc`. Nor for two samples, where p(o|x) has
    no meaning.

    **Differs from its authors.**
    An expectation step after every epoch instead of after a fixed number of steps, Adam goes on across rounds, and the
    best round in validation is kept as for all methods here. (Two public implementations weight the second term by 1,
    which turns e into the labeling probability; the authors' objective is the one above.)

    References
    ----------
    C. Gong, Q. Wang, T. Liu, B. Han, J. You, J. Yang, D. Tao. Instance-dependent positive and unlabeled learning with
    labeling bias estimation. TPAMI 2021.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> ranker = unskew.make("lbe", max_epochs=5, random_state=0)
    >>> ranker.fit(data.X, data.labeled, confidence=data.confidence).decision_function(data.X).shape
    (300,)
    """

    name: ClassVar[str] = "lbe"
    table_name: ClassVar[str] = "LBE"
    position: ClassVar[int] = 10
    assumption: ClassVar[str] = "SAR"

    def converged(self, before: Logits, after: Logits, alpha: float) -> bool:
        """Never: all rounds are run."""
        return False
