"""Regression on the confidence, in closed form."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.posterior import PosteriorModel
from unskew.posterior.regression import fit_regression
from unskew.rankers._whole import WholeTable, WholeTableRanker


@dataclass(kw_only=True, eq=False, repr=False)
class ConfidenceRegression(WholeTableRanker):
    r"""Learn the confidence as a function of the row, by least squares, as far as it can be predicted.

    The confidence is the posterior at the labeled rows, so it can be learned as a target t, its logit moved and scaled
    to be 1 or more:

    .. math::
        \min_f \sum_l v_l (f(x_l) - t_l)^2 + k\, E_x[f(x)^2] + \lambda (1 + k) |\theta|^2, \qquad v \propto 1 / \hat u

    f is linear in the columns, the normal scores of their ranks and 100 random waves. The weights v undo the bias of
    the labels; the second term keeps rows low that are unlike any label, and changes no order where labels are. Beside
    f stands h, the same with t = r and a strong pull, which learns from the weights alone. The score is
    :math:`\rho z(f) + (1 - \rho) z(h)`, where :math:`\rho` is the rank correlation of the confidence with predictions
    of left-out labels, which are exact in closed form. In the two-sample scenario the odds of being labeled take the
    place of the labeling probability of the one-sample scenario.

    Attributes
    ----------
    function_ : unskew.posterior.PosteriorModel
        The score as a function of the row.

    Notes
    -----
    **Assumption.**
    SAR: labels may favor some kinds of positives. The confidence is any increasing function of the probability of being
    positive, and depends on the columns.

    **Use it when.**
    A ranking is wanted in a second or two, or a first look at what confidence can do. It needs no tuning.

    **Do not use it when.**
    The confidence has little to do with the columns (all labels sure, votes of a few people): `conf-gp` and `auto`
    learn more from the unlabeled rows then.

    **Differs from its authors.**
    It is this library's own. `network` and the other parameters of training have no effect on the
    score.

    References
    ----------
    Ridge regression with random features: A. Rahimi, B. Recht. Random features for large-scale kernel machines. NeurIPS
    2007.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(600, random_state=0)
    >>> ranker = unskew.make("conf-reg", random_state=0)
    >>> bool(ranker.fit(data.X, data.labeled, confidence=data.confidence).score(data.X, data.y) > 0.9)
    True
    """

    name: ClassVar[str] = "conf-reg"
    table_name: ClassVar[str] = "ConfReg"
    position: ClassVar[int] = 15
    assumption: ClassVar[str] = "SAR"
    needs: ClassVar[tuple[str, ...]] = ("confidence",)
    without_confidence: ClassVar[str] = "and only the weights of the labels count"

    def function_of(self, table: WholeTable, rng: np.random.RandomState) -> PosteriorModel:
        """Least squares."""
        return fit_regression(
            table.take_features(), table.labeled, table.confidence, table.weight, self.scenario == "two-sample", rng
        )
