"""The one training loop, ignorant of every method: Algorithm 1, lines 1 and 3 to 8."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
import torch
from torch import Generator, Tensor, nn

from unskew._support.progress import progress_bar
from unskew.data.records import Epoch, PUData, ScoredBatch
from unskew.errors import TrainingDiverged
from unskew.learning._convnet import ConvNet, ConvNetPullback
from unskew.learning._perceptron import Perceptron, PerceptronPullback
from unskew.learning.networks import NetworkChoice, build_network, own_randomness
from unskew.learning.scoring import flat_scores, score_rows
from unskew.objectives.pairs import SlopesOf

Risk = Callable[[ScoredBatch], Tensor]
BatchOf = Callable[[Tensor], ScoredBatch]
"""What turns scores of rows into a batch for the risk."""

DRAWN_AHEAD = 1 << 16
"""Unlabeled instances, about, whose batches are drawn at once, be it for several epochs."""
SAMPLE_ROWS = 500
"""Rows shown to a network when it is built (shape, kernel width)."""


@dataclass(frozen=True)
class Trained:
    """A network as it was kept, how it came there, and the optimizer with which it can go on."""

    network: nn.Module
    history: list[Epoch]
    best_epoch: int
    optimizer: "Adam"


@dataclass(frozen=True)
class Trainer:
    """How a network is trained, whatever its risk.

    Attributes
    ----------
    network : str or callable
        See `unskew.learning.networks.build_network`.
    max_epochs, batch_size, learning_rate
        As in App. E.3; the optimizer is Adam.
    patience : int or None
        Stop after so many epochs without a lower validation risk; None runs all epochs, as the paper's numbers need.
    keep : {"best", "last"}
        Whether the weights of the lowest validation risk are kept, or those of the last epoch.
    device : str
        Where torch computes.
    verbose : bool
        Show a progress bar, on a terminal.
    """

    network: NetworkChoice = "mlp"
    max_epochs: int = 200
    batch_size: int = 1024
    learning_rate: float = 1e-4
    patience: int | None = None
    keep: str = "best"
    device: str = "cpu"
    verbose: bool = False

    def minimize(
        self,
        risk: Risk,
        data: PUData,
        held_out: PUData,
        rng: np.random.RandomState,
        title: str = "training",
        *,
        start: Trained | None = None,
    ) -> Trained:
        """Train a network on `data`; keep its weights as `keep` says, the best by the risk on `held_out`.

        The network is a new one, or that of `start`, which is then trained on in place, by its own optimizer.
        """
        generator = new_generator(rng)
        with own_randomness(self.network, generator.initial_seed(), self.device):
            if start is None:
                rows = _some_rows(data, rng)  # drawn for any network, so that all that is drawn later is the same
                # Only the kernel looks at more than the shape, and to fetch rows from all over a file takes long.
                sample = data.X.take(rows if self.network == "kernel" else rows[:1])
                network = build_network(self.network, torch.from_numpy(sample), generator).to(self.device)
                start = Trained(network, [], 0, Adam(network, self.learning_rate))
            return self._run(start, risk, data, held_out, generator, title)

    def _run(
        self, start: Trained, risk: Risk, data: PUData, held_out: PUData, generator: Generator, title: str
    ) -> Trained:
        network, optimizer = start.network, start.optimizer
        pullback = new_pullback(network, min(self.batch_size, data.n_labeled + data.n_unlabeled))
        batches, slopes = Batches(data, self.batch_size, self.device, self.max_epochs), SlopesOf(risk)
        best = _Best()
        history = []
        with progress_bar(title, self.max_epochs, shown=self.verbose) as step:
            for epoch in range(self.max_epochs):
                network.train()
                train_risk = run_epoch(pullback, optimizer, slopes, batches, generator)
                history.append(Epoch(epoch, train_risk, _whole_risk(network, risk, held_out, self.device)))
                _require_finite(history[-1], self.learning_rate)
                best.offer(network, epoch, history[-1].validation_risk if self.keep == "best" else -epoch)
                step(f"validation risk {history[-1].validation_risk:.4g}")
                if self.patience is not None and epoch - best.epoch >= self.patience:
                    break
        network.load_state_dict(best.state)
        network.eval()
        return Trained(network, history, best.epoch, optimizer)


def new_generator(rng: np.random.RandomState) -> Generator:
    """Return a torch generator whose seed is drawn from `rng`."""
    return Generator().manual_seed(int(rng.randint(2**31 - 1)))


class Pullback(Protocol):
    """A network as the training loop sees it: scores, and the way back from their slopes to the weights."""

    uses_autograd: bool

    def scores(self, x: Tensor) -> Tensor:
        """Scores of a batch, shape (n,)."""

    def gradients(self, slope: Tensor) -> list[Tensor]:
        """Gradient of each trainable weight, from the derivative of the risk with respect to each of those scores."""


class AutogradPullback:
    """The pull-back of any torch module."""

    uses_autograd = True

    def __init__(self, network: nn.Module) -> None:
        self.network = network
        self.parameters = _trainable(network)

    def scores(self, x: Tensor) -> Tensor:
        """Scores of a batch; see `Pullback`."""
        self.score = flat_scores(self.network(x))
        return self.score.detach()

    def gradients(self, slope: Tensor) -> list[Tensor]:
        """Gradient of each trainable weight; see `Pullback`."""
        return list(torch.autograd.grad(self.score, self.parameters, slope, materialize_grads=True))


def new_pullback(network: nn.Module, batch_size: int) -> Pullback:
    """Return the quickest pull-back that the network has."""
    if type(network) is Perceptron and network.weights.device.type == "cpu":
        return PerceptronPullback(network, batch_size)
    if type(network) is ConvNet and network.head.weights.device.type == "cpu":
        return ConvNetPullback(network, batch_size)
    return AutogradPullback(network)


class Adam:
    """Adam as torch computes it, in its fused form, without the bookkeeping of torch's class, which costs more here.

    Parameters
    ----------
    network : Module
        Its trainable weights are updated in place.
    learning_rate : float
    """

    def __init__(self, network: nn.Module, learning_rate: float) -> None:
        # The same memory as the weights, but unknown to autograd: it may be written to without further ado.
        self.values = [each.detach() for each in _trainable(network)]
        self.mean = [torch.zeros_like(each) for each in self.values]
        self.mean_square = [torch.zeros_like(each) for each in self.values]
        self.step = torch.zeros((), dtype=torch.float32, device=self.values[0].device)
        self.learning_rate = learning_rate

    def descend(self, gradients: list[Tensor]) -> None:
        """Follow the gradients by one step."""
        self.step += 1
        # The public way to this operation, torch.optim.adam.adam, first sorts and checks its arguments: 0.1 ms, more
        # than the operation itself takes for the paper's network.
        torch._fused_adam_(
            self.values,
            gradients,
            self.mean,
            self.mean_square,
            [],
            [self.step] * len(gradients),
            lr=self.learning_rate,
            beta1=0.9,
            beta2=0.999,
            weight_decay=0,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
        )


def run_epoch(pullback: Pullback, optimizer: Adam, risk: SlopesOf, batches: "Batches", generator: Generator) -> float:
    """One pass over the unlabeled instances (Algorithm 1, lines 4 to 7); returns the mean risk of its batches."""
    values: list[Tensor] = []
    gradients: list[Tensor] = []
    for rows, batch_of in batches.draw_epoch(generator):
        # To be ready for autograd takes a few per cent of a step, also where nothing is recorded.
        with torch.inference_mode(not pullback.uses_autograd):
            # Not before the next rows are fetched: these would drive the new weights out of the cache.
            if gradients:
                optimizer.descend(gradients)
            value, slope = risk(pullback.scores(rows), batch_of)
            gradients = pullback.gradients(slope)
        values.append(value)
    optimizer.descend(gradients)
    return float(torch.stack(values).mean())


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
    many as the epoch has steps for. No instance is twice in a batch.

    Parameters
    ----------
    data : PUData
    batch_size : int
    device : str
    n_epochs : int
        How many are going to be asked for: so many may be drawn ahead.
    """

    def __init__(self, data: PUData, batch_size: int, device: str, n_epochs: int = 1) -> None:
        self.X, self.alpha, self.device = data.X, data.alpha, device
        self.n_labeled, n_unlabeled = batch_sizes(data, batch_size)
        self.n_steps = math.ceil(data.n_unlabeled / n_unlabeled)
        self.labeled_rows, self.unlabeled_rows = data.labeled_rows, data.unlabeled_rows
        self.weight = _float_tensor(data.weight, device)
        self.confidence = _float_tensor(data.confidence, device)
        self.unlabeled_weight = _float_tensor(data.unlabeled_weight, device)
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
        labeled, unlabeled = self._labeled_by_step(generator), self._unlabeled_by_step(generator)
        columns = zip(
            _by_step(self.weight, labeled),
            _by_step(self.confidence, labeled),
            _by_step(self.unlabeled_weight, unlabeled),
            strict=True,
        )
        return [
            (np.concatenate((self.labeled_rows[some], self.unlabeled_rows[others])), partial(self._batch, *values))
            for some, others, values in zip(labeled, unlabeled, columns, strict=True)
        ]

    def _unlabeled_by_step(self, generator: Generator) -> list[np.ndarray]:
        """Which unlabeled instances each step gets: all of them once, in equal parts."""
        order = self.X.shuffle(self.unlabeled_rows, generator).numpy()
        # Inside a batch the order means nothing to a risk, and rows are fetched faster in the order in which they lie.
        return [np.sort(part) for part in np.array_split(order, self.n_steps)]

    def _labeled_by_step(self, generator: Generator) -> list[np.ndarray]:
        """Which labeled instances each step gets, in as many shuffled passes as are needed."""
        steps_per_pass = len(self.labeled_rows) // self.n_labeled
        n_passes = math.ceil(self.n_steps / steps_per_pass)
        passes = [
            torch.randperm(len(self.labeled_rows), generator=generator)[: steps_per_pass * self.n_labeled]
            for _ in range(n_passes)
        ]
        return np.split(torch.cat(passes)[: self.n_steps * self.n_labeled].numpy(), self.n_steps)

    def _batch(
        self, weight: Tensor | None, confidence: Tensor | None, unlabeled_weight: Tensor | None, score: Tensor
    ) -> ScoredBatch:
        labeled, unlabeled = torch.split_with_sizes(score, (self.n_labeled, len(score) - self.n_labeled))
        return ScoredBatch(labeled, unlabeled, self.alpha, weight, confidence, unlabeled_weight)


