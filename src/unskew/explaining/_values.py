"""Values of the rows that are explained, as people read them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew._support.text import number_in_words
from unskew.data.rows import Rows
from unskew.explaining._columns import Columns

if TYPE_CHECKING:
    from unskew.tables import Column, Schema


class Values(ABC):
    """What the columns of the table hold, row by row."""

    @abstractmethod
    def in_words(self, row: int, names: list[str]) -> list[str | None]:
        """Values of these columns in a row; None where a column of several features has no single one."""


@dataclass(frozen=True)
class ValuesOfFrame(Values):
    """Values of a data frame with words, dates and missing values, as the schema reads them."""

    schema: Schema
    frame: Any

    def in_words(self, row: int, names: list[str]) -> list[str | None]:
        """Words as they are, truth values, days, numbers with the decimals that their column needs."""
        return [column.in_words(values[row]) for column, values in (self._read[name] for name in names)]

    @cached_property
    def _read(self) -> dict[str, tuple[Column, Any]]:
        """All columns with their values as they are read by their kinds; only once someone asks."""
        from unskew.tables import as_polars, read_column

        frame = as_polars(self.frame)
        return {each.name: (each, read_column(frame[each.name], each.kind)) for each in self.schema.columns}


@dataclass(frozen=True)
class ValuesOfRows(Values):
    """Values of an array, or of rows that are read from files."""

    rows: Rows
    columns: Columns
    spread: np.ndarray

    def in_words(self, row: int, names: list[str]) -> list[str | None]:
        """Numbers with the decimals that their column needs."""
        numbers = self.rows.take(np.array([row]))[0].astype(np.float64)
        found: list[str | None] = []
        for name in names:
            own = np.flatnonzero(self.columns.of_feature == self.columns.names.index(name))
            one = own[0] if len(own) == 1 else None
            found.append(None if one is None else number_in_words(float(numbers[one]), float(self.spread[one])))
        return found
