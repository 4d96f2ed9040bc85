"""Regression on the confidence, by a network or by boosted trees."""

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from unskew.data.records import PUData, ScoredBatch
from unskew.learning.trainer import Trainer
from unskew.objectives.joint_risk import confidence_logit
from unskew.objectives.weights import inverse_labeling_weight
from unskew.rankers._base import Ranker

PULL = 0.01
"""How strongly the scores of all rows are drawn to 0, as in `conf-reg`."""
LEAST_SPREAD = 1e-6


@dataclass(kw_only=True, eq=False, repr=False)
class ConfidenceFit(Ranker):
    r"""Learn the confidence as a function of the row, by a network or by boosted trees.

    The confidence is the posterior at the labeled rows, so it can be learned as a target t, its logit moved and scaled
    to be 1 or more:

    .. math::
        \min_f \sum_l v_l (f(x_l) - t_l)^2 + k\, E_x[f(x)^2], \qquad v \propto 1 / \hat u

    The weights v undo the bias of the labels; the second term, with k = 0.01, keeps rows low that are unlike any label,
    and changes no order where labels are. It is the regression of `conf-reg` for functions that have no closed form:
    with ``network="trees"`` f is a sum of trees, which find interactions and steps. That is for the one-sample
    scenario; in the two-sample scenario the density ratio takes the place of u, and E is over the unlabeled rows.

    Attributes
    ----------
    network_ : torch.nn.Module
        f, the score function.
    labeling_ : estimator of the labeling probability

    Notes
    -----
    **Assumption.**
    SAR: labels may favor some kinds of positives. The confidence is any increasing function of the probability of being
    positive, and depends on the columns.

    **Use it when.**
    There are some hundred labels or more with a confidence that the columns explain, and columns interact: then with
    ``network="trees"``.

    **Do not use it when.**
    The confidence has little to do with the columns (all labels sure, votes of a few people), or there are few labels:
    `conf-gp`, `conf-reg` and `auto` learn more from the unlabeled rows then. Nor with trees where whole kinds of rows
    are never labeled because they are hardly ever positive: beside the penalty on leaves the second term weighs little,
    and such rows get about the mean score of the labels.

    **Differs from its authors.**
    It is this library's own.

    References
    ----------
    Boosting of squared errors: J. H. Friedman. Greedy function approximation: a gradient boosting machine. Annals of
    Statistics, 2001.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(600, random_state=0)
    >>> ranker = unskew.make("conf-fit", random_state=0)
    >>> bool(ranker.fit(data.X, data.labeled, confidence=data.confidence).score(data.X, data.y) > 0.85)
    True
    """

    name: ClassVar[str] = "conf-fit"
    table_name: ClassVar[str] = "ConfFit"
    position: ClassVar[int] = 17
    assumption: ClassVar[str] = "SAR"
    needs: ClassVar[tuple[str, ...]] = ("confidence",)
    uses_labeling: ClassVar[bool] = True
    without_confidence: ClassVar[str] = "and only the weights of the labels count"
    beyond_paper: ClassVar[bool] = True
    drive: ClassVar[float] = 4.0  # as `conf-joint`: few labels take part, so that larger steps are needed

    def learn(self, data: PUData, held_out: PUData, trainer: Trainer, rng: np.random.RandomState) -> None:
        """Minimize the squared error; sets `network_`, `history_` and `best_epoch_`."""
        data, held_out = (self._weighed(each) for each in (data, held_out))
        target = confidence_logit(torch.from_numpy(data.confidence))
        low, spread = float(target.min()), max(float(target.std(correction=0)), LEAST_SPREAD)
        risk = partial(squared_risk, low=low, spread=spread, two_sample=self.scenario == "two-sample")
        trained = trainer.for_squares().minimize(risk, data, held_out, rng, self.name)
        self.network_, self.history_, self.best_epoch_ = trained.network, trained.history, trained.best_epoch

    def _weighed(self, data: PUData) -> PUData:
        """Weights 1 / u, of mean 1."""
        weight = inverse_labeling_weight(np.ones(data.n_labeled), data.divisor, self.clip)
        confidence = np.ones(data.n_labeled) if data.confidence is None else data.confidence
        return replace(data, weight=weight / weight.mean(), confidence=confidence)


def squared_risk(batch: ScoredBatch, low: float, spread: float, two_sample: bool) -> Tensor:
    r"""Weighted squared error of the scores of labeled rows, and a pull of all scores to 0.

    .. math::
        E_l[v (f - t)^2] + k \{\alpha E_l[f^2] + (1 - \alpha) E_u[f^2]\}, \qquad t = 1 + (y - y_0) / \mathrm{sd}(y)

    y is the logit of the confidence, y_0 the lowest one (`low`) and sd(y) the `spread`; v has a mean of 1. For two
    samples the unlabeled rows stand for all, so that the pull is on these alone. Implements: Eq. (R3).
    """
    assert batch.weight is not None
    assert batch.confidence is not None
    target = 1 + (confidence_logit(batch.confidence) - low) / spread
    error = (batch.weight * (batch.labeled - target).square()).mean()
    pull = batch.unlabeled.square().mean()
    if not two_sample:
        pull = batch.alpha * batch.labeled.square().mean() + (1 - batch.alpha) * pull
    return error + PULL * pull
