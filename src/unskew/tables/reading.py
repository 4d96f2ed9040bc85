"""Opening a table and reading its rows, whichever format it has."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from unskew._support.text import StrPath, shown
from unskew.data.row_groups import File, damage, look_into, look_into_files
from unskew.errors import TableError, closest_name
from unskew.tables._csv import CsvTable, open_csv
from unskew.tables._values import check_names, require_column

if TYPE_CHECKING:
    import pyarrow as pa

PARQUET_ENDINGS = (".parquet", ".pq")
CSV_ENDINGS = {".csv": None, ".csv.gz": None, ".txt": None, ".tsv": "\t", ".tsv.gz": "\t", ".tab": "\t"}
READABLE_ENDINGS = (*CSV_ENDINGS, *PARQUET_ENDINGS)
OTHER_KINDS = {
    b"PK\x03\x04": "a zip or Excel file",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"PAR1": "a Parquet file, whose name must end in .parquet",
    b"%PDF": "a PDF file",
}
ROWS_AT_ONCE = 1 << 16
UNKNOWN_MEMORY = 8 << 30
"""Bytes that are taken to be free where the system does not say."""


@dataclass(frozen=True)
class ParquetTable:
    """A Parquet file, or several, whose column names are known; `notes` says what a user should know about it."""

    path: Path
    files: tuple[File, ...]
    columns: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_names(self.path, self.columns)

    @property
    def n_rows(self) -> int:
        """Count of rows, as the files say."""
        return sum(int(each.metadata.num_rows) for each in self.files)

    def frames(self, columns: list[str]) -> Iterator[pl.DataFrame]:
        """Rows from first to last, in frames of any size, with the types of the files."""
        for file in self.files:
            n_rows, wanted = 0, int(file.metadata.num_rows)
            with file.reading("its data") as opened:
                for batch in opened.iter_batches(ROWS_AT_ONCE, columns=columns):
                    yield self.to_frame(batch, columns)
                    n_rows += batch.num_rows
            if n_rows != wanted:
                raise damage(file.path, "its data", f"{n_rows:,} rows instead of {wanted:,}")

    def frames_of_group(self, file: File, number: int, columns: list[str]) -> Iterator[pl.DataFrame]:
        """Rows of one row group of a file."""
        with file.reading(f"its row group {number}") as opened:
            for batch in opened.iter_batches(ROWS_AT_ONCE, row_groups=[number], columns=columns):
                yield self.to_frame(batch, columns)

    def no_rows(self, columns: list[str]) -> pl.DataFrame:
        """What `frames` would give for these columns, without a row."""
        return self._to_polars(self.files[0].schema.empty_table(), columns)

    def to_frame(self, batch: "pa.RecordBatch", columns: list[str]) -> pl.DataFrame:
        """Rows as pyarrow gives them."""
        import pyarrow as pa

        batch.validate(full=True)  # polars takes it for granted that text is UTF-8
        return self._to_polars(pa.table(batch), columns)

    def _to_polars(self, table: "pa.Table", columns: list[str]) -> pl.DataFrame:
        import pyarrow as pa

        table = table.select(columns)  # pyarrow also gives "name.more" for "name", and the order of the file
        for place, kind in enumerate(table.schema.types):
            if pa.types.is_decimal256(kind):  # polars has no such type
                floats = table.column(place).cast(pa.float64())
                table = table.set_column(place, table.schema.names[place], floats)
        try:
            frame = pl.from_arrow(table)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise damage(self.path, "its data", str(error).strip().partition("\n")[0].rstrip(".")) from None
        assert isinstance(frame, pl.DataFrame)
        frame.columns = columns  # polars gives a column without a name one
        return frame


@dataclass(frozen=True)
class CsvFolder:
    """CSV files with the same columns, one after another; see `open_folder`.

    Attributes
    ----------
    counts : dict of path to int
        Rows of each file, once `frames` has read them.
    """

    path: Path
    tables: tuple[CsvTable, ...]
    columns: tuple[str, ...]
    notes: tuple[str, ...]
    counts: dict[Path, int] = field(default_factory=dict)

    n_rows = None

    def frames(self, columns: list[str]) -> Iterator[pl.DataFrame]:
        """Rows from first to last, in frames of any size; every column is text, blank fields are null."""
        for table in self.tables:
            count = 0
            for frame in table.frames(columns):
                count += frame.height
                yield frame
            self.counts[table.path] = count

    def no_rows(self, columns: list[str]) -> pl.DataFrame:
        """What `frames` would give for these columns, without a row."""
        return self.tables[0].no_rows(columns)


Table = CsvTable | ParquetTable | CsvFolder


def open_table(path: StrPath) -> Table:
    """Table whose `columns` and `notes` (what a user should know) are known; rows are not read yet.

    The format follows the ending (.csv, .csv.gz, .tsv, .parquet, .pq), or the content where the ending says nothing. A
    folder of Parquet files is one table, in the order of their names.
    """
    path = Path(path)
    if path.is_dir() and any(path.glob("[!._]*.parquet")):
        return open_parquet_files(path, look_into_files(path))
    require_file(path)
    name = path.name.lower()
    try:
        with open(path, "rb") as file:
            begin = file.read(8)
        ending = next((each for each in CSV_ENDINGS if name.endswith(each)), "")
        if name.endswith(PARQUET_ENDINGS) or (not ending and begin.startswith(b"PAR1")):
            return _open_parquet(path)
        for mark, kind in OTHER_KINDS.items():
            if begin.startswith(mark):
                raise TableError(f"{path}: a table must be CSV or Parquet, but this is {kind}. Save it as CSV.")
        return open_csv(path, CSV_ENDINGS.get(ending))
    except OSError as error:
        raise TableError(f"{path}: the file must be readable, but it is not: {error.strerror or error}.") from None


def open_folder(path: Path, files: Sequence[Path]) -> Table:
    """Files of a folder as one table, in this order: CSV or Parquet, not both, with the same columns."""
    tables = [open_table(each) for each in files]
    csv_tables = tuple(each for each in tables if isinstance(each, CsvTable))
    if not csv_tables:
        return open_parquet_files(path, [each.files[0] for each in tables if isinstance(each, ParquetTable)])
    if len(csv_tables) < len(tables):
        other = next(each.path.name for each in tables if isinstance(each, ParquetTable))
        raise TableError(
            f"{path}: a folder to fit on must hold files of one format, but {shown(csv_tables[0].path.name)} is CSV "
            f"and {shown(other)} is Parquet. Write all as Parquet."
        )
    first = csv_tables[0]
    for each in csv_tables[1:]:
        if set(each.columns) != set(first.columns):
            name = min(set(each.columns) ^ set(first.columns))
            has, lacks = (first, each) if name in first.columns else (each, first)
            raise TableError(
                f"{path}: all files of a folder must have the same columns, but column {shown(name)} is in "
                f"{shown(has.path.name)} and missing in {shown(lacks.path.name)}. Write them again with the same "
                "columns."
            )
    notes = tuple(dict.fromkeys(note for each in csv_tables for note in each.notes))
    return CsvFolder(path, csv_tables, first.columns, notes)


def read_table(path: StrPath | Table, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Whole table in memory: columns of a CSV file as text with blank fields null, those of Parquet as they are.

    `path` may be what `open_table` gave for it, which saves looking through it again; `columns` is None for all.

    The columns may take a third of the memory that is free, because becoming features takes about twice as much again.
    The environment variable UNSKEW_MAX_TABLE_BYTES sets another limit.
    """
    table = path if isinstance(path, Table) else open_table(path)
    frames: list[pl.DataFrame] = []
    limit, size, n_rows = most_bytes(), 0, 0
    for frame in frames_of(table, columns):
        frames.append(frame)
        n_rows += frame.height
        size += _bytes_of(frame)
        if size > limit:
            raise too_large(table.path, n_rows, size, limit)
    return pl.concat(frames)


