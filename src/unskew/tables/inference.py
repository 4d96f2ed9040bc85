"""Deciding what the columns of a table are, from all of their values."""

import re
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import polars as pl

from unskew._support.text import StrPath, rows_of, shown, start
from unskew.errors import TableError
from unskew.tables._measures import Found, measured
from unskew.tables._text_columns import MOST_CATEGORIES, Decided, TextColumn, Unread, are_whole
from unskew.tables._values import Kind, clean, is_nested, is_text, read_as, refuse_infinite, require_finite
from unskew.tables.chosen_kinds import ChosenKind
from unskew.tables.schema import Column, LeftOut, Schema

FEW_CATEGORIES = 10
"""As few values as this are categories even in a table with hardly more rows."""
NEARLY_ALL = 0.95
FEW_OTHERS = 0.1
"""Up to this share of other values, text was probably meant to be numbers or dates."""
SORTED_BY_CHANCE = 20
"""Fewer whole numbers than this may be in order without being a counter."""
LEAST_COUNTER = 5
ID_WORDS = {"id", "ids", "uuid", "guid", "identifier", "pk", "rowid"}
LAST_ID_WORDS = {"key", "no", "nr", "number"}
"""Words that name an identifier at the end of a name only: an order number, but not a number of orders."""
COUNTER_NAMES = {"index", "idx", "row"}


def infer_features(
    frame: pl.DataFrame, *, path: StrPath | None = None, first_row: int = 1
) -> tuple[Schema, np.ndarray]:
    """Decide what every column is, and give the features of all rows with it: each column is parsed once.

    A column is numeric, boolean or a date only if every value that is not missing can be read so. Left out are columns
    that are constant, all missing, identifiers, text with too many different values, or nested. Infinite values are an
    error, and so is a table of which no column is left. The features are what `schema.transform(frame)` would give.
    Errors name `path` and count rows from `first_row`.
    """
    found = [_decided(series, path, first_row) for series in frame]
    kept = [each for each in found if not isinstance(each, LeftOut)]
    schema = schema_of([each if isinstance(each, LeftOut) else each[0] for each in found], path)
    return schema, schema.encode((values for _, values in kept), frame.height)


def infer_schema(frame: pl.DataFrame, kinds: Mapping[str, Kind], *, path: StrPath | None = None) -> Schema:
    """Decide what every column is, except those whose kind was chosen; see `infer_features`."""
    found = (_decided(series, path, kind=kinds.get(series.name)) for series in frame)
    return schema_of([each if isinstance(each, LeftOut) else each[0] for each in found], path)


def _decided(series: pl.Series, path: StrPath | None, first_row: int = 1, kind: Kind | None = None) -> Found:
    column = column_of(series.name, series.dtype, path, first_row, kind)
    column.take_in(series)
    return column.decide()


def schema_of(found: Sequence[Column | LeftOut], path: StrPath | None) -> Schema:
    """What became of all columns of a table, some of which must be left."""
    left_out = tuple(each for each in found if isinstance(each, LeftOut))
    kept = tuple(each for each in found if isinstance(each, Column))
    if not kept:
        reasons = "; ".join(f"{shown(each.name)}: {each.reason}" for each in left_out[:5]) or "there are no others"
        raise TableError(
            f"{start(path)}at least one column must be usable as a feature, but none is left ({reasons}). Add columns "
            "that differ between rows, or exclude fewer."
        )
    return Schema(kept, left_out)


