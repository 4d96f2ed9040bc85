"""Parquet files that are larger than memory, encoded by a schema while they are read."""

from functools import partial
from typing import Any

import numpy as np

from unskew.data.parquet import ParquetRows
from unskew.data.row_groups import damage
from unskew.tables._values import read_column
from unskew.tables.encoded import EncodedRows, Layout
from unskew.tables.reading import ParquetTable, open_table
from unskew.tables.schema import Schema

MEMORY = 256 << 20
"""Bytes for encoded rows in memory."""


class EncodedParquetRows(ParquetRows):
    """Rows of Parquet files with words, dates and missing values; see `ParquetRows`.

    Windows and kept rows are in memory as numbers and codes, which take far less than features that are mostly zeros.
    """

    def __init__(self, table: ParquetTable, schema: Schema, *, memory: float = MEMORY) -> None:
        self.path = table.path.absolute()
        self.schema, self._table, self._layout = schema, table, Layout.of(schema.columns)
        # Whoever writes a table from a data frame rarely chooses how large its row groups are.
        largest = max(file.n_rows(number) for file in table.files for number in range(file.metadata.num_row_groups))
        memory = max(memory, 4 * largest * self._layout.row_bytes + 4)
        self._open(table.files, self._layout.n_features, self._layout.row_bytes, memory)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(_opened_again, memory=self.memory), (self.path, self.schema)

    def part(self, rows: np.ndarray) -> EncodedRows:
        """These rows, whose numbers are in order, in memory."""
        with self._turn:
            self.walk()
            return self._fetch(rows)

    def _fetch(self, rows: np.ndarray) -> EncodedRows:
        window, position = self._places(rows)
        parts = [self._window(int(each)).part(position[window == each]) for each in np.unique(window)]
        return parts[0].followed_by(parts[1:]) if parts else self._encode([], 0)

    def _read(self, groups: np.ndarray) -> EncodedRows:
        parts: list[EncodedRows] = []
        for group in groups:
            file, number = self._groups[group]
            first_row, n_before = 1 + int(self._starts[group]), len(parts)
            for frame in self._table.frames_of_group(file, number, list(self.schema.names)):
                columns = [
                    read_column(frame[each.name], each.kind, path=self.path, first_row=first_row)
                    for each in self.schema.columns
                ]
                parts.append(self._encode(columns, frame.height))
                first_row += frame.height
            found = sum(len(each) for each in parts[n_before:])
            if found != file.n_rows(number):
                raise damage(file.path, f"its row group {number}", f"{found:,} rows instead of {file.n_rows(number):,}")
        return parts[0].followed_by(parts[1:])

    def _encode(self, columns: list[Any], n_rows: int) -> EncodedRows:
        parts = (self._layout.encode(*each) for each in zip(self.schema.columns, columns, strict=False))
        return EncodedRows.from_parts(self._layout, parts, n_rows)


def _opened_again(path: Any, schema: Schema, *, memory: float) -> EncodedParquetRows:
    table = open_table(path)
    assert isinstance(table, ParquetTable)
    return EncodedParquetRows(table, schema, memory=memory)
