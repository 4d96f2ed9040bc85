"""Does a default fit of the network on a large table cost too much, and does it train long enough?

    python benchmarks/long_training.py [--rows 1000000] [--laws 0 1 2] [--out FILE]

`conf-auc` on laws of `large_table`, the labeling model and the probabilities included, as users fit it: the network
with its defaults, boosted trees with theirs, and the network with ten times the epochs that it takes by default. One
thread, one process; times are those of the processor. AUCs are the true ones, on 100,000 new rows. The last lines are
the two figures that count: the network's time over that of the trees, both summed over the laws, and what the AUC gains
by the long training, on the law where that is most. How long to train was chosen on laws 101 and 102, and on the table
of `trees.py`. With `--out` each row is kept as it comes, and the next run goes on from there.
"""

import argparse
import time
import warnings
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from threadpoolctl import threadpool_limits

import unskew
from chapters.text import where
from chapters.trainings import LONG, NETWORK, TREES, long_gain, time_over_trees
from large_table import Draw, Law
from measure import seconds
from rows import Row, add_out, continued, save_machine

TIMES_LONGER, N_TEST = 10, 100_000
HEADER = ["rows", "law", "labels", "what", "epochs", "best_epoch", "fit_seconds", "auc", "best_auc"]


def fitted(data: Draw, test: Draw, parameters: dict[str, Any]) -> Row:
    """Time of one fit, and its AUC."""
    ranker = unskew.make("conf-auc", random_state=0, **parameters)
    fit = partial(ranker.fit, data.X, data.labeled, confidence=data.confidence)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        time_of_fit = seconds(fit, time.process_time)
    score = ranker.score(test.X, test.y)
    return {"epochs": ranker.max_epochs_, "best_epoch": ranker.best_epoch_, "fit_seconds": time_of_fit, "auc": score}


def parameters_of(what: str, done: dict[str, dict[str, str]]) -> dict[str, Any]:
    """What a fit is asked for beside the defaults; the long training needs the usual one to be done."""
    if what == LONG:
        return {"max_epochs": TIMES_LONGER * int(done[NETWORK]["epochs"])}
    return {"network": "trees"} if what == TREES else {}


def run(path: Path, n_rows: int, laws: list[int]) -> None:
    """Measure what the table at this path does not have yet, and print what counts."""
    with continued(path, HEADER) as (known, append):
        save_machine(path)  # first, because a run may be interrupted
        for number in laws:
            done = {row["what"]: row for row in where(known, rows=n_rows, law=number)}
            data, test = (Law.of(number).draw(size, seed) for size, seed in ((n_rows, 0), (N_TEST, 1)))
            about = {"rows": n_rows, "law": number, "labels": int(data.labeled.sum())}
            about["best_auc"] = float(unskew.metrics.auc(test.y, test.posterior))
            for what in [each for each in (NETWORK, TREES, LONG) if each not in done]:
                append({**about, "what": what, **fitted(data, test, parameters_of(what, done))})
                row = done[what] = known[-1]
                print(number, what, *(row[name] for name in ("epochs", "fit_seconds", "auc", "best_auc")), flush=True)
        rows = [row for row in known if row["rows"] == str(n_rows) and int(row["law"]) in laws]
    print(f"time of the network over that of the trees: {time_over_trees(rows):.2f}")
    print(f"AUC gained by the long training, at most: {long_gain(rows):.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--laws", type=int, nargs="+", default=[0, 1, 2])
    add_out(parser)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with TemporaryDirectory() as nowhere:
        run(arguments.out or Path(nowhere) / "rows.csv", arguments.rows, arguments.laws)


if __name__ == "__main__":
    main()
