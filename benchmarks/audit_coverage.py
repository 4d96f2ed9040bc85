"""Do the intervals of an audit of 100 rows cover the truth, and are they at most as long as those of a plain sample?

The laws are open and seen beds of `estimate_beds.py` whose posterior is known. The score is the log odds with noise.
The probability that the audit is given is right, or wrong on purpose: squared, its root, with noise, or turned round.
Beside the audit stands a simple random sample of as many rows with Wilson's intervals, and Newcombe's for the AUC
(Statistics in Medicine 25, 2006, method 5), which use no model. The CSV file has a row for each law, probability and
quantity; those that are there already are not made again.
"""

import argparse
from itertools import product
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.special import logit
from scipy.stats import norm

from estimate_beds import OPEN, SEEN
from rows import continued
from unskew.metrics import AuditEstimate, auc, audit_estimate, audit_sample

Random = np.random.RandomState
Ends = tuple[float, float, float]
BEDS = {name: (OPEN | SEEN)[name] for name in ("toy", "toy-rare", "linear", "claims")} | {
    name: SEEN[name] for name in ("rings", "heavy-tails", "steps", "groups-few")
}
"""The first four were there to choose the design with, the others not."""
CHANGES = {
    "right": lambda eta, rng: eta,
    "squared": lambda eta, rng: eta**2,
    "root": lambda eta, rng: np.sqrt(eta),
    "noise": lambda eta, rng: np.clip(eta + 0.2 * rng.standard_normal(len(eta)), 0, 1),
    "turned": lambda eta, rng: (1 - eta) * eta.mean() / (1 - eta).mean(),
}
QUANTITIES = ("prior", "auc", "precision", "recall")
ENDS = ("_true", "_low", "_high", "_plain_low", "_plain_high")
HEADER = ["bed", "probability", "draws", "quantity", "covered", "length", "plain_covered", "plain_length"]
CHECKED, NOISE_OF_SCORE, LEVEL = 100, 1.0, norm.ppf(0.975)


def wilson(positives: float, n: int) -> Ends:
    if n == 0:
        return np.nan, 0.0, 1.0
    share, square = positives / n, LEVEL**2 / n
    half = LEVEL * np.sqrt(share * (1 - share) / n + square / 4 / n)
    return share, (share + square / 2 - half) / (1 + square), (share + square / 2 + half) / (1 + square)


def newcombe(truth: np.ndarray, score: np.ndarray) -> Ends:
    """AUC whose variance is that of Hanley and McNeil at the end of the interval, as in Wilson's."""
    positive = int(truth.sum())
    negative = len(truth) - positive
    if positive == 0 or negative == 0:
        return np.nan, 0.0, 1.0
    value, pairs = float(auc(truth, score)), (positive + negative) / 2 - 1

    def excess(at: float) -> float:
        variance = at * (1 - at) * (1 + pairs * (1 - at) / (2 - at) + pairs * at / (1 + at)) / (positive * negative)
        return (value - at) ** 2 - LEVEL**2 * variance

    tiny = 1e-9
    low = brentq(excess, tiny, value) if value > tiny else 0.0
    high = brentq(excess, value, 1 - tiny) if value < 1 - tiny else 1.0
    return value, low, high


def plain_sample(score: np.ndarray, top: np.ndarray, truth: np.ndarray, rng: Random) -> list[Ends]:
    rows = rng.choice(len(score), CHECKED, replace=False)
    classes, found = truth[rows], truth[rows][top[rows]]
    return [
        wilson(classes.sum(), len(rows)),
        newcombe(classes, score[rows]),
        wilson(found.sum(), len(found)),
        wilson(found.sum(), int(classes.sum())),
    ]


def one_draw(bed: str, change: str, number: int) -> dict[str, float]:
    rng = Random(number)
    d = BEDS[bed](rng)
    assert d.posterior is not None
    inside = np.clip(d.posterior, 1e-6, 1 - 1e-6)
    score = logit(inside) + NOISE_OF_SCORE * rng.standard_normal(len(inside))
    probability = CHANGES[change](d.posterior, rng)
    rows = audit_sample(score, CHECKED, rng, probability=probability)
    found = audit_estimate(score, probability, rows, d.truth[rows.rows])
    top = score >= found.threshold
    true = [
        d.truth.mean(),
        float(auc(d.truth, score)),
        d.truth[top].mean(),
        d.truth[top].sum() / d.truth.sum(),
    ]
    values: dict[str, float] = {}
    for quantity, known, other in zip(QUANTITIES, true, plain_sample(score, top, d.truth, rng), strict=True):
        ends = known, *ends_of(found, quantity), *other[1:]
        values |= {f"{quantity}{end}": each for end, each in zip(ENDS, ends, strict=True)}
    return values


def ends_of(found: AuditEstimate, quantity: str) -> tuple[float, float]:
    return getattr(found, f"{quantity}_low"), getattr(found, f"{quantity}_high")


def cell(bed: str, change: str, n_draws: int) -> list[dict[str, object]]:
    """A row for each quantity: shares of draws in which the intervals cover, and their mean lengths."""
    draws = [one_draw(bed, change, number) for number in range(n_draws)]
    about = {"bed": bed, "probability": change, "draws": n_draws}
    return [{**about, "quantity": each, **quality(draws, each)} for each in QUANTITIES]


def quality(draws: list[dict[str, float]], quantity: str) -> dict[str, str]:
    true, *ends = (np.array([row[quantity + end] for row in draws]) for end in ENDS)
    found = {}
    for name, low, high in (("", *ends[:2]), ("plain_", *ends[2:])):
        found[f"{name}covered"] = f"{np.mean((low <= true) & (true <= high)):.3f}"
        found[f"{name}length"] = f"{np.mean(high - low):.5f}"
    return found


def line(rows: list[dict[str, str]]) -> str:
    """Coverage of the audit (of the plain sample), and its length over the plain one, of a cell."""
    shown = [
        f"{each['quantity']} {each['covered']} ({each['plain_covered']}) "
        f"{float(each['length']) / float(each['plain_length']):.2f}"
        for each in rows
    ]
    return f"{rows[0]['bed']}, {rows[0]['probability']}".ljust(24) + "   ".join(shown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beds", nargs="*", default=list(BEDS), choices=list(BEDS))
    parser.add_argument("--changes", nargs="*", default=list(CHANGES), choices=list(CHANGES))
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/audit.csv"))
    request = parser.parse_args()
    with continued(request.out, HEADER) as (rows, append):
        for bed, change in product(request.beds, request.changes):
            if not any((row["bed"], row["probability"]) == (bed, change) for row in rows):
                for row in cell(bed, change, request.draws):
                    append(row)
            print(line([row for row in rows if (row["bed"], row["probability"]) == (bed, change)]))


if __name__ == "__main__":
    main()
