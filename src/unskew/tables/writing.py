"""Writing a table row by row into a file that appears only when it is whole."""

import gzip
import io
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import polars as pl

from unskew._support.text import StrPath, shown
from unskew.errors import TableError
from unskew.tables.reading import PARQUET_ENDINGS

DELIMITERS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}


def check_ending(path: StrPath) -> None:
    """Refuse a name whose ending is that of no table."""
    if not Path(path).name.lower().endswith((*DELIMITERS, *PARQUET_ENDINGS)):
        raise TableError(
            f"{path}: the name of a table must end in {', '.join(DELIMITERS)} or {', '.join(PARQUET_ENDINGS)}, but it "
            "does not. Choose one of these endings."
        )


def check_types(path: StrPath, frame: pl.DataFrame) -> None:
    """Refuse columns that a file of this name cannot hold."""
    if Path(path).name.lower().endswith(PARQUET_ENDINGS):
        return
    for column in frame:
        if not _fits_csv(column):
            raise TableError(
                f"{path}: a CSV file can only hold single values such as text, numbers and dates, but column "
                f"{shown(column.name)} is of type {column.dtype}. Leave it out, or write to a .parquet file."
            )


def _fits_csv(column: pl.Series) -> bool:
    """Whether polars writes values of this type to CSV; only trying tells, and one row without a value is enough."""
    try:
        column.clear(1).to_frame().write_csv()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return False
    return True


class TableWriter:
    """Writes frames one after another to a CSV or Parquet file, by the ending of its name.

    The file is written under a temporary name in the same folder and moved at the end of the ``with`` block; after an
    error nothing is left behind, and a file that was there before stays as it was. A link stays a link, and what it
    points to is written.

    Parameters
    ----------
    path : path
        Name that ends in .csv, .csv.gz, .tsv, .tsv.gz, .parquet or .pq.

    Raises
    ------
    TableError
        If the name has another ending, the file cannot be created, or it cannot hold a column.
    OSError
        If writing fails later, as on a full disk.
    """

    def __init__(self, path: StrPath) -> None:
        self.path = Path(path)
        self._parquet = self.path.name.lower().endswith(PARQUET_ENDINGS)
        self._delimiter = next((d for end, d in DELIMITERS.items() if self.path.name.lower().endswith(end)), ",")
        check_ending(self.path)
        if self.path.is_dir():
            raise TableError(f"{self.path}: there must be no folder of this name, but there is. Choose another name.")
        self._target = Path(os.path.realpath(self.path))
        self._temporary = self._target.with_name(f".{self._target.name[:100]}.{secrets.token_hex(4)}.part")
        self._parts: list[Path] = []
        self._schema: pl.Schema | None = None

    def __enter__(self) -> "TableWriter":
        try:
            if self._parquet:
                self._temporary.mkdir()
            else:
                self._file = open(self._temporary, "xb")
                packed = self.path.name.lower().endswith(".gz")
                self._out = gzip.open(self._file, "wb") if packed else self._file
        except OSError as error:
            raise TableError(
                f"{self.path}: the file must be writable, but it is not: {error.strerror or error}. Choose another "
                "place."
            ) from None
        return self

    def write(self, frame: pl.DataFrame) -> None:
        """Append rows; all frames have the same columns."""
        if self._schema is not None and frame.schema != self._schema:
            raise TypeError(f"all frames must have the columns {self._schema}, but this one has {frame.schema}.")
        with self._told():
            if self._parquet:
                self._write_part(frame)
            else:
                self._write_lines(frame)
        self._schema = frame.schema

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                with self._told():
                    self._finish()
        finally:
            self._clear()

    def _write_lines(self, frame: pl.DataFrame) -> None:
        check_types(self.path, frame)
        self._out.write(frame.write_csv(include_header=self._schema is None, separator=self._delimiter).encode())

    def _write_part(self, frame: pl.DataFrame) -> None:
        # polars has no way to append to a Parquet file, so that parts are put together at the end, as a stream.
        content = io.BytesIO()
        frame.write_parquet(content)
        part = self._temporary / f"{len(self._parts):08d}.parquet"
        part.write_bytes(content.getbuffer())
        self._parts.append(part)

    def _finish(self) -> None:
        if not self._parquet:
            if self._out is not self._file:
                self._out.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            os.replace(self._temporary, self._target)
            return
        if not self._parts:
            self._write_part(pl.DataFrame())
        whole = self._parts[0]
        if len(self._parts) > 1:
            whole = self._temporary / "whole.parquet"
            pl.scan_parquet(self._parts, glob=False, hive_partitioning=False).sink_parquet(whole)
        with open(whole, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(whole, self._target)

    def _clear(self) -> None:
        if self._parquet:
            shutil.rmtree(self._temporary, ignore_errors=True)
            return
        try:
            self._out.close()
            self._file.close()
        except OSError:
            pass  # what could not be written is thrown away
        self._temporary.unlink(missing_ok=True)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Name the file in an error of the disk or of polars, and that nothing was left."""
        try:
            yield
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            reason = getattr(error, "strerror", None) or (str(error).strip().splitlines() or [repr(error)])[0]
            words = (
                f"{self.path}: the table must be written whole, but that failed: {reason}. Nothing was left behind; "
            )
            told = re.search(r"os error (\d+)", reason)  # polars tells the number in words only
            if not (isinstance(error, OSError) or told):
                raise TableError(f"{words}leave out the column that it is about, or choose another ending.") from error
            failed = OSError(f"{words}make room, or choose another place.")
            failed.errno = getattr(error, "errno", None) or (int(told[1]) if told else None)
            raise failed from error
