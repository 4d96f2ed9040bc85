"""How often does the interval of the AUC estimated without negatives cover the true AUC, and is the estimate right?

    python benchmarks/sar_auc_coverage.py [--draws 300] [--crossfit-draws 40]

The toy law and a fixed linear score, whose AUC is known. First with the true labeling probability, for both intervals,
both scenarios and several sizes; then with a cross-fitted
one (out-of-fold), by a network and by a forest, as a user would have it.
"""

import argparse

import numpy as np
import torch
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold

import unskew
from unskew.datasets import toy
from unskew.metrics import sar_auc
from unskew.metrics.crossval import default_labeling

DIRECTION = np.array([1.0, 0.3])


def draw(n, scenario, seed):
    law = toy.ToyLaw()
    if scenario == "one-sample":
        return toy.draw(n, law, seed)
    return toy.draw_two_samples(round(n * law.alpha), n, law, seed)


def with_true_prob(n, scenario, interval, seed):
    data = draw(n, scenario, seed)
    return sar_auc(
        data.labeled,
        data.X @ DIRECTION,
        data.confidence,
        data.labeling_prob,
        scenario,
        random_state=0,
        interval=interval,
    )


def with_crossfitted_prob(n, labeling, seed):
    torch.set_num_threads(1)
    data = draw(n, "one-sample", seed)
    prob = np.empty(n)
    for inside, outside in StratifiedKFold(5, shuffle=True, random_state=seed).split(data.X, data.labeled):
        if labeling == "network":
            model = unskew.make("ntc", learning_rate=1e-3, batch_size=256, max_epochs=60, random_state=seed)
            prob[outside] = model.fit(data.X[inside], data.labeled[inside]).labeling_prob(data.X[outside])
        else:
            model = default_labeling(n).set_params(random_state=seed)
            prob[outside] = model.fit(data.X[inside], data.labeled[inside]).predict_proba(data.X[outside])[:, 1]
    return sar_auc(data.labeled, data.X @ DIRECTION, data.confidence, prob, clip=0.01)


def line(name, estimates):
    law = toy.ToyLaw()
    truth = law.linear_auc(DIRECTION)
    aucs = np.array([each.auc for each in estimates])
    covered = np.mean([each.low <= truth <= each.high for each in estimates])
    off = (aucs.mean() - truth) / (aucs.std(ddof=1) / np.sqrt(len(aucs)))
    width = np.mean([each.high - each.low for each in estimates])
    prior = np.array([each.prior for each in estimates])
    print(
        f"{name:44} mean {aucs.mean():.4f} (off by {off:+.1f} standard errors), covers {covered:6.1%}, "
        f"width {width:.3f}, prior {prior.mean():.4f} (median {np.median(prior):.4f})",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--crossfit-draws", type=int, default=40)
    arguments = parser.parse_args()
    law = toy.ToyLaw()
    print(f"true AUC {law.linear_auc(DIRECTION):.4f}, true prior {law.prior:.4f}, label frequency {law.label_freq:.2f}")
    for scenario in ("one-sample", "two-sample"):
        for n in (250, 1000, 4000):
            for interval in ("u-statistic", "bootstrap"):
                estimates = [with_true_prob(n, scenario, interval, seed) for seed in range(arguments.draws)]
                line(f"{scenario}, n = {n}, {interval}, true u", estimates)
    for n in (1000, 4000):
        for labeling in ("network", "forest"):
            runs = (delayed(with_crossfitted_prob)(n, labeling, seed) for seed in range(arguments.crossfit_draws))
            line(f"one-sample, n = {n}, cross-fitted {labeling}", Parallel(2)(runs))


if __name__ == "__main__":
    main()
