"""The command that scores files as they arrive."""

import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from unskew._support.text import percent, plural
from unskew.cli._app import app, say, warn
from unskew.cli._options import KeepOrder, Model, Raw, Reasons, ScoredIds, Top


@app.command(short_help="Score every file that arrives in a folder, each once.")
def watch(
    model: Model,
    folder: Annotated[Path, Argument(metavar="FOLDER", help="Folder in which CSV or Parquet files arrive.")],
    out: Annotated[Path | None, Option(help="Folder for the lists and the log; by default FOLDER/scored.")] = None,
    once: Annotated[bool, Option("--once", help="Score what is there and stop, as for cron.")] = False,
    every: Annotated[float, Option(help="Seconds between two looks at the folder.")] = 10.0,
    id_columns: ScoredIds = None,
    top: Top = None,
    reasons: Reasons = 0,
    keep_order: KeepOrder = False,
    raw: Raw = False,
) -> None:
    """Score every file that arrives in a folder, each once, until it is stopped (Ctrl-C).

    Each list has the name of its file. The log, watch.jsonl beside the lists, has one line for each file: rows, share
    flagged, mean probability, and how far the rows are from those of training. Interrupt it at any time: the next run
    goes on where it was. A file is complete when it has not changed for two seconds; names that begin with . _ or ~ are
    left alone. A file that cannot be read is named in the log, and tried again once it changes; so is a scored one.

    Example: unskew watch cases.unskew incoming --id case_number --top 100
    """
    from unskew.practice.list_options import ListOptions
    from unskew.practice.model import TableModel
    from unskew.practice.watch import WatchOptions, check_folders, watch_folder

    out = folder / "scored" if out is None else out
    how = WatchOptions(every=every, once=once)
    how.check()
    check_folders(folder, out)
    options = ListOptions(ids=id_columns or (), top=top, reasons=reasons, keep_order=keep_order, raw=raw)
    loaded = TableModel.load(model, to_score=True)
    failed = 0
    # Being stopped is how this command ends, unless it would have ended by itself.
    with suppress(*(() if once else (KeyboardInterrupt, SystemExit))):
        if sys.stdout.isatty():
            say(f"Watching {folder}; lists and log in {out}. Stop with Ctrl-C.")
        for record in watch_folder(loaded, folder, out, options, how):
            failed += "error" in record
            if sys.stdout.isatty():
                _tell(record)
    if once and failed:
        warn(f"error: {plural(failed, 'file')} could not be scored; {out / 'watch.jsonl'} says why.")
        raise typer.Exit(1)


def _tell(record: Mapping[str, Any]) -> None:
    """One line for one file, and one for each note."""
    if "error" in record:
        warn(f"error: {record['error']}")
        return
    flagged = "" if record["flagged"] is None else f", {percent(record['flagged'])} flagged"
    say(f"{record['file']}: {plural(record['rows'], 'row')} ranked{flagged}")
    for note in record["notes"]:
        warn(f"note: {record['file']}: {note}")
