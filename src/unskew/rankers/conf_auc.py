"""Ours: AUC maximization from biased positive-unlabeled data with confidence."""

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
class ConfidenceAUC(RiskRanker):
    r"""Maximize the AUC from biased labels, corrected by their confidence.

    Each labeled instance is weighted by its confidence over its probability of being labeled, :math:`r / \hat u`, which
    turns the biased sample of labeled instances back into one of all positives; the weighted AUC risk of Eq. (17) is
    then minimized. Neither the prior nor the label frequency is needed.

    Assumes SAR: which positives get labeled may depend on their features in any way, as long as each has some chance.
    Needs confidence; any strictly increasing function of the true one leads to the same best ranking (Prop. 4.1).
    Non-symmetric surrogates use App. D.1, the two-sample scenario App. D.2.

    Parameters beyond those of every method
    ---------------------------------------
    surrogate : str, default="sigmoid"
        Loss of a pair's margin, see `unskew.surrogates`.

    Attributes
    ----------
    network_ : torch.nn.Module
        The score function.
    labeling_ : estimator of the labeling probability
    history_ : list of (epoch, train_risk, validation_risk)
    best_epoch_ : int
        Epoch whose weights were kept.
    prior_, label_freq_ : float
        Estimated share of positives, and of the positives that are labeled; only where confidence was given.
    threshold_ : float
        `predict` says 1 from this score on: the share of instances above it is the estimated prior.

    References
    ----------
    A. Kumagai, T. Iwata, H. Takahashi, T. Nishiyama, K. Adachi, Y. Fujiwara. AUC maximization from biased
    positive-unlabeled data with confidence. Preprint, 2026.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(600, random_state=0)
    >>> ranker = unskew.make("conf-auc", network="linear", learning_rate=0.01, max_epochs=30, random_state=0)
    >>> ranker.fit(data.X, data.labeled, confidence=data.confidence).decision_function(data.X).shape
    (600,)
    """

    surrogate: str = "sigmoid"

    name: ClassVar[str] = "conf-auc"
    table_name: ClassVar[str] = "Ours"
    position: ClassVar[int] = 1
    assumption: ClassVar[str] = "SAR"
    needs: ClassVar[tuple[str, ...]] = ("confidence",)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RiskRanker._parameter_constraints,
        "surrogate": [StrOptions(set(TRAINABLE))],
    }

    def _weigh(self, data: PUData) -> PUData:
        assert data.labeling_prob is not None
        confidence = np.ones(data.n_labeled) if data.confidence is None else data.confidence
        return replace(data, weight=inverse_labeling_weight(confidence, data.labeling_prob, self.clip))

    def _risk(self, batch: ScoredBatch) -> Tensor:
        return weighted_auc_risk(batch, self.surrogate, self.scenario)
