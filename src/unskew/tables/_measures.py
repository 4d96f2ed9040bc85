"""What encoding needs to know of a column of numbers, truth values or days."""

import numpy as np
import polars as pl

from unskew._support.text import shown
from unskew.tables._values import Kind
from unskew.tables.schema import Column, LeftOut

Found = tuple[Column, pl.Series] | LeftOut
"""What a column is, with its values read by its kind; or why it is left out."""


def measured(values: pl.Series, kind: Kind, first: object) -> Found:
    """A column with these values, or why it is left out; `first` is its first value as it was written."""
    column = _measure_column(values, kind)
    if not column.varies and not column.n_missing:
        return LeftOut(values.name, f"constant: every value is {shown(first)}")
    return column, values


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
