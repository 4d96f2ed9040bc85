"""A column that is read as somebody chose, whatever its values look like."""

from collections.abc import Mapping
from typing import get_args

import polars as pl

from unskew._support.text import StrPath, listed, shown, start
from unskew.errors import TableError, closest_name
from unskew.tables._measures import Found, measured
from unskew.tables._text_columns import MOST_CATEGORIES
from unskew.tables._values import Kind, clean, is_nested, read_column
from unskew.tables.schema import Column, LeftOut


class ChosenKind:
    """A column that is taken in a part at a time and read as one kind; a value that cannot be is an error."""

    def __init__(self, name: str, dtype: pl.DataType, kind: Kind, path: StrPath | None, first_row: int) -> None:
        self._parts = [pl.Series(name, [], dtype=dtype)]
        self._kind, self._path, self._first_row = kind, path, first_row

    @property
    def n_bytes(self) -> int:
        """Memory that it holds, about."""
        return sum(int(each.estimated_size()) for each in self._parts)

    def take_in(self, series: pl.Series) -> None:
        """Read the next rows."""
        self._parts.append(series)

    def needs_another_look(self) -> bool:
        """Never: all values have been kept."""
        return False

    def begin_again(self) -> None:
        """Forget all rows."""
        self._parts = self._parts[:1]

    def decide(self) -> Found:
        """The column as it was asked for."""
        series, self._parts = pl.concat(self._parts), self._parts[:1]
        name, kind = series.name, self._kind
        if is_nested(series.dtype):
            raise TableError(
                f"{start(self._path)}column {shown(name)} must hold single values to be read as {kind}, but they are "
                f"of type {series.dtype}. Leave the column out."
            )
        present = clean(series).drop_nulls()
        if not len(present):
            return LeftOut(name, "all values are missing")
        values = read_column(series, kind, path=self._path, first_row=self._first_row)
        return self._categories(values) if kind == "categorical" else measured(values, kind, present[0])

    def _categories(self, values: pl.Series) -> Found:
        categories = values.drop_nulls().unique().sort().to_list()
        if len(categories) > MOST_CATEGORIES:
            raise TableError(
                f"{start(self._path)}column {shown(values.name)} must have at most {MOST_CATEGORIES} different values "
                f"to be read as categories, but it has {len(categories):,}. Read it as something else, or leave it out."
            )
        if len(categories) == 1 and not values.null_count():
            return LeftOut(values.name, f"constant: every value is {shown(categories[0])}")
        values = values.cast(pl.Enum(categories))
        return Column(values.name, "categorical", len(values), values.null_count(), tuple(categories)), values


def check_kinds(kinds: Mapping[str, str], features: list[str], path: StrPath | None) -> None:
    """Refuse kinds that there are not, and those of columns that are not to be features."""
    known = list(get_args(Kind))
    for name, kind in kinds.items():
        if kind not in known:
            raise TableError(
                f"{start(path)}a column can be read as {', '.join(known)}, but {shown(kind)} was asked for column "
                f"{shown(name)}.{closest_name(kind, known)} Choose one of these."
            )
        if name not in features:
            raise TableError(
                f"{start(path)}only a column that the model learns from can be read as a chosen kind, but "
                f"{shown(name)} is none of them.{closest_name(name, features)} There are: {listed(features)}."
            )
