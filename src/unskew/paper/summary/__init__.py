"""Rows of results as the paper's tables and figures, beside the paper's own numbers."""

from collections.abc import Callable, Iterable

from unskew.paper.plans import Plan
from unskew.paper.store import Row
from unskew.paper.summary._beyond import beyond_parts
from unskew.paper.summary._figures import draw, pictures
from unskew.paper.summary._panels import curve_parts, weight_parts
from unskew.paper.summary._records import Parts, Summary, dataset_title
from unskew.paper.summary._results import Results, Runs, plan_on_datasets_of, published, results_of, with_all_rows
from unskew.paper.summary._tables import auc_parts, time_parts
from unskew.paper.summary._writing import Written, to_latex, to_markdown, write

__all__ = [
    "Results",
    "Runs",
    "Summary",
    "Written",
    "dataset_title",
    "draw",
    "plan_on_datasets_of",
    "pictures",
    "published",
    "results_of",
    "summarize",
    "to_latex",
    "to_markdown",
    "with_all_rows",
    "write",
]

_SHOWN: dict[str, Callable[[Runs], Parts]] = {
    "methods": auc_parts,
    "spread": auc_parts,
    "variants": auc_parts,
    "times": time_parts,
    "curve": curve_parts,
    "weights": weight_parts,
    "beyond": beyond_parts,
}


def summarize(plan: Plan, rows: Iterable[Row]) -> Summary:
    """Tables, panels of a picture and notes from the rows of a plan.

    Rows of other settings do not count; what has no row yet is marked or left out.
    """
    if plan.show not in _SHOWN:
        raise ValueError(f"show of plan {plan.name!r} must be one of {', '.join(_SHOWN)}, but it is {plan.show!r}.")
    runs = Runs(plan, rows)
    tables, panels, notes = _SHOWN[plan.show](runs) if runs.datasets() else Parts((), (), [])
    absent = [dataset_title(name) for name in plan.datasets if name not in runs.datasets()]
    notes += [f"No runs yet: {', '.join(absent)}."] if absent else []
    return Summary(plan, tables, panels, tuple(notes), runs.count(), len(plan.settings()))
