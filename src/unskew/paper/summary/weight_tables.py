"""Weights of the labeled instances: their spread, and how many equal ones they are worth."""

import numpy as np

from unskew.objectives.weights import effective_sample_size
from unskew.paper.summary.auc_tables import paper_title
from unskew.paper.summary.names import STAND_INS, dataset_title
from unskew.paper.summary.paper import published
from unskew.paper.summary.records import Entry, Line, ResultTable, WeightPanel
from unskew.paper.summary.runs import Column, Runs

BOUND = 10.0
"""Most weights are below this, the paper says."""
_HEADER = (
    "Data",
    "prior",
    "runs",
    "labeled",
    "smallest",
    "median",
    "largest",
    f"below {BOUND:g}",
    "effective sample size",
)


def weights_of(runs: Runs, dataset: str, prior: float) -> list[list[float]]:
    """Weights of each run at a prior."""
    methods = [Column(method, method) for method in runs.plan.methods]
    found = [row for column in methods for run, row in runs.rows(dataset, column).items() if run[0] == prior]
    return [row["weights"] for row in found if row.get("weights")]


def weight_panels(runs: Runs) -> tuple[WeightPanel, ...]:
    """A histogram for each data set and prior, all runs together."""
    several = len(runs.plan.priors) > 1
    return tuple(
        WeightPanel(
            dataset_title(dataset) + (f", π = {prior:g}" if several else ""),
            tuple(float(each) for one in weights for each in one),
        )
        for dataset in runs.datasets()
        for prior in runs.plan.priors
        if (weights := weights_of(runs, dataset, prior))
    )


def weight_tables(runs: Runs) -> tuple[ResultTable, ...]:
    """Numbers behind the histograms."""
    groups = (_group(runs, dataset) for dataset in runs.datasets())
    return (ResultTable(_HEADER, tuple(group for group in groups if group)),)


def _group(runs: Runs, dataset: str) -> tuple[Line, ...]:
    found = {prior: weights_of(runs, dataset, prior) for prior in runs.plan.priors}
    lines = [_line(dataset, prior, weights) for prior, weights in found.items() if weights]
    known = published(runs.plan.name)
    source = STAND_INS.get(dataset, dataset)
    ends = [known.get((source, "conf-auc", each)) for each in ("smallest", "largest")]
    if lines and all(ends):
        low, high = (Entry(f"about {each.value:g}") for each in ends if each)
        empty = Entry("")
        lines.append((Entry(paper_title(dataset)), empty, empty, empty, low, empty, high, empty, empty))
    return tuple(lines)


def _line(dataset: str, prior: float, weights: list[list[float]]) -> Line:
    every = np.concatenate([np.asarray(each, float) for each in weights])
    effective = np.mean([effective_sample_size(each) for each in weights])
    numbers = (
        f"{prior:g}",
        f"{len(weights)}",
        f"{len(every) / len(weights):.0f}",
        f"{every.min():.2f}",
        f"{np.median(every):.2f}",
        f"{every.max():.1f}",
        f"{np.mean(every < BOUND):.0%}",
        f"{effective:.1f}",
    )
    return Entry(dataset_title(dataset)), *(Entry(each) for each in numbers)


def weight_notes() -> list[str]:
    """How to read the table."""
    return [
        "Weights confidence / labeling probability of the labeled training instances, those of all runs together. "
        "Labeled instances and effective sample size, (sum of w)² / sum of w², are of one run, as a mean over runs."
    ]
