"""How much faster is the CNN's training step than that of the same network written plainly in torch?

    python benchmarks/cnn_step.py [--processes 6] [--turns 10] [--out FILE]

One thread, the paper's CNN at batch 1024 (20 labeled) on images of 3 x 32 x 32. A step is sampling, forward, risk,
backward and Adam. Both networks run through the same loop, and epochs of five steps of each take turns, in several
processes one after another. Time is that of the processor, in which other work on the machine does not count (though it
slows caches and memory down).

What bounds our step: the share of each of its parts, and the rate at which both convolutions compute, beside that of a
large matrix product. Ours multiply more often than a convolution has to, so that they have two rates: of all their
operations, and of the needed ones. Torch's are its Conv2d with autograd, channel counts and batch the same.
"""

import argparse
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from measure import in_own_process, seconds
from rows import Row, Rows, add_out, save_rows
from unskew.data.rows import as_rows
from unskew.learning import trainer as training
from unskew.learning._convnet import ConvNet, ConvNetPullback
from unskew.learning._perceptron import Perceptron
from unskew.learning.batches import Batches
from unskew.learning.networks import HIDDEN, build_network
from unskew.learning.trainer import Adam, AutogradPullback, Pullback, new_generator, new_pullback
from unskew.objectives.pairs import SlopesOf
from unskew.records import PUData, ScoredBatch
from unskew.risk import weighted_auc_risk
from unskew.surrogates import sigmoid

BATCH, SHAPE = 1024, (3, 32, 32)
STEPS = 5
N_LABELED, N_UNLABELED = 102, STEPS * 1004  # full steps, 20 labeled in each
WARM_UP = 2


def risk(batch: ScoredBatch) -> Tensor:
    return weighted_auc_risk(batch, sigmoid, "one-sample")


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


def epoch_of(network: nn.Module, pullback: Pullback, data: PUData) -> partial[float]:
    """Five whole steps of the training loop."""
    generator, batches = new_generator(np.random.RandomState(0)), Batches(data, BATCH, "cpu")
    assert (batches.n_labeled, batches.n_steps) == (20, STEPS)
    return partial(training.run_epoch, pullback, Adam(network, 1e-4), SlopesOf(risk), batches, generator)


cpu_seconds = partial(seconds, clock=time.process_time)


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
    return float(2 * n**3 / min(cpu_seconds(partial(torch.mm, a, b, out=out)) for _ in range(20)))


PASSES = {"conv1": 2, "conv2": 3}
"""Products of a step: forward, for the weights and, but for the first layer, for the layer's inputs."""


