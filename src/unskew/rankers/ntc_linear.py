"""Logistic regression of labeled against unlabeled rows: what people would otherwise run."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.posterior import PosteriorModel
from unskew.posterior.regression import fit_labeled_against_unlabeled
from unskew.rankers._whole import WholeTable, WholeTableRanker


@dataclass(kw_only=True, eq=False, repr=False)
class LinearNTC(WholeTableRanker):
    r"""Rank by a logistic regression of labeled against unlabeled rows.

    .. math:: \min_\theta \alpha E_l[\log(1 + e^{-g(x)})] + (1 - \alpha) E_u[\log(1 + e^{g(x)})] + \lambda |\theta|^2

    g is linear in the columns and the normal scores of their ranks; the penalty is chosen by cross-validation. The
    score is g, the logit of the labeling probability. The same holds in the one-sample scenario and in the two-sample
    scenario, where g is the logarithm of the density ratio but for a constant.

    Attributes
    ----------
    function_ : unskew.posterior.PosteriorModel
        The score as a function of the row.

    Notes
    -----
    **Assumption.**
    SCAR: labeled positives are a random sample of all positives, and a line tells positives from the rest.

    **Use it when.**
    There is no confidence and few labels; or as what any other method has to beat.

    **Do not use it when.**
    Labels favor some kinds of positives: it ranks by how likely a row is labeled, not by how likely it is positive.

    **Differs from its authors.**
    Elkan and Noto leave the classifier open. `network` and the other parameters of training have no effect on the
    score.

    References
    ----------
    C. Elkan, K. Noto. Learning classifiers from only positive and unlabeled data. KDD 2008.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> ranker = unskew.make("ntc-linear", max_epochs=5, random_state=0)
    >>> ranker.fit(data.X, data.labeled, confidence=data.confidence).decision_function(data.X).shape
    (300,)
    """

    name: ClassVar[str] = "ntc-linear"
    table_name: ClassVar[str] = "NTC-lin"
    position: ClassVar[int] = 16
    assumption: ClassVar[str] = "SCAR"

    def function_of(self, table: WholeTable, rng: np.random.RandomState) -> PosteriorModel:
        """Logistic regression."""
        return fit_labeled_against_unlabeled(table.take_features(), table.labeled, table.weight, rng)
