"""NTC: the non-traditional classifier, which tells labeled from unlabeled."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.rankers._base import LabelingRanker


@dataclass(kw_only=True, eq=False, repr=False)
class NonTraditional(LabelingRanker):
    r"""Rank by the probability of being labeled, as if all unlabeled instances were negative.

    The score is the logit of :math:`\hat u(x)`. Under SCAR, where u = c p(y=1|x), that ranking is the best one; under
    SAR it prefers what labelers prefer.

    Assumes SCAR. Needs neither confidence nor prior. The other methods that use the labeling probability estimate it
    in the same way; `labeling` lends them a fitted one.

    References
    ----------
    C. Elkan, K. Noto. Learning classifiers from only positive and unlabeled data. KDD 2008.
    """

    name: ClassVar[str] = "ntc"
    table_name: ClassVar[str] = "NTC"
    position: ClassVar[int] = 3
    assumption: ClassVar[str] = "SCAR"

    def _to_score(self, logit: np.ndarray) -> np.ndarray:
        return logit
