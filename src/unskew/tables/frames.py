"""Data frames of pandas as frames of polars, which is what a schema reads."""

from typing import Any

import numpy as np
import polars as pl

from unskew._support.text import listed, shown
from unskew.errors import TableError
from unskew.tables._values import check_names


def as_polars(frame: Any) -> pl.DataFrame:
    """A frame of pandas or polars with the names of its columns as text; the index of pandas is not a column."""
    names = [str(name) for name in frame.columns]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise TableError(
            f"the names of columns must differ, but X has {listed(repeated)} more than once (numbers count as their "
            "text). Rename one of them, or leave it out."
        )
    check_names(None, names)
    if isinstance(frame, pl.DataFrame):
        return frame
    return pl.DataFrame([_series_of(name, frame.iloc[:, place]) for place, name in enumerate(names)])


def words_as_polars(array: np.ndarray) -> pl.DataFrame:
    """Words, or objects of any kind, as columns of text, which is how a CSV file would hold them."""
    columns = (_as_text(str(place), column) for place, column in enumerate(array.T.tolist()))
    return pl.DataFrame(list(columns))


def _series_of(name: str, column: Any) -> pl.Series:
    """A column of pandas; what polars has no type for (mixed objects, intervals, periods) becomes text, as in a CSV."""
    if getattr(column.dtype, "kind", "") == "c":
        raise TableError(
            f"column {shown(name)} must hold real numbers, but they are complex. Complex data not supported: split the "
            "column into two."
        )
    sparse = getattr(column, "sparse", None)
    column = column if sparse is None else sparse.to_dense()
    if _type_of_values(column).startswith(("interval", "period")):  # structs and codes, in polars
        return _by_value(name, column)
    try:
        return pl.Series(name, pl.from_pandas(column))
    except Exception:  # pyarrow and polars have many kinds of errors for what they cannot hold
        return _by_value(name, column)


def _type_of_values(column: Any) -> str:
    """Name of the type of the values, also of those that are categories."""
    return str(getattr(column.dtype, "categories", column).dtype)


def _by_value(name: str, column: Any) -> pl.Series:
    """Values one by one: numbers as float64, anything else as text."""
    if getattr(column.dtype, "kind", "O") in "iuf":
        return pl.Series(name, column.to_numpy(dtype=np.float64, na_value=np.nan))
    values = zip(column.astype(object).tolist(), column.isna().tolist(), strict=True)
    return _as_text(name, [None if missing else value for value, missing in values])


def _as_text(name: str, values: list[Any]) -> pl.Series:
    return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)
