"""What the columns of a table seem to be: kinds, examples, and which might be label and confidence."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import polars as pl

from unskew._support.text import visible
from unskew.studio.choices import CONFIDENCE, LABEL, NAME, ColumnSeen
from unskew.tables import Kind, infer_schema, open_table, read_column, read_table

N_EXAMPLES, LONGEST_EXAMPLE = 3, 40


def look_at(path: Path, kinds: Mapping[str, str]) -> tuple[int, tuple[ColumnSeen, ...], list[str]]:
    """Rows of a table, its columns in the order of the file, and what a user should know of how it was read.

    The columns in `kinds` are read as these, which is an error if their values are something else.
    """
    table = open_table(path)
    frame = read_table(table)
    schema = infer_schema(frame, cast(Mapping[str, Kind], kinds), path=path)
    seen = {
        column: ColumnSeen(column, kind, note, _examples(frame[column])) for column, kind, note in schema.describe()
    }
    return frame.height, tuple(seen[column] for column in frame.columns), list(table.notes)


def guess_uses(path: Path, columns: tuple[ColumnSeen, ...]) -> dict[str, list[str]]:
    """Columns that are probably label, confidence and name of the row, as ``{use: names}``.

    A confidence is a number from 0 to 1 that is there exactly where the label says yes. Where no pair of columns is
    like that, nobody can know which one is the label.
    """
    found: dict[str, list[str]] = {NAME: [each.name for each in columns if _looks_like_a_name(each)][:1]}
    kinds = {each.name: cast(Kind, each.kind) for each in columns if each.kind in ("boolean", "numeric")}
    frame = read_table(path, list(kinds))
    values = {name: read_column(frame[name], kind) for name, kind in kinds.items()}
    yes = {name: each == 1 for name, each in values.items() if each.drop_nulls().is_in([0.0, 1.0]).all()}
    for name, each in values.items():
        there = each.is_not_null()
        if name in yes or there.all() or not each.drop_nulls().is_between(0, 1).all():
            continue
        fits = [other for other, said in yes.items() if (said.fill_null(False) == there).all()]
        if fits:
            return found | {LABEL: fits[:1], CONFIDENCE: [name]}
    return found


def _looks_like_a_name(column: ColumnSeen) -> bool:
    return column.kind == "left out" and column.note.startswith("looks like an identifier")


def _examples(values: pl.Series) -> tuple[str, ...]:
    """Some different values, as they are in the file."""
    first = as_text(values.drop_nulls().head(1000)).drop_nulls().unique(maintain_order=True).head(N_EXAMPLES)
    return tuple(visible(each if len(each) <= LONGEST_EXAMPLE else each[: LONGEST_EXAMPLE - 1] + "…") for each in first)


def as_text(values: pl.Series) -> pl.Series:
    """Values of any type as they are shown; nothing where a value is no single one."""
    if isinstance(values.dtype, pl.List | pl.Array | pl.Struct | pl.Binary | pl.Object):
        return pl.Series(values.name, [None] * len(values), dtype=pl.String)
    return values.dt.to_string() if isinstance(values.dtype, pl.Duration) else values.cast(pl.String)
