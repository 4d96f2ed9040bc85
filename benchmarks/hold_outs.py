"""Are the rotating hold-outs of `auto` as honest a judge as a cross-validation, which takes five more fits?

Networks choose their epoch by the rows that are held out, which may flatter; each of these rows is scored by one
network instead of four, which does the opposite. A row of the CSV file is a draw of a law whose classes are known: the
true AUC of the scores of rows left out by rotating hold-outs and by a cross-validation, and that of the final model on
new rows. Draws that are there already are not made again.
"""

import argparse
from pathlib import Path

import numpy as np

import unskew
from estimates import BEDS
from rows import continued
from unskew.metrics import auc
from unskew.metrics.crossval import out_of_fold_score

LAWS = ("claims", "heavy-tails", "steps", "kinks", "counts-votes", "linear-noisy", "saddle-noisy", "many-columns")
HEADER = ["bed", "draw", "rotating", "cross_validation", "new_rows"]
NEW = 1000
"""Added to the number of a draw, for rows that the model has not seen."""


def one_draw(bed: str, number: int) -> dict[str, object]:
    d, new = (BEDS[bed](np.random.RandomState(seed)) for seed in (number, NEW + number))
    ranker = unskew.make("auto", scenario=d.scenario, random_state=number)
    ranker.fit(d.X, d.labeled, confidence=d.confidence)
    left_out = out_of_fold_score(ranker, d.X, d.labeled, d.confidence, random_state=number)
    judged = (
        auc(d.truth, ranker.out_of_fold_score_),
        auc(d.truth, left_out),
        auc(new.truth, ranker.decision_function(new.X)),
    )
    return dict(zip(HEADER, [bed, number, *judged], strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/hold_outs.csv"))
    request = parser.parse_args()
    with continued(request.out, HEADER) as (rows, append):
        done = {(row["bed"], int(row["draw"])) for row in rows}
        for bed in LAWS:
            for number in range(request.draws):
                if (bed, number) not in done:
                    append(one_draw(bed, number))
    for name in HEADER[2:]:
        print(f"{name.replace('_', ' ')}: mean AUC {np.mean([float(row[name]) for row in rows]):.4f}")


if __name__ == "__main__":
    main()
