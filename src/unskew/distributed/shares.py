"""Which rows of a folder each worker learns from, and how it reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.data.records import PUData
from unskew.data.rows import DenseRows, Rows, RowsInParts
from unskew.data.team import Share, Team
from unskew.errors import TableError
from unskew.tables import (
    CsvFolder,
    EncodedRows,
    ParquetTable,
    Schema,
    encoded_frame,
    most_bytes,
    open_table,
    read_confidence,
    read_labels,
)

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Piece:
    """Rows that are read together: a row group of a Parquet file, or a CSV file."""

    path: str
    group: int | None
    n_rows: int

    def frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Rows of these columns, in frames of any size."""
        table = open_table(self.path)
        if isinstance(table, ParquetTable) and self.group is not None:
            return table.frames_of_group(table.files[0], self.group, list(columns))
        return table.frames(list(columns))


def pieces_of(table: Any) -> tuple[Piece, ...]:
    """Pieces of a table, in order; of CSV files after they were read once."""
    if isinstance(table, ParquetTable):
        groups = ((file, group) for file in table.files for group in range(file.metadata.num_row_groups))
        return tuple(Piece(str(file.path.absolute()), group, file.n_rows(group)) for file, group in groups)
    assert isinstance(table, CsvFolder)
    return tuple(Piece(str(path.absolute()), None, count) for path, count in table.counts.items())


@dataclass(frozen=True)
class SharedTable:
    """A folder whose rows are dealt to shards.

    Attributes
    ----------
    pieces : tuple of Piece
    schema : dict
        As JSON.
    label, confidence : str
        Names of columns; the second may be None.
    n_shards : int
    """

    pieces: tuple[Piece, ...]
    schema: dict[str, Any]
    label: str
    confidence: str | None
    blank_is_unlabeled: bool
    n_shards: int

    @property
    def n_rows(self) -> int:
        """Count of rows."""
        return sum(each.n_rows for each in self.pieces)

    def range_of(self, shard: int) -> tuple[int, int]:
        """Rows of a shard: neighbors, as many as in the others but for one."""
        return shard * self.n_rows // self.n_shards, (shard + 1) * self.n_rows // self.n_shards

    def frames_of(self, shard: int, columns: Sequence[str]) -> Iterator[tuple[Piece, int, pl.DataFrame]]:
        """Rows of a shard: frames with the piece that each is from, and the number of its first row there, from 1."""
        begin, end = self.range_of(shard)
        before = 0
        for piece in self.pieces:
            if before < end and begin < before + piece.n_rows:
                yield from _between(piece, columns, begin - before, end - before)
            before += piece.n_rows


def _between(piece: Piece, columns: Sequence[str], begin: int, end: int) -> Iterator[tuple[Piece, int, pl.DataFrame]]:
    """Those rows of a piece."""
    read = 0
    for frame in piece.frames(columns):
        low, high = max(begin - read, 0), min(end - read, frame.height)
        if low < high:
            yield piece, read + low + 1, frame[low:high]
        read += frame.height
        if read >= end:
            return


def read_share(table: SharedTable, team: Team, journal: Any) -> PUData:
    """The labeled rows of all workers, and the others of this worker's shards."""
    schema = Schema.from_json(table.schema)
    _require_room(table, schema, team)
    shards = [_read_shard(table, shard, schema) for shard in team.shards]
    counts = [np.array([len(each.labeled), len(each.unlabeled)]) for each in shards]
    n_labeled, n_unlabeled = _gathered(team, counts, [2] * team.n_shards).reshape(-1, 2).T.tolist()
    width = len(schema.feature_names)
    features = _gathered(team, [each.labeled for each in shards], [n * width for n in n_labeled]).reshape(-1, width)
    confidence = _gathered(team, [each.confidence for each in shards], n_labeled)
    X = RowsInParts([DenseRows(features), *(each.unlabeled for each in shards)])
    return PUData(
        X,
        np.arange(len(features)),
        np.arange(len(features), len(X)),
        None if table.confidence is None else confidence,
        share=Share(team, tuple(n_unlabeled), journal),
    )


@dataclass(frozen=True)
class _Shard:
    labeled: np.ndarray
    confidence: np.ndarray
    unlabeled: Rows


def _read_shard(table: SharedTable, shard: int, schema: Schema) -> _Shard:
    roles = [table.label, *([] if table.confidence is None else [table.confidence])]
    names = list(dict.fromkeys([*schema.names, *roles]))
    labeled, confidence, unlabeled = [], [], []
    for piece, first_row, frame in table.frames_of(shard, names):
        path = Path(piece.path)
        rows = encoded_frame(schema, frame, path=path, first_row=first_row)
        y = read_labels(frame, table.label, blank_is_unlabeled=table.blank_is_unlabeled, path=path)
        known, others = np.flatnonzero(y), np.flatnonzero(y == 0)
        if table.confidence is not None:
            values = read_confidence(frame, table.confidence, y, path=path, some_counts=False)
            confidence.append(values[known])
        labeled.append(rows.take(known))
        unlabeled.append(rows.part(others))
    together = unlabeled[0].followed_by(unlabeled[1:])
    plain = DenseRows(together.numbers) if not len(together.layout.codes) else together
    return _Shard(np.concatenate(labeled), np.concatenate([np.empty(0), *confidence]), plain)


def _gathered(team: Team, parts: Sequence[np.ndarray], sizes: Sequence[int]) -> np.ndarray:
    import torch

    flat = [torch.from_numpy(np.ascontiguousarray(each)).reshape(-1) for each in parts]
    return np.asarray(torch.cat(team.gather(flat, sizes)).numpy())


def _require_room(table: SharedTable, schema: Schema, team: Team) -> None:
    """Refuse shards that this machine has no memory for."""
    most = max(table.range_of(shard)[1] - table.range_of(shard)[0] for shard in team.shards)
    needed, room = most * len(team.shards) * EncodedRows.bytes_of_row(schema), most_bytes()
    if needed > room:
        raise MemoryError(
            f"the rows of a worker must fit into its memory, but they take {needed / 1e6:,.0f} MB, and may take "
            f"{room / 1e6:,.0f} MB now. Use more workers on more machines, leave out columns, or set "
            "UNSKEW_MAX_TABLE_BYTES to allow more."
        )


def require_rows(table: Any, n_rows: int, n_shards: int) -> None:
    """Refuse a folder with so few rows that a shard would have none to learn from."""
    if n_rows < 4 * n_shards:
        raise TableError(
            f"{table.path}: a folder that workers share must have at least {4 * n_shards} rows, four for each of "
            f"{n_shards} shards, but it has {n_rows:,}. Fit it without workers."
        )
