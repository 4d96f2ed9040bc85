"""What the columns of a table are, and how they become features: kinds and the few numbers that go with them, as data.

The same record serves training and scoring, so that no batch of rows is read differently from the training data.
"""

import datetime
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from unskew._support.json_records import build
from unskew._support.text import LONGEST_VALUE, StrPath, listed, number_in_words, plural, shown, start, visible
from unskew.tables._values import Kind, read_column, require_column

FARTHEST = 1e6
"""Standardized values end here, so that a wild value in a file to score stays within float32."""


@dataclass(frozen=True)
class Column:
    """One column that becomes features, with what is known of it from the training data.

    Only a categorical column has categories (in alphabetical order), and only the others have numbers: of the values
    that are not missing, as zeros and ones for a boolean column and as days since 1970-01-01 for dates. The hint says
    what a user might want to fix, and is mostly empty.
    """

    name: str
    kind: Kind
    n_rows: int
    n_missing: int
    categories: tuple[str, ...] = ()
    mean: float = 0.0
    std: float = 0.0
    median: float = 0.0
    low: float = 0.0
    high: float = 0.0
    hint: str = ""

    @property
    def varies(self) -> bool:
        """Whether the numbers of this column differ, so that they are a feature."""
        return self.low < self.high

    @property
    def feature_names(self) -> list[str]:
        """Names such as "age", "age is missing", "color=red"."""
        names = [f"{self.name}={category}" for category in self.categories]
        names += [self.name] if self.varies else []
        return names + ([f"{self.name} is missing"] if self.n_missing else [])

    @property
    def note(self) -> str:
        """What the column holds, in plain words."""
        parts = [_column_in_words(self), self.hint]
        if self.n_missing:
            parts.insert(1, f"{_percent_of_rows(self.n_missing, self.n_rows)} missing, marked by a feature of its own")
        return "; ".join(filter(None, parts))

    def in_words(self, value: float | str | None) -> str:
        """A value of this column, read by its kind, as people write it."""
        if value is None:
            return "missing"
        if isinstance(value, str):
            return visible(value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 1] + "…")
        if self.kind == "boolean":
            return "true" if value else "false"
        return _iso_day(value) if self.kind == "date" else number_in_words(value, self.std)


