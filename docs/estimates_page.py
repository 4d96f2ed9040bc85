"""Write docs/estimates.md and its pictures from the rows of the studies of estimates.

    python docs/estimates_page.py

Run this after the benchmarks `estimates.py`, `top_coverage.py`, `list_coverage.py`, `top_confidence.py` and
`probabilities.py`: a test compares the page with the rows.
"""

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from scipy.stats import binom

from unskew._support.files import write_atomically
from unskew.metrics.reliability import INTERVALS_ONLY_BELOW, WARN_BELOW

DOCS = Path(__file__).parent
ROWS = DOCS.parent / "results" / "benchmarks"
Row = dict[str, str]

QUANTITIES = {"prior": "share of positives", "auc": "AUC", "precision": "precision in the top 5 %"}
KINDS = {
    "judged": "Written down after the last change of the estimates, and looked at once. Since then two things were "
    "changed that no bed has: a crash with levels that differ by rounding, and how components of more than 256 columns "
    "are computed. The reliability beside the estimates was computed anew, by another formula; the estimates are the "
    "same to the last digit.",
    "seen": "They judged an earlier form of the method, which failed on some of them. After that they were open, too.",
    "open": "The method was built, and its constants were set, on these.",
}
GOALS = {"prior": (0.035, 0.157), "auc": (0.04, 0.214), "precision": (0.07, 0.755)}
LEAST_COVERAGE = 0.9
LEVEL, CHANCE = 0.95, 0.01
"""Of the intervals; how rarely as few of them cover by chance, for a bed to be named."""
MOST_ERROR = 0.05
SHARES = ("0.01", "0.05", "0.1", "0.2")
OF_TOP = {"precision": "precision", "recall": "recall", "positives": "expected positives"}
DEPTHS = {
    "top_coverage": "### Rows that the estimates were made of\n\nOn the beds above, in draws that no other table has "
    "(`python benchmarks/top_coverage.py`).",
    "list_coverage": "### New rows\n\nA list that `unskew score` cuts: rows of a second draw, with intervals that are "
    "carried over from the first ([decision 38](decisions.md#38-how-many-rows-to-review), "
    "`python benchmarks/list_coverage.py`).",
}
LAWS = {
    "judged": "Written down before the formula of the reliability was frozen, and run once after that.",
    "open": "On these that formula was chosen.",
}
N_BINS = 10
INTRODUCTION = """# How good are the estimates?

Share of positives, AUC and precision are estimated without negatives ([posterior](posterior.md)). Here they are beside
the truth, on tables with known classes that are labeled with a bias, 25 to 300 labels each. A logistic regression of
labeled against unlabeled rows, out of fold, is the ranking that is judged. "Weights" is the estimate by r/u with a
labeling probability from a forest, out of fold, which an earlier version showed. `benchmarks/estimate_beds.py` has the
beds, `python benchmarks/estimates.py` draws them, and `python docs/estimates_page.py` writes this page.
"""


def read(name: str, folder: Path = ROWS) -> list[Row]:
    """Rows of a study; none if it has not been made."""
    path = folder / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def column(rows: Iterable[Row], name: str) -> np.ndarray:
    """Numbers of a column."""
    return np.array([float(row[name]) for row in rows])


def quality(rows: list[Row], quantity: str) -> list[float]:
    """Root mean squared error, that of the weights, coverage and mean length of one bed."""
    true, value, weights = (column(rows, f"{quantity}{end}") for end in ("_true", "", "_by_weights"))
    low, high = (column(rows, f"{quantity}_{end}") for end in ("low", "high"))
    errors = [float(np.sqrt(np.nanmean((each - true) ** 2))) for each in (value, weights)]
    return [*errors, float(np.mean((low <= true) & (true <= high))), float(np.mean(high - low))]


def of_beds(rows: list[Row], kind: str) -> dict[str, list[Row]]:
    """Rows of each bed of a kind, in the order of their beds."""
    beds = dict.fromkeys(row["bed"] for row in rows if row["kind"] == kind)
    return {bed: [row for row in rows if row["bed"] == bed] for bed in sorted(beds)}


