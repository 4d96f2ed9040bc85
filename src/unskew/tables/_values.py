"""What a value means: the one place where text and native types become numbers, truth values, days and categories.

`clean` comes first. What the readers (`to_numbers`, ...) give for a clean series is null where a value is missing or
cannot be read that way.
"""

from collections.abc import Sequence
from typing import Literal, NoReturn

import numpy as np
import polars as pl

from unskew._support.text import StrPath, no_column, offending, shown, start
from unskew.errors import TableError

Kind = Literal["numeric", "boolean", "categorical", "date"]
MUST_BE: dict[Kind, str] = {
    "numeric": "a number",
    "boolean": "true or false (or yes/no, y/n, t/f, 1/0)",
    "categorical": "a single value",
    "date": "a date such as 2024-01-31",
}

MISSING_WORDS = [
    *("", "NA", "na", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "-nan", "-NaN"),
    *("null", "NULL", "Null", "none", "None", "NONE", "?", "."),
]
TRUE_WORDS = ["true", "yes", "y", "t"]
FALSE_WORDS = ["false", "no", "n", "f"]
ISO_DATE = (
    r"^(\d{4}-\d{2}-\d{2})"
    r"(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?\s?(?:Z|([+-])(\d{2}):?(\d{2}))?)?$"
)
TICKS_PER_SECOND = {"ms": 1e3, "us": 1e6, "ns": 1e9}
SECONDS_PER_DAY = 86_400.0


def require_column(name: str, known: Sequence[str], path: StrPath | None, why: str = "") -> None:
    """Refuse a table without this column; `why` is a sentence for the end of the message."""
    if name not in known:
        raise TableError(f"{no_column(path, name, list(known))} {why}".rstrip())


def check_names(path: StrPath | None, names: Sequence[str]) -> None:
    """Refuse names that polars takes for patterns, even of single columns, or that pyarrow cuts off."""
    for name in names:
        if "\0" in name or (name.startswith("^") and name.endswith("$")):
            raise TableError(
                f"{start(path)}the name of a column must not have a zero byte, nor begin with ^ and end with $, but "
                f"that of column {shown(name)} does. Rename it."
            )


def is_text(dtype: pl.DataType) -> bool:
    """Whether values of this type are words."""
    return isinstance(dtype, pl.String | pl.Categorical | pl.Enum)


def is_nested(dtype: pl.DataType) -> bool:
    """Whether values of this type have no single value that could be a feature."""
    return isinstance(dtype, pl.List | pl.Array | pl.Struct | pl.Binary | pl.Object)


def clean(series: pl.Series) -> pl.Series:
    """Values with all missing ones null, be they NaN, blank, or a word such as NA; text without spaces around it."""
    if is_text(series.dtype):
        text = series.cast(pl.String).str.strip_chars()
        return text.set(text.is_in(MISSING_WORDS), None)
    return series.fill_nan(None) if series.dtype.is_float() else series


def to_numbers(series: pl.Series) -> pl.Series:
    """Values as float64, infinite ones included; times and durations in seconds."""
    dtype = series.dtype
    if is_text(dtype):
        return series.cast(pl.Float64, strict=False).fill_nan(None)
    if isinstance(dtype, pl.Duration):
        return series.cast(pl.Int64).cast(pl.Float64) / TICKS_PER_SECOND[dtype.time_unit or "us"]
    if isinstance(dtype, pl.Time):
        return series.cast(pl.Int64).cast(pl.Float64) / 1e9
    if dtype.is_numeric() or isinstance(dtype, pl.Boolean):
        return series.cast(pl.Float64)
    return _all_missing(series, pl.Float64())


def has_separators(text: pl.Series) -> bool:
    """Whether text would be numbers without its separators, units and decimal commas."""
    if not is_text(text.dtype) or not len(text):
        return False
    return not text.str.replace_all(r"[\s,'’$€£%]", "").cast(pl.Float64, strict=False).has_nulls()


