"""Deciding what the columns of a table are, from all of their values."""

import re

import numpy as np
import polars as pl

from unskew._support.text import StrPath, shown, start
from unskew.errors import TableError
from unskew.tables._values import (
    Kind,
    clean,
    has_separators,
    is_nested,
    is_text,
    read_as,
    require_finite,
    to_booleans,
    to_days,
    to_numbers,
)
from unskew.tables.schema import Column, LeftOut, Schema, categories_of

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


def infer_features(
    frame: pl.DataFrame, *, path: StrPath | None = None, first_row: int = 1
) -> tuple[Schema, np.ndarray]:
    """Decide what every column is, and give the features of all rows with it: each column is parsed once.

    A column is numeric, boolean or a date only if every value that is not missing can be read so. Left out are columns
    that are constant, all missing, identifiers, text with too many different values, or nested. Infinite values are an
    error, and so is a table of which no column is left. The features are what `schema.transform(frame)` would give.
    Errors name `path` and count rows from `first_row`.
    """
    found = [_infer_column(series, path, first_row) for series in frame]
    left_out = tuple(each for each in found if isinstance(each, LeftOut))
    kept = [each for each in found if not isinstance(each, LeftOut)]
    if not kept:
        reasons = "; ".join(f"{shown(each.name)}: {each.reason}" for each in left_out[:5]) or "there are no others"
        raise TableError(
            f"{start(path)}at least one column must be usable as a feature, but none is left ({reasons}). Add columns "
            "that differ between rows, or exclude fewer."
        )
    schema = Schema(tuple(column for column, _ in kept), left_out)
    return schema, schema.encode((values for _, values in kept), frame.height)


def _infer_column(series: pl.Series, path: StrPath | None, first_row: int) -> tuple[Column, pl.Series] | LeftOut:
    """What a column is, with its values read by its kind; or why it is left out."""
    name, dtype = series.name, series.dtype
    if is_nested(dtype):
        return LeftOut(name, f"nested or binary values ({dtype}), which are no single feature")
    cleaned = clean(series)
    if cleaned.null_count() == len(cleaned):
        return LeftOut(name, "all values are missing")
    if is_text(dtype):
        kind, values, hint = _read_text(cleaned)
    else:
        native = _native_kind(dtype)
        if native is None:
            return LeftOut(name, f"values of type {dtype}, which cannot be features")
        kind, values, hint = native, read_as(native, cleaned), ""
    if kind == "categorical":
        return _infer_categories(values, hint)
    if kind == "numeric":
        require_finite(series, values, path, first_row)
        if _is_counter(cleaned, values):
            return LeftOut(name, "looks like an identifier: whole numbers, all different, in order or named as one")
    column = _measure_column(values, kind)
    if not column.varies and not column.n_missing:
        return LeftOut(name, f"constant: every value is {shown(series[0])}")
    return column, values


def _native_kind(dtype: pl.DataType) -> Kind | None:
    """Kind of a column that is not text."""
    if isinstance(dtype, pl.Boolean):
        return "boolean"
    if isinstance(dtype, pl.Date | pl.Datetime):
        return "date"
    return "numeric" if dtype.is_numeric() or isinstance(dtype, pl.Duration | pl.Time) else None


def _read_text(text: pl.Series) -> tuple[Kind, pl.Series, str]:
    """Kind of a column of clean text, its values, and why it may have become categories that were not meant to be."""
    numbers = to_numbers(text)
    if not _mask_of_unread(text, numbers).any():
        return "numeric", numbers, ""
    truth = to_booleans(text, numbers)
    if not _mask_of_unread(text, truth).any():
        return "boolean", truth.cast(pl.Float64), ""
    days = to_days(text)
    if not _mask_of_unread(text, days).any():
        return "date", days, ""
    return "categorical", text, _hint_about_text(text, numbers, days)


def _mask_of_unread(text: pl.Series, values: pl.Series) -> np.ndarray:
    """Mask of the values that are not missing and could not be read."""
    return (text.is_not_null() & values.is_null()).to_numpy()


