"""Parquet files as frames, in constant memory."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock

import polars as pl

from unskew.errors import TableError

ROWS_AT_ONCE = 1 << 18
"""A row group is decoded once for every slice that touches it, so slices are larger than the usual batch."""


@dataclass(frozen=True)
class ParquetTable:
    """A Parquet file whose column names are known; `notes` is what a user should be told about how it is read."""

    path: Path
    columns: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def frames(self, columns: list[str] | None = None) -> Iterator[pl.DataFrame]:
        """Rows from first to last, in frames of any size, with the types of the file."""
        for begin in range(0, self.count_rows(), ROWS_AT_ONCE):
            with _told_if_damaged(self.path):
                rows = self._scan.select(columns or list(self.columns)).slice(begin, ROWS_AT_ONCE)
                frame = rows.collect()
            yield frame

    def no_rows(self, columns: list[str]) -> pl.DataFrame:
        """What `frames` would give of these columns, without a row."""
        with _told_if_damaged(self.path):
            return self._scan.select(columns).head(0).collect()

    def count_rows(self) -> int:
        """Count of rows, which the file itself knows."""
        with _told_if_damaged(self.path):
            return int(self._scan.select(pl.len()).collect().item())

    @cached_property
    def _scan(self) -> pl.LazyFrame:
        return pl.scan_parquet(self.path, glob=False, hive_partitioning=False)


def open_parquet(path: Path) -> ParquetTable:
    """Read the names of the columns.

    Raises
    ------
    TableError
        If the file is no Parquet file or is damaged.
    """
    with open(path, "rb") as file:
        whole = file.read(4) == b"PAR1" and file.seek(-4, 2) >= 8 and file.read(4) == b"PAR1"
    if not whole:
        raise TableError(
            f"{path}: a Parquet file must begin and end with the letters PAR1, but this one does not: it is cut off or "
            "another kind of file. Copy or write it again, or give a CSV file the ending .csv."
        )
    with _told_if_damaged(path):
        names = list(pl.scan_parquet(path, glob=False, hive_partitioning=False).collect_schema())
    return ParquetTable(path, tuple(names))


@contextmanager
def _told_if_damaged(path: Path) -> Iterator[None]:
    try:
        with _panics_kept_quiet():
            yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, MemoryError) as error:
        panicked = isinstance(error, pl.exceptions.PanicException)
        reason = "damaged inside" if panicked else (str(error).strip().splitlines() or [repr(error)])[0]
        raise TableError(
            f"{path}: a Parquet file must be whole and readable by polars, but it is not ({reason}). Write it again."
        ) from None


_stderr_lock = Lock()


@contextmanager
def _panics_kept_quiet() -> Iterator[None]:
    """Drop what Rust writes to the terminal when a damaged file makes it panic: the message that follows is enough.

    Anything else that is written meanwhile appears afterwards.
    """
    with _stderr_lock, tempfile.TemporaryFile() as written:
        try:
            terminal = os.dup(2)
        except OSError:  # there is none
            yield
            return
        os.dup2(written.fileno(), 2)
        panicked = False
        try:
            yield
        except pl.exceptions.PanicException:
            panicked = True
            raise
        finally:
            os.dup2(terminal, 2)
            if not panicked and written.seek(0, os.SEEK_END):
                written.seek(0)
                os.write(terminal, written.read())
            os.close(terminal)
