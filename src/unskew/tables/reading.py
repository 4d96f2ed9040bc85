"""Opening a table, whichever format it has."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from unskew._support.text import StrPath, no_column
from unskew.errors import TableError, closest_name
from unskew.tables.csv_files import CsvTable, open_csv
from unskew.tables.parquet_files import ParquetTable, open_parquet

Table = CsvTable | ParquetTable
PARQUET_ENDINGS = (".parquet", ".pq")
CSV_ENDINGS = {".csv": None, ".csv.gz": None, ".txt": None, ".tsv": "\t", ".tsv.gz": "\t", ".tab": "\t"}
OTHER_KINDS = {
    b"PK\x03\x04": "a zip or Excel file",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"PAR1": "a Parquet file, whose name must end in .parquet",
    b"%PDF": "a PDF file",
}


def read_table(path: StrPath | Table) -> pl.DataFrame:
    """Whole table in memory: columns of a CSV file as text with blank fields null, those of Parquet as they are.

    The format follows the ending (.csv, .csv.gz, .tsv, .parquet, .pq), or the content where the ending says nothing.
    Whoever tells a user of the file's `notes` passes what `open_table` gave for it.

    Raises
    ------
    TableError
        If there is no such file, or it is no table, is damaged, or has no rows.
    """
    return pl.concat(list(frames_of(path if isinstance(path, Table) else open_table(path))))


def open_table(path: StrPath) -> Table:
    """Table whose `columns` and `notes` (what a user should be told) are known; rows are not read yet."""
    path = Path(path)
    require_file(path)
    name = path.name.lower()
    try:
        if name.endswith(PARQUET_ENDINGS):
            return open_parquet(path)
        with open(path, "rb") as file:
            begin = file.read(8)
        for ending, delimiter in CSV_ENDINGS.items():
            if name.endswith(ending):
                _require_text(path, begin)
                return open_csv(path, delimiter)
        if begin.startswith(b"PAR1"):
            return open_parquet(path)
        _require_text(path, begin)
        return open_csv(path)
    except OSError as error:
        raise TableError(f"{path}: the file must be readable, but it is not: {error.strerror or error}.") from None


def count_rows(path: StrPath) -> int:
    """Count of rows, the header not counted; 0 is possible here."""
    return open_table(path).count_rows()


def frames_of(table: Table, columns: list[str] | None = None, *, may_be_empty: bool = False) -> Iterator[pl.DataFrame]:
    """Rows of a table in frames of any size; only these columns if given.

    Without a single row this is an error, or, where that `may_be_empty`, one frame without rows.
    """
    for name in columns or ():
        if name not in table.columns:
            raise TableError(no_column(table.path, name, list(table.columns)))
    empty = True
    for frame in table.frames() if isinstance(table, CsvTable) else table.frames(columns):
        if frame.height:
            empty = False
            yield frame if columns is None else frame.select(columns)
    if empty and may_be_empty:
        yield table.no_rows(list(table.columns) if columns is None else columns)
    elif empty:
        raise TableError(f"{table.path}: a table must have rows, but there is only a header. Export it again.")


def require_file(path: Path, kind: str = "CSV or Parquet file") -> None:
    """Refuse a path that is no file, with the name of the one that was probably meant."""
    try:
        exists = path.exists()
    except (OSError, ValueError) as error:
        raise TableError(f"{path}: there must be a file, but its name cannot be used: {error}.") from None
    if not exists:
        neighbors = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = closest_name(path.name, neighbors)
        raise TableError(f"{path}: there must be a file, but there is none.{hint} Check the path.")
    if not path.is_file():
        what = "a folder" if path.is_dir() else "no regular file"
        raise TableError(f"{path}: there must be a file, but this is {what}. Give one {kind}.")


def _require_text(path: Path, begin: bytes) -> None:
    for mark, kind in OTHER_KINDS.items():
        if begin.startswith(mark):
            raise TableError(f"{path}: a table must be CSV or Parquet, but this is {kind}. Save it as CSV.")
