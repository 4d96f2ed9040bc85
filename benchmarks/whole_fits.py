"""How long does a whole fit take beside what a user would otherwise run, and how well does each rank?

    python benchmarks/whole_fits.py [--most 100000] [--out FILE]

The toy law with biased labels, 10^3 rows and more. Times are of fit alone, one thread, all in one process; AUCs are the
true ones on 20,000 new rows. The others tell labeled from unlabeled (scikit-learn) or assume that labels are given at
random among the positives (pulearn, with the true prior where it asks for it).
"""

import argparse
import csv
import io
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import unskew
from unskew.datasets import toy
from unskew.files import write_atomically

EPOCHS = 30


class Ours:
    """conf-auc as a classifier among others: it alone gets the confidence."""

    def __init__(self, name: str) -> None:
        self.ranker = unskew.make(name, max_epochs=EPOCHS, learning_rate=2e-3, random_state=0)

    def fit(self, data: toy.ToyDraw) -> None:
        self.ranker.fit(data.X, data.labeled, confidence=data.confidence)

    def score(self, X: np.ndarray) -> np.ndarray:
        return self.ranker.decision_function(X)


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


def contestants(prior: float) -> dict[str, Ours | Theirs]:
    others: dict[str, Ours | Theirs] = {
        "scikit-learn LogisticRegression": Theirs(LogisticRegression()),
        "scikit-learn HistGradientBoosting": Theirs(HistGradientBoostingClassifier(random_state=0)),
    }
    try:
        import pulearn
    except ImportError:
        print("pulearn is not installed: left out (make bench installs it)")
    else:
        base = LogisticRegression()
        others["pulearn ElkanotoPu"] = Theirs(pulearn.ElkanotoPuClassifier(base, random_state=0))
        others["pulearn NNPU (linear)"] = Theirs(pulearn.NNPUClassifier(prior=prior, random_state=0), unlabeled=-1)
    return {"unskew conf-auc": Ours("conf-auc"), "unskew nnpu": Ours("nnpu"), **others}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=100_000)
    parser.add_argument("--out", type=Path, help="Write the rows of the result to this CSV file.")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    test = toy.draw(20_000, random_state=1)
    results = [("rows", "what", "seconds", "AUC")]
    print(f"{'rows':>9} {'what':>34} {'seconds':>8} {'AUC':>7}")
    for n_rows in [size for size in (1000, 10_000, 100_000, 1_000_000) if size <= arguments.most]:
        data = toy.draw(n_rows, random_state=0)
        for title, contestant in contestants(float(test.y.mean())).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                start = time.perf_counter()
                contestant.fit(data)
                seconds = time.perf_counter() - start
            auc = unskew.metrics.auc(test.y, contestant.score(test.X))
            results.append((n_rows, title, round(seconds, 3), round(auc, 4)))
            print(f"{n_rows:9,d} {title:>34} {seconds:8.2f} {auc:7.4f}", flush=True)
    if arguments.out:
        text = io.StringIO(newline="")
        csv.writer(text).writerows(results)
        write_atomically(arguments.out, text.getvalue().encode())


if __name__ == "__main__":
    main()