def needed_operations(network: ConvNet) -> dict[str, float]:
    """Floating point operations of either convolution in a step, on the pixels that pooling does not drop."""
    rows, columns = (size // 4 for size in SHAPE[1:])
    outputs = {"conv1": 16 * (rows - 1) * (columns - 1), "conv2": 4 * (rows - 3) * (columns - 3)}  # pixels of a filter
    layers = dict(zip(PASSES, network.convolutions, strict=True))
    return {part: 2.0 * PASSES[part] * BATCH * outputs[part] * layer.weight.numel() for part, layer in layers.items()}


def own_operations(pullback: ConvNetPullback) -> dict[str, float]:
    """Floating point operations of our products instead."""
    blocks = {"conv1": pullback.blocks.first, "conv2": pullback.blocks.second}
    per_chunk = {part: 2.0 * block.matrices.numel() * math.prod(block.grid) for part, block in blocks.items()}
    return {part: PASSES[part] * BATCH / pullback.blocks.chunk * value for part, value in per_chunk.items()}


def torch_convolution_seconds(network: ConvNet) -> dict[str, float]:
    """Time of torch's convolutions in a step, forward and backward."""
    result = {}
    for part, layer in zip(PASSES, network.convolutions, strict=True):
        height, width = SHAPE[1:] if part == "conv1" else (size // 2 - 2 for size in SHAPE[1:])
        x = torch.rand(BATCH, layer.in_channels, height, width, requires_grad=part == "conv2")
        slope = torch.rand_like(layer(x))

        def run(layer: nn.Conv2d = layer, x: Tensor = x, slope: Tensor = slope) -> None:
            layer(x).backward(slope)

        result[part] = min(cpu_seconds(run) for _ in range(6))
    return result


def print_steps(times: np.ndarray) -> Rows:
    """Milliseconds of a step of either network."""
    rows: Rows = []
    print("            ours [ms]  plain [ms]  plain over ours")
    for name, (mine, their) in (("least", times.min(axis=0)), ("median", np.median(times, axis=0))):
        rows.append({"what": "step", "name": name, "batch": BATCH, "ours_ms": float(mine), "plain_ms": float(their)})
        rows[-1]["ratio"] = float(their / mine)
        print(f"{name:8s} {mine:12.1f} {their:11.1f} {their / mine:16.2f}")
    return rows


def print_bounds(network: ConvNet, data: PUData, step_ms: float) -> Rows:
    """Share of each part in a step of ours, and rates of computing in 10^9 operations per second."""
    shares = profile(network, data)
    rows: Rows = [{"what": "part", "name": part, "share": share} for part, share in shares.items()]
    print("our step: " + ", ".join(f"{part} {share:.0%}" for part, share in shares.items()))
    rate = product_rate() / 1e9
    rows.append({"what": "rate", "name": "matrix product", "gflops": rate})
    print(f"matrix products of this machine: {rate:.0f} GFlop/s")
    needed, own = needed_operations(network), own_operations(ConvNetPullback(network, BATCH))
    for part, time_of_torch in torch_convolution_seconds(network).items():
        time_of_ours = shares[part] * step_ms / 1e3
        row: Row = {
            "what": "rate", "name": part, "gflops": own[part] / time_of_ours / 1e9,
            "needed_gflops": needed[part] / time_of_ours / 1e9, "plain_gflops": needed[part] / time_of_torch / 1e9,
        }  # fmt: skip
        rows.append(row)
        print(
            f"{part}: {row['gflops']:.0f} GFlop/s, of the needed operations {row['needed_gflops']:.0f}; "
            f"torch's convolution {row['plain_gflops']:.0f}"
        )
    return rows


def both_networks() -> tuple[ConvNet, nn.Sequential, PUData]:
    """Our network, the plain one with the same weights, and data for both."""
    rng = np.random.RandomState(0)
    X = as_rows(rng.uniform(size=(N_LABELED + N_UNLABELED, *SHAPE)).astype(np.float32))
    order = np.arange(len(X))
    data = PUData(X, order[:N_LABELED], order[N_LABELED:], weight=rng.uniform(1, 10, N_LABELED))
    network = build_network("cnn", torch.zeros(1, *SHAPE), new_generator(rng))
    assert isinstance(network, ConvNet)
    return network, plain_network(network), data


def times_of(turns: int) -> list[tuple[float, float]]:
    """Milliseconds of a step of either network, in each turn."""
    torch.set_num_threads(1)
    network, plain, data = both_networks()
    ours = epoch_of(network, new_pullback(network, BATCH), data)
    theirs = epoch_of(plain, AutogradPullback(plain), data)
    times = [(cpu_seconds(ours), cpu_seconds(theirs)) for _ in range(WARM_UP + turns)][WARM_UP:]
    return [(1e3 * mine / STEPS, 1e3 * their / STEPS) for mine, their in times]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=6, help="How many take part, one after another.")
    parser.add_argument("--turns", type=int, default=10, help="How often a process measures either.")
    add_out(parser)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    network, plain, data = both_networks()
    of_scores, of_gradients = differences(new_pullback(network, BATCH), AutogradPullback(plain))
    print(f"largest difference: scores {of_scores:.1e}, gradients {of_gradients:.1e}")
    rows: Rows = [
        {"what": "difference", "name": "scores", "difference": of_scores},
        {"what": "difference", "name": "gradients", "difference": of_gradients},
    ]
    times = [each for _ in range(arguments.processes) for each in in_own_process(times_of, arguments.turns)]
    rows += (steps := print_steps(np.array(times)))
    rows += print_bounds(network, data, float(str(steps[-1]["ours_ms"])))
    save_rows(rows, arguments.out)


if __name__ == "__main__":
    main()
