"""Of many unlabeled rows, how many are worth training on?

    python benchmarks/subsampling.py [--rows 2000000] [--laws 0 1] [--out FILE]

Laws of `large_table`. Of a table with some thousand labels, `conf-auc` is fitted on all labeled rows, or on a tenth of
them, and on unlabeled rows drawn from the others: a few thousand first, all of them last. AUCs are the true ones, on
100,000 new rows. One thread; times are those of the processor. With `--out` each row is kept as it comes, and the next
run goes on from there.
"""

import argparse
import time
import warnings
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from threadpoolctl import threadpool_limits

import unskew
from large_table import Draw, Law
from measure import seconds
from rows import add_out, continued, save_machine

HEADER = ["law", "rows", "labels", "unlabeled", "seed", "fit_seconds", "auc", "best_auc"]
SHARES_OF_LABELS = 0.1, 1.0
UNLABELED = 10_000, 30_000, 100_000, 300_000, 1_000_000
N_TEST = 100_000


def some_rows(data: Draw, share: float, n_unlabeled: int, seed: int) -> np.ndarray:
    """All labeled rows or a share of them, and so many others."""
    rng = np.random.default_rng(seed)
    labeled, others = (np.flatnonzero(data.labeled == each) for each in (1, 0))
    kept = rng.permutation(labeled)[: round(share * len(labeled))]
    return np.sort(np.concatenate([kept, rng.permutation(others)[:n_unlabeled]]))


def fitted(data: Draw, test: Draw) -> dict[str, float]:
    """Time of one fit, and its AUC."""
    ranker = unskew.make("conf-auc", random_state=0)
    fit = partial(ranker.fit, data.X, data.labeled, confidence=data.confidence)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        taken = seconds(fit, time.process_time)
    return {"fit_seconds": taken, "auc": ranker.score(test.X, test.y)}


def run(path: Path, n_rows: int, laws: list[int]) -> None:
    """Measure what the table at this path does not have yet."""
    with continued(path, HEADER) as (known, append):
        save_machine(path)
        for law in laws:
            data, test = (Law.of(law).draw(size, seed) for size, seed in ((n_rows, 0), (N_TEST, 1)))
            best = float(unskew.metrics.auc(test.y, test.posterior))
            for share in SHARES_OF_LABELS:
                for size in [*UNLABELED, int((data.labeled == 0).sum())]:
                    rows = some_rows(data, share, size, seed=0)
                    about = {"law": law, "rows": n_rows, "labels": int(data.labeled[rows].sum()), "unlabeled": size}
                    if any(all(row[key] == str(value) for key, value in about.items()) for row in known):
                        continue
                    found = fitted(Draw(*(each[rows] for each in data)), test)
                    append({**about, "seed": 0, **found, "best_auc": best})
                    print(known[-1], flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--laws", type=int, nargs="+", default=[0, 1])
    add_out(parser)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with TemporaryDirectory() as nowhere:
        run(arguments.out or Path(nowhere) / "rows.csv", arguments.rows, arguments.laws)


if __name__ == "__main__":
    main()
