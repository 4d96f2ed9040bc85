"""Reading a column by its kind, and holding a new file to the schema of the old one."""

from collections.abc import Iterable

import numpy as np
import polars as pl

from unskew._support.text import StrPath, listed, no_column, offending, shown, start
from unskew.errors import TableError
from unskew.tables.schema import Schema
from unskew.tables.values import Kind, clean, read_as

MUST_BE = {
    "numeric": "a number",
    "boolean": "true or false (or yes/no, y/n, t/f, 1/0)",
    "categorical": "a single value",
    "date": "a date such as 2024-01-31",
}


def read_column(
    series: pl.Series, kind: Kind, *, path: StrPath | None = None, first_row: int = 1
) -> tuple[pl.Series, np.ndarray]:
    """Values of a column read by its kind, and the mask of those that are there.

    Raises
    ------
    TableError
        If a value is there and cannot be read so, or is infinite.
    """
    cleaned = clean(series)
    values, present = read_as(kind, cleaned), cleaned.is_not_null().to_numpy()
    unread = present & values.is_null().to_numpy()
    if unread.any():
        found = offending(unread, series, first_row, "holds something else", "hold something else")
        raise TableError(
            f"{start(path)}column {shown(series.name)} is {kind}: every value must be {MUST_BE[kind]} or missing, but "
            f"{found}. Mend these values, or leave the column out of training (--exclude)."
        )
    if kind == "numeric":
        _require_finite(series, values, path, first_row)
    return values, present


def _require_finite(series: pl.Series, values: pl.Series, path: StrPath | None, first_row: int) -> None:
    infinite = values.is_infinite().fill_null(False).to_numpy()
    if infinite.any():
        found = offending(infinite, series, first_row, "holds an infinite one", "hold infinite ones")
        raise TableError(
            f"{start(path)}column {shown(series.name)} must hold finite numbers, but {found}. Replace them by a "
            "number, or leave them blank for missing."
        )


def check_columns(schema: Schema, names: Iterable[str], path: StrPath | None, ignore: Iterable[str] = ()) -> list[str]:
    """Hold the header of a file to the schema; tell of columns that training did not see.

    Parameters
    ----------
    ignore : iterable of str
        Columns with a use of their own (identifiers, labels), of which nothing is told.

    Raises
    ------
    TableError
        If a column that became features is not there.
    """
    names = list(names)
    for name in schema.names:
        if name not in names:
            raise TableError(f"{no_column(path, name, names)} The model was trained with it.")
    known = {*schema.names, *(each.name for each in schema.left_out), *ignore}
    extra = [name for name in names if name not in known]
    if not extra:
        return []
    what = "is a column" if len(extra) == 1 else f"are {len(extra):,} columns"
    return [f"{start(path)}there {what} that the model does not use: {listed(extra)}."]


def check_frame(
    schema: Schema, frame: pl.DataFrame, path: StrPath | None, *, first_row: int = 1, ignore: Iterable[str] = ()
) -> list[str]:
    """Hold a new table to the schema of the training data; see `check_columns`, and every value is read.

    Values of categorical columns that training did not see are no error; `Encoder.unseen` tells of them.

    Raises
    ------
    TableError
        If a column is missing, or a value cannot be read as the schema says.
    """
    messages = check_columns(schema, frame.columns, path, ignore)
    for column in schema.columns:
        read_column(frame[column.name], column.kind, path=path, first_row=first_row)
    return messages
