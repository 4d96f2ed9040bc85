"""How much more processor time does a training take because several workers share it?

    python benchmarks/shared_training.py [--rows 200000] [--turns 3] [--out FILE]

The risk of `conf-auc`, the paper's MLP, 20 columns, 1 % labeled, batches of 1024 and of 4096: seconds of processor time
of all workers together, over two epochs with their validation risks. One process as usual, a team of one (8 shards),
and a team of two, which talk by gloo. What processes take to start is left out. The least of the turns is that of an
idle machine.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from rows import Rows, add_out, save_rows
from unskew.data.rows import as_rows
from unskew.data.team import Share, Team
from unskew.learning.team import GlooTeam, OneWorker
from unskew.learning.trainer import Trainer
from unskew.records import PUData, ScoredBatch
from unskew.risk import weighted_auc_risk
from unskew.surrogates import sigmoid

N_COLUMNS, N_SHARDS, EPOCHS = 20, 8, 2
LABELED_SHARE, HELD_OUT = 0.01, 0.2
BATCHES = 1024, 4096


def risk(batch: ScoredBatch) -> torch.Tensor:
    return weighted_auc_risk(batch, sigmoid, "one-sample")


def record_of(n_rows: int, seed: int, team: Team | None) -> PUData:
    """Made-up rows: all of them, or the labeled ones and those of a worker's shards."""
    n_labeled = int(LABELED_SHARE * n_rows)
    sizes = [len(each) for each in np.array_split(np.arange(n_rows - n_labeled), N_SHARDS)]
    shards = range(N_SHARDS) if team is None else team.shards
    parts = [np.random.default_rng((seed, shard)).standard_normal((sizes[shard], N_COLUMNS)) for shard in shards]
    labeled = np.random.default_rng((seed, N_SHARDS)).standard_normal((n_labeled, N_COLUMNS)) + 0.3
    X = as_rows(np.concatenate([labeled, *parts]).astype(np.float32))
    weight = np.random.default_rng(seed).uniform(1, 10, n_labeled)
    rows = np.arange(len(X))
    share = None if team is None else Share(team, tuple(sizes))
    return PUData(X, rows[:n_labeled], rows[n_labeled:], weight=weight, share=share)


def processor_seconds(n_rows: int, batch: int, turns: int, team: Team | None) -> list[float]:
    """Of this process, in each turn."""
    torch.set_num_threads(1)
    data, held_out = (record_of(n, seed, team) for seed, n in enumerate((n_rows, int(HELD_OUT * n_rows))))
    found = []
    for _ in range(turns + 1):
        begin = time.process_time()
        Trainer(max_epochs=EPOCHS, batch_size=batch).minimize(risk, data, held_out, np.random.RandomState(0))
        found.append(time.process_time() - begin)
    return found[1:]  # the first one also loads what is loaded late


def one_of_two(rank: int, request: tuple[int, int, int], folder: Path) -> None:
    """What either worker of a team does."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.distributed.init_process_group("gloo", f"file://{folder / 'meeting'}", rank=rank, world_size=2)
    np.save(folder / f"{rank}.npy", processor_seconds(*request, GlooTeam(N_SHARDS, 2, rank)))
    torch.distributed.destroy_process_group()


def by_two(request: tuple[int, int, int]) -> list[float]:
    """Of both workers together, in each turn."""
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(one_of_two, (request, Path(folder)), nprocs=2)
        return list(sum(np.load(Path(folder) / f"{rank}.npy") for rank in range(2)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--turns", type=int, default=3)
    add_out(parser)
    arguments = parser.parse_args()
    rows: Rows = []
    for batch in BATCHES:
        request = arguments.rows, batch, arguments.turns
        plain = min(processor_seconds(*request, None))
        one, two = min(processor_seconds(*request, OneWorker(N_SHARDS))), min(by_two(request))
        about = {"batch": batch, "rows": arguments.rows, "columns": N_COLUMNS, "shards": N_SHARDS, "epochs": EPOCHS}
        times = {"plain_cpu_seconds": plain, "one_cpu_seconds": one, "two_cpu_seconds": two}
        rows.append({**about, **times, "two_over_one": two / one, "load": os.getloadavg()[1]})
        print(
            f"batch {batch}: one process as usual {plain:.2f} s, a team of one {one:.2f} s, of two {two:.2f} s of "
            f"processor time; two over one {two / one:.2f}, load {os.getloadavg()[0]:.0f}",
            flush=True,
        )
    save_rows(rows, arguments.out)


if __name__ == "__main__":
    main()
