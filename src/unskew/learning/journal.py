"""How far trainings have come, in files from which they go on, with the same bits, after a worker was killed."""

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unskew._support.files import replacing
from unskew.data.records import Epoch

SECONDS = 30.0
"""Between two files: what is computed in this time is what a killed worker can cost."""


class Journal:
    """The trainings of one fit, one after another, each with a file of its own.

    All workers have the same weights, so one of them writes for all. A training that has ended is written with the next
    file that is due, because trainings may be shorter than the time between files.
    """

    def __init__(self, folder: Path, *, writes: bool, seconds: float = SECONDS) -> None:
        self.folder, self.writes, self.seconds = folder, writes, seconds
        self._number, self._ended = -1, dict[Path, Mapping[str, Any]]()
        self._last = time.monotonic()

    def begin(self) -> Mapping[str, Any] | None:
        """Turn to the next training; returns what is known of it, if anything."""
        self._number += 1
        path = self._path()
        # Only tensors, numbers and text: nothing in the file is executed.
        return torch.load(path, weights_only=True) if path.exists() else None

    def is_due(self) -> bool:
        """Whether it is time to write."""
        return self.writes and time.monotonic() - self._last >= self.seconds

    def write(self, state: Mapping[str, Any]) -> None:
        """Write how far the training at hand has come."""
        for path, each in [*self._ended.items(), (self._path(), state)]:
            with replacing(path) as file:
                torch.save(dict(each), file)
        self._ended.clear()
        self._last = time.monotonic()

    def end(self, state: Mapping[str, Any]) -> None:
        """Keep how the training at hand has ended."""
        if self.writes:
            self._ended[self._path()] = state
            if self.is_due():
                self.write(state)

    def _path(self) -> Path:
        return self.folder / f"training-{self._number}.pt"


class Course:
    """How far a training has come: weights, optimizer, history, and the weights to keep.

    Attributes
    ----------
    risks : list of Tensor
        Of the steps of the epoch under way.
    """

    def __init__(self, network: nn.Module, optimizer: Any, journal: Journal | None) -> None:
        self.network, self.optimizer, self.journal = network, optimizer, journal
        self.history: list[Epoch] = []
        self.lowest, self.best, self.kept = math.inf, -1, network.state_dict()
        self.risks: list[Tensor] = []
        self.is_over = False
        known = None if journal is None else journal.begin()
        if known is not None:
            self._go_on_from(known)

    def end_epoch(self, row: Epoch, *, keeps: bool) -> None:
        """Note an epoch, and keep its weights if it is the best so far."""
        self.history.append(row)
        self.risks = []
        if keeps:
            self.lowest, self.best = row.validation_risk, row.epoch
            self.kept = {name: value.detach().clone() for name, value in self.network.state_dict().items()}

    def after_step(self) -> None:
        """Write down how far the training has come, if it is time to."""
        if self.journal is not None and self.journal.is_due():
            self.journal.write(self._state())

    def end(self) -> None:
        """Take the weights to keep."""
        self.network.load_state_dict(self.kept)
        self.network.eval()
        self.is_over = True
        if self.journal is not None:
            self.journal.end(self._state())

    def _state(self) -> dict[str, Any]:
        optimizer = self.optimizer
        return {
            "weights": _copied(self.network.state_dict()),
            "kept": {} if self.is_over else dict(self.kept),
            "moments": [each.clone() for each in (*optimizer.mean, *optimizer.mean_square, optimizer.step)],
            "history": [tuple(row) for row in self.history],
            "lowest": self.lowest,
            "best": self.best,
            "risks": list(self.risks),
            "is_over": self.is_over,
        }

    def _go_on_from(self, state: Mapping[str, Any]) -> None:
        optimizer = self.optimizer
        self.network.load_state_dict(state["weights"])
        moments = (*optimizer.mean, *optimizer.mean_square, optimizer.step)
        for each, value in zip(moments, state["moments"], strict=True):
            each.copy_(value)
        self.history = [Epoch(*row) for row in state["history"]]
        self.lowest, self.best, self.is_over = state["lowest"], state["best"], state["is_over"]
        self.kept = state["weights"] if self.is_over else state["kept"]
        self.risks = list(state["risks"])


def _copied(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in state.items()}
