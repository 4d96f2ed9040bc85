"""Pconf: classification from positive instances with confidence, and nothing else."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from unskew._support.parameters import Rule, one_of
from unskew.data.records import ScoredBatch
from unskew.objectives.surrogates import Surrogate, as_surrogate
from unskew.rankers._by_risk import RiskRanker


def pconf_risk(labeled: Tensor, confidence: Tensor, surrogate: Surrogate) -> Tensor:
    r"""Risk of a classifier from scores of positives with confidence r, up to the factor pi.

    .. math:: E_l\left[\ell(g) + \frac{1 - r}{r} \ell(-g)\right]
    """
    return (surrogate(labeled) + (1 - confidence) / confidence * surrogate(-labeled)).mean()


@dataclass(kw_only=True, eq=False, repr=False)
class PositiveConfidence(RiskRanker):
    r"""Classify from labeled instances and their confidence alone.

    .. math:: \min_g E_l\left[\ell(g(x)) + \frac{1 - r(x)}{r(x)} \ell(-g(x))\right]

    The second term stands for the negatives: where a positive of confidence r is seen, (1 - r) / r negatives are to be
    expected. Unlabeled instances are not used: the one-sample scenario and the two-sample scenario are the same to it.

    Parameters
    ----------
    surrogate : {"sigmoid", "logistic"}, default="sigmoid"
        Loss of a score times its sign.

    Notes
    -----
    **Assumption.**
    SCAR: labeled instances are an unbiased sample of the positives, and confidence is the posterior itself, not some
    increasing function of it.

    **Use it when.**
    Labels are unbiased, confidence is calibrated and spread over (0, 1), and the unlabeled data are not to be trusted:
    they are read only for the cut of `predict`.

    **Do not use it when.**
    Labels are biased, or confidence is only a ranking. With the sigmoid loss the risk is
    :math:`E_l[1 + \frac{1 - 2r}{r} \sigma(g)]`: if every r is above 1/2, all scores only grow, and the ranking is
    arbitrary.

    **Differs from its authors.**
    The sigmoid loss is the default, as in the paper; the authors' choice is ``surrogate="logistic"``. Confidence below
    `clip` is raised to it, as in the paper.

    References
    ----------
    T. Ishida, G. Niu, M. Sugiyama. Binary classification from positive-confidence data. NeurIPS 2018.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> ranker = unskew.make("pconf", max_epochs=5, random_state=0)
    >>> ranker.fit(data.X, data.labeled, confidence=data.confidence).decision_function(data.X).shape
    (300,)
    """

    surrogate: str = "sigmoid"

    name: ClassVar[str] = "pconf"
    table_name: ClassVar[str] = "Pconf"
    position: ClassVar[int] = 8
    assumption: ClassVar[str] = "SCAR"
    needs: ClassVar[tuple[str, ...]] = ("confidence",)
    without_confidence: ClassVar[str] = "which leaves it nothing to distinguish instances by"

    rules: ClassVar[dict[str, Rule]] = {"surrogate": one_of("sigmoid", "logistic")}

    def risk(self, batch: ScoredBatch) -> Tensor:
        """Risk from the labeled instances and their confidence."""
        given = torch.ones_like(batch.labeled) if batch.confidence is None else batch.confidence
        return pconf_risk(batch.labeled, given.clamp(min=self.clip), as_surrogate(self.surrogate))