class TextFound:
    """A column of text that is taken in a part at a time, and what it is."""

    def __init__(self, name: str, path: StrPath | None, first_row: int) -> None:
        self.text, self._path, self._first_row = TextColumn(name), path, first_row

    @property
    def n_bytes(self) -> int:
        """Memory that it holds, about."""
        return self.text.n_bytes

    def take_in(self, series: pl.Series) -> None:
        """Read the next rows."""
        self.text.take_in(series)

    def needs_another_look(self) -> bool:
        """Whether the column must be read once more before `decide`, after `begin_again`."""
        return self.text.needs_another_look()

    def begin_again(self) -> None:
        """Forget all rows, and keep more of them the next time."""
        self.text = self.text.anew()

    def decide(self) -> Found:
        """What the column is."""
        text = self.text
        if not text.n_present:
            return LeftOut(text.name, "all values are missing")
        if text.needs_another_look():
            raise AssertionError("free text that was taken for numbers at first is to be read once more")
        found = text.decide()
        if found.kind == "categorical":
            return _infer_categories(text, found, _hint_about_text(text.n_present, found, self._first_row))
        if found.kind == "numeric" and text.infinite.total:
            count, place, value = text.infinite
            in_words = rows_of(count, text.n_rows, "holds an infinite one", "hold infinite ones")
            refuse_infinite(
                text.name, f"{in_words} (first: {shown(value)} at row {self._first_row + place:,})", self._path
            )
        assert found.values is not None
        values = found.values.alias(text.name)
        all_different = found.different == text.n_present
        if found.kind == "numeric" and found.whole and _is_counter(text.name, values, all_different):
            return _a_counter(text.name)
        return measured(values, cast(Kind, found.kind), text.first)


class NativeFound:
    """A column of any other type that is taken in a part at a time, and what it is."""

    def __init__(self, name: str, dtype: pl.DataType, path: StrPath | None, first_row: int) -> None:
        self._parts = [pl.Series(name, [], dtype=dtype)]
        self._path, self._first_row = path, first_row
        self._is_used = not is_nested(dtype) and _native_kind(dtype) is not None

    @property
    def n_bytes(self) -> int:
        """Memory that it holds, about."""
        return sum(int(each.estimated_size()) for each in self._parts)

    def take_in(self, series: pl.Series) -> None:
        """Read the next rows."""
        if self._is_used:
            self._parts.append(series)

    def needs_another_look(self) -> bool:
        """Never: all values have been kept."""
        return False

    def begin_again(self) -> None:
        """Forget all rows."""
        self._parts = self._parts[:1]

    def decide(self) -> Found:
        """What the column is."""
        parts, self._parts = self._parts, self._parts[:1]
        name, dtype = parts[0].name, parts[0].dtype
        if is_nested(dtype):
            return LeftOut(name, f"nested or binary values ({dtype}), which are no single feature")
        kind = _native_kind(dtype)
        if kind is None:
            # All values of a column of type null are missing.
            missing = isinstance(dtype, pl.Null)
            reason = "all values are missing" if missing else f"values of type {dtype}, which cannot be features"
            return LeftOut(name, reason)
        series = pl.concat(parts) if len(parts) != 2 else parts[1].alias(name)
        del parts
        cleaned = clean(series)
        if cleaned.null_count() == len(cleaned):
            return LeftOut(name, "all values are missing")
        values = read_as(kind, cleaned)
        if kind == "numeric":
            require_finite(series, values, self._path, self._first_row)
            whole = cleaned.drop_nulls()
            if len(whole) >= LEAST_COUNTER and _is_whole_type(whole, values):
                all_different = whole.n_unique() == len(whole)
                if _is_counter(name, values, all_different):
                    return _a_counter(name)
        return measured(values, kind, series[0])


ColumnFound = TextFound | NativeFound | ChosenKind


def column_of(
    name: str, dtype: pl.DataType, path: StrPath | None = None, first_row: int = 1, kind: Kind | None = None
) -> ColumnFound:
    """A column of this type, of which nothing has been read yet; its values decide the kind, unless it was chosen."""
    if kind is not None:
        return ChosenKind(name, dtype, kind, path, first_row)
    return TextFound(name, path, first_row) if is_text(dtype) else NativeFound(name, dtype, path, first_row)


def _a_counter(name: str) -> LeftOut:
    return LeftOut(name, "looks like an identifier: whole numbers, all different, in order or named as one")


