"""Exact steps of several workers: together they take the step that one worker would take with all rows of the batch.

Two exchanges make a step, whatever the risk. Each worker scores its rows of the batch, and all get all scores. With
these each computes the whole risk, and so its derivative with respect to each score, and pulls those of its own rows
back to the weights; the gradients are added. Labeled rows, which are few, are with every worker.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unskew.data.records import PUData, ScoredBatch
from unskew.data.team import Share, Team, sum_in_pairs
from unskew.learning._perceptron import Perceptron
from unskew.learning.batches import columns_of
from unskew.learning.shared_batches import Parts

SHIFT, SHIFT_MATTERS = 1.0, 1e-6
"""A risk is about differences of scores if it changes by less, relative to itself, when all scores are shifted."""


class OneWorker(Team):
    """A team of one, which has nobody to ask."""

    def gather(self, parts: Sequence[Tensor], sizes: Sequence[int]) -> list[Tensor]:
        """The vectors themselves."""
        return list(parts)

    def total(self, parts: Sequence[Tensor]) -> Tensor:
        """Their sum, in the order of every team."""
        return sum_in_pairs(parts)

    def from_first(self, compute: Callable[[], Any]) -> Any:
        """What it computes itself."""
        return compute()


class OthersLost(RuntimeError):
    """Another worker has ended, or cannot be reached."""


class GlooTeam(Team):
    """Workers in processes of their own, in the process group that `torch.distributed` has at present."""

    def gather(self, parts: Sequence[Tensor], sizes: Sequence[int]) -> list[Tensor]:
        """Vectors of all shards, each padded to the length of the longest on its way."""
        longest = max(sizes)
        message = parts[0].new_zeros(self._most_shards(), longest)
        for line, part in zip(message, parts, strict=False):
            line[: len(part)] = part
        received = self._exchange(message)
        return [received[worker][place][: sizes[shard]] for shard, worker, place in self._places()]

    def total(self, parts: Sequence[Tensor]) -> Tensor:
        """Sum over all shards: each worker sends one sum, where its shards make one."""
        if self.n_workers & (self.n_workers - 1) == 0:
            return sum_in_pairs(self._exchange(sum_in_pairs(parts)))
        message = torch.stack([*parts, *[torch.zeros_like(parts[0])] * (self._most_shards() - len(parts))])
        received = self._exchange(message)
        return sum_in_pairs([received[worker][place] for _, worker, place in self._places()])

    def from_first(self, compute: Callable[[], Any]) -> Any:
        """What the first worker sends; the others wait."""
        found = [compute() if self.rank == 0 else None]
        with _losing_others():
            torch.distributed.broadcast_object_list(found, 0)
        return found[0]

    def _exchange(self, message: Tensor) -> list[Tensor]:
        """What every worker sends."""
        received = [torch.empty_like(message) for _ in range(self.n_workers)]
        with _losing_others():
            torch.distributed.all_gather(received, message)
        return received

    def _most_shards(self) -> int:
        return max(len(self.shards_of(worker)) for worker in range(self.n_workers))

    def _places(self) -> list[tuple[int, int, int]]:
        """Each shard, its worker, and its place among that worker's."""
        workers = range(self.n_workers)
        return [(shard, each, place) for each in workers for place, shard in enumerate(self.shards_of(each))]


@contextmanager
def _losing_others() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise OthersLost(str(error).strip().partition("\n")[0]) from None


