"""Tables larger than memory: rows of Parquet files, read by row groups within a budget of memory.

`ParquetRows` takes the place of X in `fit` and `decision_function`. What a training asks for again and again (labeled
and held-out rows) stays in memory; the rest is streamed. Row groups are read in *windows* of several at once. An epoch
draws the row groups in random order and shuffles rows within a window, which is the shuffle that a bounded buffer can
give; a scoring pass walks them as they lie. While one window is in use, the next is read in the background.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.errors import MissingExtra, closest_name
from unskew.rows import Rows

if TYPE_CHECKING:
    import torch

WINDOWS_IN_MEMORY = 3
"""The one in use, the last one (a batch may reach into both), and the next one, on its way."""


class ParquetRows(Rows):
    """Rows of a Parquet file, or of all Parquet files in a folder in the order of their names.

    Parameters
    ----------
    path : path
        File or folder.
    columns : sequence of str, optional
        Feature columns, numbers or booleans; all of these if left out. Leave out the label and the confidence.
    memory : int, default=256 MiB
        Bytes for rows in memory, in float32. Kept rows may take a quarter of it, windows share the rest.

    Examples
    --------
    A nightly run over a folder of Parquet files::

        X = unskew.ParquetRows("transactions/", columns=["amount", "age", "n_logins"])
        ranker = unskew.make("conf-auc").fit(X, X.column("flagged"), confidence=X.column("risk"))
        score = ranker.decision_function(X)
    """

    prepares_for_order = True  # reads the windows of the order that is next

    def __init__(
        self, path: str | os.PathLike[str], columns: Sequence[str] | None = None, *, memory: int = 256 << 20
    ) -> None:
        self.path, self.memory = Path(path), memory
        self._files = _open_files(self.path)
        self.columns = _feature_columns(self._files, columns)
        self.shape = (len(self.columns),)
        groups = [(file, number) for file in self._files.values() for number in range(file.metadata.num_row_groups)]
        self._groups = [each for each in groups if _n_rows(*each)]
        sizes = np.array([_n_rows(*each) for each in self._groups], dtype=np.int64)
        self._starts = np.concatenate([[0], np.cumsum(sizes)])
        self._row_bytes = 4 * len(self.columns)
        self._window_rows = int(memory * 3 // 4) // (WINDOWS_IN_MEMORY * self._row_bytes)
        self._require_small_groups(sizes)
        self.hold_out_limit = memory // 8 // self._row_bytes
        self._kept_rows: np.ndarray = np.empty(0, dtype=np.int64)
        self._kept: np.ndarray = np.empty((0, *self.shape), dtype=np.float32)
        self.walk()

    def __len__(self) -> int:
        """Count of rows."""
        return int(self._starts[-1])

    def __reduce__(self) -> tuple[Any, ...]:
        # Open files do not travel: a copy, in another process perhaps, opens them anew and reads rows again.
        return partial(type(self), memory=self.memory), (self.path.absolute(), self.columns)

    def column(self, name: str) -> np.ndarray:
        """One column as an array, of all rows: a label, a confidence, an identifier. It is read whole."""
        for path, file in self._files.items():
            _require_column(name, file, path)
        parts = [file.read(columns=[name]).column(0).to_numpy() for file in self._files.values()]
        return np.concatenate(parts)

    def keep(self, rows: np.ndarray) -> None:
        """Hold these rows in memory from now on, and no others."""
        rows = np.unique(rows)
        if len(rows) * self._row_bytes > self.memory // 4:
            raise ValueError(
                f"labeled and held-out rows must fit into a quarter of the memory, {self.memory // 4:,} bytes, but "
                f"there are {len(rows):,} of {self._row_bytes} bytes each. Pass ParquetRows(..., memory=...) of "
                f"{4 * len(rows) * self._row_bytes:,} bytes or more."
            )
        self._kept_rows = np.empty(0, dtype=np.int64)  # so that they are read, not looked up
        self.walk()
        kept = np.empty((len(rows), *self.shape), dtype=np.float32)
        step = self._window_rows
        for start in range(0, len(rows), step):
            self.take(rows[start : start + step], out=kept[start : start + step])
        self._kept_rows, self._kept = rows, kept

    def walk(self) -> None:
        """Get ready to hand out rows in the order in which they lie."""
        self._arrange(np.arange(len(self._groups)))

    def shuffle(self, rows: np.ndarray, generator: "torch.Generator") -> "torch.Tensor":
        """Order of these rows for an epoch: row groups at random, and rows at random within each window of them."""
        import torch

        self._arrange(torch.randperm(len(self._groups), generator=generator).numpy())
        group = np.searchsorted(self._starts, rows, side="right").astype(np.int32) - 1
        window = self._window_of.astype(np.int32)[group]
        order, start = torch.empty(len(rows), dtype=torch.int64), 0
        for number in range(len(self._members)):  # one at a time: a sort of all rows would need more memory than they
            inside = torch.from_numpy(np.flatnonzero(window == number))
            shuffled = inside[torch.randperm(len(inside), generator=generator)]
            order[start : start + len(inside)] = shuffled
            start += len(inside)
        return order

    def take(self, index: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Rows of these numbers; see `Rows.take`. Quick for kept rows and for the order that was announced."""
        out = np.empty((len(index), *self.shape), dtype=np.float32) if out is None else out
        place = np.searchsorted(self._kept_rows, index)
        place[place == len(self._kept_rows)] = 0
        kept = self._kept_rows[place] == index if len(self._kept_rows) else np.zeros(len(index), dtype=bool)
        out[kept] = self._kept[place[kept]]
        elsewhere = np.flatnonzero(~kept)
        group = np.searchsorted(self._starts, index[elsewhere], side="right") - 1
        window, position = self._window_of[group], index[elsewhere] - self._starts[group] + self._offset_of[group]
        for number in np.unique(window):
            inside = window == number
            out[elsewhere[inside]] = self._window(int(number))[position[inside]]
        return out

    def _arrange(self, order: np.ndarray) -> None:
        """Put row groups into windows, in this order."""
        sizes = np.diff(self._starts)[order]
        window, offset, used, number = np.empty_like(order), np.empty_like(order), 0, 0
        for place, size in enumerate(sizes):  # row groups are few
            if used + size > self._window_rows:
                used, number = 0, number + 1
            window[place], offset[place] = number, used
            used += size
        self._members = [order[window == each] for each in range(number + 1)]
        self._window_of, self._offset_of = np.empty_like(order), np.empty_like(order)
        self._window_of[order], self._offset_of[order] = window, offset
        self._loaded: dict[int, Future[np.ndarray]] = {}

    def _window(self, number: int) -> np.ndarray:
        """Rows of a window; the next one is read meanwhile, and those longest unused are let go."""
        wanted = [number] if number + 1 >= len(self._members) else [number, number + 1]
        for each in wanted:
            if each not in self._loaded:
                self._loaded[each] = self._reader.submit(self._read, self._members[each])
        rows = self._loaded.pop(number)
        self._loaded[number] = rows  # now the last one in use
        for each in [each for each in self._loaded if each not in wanted][: len(self._loaded) - WINDOWS_IN_MEMORY]:
            del self._loaded[each]
        return rows.result()

    def _read(self, groups: np.ndarray) -> np.ndarray:
        sizes = np.diff(self._starts)[groups]
        rows = np.empty((int(sizes.sum()), *self.shape), dtype=np.float32)
        ends = np.cumsum(sizes)
        for group, start, end in zip(groups, ends - sizes, ends, strict=True):
            file, number = self._groups[group]
            _fill(rows[start:end], file, number, self.columns, int(self._starts[group]))
        return rows

    @cached_property
    def _reader(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(max_workers=1, thread_name_prefix="unskew-parquet")

    def _require_small_groups(self, sizes: np.ndarray) -> None:
        if not len(sizes):
            raise ValueError(f"{self.path} must have rows, but it has none.")
        if sizes.max() > self._window_rows:
            needed = int(sizes.max()) * self._row_bytes * WINDOWS_IN_MEMORY * 4 // 3 + 4
            raise ValueError(
                f"a row group must fit into a quarter of the memory, {self.memory:,} bytes, but the largest of "
                f"{self.path} has {sizes.max():,} rows of {self._row_bytes} bytes. Pass memory={needed:,} or more, or "
                "write the file with smaller row groups."
            )


def _pyarrow_parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("reading Parquet files needs pyarrow. Install it: pip install 'unskew[parquet]'") from error
    return pyarrow.parquet


def _open_files(path: Path) -> dict[Path, Any]:
    parquet = _pyarrow_parquet()
    paths = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not paths:
        raise FileNotFoundError(f"the folder {path} must hold files *.parquet, but there is none.")
    # What pyarrow reads ahead it also keeps, for as long as the file is open.
    return {each: _opened(partial(parquet.ParquetFile, pre_buffer=False), each) for each in paths}


def _opened(reader: Callable[[Path], Any], path: Path) -> Any:
    try:
        return reader(path)
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file or folder {path}.") from None
    except Exception as error:
        if type(error).__module__.startswith("pyarrow"):
            raise ValueError(
                f"{path} must be a Parquet file or a folder of them, but it cannot be read: {error}"
            ) from None
        raise


def _n_rows(file: Any, number: int) -> int:
    return int(file.metadata.row_group(number).num_rows)


def _feature_columns(files: dict[Path, Any], wanted: Sequence[str] | None) -> tuple[str, ...]:
    """Names of the features, which every file has, as numbers."""
    if isinstance(wanted, str):
        raise TypeError(f"columns must be a list of names, but it is the text {wanted!r}. Pass columns=[{wanted!r}].")
    if wanted is None:
        path, file = next(iter(files.items()))
        names = tuple(field.name for field in file.schema_arrow if _is_number(field.type))
        if not names:
            raise ValueError(
                f"{path} must have columns of numbers or booleans, but it has only "
                f"{', '.join(f'{field.name} ({field.type})' for field in file.schema_arrow) or 'no columns'}. Encode "
                "its columns first."
            )
    else:
        names = tuple(wanted)
        if not names:
            raise ValueError("columns must name at least one feature, but it is empty. Leave it out to take all.")
    for path, file in files.items():
        for name in names:
            _require_column(name, file, path)
            _require_number(name, file, path)
    return names


def _require_column(name: str, file: Any, path: Path) -> None:
    known = file.schema_arrow.names
    if name not in known:
        raise ValueError(f"{path} has no column {name!r}, only {', '.join(known)}.{closest_name(name, known)}")
    if known.count(name) > 1:
        raise ValueError(f"columns must have names of their own, but {path} has {known.count(name)} called {name!r}.")


def _require_number(name: str, file: Any, path: Path) -> None:
    kind = file.schema_arrow.field(name).type
    if not _is_number(kind):
        raise ValueError(
            f"features must be numbers, but the column {name!r} of {path} is of type {kind}. Encode it first, or leave "
            "it out of columns."
        )


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    tests = types.is_integer, types.is_floating, types.is_boolean, types.is_decimal
    return any(test(kind) for test in tests)


def _fill(out: np.ndarray, file: Any, number: int, columns: Sequence[str], first_row: int) -> None:
    """Write one row group's features to `out`, every entry finite."""
    table = file.read_row_group(number, columns=list(columns))
    with np.errstate(over="ignore"):
        by_column = np.stack([table.column(name).to_numpy().astype(np.float32, copy=False) for name in columns])
    for start in range(0, len(out), 512):  # turned over in parts that stay in the processor's cache
        out[start : start + 512] = by_column[:, start : start + 512].T
    if np.isfinite(out.sum(dtype=np.float64)):  # one pass without a mask; a sum of finite numbers is finite
        return
    bad = np.argwhere(~np.isfinite(out))
    if len(bad):
        row, place = bad[0]
        raise ValueError(
            f"features must be finite and within float32, but column {columns[place]!r} has {out[row, place]} (missing "
            f"values count as NaN) at row {first_row + row:,}. Fill or drop such rows first."
        )