def _native_kind(dtype: pl.DataType) -> Kind | None:
    """Kind of a column that is not text."""
    if isinstance(dtype, pl.Boolean):
        return "boolean"
    if isinstance(dtype, pl.Date | pl.Datetime):
        return "date"
    return "numeric" if dtype.is_numeric() or isinstance(dtype, pl.Duration | pl.Time) else None


def _is_counter(name: str, values: pl.Series, all_different: bool) -> bool:
    """Whether whole numbers are a running number or a code of the row: all different, and in order or named so."""
    n_present = len(values) - values.null_count()
    if n_present < LEAST_COUNTER or not all_different:
        return False
    if _named_as_identifier(name):
        return True
    steps = np.diff(values.drop_nulls().to_numpy())
    one_by_one = bool((steps == 1).all() or (steps == -1).all())
    return one_by_one or (n_present >= SORTED_BY_CHANCE and bool((steps > 0).all() or (steps < 0).all()))


def _is_whole_type(cleaned: pl.Series, values: pl.Series) -> bool:
    """Whether numbers that are no text have no fraction, be they stored as integers or as floats (1000434.0)."""
    if cleaned.dtype.is_integer():
        return True
    # Seconds of a time or a duration do not number rows.
    return bool(cleaned.dtype.is_numeric()) and are_whole(values.drop_nulls())


def _named_as_identifier(name: str) -> bool:
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).lower()
    parts = [part for part in re.split(r"[^a-z0-9]+", words) if part]
    if not parts:
        return False
    return bool({parts[0], parts[-1]} & ID_WORDS) or parts[-1] in LAST_ID_WORDS or words in COUNTER_NAMES


def _infer_categories(text: TextColumn, found: Decided, hint: str) -> Found:
    different, there = found.different, text.n_present
    if different == 1 and there == text.n_rows:
        assert found.values is not None
        return LeftOut(text.name, f"constant: every value is {shown(found.values[0])}")
    after = f"; {hint}" if hint else ""
    few = different <= FEW_CATEGORIES and (different < there or there == 1)
    if not few and different >= NEARLY_ALL * there:
        return LeftOut(
            text.name, f"looks like an identifier or free text: {different:,} different values in {there:,}{after}"
        )
    if not few and (different > MOST_CATEGORIES or different > there / 2):
        return LeftOut(
            text.name,
            f"text with too many different values: {different:,} in {there:,} rows, at most {MOST_CATEGORIES} and half "
            f"the rows can be categories{after}",
        )
    assert found.values is not None
    categories = tuple(cast(pl.Enum, found.values.dtype).categories.to_list())
    column = Column(text.name, "categorical", text.n_rows, text.n_rows - there, categories, hint=hint)
    return column, found.values


def _hint_about_text(n_present: int, found: Decided, first_row: int) -> str:
    """Why a column may have become text that was not meant to be; nothing if there is no sign of it."""
    others = found.not_numbers
    if others.total <= FEW_OTHERS * n_present:
        return (
            f"all but {others.total:,} of {n_present:,} values are numbers (first other: "
            f"{_with_place(others, first_row)}); leave those blank to use it as a number"
        )
    if found.separated:
        return (
            "looks like numbers with separators, a decimal comma or a unit; write them as 1234.5 to use it as a number"
        )
    others = found.not_dates
    if others.total <= FEW_OTHERS * n_present:
        return (
            f"all but {others.total:,} of {n_present:,} values are dates (first other: "
            f"{_with_place(others, first_row)}); fix those or leave them blank to use it as a date"
        )
    if found.like_dates:
        return (
            "looks like dates; write them as 2024-01-31 or 2024-01-31T23:59 to use it as a date (first that cannot be "
            f"read: {_with_place(others, first_row)})"
        )
    return ""


def _with_place(found: Unread, first_row: int) -> str:
    return f"{shown(found.value)} at row {first_row + found.place:,}"
