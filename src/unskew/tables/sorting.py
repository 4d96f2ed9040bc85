"""Rows from the highest score to the lowest, in memory that does not grow with their number."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unskew.tables.reading import ROWS_AT_ONCE

RUN_ROWS, RUN_BYTES = 1 << 18, 256 << 20
"""Rows, and bytes of them, that are sorted in memory at once."""


class BestFirst:
    """Sorts frames by a column of floats, the highest first; ties keep the order in which they came.

    What does not fit into memory waits in a folder as sorted runs. These are merged block by block: for every block it
    is known where it begins and ends in each run, because the scores of all runs are also sorted together.

    Parameters
    ----------
    folder : Path
        Where runs are written; whoever owns the folder removes it.
    by : str
        Column of float64 without missing values.
    top : int, optional
        How many rows are wanted; None for all. If few are, nothing is written.
    """

    def __init__(self, folder: Path, by: str, top: int | None = None) -> None:
        self._by, self._top = by, top
        self._keys, self._run_file = folder / "keys", "{}/run-{}.arrow".format
        self._folder = folder
        self._sizes: list[int] = []
        self._waiting: list[pl.DataFrame] = []

    def add(self, frame: pl.DataFrame) -> None:
        """Take in rows; all frames have the same columns."""
        self._waiting.append(frame)
        if not _is_full(self._waiting, RUN_ROWS, RUN_BYTES):
            return
        best = self._sorted()
        self._waiting = [best]
        if _is_full(self._waiting, RUN_ROWS // 2, RUN_BYTES // 2):
            self._write_run(best)
            self._waiting = []

    def frames(self) -> Iterator[pl.DataFrame]:
        """The rows in order, in frames of any size: at least one, which may have no rows."""
        if not self._sizes:
            rows = self._sorted()
            yield from rows.iter_slices(ROWS_AT_ONCE) if rows.height else [rows]
            return
        if self._waiting:
            self._write_run(self._sorted())
            self._waiting = []
        yield from self._merged()

    def _sorted(self) -> pl.DataFrame:
        rows = pl.concat(self._waiting)
        order = np.argsort(-rows[self._by].to_numpy(), kind="stable")
        return rows[order[: self._top]]

    def _write_run(self, rows: pl.DataFrame) -> None:
        """Write sorted rows, and beside them their keys, which rise where the scores fall."""
        import pyarrow as pa

        append_floats(self._keys, -rows[self._by].to_numpy())
        table = rows.rechunk().to_arrow()
        path = self._run_file(self._folder, len(self._sizes))
        with _room_in(self._folder), pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        self._schema = rows.schema
        self._sizes.append(rows.height)

    def _merged(self) -> Iterator[pl.DataFrame]:
        ends = np.cumsum(self._sizes)
        everything = np.memmap(self._keys, np.float64, "r")
        keys = np.split(everything, ends[:-1])
        in_order = sorted_on_disk(self._keys)
        runs = [_mapped(self._run_file(self._folder, number)) for number in range(len(ends))]
        n_rows = int(ends[-1]) if self._top is None else min(self._top, int(ends[-1]))
        begin = np.zeros(len(runs), dtype=np.int64)
        for done in range(0, n_rows, ROWS_AT_ONCE):
            end = _first_in_each(keys, in_order, min(done + ROWS_AT_ONCE, n_rows))
            parts = [
                run.slice(int(first), int(last - first)) for run, first, last in zip(runs, begin, end, strict=True)
            ]
            block = pl.concat([_as_frame(part, self._schema) for part in parts if len(part)])
            yield block[np.argsort(-block[self._by].to_numpy(), kind="stable")]
            begin = end


def append_floats(path: Path, numbers: np.ndarray) -> None:
    """Write floats to the end of a file."""
    with _room_in(path.parent), open(path, "ab") as file:
        file.write(np.ascontiguousarray(numbers, dtype=np.float64).tobytes())


def sorted_on_disk(path: Path) -> np.ndarray:
    """The floats of a file from the lowest to the highest, in a second file that stands for memory."""
    if not path.stat().st_size:
        return np.empty(0)
    other = path.with_name(f"{path.name}-sorted")
    with _room_in(path.parent):
        shutil.copyfile(path, other)
    numbers = np.memmap(other, np.float64, "r+")
    numbers.sort()  # in place: what does not fit into memory is written back by the system
    return numbers


@contextmanager
def _room_in(folder: Path) -> Iterator[None]:
    """Say in an error which folder has no room, and not which file in it, of which nobody knows."""
    try:
        yield
    except OSError as error:
        full = OSError(
            f"{folder.parent}: rows must wait in this folder while they are sorted, but they could not be written: "
            f"{error.strerror or error}. Nothing was left behind; free some space, or choose another folder."
        )
        full.errno = error.errno
        raise full from error


def _first_in_each(keys: list[np.ndarray], in_order: np.ndarray, count: int) -> np.ndarray:
    """How many rows of each run are among the first `count` of all; of ties those of earlier runs are."""
    last = in_order[count - 1]
    before = np.array([np.searchsorted(each, last, "left") for each in keys])
    ties = np.array([np.searchsorted(each, last, "right") for each in keys]) - before
    wanted = count - before.sum() - (np.cumsum(ties) - ties)
    return np.asarray(before + np.clip(wanted, 0, ties))


def _is_full(frames: list[pl.DataFrame], n_rows: int, n_bytes: int) -> bool:
    return sum(each.height for each in frames) >= n_rows or sum(each.estimated_size() for each in frames) >= n_bytes


def _mapped(path: str) -> Any:
    """A run whose pages are read when they are needed, as a table of pyarrow."""
    import pyarrow as pa

    return pa.ipc.open_file(pa.memory_map(path)).read_all()


def _as_frame(table: Any, schema: pl.Schema) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame.cast(schema)  # categories come back as another type
