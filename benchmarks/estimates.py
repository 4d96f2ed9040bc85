"""How far are share of positives, AUC and precision, estimated without negatives, from the truth? Do intervals cover?

The beds are those of `estimate_beds.py`: open ones, with which the estimates were built, those that judged an earlier
form and were seen, and judged ones, which were written down after the last change and are looked at once. A logistic
regression of labeled against unlabeled rows is the ranking that is judged, out of fold. Beside the posterior stand the
weights r / u of `unskew.metrics.sar_auc`, with a labeling probability by a forest, out of fold. A draw is a row of the
CSV file; draws that are there already are not made again. `--again OLD` takes draws of another file over with their
reliability anew, which leaves out what takes long: forests and other views. Each must have the same share of positives
as there, so that nothing else can have changed unseen.
"""

import argparse
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from estimate_beds import JUDGED, OPEN, SEEN, Draw
from rows import continued, read_rows
from unskew.learning.density_ratio import ratio_from_odds
from unskew.metrics import auc, sar_auc, sar_curves
from unskew.metrics.estimates import estimate_ranking
from unskew.posterior import fit_posterior, fit_rows, rows_to_fit

KINDS = {"open": OPEN, "seen": SEEN, "judged": JUDGED}
BEDS = {name: bed for beds in KINDS.values() for name, bed in beds.items()}
REAL = {
    name
    for name in BEDS
    if name.startswith(("diabetes", "digits", "blood", "mnist", "fmnist", "cifar", "svhn", "breast"))
}
TOP = 0.05
FOLDS, TREES_OF_FOREST = 5, 100
QUANTITIES = ("prior", "auc", "precision")
HEADER = ["bed", "kind", "draw", "n_labeled", "reliability", "error_of_prob"] + [
    f"{quantity}{end}" for quantity in QUANTITIES for end in ("_true", "", "_low", "_high", "_by_weights")
]


