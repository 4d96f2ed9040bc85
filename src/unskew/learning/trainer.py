"""The one training loop, for all methods: Algorithm 1, lines 1 and 3 to 8."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor, nn
from torch.optim.adam import adam

from unskew._support.progress import progress_bar
from unskew.data.records import Epoch, PUData, ScoredBatch
from unskew.errors import TrainingDiverged
from unskew.learning._convnet import ConvNet, ConvNetPullback
from unskew.learning._perceptron import Perceptron, PerceptronPullback
from unskew.learning.batches import Batches, columns_of
from unskew.learning.journal import Course
from unskew.learning.networks import NetworkChoice, build_network, own_randomness
from unskew.learning.scoring import flat_scores, score_rows
from unskew.learning.shared_batches import SharedBatches
from unskew.learning.team import TeamPullback, is_about_differences, sample_of_all
from unskew.objectives.pairs import SlopesOf

Risk = Callable[[ScoredBatch], Tensor]
SAMPLE_ROWS = 500
"""Rows shown to a network when it is built (shape, kernel width)."""


@dataclass(frozen=True)
class Trained:
    """A network as it was kept, how it came there, and the optimizer with which it can go on."""

    network: nn.Module
    history: list[Epoch]
    best_epoch: int
    optimizer: "Adam | None"  # trees have none


@dataclass(frozen=True)
class Trainer:
    """How a network is trained, whatever its risk: by Adam, as in App. E.3.

    Attributes
    ----------
    network, max_epochs, batch_size, learning_rate, patience, device, verbose
        Parameters of every method, see `unskew.rankers.Ranker`.
    keep : {"best", "last"}
        Whether the weights of the lowest validation risk are kept, or those of the last epoch.
    """

    network: NetworkChoice = "mlp"
    max_epochs: int = 200
    batch_size: int = 1024
    learning_rate: float = 1e-4
    patience: int | None = None
    keep: str = "best"
    device: str = "cpu"
    verbose: bool = False

    def for_labeling(self) -> "Trainer":
        """Trainer of the labeling model: the same."""
        return self

    def for_squares(self) -> "Trainer":
        """Trainer for a sum of squared errors: the same."""
        return self

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
                network = build_network(self.network, self._sample(data, rng), generator).to(self.device)
                start = Trained(network, [], 0, Adam(network, self.learning_rate))
            return self._run(start, risk, data, held_out, generator, title)

    def _sample(self, data: PUData, rng: np.random.RandomState) -> Tensor:
        """Rows by which a network is built; only the kernel looks at more than their shape."""
        n_rows = SAMPLE_ROWS if self.network == "kernel" else 1
        if data.share is not None:
            return sample_of_all(data, data.share, n_rows, int(rng.randint(2**31 - 1)))
        rows = np.concatenate([data.labeled_rows, data.unlabeled_rows])
        # Drawn for any network, so that all that is drawn later is the same.
        rows = rng.choice(rows, size=min(SAMPLE_ROWS, len(rows)), replace=False)
        # To fetch rows from all over a file takes long.
        return torch.from_numpy(data.X.take(rows[:n_rows]))

    def _steps(
        self, network: nn.Module, risk: Risk, data: PUData, course: Course
    ) -> "tuple[Pullback, Batches | SharedBatches]":
        """The network and the batches as the loop sees them: here alone, or shared with a team."""
        if data.share is None:
            pullback = new_pullback(network, min(self.batch_size, data.n_labeled + data.n_unlabeled))
            return pullback, Batches(data, self.batch_size, self.device, self.max_epochs)
        batches = SharedBatches(data, self.batch_size, self.device)
        batches.start_at(len(course.history), len(course.risks))
        pullbacks = [new_pullback(network, batches.largest) for _ in data.share.team.shards]
        moves_bias = not is_about_differences(risk, data)
        return TeamPullback(network, pullbacks, data.share, moves_bias=moves_bias), batches

    def _run(
        self, start: Trained, risk: Risk, data: PUData, held_out: PUData, generator: Generator, title: str
    ) -> Trained:
        network, optimizer = start.network, start.optimizer
        assert optimizer is not None
        course = Course(network, optimizer, None if data.share is None else data.share.journal)
        if course.is_over:
            network.eval()
            return Trained(network, course.history, course.best, optimizer)
        (pullback, batches), slopes = self._steps(network, risk, data, course), SlopesOf(risk)
        with progress_bar(title, self.max_epochs, shown=self.verbose) as step:
            for epoch in range(len(course.history), self.max_epochs):
                network.train()
                train_risk = run_epoch(pullback, optimizer, slopes, batches, generator, course)
                row = Epoch(epoch, train_risk, _whole_risk(network, risk, held_out, self.device))
                require_finite(row, self.learning_rate)
                course.end_epoch(row, keeps=self.keep == "last" or row.validation_risk < course.lowest)  # decision 3
                step(f"validation risk {row.validation_risk:.4g}")
                if self.patience is not None and epoch - course.best >= self.patience:
                    break
        course.end()
        return Trained(network, course.history, course.best, optimizer)


def new_generator(rng: np.random.RandomState) -> Generator:
    """Return a torch generator whose seed is drawn from `rng`."""
    return Generator().manual_seed(int(rng.randint(2**31 - 1)))


class AutogradPullback:
    """The pull-back of any torch module."""

    uses_autograd = True

    def __init__(self, network: nn.Module) -> None:
        self.network = network
        self.parameters = _trainable(network)

    def scores(self, x: Tensor) -> Tensor:
        """Scores of a batch, shape (n,)."""
        self.score = flat_scores(self.network(x))
        return self.score.detach()

    def gradients(self, slope: Tensor) -> list[Tensor]:
        """Gradient of each trainable weight, from the derivative of the risk with respect to each of those scores."""
        return list(torch.autograd.grad(self.score, self.parameters, slope, materialize_grads=True))


Pullback = PerceptronPullback | ConvNetPullback | AutogradPullback | TeamPullback
"""A network as the training loop sees it: `scores`, and the way back from their slopes to the weights, `gradients`.

