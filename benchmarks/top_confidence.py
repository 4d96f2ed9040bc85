"""Is the confidence itself a probability in the top of a ranking?

    UNSKEW_DATA=FOLDER python benchmarks/top_confidence.py [--beds NAME ...] [--draws 5] [--out FILE]

All estimates take the confidence for a probability. On the beds of `estimate_beds.py` the confidence that every row
would be given is known, also of rows that are not labeled. Here is its mean over the rows in the top of the ranking of
`top_coverage.py`, on the same draws, beside the share of positives among them. Whatever the two differ by, no estimate
from these confidences can see, however many rows are labeled. A row of the CSV file is one share of one draw; draws
that are there already are not made again.
"""

import argparse
from pathlib import Path

import numpy as np

from estimates import BEDS, KINDS
from rows import Row, continued
from top_coverage import SHARES, ranking

HEADER = ["bed", "kind", "draw", "share", "n", "positive", "confidence"]


def one_draw(bed: str, number: int) -> list[Row]:
    """One row for each share; none if the bed does not tell the confidence of every row."""
    d, rng = BEDS[bed](np.random.RandomState(number)), np.random.RandomState(10_000 + number)
    if d.given is None:
        return []
    score = ranking(d, rng)
    rows = np.ones(len(score), dtype=bool) if d.scenario == "one-sample" else d.labeled == 0
    order = np.flatnonzero(rows)[np.argsort(-score[rows], kind="stable")]
    kind = next(kind for kind, beds in KINDS.items() if bed in beds)
    found = []
    for share in SHARES:
        top = order[: max(1, round(share * len(order)))]
        values = bed, kind, number, share, len(top), float(d.truth[top].mean()), float(d.given[top].mean())
        found.append(dict(zip(HEADER, values, strict=True)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--beds", nargs="*", default=list(BEDS), choices=list(BEDS))
    parser.add_argument("--first", type=int, default=1000, help="number of the first draw")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/top_confidence.csv"))
    request = parser.parse_args()
    with continued(request.out, HEADER) as (rows, append):
        done = {(row["bed"], int(row["draw"])) for row in rows}
        for number in range(request.first, request.first + request.draws):
            for bed in request.beds:
                if (bed, number) not in done:
                    for row in one_draw(bed, number):
                        append(row)
    for row in rows:
        share = f"{100 * float(row['share']):g} %"
        print(f"{row['bed']}, top {share}: {row['positive']} positive, mean confidence {row['confidence']}")


if __name__ == "__main__":
    main()
