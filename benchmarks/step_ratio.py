"""What does a whole training step cost over the matrix products that nothing can avoid?

    python benchmarks/step_ratio.py [--processes 6] [--turns 40] [--out FILE]

One thread, the paper's MLP at batch 1024 (20 labeled). A step is sampling, forward, risk, backward and Adam. The five
products are two forward, and backward two for the weights and one for the hidden layer, as plain torch computes them.
Twenty steps and twenty times the products take turns, in several processes one after another, because where a process
happens to have its memory makes up to a tenth of its time. The least time of either over all is that of an idle
machine, to which other work on it only adds; the ratio of the medians says how it was on this one, and the last column
what one process alone would have said. FILE keeps the rows of other processors.
"""

import argparse
from collections.abc import Callable

import numpy as np
import torch

from measure import in_own_process, seconds
from rows import Row, Rows, add_out, save_rows, with_other_processors
from unskew.data.rows import as_rows
from unskew.learning.batches import Batches
from unskew.learning.networks import HIDDEN, build_network
from unskew.learning.trainer import Adam, new_generator, new_pullback, run_epoch
from unskew.objectives.pairs import SlopesOf
from unskew.records import PUData, ScoredBatch
from unskew.risk import weighted_auc_risk
from unskew.surrogates import sigmoid

BATCH = 1024
N_LABELED, N_UNLABELED = 102, 5 * 1004  # five full steps an epoch, 20 labeled in each
WARM_UP = 3


def risk(batch: ScoredBatch) -> torch.Tensor:
    return weighted_auc_risk(batch, sigmoid, "one-sample")


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
    batches = Batches(data, BATCH, "cpu", n_epochs=200)  # as many as a ranker asks for
    assert (batches.n_labeled, batches.n_steps) == (20, 5)
    parts = new_pullback(network, BATCH), Adam(network, 1e-4), SlopesOf(risk), batches, generator

    def run() -> None:
        for _ in range(4):
            run_epoch(*parts)

    return run


def times_of(n_inputs: int, turns: int) -> list[tuple[float, float]]:
    """Milliseconds of one step and of its products, in each turn."""
    torch.set_num_threads(1)
    steps, products = four_epochs(n_inputs), twenty_products(n_inputs)
    times = [(seconds(steps), seconds(products)) for _ in range(WARM_UP + turns)][WARM_UP:]
    return [(1e3 * step / 20, 1e3 * product / 20) for step, product in times]


def row_of(n_inputs: int, times: np.ndarray) -> Row:
    """What the times of all processes say, shape (processes, turns, 2)."""
    step, product = times.min(axis=(0, 1)).tolist()
    median_step, median_product = np.median(times, axis=(0, 1)).tolist()
    by_process = times.min(axis=1)
    ratios = by_process[:, 0] / by_process[:, 1]
    return {
        "inputs": n_inputs,
        "batch": BATCH,
        "step_ms": step,
        "products_ms": product,
        "ratio_of_least": step / product,
        "ratio_of_medians": median_step / median_product,
        "least_of_a_process": ratios.min(),
        "most_of_a_process": ratios.max(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=6, help="How many take part, one after another.")
    parser.add_argument("--turns", type=int, default=40, help="How often a process measures either.")
    add_out(parser)
    arguments = parser.parse_args()
    rows: Rows = []
    print("inputs  step [ms]  products [ms]  ratio of least  ratio of medians  a process alone")
    for n_inputs in (784, 142, 100):
        times = [in_own_process(times_of, n_inputs, arguments.turns) for _ in range(arguments.processes)]
        row = row_of(n_inputs, np.array(times))
        rows.append(row)
        print(
            f"{n_inputs:6d} {row['step_ms']:10.3f} {row['products_ms']:14.3f} {row['ratio_of_least']:15.2f} "
            f"{row['ratio_of_medians']:17.2f}  {row['least_of_a_process']:.2f} to {row['most_of_a_process']:.2f}",
            flush=True,
        )
    save_rows(with_other_processors(rows, arguments.out), arguments.out)


if __name__ == "__main__":
    main()
