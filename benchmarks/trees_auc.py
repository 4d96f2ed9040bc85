"""Do boosted trees rank better than the network, and does `auto` with trees keep up with the better of the two?

    UNSKEW_DATA=FOLDER python benchmarks/trees_auc.py [--seeds 5] [--jobs 2] [--out FILE]

True test AUC of five ways to rank, each as users get it, on the same draws: `conf-auc` with the network and with
boosted trees, `conf-fit` with trees, `auto` as it is and with trees. The tables are two health surveys by the paper's
protocol (priors 0.1 and 0.2, a tenth of the positives labeled) and two laws with interactions: `products` of columns
(4,000 rows), and `rules` about columns and small whole numbers (8,000 rows). The confidence of the laws is the
posterior with noise on the logit.

What trees are like was chosen on seeds 0 to 4, and the weights of `auto` were replaced after half of a first judging
set (surveys on seeds 5 to 9, laws on 100 to 104) had been seen. Judged are, as written down before any of them was run,
the surveys on seeds 20 to 24 and the laws on seeds 200 to 204. A draw is done for all ways before the next one; draws
that are in the file already are not made again.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import special  # a module: workers get the functions of a script by value, and its ufuncs not at all

import unskew
from rows import Row, continued
from unskew.learning.threads import one_thread
from unskew.paper.one_draw import Draw, fit_timed
from unskew.paper.plans import LABEL_FREQ, Setting

WAYS: dict[str, tuple[str, str]] = {
    "network": ("conf-auc", "mlp"),
    "trees": ("conf-auc", "trees"),
    "conf-fit, trees": ("conf-fit", "trees"),
    "auto": ("auto", "mlp"),
    "auto, trees": ("auto", "trees"),
}
SURVEYS, PRIORS = ("diabetes-2015", "blood-2015"), (0.1, 0.2)
FIRST_SURVEY, FIRST_LAW = 20, 200
N_TEST, NOISE = 10_000, 0.5
HEADER = ["table", "prior", "seed", "labels", "way", "auc", "seconds"]
Law = Callable[[int, np.random.RandomState], tuple[np.ndarray, np.ndarray, np.ndarray]]


def products(n: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, logit of the posterior, propensity: what counts is mostly the sign of a product."""
    X = rng.normal(size=(n, 10))
    logit = 2.5 * X[:, 0] * X[:, 1] + 1.5 * X[:, 2] * np.sign(X[:, 3]) + X[:, 4] - 2.5
    return X, logit, special.expit(1.5 * X[:, 5] + X[:, 0] - 1.5)


def rules(n: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same of three rules, each about two columns."""
    X = rng.normal(size=(n, 12))
    X[:, 6:9] = rng.randint(0, 5, size=(n, 3))
    first = 3.0 * ((X[:, 0] > 0) & (X[:, 1] > 0.3))
    second = 2.5 * ((X[:, 6] >= 3) & (X[:, 2] < 0))
    third = 3.0 * ((np.abs(X[:, 3]) > 1.3) & (X[:, 7] == 2))
    propensity = special.expit(1.5 * X[:, 5] - 1) * np.where(X[:, 6] >= 3, 0.8, 0.3)
    return X, first + second + third - 3 + 0.5 * X[:, 4], propensity


LAWS: dict[str, tuple[Law, int]] = {"products": (products, 4000), "rules": (rules, 8000)}


def rows_of(table: str, prior: float | None, seed: int) -> list[Row]:
    """One row for each way to rank."""
    warnings.simplefilter("ignore")
    with one_thread():
        return _of_law(table, seed) if prior is None else _of_survey(table, prior, seed)


def _of_survey(table: str, prior: float, seed: int) -> list[Row]:
    draw = Draw(Setting(table, "conf-auc", prior, LABEL_FREQ, seed))
    usual = {"prior": prior, "probability": False, "random_state": draw.unfitted("auto").random_state}
    split, found = draw.split, []
    for way, (method, network) in WAYS.items():
        ranker = unskew.make(method, network=network, **usual)
        seconds = fit_timed(ranker, split)
        score = ranker.score(split.test_X, split.test_y)
        n_labels = int(split.train.y.sum() + split.validation.y.sum())
        found.append(dict(zip(HEADER, [table, prior, seed, n_labels, way, score, seconds], strict=True)))
    return found


def _of_law(table: str, seed: int) -> list[Row]:
    (law, n_rows), rng = LAWS[table], np.random.RandomState(seed)
    X, logit, propensity = law(n_rows + N_TEST, rng)
    X, y = X.astype(np.float32), rng.uniform(size=len(logit)) < special.expit(logit)
    labeled = (y & (rng.uniform(size=len(y)) < propensity))[:n_rows].astype(int)
    confidence = special.expit(logit + NOISE * rng.normal(size=len(logit)))[:n_rows]
    usual: dict[str, Any] = {"prior": float(y.mean()), "probability": False, "random_state": seed}
    found: list[Row] = []
    for way, (method, network) in WAYS.items():
        begin = time.process_time()
        ranker = unskew.make(method, network=network, **usual).fit(X[:n_rows], labeled, confidence=confidence)
        seconds = time.process_time() - begin
        score = ranker.score(X[n_rows:], y[n_rows:].astype(int))
        found.append(dict(zip(HEADER, [table, "", seed, int(labeled.sum()), way, score, seconds], strict=True)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="How many draws of each kind, up to the five judged.")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/trees_auc.csv"))
    arguments = parser.parse_args()
    draws: list[tuple[str, float | None, int]] = []
    for number in range(arguments.seeds):
        draws += [(table, None, FIRST_LAW + number) for table in LAWS]
        draws += [(table, prior, FIRST_SURVEY + number) for table in SURVEYS for prior in PRIORS]
    with continued(arguments.out, HEADER) as (known, append):
        done = {(row["table"], row["prior"], row["seed"]) for row in known}
        names = {each: (each[0], "" if each[1] is None else str(each[1]), str(each[2])) for each in draws}
        wanted = [each for each in draws if names[each] not in done]
        pool = Parallel(n_jobs=arguments.jobs, return_as="generator_unordered")
        for rows in pool(delayed(rows_of)(*each) for each in wanted):
            for row in rows:
                append(row)
            scores = (f"{row['way']}: {row['auc']:.4f}" for row in rows)
            print(*(rows[0][name] for name in HEADER[:4]), *scores, flush=True)


if __name__ == "__main__":
    main()