def out_of_fold(d: Draw, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Score of every row, and its labeling probability (density ratio for two samples), by models of other folds."""
    score, prob = np.empty(len(d.X)), np.empty(len(d.X))
    for inside, outside in StratifiedKFold(FOLDS, shuffle=True, random_state=rng).split(d.X, d.labeled):
        model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=500))
        model.fit(d.X[inside], d.labeled[inside])
        score[outside] = rankdata(model.decision_function(d.X[outside])) / (len(outside) + 1)
        forest = RandomForestClassifier(TREES_OF_FOREST, min_samples_leaf=10, random_state=rng)
        forest.fit(d.X[inside], d.labeled[inside])
        found, alpha = forest.predict_proba(d.X[outside])[:, 1], float(d.labeled[inside].mean())
        prob[outside] = found if d.scenario == "one-sample" else ratio_from_odds(found, alpha)
    return score, prob


def true_values(d: Draw, score: np.ndarray, everything: np.ndarray) -> list[float]:
    truth, ranked = d.truth[everything], score[everything]
    reached = ranked >= np.sort(ranked)[len(ranked) - max(1, round(TOP * len(ranked)))]
    return [float(truth.mean()), float(auc(truth, ranked)), float(truth[reached].mean())]


def by_weights(d: Draw, score: np.ndarray, prob: np.ndarray) -> list[float]:
    request = d.labeled, score, d.confidence, prob, d.scenario
    found, curves = sar_auc(*request, clip=0.01), sar_curves(*request, clip=0.01)
    return [found.prior, found.auc, float(curves.precision[np.argmin(np.abs(curves.flagged - TOP))])]


def one_draw(bed: str, number: int) -> dict[str, object]:
    d, rng = BEDS[bed](np.random.RandomState(number)), np.random.RandomState(10_000 + number)
    score, prob = out_of_fold(d, rng)
    posterior = fit_posterior(d.X, d.labeled, d.confidence, scenario=d.scenario, random_state=rng)
    found = estimate_ranking(score, posterior)
    top = found.at(TOP)
    estimates = [
        (found.prior, found.prior_low, found.prior_high),
        (found.auc, found.low, found.high),
        (top.precision, top.precision_low, top.precision_high),
    ]
    old = by_weights(d, score, prob)
    truth = true_values(d, score, posterior.everything)
    error = np.nan if d.posterior is None else np.abs(posterior.prob - d.posterior)[posterior.everything].mean()
    kind = next(kind for kind, beds in KINDS.items() if bed in beds)
    values = [bed, kind, number, int(d.labeled.sum()), posterior.reliability, error]
    for true, estimate, weights in zip(truth, estimates, old, strict=True):
        values += [true, *estimate, weights]
    return dict(zip(HEADER, values, strict=True))


def reliability_anew(row: dict[str, str]) -> dict[str, object]:
    """A draw that was made before, with its reliability computed again from the same random numbers."""
    number = int(row["draw"])
    d, rng = BEDS[row["bed"]](np.random.RandomState(number)), np.random.RandomState(10_000 + number)
    list(StratifiedKFold(FOLDS, shuffle=True, random_state=rng).split(d.X, d.labeled))
    for _ in range(FOLDS * TREES_OF_FOREST):  # the seed of each tree
        rng.randint(np.iinfo(np.int32).max)
    labeled, two_sample = d.labeled == 1, d.scenario == "two-sample"
    chosen, weight = rows_to_fit(labeled, d.X.shape[1], rng)
    confidence = d.confidence[chosen][labeled[chosen]]
    found = fit_rows(d.X[chosen], labeled[chosen], confidence, weight, two_sample, rng, with_other_views=False)
    prior = float(found.model.predict(d.X[~labeled] if two_sample else d.X).mean())
    if not math.isclose(prior, float(row["prior"]), rel_tol=1e-5):  # six digits are kept
        raise ValueError(f"draw {number} of {row['bed']} has the share {prior:.6g}, but {row['prior']} in the file.")
    return {**row, "reliability": found.reliability}


def summary(rows: list[dict[str, str]]) -> Iterator[str]:
    """Root mean squared error, coverage and mean length of each bed, then their means by kind."""
    yield "bed (draws)".ljust(26) + "".join(f"{each}: error (weights) cover length   ".rjust(44) for each in QUANTITIES)
    for kind in KINDS:
        of_beds = []
        for bed in dict.fromkeys(row["bed"] for row in rows if row["kind"] == kind):
            own = [row for row in rows if row["bed"] == bed]
            of_beds.append(np.ravel([_quality(own, quantity) for quantity in QUANTITIES]))
            yield _line(f"{bed} ({len(own)})", of_beds[-1])
        if of_beds:
            yield _line(f"mean of {len(of_beds)} {kind} beds", np.mean(of_beds, axis=0))


def _quality(rows: list[dict[str, str]], quantity: str) -> list[float]:
    ends = "_true", "", "_low", "_high", "_by_weights"
    true, value, low, high, weights = (np.array([float(row[quantity + end]) for row in rows]) for end in ends)
    errors = [float(np.sqrt(np.nanmean((each - true) ** 2))) for each in (value, weights)]
    return [*errors, float(np.mean((low <= true) & (true <= high))), float(np.mean(high - low))]


def _line(name: str, numbers: np.ndarray) -> str:
    parts = [
        f"{e:.3f} ({w:.3f})   {c:.2f}   {size:.3f}".rjust(44) for e, w, c, size in np.reshape(numbers, (-1, 4)).tolist()
    ]
    return name.ljust(26) + "".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beds", nargs="*", default=list(BEDS), choices=list(BEDS))
    parser.add_argument("--draws", type=int, default=100, help="of made-up laws")
    parser.add_argument("--real-draws", type=int, default=20, help="of real tables")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/estimates.csv"))
    parser.add_argument("--again", type=Path, help="take the draws of this file over, with their reliability anew")
    request = parser.parse_args()
    with continued(request.out, HEADER) as (rows, append):
        done = {(row["bed"], int(row["draw"])) for row in rows}
        old = [] if request.again is None else read_rows(request.again)
        again = [row for row in old if (row["bed"], int(row["draw"])) not in done]
        done |= {(row["bed"], int(row["draw"])) for row in again}
        wanted = [
            (bed, number)
            for bed in request.beds
            for number in range(request.real_draws if bed in REAL else request.draws)
            if (bed, number) not in done
        ]
        run = Parallel(request.jobs, return_as="generator_unordered")
        for row in run(delayed(reliability_anew)(each) for each in again):
            append(row)
        for row in run(delayed(one_draw)(*each) for each in wanted):
            append(row)
    for line in summary(rows):
        print(line)


if __name__ == "__main__":
    main()
