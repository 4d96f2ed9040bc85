"""How long does a whole fit take beside what a user would otherwise run, and how well does each rank?

    python benchmarks/whole_fits.py [--most 100000] [--limit 120] [--out FILE]

The toy law with biased labels, one draw of each size, 10^3 rows and more. Our methods have a learning rate of their own
here, all others their defaults; and ours alone get the confidence, which is the true posterior. Each fit runs in a
process of its own with one thread. Times are of fit alone; memory is that of the whole process at its peak, libraries
and data with it; AUCs are the true ones on 20,000 new rows. A fit that would take longer than the limit, in seconds, is
left out: when a tenth of the rows took more than a tenth of it, or when it did. The others tell labeled from unlabeled
(scikit-learn) or assume that labels are given at random among the positives (pulearn, with the true prior where it asks
for it).
"""

import argparse
import multiprocessing
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import unskew
from measure import held_megabytes, in_own_process, peak_megabytes, seconds
from rows import Row, Rows, add_out, save_rows
from unskew.datasets import toy

EPOCHS, LEARNING_RATE = 30, 2e-3
SIZES = 1000, 10_000, 100_000, 1_000_000
N_TEST = 20_000


class Ours:
    """A ranker of unskew as a classifier among others: it alone gets the confidence."""

    def __init__(self, name: str) -> None:
        self.ranker = unskew.make(name, max_epochs=EPOCHS, learning_rate=LEARNING_RATE, random_state=0)

    def fit(self, data: toy.ToyDraw) -> None:
        self.ranker.fit(data.X, data.labeled, confidence=data.confidence)

    def score(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.ranker.decision_function(X))


class Theirs:
    """Any classifier with decision_function or predict_proba, fitted on labeled versus unlabeled."""

    def __init__(self, classifier: Any, unlabeled: int = 0) -> None:
        self.classifier, self.unlabeled = classifier, unlabeled

    def fit(self, data: toy.ToyDraw) -> None:
        self.classifier.fit(data.X, np.where(data.labeled == 1, 1, self.unlabeled))

    def score(self, X: np.ndarray) -> np.ndarray:
        if hasattr(self.classifier, "decision_function"):
            return np.asarray(self.classifier.decision_function(X))
        proba = np.asarray(self.classifier.predict_proba(X))
        return proba if proba.ndim == 1 else proba[:, 1]


def elkanoto() -> Theirs:
    import pulearn

    return Theirs(pulearn.ElkanotoPuClassifier(LogisticRegression(), random_state=0))


def linear_nnpu() -> Theirs:
    import pulearn

    return Theirs(pulearn.NNPUClassifier(prior=toy.ToyLaw().prior, random_state=0), unlabeled=-1)


CONTESTANTS: dict[str, Callable[[], Ours | Theirs]] = {
    "unskew conf-auc": lambda: Ours("conf-auc"),
    "unskew nnpu": lambda: Ours("nnpu"),
    "scikit-learn LogisticRegression": lambda: Theirs(LogisticRegression()),
    "scikit-learn HistGradientBoosting": lambda: Theirs(HistGradientBoostingClassifier(random_state=0)),
    "pulearn ElkanotoPu": elkanoto,
    "pulearn NNPU (linear)": linear_nnpu,
}


def measured(title: str, n_rows: int) -> Row:
    """Time and memory of a fit in this process, which has to be a new one, and its AUC."""
    torch.set_num_threads(1)
    contestant, data, test = CONTESTANTS[title](), toy.draw(n_rows, random_state=0), toy.draw(N_TEST, random_state=1)
    before = held_megabytes()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        time = seconds(partial(contestant.fit, data))
    peak = peak_megabytes()
    auc = float(unskew.metrics.auc(test.y, contestant.score(test.X)))
    return {"seconds": time, "before_mb": before, "peak_mb": peak, "auc": auc}


def result(title: str, n_rows: int, before: Row | None, limit: float) -> Row:
    """The row of one fit, after that of a tenth of the rows: with its figures, or with the reason for none."""
    if title.startswith("pulearn") and find_spec("pulearn") is None:
        return {"why_not": "not installed"}
    if before is not None and ("why_not" in before or float(str(before["seconds"])) > limit / 10):
        return {"why_not": f"would take more than {limit:g} s"}
    try:
        # Starting the process and scoring need time as well.
        figures: Row = in_own_process(measured, title, n_rows, limit=limit + 30)
    except multiprocessing.TimeoutError:
        return {"why_not": f"took more than {limit:g} s"}
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=100_000)
    parser.add_argument("--limit", type=float, default=120, help="Seconds that a fit may take.")
    add_out(parser)
    arguments = parser.parse_args()
    rows, last = Rows(), dict[str, Row]()
    print(f"{'rows':>9} {'what':>34} {'seconds':>8} {'peak MB':>8} {'AUC':>7}")
    for n_rows in [size for size in SIZES if size <= arguments.most]:
        for title in CONTESTANTS:
            row = last[title] = result(title, n_rows, last.get(title), arguments.limit)
            settings = {"epochs": EPOCHS, "learning_rate": LEARNING_RATE, "n_test": N_TEST}
            rows.append({"rows": n_rows, "what": title, **settings, **row})
            print(f"{n_rows:9,d} {title:>34} {_figures(row)}", flush=True)
    save_rows(rows, arguments.out)


def _figures(row: Row) -> str:
    if "why_not" in row:
        return f"left out: {row['why_not']}"
    return f"{row['seconds']:8.2f} {row['peak_mb']:8.0f} {row['auc']:7.4f}"


if __name__ == "__main__":
    main()
