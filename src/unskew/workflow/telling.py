"""Results of the commands in the forms they are shown in: tables for a terminal, JSON, pages."""

import platform
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import numpy as np

from unskew._version import __version__
from unskew.rankers import method_card
from unskew.report.comparison_page import comparison_page
from unskew.report.model_page import ModelCard, model_page
from unskew.report.page import Table
from unskew.workflow.comparing import Comparison
from unskew.workflow.data import LabeledTable
from unskew.workflow.evaluating import Evaluation
from unskew.workflow.model import TableModel

NOT_KNOWN = "not known: not asked for, or there is no confidence, or too few rows are labeled"
MOST_COLUMNS = 40
"""Columns shown before training; a table may have thousands."""


def data_table(table: LabeledTable) -> Table:
    """What each column is taken for."""
    rows = table.schema.describe()
    more = len(rows) - MOST_COLUMNS
    if more > 0:
        rows = [*rows[:MOST_COLUMNS], (f"and {more} more", "", "all of them are in the report")]
    return Table(("column", "kind", "note"), rows)


def estimates_table(model: TableModel) -> Table:
    """What is known of a model without one negative label."""
    if model.evidence is None:
        return Table(("what", "estimate"), [("AUC", NOT_KNOWN)])
    return _estimate_table(model.evidence.estimate)


def evaluation_table(result: Evaluation) -> Table:
    """AUC of a model on a file."""
    rows = [] if result.estimate is None else list(_estimate_table(result.estimate).rows)
    if result.true_auc is not None:
        rows.append(("true AUC", f"{result.true_auc:.3f}"))
    if result.covered is not None:
        rows.append(("true AUC in the interval", "yes" if result.covered else "no"))
    return Table(("what", "value"), rows)


def comparison_table(result: Comparison) -> Table:
    """Methods, the best first."""
    header = ["method", "AUC", "95 % interval", "difference from the first", "prior", "seconds"]
    has_truth = result.compared[0].true_auc is not None
    rows = []
    for each in result.compared:
        difference = "" if each.difference_low is None else f"{each.difference_low:+.3f} to {each.difference_high:+.3f}"
        row = [each.name, f"{each.auc:.3f}", f"{each.low:.3f} to {each.high:.3f}", difference, f"{each.prior:.3f}"]
        rows.append([*row, f"{each.seconds:.1f}", *([f"{each.true_auc:.3f}"] if has_truth else [])])
    return Table([*header, *(["true AUC"] if has_truth else [])], rows)


def model_json(model: TableModel) -> dict[str, Any]:
    """Everything that a report of the model shows, as plain data."""
    return {
        "method": model.ranker.name,
        "source": {**vars(model.source), "excluded": list(model.source.excluded)},
        "columns": [list(row) for row in model.schema.describe()],
        "left_out": [[each.name, each.reason] for each in model.schema.left_out],
        "evidence": None if model.evidence is None else model.evidence.to_json(),
    }


def comparison_json(result: Comparison) -> dict[str, Any]:
    """The comparison as plain data."""
    content = asdict(result)
    content["compared"] = [
        {name: None if isinstance(value, float) and np.isnan(value) else value for name, value in asdict(each).items()}
        for each in result.compared
    ]
    return content


def model_html(model: TableModel) -> str:
    """The page about a model."""
    card, source = method_card(model.ranker.name), model.source
    facts = [
        ("file", source.file),
        ("rows", f"{source.n_rows:,}"),
        ("labeled rows", f"{source.n_labeled:,}"),
        ("label column", source.label),
        ("confidence column", source.confidence or "none"),
        ("columns excluded on request", ", ".join(source.excluded) or "none"),
        ("features", str(len(model.encoder.feature_names))),
    ]
    parameters = {name: value for name, value in model.ranker.get_params(deep=False).items() if value is not None}
    return model_page(
        ModelCard(
            title=f"Ranking of {source.file}",
            method=card.name,
            method_summary=card.summary,
            parameters={name: str(value) for name, value in parameters.items()},
            data_facts=facts,
            schema=model.schema.describe(),
            left_out=[(each.name, each.reason) for each in model.schema.left_out],
            versions=dict(model.written_with) or _versions(),
            made=source.made,
        ),
        model.evidence,
    )


def comparison_html(table: LabeledTable, result: Comparison) -> str:
    """The page about a comparison."""
    facts = [
        ("file", table.path.name),
        ("rows", f"{len(table.y):,}"),
        ("labeled rows", f"{int(table.y.sum()):,}"),
        ("features", str(table.X.shape[1])),
    ]
    recommendation = result.recommended, result.reason
    return comparison_page(f"Methods for {table.path.name}", facts, list(result.compared), recommendation, result.right)


def _estimate_table(estimate: Any) -> Table:
    def shown(value: float | None, form: str = ".3f") -> str:
        return "cannot be told" if value is None or np.isnan(value) else f"{value:{form}}"

    rows = [
        ("AUC", shown(estimate.auc)),
        (f"{estimate.level:.0%} interval", f"{shown(estimate.low)} to {shown(estimate.high)}"),
        ("share of positives", shown(estimate.prior)),
        ("share of these that is labeled", shown(estimate.label_freq)),
        ("labels are worth", f"{shown(estimate.effective_labeled, '.0f')} equal ones"),
    ]
    return Table(("what", "estimate"), rows)


def _versions() -> dict[str, str]:
    others = {name: version(name) for name in ("torch", "numpy", "scikit-learn", "polars")}
    return {"unskew": __version__, "python": platform.python_version(), **others}
