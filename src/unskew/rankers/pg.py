"""PG: the posterior from the labeling probability, where propensity grows with the posterior."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unskew.data.records import PUData
from unskew.exporting import Graph
from unskew.learning.trainer import Trainer
from unskew.rankers._by_labeling import LabelingRanker
from unskew.rankers._members import mean_of
from unskew.rankers.labeling import as_model


@dataclass(kw_only=True, eq=False, repr=False)
class ProbabilisticGap(LabelingRanker):
    r"""Recover the posterior from the labeling probability by a square root.

    If the propensity is proportional to the posterior, :math:`e(x) = k\, \eta(x)`, then :math:`u(x) = k\, \eta(x)^2`,
    and with an instance that is surely positive :math:`k = \max u`:

    .. math:: \hat\eta(x) = \sqrt{\hat u(x) / \hat k}, \qquad \hat k = \max_n \hat u(x_n)

    The maximum is over the training data. The score is the logarithm of this, before clipping to 1, so that it ranks as
    `ntc` does; `posterior` gives the clipped probability. This is for the one-sample scenario; in the two-sample
    scenario the density ratio takes the place of u, to which it is proportional.

    Notes
    -----
    **Assumption.**
    SAR, probabilistic gap: the propensity is a linear function of the posterior, and some training instances are surely
    positive.

    **Use it when.**
    A calibrated posterior is wanted and labels favor the clear cases in proportion to how clear they are.

    **Do not use it when.**
    Only the ranking matters: it is that of `ntc`, which assumes less.

    **Differs from its authors.**
    Scores are not clipped at a posterior of 1, because ties would cost AUC.

    References
    ----------
    W. Gerych, T. Hartvigsen, L. Buquicchio, E. Agu, E. Rundensteiner. Recovering the propensity score from biased
    positive unlabeled data. AAAI 2022.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> ranker = unskew.make("pg", max_epochs=5, random_state=0)
    >>> ranker.fit(data.X, data.labeled, confidence=data.confidence).decision_function(data.X).shape
    (300,)
    """

    name: ClassVar[str] = "pg"
    table_name: ClassVar[str] = "PG"
    position: ClassVar[int] = 7
    assumption: ClassVar[str] = "SAR, propensity linear in the posterior"

    def posterior(self, X: Any) -> np.ndarray:
        """Estimated probability of being positive; shape (n,)."""
        if hasattr(self, "members_"):
            return mean_of(self.members_, lambda each: each.posterior(X))
        return np.asarray(np.minimum(1.0, np.exp(self.decision_function(X))))

    def learn(self, data: PUData, held_out: PUData, trainer: Trainer, rng: np.random.RandomState) -> None:
        """Find the largest labeling probability, too."""
        super().learn(data, held_out, trainer, rng)
        rows = np.concatenate([data.labeled_rows, data.unlabeled_rows])
        self.largest_log_ = float(self._log(as_model(self.labeling_).logit_at(data.X, rows)).max())

    def _log(self, logit: np.ndarray) -> np.ndarray:
        """Logarithm of u, or of the density ratio up to a constant, which the maximum takes out again."""
        return -np.logaddexp(0, -logit) if self.scenario == "one-sample" else logit

    def to_score(self, logit: np.ndarray) -> np.ndarray:
        """Logarithm of the posterior, before it is clipped at 1."""
        return (self._log(logit) - self.largest_log_) / 2

    def to_score_in(self, graph: Graph, logit: str) -> str:
        """The same as nodes of a graph."""
        log = graph.log_probability_of(logit) if self.scenario == "one-sample" else logit
        return graph.add("Div", graph.add("Sub", log, np.float64(self.largest_log_)), np.float64(2))
