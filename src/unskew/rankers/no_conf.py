"""w/oConf: the proposed method without its confidence."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from torch import Tensor

from unskew._support.parameters import Rule, one_of
from unskew.data.records import PUData, ScoredBatch
from unskew.objectives.auc_risk import weighted_auc_risk
from unskew.objectives.surrogates import TRAINABLE, as_surrogate
from unskew.objectives.weights import inverse_labeling_weight
from unskew.rankers._by_risk import RiskRanker


@dataclass(kw_only=True, eq=False, repr=False)
class UnconfidentAUC(RiskRanker):
    r"""Maximize the AUC from biased labels that all count as certain.

    The risk of `conf-auc`, Eq. (17), with r = 1 for every labeled instance, so that weights are

    .. math:: w_n = 1 / \hat u_n

    It is the paper's w/oConf, which shows what the confidence is worth. This is for the one-sample scenario; in the
    two-sample scenario the density ratio takes the place of u. If confidence is given, it serves the estimates of prior
    and label frequency only.

    Parameters
    ----------
    surrogate : str, default="sigmoid"
        Loss of a pair's margin, see `unskew.surrogates`.

    Notes
    -----
    **Assumption.**
    SAR, and labeled instances are certainly positive: p(y=1|x) = 1 wherever something is labeled.

    **Use it when.**
    Labels favor some kinds of positives, classes hardly overlap, and there is no confidence.

    **Do not use it when.**
    Classes overlap: weights 1/u then also raise what is rarely labeled because it is rarely positive.

    **Differs from its authors.**
    As `conf-auc`: nowhere knowingly.

    References
    ----------
    A. Kumagai, T. Iwata, H. Takahashi, T. Nishiyama, K. Adachi, Y. Fujiwara. AUC maximization from biased
    positive-unlabeled data with confidence. Preprint, 2026. Section 5.2.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> ranker = unskew.make("no-conf", max_epochs=5, random_state=0)
    >>> ranker.fit(data.X, data.labeled, confidence=data.confidence).decision_function(data.X).shape
    (300,)
    """

    surrogate: str = "sigmoid"

    name: ClassVar[str] = "no-conf"
    table_name: ClassVar[str] = "w/oConf"
    position: ClassVar[int] = 2
    assumption: ClassVar[str] = "SAR"
    uses_labeling: ClassVar[bool] = True

    rules: ClassVar[dict[str, Rule]] = {"surrogate": one_of(*TRAINABLE)}

    def weigh(self, data: PUData) -> PUData:
        """Weights 1 / u."""
        return replace(data, weight=inverse_labeling_weight(np.ones(data.n_labeled), data.divisor, self.clip))

    def risk(self, batch: ScoredBatch) -> Tensor:
        """Weighted AUC risk."""
        return weighted_auc_risk(batch, as_surrogate(self.surrogate), self.scenario)
