"""PUSB: positive-unlabeled learning under a selection bias that keeps the order."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from unskew.data.records import ScoredBatch
from unskew.objectives.pu_risk import absolute_correction, pu_risk_parts
from unskew.objectives.surrogates import logistic
from unskew.rankers._by_risk import RiskRanker


@dataclass(kw_only=True, eq=False, repr=False)
class SelectionBiasPU(RiskRanker):
    r"""Learn the density ratio of labeled to all instances, and cut it at the prior.

    The positive-unlabeled risk of `nnpu` with the logistic loss :math:`\ell(z) = \log(1 + e^{-z})`,

    .. math:: \pi E_l[\ell(g)] + \left| E_x[\ell(-g)] - \pi E_l[\ell(-g)] \right|

    Without the correction its minimum is where :math:`\sigma(g(x)) = u(x) / c`: the score is a function of the labeling
    probability alone, and its order is that of u. `predict` cuts where the share of instances above equals the prior.
    In the one-sample scenario :math:`E_x = \alpha E_l + (1 - \alpha) E_u`, in the two-sample scenario
    :math:`E_x = E_u`.

    Notes
    -----
    **Assumption.**
    SAR with invariance of order: what is more likely positive is also more likely labeled, p(o=1|x) and p(y=1|x) put
    instances in the same order.

    **Use it when.**
    Labels favor the clear cases, and only them: the more obvious a positive, the more likely it is labeled.

    **Do not use it when.**
    Labels favor one kind of positives over another that is just as clear.

    **Differs from its authors.**
    The absolute correction, as in the paper. It is always on: where the labeling probability u(x) is above the label
    frequency c the uncorrected risk has no minimum, because the score there can grow without end.

    References
    ----------
    M. Kato, T. Teshima, J. Honda. Learning from positive and unlabeled data with a selection bias. ICLR 2019.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> ranker = unskew.make("pusb", max_epochs=5, random_state=0)
    >>> ranker.fit(data.X, data.labeled, confidence=data.confidence).decision_function(data.X).shape
    (300,)
    """

    name: ClassVar[str] = "pusb"
    table_name: ClassVar[str] = "PUSB"
    position: ClassVar[int] = 6
    assumption: ClassVar[str] = "SAR, order kept"
    needs: ClassVar[tuple[str, ...]] = ("prior",)

    def risk(self, batch: ScoredBatch) -> Tensor:
        """Positive-unlabeled risk with the logistic loss, corrected."""
        parts = pu_risk_parts(batch.labeled, batch.unlabeled, batch.alpha, self.prior_, logistic, self.scenario)
        return absolute_correction(*parts)
