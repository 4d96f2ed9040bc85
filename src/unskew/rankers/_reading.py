"""What a user passes to `fit`, checked, as records of positive-unlabeled data."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.data.frames import names_inside
from unskew.data.labels import labeled_by, read_labels, require_both_kinds
from unskew.data.records import PUData
from unskew.data.rows import Rows
from unskew.data.validation import check_confidence, one_label_per_row, require_two_labeled
from unskew.errors import ConfidenceMissingWarning, UnscaledWarning
from unskew.learning.networks import TREES
from unskew.rankers._columns import learn_features, rows_of

if TYPE_CHECKING:
    from unskew.rankers._base import Ranker

LARGEST_SIZE, ROWS_LOOKED_AT, NUMBERS_LOOKED_AT = 30.0, 1000, 2_000_000
"""Root mean square of a column from which on networks train badly, and rows, and numbers in them, that show it."""


def read_training(ranker: Ranker, X: Any, y: Any, confidence: Any) -> PUData:
    """Training data; the ranker learns the shape and the names of the columns, and warns of a missing confidence."""
    rows, y = learn_features(ranker, X, y)
    labels = read_labels(y, ranker.pos_label)
    data = _assemble(rows, labels.labeled, confidence)
    ranker.classes_ = labels.classes
    ranker.input_shape_ = data.X.shape
    if confidence is None and "confidence" in ranker.needs:
        warnings.warn(
            f"{type(ranker).__name__} learns from the confidence of the labels, but none was given: every labeled "
            f"instance counts as certain (confidence 1){', ' * bool(ranker.without_confidence)}"
            f"{ranker.without_confidence}. Pass fit(X, y, confidence=...).",
            ConfidenceMissingWarning,
            stacklevel=4,
        )
    # A network of one's own may scale its input, and trees look at the order alone.
    if ranker.trains_networks and not callable(ranker.network) and ranker.network != TREES:
        _warn_of_large_columns(data.X, names_inside(ranker))
    return data


def _warn_of_large_columns(X: Rows, names: Any) -> None:
    """Warn of a table in units that a network cannot start from."""
    if len(X.shape) > 1 or not len(X):
        return
    n_rows = min(len(X), ROWS_LOOKED_AT, max(10, NUMBERS_LOOKED_AT // X.shape[0]))
    in_memory = X.hold_out_limit is None  # to fetch rows from all over a file takes long
    some = np.unique(np.linspace(0, (len(X) if in_memory else n_rows) - 1, n_rows, dtype=int))
    size = np.sqrt(np.mean(X.take(some).astype(np.float64) ** 2, axis=0))
    largest = int(np.argmax(size))
    if size[largest] > LARGEST_SIZE:
        column = f"column {largest}" if names is None else f"column {names[largest]!r}"
        warnings.warn(
            f"networks need columns whose values are about as large as 1, but the root mean square of {column} is "
            f"{size[largest]:,.6g}. Put sklearn.preprocessing.StandardScaler() before the ranker, in a pipeline.",
            UnscaledWarning,
            stacklevel=5,
        )


def read_validation(
    ranker: Ranker, validation: tuple[Any, ...], with_confidence: bool, alpha: float, *, decides: bool = True
) -> PUData:
    """Validation data, with the objective of the training data, whose share of labeled instances is `alpha`.

    Where they alone decide on the epoch, some label must count.
    """
    if not isinstance(validation, tuple | list) or len(validation) not in (2, 3):
        raise ValueError(
            "validation must be a tuple (X, y, confidence) or (X, y), but it is a "
            f"{type(validation).__name__}{f' of {len(validation)}' if hasattr(validation, '__len__') else ''}."
        )
    X, y, confidence = validation if len(validation) == 3 else (*validation, None)
    rows = rows_of(ranker, X)
    labeled = labeled_by(one_label_per_row(y, len(rows), "y of validation"), ranker.classes_, "y of validation")
    require_both_kinds(labeled)
    if with_confidence and confidence is None and "confidence" in ranker.needs:
        raise ValueError(
            "validation must have confidence too, as training data do, but it is (X, y). Pass (X, y, confidence)."
        )
    data = _assemble(rows, labeled, confidence if with_confidence else None, some_counts=decides)
    return replace(data, sample_alpha=alpha)


def _assemble(rows: Rows, labeled: np.ndarray, confidence: Any, *, some_counts: bool = True) -> PUData:
    require_two_labeled(labeled, "learning to rank")
    return PUData(
        X=rows,
        labeled_rows=np.flatnonzero(labeled),
        unlabeled_rows=np.flatnonzero(~labeled),
        confidence=None if confidence is None else check_confidence(confidence, labeled, some_counts=some_counts),
    )
