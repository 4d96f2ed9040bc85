"""nnPU: positive-unlabeled learning with a risk that stays above zero."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from unskew._support.parameters import Rule, above, at_least, one_of
from unskew.data.records import ScoredBatch
from unskew.objectives.pu_risk import absolute_correction, nonnegative_correction, pu_risk_parts
from unskew.objectives.surrogates import TRAINABLE, as_surrogate
from unskew.rankers._by_risk import RiskRanker


@dataclass(kw_only=True, eq=False, repr=False)
class NonNegativePU(RiskRanker):
    r"""Classify by the positive-unlabeled risk, corrected where it falls below zero.

    With :math:`R^+ = \pi E_l[\ell(g)]` and :math:`R^- = E_x[\ell(-g)] - \pi E_l[\ell(-g)]`, minimize

    .. math:: R^+ + |R^-|

    (absolute correction) or, as its authors do, :math:`R^+ + \max(R^-, -\beta)`, following :math:`-\gamma R^-` where
    the second part is below :math:`-\beta`. In the one-sample scenario :math:`E_x = \alpha E_l + (1 - \alpha) E_u`, in
    the two-sample scenario :math:`E_x = E_u`.

    Parameters
    ----------
    surrogate : str, default="sigmoid"
        Loss of a score times its sign, one that is never negative: not "unhinged".
    correction : {"absolute", "non-negative"}, default="absolute"
        What is done where the second part falls below zero.
    beta : float, default=0
        How far below zero the non-negative correction lets the second part fall.
    gamma : float, default=1
        How much of the second part it follows back from there.

    Notes
    -----
    **Assumption.**
    SCAR: labeled instances are an unbiased sample of the positives. Then :math:`R^+ + R^-` is the risk of a classifier
    that knows all classes; under SAR it is biased.

    **Use it when.**
    Labels were given at random among the positives, the prior is known or confidence is there to estimate it, and
    classes are not too unbalanced.

    **Do not use it when.**
    Labels favor some kinds of positives, or positives are rare and hard to recognize: calling everything negative has
    the risk :math:`\pi`, a deep minimum when :math:`\pi` is small, and the ranking inside it is arbitrary.

    **Differs from its authors.**
    The absolute correction is the default, as in the paper. The share of labeled instances is that of the whole data in
    every batch. The authors' form is for two samples; the one-sample form is the exact substitution above.

    References
    ----------
    R. Kiryo, G. Niu, M. C. du Plessis, M. Sugiyama. Positive-unlabeled learning with non-negative risk estimator.
    NeurIPS 2017.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> ranker = unskew.make("nnpu", max_epochs=5, random_state=0)
    >>> ranker.fit(data.X, data.labeled, confidence=data.confidence).decision_function(data.X).shape
    (300,)
    """

    surrogate: str = "sigmoid"
    correction: str = "absolute"
    beta: float = 0.0
    gamma: float = 1.0

    name: ClassVar[str] = "nnpu"
    table_name: ClassVar[str] = "nnPU"
    position: ClassVar[int] = 4
    assumption: ClassVar[str] = "SCAR"
    needs: ClassVar[tuple[str, ...]] = ("prior",)

    rules: ClassVar[dict[str, Rule]] = {
        "surrogate": one_of(*(name for name in TRAINABLE if name != "unhinged")),
        "correction": one_of("absolute", "non-negative"),
        "beta": at_least(0),
        "gamma": above(0),
    }

    def risk(self, batch: ScoredBatch) -> Tensor:
        """Positive-unlabeled risk, corrected."""
        surrogate = as_surrogate(self.surrogate)
        parts = pu_risk_parts(batch.labeled, batch.unlabeled, batch.alpha, self.prior_, surrogate, self.scenario)
        if self.correction == "absolute":
            return absolute_correction(*parts)
        return nonnegative_correction(*parts, self.beta, self.gamma)
