"""Tables larger than memory: rows of Parquet files, read by row groups within a budget of memory.

`ParquetRows` takes the place of X in `fit` and `decision_function`. Rows that training needs again and again (labeled
and held-out ones) stay in memory; the rest is streamed. Row groups are read in *windows* of several at once. An epoch
takes the row groups in random order and shuffles rows within a window, which is as much as a bounded buffer can
shuffle; scoring takes them in the order of the file. While one window is in use, the next is read in the background.
"""

import math
import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from numbers import Real
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np

from unskew.data.row_groups import File, column_values, feature_columns, fill, look_into_files, require_column
from unskew.data.rows import Rows

if TYPE_CHECKING:
    import torch

WINDOWS_IN_MEMORY = 3
"""The one in use, the one before (a batch may need both), and the next one, which is being read."""


class ParquetRows(Rows):
    """Rows of a Parquet file, or of all Parquet files in a folder in the order of their names.

    Several threads may use it at once. They take turns and get the right rows, but slowly, because each discards the
    windows that the others have read. The files must not change while it is in use.

    Parameters
    ----------
    path : path
        File, or folder whose files ``*.parquet`` are read, except those whose names begin with ``.`` or ``_``.
    columns : sequence of str, optional
        Feature columns, numbers or booleans; all of these in the first file if left out. Leave out the label and the
        confidence.
    memory : int or whole float, default=256 MiB
        Bytes for rows in memory, in float32. Kept rows may take a quarter of it, windows share the rest. The row group
        that is being read needs memory in addition.

    Examples
    --------
    A nightly run over a folder of Parquet files::

        X = unskew.ParquetRows("transactions/", columns=["amount", "age", "n_logins"])
        ranker = unskew.make("conf-auc").fit(X, X.column("flagged"), confidence=X.column("risk"))
        score = ranker.decision_function(X)

    >>> import tempfile
    >>> import numpy as np
    >>> import polars as pl
    >>> import unskew
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pl.DataFrame({"amount": [1.0, 2.0, 3.0], "known": [0, 1, 0]}).write_parquet(f"{folder}/rows.parquet")
    ...     X = unskew.ParquetRows(folder, columns=["amount"])
    ...     print(len(X), X.column("known").tolist())
    3 [0, 1, 0]
    """

    prepares_for_order = True  # reads the windows of the order that is next
    _kept: Any  # gives features by the places of rows, as windows do

    def __init__(
        self, path: str | os.PathLike[str], columns: Sequence[str] | None = None, *, memory: float = 256 << 20
    ) -> None:
        self.path = Path(path).absolute()  # files are opened again and again, perhaps from another working directory
        files = look_into_files(self.path)
        self.columns = feature_columns(files, columns)
        self._open(files, len(self.columns), 4 * len(self.columns), memory)

    def _open(self, files: Sequence[File], n_features: int, row_bytes: int, memory: float) -> None:
        """Get ready to read rows of so many features, each of which takes so many bytes in memory."""
        self.memory = _whole_bytes(memory)
        self._files = list(files)
        self.shape = (n_features,)
        groups = [(file, number) for file in self._files for number in range(file.metadata.num_row_groups)]
        self._groups = [(file, number) for file, number in groups if file.n_rows(number)]
        sizes = np.array([file.n_rows(number) for file, number in self._groups], dtype=np.int64)
        self._starts = np.concatenate([[0], np.cumsum(sizes)])
        self._row_bytes = row_bytes
        self._window_rows = self.memory * 3 // 4 // (WINDOWS_IN_MEMORY * self._row_bytes)
        self._require_small_groups(sizes)
        self.hold_out_limit = self.memory // 8 // self._row_bytes
        self._begin()
        _in_use.add(self)

    def __len__(self) -> int:
        """Count of rows."""
        return int(self._starts[-1])

    def __reduce__(self) -> tuple[Any, ...]:
        # Locks and threads do not travel: a copy, in another process perhaps, has its own and reads rows again.
        return partial(type(self), memory=self.memory), (self.path, self.columns)

    def column(self, name: str) -> np.ndarray:
        """One column as an array, of all rows: a label, a confidence, an identifier. It is read whole.

        Where integers or booleans are missing, it is an array of objects with None; missing floats are NaN.
        """
        for file in self._files:
            require_column(name, file)
        # Files without rows do not decide the type: theirs is often null.
        return np.concatenate([column_values(file, name) for file in self._files if file.metadata.num_rows])

    def keep(self, rows: np.ndarray) -> None:
        """Hold these rows in memory from now on, and no others."""
        rows = np.unique(rows)
        self._require_few_kept(len(rows))
        with self._turn:
            self._keep_nothing()  # so that they are read, not looked up
            self.walk()
            self._kept_rows, self._kept = rows, self._fetch(rows)

    def _fetch(self, rows: np.ndarray) -> Any:
        """These rows, in a form that gives features by their places."""
        fetched = np.empty((len(rows), *self.shape), dtype=np.float32)
        for start in range(0, len(rows), self._window_rows):
            part = slice(start, start + self._window_rows)
            self.take(rows[part], out=fetched[part])
        return fetched

    def _places(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The window that each row is in, and its place there."""
        group = np.searchsorted(self._starts, rows, side="right") - 1
        return self._window_of[group], rows - self._starts[group] + self._offset_of[group]

    def walk(self) -> None:
        """Get ready to hand out rows in the order of the file."""
        with self._turn:
            self._arrange(np.arange(len(self._groups)))

    def shuffle(self, rows: np.ndarray, generator: "torch.Generator") -> "torch.Tensor":
        """Order of these rows for an epoch: row groups at random, and rows at random within each window of them."""
        import torch

        group = np.searchsorted(self._starts, rows, side="right").astype(np.int32) - 1
        with self._turn:
            self._arrange(torch.randperm(len(self._groups), generator=generator).numpy())
            window, n_windows = self._window_of.astype(np.int32)[group], len(self._members)
        order, start = torch.empty(len(rows), dtype=torch.int64), 0
        for number in range(n_windows):  # one at a time: sorting all rows would take more memory than they do
            inside = torch.from_numpy(np.flatnonzero(window == number))
            order[start : start + len(inside)] = inside[torch.randperm(len(inside), generator=generator)]
            start += len(inside)
        return order

    def take(self, index: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Rows of these numbers; see `Rows.take`. Quick for kept rows and for the order that was announced last."""
        out = np.empty((len(index), *self.shape), dtype=np.float32) if out is None else out
        with self._turn:
            elsewhere = self._take_kept(index, out)
            window, position = self._places(index[elsewhere])
            for number in np.unique(window):
                inside = window == number
                out[elsewhere[inside]] = self._window(int(number))[position[inside]]
        return out

    def _begin(self) -> None:
        """Set up what changes while rows are handed out, and the lock that guards it."""
        self._turn = RLock()
        self._reader = ThreadPoolExecutor(max_workers=1, thread_name_prefix="unskew-parquet")
        self._keep_nothing()
        self.walk()

    def _keep_nothing(self) -> None:
        self._kept_rows = np.empty(0, dtype=np.int64)
        self._kept = np.empty((0, *self.shape), dtype=np.float32)

    def _take_kept(self, index: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write those rows to `out` that are in memory; returns the places of the others."""
        place = np.searchsorted(self._kept_rows, index)
        place[place == len(self._kept_rows)] = 0
        kept = self._kept_rows[place] == index if len(self._kept_rows) else np.zeros(len(index), dtype=bool)
        out[kept] = self._kept[place[kept]]
        return np.flatnonzero(~kept)

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
        self._loaded: dict[int, Future[Any]] = {}

    def _window(self, number: int) -> Any:
        """Rows of a window; the next one is read meanwhile, and those longest unused are dropped."""
        wanted = [number] if number + 1 >= len(self._members) else [number, number + 1]
        for each in wanted:
            if each not in self._loaded:
                self._loaded[each] = self._reader.submit(self._read, self._members[each])
        rows = self._loaded.pop(number)
        self._loaded[number] = rows  # now the last one in use
        for each in [each for each in self._loaded if each not in wanted][: len(self._loaded) - WINDOWS_IN_MEMORY]:
            del self._loaded[each]
        return rows.result()

    def _read(self, groups: np.ndarray) -> Any:
        """Rows of a window, in a form that gives features by their places."""
        sizes = np.diff(self._starts)[groups]
        rows = np.empty((int(sizes.sum()), *self.shape), dtype=np.float32)
        ends = np.cumsum(sizes)
        for group, start, end in zip(groups, ends - sizes, ends, strict=True):
            file, number = self._groups[group]
            fill(rows[start:end], file, number, self.columns, int(self._starts[group]))
        return rows

    def _require_small_groups(self, sizes: np.ndarray) -> None:
        if not len(sizes):
            raise ValueError(f"{self.path} must have rows, but it has none. Pass a file or folder that has some.")
        if sizes.max() > self._window_rows:
            needed = int(sizes.max()) * self._row_bytes * WINDOWS_IN_MEMORY * 4 // 3 + 4
            raise ValueError(
                f"a row group must fit into a quarter of the memory, {self.memory // 4:,} bytes, but the largest of "
                f"{self.path} has {sizes.max():,} rows of {self._row_bytes} bytes. Pass memory={needed:,} or more, or "
                "write the file with smaller row groups."
            )

    def _require_few_kept(self, count: int) -> None:
        if count * self._row_bytes <= self.memory // 4:
            return
        # With more memory, up to an eighth of it, more rows are held out too: the other eighth is for these. A quarter
        # that holds all rows is enough in any case.
        needed = min(8 * count, 4 * len(self)) * self._row_bytes
        raise ValueError(
            f"labeled and held-out rows must fit into a quarter of the memory, {self.memory // 4:,} bytes, but there "
            f"are {count:,} of {self._row_bytes} bytes each. Pass ParquetRows(..., memory=...) of {needed:,} bytes or "
            "more."
        )


_in_use: "WeakSet[ParquetRows]" = WeakSet()


def _begin_anew() -> None:
    """In a process that was forked: threads, with the locks they hold and what they read, have stayed behind."""
    for rows in list(_in_use):
        rows._begin()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_begin_anew)


def _whole_bytes(memory: Any) -> int:
    is_number = isinstance(memory, Real) and not isinstance(memory, bool)
    if not (is_number and 0 < memory < math.inf and memory % 1 == 0):
        raise ValueError(
            f"memory must be a whole number of bytes, 1 or more, but it is {memory!r}. Pass memory=256 << 20 for "
            "256 MiB."
        )
    return int(memory)
