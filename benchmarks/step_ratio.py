"""What does a whole training step cost over the matrix products that nothing can avoid?

    python benchmarks/step_ratio.py [--turns 100] [--out FILE]

One thread, the paper's MLP at batch 1024 (20 labeled). A step is sampling, forward, risk, backward and Adam. The five
products are two forward, and backward two for the weights and one for the hidden layer, as plain torch computes them.
Twenty steps and twenty times the products take turns in one run. The least time of either over all turns is that of an
idle machine, to which other work on it only adds; the ratio of the medians says how it was on this one.
"""

import argparse
from collections.abc import Callable

import numpy as np
import torch

from measure import seconds
from rows import Rows, add_out, save_rows
from unskew.networks import HIDDEN, build_network
from unskew.pairs import SlopesOf
from unskew.records import PUData, ScoredBatch
from unskew.risk import confidence_auc_risk
from unskew.rows import as_rows
from unskew.training import Adam, Batches, new_generator, new_pullback, run_epoch

BATCH = 1024
N_LABELED, N_UNLABELED = 102, 5 * 1004  # five full steps an epoch, 20 labeled in each
WARM_UP = 3


def risk(batch: ScoredBatch) -> torch.Tensor:
    assert batch.weight is not None
    return confidence_auc_risk(batch.labeled, batch.unlabeled, batch.weight, batch.alpha)


def twenty_products(n_inputs: int) -> Callable[[], None]:
    """Twenty times the five products, as plain torch computes them."""
    rng = new_generator(np.random.RandomState(0))
    x, w1 = torch.randn(BATCH, n_inputs, generator=rng), torch.randn(HIDDEN, n_inputs, generator=rng)
    h, w2 = torch.randn(BATCH, HIDDEN, generator=rng), torch.randn(HIDDEN, HIDDEN, generator=rng)

    def run() -> None:
        for _ in range(20):
            torch.mm(x, w1.t())
            torch.mm(h, w2.t())
            torch.mm(h.t(), h)
            torch.mm(h, w2)
            torch.mm(h.t(), x)

    return run


def four_epochs(n_inputs: int) -> Callable[[], None]:
    """Twenty whole steps of the training loop."""
    rng = np.random.RandomState(0)
    generator = new_generator(rng)
    X = as_rows(rng.uniform(size=(N_LABELED + N_UNLABELED, n_inputs)).astype(np.float32))
    rows = np.arange(len(X))
    data = PUData(X, rows[:N_LABELED], rows[N_LABELED:], weight=rng.uniform(1, 10, N_LABELED))
    network = build_network("mlp", torch.zeros(1, n_inputs), generator)
    parts = new_pullback(network, BATCH), Adam(network, 1e-4), SlopesOf(risk), Batches(data, BATCH, "cpu"), generator
    assert (parts[3].n_labeled, parts[3].n_steps) == (20, 5)

    def run() -> None:
        for _ in range(4):
            run_epoch(*parts)

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=100, help=f"How often either is measured; more than {WARM_UP}.")
    add_out(parser)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows: Rows = []
    print("inputs  step [ms]  products [ms]  ratio of least  ratio of medians")
    for n_inputs in (784, 142, 100):
        steps, products = four_epochs(n_inputs), twenty_products(n_inputs)
        times = np.array([(seconds(steps), seconds(products)) for _ in range(arguments.turns)])[WARM_UP:] / 20 * 1e3
        (step, product), (median_step, median_product) = times.min(axis=0).tolist(), np.median(times, axis=0).tolist()
        rows.append({"inputs": n_inputs, "batch": BATCH, "step_ms": step, "products_ms": product})
        rows[-1] |= {"ratio_of_least": step / product, "ratio_of_medians": median_step / median_product}
        print(
            f"{n_inputs:6d} {step:10.3f} {product:14.3f} {step / product:15.2f} {median_step / median_product:17.2f}",
            flush=True,
        )
    save_rows(rows, arguments.out)


if __name__ == "__main__":
    main()
