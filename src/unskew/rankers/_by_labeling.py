"""Methods whose score is a function of the labeling probability."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.data.records import PUData
from unskew.data.rows import Rows
from unskew.errors import NotExportable
from unskew.exporting import Graph
from unskew.learning.trainer import Trainer
from unskew.rankers._base import Ranker
from unskew.rankers.labeling import as_model


@dataclass(kw_only=True, eq=False, repr=False)
class LabelingRanker(Ranker):
    """A method whose score is a function of the labeling probability.

    Examples
    --------
    >>> import unskew
    >>> issubclass(unskew.NonTraditional, unskew.LabelingRanker)
    True
    """

    uses_labeling: ClassVar[bool] = True

    @abstractmethod
    def to_score(self, logit: np.ndarray) -> np.ndarray:
        """Turn logits of the labeling probability into scores."""

    def learn(self, data: PUData, held_out: PUData, trainer: Trainer, rng: np.random.RandomState) -> None:
        """Nothing is left to learn beyond the labeling model."""
        model = as_model(self.labeling_)
        self.history_, self.best_epoch_ = list(model.history), model.best_epoch

    def _score(self, X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
        return self.to_score(as_model(self.labeling_).logit_at(X, rows))

    def to_score_in(self, graph: Graph, logit: str) -> str:
        """Add what `to_score` does to a graph; a method without it cannot be written as ONNX."""
        raise NotExportable(
            f"a method of labeling probabilities that is written as ONNX must say how in `to_score_in`, but "
            f"{type(self).__name__} does not. Define it beside `to_score`."
        )

    def _score_in(self, graph: Graph, rows: str) -> str:
        return self.to_score_in(graph, as_model(self.labeling_).logit_in(graph, rows))
