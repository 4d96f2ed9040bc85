"""Curves and histograms of weights, which the paper shows as pictures: their panels, and tables of their numbers."""

from collections.abc import Mapping

import numpy as np

from unskew.objectives.weights import effective_sample_size
from unskew.paper.plans import Plan
from unskew.paper.summary._records import (
    CurvePanel,
    Entry,
    Line,
    MethodCurve,
    Parts,
    ResultTable,
    WeightPanel,
    dataset_title,
    method_title,
)
from unskew.paper.summary._results import PlanColumn, Runs, published_for, variant_key
from unskew.paper.summary._statistics import Mean, mark_of, mean_of, most_seeds, partial_notes
from unskew.paper.summary._tables import paper_title

BOUND = 10.0
"""The paper says that most weights are below this."""
_AXES = {"prior": "π", "power": "k"}
_WEIGHT_HEADER = (
    *("Data", "prior", "runs", "labeled", "smallest", "median", "largest"),
    *(f"below {BOUND:g}", "effective sample size"),
)
_WEIGHT_NOTE = (
    "Weights (confidence / labeling probability) of the labeled training instances of all runs together. Labeled "
    "instances and effective sample size, (sum of w)² / sum of w², are those of one run, as a mean over runs."
)

Points = Mapping[float, Mean]
"""Means by value on the axis; only those that have runs."""


def curve_parts(runs: Runs) -> Parts:
    """Curves over the prior or over a varied field."""
    return Parts((_curve_table(runs),), _curve_panels(runs), _curve_notes(runs))


def weight_parts(runs: Runs) -> Parts:
    """Weights of the labeled instances."""
    groups = (_weight_group(runs, dataset) for dataset in runs.datasets())
    table = ResultTable(_WEIGHT_HEADER, tuple(group for group in groups if group))
    return Parts((table,), _weight_panels(runs), [_WEIGHT_NOTE])


def _axis_values(plan: Plan) -> tuple[float, ...]:
    return plan.priors if plan.axis == "prior" else tuple(plan.variants[plan.axis])


def _points_of_method(runs: Runs, dataset: str, method: str) -> Points:
    """Means of a method at each value of the axis; those of an extra method do not depend on it."""
    plan, found = runs.plan, {}
    for value in _axis_values(plan):
        by_prior = plan.axis == "prior"
        changes = {} if by_prior or method in plan.extra else {plan.axis: value}
        aucs = runs.aucs(dataset, PlanColumn(method, method, changes=changes))
        found[value] = mean_of(aucs, (value,) if by_prior else plan.priors)
    return {value: mean for value, mean in found.items() if mean}


def _methods_of_panel(plan: Plan) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*plan.methods, *plan.extra)))


def _curve_panels(runs: Runs) -> tuple[CurvePanel, ...]:
    plan = runs.plan
    return tuple(
        CurvePanel(
            title=dataset_title(dataset),
            curves=tuple(_draw_curve(runs, dataset, method) for method in _methods_of_panel(plan)),
            ticks=_axis_values(plan),
            axis="class prior π" if plan.axis == "prior" else _AXES.get(plan.axis, plan.axis),
            log=plan.axis != "prior",
        )
        for dataset in runs.datasets()
    )


def _draw_curve(runs: Runs, dataset: str, method: str) -> MethodCurve:
    points = _points_of_method(runs, dataset, method)
    flat = method in runs.plan.extra
    chosen = dict(list(points.items())[:1]) if flat else points
    return MethodCurve(
        method=method,
        label=method_title(method),
        x=list(chosen),
        mean=[each.value for each in chosen.values()],
        error=[each.error if each.n > 1 else 0.0 for each in chosen.values()],
        flat=flat,
    )


def _curve_table(runs: Runs) -> ResultTable:
    plan = runs.plan
    seeds = "seeds" if plan.axis == "prior" else "priors × seeds"
    ticks = (f"{_AXES.get(plan.axis, plan.axis)} = {variant_key(value)}" for value in _axis_values(plan))
    groups = []
    for dataset in runs.datasets():
        found = {method: _points_of_method(runs, dataset, method) for method in _methods_of_panel(plan)}
        groups.append(tuple(_curve_line(plan, dataset, *each) for each in found.items() if each[1]))
    return ResultTable(("Data", "Method", seeds, *ticks), tuple(groups))


