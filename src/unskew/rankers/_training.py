"""How the networks of a ranker are trained, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from unskew.data.records import PUData
from unskew.learning.boosting import BinnedRows, TreeTrainer, lightgbm
from unskew.learning.networks import TREES
from unskew.learning.pace import AUTO, pace_for
from unskew.learning.trainer import Trainer
from unskew.learning.tree_pace import leaves_for, tree_pace_for
from unskew.rankers._columns import categories_known_to

if TYPE_CHECKING:
    from unskew.rankers._base import Ranker


def trainer_of(ranker: Ranker, train: PUData) -> Trainer:
    """Trainer with what was asked for, or with what suits the size of the data; the ranker then shows it."""
    size = train.n_labeled + train.n_unlabeled, train.n_labeled
    batch_size = None if ranker.batch_size == AUTO else int(ranker.batch_size)
    pace = tree_pace_for(*size, ranker.drive) if ranker.network == TREES else pace_for(*size, ranker.drive, batch_size)
    for name, usual in pace._asdict().items():
        asked = getattr(ranker, name)
        setattr(ranker, f"{name}_", usual if asked == AUTO else asked)
    chosen = {name: getattr(ranker, f"{name}_") for name in pace._fields}
    about = {name: getattr(ranker, name) for name in ("network", "patience", "keep", "device", "verbose")}
    if ranker.network == TREES:
        groups = categories_known_to(ranker)
        return TreeTrainer(**chosen, **about, leaves=leaves_for(*size), binned=BinnedRows(train, groups), groups=groups)
    return Trainer(**chosen, **about)


def require_trees(ranker: Ranker) -> None:
    """Refuse to fit trees where what grows them is not installed."""
    if ranker.network == TREES:
        lightgbm()


def require_device(device: str) -> None:
    """Refuse a device that torch does not have here."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"device must be one that torch has here, but it is {device!r}: {error}") from None
