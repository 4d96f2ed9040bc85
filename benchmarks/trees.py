"""What do boosted trees cost over plain LightGBM: the objective in a round, the whole fit, the scores?

    python benchmarks/trees.py [--rows 10000 100000] [--turns 3] [--out FILE]

One thread, 20 columns, 2 % labeled. `objective` is the time of slopes and curvature in a round of `conf-auc`, as a
share of the whole round, its trees of 31 leaves. `fit` is that of `conf-auc` with the labeling model in five folds,
without probabilities, over LightGBM's own binary objective on the same rows: 100 rounds, trees of as many leaves, bins
included. `score` is LightGBM's time to score all rows over that of the same trees as arrays: above 1 the arrays are
faster. All is measured in one process, in turns, and the least time of each counts.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import numpy as np
import torch

import unskew
from measure import least_seconds
from rows import Row, Rows, add_out, save_rows
from unskew.data.rows import as_rows
from unskew.learning.boosted_trees import BoostedTrees, joined_trees
from unskew.learning.boosting import GROWING, PAIRS, _Slopes, dataset_of, trees_of
from unskew.learning.scoring import score_rows
from unskew.learning.threads import one_thread
from unskew.objectives.pairs import rounded_scores
from unskew.records import PUData, ScoredBatch
from unskew.risk import weighted_auc_risk
from unskew.surrogates import sigmoid

N_COLUMNS, LABELED, ROUNDS, LEAVES = 20, 0.02, 100, 31
PLAIN = {"objective": "binary", "learning_rate": 0.1, "num_threads": 1, "verbosity": -1, "force_col_wise": True}
FORESTS = (100, 31), (200, 4)
"""Trees and leaves of the forests that are scored."""


def table(n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, which rows are labeled, and confidence."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(n_rows, N_COLUMNS)).astype(np.float32)
    logit = 2 * X[:, 0] * X[:, 1] + X[:, 2] - 1.5
    likely = logit + rng.logistic(size=n_rows)
    labeled = np.zeros(n_rows, dtype=int)
    labeled[rng.permutation(np.argsort(likely)[-n_rows // 5 :])[: round(LABELED * n_rows)]] = 1
    return X, labeled, 1 / (1 + np.exp(-logit))


def objective_share(n_rows: int, n_rounds: int) -> float:
    """Share of a round that slopes and curvature take, in the median over rounds."""
    X, labeled, confidence = table(n_rows)
    rows = np.flatnonzero(labeled), np.flatnonzero(labeled == 0)
    data = PUData(as_rows(X), *rows, weight=confidence[rows[0]])
    slopes = _Slopes(risk, data, 0.0, PAIRS)
    booster = lgb.Booster({**GROWING, "num_leaves": LEAVES}, dataset_of(data.X, np.concatenate(rows)))
    spent = []

    def timed(score: np.ndarray, dataset: Any) -> Any:
        begin = time.perf_counter()
        found = slopes(score, dataset)
        spent.append(time.perf_counter() - begin)
        return found

    shares = []
    with one_thread(), rounded_scores():  # as in training
        for _ in range(n_rounds):
            begin = time.perf_counter()
            booster.update(fobj=timed)
            shares.append(spent[-1] / (time.perf_counter() - begin))
    return float(np.median(shares))


def risk(batch: ScoredBatch) -> torch.Tensor:
    return weighted_auc_risk(batch, sigmoid, "one-sample")


def fits(n_rows: int) -> tuple[Callable[[], object], Callable[[], object]]:
    """Our fit and that of plain LightGBM."""
    X, labeled, confidence = table(n_rows)
    ranker = unskew.make("conf-auc", network="trees", probability=False, random_state=0)

    def ours() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ranker.fit(X, labeled, confidence=confidence)

    ours()
    leaves = {"num_leaves": max(len(tree.leaf_value) for tree in ranker.network_.trees())}
    return ours, lambda: lgb.train({**PLAIN, **leaves}, lgb.Dataset(X, labeled, params=PLAIN), ROUNDS)


def scorers(n_rows: int, n_trees: int, n_leaves: int) -> tuple[Callable[[], object], Callable[[], object]]:
    """Scoring by LightGBM and by the arrays."""
    X, labeled, _ = table(n_rows)
    booster = lgb.train({**PLAIN, "num_leaves": n_leaves}, lgb.Dataset(X, labeled, params=PLAIN), n_trees)
    network = BoostedTrees(N_COLUMNS, joined_trees(list(trees_of(booster.model_to_string())), 0.0))
    rows, theirs = as_rows(X), booster.predict(X, raw_score=True, num_threads=1)
    difference = float(np.abs(score_rows(network, rows).numpy() - theirs).max())
    assert difference < 1e-6 * max(1.0, float(np.abs(theirs).max())), difference
    return lambda: booster.predict(X, raw_score=True, num_threads=1), lambda: score_rows(network, rows)


def rows_for(n_rows: int, turns: int) -> Rows:
    found: Rows = [{"rows": n_rows, "what": "objective", "ratio": objective_share(n_rows, 20 * turns)}]
    ours, plain = least_seconds(*fits(n_rows), turns=turns)
    found.append({"rows": n_rows, "what": "fit", "ratio": ours / plain, "seconds": ours})
    for n_trees, n_leaves in FORESTS:
        theirs, own = least_seconds(*scorers(n_rows, n_trees, n_leaves), turns=turns)
        what = f"score, {n_trees} trees of {n_leaves} leaves"
        found.append({"rows": n_rows, "what": what, "ratio": theirs / own, "seconds": own})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--turns", type=int, default=3, help="How often each is measured.")
    add_out(parser)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows: list[Row] = []
    for n_rows in arguments.rows:
        for row in rows_for(n_rows, arguments.turns):
            rows.append(row)
            print(f"{row['rows']:9,d}  {row['what']:32s} {row['ratio']:7.3f}", flush=True)
    save_rows(rows, arguments.out)


if __name__ == "__main__":
    main()
