"""PUAUC: AUC maximization from positive and unlabeled data."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from unskew._support.parameters import Rule, one_of
from unskew.data.records import ScoredBatch
from unskew.objectives.pairs import mean_over_distinct_pairs, mean_over_pairs
from unskew.objectives.surrogates import TRAINABLE, Surrogate, as_surrogate
from unskew.rankers._by_risk import RiskRanker


def puauc_risk(
    labeled: Tensor, unlabeled: Tensor, alpha: float, prior: float | None, surrogate: Surrogate, scenario: str
) -> Tensor:
    r"""AUC risk from unbiased PU scores, times :math:`1 - \pi` and without constants.

    .. math:: E_l E_x[\ell] - \pi E_l E_{l'}[\ell]

    For symmetric surrogates the pairs of two labeled instances have a constant mean, so that neither they nor the prior
    (which may be None) are needed.
    """
    one_sample = scenario == "one-sample"
    risk = mean_over_pairs(labeled, unlabeled, surrogate)
    risk = (1 - alpha) * risk if one_sample else risk
    if surrogate.symmetric or len(labeled) < 2:
        return risk
    assert prior is not None
    share = alpha - prior if one_sample else -prior
    return risk + share * mean_over_distinct_pairs(labeled, surrogate)


@dataclass(kw_only=True, eq=False, repr=False)
class PositiveUnlabeledAUC(RiskRanker):
    r"""Maximize the AUC as if the labeled instances were an unbiased sample of the positives.

    Minimizes, up to the factor :math:`1 / (1 - \pi)`,

    .. math:: E_l E_x[\ell(s(x^l) - s(x))] - \pi E_l E_{l'}[\ell(s(x^l) - s(x^{l'}))]

    With a symmetric surrogate the second term is a constant, and so are the labeled-labeled pairs inside the first:
    what remains is the AUC risk of labeled against unlabeled, and no prior is needed. Non-symmetric surrogates keep all
    terms, need the prior, and are not corrected: those without an upper bound can drive the risk below zero. In the
    one-sample scenario :math:`E_x = \alpha E_l + (1 - \alpha) E_u`, in the two-sample scenario :math:`E_x = E_u`.

    Parameters
    ----------
    surrogate : str, default="sigmoid"
        Loss of a pair's margin, see `unskew.surrogates`.

    Notes
    -----
    **Assumption.**
    SCAR: labeled instances are an unbiased sample of the positives.

    **Use it when.**
    Labels were given at random among the positives and only the order of the scores matters. It is the simplest method
    here that maximizes the AUC: only the cut of `predict` has to be estimated.

    **Do not use it when.**
    Labels favor some kinds of positives: kinds that are rarely labeled are ranked low. With confidence `conf-auc`
    corrects that; with constant weights it becomes this method.

    **Differs from its authors.**
    The sigmoid is the default, as in the paper, instead of the square loss. The form for one sample is the exact
    substitution above.

    References
    ----------
    Z. Xie, M. Li. Semi-supervised AUC optimization without guessing labels of unlabeled data. AAAI 2018.
    Z. Xie, Y. Liu, H.-Y. He, M. Li, Z.-H. Zhou. Weakly supervised AUC optimization: a unified partial AUC approach.
    TPAMI 2024.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> ranker = unskew.make("puauc", max_epochs=5, random_state=0)
    >>> ranker.fit(data.X, data.labeled, confidence=data.confidence).decision_function(data.X).shape
    (300,)
    """

    surrogate: str = "sigmoid"

    name: ClassVar[str] = "puauc"
    table_name: ClassVar[str] = "PUAUC"
    position: ClassVar[int] = 5
    assumption: ClassVar[str] = "SCAR"

    rules: ClassVar[dict[str, Rule]] = {"surrogate": one_of(*TRAINABLE)}

    def needs_prior(self) -> bool:
        """Non-symmetric surrogates do."""
        return not as_surrogate(self.surrogate).symmetric

    def risk(self, batch: ScoredBatch) -> Tensor:
        """AUC risk from unbiased PU scores."""
        prior = getattr(self, "prior_", None)
        surrogate = as_surrogate(self.surrogate)
        return puauc_risk(batch.labeled, batch.unlabeled, batch.alpha, prior, surrogate, self.scenario)