One pull-back serves one training: `gradients` belongs to the last call of `scores`, and the next call may overwrite
both."""


def new_pullback(network: nn.Module, batch_size: int) -> Pullback:
    """Return the quickest pull-back that the network has."""
    if type(network) is Perceptron and network.weights.device.type == "cpu":
        return PerceptronPullback(network, batch_size)
    if type(network) is ConvNet and network.head.weights.device.type == "cpu":
        return ConvNetPullback(network, batch_size)
    return AutogradPullback(network)


class Adam:
    """Adam as torch computes it, in its fused form, without the bookkeeping of torch's class, which costs more here.

    The trainable weights of the network are updated in place.
    """

    def __init__(self, network: nn.Module, learning_rate: float) -> None:
        # The same memory as the weights, but not tracked by autograd, so that it can be written to.
        self.values = [each.detach() for each in _trainable(network)]
        self.mean = [torch.zeros_like(each) for each in self.values]
        self.mean_square = [torch.zeros_like(each) for each in self.values]
        self.step = torch.zeros((), dtype=torch.float32, device=self.values[0].device)
        self.settings: dict[str, Any] = {
            **{"lr": learning_rate, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8},
            **{"weight_decay": 0, "amsgrad": False, "maximize": False},
        }
        self.fused = fused_adam(str(self.step.device))

    def descend(self, gradients: list[Tensor]) -> None:
        """Follow the gradients by one step."""
        state = self.values, gradients, self.mean, self.mean_square, list[Tensor]()
        if self.fused is None:
            adam(*state, [self.step.clone() for _ in gradients], foreach=True, **self.settings)
            self.step += 1
        else:
            self.step += 1
            self.fused(*state, [self.step] * len(gradients), **self.settings)


@cache
def fused_adam(device: str) -> Callable[..., None] | None:
    """Operation that computes a whole step of Adam, a private part of torch; None where it is not there as we know it.

    The public way to it, `torch.optim.adam.adam`, first sorts and checks its arguments: 0.1 ms, more than the operation
    itself takes for the paper's network.
    """
    operation: Callable[..., None] | None = getattr(torch, "_fused_adam_", None)
    one = torch.zeros(1, device=device)
    settings = {"lr": 0.1, "beta1": 0.9, "beta2": 0.9, "eps": 1e-8, "weight_decay": 0}
    try:
        assert operation is not None
        operation([one], [one], [one], [one], [], [one[0] + 1], amsgrad=False, maximize=False, **settings)
    except (AssertionError, TypeError, RuntimeError):
        return None
    return operation


def run_epoch(
    pullback: Any,
    optimizer: Adam,
    risk: SlopesOf,
    batches: Batches | SharedBatches,
    generator: Generator,
    course: Course | None = None,
) -> float:
    """One pass over the unlabeled instances (Algorithm 1, lines 4 to 7); returns the mean risk of its batches."""
    values: list[Tensor] = [] if course is None else course.risks
    gradients: list[Tensor] = []
    for rows, batch_of in batches.draw_epoch(generator):
        # To be ready for autograd takes a few per cent of a step, also where nothing is recorded.
        with torch.inference_mode(not pullback.uses_autograd):
            # Not before the next rows are fetched: these would drive the new weights out of the cache.
            if gradients:
                optimizer.descend(gradients)
                if course is not None:
                    course.after_step()
            value, slope = risk(pullback.scores(rows), batch_of)
            gradients = pullback.gradients(slope)
        values.append(value)
    optimizer.descend(gradients)
    return float(torch.stack(values).mean())


def _whole_risk(network: nn.Module, risk: Risk, data: PUData, device: str) -> float:
    rows = np.concatenate([data.labeled_rows, data.unlabeled_rows])
    with torch.inference_mode():
        score = score_rows(network, data.X, rows, device)
        labeled, unlabeled = score[: data.n_labeled], score[data.n_labeled :]
        weight, confidence, unlabeled_weight = columns_of(data, "cpu")
        if data.share is not None:
            unlabeled = data.share.gather(unlabeled)
            unlabeled_weight = None if unlabeled_weight is None else data.share.gather(unlabeled_weight)
        return float(risk(ScoredBatch(labeled, unlabeled, data.alpha, weight, confidence, unlabeled_weight)))


def require_finite(row: Epoch, learning_rate: float) -> None:
    """Refuse to go on from a risk that is not finite."""
    if not (math.isfinite(row.train_risk) and math.isfinite(row.validation_risk)):
        raise TrainingDiverged(
            f"the risk must stay finite, but in epoch {row.epoch} it is {row.train_risk} in training and "
            f"{row.validation_risk} in validation. Standardize X, lower learning_rate (now {learning_rate:g}), or take "
            "a bounded surrogate such as 'sigmoid'."
        )


def _trainable(network: nn.Module) -> list[nn.Parameter]:
    parameters = [each for each in network.parameters() if each.requires_grad]
    if not parameters:
        raise ValueError("the network must have weights to train, but none of its parameters requires a gradient.")
    return parameters
