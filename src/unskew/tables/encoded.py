"""Features of a table in little memory: numbers as float32, categories as codes, which become one-hot in a batch."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl
from scipy import sparse

from unskew._support.text import StrPath
from unskew.data.rows import Rows
from unskew.tables._values import read_column
from unskew.tables.schema import Column, Schema, categories_of, number_feature

ROWS_AT_ONCE = 1 << 16

Encoded = tuple[np.ndarray | None, np.ndarray | None]
"""The number of each row and its code, where a column has them."""


@dataclass(frozen=True)
class Layout:
    """Where the features of a schema come from.

    Attributes
    ----------
    numbers : int array
        Place of each feature that is a number of its own.
    codes : int array
        Place of the first feature of each group of which a row has at most one: categories and what marks a missing
        value.
    none : int
        Code of a row that has none of its group.
    """

    n_features: int
    numbers: np.ndarray
    codes: np.ndarray
    none: int

    @classmethod
    def of(cls, columns: Sequence[Column]) -> Self:
        """That of the features of these columns."""
        numbers, codes, place, most = [], [], 0, 0
        for column in columns:
            numbers += [place] if column.varies else []
            if column.categories or column.n_missing:
                codes.append(place + column.varies)
                most = max(most, len(column.categories) + 1)
            place += len(column.feature_names)
        none = int(np.iinfo(np.min_scalar_type(most)).max)
        return cls(place, np.array(numbers, dtype=np.int64), np.array(codes, dtype=np.int64), none)

    @property
    def kind_of_codes(self) -> np.dtype:
        """Type that codes are kept in."""
        return np.dtype(np.min_scalar_type(self.none))

    @property
    def row_bytes(self) -> int:
        """Memory of a row."""
        return 4 * len(self.numbers) + self.kind_of_codes.itemsize * len(self.codes)

    def encode(self, column: Column, values: pl.Series) -> Encoded:
        """Features of one column; see `Schema.encode`."""
        number = number_feature(column, values).astype(np.float32) if column.varies else None
        if not (column.categories or column.n_missing):
            return number, None
        n_categories, missing = len(column.categories), values.is_null().to_numpy()
        code = np.full(len(values), self.none, dtype=self.kind_of_codes)
        if n_categories:
            known = values.cast(categories_of(column), strict=False).to_physical()
            code[:] = known.cast(pl.UInt32).fill_null(self.none).to_numpy()
        if column.n_missing:
            code[missing] = n_categories
        return number, code


def encoded_frame(schema: Schema, frame: pl.DataFrame, *, path: StrPath | None, first_row: int = 1) -> "EncodedRows":
    """Rows of a frame that has at least the columns of the schema; errors count rows from `first_row`."""
    values = (read_column(frame[each.name], each.kind, path=path, first_row=first_row) for each in schema.columns)
    return EncodedRows.of(schema, values, frame.height)


class EncodedRows(Rows):
    """Rows of a table, of which only the batch that is taken becomes one-hot."""

    in_memory = True

    def __init__(self, layout: Layout, numbers: np.ndarray, codes: np.ndarray) -> None:
        self.layout, self.numbers, self.codes = layout, numbers, codes
        self.shape = (layout.n_features,)

    @classmethod
    def of(cls, schema: Schema, values: Iterable[pl.Series], n_rows: int) -> Self:
        """Features of columns that have been read by their kinds; see `Schema.encode`."""
        layout = Layout.of(schema.columns)
        parts = (layout.encode(*each) for each in zip(schema.columns, values, strict=True))
        return cls.from_parts(layout, parts, n_rows)

    @staticmethod
    def bytes_of_row(schema: Schema) -> int:
        """Memory of a row of such a table."""
        return Layout.of(schema.columns).row_bytes

    @classmethod
    def from_parts(cls, layout: Layout, parts: Iterable[Encoded], n_rows: int) -> Self:
        """Put together what `Layout.encode` gave for each column."""
        numbers = np.empty((n_rows, len(layout.numbers)), dtype=np.float32)
        codes = np.empty((n_rows, len(layout.codes)), dtype=layout.kind_of_codes)
        places = [0, 0]
        for pair in parts:
            for kind, (block, values) in enumerate(zip((numbers, codes), pair, strict=True)):
                if values is not None:
                    block[:, places[kind]] = values
                    places[kind] += 1
        return cls(layout, numbers, codes)

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def n_bytes(self) -> int:
        """Memory that it holds."""
        return self.numbers.nbytes + self.codes.nbytes

    def take(self, index: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Rows of these numbers; see `Rows.take`."""
        out = np.empty((len(index), *self.shape), dtype=np.float32) if out is None else out
        out[:] = 0
        out[:, self.layout.numbers] = np.take(self.numbers, index, axis=0)
        row, group, code = self._entries(index)
        out[row, self.layout.codes[group] + code] = 1
        return out

    def __getitem__(self, index: np.ndarray) -> np.ndarray:
        return self.take(index)

    def part(self, index: np.ndarray) -> Self:
        """These rows, still encoded."""
        return type(self)(self.layout, self.numbers[index], self.codes[index])

    def followed_by(self, others: Sequence[Self]) -> Self:
        """These rows, and others of the same schema after them."""
        every = self, *others
        joined = (np.concatenate([getattr(each, name) for each in every]) for name in ("numbers", "codes"))
        return type(self)(self.layout, *joined)

    def table(self, rows: np.ndarray | None = None) -> sparse.csr_array:
        """Rows as a sparse matrix."""
        index = np.arange(len(self)) if rows is None else rows
        # In blocks: the places of all entries at once would take several times the memory of the matrix.
        starts = range(0, max(1, len(index)), ROWS_AT_ONCE)
        return sparse.vstack([self._sparse(index[start : start + ROWS_AT_ONCE]) for start in starts], format="csr")

    def _sparse(self, index: np.ndarray) -> sparse.csr_array:
        row, group, code = self._entries(index)
        n, places = len(index), self.layout.numbers
        rows_of = np.concatenate([np.repeat(np.arange(n), len(places)), row])
        columns = np.concatenate([np.tile(places, n), self.layout.codes[group] + code])
        entries = np.concatenate([self.numbers[index].ravel(), np.ones(len(row), dtype=np.float32)])
        return sparse.csr_array((entries, (rows_of, columns)), shape=(n, *self.shape))

    def _entries(self, index: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Row, group and code of each feature of a group that is 1."""
        codes = np.take(self.codes, index, axis=0)
        row, group = np.nonzero(codes != self.layout.none)
        return row, group, codes[row, group].astype(np.int64)
