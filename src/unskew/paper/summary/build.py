"""From rows of results to a summary."""

from collections.abc import Iterable

from unskew.paper.plans import Plan
from unskew.paper.store import Row
from unskew.paper.summary.auc_tables import auc_notes, auc_tables, results_of
from unskew.paper.summary.curves import curve_notes, curve_panels, curve_tables
from unskew.paper.summary.names import dataset_title
from unskew.paper.summary.records import CurvePanel, ResultTable, Summary, WeightPanel
from unskew.paper.summary.runs import Runs
from unskew.paper.summary.time_tables import time_notes, time_tables
from unskew.paper.summary.weight_tables import weight_notes, weight_panels, weight_tables

Parts = tuple[tuple[ResultTable, ...], tuple[CurvePanel, ...] | tuple[WeightPanel, ...], list[str]]


def summarize(plan: Plan, rows: Iterable[Row]) -> Summary:
    """Tables, panels of a picture and notes from the rows of a plan.

    Parameters
    ----------
    plan : Plan
        What was to be run. Rows of other settings are left aside; what has no row yet is marked or left out.
    rows : iterable of dict
    """
    runs = Runs(plan, rows)
    tables, panels, notes = _parts(runs)
    return Summary(plan, tables, panels, (*notes, *_absent(runs)), runs.count(), len(plan.settings()))


def _parts(runs: Runs) -> Parts:
    if not runs.datasets():
        return (), (), []
    match runs.plan.show:
        case "methods" | "spread" | "variants":
            results = results_of(runs)
            return auc_tables(runs.plan, results), (), auc_notes(runs.plan, results)
        case "times":
            return time_tables(runs), (), time_notes(runs)
        case "curve":
            return curve_tables(runs), curve_panels(runs), curve_notes(runs)
        case "weights":
            return weight_tables(runs), weight_panels(runs), weight_notes()
        case other:
            raise ValueError(
                f"show must be methods, spread, variants, times, curve or weights, and plan {runs.plan.name!r} has "
                f"{other!r}."
            )


def _absent(runs: Runs) -> list[str]:
    absent = [dataset_title(name) for name in runs.plan.datasets if name not in runs.datasets()]
    return [f"No runs yet: {', '.join(absent)}."] if absent else []
