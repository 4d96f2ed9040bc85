"""Commands that say how good a model is: evaluate, report."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from unskew._support.files import require_writable, write_atomically
from unskew._support.text import plural
from unskew.cli._app import app, say, show, show_notes, write_json
from unskew.cli._costs import Capacity, CostMiss, CostReview, GainPositive, costs_of, show_cut
from unskew.cli._options import Blank, Confidence, Data, Json, Label, Model


@app.command(short_help="Estimate the AUC on other rows, without negatives.")
def evaluate(
    model: Model,
    data: Data,
    label: Label,
    confidence: Confidence = None,
    truth: Annotated[str | None, Option(help="Column with the true classes, if known.")] = None,
    blank_is_unlabeled: Blank = False,
    cost_review: CostReview = None,
    gain_positive: GainPositive = None,
    cost_miss: CostMiss = None,
    capacity: Capacity = None,
    as_json: Json = None,
) -> None:
    """Estimate the AUC on other rows, without negatives; with --truth, also compute the true AUC.

    Example: unskew evaluate cases.unskew later.csv --label known --confidence severity
    """
    from unskew.metrics.reliability import NOT_SEEN_FROM_INSIDE
    from unskew.practice.evaluate import evaluate_file
    from unskew.practice.model import TableModel
    from unskew.practice.terminal import TOP_TITLE, evaluation_table, top_table

    require_writable(as_json, model, data)
    costs = costs_of(cost_review, gain_positive, cost_miss, capacity)
    loaded = TableModel.load(model)
    result = evaluate_file(loaded, data, label, confidence, truth, blank_is_unlabeled=blank_is_unlabeled, costs=costs)
    show_notes(result.messages)
    show(evaluation_table(result), f"{data.name}: {plural(result.n_rows, 'row')}, {result.n_labeled:,} labeled")
    if result.estimate is not None:
        show(top_table(result.top, with_points=result.estimate.shows_points), TOP_TITLE)
        say(NOT_SEEN_FROM_INSIDE)
        if result.cut is not None:
            show_cut(result.cut, result.estimate.shows_points)
    write_json(as_json, result.to_json())


@app.command(short_help="Write one page about a model.")
def report(
    model: Model,
    data: Annotated[
        Path | None, Argument(metavar="DATA", help="CSV or Parquet file whose first rows the page shows.")
    ] = None,
    id_columns: Annotated[
        list[str] | None, Option("--id", help="Column that names a row of DATA to people; may be repeated.")
    ] = None,
    rows: Annotated[int, Option(help="How many rows of DATA to show.")] = 20,
    out: Annotated[Path, Option(help="Page to write.")] = Path("report.html"),
    cost_review: CostReview = None,
    gain_positive: GainPositive = None,
    cost_miss: CostMiss = None,
    capacity: Capacity = None,
    as_json: Json = None,
) -> None:
    """Write one page about a model: what was found, how many rows to review, how sure that is, what to do next.

    With DATA, the page lists its rows to look at first, without those that are labeled already, and the reasons.

    Example: unskew report cases.unskew cases.csv --id case_number --out cases.html
    """
    from unskew.practice.cut import cut_of_model, points_of
    from unskew.practice.model import TableModel
    from unskew.practice.results import model_html, model_json

    require_writable(out, model, data)
    require_writable(as_json, model, data, beside=out)
    costs = costs_of(cost_review, gain_positive, cost_miss, capacity)
    loaded = TableModel.load(model)
    cut = None if costs is None else cut_of_model(loaded, costs)
    first = None
    if data is not None:
        from unskew.practice.first_rows import first_rows

        first = first_rows(loaded, data, id_columns or (), rows)
        show_notes(first.notes)
    elif id_columns:
        raise ValueError("--id must come with DATA, whose rows it names. Name the file after the model.")
    write_atomically(out, model_html(loaded, first, cut).encode())
    write_json(as_json, model_json(loaded, cut))
    if cut is not None:
        show_cut(cut, points_of(loaded.evidence))
    say(f"Page: {out}")
