"""Results of the commands as JSON and as pages."""

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from unskew._version import __version__
from unskew.learning.pace import AUTO
from unskew.metrics.cuts import BestCut
from unskew.practice.compare import Comparison
from unskew.practice.cut import cut_for_page, cut_json, points_of
from unskew.practice.fit import TrainingOptions, source_of, why_no_estimate
from unskew.practice.labeled_table import LabeledTable
from unskew.practice.model import Source, TableModel
from unskew.practice.report.comparison_page import comparison_page
from unskew.practice.report.model_page import ModelCard, model_page
from unskew.rankers import method_card

if TYPE_CHECKING:
    from unskew.practice.first_rows import FirstRows


def model_json(model: TableModel, cut: BestCut | None = None) -> dict[str, Any]:
    """Everything that a report of the model shows, as plain data; with how many rows to review, if that was asked."""
    asked = {} if cut is None else {"cut": cut_json(cut)}
    return asked | {
        "method": model.ranker.name,
        "parameters": {
            name: value if isinstance(value, bool | int | float | str) else str(value)
            for name, value in _model_parameters(model).items()
        },
        "parts": [each._asdict() for each in getattr(model.ranker, "parts_", ())],
        "source": vars(model.source),
        "features": len(model.schema.feature_names),
        "columns": model.schema.describe(),
        "left_out": [(each.name, each.reason) for each in model.schema.left_out],
        "evidence": None if model.evidence is None else model.evidence.to_json(),
        "versions": dict(model.written_with) or _library_versions(),
    }


def about_comparison(table: LabeledTable, training: TrainingOptions, n_folds: int, truth: str | None) -> dict[str, Any]:
    """What a comparison is about and how it was made, as plain data."""
    return {
        "source": vars(source_of(table)),
        "truth": truth,
        "features": len(table.schema.feature_names),
        "folds": n_folds,
        "epochs": AUTO if training.epochs is None else training.epochs,
        "seed": training.seed,
        "versions": _library_versions(),
    }


def model_html(model: TableModel, first: "FirstRows | None" = None, cut: BestCut | None = None) -> str:
    """The page about a model, with the rows of a file to look at first, and the cut that costs and gains decide."""
    card, source = method_card(model.ranker.name), model.source
    facts = [*_source_facts(vars(source)), ("features", str(len(model.schema.feature_names)))]
    return model_page(
        ModelCard(
            file=source.file,
            method=card.name,
            label=source.label,
            model="MODEL" if model.path is None else model.path.name,
            method_summary=card.summary,
            parameters={name: str(value) for name, value in _model_parameters(model).items()},
            parts=model.parts,
            data_facts=facts,
            schema=model.schema.describe(),
            left_out=[(each.name, each.reason) for each in model.schema.left_out],
            versions=model.written_with or _library_versions(),
            made=source.made,
            why_no_estimate="" if model.evidence else why_no_estimate(source),
        ),
        model.evidence,
        first,
        None if cut is None else cut_for_page(cut, with_points=points_of(model.evidence)),
    )


def comparison_html(result: Comparison, about: Mapping[str, Any]) -> str:
    """The page about a comparison."""
    source = about["source"]
    facts = [
        *_source_facts(source),
        ("column of true classes", about["truth"] or "none"),
        ("features", str(about["features"])),
        ("parts for cross-validation", str(about["folds"])),
        ("epochs at most", "by size" if about["epochs"] == AUTO else str(about["epochs"])),
        ("seed", str(about["seed"])),
        *((f"version of {name}", each) for name, each in about["versions"].items()),
        ("made", source["made"]),
    ]
    counts = source["n_rows"], source["n_labeled"]
    command = Source(**source).fit_command(source["file"], result.recommended)
    return comparison_page(source["file"], facts, result, counts, command)


def _source_facts(source: Mapping[str, Any]) -> list[tuple[str, str]]:
    facts = [
        ("file", source["file"]),
        ("rows", f"{source['n_rows']:,}"),
        ("labeled rows", f"{source['n_labeled']:,}"),
        ("label column", source["label"]),
        ("confidence column", source["confidence"] or "none"),
        ("columns excluded on request", ", ".join(source["excluded"]) or "none"),
    ]
    if source["validation_file"] is not None:
        facts.append(("validation file", source["validation_file"]))
        facts.append(("rows of the validation file", f"{source['n_validation_rows']:,}"))
    return facts


def _model_parameters(model: TableModel) -> dict[str, Any]:
    """What the model was made with; no share is held out where a file was given, except to cross-validate."""
    held_out = model.source.validation_file is None or model.evidence is not None
    return {
        name: value
        for name, value in model.ranker.get_params(deep=False).items()
        if value is not None and (held_out or name != "validation_fraction")
    }


def _library_versions() -> dict[str, str]:
    others = {name: version(name) for name in ("torch", "numpy", "scikit-learn", "polars")}
    return {"unskew": __version__, "python": platform.python_version(), **others}
