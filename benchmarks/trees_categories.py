"""Do trees rank better by sets of categories than by a column for each of them?

    python benchmarks/trees_categories.py [--seeds 4] [--out FILE]

Two made-up tables of 3,000 rows with two columns of words, one of many values whose shares fall as those of names do:
in `sums` each word adds to the logit of the posterior, in `signs` it also decides the sign of a number's slope. Trees
are fitted to the data frame, and to an array of the same features, of which they do not know what belongs together.
Whether trees get sets was decided on seeds 0 and 1; the seeds here begin at 10.
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from scipy.special import expit

import unskew
from rows import Row, Rows, add_out, save_rows
from unskew.tables import as_polars

METHODS = "conf-fit", "conf-auc"
TABLES = {"sums": (60, 30), "signs": (100, 40)}
"""Words of each of both columns."""
N_ROWS, N_TEST, FIRST_SEED = 3000, 10_000, 10


def table(name: str, seed: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Features, logit of the posterior, propensity. What a word means is the same in every draw."""
    law, rng, n = np.random.RandomState(7), np.random.RandomState(seed), N_ROWS + N_TEST
    many, few = TABLES[name]
    shares = 1 / np.arange(1, many + 1) ** 0.7
    shop, town, numbers = rng.choice(many, n, p=shares / shares.sum()), rng.choice(few, n), rng.normal(size=(n, 3))
    of_shop, of_town, of_label, sign = *law.normal(size=(2, many)), law.normal(size=few), law.choice([-1, 1], many)
    first = sign[shop] * numbers[:, 0] if name == "signs" else 1.2 * of_shop[shop]
    logit = first + of_town[town] + 0.5 * numbers[:, 1] - 1.8
    words = {"shop": [f"shop {each}" for each in shop], "town": [f"town {each}" for each in town]}
    frame = pd.DataFrame({**words, **{f"number {place}": column for place, column in enumerate(numbers.T)}})
    return frame, logit, expit(of_label[town] + numbers[:, 2] - 1.5)


def rows_of(name: str, seed: int) -> Rows:
    """One row for each method."""
    frame, logit, propensity = table(name, seed)
    rng = np.random.RandomState(seed)
    y = rng.uniform(size=len(logit)) < expit(logit)
    labeled = (y & (rng.uniform(size=len(logit)) < propensity)).astype(int)[:N_ROWS]
    confidence = expit(logit + 0.3 * rng.normal(size=len(logit)))[:N_ROWS]
    found: Rows = []
    for method in METHODS:
        ranker = unskew.make(method, network="trees", probability=False, prior=float(y.mean()), random_state=seed)
        ranker.fit(frame[:N_ROWS], labeled, confidence=confidence)
        row: Row = {"table": name, "method": method, "seed": seed, "labels": int(labeled.sum())}
        row["sets"] = ranker.score(frame[N_ROWS:], y[N_ROWS:].astype(int))
        columns = ranker.schema_.transform(as_polars(frame))
        ranker.fit(columns[:N_ROWS], labeled, confidence=confidence)
        found.append(row | {"columns": ranker.score(columns[N_ROWS:], y[N_ROWS:].astype(int))})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=4, help="How many draws of each table.")
    add_out(parser)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: Rows = []
    for seed in range(FIRST_SEED, FIRST_SEED + arguments.seeds):
        for name in TABLES:
            rows += rows_of(name, seed)
            for row in rows[-len(METHODS) :]:
                print(*(f"{each:.4f}" if isinstance(each, float) else each for each in row.values()), flush=True)
    save_rows(rows, arguments.out)


if __name__ == "__main__":
    main()
