"""Curves over the prior or over a varied field, as panels of a picture and as a table."""

from collections.abc import Mapping

from unskew.paper.plans import Plan
from unskew.paper.summary.coverage import mark_of, most_seeds, partial_notes
from unskew.paper.summary.names import dataset_title, method_title
from unskew.paper.summary.paper import variant_key
from unskew.paper.summary.records import Curve, CurvePanel, Entry, Line, ResultTable
from unskew.paper.summary.runs import Column, Runs
from unskew.paper.summary.statistics import Mean, mean_of

_AXES = {"prior": "π", "power": "k"}

Points = Mapping[float, Mean]
"""Means by value on the axis; only those that have runs."""


def axis_values(plan: Plan) -> tuple[float, ...]:
    """Values on the horizontal axis."""
    return plan.priors if plan.axis == "prior" else tuple(plan.variants[plan.axis])


def points_of(runs: Runs, dataset: str, method: str) -> Points:
    """Means of a method on a data set at each value of the axis; of an extra method the same at all."""
    found = {value: _mean(runs, dataset, method, value) for value in axis_values(runs.plan)}
    return {value: mean for value, mean in found.items() if mean}


def _mean(runs: Runs, dataset: str, method: str, value: float) -> Mean | None:
    plan = runs.plan
    if plan.axis == "prior":
        return mean_of(runs.values(dataset, Column(method, method)), (value,))
    changes = {} if method in plan.extra else {plan.axis: value}
    return mean_of(runs.values(dataset, Column(method, method, changes=changes)), plan.priors)


def _methods(plan: Plan) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*plan.methods, *plan.extra)))


def curve_panels(runs: Runs) -> tuple[CurvePanel, ...]:
    """A panel for each data set."""
    plan = runs.plan
    return tuple(
        CurvePanel(
            title=dataset_title(dataset),
            curves=tuple(_curve(runs, dataset, method) for method in _methods(plan)),
            ticks=axis_values(plan),
            axis="class prior π" if plan.axis == "prior" else _AXES.get(plan.axis, plan.axis),
            log=plan.axis != "prior",
        )
        for dataset in runs.datasets()
    )


def _curve(runs: Runs, dataset: str, method: str) -> Curve:
    points = points_of(runs, dataset, method)
    flat = method in runs.plan.extra
    chosen = dict(list(points.items())[:1]) if flat else points
    return Curve(
        method=method,
        label=method_title(method),
        x=list(chosen),
        mean=[each.value for each in chosen.values()],
        error=[each.error if each.n > 1 else 0.0 for each in chosen.values()],
        flat=flat,
    )


def curve_tables(runs: Runs) -> tuple[ResultTable, ...]:
    """The numbers behind the curves."""
    plan = runs.plan
    seeds = "seeds" if plan.axis == "prior" else "priors × seeds"
    ticks = (f"{_AXES.get(plan.axis, plan.axis)} = {variant_key(value)}" for value in axis_values(plan))
    return (ResultTable(("Data", "Method", seeds, *ticks), tuple(_group(runs, each) for each in runs.datasets())),)


def _group(runs: Runs, dataset: str) -> tuple[Line, ...]:
    found = {method: points_of(runs, dataset, method) for method in _methods(runs.plan)}
    return tuple(_line(runs.plan, dataset, method, points) for method, points in found.items() if points)


def _line(plan: Plan, dataset: str, method: str, points: Points) -> Line:
    seeds = most_seeds(points.values())
    entries = (_entry(points.get(value), seeds) for value in axis_values(plan))
    times = f"{seeds}" if plan.axis == "prior" else f"{len(plan.priors)} × {seeds}"
    return Entry(dataset_title(dataset)), Entry(method_title(method)), Entry(times), *entries


def _entry(mean: Mean | None, seeds: int) -> Entry:
    if not mean:
        return Entry()
    error = f" ± {mean.error:.4f}" if mean.n > 1 else ""
    return Entry(f"{mean.value:.4f}{error}", mark=mark_of(mean, seeds))


def _mean_words(plan: Plan) -> str:
    if plan.axis == "prior":
        return "Mean test AUC over seeds ± its standard error."
    return (
        "Mean test AUC over seeds and then priors ± s/√n, with s the standard deviation of all n runs. It contains the "
        "spread between priors, which does not blur the means, since all have the same priors: their true standard "
        "errors are rather smaller."
    )


def curve_notes(runs: Runs) -> list[str]:
    """How to read curves and table, and what is missing in them."""
    plan = runs.plan
    notes = [f"{_mean_words(plan)} The paper shows these as a picture only."]
    if plan.extra:
        names = ", ".join(method_title(each) for each in plan.extra)
        notes.append(f"{names} does not use the confidence: one result, the same at every {_AXES[plan.axis]}.")
    lines = {
        f"{dataset_title(dataset)}, {method_title(method)}": {
            variant_key(value): mean for value, mean in points_of(runs, dataset, method).items()
        }
        for dataset in runs.datasets()
        for method in _methods(plan)
    }
    return notes + partial_notes(lines)