class TeamPullback:
    """A network whose batch is shared by a team: its pull-backs, one for each shard of this worker.

    `scores` gives those of the whole batch, the labeled ones first, and behind them the weights of the unlabeled rows
    where there are any. The gradient of the output bias is exactly 0 where the risk is about differences of scores:
    what rounding leaves of it would be followed by Adam as if it were a gradient.
    """

    def __init__(self, network: nn.Module, pullbacks: Sequence[Any], share: Share, *, moves_bias: bool) -> None:
        self.pullbacks, self.team = pullbacks, share.team
        self.uses_autograd = pullbacks[0].uses_autograd
        self.parameters = [each for each in network.parameters() if each.requires_grad]
        self.fixed = None if moves_bias else output_bias(network)

    def scores(self, parts: Parts) -> Tensor:
        """Scores of the whole batch."""
        own = [pullback.scores(x) for pullback, x in zip(self.pullbacks, parts.features, strict=True)]
        messages = own
        if parts.weights is not None:
            messages = [torch.cat(each) for each in zip(own, parts.weights, strict=True)]
        self.layout = parts.layout
        return self.layout.joined(self.team.gather(messages, self.layout.message_sizes(parts.weights is not None)))

    def gradients(self, slope: Tensor) -> list[Tensor]:
        """Gradient of the weights by the whole batch."""
        slopes = self.layout.taken_apart(slope, self.team.shards)
        own = [
            torch.cat([each.reshape(-1) for each in pullback.gradients(part)])
            for pullback, part in zip(self.pullbacks, slopes, strict=True)
        ]
        pieces = torch.split(self.team.total(own), [each.numel() for each in self.parameters])
        gradients = [piece.view_as(each) for piece, each in zip(pieces, self.parameters, strict=True)]
        if self.fixed is not None:
            number, place = self.fixed
            gradients[number][place] = 0
        return gradients


def output_bias(network: nn.Module) -> tuple[int, tuple[int, ...]] | None:
    """Number of the trainable parameter that holds the bias of the score, and its place there; None if not known.

    It is known for the package's own networks, and for any that ends in a linear layer of one output.
    """
    is_sequence = isinstance(network, Perceptron | nn.Sequential | nn.Linear)
    last = list(network.modules())[-1] if is_sequence else None
    place: tuple[int, ...]
    if isinstance(last, Perceptron):
        found, place = last.weights, (len(last.weights) - 1, last.hidden)
    elif isinstance(last, nn.Linear) and last.out_features == 1 and last.bias is not None:
        found, place = last.bias, (0,)
    else:
        return None
    trainable = [each for each in network.parameters() if each.requires_grad]
    return next(((number, place) for number, each in enumerate(trainable) if each is found), None)


def is_about_differences(risk: Any, data: PUData) -> bool:
    """Whether a risk stays the same when all scores are shifted, as those that are sums over pairs do."""
    n_labeled, n_unlabeled = min(data.n_labeled, 16), 16
    weight, confidence = (None if each is None else each[:n_labeled].double() for each in columns_of(data, "cpu")[:2])
    other = None if data.unlabeled_weight is None else torch.full((n_unlabeled,), 0.3, dtype=torch.float64)
    labeled = torch.linspace(-1, 2, n_labeled, dtype=torch.float64)
    unlabeled = torch.linspace(-2, 1, n_unlabeled, dtype=torch.float64)
    here, there = (
        float(risk(ScoredBatch(labeled + shift, unlabeled + shift, data.alpha, weight, confidence, other)))
        for shift in (0, SHIFT)
    )
    return abs(here - there) <= SHIFT_MATTERS * abs(here)


def sample_of_all(data: PUData, share: Share, n_rows: int, seed: int) -> Tensor:
    """Features of some unlabeled rows from all shards, the same for every worker."""
    counts = [min(n, max(1, n_rows // share.team.n_shards)) for n in share.sizes]
    parts = []
    for shard, place in zip(share.team.shards, share.slices(), strict=True):
        rng = np.random.default_rng((seed, shard))
        rows = rng.choice(data.unlabeled_rows[place], counts[shard], replace=False)
        parts.append(torch.from_numpy(data.X.take(np.sort(rows))).reshape(-1))
    numbers = int(np.prod(data.X.shape))
    return torch.cat(share.team.gather(parts, [n * numbers for n in counts])).reshape(-1, *data.X.shape)
