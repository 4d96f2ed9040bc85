"""A labeled table as the commands see it: features, labels, confidence, and what became of each column."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from unskew.tables import (
    Schema,
    Tally,
    infer_features,
    open_table,
    read_confidence,
    read_labels,
    read_table,
    read_truth,
    require_both_kinds,
    require_column,
)


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
    X : float32 array of shape (n, n_features)
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
    X: np.ndarray
    truth: np.ndarray | None = None
    notes: tuple[str, ...] = ()


def read_labeled(
    path: Path,
    label: str,
    confidence: str | None,
    *,
    truth: str | None = None,
    exclude: Sequence[str] = (),
    blank_is_unlabeled: bool = False,
) -> LabeledTable:
    """Read and check a file to fit on; columns of labels, confidence and true classes are not features."""
    opened = open_table(path)
    roles = list(dict.fromkeys(name for name in (label, confidence, truth) if name is not None))
    excluded = tuple(dict.fromkeys([*exclude, *([] if truth is None else [truth])]))
    for name in (*roles, *excluded):
        require_column(name, opened.columns, path)
    frame = read_table(opened, [name for name in opened.columns if name in roles or name not in excluded])
    y = read_labels(frame, label, blank_is_unlabeled=blank_is_unlabeled, path=path)
    require_both_kinds(y, label, path=path)
    values = None if confidence is None else read_confidence(frame, confidence, y, path=path)
    known = None if truth is None else read_truth(frame, truth, path=path)
    schema, X = infer_features(frame.drop(roles), path=path)
    return LabeledTable(path, label, confidence, excluded, y, values, schema, X, known, opened.notes)


def read_by_schema(
    schema: Schema, path: Path, roles: Sequence[str], aside: Sequence[str]
) -> tuple[Any, np.ndarray, list[str], list[str]]:
    """Read another file: its frame with the columns in `roles`, its features, notes on its columns and on its values.

    Columns in `aside` may be there without a note.
    """
    opened, tally = open_table(path), Tally()
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
