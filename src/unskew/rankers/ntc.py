"""NTC: the non-traditional classifier, which separates labeled from unlabeled."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.exporting import Graph
from unskew.rankers._by_labeling import LabelingRanker


@dataclass(kw_only=True, eq=False, repr=False)
class NonTraditional(LabelingRanker):
    r"""Rank by the probability of being labeled, as if all unlabeled instances were negative.

    The non-traditional classifier separates labeled from unlabeled by the cross entropy

    .. math:: \hat\alpha E_l[\log(1 + e^{-g(x)})] + (1 - \hat\alpha) E_u[\log(1 + e^{g(x)})]

    and the score is the logit of its probability :math:`\hat u(x)`. Neither confidence nor prior is needed. Other
    methods estimate the labeling probability in the same way; `labeling` lends them a fitted one. In the one-sample
    scenario that is p(o=1|x); in the two-sample scenario the score is the same, an increasing function of the density
    ratio.

    Notes
    -----
    **Assumption.**
    SCAR: then u = c p(y=1|x), and its ranking is the best one. Under SAR it prefers what labelers prefer.

    **Use it when.**
    A first look is wanted, or labels are known to be given at random among the positives.

    **Do not use it when.**
    Labels favor some kinds of positives.

    **Differs from its authors.**
    A network instead of a support vector machine with Platt scaling. Their posterior, u / c, has the same order.

    References
    ----------
    C. Elkan, K. Noto. Learning classifiers from only positive and unlabeled data. KDD 2008.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> ranker = unskew.make("ntc", max_epochs=5, random_state=0)
    >>> ranker.fit(data.X, data.labeled, confidence=data.confidence).decision_function(data.X).shape
    (300,)
    """

    name: ClassVar[str] = "ntc"
    table_name: ClassVar[str] = "NTC"
    position: ClassVar[int] = 3
    assumption: ClassVar[str] = "SCAR"
    joins_team: ClassVar[bool] = True

    def to_score(self, logit: np.ndarray) -> np.ndarray:
        """The logit itself."""
        return logit

    def to_score_in(self, graph: Graph, logit: str) -> str:
        """The same as a node of a graph."""
        return logit
