"""How much does a fit depend on its seed, and what does it cost? `auto` and `conf-reg` beside one conf-auc network.

All fits are to the same rows, a draw of the paper's protocol at a prior of 0.1 (5,000 rows, about 60 labels with the
validation part), and only their seed differs. conf-auc has the paper's settings, labeling network included, and one
thread each. A fit is a row of the CSV file; fits that are there already are not made again. Processor seconds are
compared within one file only, which is made on one machine.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rows import continued
from unskew.learning.threads import one_thread
from unskew.paper.one_draw import Draw, fit_timed
from unskew.paper.plans import Setting

METHODS = ("conf-auc", "auto", "conf-reg")
SEED_OF_DRAW = 10
HEADER = ["dataset", "method", "seed", "auc", "seconds"]


def one_fit(draw: Draw, method: str, seed: int) -> dict[str, object]:
    ranker = draw.unfitted(method).set_params(random_state=seed)
    with one_thread():  # of numpy's products, too: processor seconds count all threads
        seconds = fit_timed(ranker, draw.split)
    test = ranker.score(draw.split.test_X, draw.split.test_y)
    return dict(zip(HEADER, [draw.setting.dataset, method, seed, test, seconds], strict=True))


def summary(rows: list[dict[str, str]]) -> Iterator[str]:
    """Spread of the AUC and median cost of each method, beside those of conf-auc."""
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        of_dataset = [row for row in rows if row["dataset"] == dataset]
        usual_spread, usual_cost = _spread_and_cost(of_dataset, "conf-auc")
        for method in METHODS:
            spread, cost = _spread_and_cost(of_dataset, method)
            yield (
                f"{dataset:15} {method:9} standard deviation {spread:.5f} ({spread / usual_spread:.2f} of conf-auc's), "
                f"{cost:.2f} s ({cost / usual_cost:.2f} times conf-auc's)"
            )


def _spread_and_cost(rows: list[dict[str, str]], method: str) -> tuple[float, float]:
    own = [row for row in rows if row["method"] == method]
    auc, seconds = (np.array([float(row[name]) for row in own]) for name in ("auc", "seconds"))
    return float(auc.std(ddof=1)), float(np.median(seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="*", default=["diabetes-2015", "blood-2015"])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/auto_fits.csv"))
    request = parser.parse_args()
    with continued(request.out, HEADER) as (rows, append):
        done = {(row["dataset"], row["method"], int(row["seed"])) for row in rows}
        for dataset in request.datasets:
            draw = Draw(Setting(dataset, "conf-auc", 0.1, 0.1, SEED_OF_DRAW))
            for seed in range(request.seeds):  # outermost, so that whatever else the machine does meets all methods
                for method in METHODS:
                    if (dataset, method, seed) not in done:
                        append(one_fit(draw, method, seed))
    for line in summary(rows):
        print(line)


if __name__ == "__main__":
    main()
