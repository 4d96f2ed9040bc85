"""Rows that several workers hold together: which of them are whose, and how workers tell each other what they found.

The rows are dealt to a fixed number of *shards*, and each worker holds some shards whole. Whatever is computed of many
rows is computed shard by shard, and what the shards give is added in one fixed order. So a result depends on the
shards, but neither on how many workers share them nor on which of them was quicker.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor


class Team(ABC):
    """Workers that hold the shards of one table, as one of them sees it.

    Attributes
    ----------
    n_shards : int
        A power of two, so that sums are made in pairs, and the sum over a worker's shards is a part of that over all.
    n_workers, rank : int
        How many workers there are, and which of them this is, from 0 on.
    """

    def __init__(self, n_shards: int, n_workers: int = 1, rank: int = 0) -> None:
        if n_shards < 1 or n_shards & (n_shards - 1):
            raise ValueError(f"the number of shards must be a power of two, but it is {n_shards}.")
        if not 1 <= n_workers <= n_shards:
            raise ValueError(
                f"there must be from 1 to {n_shards} workers, because the rows are dealt to {n_shards} shards, but "
                f"there are {n_workers}. Use fewer workers, or deal to more shards."
            )
        self.n_shards, self.n_workers, self.rank = n_shards, n_workers, rank

    @property
    def shards(self) -> range:
        """Shards of this worker."""
        return self.shards_of(self.rank)

    def shards_of(self, worker: int) -> range:
        """Shards of a worker: neighbors, and as many as the others have, but for one."""
        return range(worker * self.n_shards // self.n_workers, (worker + 1) * self.n_shards // self.n_workers)

    @abstractmethod
    def gather(self, parts: "Sequence[Tensor]", sizes: Sequence[int]) -> "list[Tensor]":
        """One vector of each shard, in the order of shards, from those of this worker's; `sizes` are of all."""

    @abstractmethod
    def from_first(self, compute: "Callable[[], Any]") -> Any:
        """What the first worker computes, for all: where to share the work would cost more than it saves."""

    @abstractmethod
    def total(self, parts: "Sequence[Tensor]") -> "Tensor":
        """Sum over all shards of vectors of one size, of which this worker has those of its own shards."""


def sum_in_pairs(parts: "Sequence[Tensor]") -> "Tensor":
    """Sum of neighbors, then of neighboring sums: of a power of two, so that each half of them is summed alone."""
    while len(parts) > 1:
        parts = [first + second for first, second in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


@dataclass(frozen=True)
class Share:
    """What one worker has of a record of data: the unlabeled rows of its shards, beside all labeled rows.

    Attributes
    ----------
    team : Team
    sizes : tuple of int
        Unlabeled rows in each shard, of all workers.
    journal : Journal or None
        Where trainings note how far they have come.
    """

    team: Team
    sizes: tuple[int, ...]
    journal: Any = None

    def slices(self) -> list[slice]:
        """Where the unlabeled rows of this worker's shards are among those of its record."""
        ends = np.cumsum([0, *(self.sizes[shard] for shard in self.team.shards)]).tolist()
        return [slice(start, end) for start, end in zip(ends[:-1], ends[1:], strict=True)]

    def gather(self, values: "Tensor") -> "Tensor":
        """Values of the unlabeled rows of all shards, from those of this worker's."""
        import torch

        return torch.cat(self.team.gather([values[each] for each in self.slices()], self.sizes))

    def each(self, function: "Callable[..., Tensor]", *values: "Tensor") -> "Tensor":
        """A function of values of this worker's unlabeled rows, number by number.

        It is computed shard by shard: torch takes several numbers of a vector at a time and the last ones alone, which
        round differently.
        """
        import torch

        return torch.cat([function(*(each[place] for each in values)) for place in self.slices()])

    def mean(self, function: "Callable[..., Tensor]", *values: "Tensor") -> "Tensor":
        """Mean of such a function over the unlabeled rows of all shards."""
        sums = [function(*(each[place] for each in values)).sum().reshape(1) for place in self.slices()]
        return self.team.total(sums)[0] / sum(self.sizes)