def too_large(path: StrPath, n_rows: int, size: int, limit: int, way_out: str = "") -> TableError:
    """Error that a table does not fit into memory, of which so many rows have been read; `way_out` comes first."""
    advice = f"{way_out}take fewer rows, leave out columns (--exclude), free memory, or set UNSKEW_MAX_TABLE_BYTES"
    return TableError(
        f"{path}: a table that is read whole must fit into memory, and its columns may take {limit / 1e6:,.0f} MB now, "
        f"but the first {n_rows:,} rows take {size / 1e6:,.0f} MB. {advice[0].upper()}{advice[1:]} to allow more."
    )


def most_bytes() -> int:
    """Bytes that the columns of a table may take."""
    allowed = os.environ.get("UNSKEW_MAX_TABLE_BYTES")
    if allowed is None:
        return _free_memory() // 3
    if not re.fullmatch(r"[0-9]{1,18}", allowed):
        raise ValueError(f"UNSKEW_MAX_TABLE_BYTES must be a whole number of bytes, but it is {allowed!r}.")
    return int(allowed)


def _free_memory() -> int:
    """Bytes that this process can still take: what the machine has free, within the limits of container and shell."""
    free = []
    with suppress(OSError):  # not on every system
        kilobytes = re.findall(r"^MemAvailable: *([0-9]+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
        free += [int(each) << 10 for each in kilobytes]
    for limit in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # no such container, or no limit
            free.append(int((Path("/sys/fs/cgroup") / limit).read_text()))
    with suppress(ImportError, OSError):
        import resource

        allowed, in_use = resource.getrlimit(resource.RLIMIT_AS)[0], Path("/proc/self/statm").read_text().split()[0]
        if allowed != resource.RLIM_INFINITY:
            free.append(max(0, allowed - int(in_use) * resource.getpagesize()))
    return min(free, default=UNKNOWN_MEMORY)


def _bytes_of(frame: pl.DataFrame) -> int:
    """Memory of a frame; polars itself does not count the 16 bytes that each text takes besides its letters."""
    n_texts = sum(isinstance(dtype, pl.String) for dtype in frame.dtypes)
    return int(frame.estimated_size()) + 16 * n_texts * frame.height


def read_batches(
    path: StrPath | Table, columns: Sequence[str] | None, *, rows: int = ROWS_AT_ONCE, may_be_empty: bool = False
) -> Iterator[pl.DataFrame]:
    """Rows of a table in constant memory, with the same values and types that `read_table` gives.

    The last batch may have fewer `rows`. A table without rows gives one batch without rows if it `may_be_empty`; else
    it is an error.
    """
    waiting: list[pl.DataFrame] = []
    held = 0
    for frame in frames_of(path, columns, may_be_empty=may_be_empty):
        waiting.append(frame)
        held += frame.height
        if held < rows:
            continue
        together = pl.concat(waiting)
        whole = held - held % rows
        yield from together.head(whole).iter_slices(rows)
        waiting, held = [together.tail(held - whole)] if held > whole else [], held - whole
    if waiting:
        yield pl.concat(waiting)


def frames_of(
    path: StrPath | Table, columns: Sequence[str] | None, *, may_be_empty: bool = False
) -> Iterator[pl.DataFrame]:
    """Rows of a table in frames of any size."""
    table = path if isinstance(path, Table) else open_table(path)
    names = list(table.columns if columns is None else columns)
    for name in names:
        require_column(name, table.columns, table.path)
    empty = True
    for frame in table.frames(names):
        if frame.height:
            empty = False
            yield frame
    if empty and may_be_empty:
        yield table.no_rows(names)
    elif empty:
        raise TableError(f"{table.path}: a table must have rows, but there is only a header. Export it again.")


def require_file(path: Path, kind: str = "CSV or Parquet file") -> None:
    """Refuse a path that is not a file, with the name of the one that was probably meant."""
    try:
        exists = path.exists()
    except (OSError, ValueError) as error:
        raise TableError(f"{path}: there must be a file, but its name cannot be used: {error}.") from None
    if not exists:
        neighbors = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = closest_name(path.name, neighbors)
        raise TableError(f"{path}: there must be a file, but there is none.{hint} Check the path.")
    if not path.is_file():
        what = "a folder" if path.is_dir() else "not a regular file"
        raise TableError(f"{path}: there must be a file, but this is {what}. Give one {kind}.")


def _open_parquet(path: Path) -> ParquetTable:
    with open(path, "rb") as file:
        whole = file.read(4) == b"PAR1" and file.seek(-4, 2) >= 8 and file.read(4) == b"PAR1"
    if not whole:
        raise TableError(
            f"{path}: a Parquet file must begin and end with the letters PAR1, but this one does not: it is cut off or "
            "another kind of file. Copy or write it again, or give a CSV file the ending .csv."
        )
    opened = look_into(path)
    return ParquetTable(path, (opened,), _column_names(opened, path))


def open_parquet_files(path: Path, files: Sequence[File]) -> ParquetTable:
    """Parquet files as one table, which must have the same columns; `path` is their folder."""
    first = next((each for each in files if each.metadata.num_rows), files[0])
    names = _column_names(first, first.path)
    for file in files:
        if not file.metadata.num_rows:
            continue  # the types of a file without rows are often null
        kinds = dict(zip(file.schema.names, file.schema.types, strict=True))
        for each in first.schema:
            found = f"of type {kinds[each.name]}" if each.name in kinds else "missing"
            if kinds.get(each.name) != each.type:
                raise TableError(
                    f"{path}: all files of a folder must have the same columns, but column {shown(each.name)} is of "
                    f"type {each.type} in {shown(first.path.name)} and {found} in {shown(file.path.name)}. Write "
                    "them again with the same types."
                )
    with_rows = tuple(each for each in files if each.metadata.num_rows)
    return ParquetTable(path, with_rows or (first,), names)


def _column_names(file: File, path: Path) -> tuple[str, ...]:
    names = file.schema.names
    if not names or len(set(names)) < len(names):
        found = "there are none" if not names else f"{len(names) - len(set(names))} of {len(names)} are repeated"
        raise TableError(f"{path}: a table must have columns with different names, but {found}. Write it again.")
    return tuple(names)
