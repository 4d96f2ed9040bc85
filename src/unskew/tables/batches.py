"""Streaming a table through memory."""

from collections.abc import Iterator, Sequence

import polars as pl

from unskew._support.text import StrPath
from unskew.tables.reading import Table, frames_of, open_table


def read_batches(
    path: StrPath | Table, columns: Sequence[str] | None, *, rows: int = 65536, may_be_empty: bool = False
) -> Iterator[pl.DataFrame]:
    """Rows of a table in constant memory, with the same values and types that `read_table` gives.

    Parameters
    ----------
    path : path or table
        File, or what `open_table` gave for it, which saves looking through it again.
    columns : sequence of str or None
        Columns to read, in this order; None for all.
    rows : int
        Rows per batch; the last one may have fewer.
    may_be_empty : bool
        Whether a table without rows gives one batch without rows; else it is an error.

    Raises
    ------
    TableError
        As `read_table`, and if a column is not there.
    """
    table = path if isinstance(path, Table) else open_table(path)
    waiting: list[pl.DataFrame] = []
    held = 0
    for frame in frames_of(table, None if columns is None else list(columns), may_be_empty=may_be_empty):
        waiting.append(frame)
        held += frame.height
        if held < rows:
            continue
        together = pl.concat(waiting)
        whole = held - held % rows
        yield from together.head(whole).iter_slices(rows)
        waiting, held = [together.tail(held - whole)] if held > whole else [], held - whole
    if waiting:
        yield pl.concat(waiting)
