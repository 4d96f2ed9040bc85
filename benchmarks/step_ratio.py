"""What does a whole training step cost over the matrix products that nothing can avoid?

    python benchmarks/step_ratio.py

One thread, the paper's MLP at batch 1024 (20 labeled). A step is sampling, forward, risk, backward and Adam. The five
products: two forward, and backward two for the weights and one for the hidden layer. Both are timed in turns in the
same run, and the medians are compared.
"""

import time
from collections.abc import Callable

import numpy as np
import torch

from unskew.networks import HIDDEN, build_network
from unskew.records import PUData, ScoredBatch
from unskew.risk import confidence_auc_risk
from unskew.rows import as_rows
from unskew.training import Adam, Batches, new_generator, run_epoch

BATCH = 1024
N_LABELED, N_UNLABELED = 102, 5 * 1004  # five full steps an epoch, 20 labeled in each
ROUNDS = 40


def risk(batch: ScoredBatch) -> torch.Tensor:
    return confidence_auc_risk(batch.labeled, batch.unlabeled, batch.weight, batch.alpha)


def five_products(n_inputs: int) -> Callable[[], None]:
    rng = new_generator(np.random.RandomState(0))
    x, w1 = torch.randn(BATCH, n_inputs, generator=rng), torch.randn(HIDDEN, n_inputs, generator=rng)
    h, w2 = torch.randn(BATCH, HIDDEN, generator=rng), torch.randn(HIDDEN, HIDDEN, generator=rng)

    def run() -> None:
        x @ w1.T
        h @ w2.T
        h.T @ h
        h @ w2
        h.T @ x

    return run


def five_steps(n_inputs: int) -> Callable[[], None]:
    rng = np.random.RandomState(0)
    generator = new_generator(rng)
    X = as_rows(rng.uniform(size=(N_LABELED + N_UNLABELED, n_inputs)).astype(np.float32))
    rows = np.arange(len(X))
    data = PUData(X, rows[:N_LABELED], rows[N_LABELED:], weight=rng.uniform(1, 10, N_LABELED))
    network = build_network("mlp", torch.zeros(1, n_inputs), generator)
    optimizer, batches = Adam(network, 1e-4), Batches(data, BATCH, "cpu")
    assert (batches.n_labeled, batches.n_steps) == (20, 5)
    return lambda: run_epoch(network, optimizer, risk, batches, generator)


def seconds(run: Callable[[], None]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main() -> None:
    torch.set_num_threads(1)
    print("inputs  step [ms]  products [ms]  ratio")
    for n_inputs in (784, 142, 100):
        steps, products = five_steps(n_inputs), five_products(n_inputs)
        times = np.array([[seconds(steps), sum(seconds(products) for _ in range(5))] for _ in range(ROUNDS)]) / 5
        step, product = np.median(times[5:], axis=0) * 1e3
        print(f"{n_inputs:6d} {step:10.3f} {product:14.3f} {step / product:6.2f}")


if __name__ == "__main__":
    main()
