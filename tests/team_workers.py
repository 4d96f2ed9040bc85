"""Trainings of the tests of teams, and a process for each worker, which talk by gloo on this machine alone."""

import os

import numpy as np
import torch
from torch import nn

import unskew
from unskew.data.rows import as_rows
from unskew.data.team import Share
from unskew.learning.team import GlooTeam, OneWorker
from unskew.records import PUData

METHODS = {
    "conf-auc": {},
    "ntc": {},
    "nnpu": {"prior": 0.3},
    "puauc": {},
    "conf-joint": {"max_epochs": 5},
}
N_SHARDS, BATCH, EPOCHS = 4, 100, 10
SIZES = {"train": (497, 371, 553, 479), "held_out": (150, 90, 130, 133)}  # 200 steps; no shard has a round number


class ToFloat64(nn.Module):
    """First layer of a network that computes in float64."""

    def forward(self, x):
        return x.double()


def network_in_float64(shape):
    layers = nn.Linear(shape[0], 16), nn.ReLU(), nn.Linear(16, 1)
    return nn.Sequential(ToFloat64(), *(each.double() for each in layers))


def small_network(shape):
    return nn.Sequential(nn.Linear(shape[0], 16), nn.ReLU(), nn.Linear(16, 1))


def whole_table(n_labeled=60, n_features=4):
    rng = np.random.RandomState(0)
    n = n_labeled + sum(map(sum, SIZES.values()))
    X = rng.normal(size=(n, n_features)).astype(np.float32)
    X[: n_labeled + n // 5, :2] += 1.2
    confidence = rng.uniform(0.2, 1, size=n_labeled)
    return X, confidence


def records_of(team):
    """Training and held-out data as one worker has them: all labeled rows, and the others of its shards alone."""
    X, confidence = whole_table()
    n_labeled, start, shards = len(confidence), len(confidence), {}
    for kind, sizes in SIZES.items():
        for shard, size in enumerate(sizes):
            shards[kind, shard] = np.arange(start, start + size)
            start += size
    own = {kind: [shards[kind, shard] for shard in team.shards] for kind in SIZES}
    rows = np.concatenate([np.arange(n_labeled), *own["train"], *own["held_out"]])
    n_train, n_own = sum(map(len, own["train"])), len(rows)
    unlabeled = {
        "train": np.arange(n_labeled, n_labeled + n_train),
        "held_out": np.arange(n_labeled + n_train, n_own),
    }
    labeled = {"train": np.arange(0, n_labeled - 12), "held_out": np.arange(n_labeled - 12, n_labeled)}
    alpha = n_labeled / len(X)
    return [
        PUData(
            as_rows(X[rows]),
            labeled[kind],
            unlabeled[kind],
            confidence=confidence[labeled[kind]],
            sample_alpha=alpha,
            share=Share(team, SIZES[kind]),
        )
        for kind in SIZES
    ]


def weights_of(ranker):
    """All weights that a fit has learned, by name."""
    networks = {"score": getattr(ranker, "network_", None), "propensity": getattr(ranker, "propensity_network_", None)}
    networks["labeling"] = getattr(getattr(ranker, "labeling_", None), "network", None)
    states = {part: network.state_dict() for part, network in networks.items() if network is not None}
    return {f"{part}.{name}": value for part, state in states.items() for name, value in state.items()}


def train(team, method, network):
    given = {"max_epochs": EPOCHS, "batch_size": BATCH, "learning_rate": 3e-3, "random_state": 1, **METHODS[method]}
    ranker = unskew.make(method, network=network, **given)
    ranker.keep = "last"  # all steps count
    fitted, _ = ranker.fit_member(*records_of(team), 0.3)
    return {**weights_of(fitted), "history": torch.tensor([row[1:] for row in fitted.history_], dtype=torch.float64)}


def train_all(team, network="mlp"):
    """Weights that all methods learn."""
    return {method: train(team, method, network) for method in METHODS}


def work(rank, n_workers, work_of, out):
    """What one process does: meet the others in a file, and write what the work gives to another."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    meeting = f"file://{out / 'meeting'}"
    torch.distributed.init_process_group("gloo", meeting, rank=rank, world_size=n_workers)
    result = work_of(GlooTeam(N_SHARDS, n_workers, rank))
    torch.save(result, out / f"{rank}.pt")
    torch.distributed.destroy_process_group()


def run_team(n_workers, work_of, out):
    """Results of all workers, each in a process of its own."""
    torch.multiprocessing.spawn(work, args=(n_workers, work_of, out), nprocs=n_workers)
    return [torch.load(out / f"{rank}.pt") for rank in range(n_workers)]


def run_alone(work_of):
    return work_of(OneWorker(N_SHARDS))
