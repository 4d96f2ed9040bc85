"""How the files of a folder are cut into parts of work, and where what is known of each part waits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew._support.files import replacing, write_atomically
from unskew._version import __version__
from unskew.errors import TableError
from unskew.tables import READABLE_ENDINGS, ParquetTable, check_ending, open_table, read_batches

if TYPE_CHECKING:
    import polars as pl

ROWS_OF_PART = 1 << 20
"""Rows of a Parquet file that one task scores, at most, if its row groups are not larger."""


@dataclass(frozen=True)
class Part:
    """Some rows of a file that one task scores: consecutive row groups, or all of a file without row groups.

    Attributes
    ----------
    number : int
        Among the parts of all files.
    path : str
    groups : tuple of int or None
        Numbers of the row groups; None for the whole file.
    first_row : int
        Number of the first row in the file, from 1.
    """

    number: int
    path: str
    groups: tuple[int, ...] | None = None
    first_row: int = 1

    def frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Rows of these columns, in frames of any size: at least one, which may have no rows."""
        table = open_table(self.path)
        if self.groups is None:
            yield from read_batches(table, list(columns), may_be_empty=True)
            return
        assert isinstance(table, ParquetTable)
        for group in self.groups:
            yield from table.frames_of_group(table.files[0], group, list(columns))


@dataclass(frozen=True)
class Request:
    """What is scored, and how.

    Attributes
    ----------
    model : str
        Path of the model file.
    files : tuple of str
        Paths of the files, in the order of their names.
    out : str
        Folder of the results.
    ids : tuple of str
        Columns to keep.
    raw : bool
        Whether cells of CSV files stay as they are.
    """

    model: str
    files: tuple[str, ...]
    out: str
    ids: tuple[str, ...] = ()
    raw: bool = False

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The parts of all files, in order."""
        found: list[Part] = []
        for path in self.files:
            table = open_table(path)
            if not isinstance(table, ParquetTable) or not table.n_rows:
                found.append(Part(len(found), path))
                continue
            for groups, first_row in _groups_together(table):
                found.append(Part(len(found), path, groups, first_row))
        return tuple(found)

    def parts_of(self, path: str) -> list[Part]:
        """The parts of one file."""
        return [each for each in self.parts if each.path == path]

    def result_of(self, path: str) -> Path:
        """Where the rows of a file go."""
        return Path(self.out) / Path(path).name

    @cached_property
    def mark(self) -> str:
        """Changes if the same request would give another result: with any of its files."""
        states = [(each, Path(each).stat().st_size, Path(each).stat().st_mtime_ns) for each in self.files]
        model = hashlib.sha256(Path(self.model).read_bytes()).hexdigest()
        return hashlib.sha256(json.dumps([__version__, model, states, self.ids, self.raw]).encode()).hexdigest()


def _groups_together(table: ParquetTable) -> Iterator[tuple[tuple[int, ...], int]]:
    """Consecutive row groups that are scored by one task, with the number of their first row."""
    (file,) = table.files
    together: list[int] = []
    first_row, held = 1, 0
    for group in range(file.metadata.num_row_groups):
        count = file.n_rows(group)
        if together and held + count > ROWS_OF_PART:
            yield tuple(together), first_row
            together, first_row, held = [], first_row + held, 0
        together.append(group)
        held += count
    yield tuple(together), first_row


def tables_in(folder: Path, purpose: str) -> list[Path]:
    """Paths of the tables in a folder, in the order of their names; or of the one file that was named."""
    if folder.is_file():
        return [folder]
    if not folder.is_dir():
        raise TableError(f"{folder}: there must be a folder of tables, but there is none. Check the path.")
    found = sorted(
        each
        for each in folder.iterdir()
        if each.is_file() and not each.name.startswith((".", "_")) and each.name.lower().endswith(READABLE_ENDINGS)
    )
    if not found:
        raise TableError(
            f"{folder}: a folder to {purpose} must hold tables ({', '.join(READABLE_ENDINGS)}), but there are none "
            "(folders, and names that begin with '.' or '_', do not count). Check the path."
        )
    return found


def files_in(folder: Path, out: Path) -> tuple[str, ...]:
    """Paths of the tables to score."""
    found = tables_in(folder, "score")
    for each in found:
        check_ending(each)  # results have the names of the files
    if out.exists() and out.samefile(found[0].parent):
        raise FileExistsError(f"{out} must not be the folder that is read. Choose another one with --out.")
    return tuple(str(each.absolute()) for each in found)


class Waiting:
    """The hidden folder in which what is known of each part waits until all is written.

    A part is done when its record is there, which is written last.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def record(self, kind: str, number: int) -> dict[str, Any] | None:
        """What was found about a part, if it is done."""
        path = self.folder / f"{kind}-{number}.json"
        found: dict[str, Any] | None = json.loads(path.read_bytes()) if path.exists() else None
        return found

    def finish(self, kind: str, number: int, record: dict[str, Any]) -> None:
        """Write down that a part is done."""
        write_atomically(self.folder / f"{kind}-{number}.json", json.dumps(record, allow_nan=False).encode())

    def save(self, kind: str, number: int, arrays: Iterable[np.ndarray]) -> None:
        """Write arrays of one type, one after another."""
        with replacing(self._path(kind, number)) as file:
            for each in arrays:
                file.write(np.ascontiguousarray(each).data)

    def array(self, kind: str, number: int, dtype: type = np.float64) -> np.ndarray:
        """What was saved, in a row; its pages are read when they are needed."""
        path = self._path(kind, number)
        return np.memmap(path, dtype, "r") if path.stat().st_size else np.empty(0, dtype)

    def _path(self, kind: str, number: int) -> Path:
        return self.folder / f"{kind}-{number}.numbers"
