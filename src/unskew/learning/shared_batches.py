"""Shuffled batches of rows that a team holds: each worker takes its part of every batch, and draws for itself alone.

What is drawn depends on the seed of the training, the epoch and the shard, and on nothing else: so a training that
stopped goes on in the middle of an epoch, with as many workers as there then are.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Generator, Tensor

from unskew.data.records import PUData, ScoredBatch
from unskew.learning.batches import BatchOf, batch_sizes, columns_of, labeled_by_step


@dataclass(frozen=True)
class Layout:
    """How many labeled and unlabeled rows of a batch each shard takes care of."""

    labeled: tuple[int, ...]
    unlabeled: tuple[int, ...]

    def message_sizes(self, has_weights: bool) -> list[int]:
        """Numbers that each shard sends: scores of its rows, and perhaps weights of its unlabeled ones."""
        times = 2 if has_weights else 1
        return [some + times * others for some, others in zip(self.labeled, self.unlabeled, strict=True)]

    def joined(self, messages: Sequence[Tensor]) -> Tensor:
        """Scores of the whole batch, the labeled ones first, from those of each shard; weights, if any, come last."""
        sizes = list(zip(self.labeled, self.unlabeled, strict=True))
        labeled = [each[:some] for each, (some, _) in zip(messages, sizes, strict=True)]
        unlabeled = [each[some : some + others] for each, (some, others) in zip(messages, sizes, strict=True)]
        weights = [each[some + others :] for each, (some, others) in zip(messages, sizes, strict=True)]
        return torch.cat([*labeled, *unlabeled, *weights])

    def taken_apart(self, slope: Tensor, shards: Sequence[int]) -> list[Tensor]:
        """What belongs to the rows of these shards."""
        labeled, unlabeled = (torch.split(each, list(sizes)) for each, sizes in self._halves(slope))
        return [torch.cat([labeled[shard], unlabeled[shard]]) for shard in shards]

    def _halves(self, slope: Tensor) -> list[tuple[Tensor, tuple[int, ...]]]:
        n = sum(self.labeled)
        return [(slope[:n], self.labeled), (slope[n:], self.unlabeled)]


@dataclass(frozen=True)
class Parts:
    """A worker's part of a batch: features of each of its shards, the labeled rows first, and weights, if any."""

    features: list[Tensor]
    weights: list[Tensor] | None
    layout: Layout


class SharedBatches:
    """Shuffled batches of data that a team holds; see `unskew.learning.batches.Batches`.

    Each batch has rows of all shards, in the ratio of their sizes. `start_at` says where to begin.
    """

    def __init__(self, data: PUData, batch_size: int, device: str) -> None:
        assert data.share is not None
        self.X, self.alpha, self.device, self.share = data.X, data.alpha, device, data.share
        self.labeled_rows, self.unlabeled_rows = data.labeled_rows, data.unlabeled_rows
        self.n_labeled, n_unlabeled = batch_sizes(data, batch_size)
        self.n_steps = math.ceil(data.n_unlabeled / n_unlabeled)
        self.weight, self.confidence, self.unlabeled_weight = columns_of(data, "cpu")
        team = self.share.team
        self.labeled_parts = np.array_split(np.arange(self.n_labeled), team.n_shards)
        self.largest = max(map(len, self.labeled_parts)) + math.ceil(max(self.share.sizes) / self.n_steps)
        self.room = torch.empty((len(team.shards), self.largest, *data.X.shape), dtype=torch.float32)
        self.start_at(0, 0)

    def start_at(self, epoch: int, step: int) -> None:
        """Let the next epoch that is drawn be this one, and leave out its first steps."""
        self.epoch, self.first_step = epoch, step

    def draw_epoch(self, generator: Generator) -> Iterator[tuple[Parts, BatchOf]]:
        """The part of each batch that this worker has, and what turns the scores of all into a batch for the risk."""
        seed, team = generator.initial_seed(), self.share.team
        for_labeled = _generator_of(seed, self.epoch, team.n_shards)
        labeled = labeled_by_step(len(self.labeled_rows), self.n_labeled, self.n_steps, for_labeled)
        unlabeled = [
            np.array_split(self._order(place, _generator_of(seed, self.epoch, shard)), self.n_steps)
            for shard, place in zip(team.shards, self.share.slices(), strict=True)
        ]
        steps = range(self.first_step, self.n_steps)
        self.start_at(self.epoch + 1, 0)
        for step in steps:
            yield self._part(step, labeled[step], [each[step] for each in unlabeled]), self._batch_of(labeled[step])

    def _order(self, place: slice, generator: Generator) -> np.ndarray:
        """Places of a shard's rows among the unlabeled ones, shuffled."""
        order = self.X.shuffle(self.unlabeled_rows[place], generator).numpy()
        return np.asarray(order + place.start)

    def _part(self, step: int, labeled: np.ndarray, unlabeled: list[np.ndarray]) -> Parts:
        features, weights = [], []
        for room, shard, chosen in zip(self.room, self.share.team.shards, unlabeled, strict=True):
            inside = np.sort(chosen)  # rows are fetched faster in the order in which they lie
            rows = np.concatenate([self.labeled_rows[labeled[self.labeled_parts[shard]]], self.unlabeled_rows[inside]])
            place = room[: len(rows)]
            self.X.take(rows, out=place.numpy())
            features.append(place if self.device == "cpu" else place.to(self.device))
            if self.unlabeled_weight is not None:
                weights.append(self.unlabeled_weight[torch.from_numpy(inside)].to(self.device))
        return Parts(features, weights if self.unlabeled_weight is not None else None, self._layout(step))

    def _layout(self, step: int) -> Layout:
        """As `numpy.array_split` deals rows to the steps: the first ones have one more."""
        unlabeled = (size // self.n_steps + (step < size % self.n_steps) for size in self.share.sizes)
        return Layout(tuple(map(len, self.labeled_parts)), tuple(unlabeled))

    def _batch_of(self, labeled: np.ndarray) -> BatchOf:
        place = torch.from_numpy(labeled)
        weight, confidence = (
            None if each is None else each[place].to(self.device) for each in (self.weight, self.confidence)
        )
        return partial(self._batch, weight, confidence)

    def _batch(self, weight: Tensor | None, confidence: Tensor | None, score: Tensor) -> ScoredBatch:
        labeled, rest = score[: self.n_labeled], score[self.n_labeled :]
        if self.unlabeled_weight is None:
            return ScoredBatch(labeled, rest, self.alpha, weight, confidence, None)
        n = len(rest) // 2
        return ScoredBatch(labeled, rest[:n], self.alpha, weight, confidence, rest[n:].detach())


def _generator_of(seed: int, epoch: int, shard: int) -> Generator:
    """Generator for one shard in one epoch; the number behind the last shard is that of the labeled rows."""
    state = np.random.SeedSequence((seed, epoch, shard)).generate_state(1, np.uint64)[0]
    return Generator().manual_seed(int(state >> np.uint64(1)))
