"""The one place where Parquet files are opened: their row groups and columns, and errors that name file and part."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unskew.errors import MissingExtra, TableError, closest_name

COLUMNS_AT_ONCE = 16
"""Columns of a row group decoded together: enough for several cores, and few enough to need little memory."""


@dataclass(frozen=True)
class File:
    """A Parquet file, open only while it is read: a folder may hold more files than a process may have open."""

    path: Path
    metadata: Any
    schema: Any
    state: tuple[int, int]

    @contextmanager
    def reading(self, part: str) -> Iterator[Any]:
        """Open the file; if this part of it cannot be read, an error names both."""
        with _errors_name_file(self.path, part):
            if _state_of(self.path) != self.state:
                raise TableError(
                    f"{self.path} must not change while it is in use, but it was written to after it was opened. Open "
                    "it again."
                )
            with _parquet_file(self.path, metadata=self.metadata) as file:
                yield file

    def n_rows(self, number: int) -> int:
        """Count of rows in this row group."""
        return int(self.metadata.row_group(number).num_rows)


def _pyarrow_parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("reading Parquet files needs pyarrow. Install it: pip install 'unskew[parquet]'") from error
    return pyarrow.parquet


def _parquet_file(path: Path, metadata: Any = None) -> Any:
    # What pyarrow reads ahead it also keeps, for as long as the file is open; without a buffer it reads whole columns.
    options = {"pre_buffer": False, "buffer_size": 1 << 20, "page_checksum_verification": True}
    return _pyarrow_parquet().ParquetFile(path, metadata=metadata, **options)


def look_into_files(path: Path) -> list[File]:
    """Open a file, or the files of a folder in the order of their names, and read what their footers say."""
    _pyarrow_parquet()  # an error if it is missing comes first
    paths = [path]
    if path.is_dir():  # a name that begins so is hidden, or was left behind by a program that writes
        paths = sorted(each for each in path.glob("[!._]*.parquet") if not each.is_dir())
    if not paths:
        raise FileNotFoundError(
            f"the folder {path} must hold files *.parquet, but there is none (folders, and names that begin with '.' "
            "or '_', do not count). Pass a file, or the folder that holds the files."
        )
    return [look_into(each) for each in paths]


def look_into(path: Path) -> File:
    """Open a file and read what its footer says."""
    with _errors_name_file(path, "it"):
        state = _state_of(path)
        with _parquet_file(path) as file:
            found = File(path, file.metadata, file.schema_arrow, state)
    sizes = [found.n_rows(number) for number in range(found.metadata.num_row_groups)]
    total, least = found.metadata.num_rows, min(sizes, default=0)
    if sum(sizes) != total or least < 0:
        reason = f"{total:,} rows, but {sum(sizes):,} in row groups, {least:,} in the smallest"
        raise damage(path, "its list of row groups", reason)
    return found


def _state_of(path: Path) -> tuple[int, int]:
    state = path.stat()
    return state.st_size, state.st_mtime_ns


@contextmanager
def _errors_name_file(path: Path, part: str) -> Iterator[None]:
    from pyarrow import ArrowException

    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file or folder {path}.") from None
    except (OSError, ArrowException, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno:  # of the system: permission, the disk. The file may be whole.
            found = os.strerror(error.errno)
            raise OSError(error.errno, f"{path} must be readable, but it is not: {found}.") from None
        reason = (str(error).strip().splitlines() or [repr(error)])[0].rstrip(".")
        raise damage(path, part, reason) from None


def damage(path: Path, part: str, reason: str) -> TableError:
    """Error that a part of a file cannot be read."""
    return TableError(
        f"{path}: a Parquet file must be whole and readable by pyarrow, but {part} is not ({reason}). Copy or write it "
        "again."
    )


def feature_columns(files: list[File], wanted: Sequence[str] | None) -> tuple[str, ...]:
    """Names of the features, which every file has, as numbers."""
    if isinstance(wanted, str):
        raise TypeError(f"columns must be a list of names, but it is the text {wanted!r}. Pass columns=[{wanted!r}].")
    if wanted is None:
        file = files[0]
        names = tuple(field.name for field in file.schema if _is_number_column(field.type))
        if not names:
            raise ValueError(
                f"{file.path} must have columns of numbers or booleans, but it has only "
                f"{', '.join(f'{field.name} ({field.type})' for field in file.schema) or 'no columns'}. Encode "
                "its columns first."
            )
    else:
        names = tuple(wanted)
        if not names:
            raise ValueError("columns must name at least one feature, but it is empty. Leave it out to take all.")
    for file in files:
        for name in names:
            require_column(name, file)
            kind = file.schema.field(name).type
            if not _is_number_column(kind):
                raise ValueError(
                    f"features must be numbers, but the column {name!r} of {file.path} is of type {kind}. Encode it "
                    "first, or leave it out of columns."
                )
    return names


def require_column(name: str, file: File) -> None:
    """Refuse a column that a file does not have."""
    path, known = file.path, file.schema.names
    if name not in known:
        raise ValueError(f"{path} has no column {name!r}, only {', '.join(known)}.{closest_name(name, known)}")
    if known.count(name) > 1:
        raise ValueError(f"columns must have different names, but {path} has {known.count(name)} called {name!r}.")


def _is_number_column(kind: Any) -> bool:
    from pyarrow import types

    return any(test(kind) for test in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal))


def column_values(file: File, name: str) -> np.ndarray:
    """One column of a file, with None for integers and booleans that are missing."""
    from pyarrow import types

    with file.reading(f"its column {name!r}") as opened:
        column = opened.read(columns=[name]).column(name)  # pyarrow also gives "name.more", if there is such a column
        if types.is_dictionary(column.type):  # else pyarrow gives the last category where there is none
            column = column.cast(column.type.value_type)
        if column.null_count and types.is_integer(column.type):  # else pyarrow gives floats, which round large numbers
            values = np.array(column.to_pylist(), dtype=object)
        else:
            values = column.to_numpy()
    _require_all_rows_read(len(values), file.metadata.num_rows, file, f"its column {name!r}")
    return values


def fill(out: np.ndarray, file: File, number: int, columns: Sequence[str], first_row: int) -> None:
    """Write one row group's features to `out`, every entry finite."""
    by_column = _features(file, number, columns)
    for start in range(0, len(out), 512):  # turned over in parts that stay in the processor's cache
        out[start : start + 512] = by_column[:, start : start + 512].T
    if np.isfinite(out.sum(dtype=np.float64)):  # one pass without a mask; a sum of finite numbers is finite
        return
    bad = np.argwhere(~np.isfinite(out))
    if len(bad):
        row, place = bad[0]
        row_of_file = sum(file.n_rows(each) for each in range(number)) + row
        raise ValueError(
            f"features must be finite and within float32, but column {columns[place]!r} has {out[row, place]} (missing "
            f"values count as NaN) at row {first_row + row:,}, which is row {row_of_file:,} of {file.path}. Fill or "
            "drop such rows first."
        )


def _features(file: File, number: int, columns: Sequence[str]) -> np.ndarray:
    """Features of one row group in float32, of shape (n_columns, n_rows)."""
    part, n_rows = f"its row group {number}", file.n_rows(number)
    features = np.empty((len(columns), n_rows), dtype=np.float32)
    with file.reading(part) as opened:
        for start in range(0, len(columns), COLUMNS_AT_ONCE):
            names = list(columns[start : start + COLUMNS_AT_ONCE])
            table = opened.read_row_group(number, columns=names)
            _require_all_rows_read(len(table), n_rows, file, part)
            with np.errstate(over="ignore", invalid="ignore"):  # `fill` names the row of what is not finite
                for place, name in enumerate(names, start):
                    features[place] = table.column(name).to_numpy()
            del table  # before the next one is read
    return features


def _require_all_rows_read(found: int, wanted: int, file: File, part: str) -> None:
    if found != wanted:
        raise damage(file.path, part, f"{found:,} rows instead of {wanted:,}")
