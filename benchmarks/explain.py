"""How fast are explanations, by kind of model, and those of trees beside LightGBM's own?

    python benchmarks/explain.py [--rows 2000] [--turns 3] [--out FILE]

One thread, 10 columns. Rows per second of processor time, of `unskew.explain` with its own choice of background: 1000
rows for linear functions and trees, 32 for all else. The time of the trees is also divided by that of LightGBM's
`pred_contrib` on the same trees and rows, in the same run, the least of some turns each. The two do not answer the same
question: LightGBM's values follow the rows of training down each tree, ours compare with the rows of the background.
Above 1 ours take longer. Fits are short, because how good a model is does not change how long it takes to explain it.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import numpy as np
import torch
from threadpoolctl import threadpool_limits

import unskew
from measure import seconds
from rows import Row, Rows, add_out, save_rows
from unskew.explaining._columns import Columns
from unskew.explaining._trees import SumOfTrees
from unskew.explaining.shapley import MOST_BACKGROUND
from unskew.learning.boosted_trees import Tree
from unskew.learning.boosting import trees_of

N_COLUMNS, N_TRAINING = 10, 2000
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "conf-auc, linear": ("conf-auc", {"network": "linear"}),
    "conf-auc, mlp": ("conf-auc", {"network": "mlp"}),
    "conf-gp": ("conf-gp", {}),
    "auto": ("auto", {}),
}
FORESTS = (100, 31), (200, 4)
"""Trees, and leaves of each."""


def least_cpu_seconds(*runs: Callable[[], object], turns: int) -> list[float]:
    """Least time of each over some turns, without what other programs took in the meantime."""
    times = [[seconds(run, time.process_time) for run in runs] for _ in range(turns)]
    return [min(own) for own in zip(*times, strict=True)]


def table(n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, which rows are labeled, and confidence."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(n_rows, N_COLUMNS)).astype(np.float32)
    logit = 2 * X[:, 0] * X[:, 1] + X[:, 2] - 1.5
    labeled = np.zeros(n_rows, dtype=int)
    labeled[rng.permutation(np.argsort(logit + rng.logistic(size=n_rows))[-n_rows // 5 :])[: n_rows // 20]] = 1
    return X, labeled, 1 / (1 + np.exp(-logit))


def rows_for_model(what: str, X: np.ndarray, turns: int) -> Row:
    """Rows per second of a fitted model, explained once where that takes long."""
    name, parameters = MODELS[what]
    training = table(N_TRAINING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = unskew.make(name, max_epochs=2, probability=False, random_state=0, **parameters)
        ranker.fit(*training[:2], confidence=training[2])
    own = X[: len(X) // 10] if name == "auto" else X
    (spent,) = least_cpu_seconds(lambda: unskew.explain(ranker, own), turns=1 if name == "auto" else turns)
    return {"what": what, "rows": len(own), "seconds": spent, "rows_per_second": len(own) / spent}


def rows_for_trees(n_trees: int, n_leaves: int, X: np.ndarray, turns: int) -> Row:
    """The same of trees that LightGBM grew, and the ratio to its own contributions."""
    training, labeled, _ = table(N_TRAINING)
    settings = {"objective": "binary", "num_leaves": n_leaves, "num_threads": 1, "verbosity": -1, "min_data_in_leaf": 5}
    booster = lgb.train(settings, lgb.Dataset(training, labeled, params=settings), n_trees)
    trees: list[Tree] = list(trees_of(booster.model_to_string()))
    columns, background = Columns.from_names([str(each) for each in range(N_COLUMNS)]), training[:MOST_BACKGROUND]

    def ours() -> np.ndarray:
        return SumOfTrees(trees, 1.0).against(background, columns)(X)

    raw = booster.predict(X, raw_score=True) - booster.predict(background, raw_score=True).mean()
    assert np.abs(ours().sum(axis=1) - raw).max() < 1e-6
    own, theirs = least_cpu_seconds(ours, lambda: booster.predict(X, pred_contrib=True, num_threads=1), turns=turns)
    what = f"{n_trees} trees of {n_leaves} leaves"
    return {
        "what": what,
        "rows": len(X),
        "seconds": own,
        "rows_per_second": len(X) / own,
        "over_lightgbm": own / theirs,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2000, help="Rows to explain.")
    parser.add_argument("--turns", type=int, default=3, help="How often each is measured.")
    add_out(parser)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    X, _, _ = table(arguments.rows)
    rows: Rows = []
    with threadpool_limits(1):
        for sizes in FORESTS:
            rows.append(rows_for_trees(*sizes, X, arguments.turns))
        for what in MODELS:
            rows.append(rows_for_model(what, X, arguments.turns))
    for row in rows:
        ratio = f"{row['over_lightgbm']:8.2f} times LightGBM's" if "over_lightgbm" in row else ""
        print(f"{row['what']:24s} {row['rows_per_second']:10,.0f} rows per second {ratio}", flush=True)
    save_rows(rows, arguments.out)


if __name__ == "__main__":
    main()