def to_booleans(series: pl.Series, number: pl.Series | None = None) -> pl.Series:
    """Values as truth values, from true/false, yes/no, y/n, t/f in any case, or 1/0.

    Whoever has already read them by `to_numbers` passes the result as `number`.
    """
    if isinstance(series.dtype, pl.Boolean):
        return series
    number = to_numbers(series) if number is None else number
    truth = (number == 1).set((number != 0) & (number != 1), None)
    if not is_text(series.dtype):
        return truth
    words = series.str.to_lowercase().cast(pl.Enum(TRUE_WORDS + FALSE_WORDS), strict=False)
    said = words.to_physical() < len(TRUE_WORDS)
    return said.zip_with(said.is_not_null(), truth)


def to_categories(series: pl.Series) -> pl.Series:
    """Values as text."""
    return _all_missing(series, pl.String()) if is_nested(series.dtype) else series.cast(pl.String)


def to_days(series: pl.Series) -> pl.Series:
    """Dates as days since 1970-01-01, from date types or ISO 8601 text; times without a zone count as UTC."""
    dtype = series.dtype
    if isinstance(dtype, pl.Date):
        return series.cast(pl.Int32).cast(pl.Float64)
    if isinstance(dtype, pl.Datetime):
        ticks = series.cast(pl.Int64).cast(pl.Float64)
        return ticks / (TICKS_PER_SECOND[dtype.time_unit or "us"] * SECONDS_PER_DAY)
    if is_text(dtype):
        return _days_of_text(series)
    return _all_missing(series, pl.Float64())


def _days_of_text(text: pl.Series) -> pl.Series:
    text = text.set(~text.str.contains(ISO_DATE), None)
    days = text.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False).cast(pl.Int32).cast(pl.Float64)
    if (text.str.len_bytes().max() or 0) == 10:
        return days
    hour, minute, second, zone_hour, zone_minute = (
        text.str.extract(ISO_DATE, group).cast(pl.Float64).fill_null(0.0) for group in (2, 3, 4, 6, 7)
    )
    ahead = text.str.extract(ISO_DATE, 5) == "+"
    zone = zone_hour * 3600 + zone_minute * 60
    zone = zone.zip_with(ahead.fill_null(False), -zone)
    return days + (hour * 3600 + minute * 60 + second - zone) / SECONDS_PER_DAY


def read_as(kind: Kind, series: pl.Series) -> pl.Series:
    """Clean values of a column of this kind: numbers, truth values as 0 and 1, days, or text."""
    if kind == "numeric":
        return to_numbers(series)
    if kind == "boolean":
        return to_booleans(series).cast(pl.Float64)
    return to_days(series) if kind == "date" else to_categories(series)


def read_column(series: pl.Series, kind: Kind, *, path: StrPath | None = None, first_row: int = 1) -> pl.Series:
    """Values of a column read by its kind, null where they are missing; any other value is an error."""
    cleaned = clean(series)
    values = read_as(kind, cleaned)
    unread = (cleaned.is_not_null() & values.is_null()).to_numpy()
    if unread.any():
        found = offending(unread, series, first_row, "holds something else", "hold something else")
        option = "" if path is None else " (--exclude)"  # a frame comes from Python, which has no options
        raise TableError(
            f"{start(path)}column {shown(series.name)} is {kind}: every value must be {MUST_BE[kind]} or missing, but "
            f"{found}. Fix these values, or leave the column out of training{option}."
        )
    if kind == "numeric":
        require_finite(series, values, path, first_row)
    return values


def require_finite(series: pl.Series, values: pl.Series, path: StrPath | None, first_row: int = 1) -> None:
    """Refuse a column with infinite numbers; `values` are what was read from `series`."""
    infinite: np.ndarray = values.is_infinite().fill_null(False).to_numpy()
    if infinite.any():
        found = offending(infinite, series, first_row, "holds an infinite one", "hold infinite ones")
        refuse_infinite(series.name, found, path)


def refuse_infinite(name: str, found: str, path: StrPath | None) -> NoReturn:
    """Say that a column has infinite numbers, and where."""
    raise TableError(
        f"{start(path)}column {shown(name)} must hold finite numbers, but {found}. Replace them by a number, or leave "
        "them blank for missing."
    )


def _all_missing(series: pl.Series, dtype: pl.DataType) -> pl.Series:
    return pl.Series(series.name, [None], dtype=dtype).new_from_index(0, len(series))
