"""Several trainings at once: one thread each, or one after another with two threads?

    python benchmarks/jobs.py [--epochs 10] [--turns 3] [--out FILE]

Two trainings by the AUC risk, at the paper's sizes (5,000 rows to train on and 1,000 to validate, batches of 1,024) on
random data, of the perceptron with 784 inputs and of the CNN on images of 3 x 32 x 32. Either two processes train at
the same time, with one thread each, or one process trains twice, with two threads. Processes are up and have trained an
epoch before the clock starts. Both ways take turns, and the least time of either counts. The perceptron, whose epochs
are short, trains ten times as many.
"""

import argparse
from collections.abc import Callable
from functools import cache, partial
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from measure import seconds
from rows import Rows, add_out, save_rows
from unskew.data.rows import as_rows
from unskew.learning.trainer import Trainer
from unskew.records import PUData, ScoredBatch
from unskew.risk import weighted_auc_risk
from unskew.surrogates import sigmoid

TRAININGS = 2
N_TRAIN, N_VALIDATION = 5000, 1000
SHAPES: dict[str, tuple[int, ...]] = {"mlp": (784,), "cnn": (3, 32, 32)}
EPOCHS_OF = {"mlp": 10, "cnn": 1}  # for each one asked for
LABELED = 0.02  # share of all rows


def risk(batch: ScoredBatch) -> Tensor:
    return weighted_auc_risk(batch, sigmoid, "one-sample")


def draw(n_rows: int, shape: tuple[int, ...], rng: np.random.RandomState) -> PUData:
    X, n_labeled = as_rows(rng.uniform(size=(n_rows, *shape)).astype(np.float32)), round(LABELED * n_rows)
    order = np.arange(n_rows)
    return PUData(X, order[:n_labeled], order[n_labeled:], weight=rng.uniform(1, 10, n_labeled))


@cache
def data_of(network: str) -> tuple[PUData, PUData]:
    """Data to train on and to validate, drawn once a process."""
    rng = np.random.RandomState(0)
    return draw(N_TRAIN, SHAPES[network], rng), draw(N_VALIDATION, SHAPES[network], rng)


def train(network: str, n_epochs: int, seed: int) -> None:
    trainer = Trainer(network=network, max_epochs=n_epochs)
    trainer.minimize(risk, *data_of(network), np.random.RandomState(seed))


def get_ready(n_threads: int, network: str, all_ready: Barrier) -> None:
    """Set the process up, and wait until the others are as far."""
    torch.set_num_threads(n_threads)
    threadpool_limits(n_threads)
    train(network, 1, 0)
    all_ready.wait()


def times_of(network: str, n_epochs: int, turns: int) -> dict[str, float]:
    """Least seconds of both ways to train twice."""
    context = get_context("spawn")
    two_ready, one_ready = context.Barrier(TRAININGS + 1), context.Barrier(2)
    with (
        context.Pool(TRAININGS, get_ready, (1, network, two_ready)) as two,
        context.Pool(1, get_ready, (TRAININGS, network, one_ready)) as one,
    ):
        two_ready.wait()
        one_ready.wait()
        tasks = [(network, n_epochs, seed) for seed in range(TRAININGS)]
        ways: dict[str, Callable[[], object]] = {
            "at once": partial(two.starmap, train, tasks, chunksize=1),
            "one after another": partial(one.starmap, train, tasks, chunksize=1),
        }
        times = [[seconds(way) for way in ways.values()] for _ in range(turns)]
    return dict(zip(ways, np.min(times, axis=0).tolist(), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=10, help="Epochs of the CNN.")
    parser.add_argument("--turns", type=int, default=3)
    add_out(parser)
    arguments = parser.parse_args()
    rows = Rows()
    for network in SHAPES:
        n_epochs = arguments.epochs * EPOCHS_OF[network]
        times = times_of(network, n_epochs, arguments.turns)
        for way, time in times.items():
            threads = 1 if way == "at once" else TRAININGS
            rows.append({"network": network, "way": way, "trainings": TRAININGS, "threads_each": threads})
            rows[-1] |= {"epochs": n_epochs, "train_rows": N_TRAIN, "seconds": time}
        print(
            f"{network}: {TRAININGS} trainings of {n_epochs} epochs, both at once: {times['at once']:.2f} s, "
            f"one after another with {TRAININGS} threads: {times['one after another']:.2f} s, "
            f"{times['one after another'] / times['at once']:.2f} times as long",
            flush=True,
        )
    save_rows(rows, arguments.out)


if __name__ == "__main__":
    main()
