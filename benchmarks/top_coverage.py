"""Do the intervals of precision, recall and expected positives cover, in the top 1, 5, 10 and 20 % of a ranking?

On the beds of `estimate_beds.py`, with the ranking of `estimates.py`, from draw 1000 on, so that no draw is one of
`estimates.py`. Written down before anything was run: each interval of level 0.95 is to cover in at least 90 % of the
draws, for each share and quantity, in the mean over the beds of each kind. If an interval has to be changed, draws from
1000 on are those that it is changed on, of open and seen beds alone, and draws from 2000 on judge it (`--first 2000`).
Expected positives are the precision times the number of rows, so that both cover together. A row of the CSV file is one
share of one draw; draws that are there already are not made again.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from estimate_beds import Draw
from estimates import BEDS, FOLDS, KINDS, REAL
from rows import Row, continued
from unskew.metrics.estimates import TopRows, estimate_ranking, findings_instead_of_warnings
from unskew.posterior import fit_posterior

SHARES = 0.01, 0.05, 0.1, 0.2
QUANTITIES = "precision", "recall", "positives"
HEADER = ["bed", "kind", "draw", "n_labeled", "reliability", "share", "n"] + [
    f"{quantity}{end}" for quantity in QUANTITIES for end in ("_true", "", "_low", "_high")
]


def ranking(d: Draw, rng: np.random.RandomState) -> np.ndarray:
    """Score of every row by a logistic regression that did not learn from it, as in `estimates.py`."""
    score = np.empty(len(d.X))
    for inside, outside in StratifiedKFold(FOLDS, shuffle=True, random_state=rng).split(d.X, d.labeled):
        model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=500))
        model.fit(d.X[inside], d.labeled[inside])
        score[outside] = rankdata(model.decision_function(d.X[outside])) / (len(outside) + 1)
    return score


def one_draw(bed: str, number: int) -> list[Row]:
    """One row for each share."""
    d, rng = BEDS[bed](np.random.RandomState(number)), np.random.RandomState(10_000 + number)
    score = ranking(d, rng)
    posterior = fit_posterior(d.X, d.labeled, d.confidence, scenario=d.scenario, random_state=rng)
    with findings_instead_of_warnings():
        found = estimate_ranking(score, posterior)
    truth, ranked = d.truth[posterior.everything], score[posterior.everything]
    kind = next(kind for kind, beds in KINDS.items() if bed in beds)
    about = bed, kind, number, int(d.labeled.sum()), posterior.reliability
    return [
        dict(zip(HEADER, [*about, share, top.n, *beside_the_truth(top, truth, ranked)], strict=True))
        for share, top in ((share, found.at(share)) for share in SHARES)
    ]


def beside_the_truth(top: TopRows, truth: np.ndarray, score: np.ndarray) -> list[float]:
    """True value, estimate and both ends of each quantity."""
    reached = score >= top.threshold
    positives = float(truth[reached].sum())
    true = positives / top.n, positives / float(truth.sum()), positives
    names = "precision", "recall", "expected_positives"
    return [
        each
        for value, name in zip(true, names, strict=True)
        for each in (value, *(getattr(top, f"{name}{end}") for end in ("", "_low", "_high")))
    ]


def summary(rows: list[dict[str, str]]) -> Iterator[str]:
    """Coverage by bed, share and quantity, then the means by kind."""
    yield "bed (draws)".ljust(28) + "".join(f"{quantity}: top {share:g}".rjust(20) for share, quantity in _columns())
    for kind in KINDS:
        means = []
        for bed in dict.fromkeys(row["bed"] for row in rows if row["kind"] == kind):
            own = [row for row in rows if row["bed"] == bed]
            means.append([coverage(own, share, quantity) for share, quantity in _columns()])
            yield _line(f"{bed} ({len(own) // len(SHARES)})", means[-1])
        if means:
            yield _line(f"mean of {len(means)} {kind} beds", np.mean(means, axis=0).tolist())


def coverage(rows: list[dict[str, str]], share: float, quantity: str) -> float:
    """Share of the draws whose interval contains the truth."""
    own = [row for row in rows if float(row["share"]) == share]
    true, low, high = (np.array([float(row[quantity + end]) for row in own]) for end in ("_true", "_low", "_high"))
    near = 1e-5 * np.abs(true)  # six digits are kept
    return float(np.mean((low <= true + near) & (true <= high + near)))


def _columns() -> list[tuple[float, str]]:
    return [(share, quantity) for share in SHARES for quantity in QUANTITIES]


def _line(name: str, numbers: list[float]) -> str:
    return name.ljust(28) + "".join(f"{each:.2f}".rjust(20) for each in numbers)


def study(about: str | None, one: Callable[[str, int], list[Row]], out: str, draws: int, real_draws: int) -> None:
    """Make the draws that are not there yet, and say how often their intervals cover."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--beds", nargs="*", default=list(BEDS), choices=list(BEDS))
    parser.add_argument("--first", type=int, default=1000, help="number of the first draw")
    parser.add_argument("--draws", type=int, default=draws, help="of made-up laws")
    parser.add_argument("--real-draws", type=int, default=real_draws, help="of real tables")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks") / out)
    request = parser.parse_args()
    with continued(request.out, HEADER) as (rows, append):
        done = {(row["bed"], int(row["draw"])) for row in rows}
        wanted = [
            (bed, number)
            for bed in request.beds
            for number in range(request.first, request.first + (request.real_draws if bed in REAL else request.draws))
            if (bed, number) not in done
        ]
        run = Parallel(request.jobs, return_as="generator_unordered")
        for found in run(delayed(one)(*each) for each in wanted):
            for row in found:
                append(row)
    for line in summary(rows):
        print(line)


if __name__ == "__main__":
    study(__doc__, one_draw, "top_coverage.csv", draws=20, real_draws=10)
