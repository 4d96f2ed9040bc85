"""How much faster is the CNN's training step than that of the same network written plainly in torch?

    python benchmarks/cnn_step.py

One thread, the paper's CNN at batch 1024 (20 labeled) on images of 3 x 32 x 32. A step is sampling, forward, risk,
backward and Adam. Both networks run through the same loop, and epochs of five steps of each take turns in one run. Time
is that of the processor, in which other work on the machine does not count (though it slows caches and memory down).
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unskew import training
from unskew.convnet import ConvNet, ConvNetPullback
from unskew.networks import HIDDEN, build_network
from unskew.pairs import SlopesOf
from unskew.perceptron import Perceptron
from unskew.records import PUData, ScoredBatch
from unskew.risk import confidence_auc_risk
from unskew.rows import as_rows
from unskew.training import Adam, AutogradPullback, Batches, Pullback, new_generator, new_pullback

BATCH, SHAPE = 1024, (3, 32, 32)
STEPS = 5
N_LABELED, N_UNLABELED = 102, STEPS * 1004  # full steps, 20 labeled in each
TURNS, WARM_UP = 24, 2


def risk(batch: ScoredBatch) -> Tensor:
    return confidence_auc_risk(batch.labeled, batch.unlabeled, batch.weight, batch.alpha)


def plain_network(network: ConvNet) -> nn.Sequential:
    """The same network, with the same weights, as one would write it in torch."""
    plain = nn.Sequential(
        nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1),
    )  # fmt: skip
    with torch.no_grad():
        for place, value in zip(plain.parameters(), by_layer(list(network.parameters())), strict=True):
            place.copy_(value)
    return plain


def by_layer(values: list[Tensor]) -> list[Tensor]:
    """Values for the parameters of our network, in the order and the shapes of those of the plain one."""
    head = Perceptron(400, HIDDEN)
    head.weights.data = values[-1].detach()
    w1, b1, w2, b2, w3, b3 = head.layers()
    return [*values[:-1], w1.T, b1, w2.T, b2, w3[None], b3.reshape(1)]


def differences(ours: Pullback, plain: Pullback) -> tuple[float, float]:
    """Largest difference of scores and of gradients, in one batch."""
    generator = new_generator(np.random.RandomState(1))
    x, slope = torch.rand(BATCH, *SHAPE, generator=generator), torch.randn(BATCH, generator=generator) / BATCH
    of_scores = (ours.scores(x) - plain.scores(x)).abs().max().item()
    pairs = zip(by_layer(ours.gradients(slope)), plain.gradients(slope), strict=True)
    return of_scores, max((mine - each).abs().max().item() for mine, each in pairs)


def epoch_of(network: nn.Module, pullback: Pullback, data: PUData) -> Callable[[], Any]:
    """Five whole steps of the training loop."""
    generator, batches = new_generator(np.random.RandomState(0)), Batches(data, BATCH, "cpu")
    assert (batches.n_labeled, batches.n_steps) == (20, STEPS)
    return partial(training.run_epoch, pullback, Adam(network, 1e-4), SlopesOf(risk), batches, generator)


def seconds(run: Callable[[], Any]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


class Profile:
    """Time by part of a step; what runs inside another part counts only for itself."""

    def __init__(self) -> None:
        self.total: dict[str, float] = defaultdict(float)
        self.running = [""]
        self.since = time.process_time()

    def watch(self, owner: Any, name: str, part: str) -> None:
        """Count the calls of a method or a function of a module for a part."""
        function = getattr(owner, name)

        def watched(*arguments: Any, **options: Any) -> Any:
            with self.inside(part):
                return function(*arguments, **options)

        setattr(owner, name, watched)

    @contextmanager
    def inside(self, part: str) -> Iterator[None]:
        """Count what happens here for a part."""
        self._switch()
        self.running.append(part)
        yield
        self._switch()
        self.running.pop()

    def _switch(self) -> None:
        now = time.process_time()
        self.total[self.running[-1]] += now - self.since
        self.since = now


def profile(network: ConvNet, data: PUData) -> dict[str, float]:
    """Share of each part in our step."""
    pullback, watch = ConvNetPullback(network, BATCH), (result := Profile()).watch
    run = epoch_of(network, pullback, data)
    run()
    watch(data.X, "take", "sampling")
    for name in ("scores", "gradients"):
        watch(pullback, name, "head")
    for name in ("forward", "backward"):
        watch(pullback.blocks, name, "conv1")  # with the images' change of layout
        watch(pullback.blocks.second, name, "conv2")
    watch(pullback.blocks.second, "slopes_of_strips", "conv2")
    watch(training.Adam, "descend", "Adam")
    run = partial(training.run_epoch, run.args[0], run.args[1], SlopesOf(watched_risk(result)), *run.args[3:])
    for _ in range(5):
        with result.inside("rest"):
            run()
    del result.total[""]
    whole = sum(result.total.values())
    return {part: value / whole for part, value in sorted(result.total.items(), key=lambda each: -each[1])}


def watched_risk(result: Profile) -> Callable[[ScoredBatch], Tensor]:
    def watched(batch: ScoredBatch) -> Tensor:
        with result.inside("risk"):
            return risk(batch)

    return watched


def product_rate(n: int = 1024) -> float:
    """Floating point operations per second of a large matrix product."""
    a, b, out = torch.rand(3, n, n).unbind()
    return float(2 * n**3 / min(seconds(partial(torch.mm, a, b, out=out)) for _ in range(20)))


def main() -> None:
    torch.set_num_threads(1)
    rng = np.random.RandomState(0)
    X = as_rows(rng.uniform(size=(N_LABELED + N_UNLABELED, *SHAPE)).astype(np.float32))
    rows = np.arange(len(X))
    data = PUData(X, rows[:N_LABELED], rows[N_LABELED:], weight=rng.uniform(1, 10, N_LABELED))
    network = build_network("cnn", torch.zeros(1, *SHAPE), new_generator(rng))
    assert isinstance(network, ConvNet)
    plain = plain_network(network)
    pullbacks = new_pullback(network, BATCH), AutogradPullback(plain)
    print("largest difference: scores {:.1e}, gradients {:.1e}".format(*differences(*pullbacks)))
    ours, theirs = epoch_of(network, pullbacks[0], data), epoch_of(plain, pullbacks[1], data)
    times = np.array([(seconds(ours), seconds(theirs)) for _ in range(TURNS)])[WARM_UP:] / STEPS * 1e3
    least, median = times.min(axis=0), np.median(times, axis=0)
    print("            ours [ms]  plain [ms]  plain over ours")
    for name, (mine, their) in (("least", least), ("median", median)):
        print(f"{name:8s} {mine:12.1f} {their:11.1f} {their / mine:16.2f}")
    print("our step: " + ", ".join(f"{part} {share:.0%}" for part, share in profile(network, data).items()))
    print(f"matrix products of this machine: {product_rate() / 1e9:.0f} GFlop/s")


if __name__ == "__main__":
    main()
