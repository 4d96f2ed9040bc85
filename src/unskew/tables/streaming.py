"""From a file to features in one pass: no more of a table is in memory than its columns in compact form.

The rows of a CSV file are read once, for all columns. The columns of a Parquet file are read one after another, so that
only one of them at a time is there as it is in the file.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from unskew._support.memory import give_back
from unskew._support.progress import progress_bar
from unskew._support.text import StrPath
from unskew.tables._values import Kind
from unskew.tables.encoded import Encoded, EncodedRows, Layout
from unskew.tables.inference import ColumnFound, column_of, schema_of
from unskew.tables.labels import ConfidenceColumn, TwoClasses, both_classes, label_column, truth_column
from unskew.tables.reading import ParquetTable, Table, frames_of, most_bytes, too_large
from unskew.tables.schema import Column, LeftOut, Schema

DENSE_BYTES = 64 << 20
"""A matrix of features up to this size is made at once; of a larger one only the batches are."""


@dataclass
class Roles:
    """The columns of a table that are no features: labels, confidence, true classes; read a part at a time."""

    label: TwoClasses
    confidence: ConfidenceColumn | None
    truth: TwoClasses | None

    @classmethod
    def of(
        cls, path: StrPath, label: str, confidence: str | None, truth: str | None, *, blank_is_unlabeled: bool
    ) -> "Roles":
        """Columns of these names."""
        return cls(
            label_column(label, blank_is_unlabeled=blank_is_unlabeled, path=path),
            None if confidence is None else ConfidenceColumn(confidence, path),
            None if truth is None else truth_column(truth, path=path),
        )

    @property
    def names(self) -> list[str]:
        """Names of the columns, each once."""
        return list(dict.fromkeys(each.name for each in (self.label, self.confidence, self.truth) if each is not None))

    def take_in(self, frame: pl.DataFrame) -> None:
        """Read the next rows."""
        labels = self.label.take_in(frame[self.label.name])
        if self.confidence is not None:
            self.confidence.take_in(frame[self.confidence.name], labels == 1)
        if self.truth is not None:
            self.truth.take_in(frame[self.truth.name])

    def values(self, check: Callable[[np.ndarray], None]) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
        """Labels, which must pass a check, confidence and true classes."""
        y = self.label.values()
        check(y)
        confidence = None if self.confidence is None else self.confidence.values()
        return y, confidence, None if self.truth is None else both_classes(self.truth)


@dataclass(frozen=True)
class Features:
    """What became of the columns of a table; `rows` is None where they do not fit into memory."""

    schema: Schema
    rows: "np.ndarray | EncodedRows | None"


def read_features(
    table: Table,
    names: Sequence[str],
    roles: Roles,
    after_roles: Callable[[], None],
    kinds: Mapping[str, Kind] | None = None,
) -> Features:
    """Read the columns in `roles`, and make features of the columns `names`; `after_roles` runs between the two.

    A CSV file whose columns do not fit into memory is an error; of a Parquet file the schema alone is made then. The
    decisions, messages and features are those of `infer_features`, whatever the size of the parts that are read.
    """
    limit, kinds = most_bytes(), kinds or {}
    if isinstance(table, ParquetTable):
        _walk(table, roles.names, roles.take_in, "reading labels")
        after_roles()
        return _by_columns(table, names, limit, kinds)
    columns = _read_rows(table, names, roles, limit, kinds)
    after_roles()
    _look_again(table, columns, "reading once more")
    gathered = _Gathered(None)
    for name in list(columns):
        gathered.add(columns.pop(name))  # freed before the next one is decided
    features = gathered.features(table.path)
    give_back()
    return features


def _read_rows(
    table: Table, names: Sequence[str], roles: Roles, limit: int, kinds: Mapping[str, Kind]
) -> dict[str, ColumnFound]:
    """One pass over the rows of a file; no more than `limit` bytes are held."""
    columns: dict[str, ColumnFound] = {}
    n_rows = 0

    def take_in(frame: pl.DataFrame) -> None:
        nonlocal n_rows
        n_rows += frame.height
        roles.take_in(frame)
        _take_in(columns, frame, names, table.path, kinds)
        size = sum(each.n_bytes for each in columns.values())
        if size > limit:
            raise too_large(table.path, n_rows, size, limit, "save it as Parquet, which `unskew fit` need not hold, ")

    _walk(table, [*names, *roles.names], take_in, "reading")
    return columns


def _by_columns(table: ParquetTable, names: Sequence[str], limit: int, kinds: Mapping[str, Kind]) -> Features:
    """One pass over each column of a Parquet file."""
    gathered = _Gathered(limit)
    with progress_bar("reading columns", len(names), shown=True) as step:
        for name in names:
            columns: dict[str, ColumnFound] = {}
            _walk(table, [name], partial(_take_in, columns, names=[name], path=table.path, kinds=kinds))
            _look_again(table, columns)
            gathered.add(columns.pop(name))
            step()
    return gathered.features(table.path)


def _take_in(
    columns: dict[str, ColumnFound],
    frame: pl.DataFrame,
    names: Sequence[str],
    path: StrPath,
    kinds: Mapping[str, Kind],
) -> None:
    for name in names:
        if name not in columns:
            columns[name] = column_of(name, frame[name].dtype, path, kind=kinds.get(name))
        columns[name].take_in(frame[name])


def _walk(table: Table, names: Sequence[str], take_in: Callable[[pl.DataFrame], None], title: str = "") -> None:
    with progress_bar(title, table.n_rows, shown=bool(title)) as step:
        for frame in frames_of(table, names):
            take_in(frame)
            step(n=frame.height)
            give_back()  # else text that is gone takes several times the memory of the columns


def _look_again(table: Table, columns: dict[str, ColumnFound], title: str = "") -> None:
    """Read columns once more that were taken for numbers or dates until late, and are free text."""
    again = {name: column for name, column in columns.items() if column.needs_another_look()}
    if not again:
        return
    for column in again.values():
        column.begin_again()
    _walk(table, list(again), partial(_take_in, again, names=list(again), path=table.path, kinds={}), title)


class _Gathered:
    """Columns that have been decided, with their features in compact form as long as these fit."""

    def __init__(self, limit: int | None) -> None:
        self._limit, self._held, self._n_rows = limit, 0, 0
        self._found: list[Column | LeftOut] = []
        self._parts: list[Encoded] | None = []

    def add(self, column: ColumnFound) -> None:
        """Decide what a column is, and keep its features."""
        found = column.decide()
        if isinstance(found, LeftOut):
            self._found.append(found)
            return
        self._found.append(found[0])
        self._n_rows = len(found[1])
        if self._parts is None:
            return
        part = Layout.of([found[0]]).encode(*found)
        self._parts.append(part)
        self._held += sum(each.nbytes for each in part if each is not None)
        if self._limit is not None and self._held > self._limit:
            self._parts = None

    def features(self, path: StrPath) -> Features:
        """The schema, and the features of all rows."""
        schema = schema_of(self._found, path)
        if self._parts is None:
            return Features(schema, None)
        rows = EncodedRows.from_parts(Layout.of(schema.columns), _handed_over(self._parts), self._n_rows)
        if not len(rows.layout.codes):
            return Features(schema, rows.numbers)
        small = 4 * rows.layout.n_features * len(rows) <= DENSE_BYTES
        return Features(schema, rows.take(np.arange(len(rows))) if small else rows)


def _handed_over(parts: list[Encoded]) -> Iterator[Encoded]:
    """The parts one after another; whoever takes one is the last to hold it."""
    parts.reverse()
    while parts:
        yield parts.pop()
