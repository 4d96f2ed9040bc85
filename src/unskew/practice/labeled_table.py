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
    require_both_kinds,
)


@dataclass(frozen=True)
class LabeledTable:
    """A table with a label column, and perhaps a confidence, ready to fit on.

    Attributes
    ----------
    path : Path
    label : str
        Column of the labels.
    confidence_column : str or None
    excluded : tuple of str
        Columns that are not to be features.
    frame : polars.DataFrame
    y : int array of shape (n,)
        1 labeled, 0 unlabeled.
    confidence : array of shape (n,), or None
    schema : Schema
    X : float32 array of shape (n, n_features)
    notes : tuple of str
        What a user should be told about how the file was read.
    """

    path: Path
    label: str
    confidence_column: str | None
    excluded: tuple[str, ...]
    frame: Any
    y: np.ndarray
    confidence: np.ndarray | None
    schema: Schema
    X: np.ndarray
    notes: tuple[str, ...] = ()


def read_labeled(
    path: Path,
    label: str,
    confidence: str | None,
    *,
    exclude: Sequence[str] = (),
    blank_is_unlabeled: bool = False,
) -> LabeledTable:
    """Read and check a file to fit on; the columns with a part of their own are no features."""
    opened = open_table(path)
    frame = read_table(opened)
    y = read_labels(frame, label, blank_is_unlabeled=blank_is_unlabeled, path=path)
    require_both_kinds(y, label, path=path)
    values = None if confidence is None else read_confidence(frame, confidence, y, path=path)
    aside = [label, *([] if confidence is None else [confidence]), *exclude]
    schema, X = infer_features(frame, exclude=aside, path=path)
    return LabeledTable(path, label, confidence, tuple(exclude), frame, y, values, schema, X, opened.notes)


def read_validation(table: LabeledTable, path: Path, *, blank_is_unlabeled: bool = False) -> LabeledTable:
    """Read a file with the columns of a table that was read to fit on."""
    opened = open_table(path)
    frame = read_table(opened)
    column = table.confidence_column
    aside = [table.label, *([] if column is None else [column]), *table.excluded]
    notes, tally = [*opened.notes, *table.schema.check_columns(frame.columns, path, ignore=aside)], Tally()
    X = table.schema.transform(frame, path=path, tally=tally)
    notes += [f"{path}: {each}" for each in tally.sentences()]  # else it reads as if said of the table
    y = read_labels(frame, table.label, blank_is_unlabeled=blank_is_unlabeled, path=path)
    require_both_kinds(y, table.label, path=path)
    confidence = None if column is None else read_confidence(frame, column, y, path=path)
    return replace(table, path=path, frame=frame, y=y, confidence=confidence, X=X, notes=tuple(notes))
