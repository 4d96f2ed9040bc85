"""How long do fit and scores take beside what a user would otherwise run, in what memory, and how well does each rank?

    python benchmarks/beside_others.py [--most 10000000] [--limit 300] [--out FILE]

One law of `large_table` with 20 columns that interact, and one draw of each size, 10^3 rows and more; about 1 % of them
are labeled, 50 at least and 10,000 at most. Everything has its defaults, and probabilities are learned where a method
has them. Ours alone get the confidence, which is the posterior with noise on its logit. LightGBM and scikit-learn tell
labeled from unlabeled; pulearn assumes that labels are given at random among the positives (with the true prior where
it asks for it). Columns are in one unit, so that nobody has to scale them.

Each fit runs in a process of its own, with one thread. Times are those of the processor, of `fit` and of scoring
100,000 new rows, whose true AUC is given; memory is that of the whole process at the peak of the fit, data with it.
A fit that would take longer than the limit, in seconds of the processor, is left out: when a tenth of the rows took
more than a tenth of it, or when it did. With `--out` each row is kept as it comes, and the next run goes on from there.
"""

import argparse
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lightgbm as lgb
import numpy as np
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import unskew
from large_table import PRIOR, Draw, Law
from measure import extra_megabytes, held_megabytes, in_own_process, seconds
from rows import Row, add_out, continued, save_machine
from unskew.data.rows import as_rows
from unskew.rankers._probability import fit_probability, logits_of
from unskew.records import PUData

SIZES = 1000, 10_000, 100_000, 1_000_000, 10_000_000
LAW, N_TEST = 0, 100_000
HEADER = ["rows", "labels", "what", "n_test", "limit", "fit_seconds", "score_seconds", "before_mb", "peak_mb"]
HEADER += ["auc", "best_auc", "why_not"]


class Ours:
    """A ranker of unskew among others: it alone gets the confidence."""

    def __init__(self, name: str, **parameters: Any) -> None:
        self.ranker = unskew.make(name, random_state=0, **parameters)

    def fit(self, data: Draw) -> None:
        self.ranker.fit(data.X, data.labeled, confidence=data.confidence)

    def score(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.ranker.decision_function(X))


class Probabilities:
    """What every ranker of ours learns beside its score: the probabilities, and the share of positives."""

    def fit(self, data: Draw) -> None:
        labeled, unlabeled = np.flatnonzero(data.labeled), np.flatnonzero(data.labeled == 0)
        record = PUData(as_rows(data.X), labeled, unlabeled, confidence=data.confidence[labeled])
        self.model = fit_probability(record, "one-sample", None).model

    def score(self, X: np.ndarray) -> np.ndarray:
        return logits_of(self.model, as_rows(X))


class Theirs:
    """Any classifier with decision_function or predict_proba, fitted on labeled versus unlabeled."""

    def __init__(self, classifier: Any, unlabeled: int = 0) -> None:
        self.classifier, self.unlabeled = classifier, unlabeled

    def fit(self, data: Draw) -> None:
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

    return Theirs(pulearn.NNPUClassifier(prior=PRIOR, random_state=0), unlabeled=-1)


def bagging() -> Theirs:
    import pulearn

    return Theirs(pulearn.BaggingPuClassifier(DecisionTreeClassifier(), random_state=0))


CONTESTANTS: dict[str, Callable[[], Ours | Theirs | Probabilities]] = {
    "unskew conf-auc": lambda: Ours("conf-auc"),
    "unskew conf-auc, trees": lambda: Ours("conf-auc", network="trees"),
    "unskew conf-gp": lambda: Ours("conf-gp"),
    "unskew probabilities alone": Probabilities,
    "LightGBM": lambda: Theirs(lgb.LGBMClassifier(n_jobs=1, random_state=0, verbosity=-1)),
    "scikit-learn HistGradientBoosting": lambda: Theirs(HistGradientBoostingClassifier(random_state=0)),
    "scikit-learn LogisticRegression": lambda: Theirs(LogisticRegression()),
    "pulearn ElkanotoPu": elkanoto,
    "pulearn NNPU (linear)": linear_nnpu,
    "pulearn BaggingPu (trees)": bagging,
    "unskew auto": lambda: Ours("auto"),  # the longest comes last, so that an interrupted run has the others
}


@contextmanager
def at_most(limit: float) -> Iterator[None]:
    """Let what is inside take so many seconds of the processor; TimeoutError, as soon as Python has its turn."""

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def measured(title: str, n_rows: int, limit: float) -> Row:
    """Time and memory of a fit in this process, which has to be a new one, and its AUC."""
    torch.set_num_threads(1)
    law = Law.of(LAW)
    contestant, data, test = CONTESTANTS[title](), law.draw(n_rows, 0), law.draw(N_TEST, 1)
    before, times, scores = held_megabytes(), [], []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with at_most(limit):
            fit = partial(contestant.fit, data)
            extra = extra_megabytes(lambda: times.append(seconds(fit, time.process_time)))
        times.append(seconds(lambda: scores.append(contestant.score(test.X)), time.process_time))
    aucs = (float(unskew.metrics.auc(test.y, score)) for score in (scores[0], test.posterior))
    figures = *times, before, before + extra, *aucs
    names = "fit_seconds", "score_seconds", "before_mb", "peak_mb", "auc", "best_auc"
    return {"labels": int(data.labeled.sum()), **dict(zip(names, figures, strict=True))}


def result(title: str, n_rows: int, before: Row | None, limit: float) -> Row:
    """The row of one fit, after that of a tenth of the rows: with its figures, or with the reason for none."""
    if title.startswith("pulearn") and find_spec("pulearn") is None:
        return {"why_not": "not installed"}
    if before is not None and (before.get("why_not") or float(str(before["fit_seconds"])) > limit / 10):
        return {"why_not": f"would take more than {limit:g} s"}
    try:
        figures: Row = in_own_process(measured, title, n_rows, limit)
    except TimeoutError:
        return {"why_not": f"took more than {limit:g} s"}
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=100_000)
    parser.add_argument("--limit", type=float, default=300, help="Seconds of the processor that a fit may take.")
    add_out(parser)
    arguments = parser.parse_args()
    with TemporaryDirectory() as nowhere:
        run(arguments.out or Path(nowhere) / "rows.csv", arguments.most, arguments.limit)


def run(path: Path, most: int, limit: float) -> None:
    """Measure what the table at this path does not have yet."""
    with continued(path, HEADER) as (known, append):
        save_machine(path)  # first, because a run may be interrupted
        done = {(row["what"], int(row["rows"])): dict[str, object](row) for row in known}
        print(f"{'rows':>10} {'what':>34} {'fit s':>8} {'score s':>8} {'peak MB':>8} {'AUC':>7}")
        for n_rows in [size for size in SIZES if size <= most]:
            for title in CONTESTANTS:
                if (title, n_rows) not in done:
                    about = {"rows": n_rows, "what": title, "n_test": N_TEST, "limit": limit}
                    done[title, n_rows] = {**about, **result(title, n_rows, done.get((title, n_rows // 10)), limit)}
                    append(done[title, n_rows])
                print(f"{n_rows:10,d} {title:>34} {_figures(done[title, n_rows])}", flush=True)


def _figures(row: Row) -> str:
    if row.get("why_not"):
        return f"left out: {row['why_not']}"
    times = " ".join(f"{float(str(row[name])):8.2f}" for name in ("fit_seconds", "score_seconds"))
    return f"{times} {float(str(row['peak_mb'])):8.0f} {float(str(row['auc'])):7.4f}"


if __name__ == "__main__":
    main()