def bed_table(beds: dict[str, list[Row]]) -> str:
    """Every bed, and their mean."""
    names = QUANTITIES.values()
    titles = [f"{name}: error (weights)" for name in names] + [f"{name}: covered, length" for name in names]
    lines = [f"| bed | draws | labels | reliability | {' | '.join(titles)} |", "|---" * (4 + len(titles)) + "|"]
    means = []
    for bed, rows in beds.items():
        found = [quality(rows, quantity) for quantity in QUANTITIES]
        means.append(found)
        about = f"{len(rows)} | {column(rows, 'n_labeled').mean():.0f} | {column(rows, 'reliability').mean():.2f}"
        lines.append(f"| {bed} | {about} | {_cells(found)} |")
    lines.append(f"| **mean** | | | | {_cells(np.mean(means, axis=0).tolist())} |")
    return "\n".join(lines)


def _cells(found: list[list[float]]) -> str:
    errors = [f"{error:.3f} ({weights:.3f})" for error, weights, _, _ in found]
    return " | ".join(errors + [f"{100 * cover:.0f} %, {length:.3f}" for _, _, cover, length in found])


def goal_lines(beds: dict[str, list[Row]]) -> list[str]:
    """Whether the goals are met, in the mean over these beds."""
    lines = []
    for quantity, (most_error, most_length) in GOALS.items():
        error, _, cover, length = np.mean([quality(rows, quantity) for rows in beds.values()], axis=0)
        for text, met in (
            (f"error {error:.3f}, at most {most_error}", error <= most_error),
            (f"covered in {100 * cover:.1f} %, at least {100 * LEAST_COVERAGE:.0f} %", cover >= LEAST_COVERAGE),
            (f"mean length {length:.3f}, at most {most_length}", length <= most_length),
        ):
            lines.append(f"- {QUANTITIES[quantity]}: {text}: {'met' if met else '**missed**'}")
    return lines


def covered(rows: list[Row], share: str, quantity: str) -> float:
    """Share of the draws whose interval contains the truth."""
    own = [row for row in rows if row["share"] == share]
    true, low, high = (column(own, f"{quantity}_{end}") for end in ("true", "low", "high"))
    near = 1e-5 * np.abs(true)  # six digits are kept
    return float(np.mean((low <= true + near) & (true <= high + near)))


