"""Results of the commands in the forms they are shown in: tables for a terminal, JSON, pages."""

import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import numpy as np

from unskew._support.text import Table
from unskew._version import __version__
from unskew.practice.compare import Comparison
from unskew.practice.evaluate import Evaluation
from unskew.practice.fit import Training, source_of
from unskew.practice.labeled_table import LabeledTable
from unskew.practice.model import Source, TableModel
from unskew.practice.report.comparison_page import comparison_page
from unskew.practice.report.model_page import ModelCard, model_page
from unskew.rankers import method_card

NOT_TOLD = "cannot be told"
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
    header = ["method", "AUC", "95 % interval", "difference from recommended", "prior", "seconds"]
    has_truth = result.compared[0].true_auc is not None
    rows = []
    for each in result.compared:
        name, difference = f"{each.name} (recommended)" if each.name == result.recommended else each.name, ""
        told = [NOT_TOLD] * 4
        if _is_told(each.auc):
            if each.difference_low is not None:
                difference = f"{each.difference_low:+.3f} to {each.difference_high:+.3f}"
            told = [f"{each.auc:.3f}", f"{each.low:.3f} to {each.high:.3f}", difference, f"{each.prior:.3f}"]
        rows.append([name, *told, f"{each.seconds:.1f}", *([f"{each.true_auc:.3f}"] if has_truth else [])])
    return Table([*header, *(["true AUC"] if has_truth else [])], rows)


def model_json(model: TableModel) -> dict[str, Any]:
    """Everything that a report of the model shows, as plain data."""
    return {
        "method": model.ranker.name,
        "parameters": {
            name: value if isinstance(value, bool | int | float | str) else str(value)
            for name, value in _parameters(model).items()
        },
        "source": _source_json(model.source),
        "features": len(model.schema.feature_names),
        "columns": [list(row) for row in model.schema.describe()],
        "left_out": [[each.name, each.reason] for each in model.schema.left_out],
        "evidence": None if model.evidence is None else model.evidence.to_json(),
        "versions": _versions_of(model),
    }


def about_comparison(table: LabeledTable, training: Training, n_folds: int, truth: str | None) -> dict[str, Any]:
    """What a comparison is about and how it was made, as plain data."""
    return {
        "source": _source_json(source_of(table)),
        "truth": truth,
        "features": table.X.shape[1],
        "folds": n_folds,
        "epochs": training.ranker(len(table.y)).max_epochs,
        "seed": training.seed,
        "versions": _versions(),
    }


def comparison_json(result: Comparison, about: Mapping[str, Any]) -> dict[str, Any]:
    """The comparison as plain data."""
    content = {**about, **asdict(result)}
    content["compared"] = [
        {name: None if isinstance(value, float) and np.isnan(value) else value for name, value in asdict(each).items()}
        for each in result.compared
    ]
    return content


def model_html(model: TableModel) -> str:
    """The page about a model."""
    card, source = method_card(model.ranker.name), model.source
    facts = [*_source_facts(vars(source)), ("features", str(len(model.schema.feature_names)))]
    return model_page(
        ModelCard(
            file=source.file,
            method=card.name,
            method_summary=card.summary,
            parameters={name: str(value) for name, value in _parameters(model).items()},
            data_facts=facts,
            schema=model.schema.describe(),
            left_out=[(each.name, each.reason) for each in model.schema.left_out],
            versions=_versions_of(model),
            made=source.made,
        ),
        model.evidence,
    )


def comparison_html(result: Comparison, about: Mapping[str, Any]) -> str:
    """The page about a comparison."""
    source = about["source"]
    facts = [
        *_source_facts(source),
        ("column of true classes", about["truth"] or "none"),
        ("features", str(about["features"])),
        ("parts for cross-validation", str(about["folds"])),
        ("epochs at most", str(about["epochs"])),
        ("seed", str(about["seed"])),
        *((f"version of {name}", each) for name, each in about["versions"].items()),
        ("made", source["made"]),
    ]
    return comparison_page(source["file"], facts, result.compared, result.recommended, result.reason, result.right)


def _estimate_table(estimate: Any) -> Table:
    """Estimates one under another; where no AUC can be told, nothing that it rests on can be."""
    level, worth = f"{100 * estimate.level:g} % interval", f"{estimate.effective_labeled:.0f} equal ones"
    shown = [NOT_TOLD] * 4
    if _is_told(estimate.auc):
        label_freq = f"{estimate.label_freq:.3f}" if _is_told(estimate.label_freq) else NOT_TOLD
        ends = f"{estimate.low:.3f} to {estimate.high:.3f}"
        auc = f"{estimate.auc:.3f}" + (", cut off there: go by the interval" if estimate.auc >= 1 else "")
        shown = [auc, ends, f"{estimate.prior:.3f}", label_freq]
    names = ("AUC", level, "share of positives", "share of these that is labeled")
    return Table(("what", "estimate"), [*zip(names, shown, strict=True), ("labels are worth", worth)])


def _is_told(value: float | None) -> bool:
    return value is not None and not np.isnan(value)


def _source_facts(source: Mapping[str, Any]) -> list[tuple[str, str]]:
    name, n_rows = source["validation_file"], source["n_validation_rows"]
    validation = [] if name is None else [("validation file", name), ("rows of the validation file", f"{n_rows:,}")]
    return [
        ("file", source["file"]),
        ("rows", f"{source['n_rows']:,}"),
        ("labeled rows", f"{source['n_labeled']:,}"),
        ("label column", source["label"]),
        ("confidence column", source["confidence"] or "none"),
        ("columns excluded on request", ", ".join(source["excluded"]) or "none"),
        *validation,
    ]


def _source_json(source: Source) -> dict[str, Any]:
    return {**vars(source), "excluded": list(source.excluded)}


def _parameters(model: TableModel) -> dict[str, Any]:
    """What the model was made with; no share is held out where a file was given, except to cross-validate."""
    held_out = model.source.validation_file is None or model.evidence is not None
    return {
        name: value
        for name, value in model.ranker.get_params(deep=False).items()
        if value is not None and (held_out or name != "validation_fraction")
    }


def _versions_of(model: TableModel) -> dict[str, str]:
    return dict(model.written_with) or _versions()


def _versions() -> dict[str, str]:
    others = {name: version(name) for name in ("torch", "numpy", "scikit-learn", "polars")}
    return {"unskew": __version__, "python": platform.python_version(), **others}
