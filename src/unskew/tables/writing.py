"""Writing a table frame by frame into a file that appears only when it is complete."""

import gzip
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import polars as pl

from unskew._support.files import replacing
from unskew._support.text import StrPath, shown
from unskew.errors import TableError
from unskew.tables.reading import PARQUET_ENDINGS

DELIMITERS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
WRITABLE_ENDINGS = (*DELIMITERS, *PARQUET_ENDINGS)
FORMULA = r"^\s*[=+\-@＝＋－＠]|^ *[\t\r\n]"  # what spreadsheets take for the start of one, see OWASP's "CSV injection"
NUMBER = r"^ *[+-]?([0-9]+\.?[0-9]*([eE][+-]?[0-9]+)?|\.[0-9]+([eE][+-]?[0-9]+)?)? *$"  # or a lone sign
REFUSED = (ValueError, TypeError, NotImplementedError, pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""Errors of polars and pyarrow about a type or a value that a file cannot hold."""


def check_ending(path: StrPath) -> None:
    """Refuse a name that does not end as a table must."""
    if not Path(path).name.lower().endswith(WRITABLE_ENDINGS):
        raise TableError(
            f"{path}: the name of a table must end in {', '.join(DELIMITERS)} or {', '.join(PARQUET_ENDINGS)}, but it "
            "does not. Choose one of these endings."
        )


def check_types(path: StrPath, frame: pl.DataFrame) -> None:
    """Refuse columns that a file of this name cannot hold."""
    for column in frame:
        if _can_hold(path, column):
            continue
        found = f"but column {shown(column.name)} is of type {column.dtype}. Leave it out"
        if is_parquet(path):
            raise TableError(f"{path}: pyarrow must be able to write every column to Parquet, {found}.")
        raise TableError(
            f"{path}: a CSV file can only hold single values such as text, numbers and dates, {found}, or write to a "
            ".parquet file."
        )


def is_parquet(path: StrPath) -> bool:
    """Whether a file of this name is written as Parquet."""
    return Path(path).name.lower().endswith(PARQUET_ENDINGS)


def without_formulas(frame: pl.DataFrame) -> tuple[pl.DataFrame, Counter[str]]:
    """Put a ``'`` before text that a spreadsheet would run as a formula, also before names of columns.

    Numbers stay as they are, whatever their sign. The counts say how many cells of which columns were changed.
    """
    changed, cells = {}, Counter[str]()
    for column in frame:
        [name], renamed = _with_quotes(pl.Series([column.name]))
        if name in changed or (renamed and name in frame.columns):
            raise TableError(
                f"the names of the columns must differ, but column {shown(column.name)} would be called {shown(name)}, "
                "as another one is. Rename it in the file, or use --raw."
            )
        if isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
            column, cells[column.name] = _with_quotes(column.cast(pl.String))
        changed[name] = column
    return pl.DataFrame(changed), +cells


def _with_quotes(text: pl.Series) -> tuple[pl.Series, int]:
    formulas = (text.str.contains(FORMULA) & ~text.str.contains(NUMBER)).fill_null(False)
    return text.zip_with(~formulas, "'" + text), int(formulas.sum())


def _can_hold(path: StrPath, column: pl.Series) -> bool:
    """Whether values of this type can be written: found by trying, for which one row without a value is enough."""
    sink = _sink_for_path(io.BytesIO(), path)
    try:
        sink.write(column.clear(1).to_frame())
        sink.close()
    except REFUSED:
        return False
    return True


class TableWriter:
    """Writes frames one after another to a CSV or Parquet file, by the ending of its name.

    The file has a temporary name in the same folder until the ``with`` block ends. After an error nothing is left
    behind, and a file that was there before stays as it was. A name with another ending, a file that cannot be created
    and a column that it cannot hold are a TableError; what fails later, as on a full disk, is an OSError.
    """

    def __init__(self, path: StrPath) -> None:
        self.path = Path(path)
        check_ending(self.path)
        if self.path.is_dir():
            raise TableError(f"{self.path}: there must be no folder of this name, but there is. Choose another name.")
        self._schema: pl.Schema | None = None

    def __enter__(self) -> "TableWriter":
        self._opened = self._open()
        try:
            self._sink = self._opened.__enter__()
        except OSError as error:
            raise TableError(
                f"{self.path}: the file must be writable, but it is not: {error.strerror or error}. Choose another "
                "folder."
            ) from None
        return self

    def write(self, frame: pl.DataFrame) -> None:
        """Append rows; all frames have the same columns."""
        if self._schema is None:
            check_types(self.path, frame)
            self._schema = frame.schema
        if frame.schema != self._schema:
            raise TypeError(f"all frames must have the columns {self._schema}, but this one has {frame.schema}.")
        with self._naming_the_file():
            self._sink.write(frame)

    def __exit__(self, *raised: Any) -> None:
        with self._naming_the_file():
            self._opened.__exit__(*raised)

    @contextmanager
    def _open(self) -> Iterator["_CsvSink | _ParquetSink"]:
        with replacing(self.path) as file:
            sink = _sink_for_path(file, self.path)
            try:
                yield sink
                sink.close()
            except BaseException:
                with suppress(OSError, *REFUSED):
                    sink.close()  # what it still holds is thrown away with the file
                raise

    @contextmanager
    def _naming_the_file(self) -> Iterator[None]:
        """Say in an error which file could not be written, and that nothing was left."""
        try:
            yield
        except (OSError, *REFUSED) as error:
            reason = getattr(error, "strerror", None) or (str(error).strip().splitlines() or [repr(error)])[0]
            failed = f"{self.path}: the table must be written whole, but that failed: {reason}. Nothing was left behind"
            if not isinstance(error, OSError):
                raise TableError(f"{failed}; leave out the column in question, or choose another ending.") from error
            full = OSError(f"{failed}; free some space, or choose another folder.")
            full.errno = error.errno
            raise full from error


class _CsvSink:
    def __init__(self, file: IO[bytes], path: StrPath) -> None:
        name = Path(path).name.lower()
        self._delimiter = next(delimiter for ending, delimiter in DELIMITERS.items() if name.endswith(ending))
        self._packed = gzip.GzipFile("", "wb", fileobj=file) if name.endswith(".gz") else None
        self._out = self._packed or file
        self._has_header = False

    def write(self, frame: pl.DataFrame) -> None:
        lines = frame.write_csv(include_header=not self._has_header, separator=self._delimiter)
        self._out.write(lines.encode())
        self._has_header = True

    def close(self) -> None:
        if self._packed is not None:
            self._packed.close()


class _ParquetSink:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._writer: Any = None  # made with the columns of the first frame

    def write(self, frame: pl.DataFrame) -> None:
        from pyarrow.parquet import ParquetWriter

        table = frame.to_arrow()
        if self._writer is None:
            self._writer = ParquetWriter(self._file, table.schema, compression="zstd")
        self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is None:
            self.write(pl.DataFrame())
        self._writer.close()


def _sink_for_path(file: IO[bytes], path: StrPath) -> _CsvSink | _ParquetSink:
    return _ParquetSink(file) if is_parquet(path) else _CsvSink(file, path)