def _curve_line(plan: Plan, dataset: str, method: str, points: Points) -> Line:
    seeds = most_seeds(points.values())
    entries = (_legend_entry(points.get(value), seeds) for value in _axis_values(plan))
    times = f"{seeds}" if plan.axis == "prior" else f"{len(plan.priors)} × {seeds}"
    return Entry(dataset_title(dataset)), Entry(method_title(method)), Entry(times), *entries


def _legend_entry(mean: Mean | None, seeds: int) -> Entry:
    if not mean:
        return Entry()
    error = f" ± {mean.error:.4f}" if mean.n > 1 else ""
    return Entry(f"{mean.value:.4f}{error}", mark=mark_of(mean, seeds))


def _curve_notes(runs: Runs) -> list[str]:
    plan, words = runs.plan, "Mean test AUC over seeds ± its standard error."
    if plan.axis != "prior":
        words = (
            "Mean test AUC over seeds and then priors ± s/√n, with s the standard deviation of all n runs. It includes "
            "the spread between priors, although that does not blur the means, which are over the same priors: their "
            "true standard errors are rather smaller."
        )
    notes = [f"{words} The paper shows these only as a picture."]
    if plan.extra:
        names = ", ".join(method_title(each) for each in plan.extra)
        notes.append(f"{names} does not use the confidence: its result is the same at every {_AXES[plan.axis]}.")
    lines = {
        f"{dataset_title(dataset)}, {method_title(method)}": {
            variant_key(value): mean for value, mean in _points_of_method(runs, dataset, method).items()
        }
        for dataset in runs.datasets()
        for method in _methods_of_panel(plan)
    }
    return notes + partial_notes(lines)


def _weights_of_runs(runs: Runs, dataset: str, prior: float) -> list[list[float]]:
    """Weights of each run at a prior."""
    methods = [PlanColumn(method, method) for method in runs.plan.methods]
    found = [row for column in methods for run, row in runs.of(dataset, column).items() if run[0] == prior]
    return [row["weights"] for row in found if row.get("weights")]


def _weight_panels(runs: Runs) -> tuple[WeightPanel, ...]:
    several = len(runs.plan.priors) > 1
    return tuple(
        WeightPanel(
            dataset_title(dataset) + (f", π = {prior:g}" if several else ""),
            tuple(float(each) for one in weights for each in one),
        )
        for dataset in runs.datasets()
        for prior in runs.plan.priors
        if (weights := _weights_of_runs(runs, dataset, prior))
    )


def _weight_group(runs: Runs, dataset: str) -> tuple[Line, ...]:
    found = {prior: _weights_of_runs(runs, dataset, prior) for prior in runs.plan.priors}
    lines = [_weight_line(dataset, prior, weights) for prior, weights in found.items() if weights]
    ends = [published_for(runs.plan, dataset, "conf-auc", each) for each in ("smallest", "largest")]
    if lines and all(ends):
        low, high = (Entry(f"about {each.value:g}") for each in ends if each)
        empty = Entry("")
        lines.append((Entry(paper_title(dataset)), empty, empty, empty, low, empty, high, empty, empty))
    return tuple(lines)


def _weight_line(dataset: str, prior: float, weights: list[list[float]]) -> Line:
    every = np.concatenate([np.asarray(each, float) for each in weights])
    effective = np.mean([effective_sample_size(each) for each in weights])
    counts = f"{prior:g}", f"{len(weights)}", f"{len(every) / len(weights):.0f}"
    numbers = f"{every.min():.2f}", f"{np.median(every):.2f}", f"{every.max():.1f}"
    shares = f"{np.mean(every < BOUND):.0%}", f"{effective:.1f}"
    return tuple(Entry(each) for each in (dataset_title(dataset), *counts, *numbers, *shares))
