"""Rows of experiments that nobody ran, for tests of what is made from rows."""

from dataclasses import asdict

import numpy as np

from unskew.paper.plans import PLANS

LIKE_PAPER = ("mnist", "fmnist", "diabetes-2015")


def rows_of(plan, auc=lambda setting, rng: 0.7 + setting.prior + 0.01 * rng.normal()):
    """A row for every setting, with made-up results."""
    rng = np.random.RandomState(0)
    extras = {
        "best_epoch": 3,
        "epochs": 9,
        "n_labeled": 5,
        "n_train": 50,
        "versions": {"v": "1"},
        "machine": {"m": "x"},
    }
    rows = []
    for setting in plan.settings():
        lent = setting.method in ("conf-auc", "no-conf", "pg")
        row = {"auc": auc(setting, rng), "seconds": 2.0 + setting.seed, "labeling_seconds": 10.0 * lent, **extras}
        weights = {"weights": [0.5, 1.0, 2.0, 20.0]} if setting.method == "conf-auc" else {}
        rows.append({**asdict(setting), **row, **weights})
    return rows


def small(name, datasets=LIKE_PAPER, seeds=3):
    """A plan on few data sets and seeds."""
    plan = PLANS[name]
    return plan.only(datasets=plan.datasets if name == "table-human" else datasets, seeds=seeds)
