"""Methods that learn a network by minimizing a risk."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor

from unskew.data.records import PUData, ScoredBatch
from unskew.learning.trainer import Trainer
from unskew.rankers._base import Ranker


@dataclass(kw_only=True, eq=False, repr=False)
class RiskRanker(Ranker):
    """A method that learns its score by minimizing a risk.

    Examples
    --------
    >>> import unskew
    >>> issubclass(unskew.ConfidenceAUC, unskew.RiskRanker)
    True
    """

    joins_team: ClassVar[bool] = True

    def weigh(self, data: PUData) -> PUData:
        """Put the weights that the risk needs into the record."""
        return data

    @abstractmethod
    def risk(self, batch: ScoredBatch) -> Tensor:
        """Risk of a scored batch."""

    def learn(self, data: PUData, held_out: PUData, trainer: Trainer, rng: np.random.RandomState) -> None:
        """Minimize the risk; sets `network_`, `history_` and `best_epoch_`."""
        trained = trainer.minimize(self.risk, self.weigh(data), self.weigh(held_out), rng, self.name)
        self.network_, self.history_, self.best_epoch_ = trained.network, trained.history, trained.best_epoch
