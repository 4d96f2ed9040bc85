"""Columns of a user's X: as they were in training, and under the names that the features made from them have."""

from __future__ import annotations

from reprlib import repr as short
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from unskew.data.frames import encode, learn_schema, names_inside, needs_schema, schema_from
from unskew.data.rows import Rows, as_rows
from unskew.data.validation import check_features
from unskew.rankers.labeling import read_rows

if TYPE_CHECKING:
    from unskew.rankers._base import Ranker
    from unskew.rankers._header import Header

AnyRanker = TypeVar("AnyRanker", bound="Ranker")


def learn_features(ranker: Ranker, X: Any, y: Any) -> tuple[Rows, np.ndarray]:
    """Features and labels of training data; the ranker learns the columns, and how a mixed frame is encoded.

    As in scikit-learn, `n_features_in_` and `feature_names_in_` are about the X that users pass. `input_shape_` is
    about what is learned from.
    """
    if not needs_schema(X):
        features, labels = check_features(ranker, X, y, reset=True)
        return as_rows(features), labels
    schema, encoded = learn_schema(X)
    if getattr(ranker.labeling, "schema_", schema) != schema:
        raise ValueError(
            "the lent labeling model must have learned from the same columns and rows, because these decide how words "
            "and numbers are encoded, but its ranker was fitted on another data frame. Fit it on this one, or pass "
            "labeling=None."
        )
    features, labels = check_features(ranker, encoded, y, reset=True)
    ranker.schema_ = schema
    ranker.n_features_in_ = len(X.columns)
    kinds = {isinstance(name, str) for name in X.columns}
    if kinds == {True, False}:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but X has names of several "
            "types. Convert them all: X.columns = X.columns.astype(str)."
        )
    if kinds == {True}:
        ranker.feature_names_in_ = np.array(list(X.columns), dtype=object)
    return as_rows(features), labels


def rows_of(ranker: Ranker, X: Any) -> Rows:
    """Features of new rows, as a fitted ranker reads them."""
    schema = getattr(ranker, "schema_", None)
    return read_rows(ranker, X, ranker.input_shape_) if schema is None else as_rows(encode(schema, X))


def knowing_columns_of(reader: Ranker, other: AnyRanker) -> AnyRanker:
    """Another ranker, which is to be fitted to the features that the first one has read: encoded, where it has."""
    other.input_shape_ = reader.input_shape_
    other._categories = categories_known_to(reader)
    names = names_inside(reader)
    if names is not None:
        other.feature_names_in_ = names
    if len(reader.input_shape_) == 1:  # images have no columns, as in scikit-learn
        other.n_features_in_ = reader.input_shape_[0]
    return other


def categories_known_to(ranker: Ranker) -> tuple[tuple[int, ...], ...]:
    """Columns that mark the categories of one column of a mixed data frame, three or more of them."""
    schema = getattr(ranker, "schema_", None)
    return getattr(ranker, "_categories", ()) if schema is None else schema.category_features


def columns_and_classes(ranker: Ranker) -> dict[str, Any]:
    """What a model file holds of a schema and of labels other than 0 and 1: nothing, where there is nothing to say."""
    kept: dict[str, Any] = {}
    if hasattr(ranker, "schema_"):
        kept["schema"] = ranker.schema_.to_json()
    classes = ranker.classes_.tolist()
    if classes != [0, 1] or ranker.classes_.dtype.kind not in "iu":
        kept["classes"] = classes
    return kept


def restore_columns_and_classes(ranker: Ranker, header: Header) -> None:
    """Give a ranker the schema and the classes of its file, if they agree with the rest of it."""
    ranker.classes_ = np.array([0, 1] if header.classes is None else header.classes)
    if header.schema is None:
        return
    ranker.schema_ = schema_from(header.schema)
    names, inside = ranker.schema_.names, ranker.schema_.feature_names
    if header.input_shape != (len(inside),):
        raise ValueError(f"the model must take one input per feature, {len(inside)}, but it takes {header.input_shape}")
    if header.feature_names is not None and not set(names) <= set(header.feature_names):
        raise ValueError(f"the columns of its schema, {short(names)}, must be among {short(header.feature_names)}")
    for fold in header.labeling or ():
        if fold.feature_names not in (None, inside):
            raise ValueError(f"feature_names of a labeling model must be {short(inside)}, not {fold.feature_names}")
