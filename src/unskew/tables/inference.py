"""Deciding what the columns of a table are, from all of their values."""

import re
from collections.abc import Iterable

import numpy as np
import polars as pl

from unskew._support.text import StrPath, no_column, shown, start
from unskew.errors import TableError
from unskew.tables.matching import read_column
from unskew.tables.schema import Column, LeftOut, Schema
from unskew.tables.values import (
    ISO_DATE,
    Kind,
    clean,
    has_separators,
    is_nested,
    is_text,
    to_booleans,
    to_days,
    to_numbers,
)

MOST_CATEGORIES = 200
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


def infer_schema(frame: pl.DataFrame, exclude: Iterable[str] = (), *, path: StrPath | None = None) -> Schema:
    """Kinds of all columns but the excluded ones, and which of them are of no use as features and why.

    A column is numeric, boolean or a date only if every value that is there can be read so. Left out are columns that
    are constant, all missing, identifiers, text with too many different values, or nested.

    Raises
    ------
    TableError
        If an excluded column is not there, a numeric column holds infinite values, or no column is left.
    """
    exclude = list(exclude)
    for name in exclude:
        if name not in frame.columns:
            raise TableError(no_column(path, name, frame.columns))
    found = [_infer(frame[name], path) for name in frame.columns if name not in exclude]
    columns = tuple(each for each in found if isinstance(each, Column))
    left_out = tuple(each for each in found if isinstance(each, LeftOut))
    if not columns:
        reasons = "; ".join(f"{shown(each.name)}: {each.reason}" for each in left_out[:5]) or "there are no others"
        raise TableError(
            f"{start(path)}at least one column must be of use as a feature, but none is left ({reasons}). Add columns "
            "that tell rows apart, or exclude fewer."
        )
    return Schema(columns, left_out)


def measure(
    series: pl.Series, kind: Kind, *, hint: str = "", path: StrPath | None = None, first_row: int = 1
) -> Column:
    """Column of this kind with the numbers that encoding needs."""
    values, present = read_column(series, kind, path=path, first_row=first_row)
    n_rows, n_missing = len(series), int((~present).sum())
    if kind == "categorical":
        categories = tuple(values.drop_nulls().unique().sort().to_list())
        return Column(series.name, kind, n_rows, n_missing, categories, hint=hint)
    numbers = values.drop_nulls().to_numpy()
    if not numbers.size:
        return Column(series.name, kind, n_rows, n_missing, hint=hint)
    mean, std = _mean_and_std(numbers)
    return Column(
        series.name,
        kind,
        n_rows,
        n_missing,
        mean=mean,
        std=std,
        median=float(np.median(0.5 * numbers)) * 2,
        low=float(numbers.min()),
        high=float(numbers.max()),
        hint=hint,
    )


def _mean_and_std(numbers: np.ndarray) -> tuple[float, float]:
    """Mean and deviation that neither overflow nor underflow: sums are of numbers within [-1, 1]."""
    scale = float(np.abs(numbers).max())
    if scale < 1e-300:
        return 0.0, 1.0  # as good as zero
    parts = numbers / scale
    mean, std = float(parts.mean()) * scale, float(parts.std()) * scale
    low, high = float(numbers.min()), float(numbers.max())
    return min(max(mean, low), high), std if std >= 1e-300 else 1.0


def _infer(series: pl.Series, path: StrPath | None) -> Column | LeftOut:
    name, dtype = series.name, series.dtype
    if is_nested(dtype):
        return LeftOut(name, f"nested or binary values ({dtype}), which are no single feature")
    values = clean(series)
    if values.null_count() == len(values):
        return LeftOut(name, "all values are missing")
    kind = _kind(values)
    if kind is None:
        return LeftOut(name, f"values of type {dtype}, which cannot be features")
    if kind == "categorical":
        return _infer_categorical(values)
    column = measure(series, kind, path=path)
    if kind == "numeric" and _is_counter(values):
        return LeftOut(name, "looks like an identifier: whole numbers, all different, in order or named as one")
    if column.low == column.high and not column.n_missing:
        return LeftOut(name, f"constant: every value is {shown(series[0])}")
    return column


