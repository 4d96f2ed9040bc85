"""From how many rows on do several machines pay, and what bounds them?

    python benchmarks/scaling.py [--folder results/benchmarks] [--out FILE]

A simulation of clusters from costs that other benchmarks measured: rows per second of processor and start-up of
workers (`workers.csv`), rows per second of training (`larger_than_memory.csv`), the risk of a batch (`pair_sums.csv`).
Prints, and writes, the seconds of scoring and training of tables of many sizes by up to 64 workers, and what takes most
of them. What no measurement on one machine can say of a cluster is at the top of the file, as assumptions.
"""

import argparse
import heapq
import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from rows import Rows, add_out, read_rows, save_rows

NETWORK_LATENCY, NETWORK_BYTES = 100e-6, 1.25e9
"""Assumed of the network between machines: seconds for a message, bytes per second (10 Gbit/s)."""
STORAGE_BYTES = 2e9
"""Assumed of the storage that all machines share: bytes per second, for all of them together."""
JITTER = 0.2
"""Assumed spread of the time of a worker's step, in standard deviations of its logarithm; all wait for the slowest."""
COLUMNS, PART, SEED = 20, 1 << 20, 0
EPOCHS, BATCHES = 3, (1024, 65_536)
TABLES = (*(step * 10**power for power in range(5, 9) for step in (1, 3)), 10**9)
WORKERS = 1, 2, 4, 8, 16, 32, 64
SIMULATED_STEPS = 2000
Costs = Mapping[str, float]


def costs_in(folder: Path) -> dict[str, float]:
    """Costs that the simulation takes, from the rows of three benchmarks."""
    from unskew.learning.networks import empty_network

    _, two, alone = read_rows(folder / "workers.csv")
    training = next(row for row in read_rows(folder / "larger_than_memory.csv") if "epoch" in row["what"])
    pairs = read_rows(folder / "pair_sums.csv")
    small = next(row for row in pairs if row["what"] == "batch" and row["method"] == "unskew, in a training step")
    large = next(
        row
        for row in pairs
        if (row["what"], row["method"], row["surrogate"]) == ("cost", "unskew", "sigmoid")
        and (row["n_high"], row["n_low"]) == ("10000", "100000")
    )
    return {
        "parameters": float(sum(each.numel() for each in empty_network("mlp", (COLUMNS,)).parameters())),
        "score_rows": float(two["rows_per_processor_second"]),
        "alone_rows": float(alone["rows_per_processor_second"]),
        "start_up": float(two["start_up_seconds"]),
        "train_rows": float(training["rows_per_second"]),
        f"risk {BATCHES[0]}": float(small["seconds"]),
        # In linear time, so by the number of scores.
        f"risk {BATCHES[1]}": float(large["seconds"]) * BATCHES[1] / (int(large["n_high"]) + int(large["n_low"])),
    }


def scoring(n_rows: int, workers: int, costs: Costs) -> dict[str, float]:
    """Seconds of each thing that scoring takes, if nothing else took any."""
    if workers == 1:
        return {"scoring": n_rows / costs["alone_rows"]}
    rng = np.random.default_rng(SEED)
    sizes = np.full(math.ceil(n_rows / PART), PART)
    sizes[-1] = n_rows - PART * (len(sizes) - 1)
    free = [0.0] * workers  # each part goes to the worker that is free first
    for size in sizes:
        heapq.heappush(free, heapq.heappop(free) + size / costs["score_rows"] * rng.lognormal(0, JITTER))
    bytes_moved = n_rows * (4 * COLUMNS + 2 * 8 * 3 + 8 * 4 + 3 * 8)  # read; results, keys and ranks; the files written
    return {"start": costs["start_up"], "scoring": max(free), "storage": bytes_moved / STORAGE_BYTES}


def training(n_rows: int, workers: int, batch: int, costs: Costs) -> dict[str, float]:
    """Seconds of each thing that training takes: compute that is shared, the risk that is not, messages."""
    steps = EPOCHS * math.ceil(n_rows / batch)
    compute = max(batch / costs["train_rows"] - costs[f"risk {batch}"], 0.0)
    if workers == 1:
        return {"network": steps * compute, "risk": steps * costs[f"risk {batch}"]}
    rng = np.random.default_rng(SEED)
    slowest = np.exp(JITTER * rng.standard_normal((SIMULATED_STEPS, workers))).max(axis=1).mean()
    messages = 2 * 2 * math.ceil(math.log2(workers)) * NETWORK_LATENCY  # two sums, out and back
    moved = 2 * 4 * (batch + costs["parameters"]) * (workers - 1) / workers / NETWORK_BYTES
    return {
        "start": costs["start_up"],
        "network": steps * compute / workers * slowest,
        "risk": steps * costs[f"risk {batch}"],
        "latency": steps * messages,
        "bytes": steps * moved,
    }


def total(what: str, parts: Mapping[str, float]) -> float:
    """Seconds altogether: storage is busy while workers score, all else comes one after another."""
    if what != "scoring" or "storage" not in parts:
        return sum(parts.values())
    return parts["start"] + max(parts["scoring"], parts["storage"])


def simulate(folder: Path) -> Rows:
    costs = costs_in(folder)
    kinds: list[tuple[str, int | str, Callable[[int, int], dict[str, float]]]] = [
        ("scoring", "", lambda n_rows, workers: scoring(n_rows, workers, costs))
    ]
    for batch in BATCHES:
        kinds.append(("training", batch, lambda n_rows, workers, batch=batch: training(n_rows, workers, batch, costs)))
    results: Rows = []
    for what, batch, of in kinds:
        for n_rows in TABLES:
            for workers in WORKERS:
                parts = of(n_rows, workers)
                bound = max(parts, key=lambda name: parts[name])
                row = {"what": what, "batch": batch, "rows": n_rows, "workers": workers}
                results.append({**row, "seconds": total(what, parts), "most": bound, "most_seconds": parts[bound]})
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("results/benchmarks"), help="Of the rows of benchmarks.")
    add_out(parser)
    arguments = parser.parse_args()
    rows = simulate(arguments.folder)
    for row in rows:
        print(*row.values(), sep="\t")
    save_rows(rows, arguments.out)


if __name__ == "__main__":
    main()
