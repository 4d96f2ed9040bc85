"""Do all compared methods rank as well as the paper says (Table 1, and the table of App. F for LBE)?

    UNSKEW_DATA=folder python benchmarks/methods_auc.py [--datasets mnist fmnist] [--priors 0.05 0.1 0.15 0.2]
        [--methods NAME ...] [--seeds 2] [--jobs 2] [--confidence-batch 1024]

The paper's sizes, label frequency 0.1; the methods that need the prior are given the true one. Prints the true test AUC
of each run, and the means beside the paper's, which are over these four priors and ten seeds. A few minutes a run and
core, half of it for the nine networks of NPU. The batch size of the classifier that gives the confidence, which the
paper does not say, decides how far that goes towards 0 and 1 in its 30 epochs.
"""

import argparse

import numpy as np
import torch
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

import unskew
from unskew.datasets._registry import BATCH_SIZE, LEARNING_RATE
from unskew.learning.trainer import Trainer
from unskew.paper.plans import EPOCHS
from unskew.scenario import draw_split
from unskew.scenario.confidence import CONFIDENCE_EPOCHS

NAMES = unskew.methods()[:10]  # in the order of the paper's table, and LBE
PAPER = {
    "mnist": (0.8979, 0.8769, 0.8575, 0.8196, 0.8828, 0.8841, 0.8575, 0.8193, 0.8285, 0.8631),
    "fmnist": (0.9495, 0.9371, 0.9165, 0.9296, 0.9409, 0.9474, 0.9165, 0.7737, 0.9470, 0.9245),
}


def run(dataset: str, prior: float, seed: int, names: list[str], confidence_batch: int) -> list[float]:
    torch.set_num_threads(1)
    trainer = Trainer(max_epochs=CONFIDENCE_EPOCHS, batch_size=confidence_batch)
    rng = check_random_state(seed)
    split = draw_split(unskew.datasets.load(dataset), prior=prior, label_freq=0.1, rng=rng, trainer=trainer)
    train, held_out = split.train, split.validation
    validation = (held_out.X, held_out.y, held_out.confidence)
    paper = {"max_epochs": EPOCHS, "batch_size": BATCH_SIZE, "learning_rate": LEARNING_RATE}
    request = {**paper, "validation": validation, "prior": prior, "random_state": seed}
    fitted = unskew.fit_each(names, train.X, train.y, train.confidence, **request)
    return [ranker.score(split.test_X, split.test_y) for _, ranker in fitted]


def row(title: str, values: np.ndarray | tuple[float, ...], form: str = "8.4f") -> str:
    return f"{title:>18} " + " ".join(f"{each:{form}}" for each in values)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--datasets", nargs="+", default=list(PAPER), choices=list(PAPER))
    parser.add_argument("--priors", nargs="+", type=float, default=[0.05, 0.1, 0.15, 0.2])
    parser.add_argument("--methods", nargs="+", default=list(NAMES), choices=list(NAMES))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--confidence-batch", type=int, default=1024)
    arguments = parser.parse_args()
    for dataset in arguments.datasets:
        settings = [(prior, seed) for prior in arguments.priors for seed in range(arguments.seeds)]
        runs = Parallel(n_jobs=arguments.jobs, return_as="generator")(
            delayed(run)(dataset, *each, arguments.methods, arguments.confidence_batch) for each in settings
        )
        print(f"{dataset:>18} " + " ".join(f"{name:>8}" for name in arguments.methods), flush=True)
        aucs = []
        for (prior, seed), result in zip(settings, runs, strict=True):
            print(row(f"prior {prior:g} seed {seed}", tuple(result)), flush=True)
            aucs.append(result)
        mean = np.mean(aucs, axis=0)
        paper = np.array([PAPER[dataset][NAMES.index(name)] for name in arguments.methods])
        print(row("mean", mean), row("paper", paper), row("difference", mean - paper, "+8.4f"), sep="\n", flush=True)


if __name__ == "__main__":
    main()
