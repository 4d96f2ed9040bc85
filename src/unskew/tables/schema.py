"""What the columns of a table are: kinds and the few numbers that go with them, as data."""

import datetime
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from unskew.errors import ModelFileError
from unskew.tables.values import KINDS, Kind


@dataclass(frozen=True)
class Column:
    """One column that becomes features.

    Attributes
    ----------
    kind : "numeric", "boolean", "categorical" or "date"
        How values are read; dates are days since 1970-01-01.
    n_rows, n_missing : int
        Rows it was inferred from, and those of them without a value.
    categories : tuple of str
        Distinct values in alphabetical order; of a categorical column only.
    mean, std, median, low, high : float
        Of the values that are there; of a boolean column its zeros and ones. Zero for a categorical column.
    hint : str
        What a user might want to mend, as a sentence; mostly empty.
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
    def note(self) -> str:
        """What the column holds, in plain words."""
        parts = [_ABOUT[self.kind](self)]
        if self.n_missing:
            parts.append(f"{_percent(self.n_missing, self.n_rows)} missing, marked by a feature of its own")
        if self.hint:
            parts.append(self.hint)
        return "; ".join(parts)


@dataclass(frozen=True)
class LeftOut:
    """One column that is not used, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Schema:
    """Columns that become features, in the order of the file, and columns that were left out."""

    columns: tuple[Column, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns that become features: what a file to score must have."""
        return tuple(column.name for column in self.columns)

    def describe(self) -> list[tuple[str, str, str]]:
        """Name, kind and a note in plain words, for every column; those left out come last, as kind "left out"."""
        used = [(column.name, str(column.kind), column.note) for column in self.columns]
        return used + [(each.name, "left out", each.reason) for each in self.left_out]

    def to_json(self) -> dict[str, Any]:
        """Schema as what JSON can hold."""
        return {
            "columns": [{**asdict(column), "categories": list(column.categories)} for column in self.columns],
            "left_out": [asdict(each) for each in self.left_out],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Schema":
        """Schema that `to_json` gave.

        Raises
        ------
        ModelFileError
            If it is none.
        """
        try:
            columns = tuple(_column_from(dict(each)) for each in data["columns"])
            left_out = tuple(LeftOut(str(each["name"]), str(each["reason"])) for each in data["left_out"])
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(
                f"the schema of a table must hold columns and what was left out, but it does not ({error!r}). The "
                "model file is damaged, or of another kind: fit again."
            ) from None
        return cls(columns, left_out)


def _column_from(data: dict[str, Any]) -> Column:
    categories = data.pop("categories")
    column = Column(**data, categories=tuple(categories))
    texts = (column.name, column.hint, *column.categories)
    numbers = (column.mean, column.std, column.median, column.low, column.high, column.n_rows, column.n_missing)
    if column.kind not in KINDS or not all(isinstance(each, str) for each in texts):
        raise ValueError(f"column {column.name!r} of kind {column.kind!r}")
    if not all(isinstance(each, int | float) and math.isfinite(each) for each in numbers):
        raise ValueError(f"numbers of column {column.name!r}")
    return column


def _percent(part: int, whole: int) -> str:
    share = 100 * part / whole
    return "under 1 %" if share < 1 else f"{share:.0f} %" if part < whole else "100 %"


def _about_categorical(column: Column) -> str:
    count = len(column.categories)
    return f"{count:,} {'category' if count == 1 else 'categories'}, one-hot"


def _about_date(column: Column) -> str:
    return f"{_iso_day(column.low)} to {_iso_day(column.high)}, as days"


def _iso_day(days: float) -> str:
    try:
        return (datetime.date(1970, 1, 1) + datetime.timedelta(days=math.floor(days))).isoformat()
    except OverflowError:  # Python's calendar ends sooner than that of Parquet
        return f"day {days:.0f}"


_ABOUT = {
    "numeric": lambda column: f"from {column.low:.6g} to {column.high:.6g}, mean {column.mean:.4g}",
    "boolean": lambda column: f"true in {100 * column.mean:.0f} % of those with a value",
    "categorical": _about_categorical,
    "date": _about_date,
}
