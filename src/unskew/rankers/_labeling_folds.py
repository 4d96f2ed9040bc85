"""The labeling probability by trees: always out of folds, none of which chooses its rounds by rows that it predicts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.data.records import Epoch, PUData
from unskew.learning.boosted_trees import BoostedTrees

if TYPE_CHECKING:
    from unskew.rankers.labeling import LabelingNetwork

TREE_FOLDS = 5


def folds_of_trees(crossfit: int, data: PUData) -> int:
    """Folds that were asked for or else five, as far as each can have two rows of either kind; 0 if that is not two."""
    most = min(TREE_FOLDS, data.n_labeled // 2, data.n_unlabeled // 2)
    return crossfit or (most if most > 1 else 0)


def with_rounds_of_others(models: list[LabelingNetwork]) -> list[LabelingNetwork]:
    """The models of all folds, each cut to the rounds that are best for the others, in the mean of their left-out rows.

    By its own left-out rows a model would stop where it happens to predict these well, and they are what it is for.
    """
    longest = max(len(each.history) for each in models)
    risks = np.array([_padded([row.validation_risk for row in each.history], longest) for each in models])
    cut = []
    for number, model in enumerate(models):
        best = int(np.argmin(np.delete(risks, number, axis=0).mean(axis=0)))
        assert isinstance(model.network, BoostedTrees)
        network, last = model.network.first(best + 1), len(model.history) - 1
        cut.append(replace(model, network=network.eval(), best_epoch=min(best, last)))
    return cut


def training_of(models: tuple[LabelingNetwork, ...]) -> dict[str, Any]:
    """Mean risks of all folds by round, and the round that is best in the mean."""
    longest = max(len(each.history) for each in models)
    risks = [
        np.mean([_padded([getattr(row, name) for row in each.history], longest) for each in models], axis=0)
        for name in ("train_risk", "validation_risk")
    ]
    history = [Epoch(number, *pair) for number, pair in enumerate(np.transpose(risks).tolist())]
    return {"history": history, "best_epoch": int(np.argmin(risks[1]))}


def _padded(risks: list[float], length: int) -> list[float]:
    """Risks of so many rounds: trees that found nothing more to split stay as they are."""
    return risks + [risks[-1]] * (length - len(risks))