@dataclass(frozen=True)
class LeftOut:
    """One column that is not used, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Schema:
    """Columns that become features, in the order of the file, and columns that were left out.

    Numbers and days are standardized, truth values are 0 or 1, categories are one-hot. A missing number becomes the
    mean, a missing truth value 0, a missing category none of the known ones; if values were missing in training, a
    feature marks them. A category that was not in the training data is none of the known ones.
    """

    columns: tuple[Column, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns that become features: what a file to score must have."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """Names of all features, see `Column.feature_names`."""
        return tuple(name for column in self.columns for name in column.feature_names)

    @cached_property
    def feature_columns(self) -> tuple[str, ...]:
        """Name of the column that each feature belongs to."""
        return tuple(column.name for column in self.columns for _ in column.feature_names)

    @cached_property
    def category_features(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of the features that mark the categories of one column, a missing one too; of three or more."""
        found: list[tuple[int, ...]] = []
        begin = 0
        for column in self.columns:
            own = tuple(range(begin, begin + len(column.feature_names)))
            found += [own] if column.kind == "categorical" and len(own) > 2 else []
            begin += len(own)
        return tuple(found)

    def describe(self) -> list[tuple[str, str, str]]:
        """Name, kind and a note in plain words, for every column; those left out come last, as kind "left out"."""
        used = [(column.name, str(column.kind), column.note) for column in self.columns]
        return used + [(each.name, "left out", each.reason) for each in self.left_out]

    def check_columns(self, names: Iterable[str], path: StrPath | None, ignore: Iterable[str] = ()) -> list[str]:
        """Refuse a file without a column that became features; returns notes about columns that are not used.

        Columns in `ignore` have another use (identifiers, labels) and need no note.
        """
        names = list(names)
        self._require_columns(names, path)
        known = {*self.names, *(each.name for each in self.left_out), *ignore}
        extra = [name for name in names if name not in known]
        what = "is a column" if len(extra) == 1 else f"are {len(extra):,} columns"
        return [f"{start(path)}there {what} that the model does not use: {listed(extra)}."] if extra else []

    def transform(
        self, frame: pl.DataFrame, *, path: StrPath | None = None, first_row: int = 1, tally: "Tally | None" = None
    ) -> np.ndarray:
        """Features of the rows, float32 of shape (n_rows, n_features); every row by itself.

        Messages name `path` and count from `first_row`, the number of the frame's first row in it. A `tally` counts the
        values that were not in the training data.
        """
        self._require_columns(frame.columns, path)
        values = (read_column(frame[each.name], each.kind, path=path, first_row=first_row) for each in self.columns)
        return self.encode(values, frame.height, first_row, tally)

    def encode(
        self, values: Iterable[pl.Series], n_rows: int, first_row: int = 1, tally: "Tally | None" = None
    ) -> np.ndarray:
        """Features of columns that have been read by their kinds already; see `transform`."""
        features = np.zeros((n_rows, len(self.feature_names)), dtype=np.float32)
        begin = 0
        for column, series in zip(self.columns, values, strict=True):
            end = begin + len(column.feature_names)
            unknown = _fill_features(features[:, begin:end], column, series)
            if tally is not None:
                tally.count(column, series, unknown, first_row)
            begin = end
        return features

    def _require_columns(self, names: list[str], path: StrPath | None) -> None:
        for name in self.names:
            require_column(name, names, path, "The model was trained with it.")

    def to_json(self) -> dict[str, Any]:
        """Schema as what JSON can hold."""
        return {
            "columns": [{**asdict(column), "categories": list(column.categories)} for column in self.columns],
            "left_out": [asdict(each) for each in self.left_out],
        }

    @classmethod
    def from_json(cls, data: Any) -> "Schema":
        """Schema that `to_json` gave; a ValueError if it is anything else, or describes no features."""
        schema: Schema = build(cls, data, "schema")
        for column in schema.columns:
            _check_column(column)
        if len(set(schema.names)) < len(schema.names):
            raise ValueError(f"columns must have different names, but they are {listed(list(schema.names))}.")
        if not schema.feature_names:
            raise ValueError(f"some column must become features, but none of {len(schema.columns)} does.")
        return schema


def _check_column(column: Column) -> None:
    """Refuse a column with numbers that no training data have."""
    kind, low, high = column.kind, column.low, column.high
    has_numbers = kind != "categorical"
    rules = {
        "n_missing between 0 and n_rows": 0 <= column.n_missing <= column.n_rows,
        "low at most high": low <= high if has_numbers else low == high,
        "std above 0": column.std > 0 or not (has_numbers and column.varies),
        "numbers between 0 and 1": kind != "boolean" or all(0 <= each <= 1 for each in (low, column.mean, high)),
        "categories that differ": len(set(column.categories)) == len(column.categories),
        "categories only if it is categorical": not (has_numbers and column.categories),
    }
    for rule, holds in rules.items():
        if not holds:
            raise ValueError(f"the {kind} column {shown(column.name)} must have {rule}, but it does not.")


