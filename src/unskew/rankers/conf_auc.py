"""Ours: AUC maximization from biased positive-unlabeled data with confidence."""

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
class ConfidenceAUC(RiskRanker):
    r"""Maximize the AUC from biased labels, corrected by their confidence.

    Each labeled instance is weighted by its confidence over its probability of being labeled, which turns the biased
    sample of labeled instances back into one of all positives; the weighted AUC risk of Eq. (17) is then minimized:

    .. math::
        \frac{\hat\alpha}{N^p (N^p - 1)} \sum_{n \neq m} w_n \ell(s^p_n - s^p_m)
        + \frac{1 - \hat\alpha}{N^p N} \sum_{n, m} w_n \ell(s^p_n - s_m), \qquad w_n = r_n / \hat u_n

    Neither the prior nor the label frequency is needed. Non-symmetric surrogates use App. D.1. This is for the
    one-sample scenario; in the two-sample scenario only the second term remains, and the density ratio of labeled to
    all instances takes the place of u (App. D.2).

    Parameters
    ----------
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
        Share of positives, as given or else estimated from the confidence, and of the positives that are labeled (NaN
        in the two-sample scenario); only where `prior` or confidence was given.
    threshold_ : float
        `predict` says 1 from this score on: the share of instances above it is the prior, given or estimated.

    Notes
    -----
    **Assumption.**
    SAR: which positives get labeled may depend on their features in any way, as long as each has some chance.
    Confidence is the probability of being positive; any strictly increasing function of it leads to the same best
    ranking (Prop. 4.1).

    **Use it when.**
    Labels favor some kinds of positives, each label comes with a confidence, and the order of the scores is what
    matters.

    **Do not use it when.**
    There is no confidence, or confidence says nothing about how likely an instance is positive; or when some kinds of
    positives are never labeled: no weight brings back what was never seen.

    **Differs from its authors.**
    Nowhere knowingly. Where they leave a choice open (which epoch is kept, how batches are drawn, how instances held
    out are weighted), `docs/decisions.md` says what was chosen.

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
    uses_labeling: ClassVar[bool] = True
    without_confidence: ClassVar[str] = "which is the method 'no-conf'"
    needs: ClassVar[tuple[str, ...]] = ("confidence",)

    rules: ClassVar[dict[str, Rule]] = {"surrogate": one_of(*TRAINABLE)}

    def weigh(self, data: PUData) -> PUData:
        """Weights r / u."""
        confidence = np.ones(data.n_labeled) if data.confidence is None else data.confidence
        return replace(data, weight=inverse_labeling_weight(confidence, data.divisor, self.clip))

    def risk(self, batch: ScoredBatch) -> Tensor:
        """Weighted AUC risk."""
        return weighted_auc_risk(batch, as_surrogate(self.surrogate), self.scenario)
