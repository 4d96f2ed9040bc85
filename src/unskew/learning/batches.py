"""Shuffled batches of positive-unlabeled data, drawn ahead of the steps that use them."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import torch
from torch import Generator, Tensor

from unskew.data.records import PUData, ScoredBatch

BatchOf = Callable[[Tensor], ScoredBatch]
"""What turns scores of rows into a batch for the risk."""

DRAWN_AHEAD = 1 << 16
"""About how many unlabeled instances to draw batches of at once, if need be for several epochs."""


def batch_sizes(data: PUData, batch_size: int) -> tuple[int, int]:
    """Labeled and unlabeled instances per batch, P and U, in the ratio of the data (Algorithm 1, line 1).

    At least two labeled ones where there are two, so that those risks that have a term of their pairs have it in every
    batch; at least one unlabeled; and never more than there are: an instance does not meet itself in a batch.

    Examples
    --------
    >>> data = PUData(None, np.arange(100), np.arange(4900))
    >>> batch_sizes(data, 1024)
    (20, 1004)
    """
    labeled = min(max(2, round(batch_size * data.alpha)), batch_size - 1, data.n_labeled)
    unlabeled = min(batch_size - labeled, data.n_unlabeled)
    return labeled, unlabeled


class Batches:
    """Shuffled batches of one data set, drawn anew for every epoch.

    An epoch walks the unlabeled instances once, in equal parts; the labeled ones are walked in shuffled passes, as
    many as the epoch has steps for. No instance is twice in a batch. Up to `n_epochs` epochs may be drawn ahead.
    """

    def __init__(self, data: PUData, batch_size: int, device: str, n_epochs: int = 1) -> None:
        self.X, self.alpha, self.device = data.X, data.alpha, device
        self.n_labeled, n_unlabeled = batch_sizes(data, batch_size)
        self.n_steps = math.ceil(data.n_unlabeled / n_unlabeled)
        self.labeled_rows, self.unlabeled_rows = data.labeled_rows, data.unlabeled_rows
        self.columns = columns_of(data, device)
        # One buffer for all batches: nothing that grows with the batch is allocated per step for the features. Equal
        # parts differ by one at most, so that two views of it do for all batches.
        full = self.n_labeled + math.ceil(data.n_unlabeled / self.n_steps)
        buffer = torch.empty((full, *data.X.shape), dtype=torch.float32)
        self.room = {n: (buffer[:n], buffer[:n].numpy()) for n in (full, full - 1)}
        self.n_ahead = 1 if data.X.prepares_for_order else min(n_epochs, max(1, DRAWN_AHEAD // data.n_unlabeled))
        self.drawn: list[list[tuple[np.ndarray, BatchOf]]] = []

    def draw_epoch(self, generator: Generator) -> Iterator[tuple[Tensor, BatchOf]]:
        """Rows of features, the labeled ones first, and what turns their scores into a batch for the risk."""
        # All small work of some epochs is done at once: between the large products of the steps it takes several times
        # as long, because these drive its code and data out of the processor's caches.
        if not self.drawn:
            self.drawn = [self._draw(generator) for _ in range(self.n_ahead)][::-1]
        for rows, batch_of in self.drawn.pop():
            batch, place = self.room[len(rows)]
            self.X.take(rows, out=place)
            yield batch if self.device == "cpu" else batch.to(self.device), batch_of

    def _draw(self, generator: Generator) -> list[tuple[np.ndarray, BatchOf]]:
        """The steps of one epoch: numbers of rows, and what makes a batch of their scores."""
        labeled = labeled_by_step(len(self.labeled_rows), self.n_labeled, self.n_steps, generator)
        order = self.X.shuffle(self.unlabeled_rows, generator).numpy()
        # Inside a batch the order means nothing to a risk, and rows are fetched faster in the order in which they lie.
        unlabeled = [np.sort(part) for part in np.array_split(order, self.n_steps)]
        columns = zip(*map(_by_step, self.columns, (labeled, labeled, unlabeled)), strict=True)
        return [
            (np.concatenate((self.labeled_rows[some], self.unlabeled_rows[others])), partial(self._batch, *values))
            for some, others, values in zip(labeled, unlabeled, columns, strict=True)
        ]

    def _batch(
        self, weight: Tensor | None, confidence: Tensor | None, unlabeled_weight: Tensor | None, score: Tensor
    ) -> ScoredBatch:
        labeled, unlabeled = torch.split_with_sizes(score, (self.n_labeled, len(score) - self.n_labeled))
        return ScoredBatch(labeled, unlabeled, self.alpha, weight, confidence, unlabeled_weight)


def labeled_by_step(n_rows: int, n_labeled: int, n_steps: int, generator: Generator) -> list[np.ndarray]:
    """Which of the labeled instances each step gets, in as many shuffled passes as are needed."""
    steps_per_pass = n_rows // n_labeled
    passes = [
        torch.randperm(n_rows, generator=generator)[: steps_per_pass * n_labeled]
        for _ in range(math.ceil(n_steps / steps_per_pass))
    ]
    return np.split(torch.cat(passes)[: n_steps * n_labeled].numpy(), n_steps)


def _by_step(values: Tensor | None, steps: list[np.ndarray]) -> Sequence[Tensor | None]:
    """Values at the instances of each step."""
    if values is None:
        return [None] * len(steps)
    return torch.split(values[torch.from_numpy(np.concatenate(steps))], [len(each) for each in steps])


def columns_of(data: PUData, device: str) -> list[Tensor | None]:
    """Weight and confidence of the labeled instances, weight of the unlabeled ones; None for what there is not."""
    columns = data.weight, data.confidence, data.unlabeled_weight
    return [None if each is None else torch.from_numpy(each.astype(np.float32)).to(device) for each in columns]