def _measure_column(values: pl.Series, kind: Kind) -> Column:
    """Column of numbers, truth values or days, with what encoding needs to know of them."""
    numbers = values.drop_nulls().to_numpy()
    mean, std = _mean_and_std(numbers)
    return Column(
        values.name,
        kind,
        n_rows=len(values),
        n_missing=values.null_count(),
        mean=mean,
        std=std,
        median=float(np.median(0.5 * numbers)) * 2,
        low=float(numbers.min()),
        high=float(numbers.max()),
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


def _is_counter(cleaned: pl.Series, values: pl.Series) -> bool:
    """Whether numbers are a running number or a code of the row: whole, all different, and in order or named so."""
    whole = cleaned.drop_nulls()
    if len(whole) < LEAST_COUNTER or whole.n_unique() < len(whole):
        return False
    numbers = values.drop_nulls()
    if not _are_whole(whole, numbers):
        return False
    if _named_as_identifier(cleaned.name):
        return True
    steps = np.diff(numbers.to_numpy())
    one_by_one = bool((steps == 1).all() or (steps == -1).all())
    return one_by_one or (len(whole) >= SORTED_BY_CHANCE and bool((steps > 0).all() or (steps < 0).all()))


def _are_whole(cleaned: pl.Series, numbers: pl.Series) -> bool:
    """Whether numbers have no fraction, be they stored as integers, as floats (1000434.0), or as text of either."""
    dtype = cleaned.dtype
    if dtype.is_integer() or (is_text(dtype) and cleaned.str.contains(r"^[+-]?\d+(\.0*)?$").all()):
        return True  # text may have more digits than a number can hold
    if not (is_text(dtype) or dtype.is_numeric()):
        return False  # seconds of a time or a duration do not number rows
    # Beyond 64 bits every float is whole, which says nothing: the cast gives null there.
    return bool((numbers.cast(pl.Int64, strict=False) == numbers).fill_null(False).all())


def _named_as_identifier(name: str) -> bool:
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).lower()
    parts = [part for part in re.split(r"[^a-z0-9]+", words) if part]
    if not parts:
        return False
    return bool({parts[0], parts[-1]} & ID_WORDS) or parts[-1] in LAST_ID_WORDS or words in COUNTER_NAMES


def _infer_categories(values: pl.Series, hint: str) -> tuple[Column, pl.Series] | LeftOut:
    text = values.drop_nulls()
    different, there = text.n_unique(), len(text)
    if different == 1 and there == len(values):
        return LeftOut(values.name, f"constant: every value is {shown(text[0])}")
    after = f"; {hint}" if hint else ""
    few = different <= FEW_CATEGORIES and (different < there or there == 1)
    if not few and different >= NEARLY_ALL * there:
        return LeftOut(
            values.name, f"looks like an identifier or free text: {different:,} different values in {there:,}{after}"
        )
    if not few and (different > MOST_CATEGORIES or different > there / 2):
        return LeftOut(
            values.name,
            f"text with too many different values: {different:,} in {there:,} rows, at most {MOST_CATEGORIES} and half "
            f"the rows can be categories{after}",
        )
    categories = tuple(text.unique().sort().to_list())
    column = Column(values.name, "categorical", len(values), values.null_count(), categories, hint=hint)
    return column, values.cast(categories_of(column))  # which takes less memory than text


def _hint_about_text(text: pl.Series, numbers: pl.Series, days: pl.Series) -> str:
    """Why a column may have become text that was not meant to be; nothing if there is no sign of it."""
    present = text.drop_nulls()
    count, first = _unread_values(text, numbers)
    if count <= FEW_OTHERS * len(present):
        return (
            f"all but {count:,} of {len(present):,} values are numbers (first other: {first}); leave those blank to "
            "use it as a number"
        )
    if has_separators(present):
        return (
            "looks like numbers with separators, a decimal comma or a unit; write them as 1234.5 to use it as a number"
        )
    count, first = _unread_values(text, days)
    if count <= FEW_OTHERS * len(present):
        return (
            f"all but {count:,} of {len(present):,} values are dates (first other: {first}); fix those or leave them "
            "blank to use it as a date"
        )
    if present.str.contains(r"^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(\D.*)?$").all():
        return (
            "looks like dates; write them as 2024-01-31 or 2024-01-31T23:59 to use it as a date (first that cannot be "
            f"read: {first})"
        )
    return ""


def _unread_values(text: pl.Series, values: pl.Series) -> tuple[int, str]:
    """Count of the values that could not be read, and the first of them with its row."""
    unread = _mask_of_unread(text, values)
    row = int(unread.argmax())
    return int(unread.sum()), f"{shown(text[row])} at row {row + 1:,}"
