"""Data frames of pandas and polars: which of them need a schema, and what becomes of those that do.

A frame of finite numbers is an array with names. Any other frame is encoded by a schema (`unskew.tables.Schema`), as
the command line encodes files, so that the same table has the same features in both.

Neither library is imported here: whoever passes a frame has imported its own. A schema needs polars.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew._support.text import listed
from unskew.errors import MissingExtra

if TYPE_CHECKING:
    from unskew.tables import Schema

NUMBERS = {"integer", "floating", "mixed-integer-float", "boolean", "decimal", "complex"}
"""What pandas calls objects that all are numbers."""


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas or polars."""
    return _is_of("pandas", X) or _is_of("polars", X)


def _is_of(library: str, X: Any) -> bool:
    module = sys.modules.get(library)
    return module is not None and isinstance(X, module.DataFrame)


def needs_schema(X: Any) -> bool:
    """Whether X is a data frame with anything but numbers, or with missing ones; one without rows is not looked at."""
    if not is_frame(X) or not len(X):
        return False
    if _is_of("polars", X):
        return any(_is_more_than_numbers(column) for column in X)
    import pandas as pd

    infer = pd.api.types.infer_dtype
    return any(_needs_more(X.iloc[:, place], infer) for place in range(X.shape[1]))


def _is_more_than_numbers(column: Any) -> bool:
    """Whether a column of polars has another type than numbers and truth values, or some are missing."""
    if not (column.dtype.is_numeric() or str(column.dtype) == "Boolean"):
        return True
    return bool(column.has_nulls() or (column.dtype.is_float() and column.is_nan().any()))


def _needs_more(column: Any, infer: Any) -> bool:
    """The same for a column of pandas; categories count as what they are made of, objects as what they are."""
    if bool(column.isna().any()):
        return True
    dtype = getattr(getattr(column.dtype, "categories", column), "dtype", column.dtype)
    kind = getattr(dtype, "kind", "O")
    return kind not in "biufc" and (kind != "O" or infer(column, skipna=False) not in NUMBERS)


def learn_schema(X: Any) -> tuple[Schema, np.ndarray]:
    """What every column of a frame is, and its features by that."""
    tables = _tables()
    schema, features = tables.infer_features(tables.as_polars(X), first_row=0)
    return schema, features


def frame_of_words(X: np.ndarray) -> Any:
    """An array of words, or of words and numbers, as a frame whose columns are called by their numbers."""
    return _tables().words_as_polars(X)


def encode(schema: Schema, X: Any) -> np.ndarray:
    """Features of a frame by a schema that was learned from another; messages are those of the command line."""
    if not is_frame(X):
        shape = f" of shape {tuple(X.shape)}" if hasattr(X, "shape") else ""
        raise ValueError(
            f"X must be a data frame with the columns {listed(list(schema.names))}, because the model was fitted on "
            f"one, but it is a {type(X).__name__}{shape}. Pass a data frame of pandas or polars with these columns."
        )
    if not len(X):
        raise ValueError("Found array with 0 sample(s): X must have rows, but the data frame has none.")
    return schema.transform(_tables().as_polars(X), first_row=0)


def schema_from(data: Any) -> Schema:
    """Schema from the JSON of a model file; a ValueError if it is anything else."""
    schema: Schema = _tables().Schema.from_json(data)
    return schema


def names_inside(estimator: Any) -> np.ndarray | None:
    """Names of the features that an estimator learned from, such as "color=red"; None where columns have no names."""
    schema = getattr(estimator, "schema_", None)
    own = getattr(estimator, "feature_names_in_", None)
    return own if schema is None else np.array(schema.feature_names, dtype=object)


def _tables() -> Any:
    """The package that reads tables, which needs polars."""
    try:
        from unskew import tables
    except MissingExtra as error:
        raise MissingExtra(
            "a data frame with words, dates or missing values is read by polars and pyarrow, but they are not all "
            "installed. Install them: pip install 'unskew[tables]'. A frame of finite numbers needs neither."
        ) from error
    return tables
