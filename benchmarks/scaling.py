"""From how many rows on do several machines pay, and what bounds them?

    python benchmarks/scaling.py [--measure] [--folder results/benchmarks]

With `--measure`: seconds of a step of the network and of the risk by the size of the batch, and of a sum over two
processes on this machine (gloo) by its size, as `scaling_costs.csv`. Then, from these, from `workers.csv` (rows per
second and start-up of workers) and from `larger_than_memory.csv` (rows per second of training), a simulation of
clusters: `scaling.csv` has the seconds of scoring and training of tables of many sizes by up to 64 workers, and what
takes most of them. What no measurement here can say of a cluster is at the top of the file, as assumptions.
"""

import argparse
import heapq
import math
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from measure import least_seconds
from rows import Row, Rows, read_rows, save_rows

NETWORK_LATENCY, NETWORK_BYTES = 100e-6, 1.25e9
"""Assumed of the network between machines: seconds for a message, bytes per second (10 Gbit/s)."""
STORAGE_BYTES = 2e9
"""Assumed of the storage that all machines share: bytes per second, for all of them together."""
JITTER = 0.2
"""Assumed spread of the time of a worker's step, in standard deviations of its logarithm; all wait for the slowest."""
COLUMNS, PART, SEED = 20, 1 << 20, 0
EPOCHS, BATCHES = 3, (1024, 65_536)
TABLES, WORKERS = (10**6, 10**7, 10**8, 10**9), (1, 2, 4, 8, 16, 32, 64)
SIMULATED_STEPS = 2000
Costs = Mapping[str, float]


# Costs


def network_of(inputs: int) -> torch.nn.Module:
    from unskew.learning.networks import empty_network

    return empty_network("mlp", (inputs,))


def step_rows(batch: int) -> Row:
    """Seconds of the network, forwards and backwards, and of the risk with its slopes, which is not shared."""
    from unskew import risk

    torch.manual_seed(SEED)
    network, X = network_of(COLUMNS), torch.randn(batch, COLUMNS)
    score, n_labeled = torch.randn(batch, requires_grad=True), max(2, batch // 100)
    weight = torch.ones(n_labeled)

    def both_ways() -> None:
        network(X).sum().backward()

    def risk_and_slopes() -> None:
        risk.confidence_auc_risk(score[:n_labeled], score[n_labeled:], weight, 0.01).backward()

    by_network, by_risk = least_seconds(both_ways, risk_and_slopes, turns=5)
    return {"what": "step", "size": batch, "network_seconds": by_network, "risk_seconds": by_risk}


def _sum_in_process(rank: int, port: int, results: Any) -> None:
    os.environ |= {"GLOO_SOCKET_IFNAME": "lo", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    import torch.distributed as crew

    torch.set_num_threads(1)
    crew.init_process_group("gloo", rank=rank, world_size=2)
    for size in (1024, 65_536, 1 << 20):
        vector = torch.zeros(size)
        for _ in range(5):
            crew.all_reduce(vector)
        start = time.perf_counter()
        for _ in range(30):
            crew.all_reduce(vector)
        if rank == 0:
            results.put({"what": "sum", "size": size, "sum_seconds": (time.perf_counter() - start) / 30})
    crew.destroy_process_group()


def sum_rows() -> Rows:
    """Seconds of a sum over two processes."""
    import socket

    context = torch.multiprocessing.get_context("spawn")
    results = context.Queue()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    members = [context.Process(target=_sum_in_process, args=(rank, port, results)) for rank in (0, 1)]
    for each in members:
        each.start()
    found = [results.get() for _ in range(3)]
    for each in members:
        each.join()
    return found


def measure(folder: Path) -> None:
    torch.set_num_threads(1)
    rows = [*(step_rows(size) for size in BATCHES), *sum_rows()]
    for row in rows:
        print(row, flush=True)
    save_rows(rows, folder / "scaling_costs.csv")


def costs_in(folder: Path) -> dict[str, float]:
    """Costs that the simulation takes, from the rows of three benchmarks."""
    steps = {(row["what"], row["size"]): row for row in read_rows(folder / "scaling_costs.csv")}
    one, two = (row for row in read_rows(folder / "workers.csv") if row["what"] == "workers")
    training = next(row for row in read_rows(folder / "larger_than_memory.csv") if "epoch" in row["what"])
    costs = {
        "parameters": float(sum(each.numel() for each in network_of(COLUMNS).parameters())),
        "score_rows": float(one["rows_per_second"]),
        "alone_rows": float(read_rows(folder / "workers.csv")[-1]["rows_per_second"]),
        "start_up": float(two["start_up_seconds"]),
        "train_rows": float(training["rows_per_second"]),
    }
    for size in BATCHES:
        costs[f"risk {size}"] = float(steps["step", str(size)]["risk_seconds"])
    return costs


# Simulation


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
    parser.add_argument("--measure", action="store_true", help="Measure the costs first.")
    parser.add_argument("--folder", type=Path, default=Path("results/benchmarks"), help="Of the rows of benchmarks.")
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.folder)
    rows = simulate(arguments.folder)
    for row in rows:
        print(*row.values(), sep="\t")
    save_rows(rows, arguments.folder / "scaling.csv")


if __name__ == "__main__":
    main()
