"""Commands about rows that people check by hand: audit, suggest."""

from pathlib import Path
from typing import Annotated

from typer import Option

from unskew._support.files import require_writable
from unskew._support.text import plural
from unskew.cli._app import Seed, app, say, show, show_notes, write_json
from unskew.cli._options import CheckedIds, Data, Json, Model


@app.command(short_help="Draw rows to check by hand; once checked, say how good the model is.")
def audit(
    model: Model,
    data: Data,
    id_columns: CheckedIds = None,
    rows: Annotated[int, Option(help="How many rows to check by hand.")] = 100,
    out: Annotated[Path, Option(help="List to write, .csv or .parquet.")] = Path("audit.csv"),
    checked: Annotated[
        Path | None, Option(help="List that was filled in: 1 or 0 in the column `positive` of every row.")
    ] = None,
    seed: Seed = 0,
    as_json: Json = None,
) -> None:
    """Draw rows to check by hand; with --checked, estimate from them how good the model is on all rows of DATA.

    The intervals are valid whatever the model, the labels and the confidence are. Fill in the column `positive` of
    every row of the list.

    Example: unskew audit cases.unskew new.csv --id case_number --rows 100 --out audit.csv

    Then: unskew audit cases.unskew new.csv --checked audit.csv
    """
    from unskew.practice.audit import read_audit, write_audit
    from unskew.practice.model import TableModel
    from unskew.practice.terminal import audit_table

    if checked is None:
        if as_json is not None:
            raise ValueError("--json must come with --checked, because only a checked list has results. Leave it out.")
        require_writable(out, model, data)
        n_rows, notes = write_audit(TableModel.load(model), data, id_columns or (), rows, out, seed=seed)
        show_notes(notes)
        say(f"{plural(n_rows, 'row')} to check: {out}")
        say(f"Fill in the column `positive` with 1 or 0, then: unskew audit {model} {data} --checked {out}")
        return
    require_writable(as_json, model, data, checked)
    result = read_audit(TableModel.load(model), data, checked)
    show_notes(result.messages)
    found = result.estimate
    title = f"{data.name}: {plural(found.n_rows, 'row')}, {found.n_checked:,} checked, {found.n_positive:,} positive"
    show(audit_table(found), title)
    say(found.calibration)
    write_json(as_json, result.to_json())


@app.command(short_help="Say which rows to label next; once labeled, write the table to fit again.")
def suggest(
    model: Model,
    data: Data,
    id_columns: CheckedIds = None,
    rows: Annotated[int, Option(help="How many rows to label.")] = 50,
    out: Annotated[
        Path | None,
        Option(help="File to write, .csv or .parquet.  [default: to_label.csv, with --checked labeled.csv]"),
    ] = None,
    checked: Annotated[
        Path | None, Option(help="List that was filled in: DATA is written again with the new labels.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Say which rows of DATA to label next, so that ranking and estimates get better, and why each.

    Give each row that you check a confidence, from the same source as before, whether it is positive or not. A row that
    is not positive may also be left without one; it then stays unlabeled.

    Example: unskew suggest cases.unskew cases.csv --id case_number --rows 50 --out to_label.csv

    Then: unskew suggest cases.unskew cases.csv --checked to_label.csv --out labeled.csv
    """
    from unskew.practice.model import TableModel
    from unskew.practice.suggest import fill_in, write_suggestions

    if checked is None:
        out = Path("to_label.csv") if out is None else out
        require_writable(out, model, data)
        n_rows, notes = write_suggestions(TableModel.load(model), data, id_columns or (), rows, out, seed=seed)
        show_notes(notes)
        say(f"{plural(n_rows, 'row')} to label: {out}")
        say(
            "Fill in `positive` (1 or 0) and `confidence` (0 to 1, as the confidence of your labels), then: "
            f"unskew suggest {model} {data} --checked {out} --out labeled.csv"
        )
        return
    out = Path("labeled.csv") if out is None else out
    require_writable(out, model, data, checked)
    found = fill_in(TableModel.load(model), data, checked, out)
    show_notes(found.notes)
    say(f"{plural(found.n_labeled, 'new label')}, {found.n_positive:,} of them positive: {out}")
    say(f"Fit again: {found.again}")
