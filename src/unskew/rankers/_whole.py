"""Methods that have no epochs to choose: they learn a function of the row from all rows at once, in closed form."""

from abc import abstractmethod
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np

from unskew.data.records import Epoch, PUData
from unskew.data.rows import Rows
from unskew.exporting import Graph, posterior_in
from unskew.learning.trainer import Trainer
from unskew.posterior import PosteriorModel, rows_to_fit
from unskew.rankers._base import Ranker
from unskew.rankers._probability import logits_of, table_of

LEAST_TO_RANK = 1
"""Labeled rows, and others, below which nothing can be ranked; probabilities need more."""


@dataclass
class WholeTable:
    """Rows that a closed form is fitted to: all, or of very large tables enough of them.

    Attributes
    ----------
    X : array of shape (n, n_features)
        `take_features` gives it away.
    labeled : array of bool, shape (n,)
    confidence : array of shape (n_labeled,)
        1 where none was given.
    weight : array of shape (n,)
        How many rows of the table each stands for.
    """

    X: np.ndarray
    labeled: np.ndarray
    confidence: np.ndarray
    weight: np.ndarray

    def take_features(self) -> np.ndarray:
        """X, which is not kept: of wide tables it is large, and a fit that is the last to hold it can let it go."""
        X, self.X = self.X, np.empty((0, 0))
        return X

    @classmethod
    def of(cls, data: PUData, rng: np.random.RandomState) -> "WholeTable":
        """Rows of a record."""
        labeled, confidence = np.zeros(len(data.X), dtype=bool), np.ones(len(data.X))
        labeled[data.labeled_rows] = True
        if data.confidence is not None:
            confidence[data.labeled_rows] = data.confidence
        used = np.sort(np.concatenate([data.labeled_rows, data.unlabeled_rows]))
        chosen, weight = rows_to_fit(labeled[used], prod(data.X.shape), rng, LEAST_TO_RANK)
        rows = used[chosen]
        return cls(table_of(data.X, rows), labeled[rows], confidence[rows][labeled[rows]], weight)


@dataclass(kw_only=True, eq=False, repr=False)
class WholeTableRanker(Ranker):
    """A method that learns from all rows in closed form: nothing is held out, and `validation` counts as more rows."""

    trains_networks: ClassVar[bool] = False
    holds_out: ClassVar[bool] = False
    beyond_paper: ClassVar[bool] = True
    fixed_seed: ClassVar[bool] = False  # whether the same rows give the same score whatever `random_state` is

    @abstractmethod
    def function_of(self, table: WholeTable, rng: np.random.RandomState) -> PosteriorModel:
        """Fit the function of the row that is the score."""

    def learn(self, data: PUData, held_out: PUData, trainer: Trainer, rng: np.random.RandomState) -> None:
        """Fit the function; there are no epochs."""
        rng = np.random.RandomState(0) if self.fixed_seed else rng
        self.function_ = self.function_of(WholeTable.of(data, rng), rng)
        self.history_: list[Epoch] = []
        self.best_epoch_ = 0

    def _score(self, X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
        return logits_of(self.function_, X, rows)

    def _score_in(self, graph: Graph, rows: str) -> str:
        return posterior_in(graph, self.function_, rows)
