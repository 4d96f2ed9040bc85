"""Does the proposed method rank MNIST as well as the paper says (Table 1), and better than without its parts?

    UNSKEW_DATA=folder python benchmarks/mnist_auc.py [--seeds 2] [--jobs 2]

The paper's sizes, four priors, label frequency 0.1. Prints the true test AUC of each run and the means beside the
paper's. About 25 s a run and core.
"""

import argparse

import torch
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

import unskew
from unskew.metrics import mean_over_priors
from unskew.scenario import draw_split

PRIORS = (0.05, 0.1, 0.15, 0.2)
PAPER = {"conf-auc": 0.8979, "no-conf": 0.8769, "ntc": 0.8575}  # Table 1, row Mnist


def run(prior: float, seed: int) -> dict[str, float]:
    torch.set_num_threads(1)
    split = draw_split(unskew.datasets.load("mnist"), prior=prior, label_freq=0.1, rng=check_random_state(seed))
    train, held_out = split.train, split.validation
    validation = (held_out.X, held_out.y, held_out.confidence)
    ntc = unskew.make("ntc", random_state=seed).fit(train.X, train.y, train.confidence, validation=validation)
    result = {"ntc": ntc.score(split.test_X, split.test_y), "prior estimate": ntc.prior_}
    for name in ("conf-auc", "no-conf"):
        ranker = unskew.make(name, random_state=seed, labeling=ntc)
        ranker.fit(train.X, train.y, train.confidence, validation=validation)
        result[name] = ranker.score(split.test_X, split.test_y)
    return result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    settings = [(prior, seed) for prior in PRIORS for seed in range(arguments.seeds)]
    results = Parallel(n_jobs=arguments.jobs, return_as="generator")(delayed(run)(*each) for each in settings)
    by_prior: dict[str, dict[float, list[float]]] = {name: {prior: [] for prior in PRIORS} for name in PAPER}
    print(f"{'prior':>6} {'seed':>5} " + " ".join(f"{name:>9}" for name in PAPER) + "  prior estimate")
    for (prior, seed), result in zip(settings, results, strict=True):
        aucs = " ".join(f"{result[name]:9.4f}" for name in PAPER)
        print(f"{prior:6.2f} {seed:5d} {aucs}  {result['prior estimate']:.3f}", flush=True)
        for name in PAPER:
            by_prior[name][prior].append(result[name])
    print(f"{'mean':>12} " + " ".join(f"{mean_over_priors(by_prior[name]).mean:9.4f}" for name in PAPER))
    print(f"{'paper':>12} " + " ".join(f"{each:9.4f}" for each in PAPER.values()))


if __name__ == "__main__":
    main()