def _kind(series: pl.Series) -> Kind | None:
    dtype = series.dtype
    if not is_text(dtype):
        if isinstance(dtype, pl.Boolean):
            return "boolean"
        if isinstance(dtype, pl.Date | pl.Datetime):
            return "date"
        return "numeric" if dtype.is_numeric() or isinstance(dtype, pl.Duration | pl.Time) else None
    text = series.drop_nulls()
    if not to_numbers(text).has_nulls():
        return "numeric"
    if not to_booleans(text).has_nulls():
        return "boolean"
    if re.match(ISO_DATE, text[0]) and not to_days(text).has_nulls():
        return "date"
    return "categorical"


def _is_counter(series: pl.Series) -> bool:
    """Whether numbers are a running number or a code of the row: whole, all different, and in order or named so."""
    whole = series.drop_nulls()
    if len(whole) < LEAST_COUNTER or whole.n_unique() < len(whole) or not _are_whole(whole):
        return False
    if _named_as_identifier(series.name):
        return True
    steps = np.diff(to_numbers(whole).to_numpy())
    one_by_one = bool((steps == 1).all() or (steps == -1).all())
    return one_by_one or (len(whole) >= SORTED_BY_CHANCE and bool((steps > 0).all() or (steps < 0).all()))


def _are_whole(values: pl.Series) -> bool:
    """Whether numbers have no fraction, be they stored as integers, as floats (1000434.0), or as text of either."""
    dtype = values.dtype
    if dtype.is_integer() or (is_text(dtype) and values.str.contains(r"^[+-]?\d+(\.0*)?$").all()):
        return True  # text may have more digits than a number can hold
    if not (is_text(dtype) or dtype.is_numeric()):
        return False  # seconds of a time or a duration are no numbers of rows
    numbers = to_numbers(values)
    # Beyond 64 bits every float is whole, which says nothing: the cast gives null there.
    return bool((numbers.cast(pl.Int64, strict=False) == numbers).fill_null(False).all())


def _named_as_identifier(name: str) -> bool:
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).lower()
    parts = [part for part in re.split(r"[^a-z0-9]+", words) if part]
    if not parts:
        return False
    return bool({parts[0], parts[-1]} & ID_WORDS) or parts[-1] in LAST_ID_WORDS or words in COUNTER_NAMES


def _infer_categorical(series: pl.Series) -> Column | LeftOut:
    text = series.drop_nulls()
    different, there = text.n_unique(), len(text)
    if different == 1 and there == len(series):
        return LeftOut(series.name, f"constant: every value is {shown(text[0])}")
    hint = _hint(series)
    after = f"; {hint}" if hint else ""
    if different <= FEW_CATEGORIES and (different < there or there == 1):
        return measure(series, "categorical", hint=hint)
    if different >= NEARLY_ALL * there:
        return LeftOut(
            series.name, f"looks like an identifier or free text: {different:,} different values in {there:,}{after}"
        )
    if different > MOST_CATEGORIES or different > there / 2:
        return LeftOut(
            series.name,
            f"text with too many different values: {different:,} in {there:,} rows, at most {MOST_CATEGORIES} and half "
            f"the rows can be categories{after}",
        )
    return measure(series, "categorical", hint=hint)


def _hint(series: pl.Series) -> str:
    """Why a column may have become text that was not meant to be; nothing if there is no sign of it."""
    text = series.drop_nulls()
    count, first = _unread(series, to_numbers(series))
    if count <= FEW_OTHERS * len(text):
        return (
            f"all but {count:,} of {len(text):,} values are numbers (first other: {first}); leave those blank to use "
            "it as a number"
        )
    if has_separators(text):
        return (
            "looks like numbers with separators, a decimal comma or a unit; write them as 1234.5 to use it as a number"
        )
    count, first = _unread(series, to_days(series))
    if count <= FEW_OTHERS * len(text):
        return (
            f"all but {count:,} of {len(text):,} values are dates (first other: {first}); mend those or leave them "
            "blank to use it as a date"
        )
    if text.str.contains(r"^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(\D.*)?$").all():
        return (
            "looks like dates; write them as 2024-01-31 or 2024-01-31T23:59 to use it as a date (first that cannot be "
            f"read: {first})"
        )
    return ""


def _unread(series: pl.Series, values: pl.Series) -> tuple[int, str]:
    """Count of the values that are there and could not be read, and the first of them with its row."""
    unread = (series.is_not_null() & values.is_null()).to_numpy()
    row = int(unread.argmax())
    return int(unread.sum()), f"{shown(series[row])} at row {row + 1:,}"