@dataclass
class Tally:
    """Counts the values of new rows that were not in the training data, over any number of batches."""

    unknown: dict[str, tuple[int, int, str]] = field(default_factory=dict)  # count, first row, its value
    missing: dict[str, tuple[int, int]] = field(default_factory=dict)

    def count(self, column: Column, values: pl.Series, unknown: np.ndarray | None, first_row: int) -> None:
        """Count values of one column in one batch; `unknown` marks the categories that are not known."""
        if unknown is not None and unknown.any():
            first = int(unknown.argmax())
            count, *earlier = self.unknown.get(column.name, (0, first_row + first, values[first]))
            self.unknown[column.name] = (count + int(unknown.sum()), *earlier)
        if values.null_count() and not column.n_missing:
            count, row = self.missing.get(column.name, (0, first_row + int(values.is_null().arg_max() or 0)))
            self.missing[column.name] = (count + values.null_count(), row)

    def sentences(self) -> list[str]:
        """What was found, one sentence for each column."""
        return [
            f"column {shown(name)} has {plural(count, 'row')} with values not seen in training (first: {shown(value)}, "
            f"row {row:,}); they count as none of the known"
            for name, (count, row, value) in self.unknown.items()
        ] + [
            f"column {shown(name)} has {plural(count, 'row')} without a value (first: row {row:,}), and training had "
            "none; they count as average, or as no category"
            for name, (count, row) in self.missing.items()
        ]


def _fill_features(features: np.ndarray, column: Column, values: pl.Series) -> np.ndarray | None:
    """Write the features of one column, which are zero so far; returns the mask of unknown categories."""
    unknown = None
    if column.kind == "categorical":
        codes = values.cast(categories_of(column), strict=False).to_physical()
        unknown = (codes.is_null() & values.is_not_null()).to_numpy()
        known = codes.is_not_null().to_numpy().nonzero()[0]
        features[known, codes.drop_nulls().to_numpy()] = 1
    elif column.varies:
        features[:, 0] = number_feature(column, values)
    if column.n_missing:
        features[:, -1] = values.is_null().to_numpy()
    return unknown


def number_feature(column: Column, values: pl.Series) -> np.ndarray:
    """The numbers of a column that varies, as they are learned from."""
    if column.kind == "boolean":
        # Where a feature of its own marks missing values, any number will do; else the average does least harm.
        return values.fill_null(0.0 if column.n_missing else column.mean).to_numpy()
    return _standardized_numbers(column, values)


def code_numbers(column: Column, values: pl.Series) -> np.ndarray:
    """Values of a column as numbers, NaN where missing; of categories their numbers, infinite where not known."""
    if column.kind != "categorical":
        return np.asarray(values.cast(pl.Float64).fill_null(np.nan).to_numpy())
    codes = values.cast(categories_of(column), strict=False).to_physical().cast(pl.Float64)
    return np.where(values.is_null().to_numpy(), np.nan, codes.fill_null(np.inf).to_numpy())


def categories_of(column: Column) -> pl.Enum:
    """Type whose values are the categories of a column."""
    return pl.Enum(list(column.categories))


def _standardized_numbers(column: Column, values: pl.Series) -> np.ndarray:
    numbers = values.fill_null(column.mean).to_numpy()
    with np.errstate(over="ignore"):
        # Halves, because the difference of two large numbers may be too large.
        return np.clip((0.5 * numbers - 0.5 * column.mean) / (0.5 * column.std), -FARTHEST, FARTHEST)


def _column_in_words(column: Column) -> str:
    """What the values of a column are, in plain words."""
    if column.kind == "numeric":
        return f"from {column.low:.6g} to {column.high:.6g}, mean {column.mean:.4g}"
    if column.kind == "boolean":
        return f"true in {100 * column.mean:.0f} % of those with a value"
    if column.kind == "date":
        return f"{_iso_day(column.low)} to {_iso_day(column.high)}, as days"
    count = len(column.categories)
    return f"{count:,} {'category' if count == 1 else 'categories'}, one-hot"


def _percent_of_rows(part: int, whole: int) -> str:
    share = 100 * part / whole
    return "under 1 %" if share < 1 else f"{share:.0f} %" if part < whole else "100 %"


def _iso_day(days: float) -> str:
    try:
        return (datetime.date(1970, 1, 1) + datetime.timedelta(days=math.floor(days))).isoformat()
    except OverflowError:  # Python's calendar ends sooner than that of Parquet
        return f"day {days:.0f}"
