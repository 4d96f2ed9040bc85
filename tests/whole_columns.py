"""What columns are, decided from their whole text in memory: the plain way, which streaming is held to."""

import numpy as np
import polars as pl

from unskew._support.text import shown
from unskew.tables import _text_columns, inference
from unskew.tables._measures import _measure_column
from unskew.tables._values import (
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
from unskew.tables.inference import (
    FEW_OTHERS,
    LEAST_COUNTER,
    NEARLY_ALL,
    SORTED_BY_CHANCE,
    _named_as_identifier,
    _native_kind,
)
from unskew.tables.schema import Column, LeftOut, categories_of


def most_categories():
    return _text_columns.MOST_CATEGORIES


def infer_whole_column(series, path, first_row):
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


def _read_text(text):
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


def _mask_of_unread(text, values):
    """Mask of the values that are not missing and could not be read."""
    return (text.is_not_null() & values.is_null()).to_numpy()


def _is_counter(cleaned, values):
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


def _are_whole(cleaned, numbers):
    """Whether numbers have no fraction, be they stored as integers, as floats (1000434.0), or as text of either."""
    dtype = cleaned.dtype
    if dtype.is_integer() or (is_text(dtype) and cleaned.str.contains(r"^[+-]?\d+(\.0*)?$").all()):
        return True  # text may have more digits than a number can hold
    if not (is_text(dtype) or dtype.is_numeric()):
        return False  # seconds of a time or a duration do not number rows
    # Beyond 64 bits every float is whole, which says nothing: the cast gives null there.
    return bool((numbers.cast(pl.Int64, strict=False) == numbers).fill_null(False).all())


def _infer_categories(values, hint):
    text = values.drop_nulls()
    different, there = text.n_unique(), len(text)
    if different == 1 and there == len(values):
        return LeftOut(values.name, f"constant: every value is {shown(text[0])}")
    after = f"; {hint}" if hint else ""
    few = different <= inference.FEW_CATEGORIES and (different < there or there == 1)
    if not few and different >= NEARLY_ALL * there:
        return LeftOut(
            values.name, f"looks like an identifier or free text: {different:,} different values in {there:,}{after}"
        )
    if not few and (different > most_categories() or different > there / 2):
        return LeftOut(
            values.name,
            f"text with too many different values: {different:,} in {there:,} rows, at most {most_categories()} and "
            f"half the rows can be categories{after}",
        )
    categories = tuple(text.unique().sort().to_list())
    column = Column(values.name, "categorical", len(values), values.null_count(), categories, hint=hint)
    return column, values.cast(categories_of(column))  # which takes less memory than text


def _hint_about_text(text, numbers, days):
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


def _unread_values(text, values):
    """Count of the values that could not be read, and the first of them with its row."""
    unread = _mask_of_unread(text, values)
    row = int(unread.argmax())
    return int(unread.sum()), f"{shown(text[row])} at row {row + 1:,}"
