"""How far are `predict_proba` and the true probability of being positive apart, on laws where that is known?

Every ranker that is fitted with confidence learns the same probabilities, so the quickest one is asked. A row of the
CSV file is a draw of a law: reliability, mean absolute error, and the mean probability and true share in ten bins,
which give the calibration curves of `docs/estimates.md`. Judged laws were written down before the reliability was
frozen and run once after that; how it is computed was chosen on the others. Draws that are there already are not made
again.
"""

import argparse
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import unskew
from estimate_beds import PROBABILITY_LAWS
from estimates import BEDS, REAL
from rows import continued

N_BINS = 10
BINS = [f"{what}_{number}" for number in range(N_BINS) for what in ("rows", "predicted", "positive")]
HEADER = ["bed", "kind", "draw", "n_labeled", "reliability", "error", "error_of_share", *BINS]
KNOWN = {name: bed for name, bed in BEDS.items() if name not in REAL and not name.startswith("hidden")}
"""Beds of the estimates whose probability of being positive is a known function of the columns."""
LAWS = KNOWN | PROBABILITY_LAWS


def one_draw(bed: str, number: int) -> dict[str, object]:
    d = LAWS[bed](np.random.RandomState(number))
    ranker = unskew.make("ntc", network="linear", max_epochs=1, scenario=d.scenario, random_state=number)
    prob = ranker.fit(d.X, d.labeled, confidence=d.confidence).predict_proba(d.X)[:, 1]
    judged = np.ones(len(prob), dtype=bool) if d.scenario == "one-sample" else d.labeled == 0
    prob, eta, truth = prob[judged], d.posterior[judged], d.truth[judged]
    place = np.minimum((prob * N_BINS).astype(int), N_BINS - 1)
    bins = [np.bincount(place, each, minlength=N_BINS) for each in (np.ones(len(prob)), prob, truth)]
    error, of_share = float(np.abs(prob - eta).mean()), float(prob.mean() - truth.mean())
    values = [
        bed,
        "judged" if bed in PROBABILITY_LAWS else "open",
        number,
        int(d.labeled.sum()),
        ranker.reliability_,
        error,
        of_share,
        *np.array(bins).T.ravel().tolist(),
    ]
    return dict(zip(HEADER, values, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beds", nargs="*", default=list(LAWS), choices=list(LAWS))
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/probabilities.csv"))
    request = parser.parse_args()
    with continued(request.out, HEADER) as (rows, append):
        done = {(row["bed"], int(row["draw"])) for row in rows}
        wanted = [(bed, number) for bed in request.beds for number in range(request.draws) if (bed, number) not in done]
        run = Parallel(request.jobs, return_as="generator_unordered")
        for row in run(delayed(one_draw)(*each) for each in wanted):
            append(row)


if __name__ == "__main__":
    main()