def depth_table(rows: list[Row]) -> str:
    """Coverage in the top of the ranking, by kind of bed: mean over beds, and the bed with the lowest."""
    lines = [
        "| beds | draws | quantity | " + " | ".join(f"top {100 * float(share):g} %" for share in SHARES) + " |",
        "|---" * (3 + len(SHARES)) + "|",
    ]
    for kind in KINDS:
        beds = of_beds(rows, kind)
        for quantity, name in OF_TOP.items() if beds else ():
            cells = []
            for share in SHARES:
                by_bed = {bed: covered(own, share, quantity) for bed, own in beds.items()}
                worst = min(by_bed, key=lambda bed: by_bed[bed])
                missed = "" if np.mean(list(by_bed.values())) >= LEAST_COVERAGE else " **missed**"
                lowest = f"{100 * by_bed[worst]:.0f} % on {worst}" if by_bed[worst] < 1 else "everywhere"
                cells.append(f"{100 * np.mean(list(by_bed.values())):.1f} %{missed} ({lowest})")
            n_draws = sum(map(len, beds.values())) // len(SHARES)
            lines.append(f"| {len(beds)} {kind} | {n_draws} | {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def depth_verdict(rows: list[Row]) -> str:
    """Whether the mean coverage is what was asked for, by kind of bed."""
    sentences = []
    for kind in KINDS:
        beds = of_beds(rows, kind)
        if beds:
            lowest, share, name = min(
                (float(np.mean([covered(own, share, quantity) for own in beds.values()])), share, name)
                for share in SHARES
                for quantity, name in OF_TOP.items()
            )
            verdict = "met" if lowest >= LEAST_COVERAGE else "**missed**"
            where = f"lowest {100 * lowest:.1f} %, {name} in the top {100 * float(share):g} %"
            sentences.append(f"{kind} beds: {verdict} ({where})")
    asked = f"At least {100 * LEAST_COVERAGE:.0f} % in the mean over beds, for every share and quantity"
    return f"{asked}: {'; '.join(sentences)}."


def depth_chapter(folder: Path) -> str:
    """How often intervals of the top of a ranking cover."""
    parts = [
        f"{about}\n\n{depth_table(rows)}\n\n{depth_verdict(rows)}\n"
        for name, about in DEPTHS.items()
        if (rows := read(name, folder))
    ]
    if not parts:
        return ""
    about = (
        "## How far down\n\nHow often intervals of level 95 % contain the truth in the top of the ranking: the mean "
        f"over beds, at least {100 * LEAST_COVERAGE:.0f} % as written down before the draws were made, and the bed "
        "where it is lowest. The beds were known by then, the draws are new. Expected positives are the precision "
        "times the rows.\n"
    )
    return "\n".join(each for each in [about, *parts, shortfall_part(folder)] if each)


def short_of_it(rows: list[Row]) -> list[tuple[str, str, str, int, int]]:
    """Beds whose intervals cover less often than chance leaves to those that cover in 95 %: how often, of how many."""
    found = []
    for bed in dict.fromkeys(row["bed"] for row in rows):
        own = [row for row in rows if row["bed"] == bed]
        n = len(own) // len(SHARES)
        for share in SHARES:
            for quantity in ("precision", "recall"):  # expected positives cover as the precision does
                times = round(n * covered(own, share, quantity))
                if binom.cdf(times, n, LEVEL) < CHANCE:
                    found.append((bed, share, quantity, times, n))
    return found


def shortfall_part(folder: Path) -> str:
    """Which beds fall short of it, and whether their confidence is a probability there."""
    told = read("top_confidence", folder)
    lines = []
    for name, of_what in (("top_coverage", "own rows"), ("list_coverage", "new rows")):
        rows = read(name, folder)
        for bed, share, quantity, times, n in short_of_it(rows):
            own = [row for row in rows if (row["bed"], row["share"]) == (bed, share)]
            given = [row for row in told if (row["bed"], row["share"]) == (bed, share)]
            confidence = f"{100 * column(given, 'confidence').mean():.0f} %" if given else "not known"
            true, estimate = (f"{100 * column(own, each).mean():.0f} %" for each in ("precision_true", "precision"))
            where = f"{bed}, {of_what}", quantity, f"top {100 * float(share):g} %", f"{times} of {n}"
            lines.append(f"| {' | '.join([*where, true, estimate, confidence])} |")
    if not lines:
        return ""
    about = (
        "### Where they fall short\n\nBeds on which intervals cover less often than chance explains (binomial, "
        f"{100 * CHANCE:g} %), with the share of positives among these rows, its estimate, and the mean of the "
        "confidence that each of these rows would be given, labeled or not (`python benchmarks/top_confidence.py`). As "
        "far as that confidence is off, it is no probability there, and no estimate from it can be right: an "
        "[audit](audit.md) finds out. What is left is the posterior's own error, where it cannot follow the law.\n"
    )
    header = "| bed | quantity | where | covered | positive | estimate | mean confidence |"
    return "\n".join([about, header, "|---" * 7 + "|", *lines]) + "\n"


def reliability_table(rows: list[Row]) -> str:
    """How far the share of positives is off, by reliability."""
    edges = [0.0, 0.2, 0.3, 0.4, 0.6, 0.8, 0.95, 1.0]
    found = column(rows, "reliability")
    off = np.abs(column(rows, "prior") / column(rows, "prior_true") - 1)
    length = (column(rows, "prior_high") - column(rows, "prior_low")) / column(rows, "prior_true")
    lines = [
        "| reliability | draws | median error, relative | exceeded by one in ten | median length of the interval |",
        "|---|---|---|---|---|",
    ]
    for low, high in zip(edges, edges[1:], strict=False):
        inside = (found >= low) & ((found < high) | (high == 1.0))
        if inside.any():
            numbers = np.median(off[inside]), np.quantile(off[inside], 0.9), np.median(length[inside])
            shown = " | ".join(f"{100 * each:.0f} %" for each in numbers)
            lines.append(f"| {low:g} to {high:g} | {inside.sum()} | {shown} |")
    return "\n".join(lines)


def probability_table(rows: list[Row]) -> str:
    """Mean absolute error of the probabilities of each law, and whether it is small where reliability is high."""
    lines = [
        "| law | draws | labels | reliability | mean absolute error | of draws with reliability at least "
        f"{WARN_BELOW:g} | at most {MOST_ERROR:g} |",
        "|---|---|---|---|---|---|---|",
    ]
    for bed in dict.fromkeys(row["bed"] for row in rows):
        own = [row for row in rows if row["bed"] == bed]
        labels, reliability, error = (column(own, name) for name in ("n_labeled", "reliability", "error"))
        high = error[reliability >= WARN_BELOW]
        shown = f"{high.mean():.3f} ({len(high)} draws)" if len(high) else "none"
        met = ("met" if high.mean() <= MOST_ERROR else "**missed**") if len(high) else ""
        about = f"{len(own)} | {labels.mean():.0f} | {reliability.mean():.2f} | {error.mean():.3f}"
        lines.append(f"| {bed} | {about} | {shown} | {met} |")
    return "\n".join(lines)


def probability_chapter(rows: list[Row]) -> str:
    """The probabilities of all laws, judged ones first."""
    parts = [
        "## Probabilities\n\n`predict_proba` against the law's own probability, where that is known "
        f"(`python benchmarks/probabilities.py`). Where reliability is at least {WARN_BELOW:g}, it should be off by at "
        f"most {MOST_ERROR:g} in the mean of all rows.\n\n![Calibration curves](images/calibration.png)\n"
    ]
    for kind, about in LAWS.items():
        own = [row for row in rows if row["kind"] == kind]
        if own:
            parts.append(f"### {kind.capitalize()} laws\n\n{about}\n\n{probability_table(own)}\n")
    return "\n".join(parts)


def page(folder: Path = ROWS) -> str:
    """The text of the page."""
    rows, laws = read("estimates", folder), read("probabilities", folder)
    parts = [INTRODUCTION]
    for kind, about in KINDS.items():
        beds = of_beds(rows, kind)
        if beds:
            parts.append(f"## {kind.capitalize()} beds\n\n{about}\n")
            if kind == "judged":
                parts.append("\n".join(goal_lines(beds)) + "\n")
            parts.append(bed_table(beds) + "\n")
    if rows:
        parts.append(
            "## What reliability says\n\nHow far the share of positives is off, over all draws above. Below "
            f"{WARN_BELOW:g} the library warns, below {INTERVALS_ONLY_BELOW:g} commands and pages show the interval "
            f"alone.\n\n{reliability_table(rows)}\n"
        )
    depths = depth_chapter(folder)
    if depths:
        parts.append(depths)
    if laws:
        parts.append(probability_chapter(laws))
    return "\n".join(parts)


def calibration_picture(rows: list[Row], path: Path) -> None:
    """One panel for each law: share of positives in bins of the predicted probability."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    laws = list(dict.fromkeys(row["bed"] for row in rows))
    n_across = 6
    n_down = -(-len(laws) // n_across)
    figure, axes = plt.subplots(n_down, n_across, figsize=(2.1 * n_across, 2.2 * n_down), sharex=True, sharey=True)
    for axis, law in zip(axes.flat, laws, strict=False):
        own = [row for row in rows if row["bed"] == law]
        count, predicted, positive = (
            np.array([column(own, f"{what}_{number}").sum() for number in range(N_BINS)])
            for what in ("rows", "predicted", "positive")
        )
        some = count > 0
        axis.plot([0, 1], [0, 1], color="#999999", linewidth=0.8)
        axis.plot(
            predicted[some] / count[some], positive[some] / count[some], marker="o", markersize=3, color="#0b6e99"
        )
        axis.set_title(law, fontsize=9)
    for axis in axes.flat[len(laws) :]:
        axis.axis("off")
    figure.supxlabel("predicted probability", fontsize=10)
    figure.supylabel("share of positives", fontsize=10)
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


def main() -> None:
    """Write the page and its picture."""
    laws = read("probabilities")
    if laws:
        calibration_picture(laws, DOCS / "images" / "calibration.png")
    write_atomically(DOCS / "estimates.md", page().encode())


if __name__ == "__main__":
    main()