def _by_step(values: Tensor | None, steps: list[np.ndarray]) -> Sequence[Tensor | None]:
    """Values at the instances of each step."""
    if values is None:
        return [None] * len(steps)
    return torch.split(values[torch.from_numpy(np.concatenate(steps))], [len(each) for each in steps])


class _Best:
    """The weights of the epoch with the lowest validation risk so far (decision 3)."""

    def __init__(self) -> None:
        self.risk, self.epoch = math.inf, -1
        self.state: dict[str, Tensor] = {}

    def offer(self, network: nn.Module, epoch: int, risk: float) -> None:
        if risk < self.risk:
            self.risk, self.epoch = risk, epoch
            self.state = {name: value.detach().clone() for name, value in network.state_dict().items()}


def _whole_risk(network: nn.Module, risk: Risk, data: PUData, device: str) -> float:
    rows = np.concatenate([data.labeled_rows, data.unlabeled_rows])
    with torch.inference_mode():
        score = score_rows(network, data.X, rows, device)
        batch = ScoredBatch(
            labeled=score[: data.n_labeled],
            unlabeled=score[data.n_labeled :],
            alpha=data.alpha,
            weight=_float_tensor(data.weight, "cpu"),
            confidence=_float_tensor(data.confidence, "cpu"),
            unlabeled_weight=_float_tensor(data.unlabeled_weight, "cpu"),
        )
        return float(risk(batch))


def _require_finite(row: Epoch, learning_rate: float) -> None:
    if not (math.isfinite(row.train_risk) and math.isfinite(row.validation_risk)):
        raise TrainingDiverged(
            f"the risk must stay finite, but in epoch {row.epoch} it is {row.train_risk} in training and "
            f"{row.validation_risk} in validation. Standardize X, lower learning_rate (now {learning_rate:g}), or take "
            "a bounded surrogate such as 'sigmoid'."
        )


def _some_rows(data: PUData, rng: np.random.RandomState) -> np.ndarray:
    rows = np.concatenate([data.labeled_rows, data.unlabeled_rows])
    return np.asarray(rng.choice(rows, size=min(SAMPLE_ROWS, len(rows)), replace=False))


def _trainable(network: nn.Module) -> list[nn.Parameter]:
    parameters = [each for each in network.parameters() if each.requires_grad]
    if not parameters:
        raise ValueError("the network must have weights to train, but none of its parameters requires a gradient.")
    return parameters


def _float_tensor(values: np.ndarray | None, device: str) -> Tensor | None:
    return None if values is None else torch.from_numpy(values.astype(np.float32)).to(device)
