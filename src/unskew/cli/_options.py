"""Arguments and options that several commands share."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from unskew._support.text import shown

Data = Annotated[Path, Argument(metavar="DATA", help="CSV or Parquet file, or a folder of Parquet files.")]
Model = Annotated[Path, Argument(metavar="MODEL", help="Model file written by `unskew fit`.")]
Label = Annotated[str, Option(help="Column that says which rows are known positives (1/0, yes/no, true/false).")]
Confidence = Annotated[
    str | None, Option(help="Column with the confidence of each known positive, from 0 to 1; ignored on other rows.")
]
Blank = Annotated[bool, Option("--blank-is-unlabeled", help="A blank label means unlabeled.")]
Exclude = Annotated[list[str] | None, Option(help="Column to ignore; may be repeated.")]
ReadAs = Annotated[
    list[str] | None,
    Option(
        metavar="COLUMN=KIND",
        help="Read a column as numeric, boolean, categorical or date, whatever it looks like; may be repeated.",
    ),
]
Epochs = Annotated[int | None, Option(help="Maximum number of passes over the data; by default chosen by its size.")]
Jobs = Annotated[
    int, Option(help="Processes that share the fits, -1 for one per core; the result does not depend on it.")
]
ScoredIds = Annotated[list[str] | None, Option("--id", help="Column to keep; may be repeated.")]
CheckedIds = Annotated[
    list[str] | None, Option("--id", help="Column that names a row to whoever checks it; may be repeated.")
]
Top = Annotated[int | None, Option(help="Write only this many rows, the best.")]
Reasons = Annotated[
    int, Option(help="Add this many columns that say what moved the score of each row most.", show_default=False)
]
KeepOrder = Annotated[bool, Option("--keep-order", help="Keep the order of DATA instead of the best first.")]
Raw = Annotated[
    bool, Option("--raw", help="Leave cells of a CSV file as they are, even those that look like formulas.")
]
Json = Annotated[Path | None, Option("--json", help="Also write the results to this JSON file.")]


def check_jobs(jobs: int) -> None:
    """Refuse a number of processes that means nothing."""
    if jobs < 1 and jobs != -1:
        raise ValueError(f"--jobs must be 1 or more, or -1 for one per core, but it is {jobs}.")


def kinds_of(read_as: Sequence[str]) -> dict[str, str]:
    """Kinds of columns as the options say, such as ``zip=categorical``; the column may have a = in its name."""
    for each in read_as:
        if "=" not in each:
            raise ValueError(f"--read-as must be COLUMN=KIND, such as zip=categorical, but it is {shown(each)}.")
    pairs = [each.rpartition("=") for each in read_as]
    return {column: kind for column, _, kind in pairs}
