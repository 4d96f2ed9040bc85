"""The posterior itself as the score: joint likelihood of confidence and labels with a Gaussian process."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.posterior import PosteriorModel, fit_rows
from unskew.rankers._whole import WholeTable, WholeTableRanker


@dataclass(kw_only=True, eq=False, repr=False)
class ConfidenceGP(WholeTableRanker):
    r"""Rank by the probability of being positive that `unskew.posterior` learns.

    The logit f of the posterior is a line plus a Gaussian process, the logit g of the propensity a line. Both are found
    at once, from the confidence y on the scale of the logit, which is f but for noise and what the columns do not show,
    and from which rows are labeled:

    .. math::
        \max_{f, g} \sum_u \log\{1 - \sigma(g) \sigma(\kappa f)\}
        + \sum_l \{\log \sigma(g) + \log \sigma(\kappa' m) + \log N(y; f, \omega^2 + v)\}
        - \tfrac12 |\theta|^2_S

    `docs/posterior.md` derives it (Eqs. P1 to P6). The score is f. This is for the one-sample scenario; in the
    two-sample scenario Eq. (P3) takes the place of (P2).

    Attributes
    ----------
    function_ : unskew.posterior.PosteriorModel
        The score as a function of the row.

    Notes
    -----
    **Assumption.**
    SAR: labels may favor some kinds of positives. The confidence is about the probability of being positive; noise,
    levels and votes are part of the model.

    **Use it when.**
    Nearly always with confidence and up to a few thousand labels: it is quick, has nothing to tune, and the same rows
    give the same score.

    **Do not use it when.**
    Columns interact in ways that need more than a hundred waves to describe, and there are labels enough to learn them:
    see `conf-joint`, `auto` or a network.

    **Differs from its authors.**
    It is this library's own. `network`, `random_state` and the other parameters of training have no effect on the
    score.

    References
    ----------
    The likelihood without confidence is that of J. Bekker, P. Robberechts, J. Davis. Beyond the selected completely at
    random assumption for learning from positive and unlabeled data. ECML PKDD 2019.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(600, random_state=0)
    >>> ranker = unskew.make("conf-gp").fit(data.X, data.labeled, confidence=data.confidence)
    >>> bool(ranker.score(data.X, data.y) > 0.9)
    True
    """

    name: ClassVar[str] = "conf-gp"
    table_name: ClassVar[str] = "ConfGP"
    position: ClassVar[int] = 14
    assumption: ClassVar[str] = "SAR"
    needs: ClassVar[tuple[str, ...]] = ("confidence",)
    fixed_seed: ClassVar[bool] = True  # as the probabilities of every ranker
    without_confidence: ClassVar[str] = "and only which rows are labeled counts"

    def function_of(self, table: WholeTable, rng: np.random.RandomState) -> PosteriorModel:
        """The posterior."""
        labeled, confidence, weight = table.labeled, table.confidence, table.weight
        two_sample = self.scenario == "two-sample"
        return fit_rows(
            table.take_features(), labeled, confidence, weight, two_sample, rng, with_other_views=False
        ).model.alone()
