"""A labeled table as the commands see it: features, labels, confidence, and what became of each column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from unskew.checks import Checked, check_rows
from unskew.data.rows import Rows
from unskew.metrics.diagnostics import Finding
from unskew.tables import (
    EncodedParquetRows,
    EncodedRows,
    Kind,
    ParquetTable,
    Roles,
    Schema,
    Table,
    Tally,
    check_kinds,
    open_table,
    read_confidence,
    read_features,
    read_labels,
    read_table,
    require_both_kinds,
    require_column,
)

MOST_JUDGED = 200_000
"""Rows of a table larger than memory that estimates rest on, at most."""


@dataclass(frozen=True)
class LabeledTable:
    """A table with a label column, and perhaps a confidence, ready to fit on.

    Attributes
    ----------
    label, confidence_column : str
        Names of columns; the second may be None.
    excluded : tuple of str
        Columns that are not to be features.
    y : int array of shape (n,)
        1 labeled, 0 unlabeled.
    confidence : array of shape (n,), or None
    X : float32 array of shape (n, n_features), or rows of as many features
        A large table is compact rows in memory; one that is larger than memory is rows of its files.
    truth : int array of shape (n,), or None
        True classes, where they are known.
    notes : tuple of str
        What a user should know about how the file was read.
    """

    path: Path
    label: str
    confidence_column: str | None
    excluded: tuple[str, ...]
    y: np.ndarray
    confidence: np.ndarray | None
    schema: Schema
    X: np.ndarray | EncodedRows | EncodedParquetRows
    truth: np.ndarray | None = None
    notes: tuple[str, ...] = ()

    @property
    def in_memory(self) -> bool:
        """Whether all rows are in memory."""
        return not isinstance(self.X, Rows) or self.X.in_memory

    @property
    def matrix(self) -> Any:
        """Features as an array, or as a sparse matrix where most of many are zero; the rows must be in memory."""
        return self.X.table() if isinstance(self.X, Rows) else self.X

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong with the table, before anything is learned from it; empty if nothing is."""
        return tuple(check_rows(self.checked, self.X, self.y, label=self.label))

    @cached_property
    def checked(self) -> Checked:
        """The rows that are checked and summed up: all, or of many some."""
        return Checked.of(self.X, self.y, self.confidence, self.schema)

    def some_rows(self, rows: np.ndarray) -> "LabeledTable":
        """A table of these rows alone, in memory; their numbers are in order."""
        X = self.X.part(rows) if isinstance(self.X, EncodedRows | EncodedParquetRows) else self.X[rows]
        confidence, truth = (None if each is None else each[rows] for each in (self.confidence, self.truth))
        return replace(self, y=self.y[rows], confidence=confidence, X=X, truth=truth)


def read_labeled(
    path: Path,
    label: str,
    confidence: str | None,
    *,
    truth: str | None = None,
    exclude: Sequence[str] = (),
    blank_is_unlabeled: bool = False,
    kinds: Mapping[str, str] | None = None,
    opened: Table | None = None,
) -> LabeledTable:
    """Read and check a file to fit on; columns of labels, confidence and true classes are not features.

    The columns in `kinds` are read as what it says ("numeric", "boolean", "categorical", "date"), the others as what
    their values look like. `opened` is what is at the path, if that was opened already.
    """
    opened = open_table(path) if opened is None else opened
    roles = list(dict.fromkeys(name for name in (label, confidence, truth) if name is not None))
    excluded = tuple(dict.fromkeys([*exclude, *([] if truth is None else [truth])]))
    for name in (*roles, *excluded):
        require_column(name, opened.columns, path)
    columns = Roles.of(path, label, confidence, truth, blank_is_unlabeled=blank_is_unlabeled)
    names = [name for name in opened.columns if name not in roles and name not in excluded]
    check_kinds(kinds or {}, names, path)
    found: list[Any] = []

    def check_roles() -> None:
        found.extend(columns.values(lambda y: require_both_kinds(y, label, path=path)))

    features = read_features(opened, names, columns, check_roles, cast(Mapping[str, Kind], kinds))
    X: Any = features.rows
    notes = opened.notes
    if X is None:
        assert isinstance(opened, ParquetTable)  # only these may stay in their files
        X = EncodedParquetRows(opened, features.schema)
        notes = (*notes, f"{path}: larger than the memory that it may take, so its rows are read from the file.")
    y, values, known = found
    return LabeledTable(path, label, confidence, excluded, y, values, features.schema, X, known, notes)


def read_by_schema(
    schema: Schema, path: Path, roles: Sequence[str], aside: Sequence[str], tally: Tally | None = None
) -> tuple[Any, np.ndarray, list[str], list[str]]:
    """Read another file: its frame with the columns in `roles`, its features, notes on its columns and on its values.

    Columns in `aside` may be there without a note.
    """
    opened, tally = open_table(path), Tally() if tally is None else tally
    notes = [*opened.notes, *schema.check_columns(opened.columns, path, ignore=[*roles, *aside])]
    frame = read_table(opened, list(dict.fromkeys([*schema.names, *roles])))
    X = schema.transform(frame, path=path, tally=tally)
    return frame, X, notes, tally.sentences()


def read_validation(table: LabeledTable, path: Path, *, blank_is_unlabeled: bool = False) -> LabeledTable:
    """Read a file with the columns of a table that was read to fit on."""
    column = table.confidence_column
    roles = [table.label, *([] if column is None else [column])]
    frame, X, notes, on_values = read_by_schema(table.schema, path, roles, table.excluded)
    notes += [f"{path}: {each}" for each in on_values]  # else they would read as if about the table
    y = read_labels(frame, table.label, blank_is_unlabeled=blank_is_unlabeled, path=path)
    require_both_kinds(y, table.label, path=path)
    confidence = None if column is None else read_confidence(frame, column, y, path=path)
    return replace(table, path=path, y=y, confidence=confidence, X=X, notes=tuple(notes))
