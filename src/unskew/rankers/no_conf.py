"""w/oConf: the proposed method without its confidence."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions
from torch import Tensor

from unskew.rankers._base import RiskRanker
from unskew.rankers._weighted import TRAINABLE, weighted_auc_risk
from unskew.records import PUData, ScoredBatch
from unskew.weights import inverse_labeling_weight


@dataclass(kw_only=True, eq=False, repr=False)
class UnconfidentAUC(RiskRanker):
    r"""Maximize the AUC from biased labels that all count as certain.

    The risk of Eq. (17) with r = 1 for every labeled instance, so that weights are :math:`1 / \hat u`: the paper's
    w/oConf, which shows what the confidence is worth.

    Assumes SAR, and that labeled instances are positive beyond doubt: p(y=1|x) = 1 wherever something is labeled.
    Confidence is not needed; if it is given it only serves the estimates of prior and label frequency.

    Parameters beyond those of every method
    ---------------------------------------
    surrogate : str, default="sigmoid"
        Loss of a pair's margin, see `unskew.surrogates`.

    References
    ----------
    A. Kumagai, T. Iwata, H. Takahashi, T. Nishiyama, K. Adachi, Y. Fujiwara. AUC maximization from biased
    positive-unlabeled data with confidence. Preprint, 2026. Section 5.2.
    """

    surrogate: str = "sigmoid"

    name: ClassVar[str] = "no-conf"
    table_name: ClassVar[str] = "w/oConf"
    position: ClassVar[int] = 2
    assumption: ClassVar[str] = "SAR"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RiskRanker._parameter_constraints,
        "surrogate": [StrOptions(set(TRAINABLE))],
    }

    def _weigh(self, data: PUData) -> PUData:
        assert data.labeling_prob is not None
        return replace(data, weight=inverse_labeling_weight(np.ones(data.n_labeled), data.labeling_prob, self.clip))

    def _risk(self, batch: ScoredBatch) -> Tensor:
        return weighted_auc_risk(batch, self.surrogate, self.scenario)
