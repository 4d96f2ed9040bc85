"""Commands that rank the rows of other tables: score; watch has a file of its own."""

from pathlib import Path
from typing import Annotated

from typer import Option

from unskew._support.files import require_writable
from unskew._support.text import plural
from unskew.cli._app import app, say, show_notes, write_json
from unskew.cli._costs import Capacity, CostMiss, CostReview, GainPositive, costs_of, show_cut
from unskew.cli._options import Data, Json, KeepOrder, Model, Raw, Reasons, ScoredIds, Top
from unskew.cli._workers import AtWorkers, refuse_with_workers, score_folder


@app.command(short_help="Score and rank the rows of a file.")
def score(
    model: Model,
    data: Data,
    out: Annotated[Path, Option(help="File to write, .csv or .parquet.")] = Path("scored.csv"),
    id_columns: ScoredIds = None,
    top: Top = None,
    reasons: Reasons = 0,
    keep_order: KeepOrder = False,
    skip_labeled: Annotated[
        bool, Option("--skip-labeled", help="Leave out rows that the label column marks already.")
    ] = False,
    raw: Raw = False,
    cost_review: CostReview = None,
    gain_positive: GainPositive = None,
    cost_miss: CostMiss = None,
    capacity: Capacity = None,
    workers: AtWorkers = None,
    as_json: Json = None,
) -> None:
    """Score and rank the rows of a file, the most likely positive (rank 1) first.

    The file may be larger than memory. Reasons are columns of the row with their values, the one that moved its score
    most first, compared with other rows of the file.

    With --cost-review the list ends where its review earns most, by the probabilities of its rows.

    In a CSV file, a ' is put before cells that a spreadsheet would run as formulas. Plain numbers stay as they are.

    With --workers, DATA is a folder whose files are scored by processes on this machine or on a Ray cluster, into files
    of the same names in the folder --out, in the same order. Ranks count over all files.

    Example: unskew score cases.unskew new.csv --id case_number --top 100 --reasons 3 --out ranked.csv

    Example: unskew score cases.unskew month/ --out ranked/ --workers ray:4
    """
    from unskew.practice.cut import points_of
    from unskew.practice.list_options import ListOptions
    from unskew.practice.model import TableModel
    from unskew.practice.score import score_file

    if workers is not None:
        refuse_with_workers(
            {"--top": top, "--reasons": reasons, "--skip-labeled": skip_labeled, "--cost-review": cost_review}
        )
        require_writable(as_json, model)
        write_json(as_json, score_folder(model, data, out, id_columns or (), raw, workers))
        return
    require_writable(out, model, data)
    require_writable(as_json, model, data, beside=out)
    costs = costs_of(cost_review, gain_positive, cost_miss, capacity)
    options = ListOptions(id_columns or (), top, reasons, keep_order, raw, skip_labeled, costs)
    loaded = TableModel.load(model, to_score=True)
    found = score_file(loaded, data, out, options)
    show_notes(found.notes)
    if found.cut is not None:
        show_cut(found.cut, points_of(loaded.evidence))
    best = f", the best {found.n_written:,} written" if found.n_written < found.n_rows else ""
    say(f"{plural(found.n_rows, 'row')} ranked{best}: {out}")
    write_json(as_json, found.to_json())
