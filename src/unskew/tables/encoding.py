"""Rows of a table as float32 features, by numbers that were taken from the training data and are kept as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from unskew._support.text import StrPath, no_column, rows, shown, start
from unskew.errors import ModelFileError, TableError
from unskew.tables.inference import measure
from unskew.tables.matching import read_column
from unskew.tables.schema import Column, Schema

FARTHEST = 1e6
"""Standardized values end here, so that a wild value in a file to score stays within float32."""
VERSION = 1


@dataclass(frozen=True)
class Encoder:
    """What turns rows into features.

    Numbers and days are standardized, truth values are 0 or 1, categories one-hot. A missing number is the mean, a
    missing truth value 0, a missing category none; if values were missing in training, a feature says where they are.
    A category that training did not have is none of the known ones.
    """

    schema: Schema

    @classmethod
    def fit(cls, schema: Schema, frame: pl.DataFrame, *, path: StrPath | None = None) -> "Encoder":
        """Encoder whose means, deviations and categories are those of this frame, with the kinds of the schema.

        Raises
        ------
        TableError
            If the frame does not match the schema, or tells no two rows apart.
        """
        columns = []
        for column in schema.columns:
            series = _column(frame, column.name, path)
            columns.append(measure(series, column.kind, hint=column.hint, path=path))
        encoder = cls(replace(schema, columns=tuple(columns)))
        if not encoder.feature_names:
            raise TableError(
                f"{start(path)}some column must vary, but in these {rows(frame.height)} all columns are constant. Take "
                "more rows, or other columns."
            )
        return encoder

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """Names such as "age", "age is missing", "color=red"."""
        return tuple(name for column in self.schema.columns for name in _feature_names(column))

    @cached_property
    def feature_columns(self) -> tuple[str, ...]:
        """Name of the column that each feature belongs to."""
        return tuple(column.name for column in self.schema.columns for _ in _feature_names(column))

    def transform(
        self, frame: pl.DataFrame, *, path: StrPath | None = None, first_row: int = 1, tally: "Tally | None" = None
    ) -> np.ndarray:
        """Features of the rows, float32 of shape (n_rows, n_features); every row by itself.

        Parameters
        ----------
        path, first_row
            File and number of the frame's first row in it, for messages.
        tally : Tally, optional
            Takes up what training did not see.

        Raises
        ------
        TableError
            If a column is not there or a value cannot be read as the schema says.
        """
        features = np.zeros((frame.height, len(self.feature_names)), dtype=np.float32)
        begin = 0
        for column in self.schema.columns:
            end = begin + len(_feature_names(column))
            series = _column(frame, column.name, path)
            values, present = read_column(series, column.kind, path=path, first_row=first_row)
            _fill(features[:, begin:end], column, values, present)
            if tally is not None:
                tally.take_up(column, values, present, first_row)
            begin = end
        return features

    def unseen(self, frame: pl.DataFrame, *, path: StrPath | None = None, first_row: int = 1) -> list[str]:
        """Sentences about values that training did not see; for a table in batches use `transform` with a `Tally`."""
        tally = Tally()
        for column in self.schema.columns:
            series = _column(frame, column.name, path)
            values, present = read_column(series, column.kind, path=path, first_row=first_row)
            tally.take_up(column, values, present, first_row)
        return tally.sentences()

    def to_json(self) -> dict[str, Any]:
        """Encoder as what JSON can hold."""
        return {"version": VERSION, "schema": self.schema.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Encoder":
        """Encoder that `to_json` gave.

        Raises
        ------
        ModelFileError
            If it is none, or of another version.
        """
        if not isinstance(data, Mapping) or data.get("version") != VERSION or "schema" not in data:
            raise ModelFileError(
                f"the encoding of a table must be of version {VERSION}, but it is not. The model file is damaged or of "
                "another version: fit again."
            )
        return cls(Schema.from_json(data["schema"]))


@dataclass
class _Found:
    count: int
    row: int
    value: str | None


@dataclass
class Tally:
    """What was found in new rows that training did not see, over any number of batches."""

    categories: dict[str, _Found] = field(default_factory=dict)
    missing: dict[str, _Found] = field(default_factory=dict)

    def take_up(self, column: Column, values: pl.Series, present: np.ndarray, first_row: int) -> None:
        """Count values of one column in one batch; see `read_column`."""
        if column.kind == "categorical":
            unknown = present & (_codes(column, values) < 0)
            _add(self.categories, column.name, unknown, values, first_row)
        if not column.n_missing:
            _add(self.missing, column.name, ~present, values, first_row)

    def sentences(self) -> list[str]:
        """What was found, one sentence for each column."""
        return [
            f"column {shown(name)} has {rows(found.count)} with values not seen in training (first: "
            f"{shown(found.value)}, row {found.row:,}); they count as none of the known"
            for name, found in self.categories.items()
        ] + [
            f"column {shown(name)} has {rows(found.count)} without a value (first: row {found.row:,}), and training "
            "had none; they count as average, or as no category"
            for name, found in self.missing.items()
        ]


def _add(found: dict[str, _Found], name: str, mask: np.ndarray, values: pl.Series, first_row: int) -> None:
    if not mask.any():
        return
    first = int(mask.argmax())
    earlier = found.setdefault(name, _Found(0, first_row + first, values[first]))
    earlier.count += int(mask.sum())


def _column(frame: pl.DataFrame, name: str, path: StrPath | None) -> pl.Series:
    if name not in frame.columns:
        raise TableError(f"{no_column(path, name, frame.columns)} The model was trained with it.")
    return frame[name]


def _feature_names(column: Column) -> list[str]:
    names = [f"{column.name}={category}" for category in column.categories]
    if column.low < column.high:
        names.append(column.name)
    if column.n_missing:
        names.append(f"{column.name} is missing")
    return names


def _fill(features: np.ndarray, column: Column, values: pl.Series, present: np.ndarray) -> None:
    """Write the features of one column, which are zero so far."""
    if column.kind == "categorical":
        codes = _codes(column, values)
        known = np.flatnonzero(codes >= 0)
        features[known, codes[known]] = 1
    elif column.low < column.high:
        features[:, 0] = _standardized(column, values) if column.kind != "boolean" else _zero_or_one(column, values)
    if column.n_missing:
        features[:, -1] = ~present


def _standardized(column: Column, values: pl.Series) -> np.ndarray:
    numbers = values.fill_null(column.mean).to_numpy()
    with np.errstate(over="ignore"):
        # Halves, because the difference of two large numbers may be too large.
        return np.clip((0.5 * numbers - 0.5 * column.mean) / (0.5 * column.std), -FARTHEST, FARTHEST)


def _zero_or_one(column: Column, values: pl.Series) -> np.ndarray:
    # Where a feature of its own marks missing values, any number will do; else the average does least harm.
    return values.fill_null(0.0 if column.n_missing else column.mean).to_numpy()


def _codes(column: Column, values: pl.Series) -> np.ndarray:
    """Number of each value among the categories; -1 for missing and unknown ones."""
    codes = values.cast(pl.Enum(list(column.categories)), strict=False).to_physical()
    return codes.cast(pl.Int64).fill_null(-1).to_numpy()
