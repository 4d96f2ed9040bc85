"""Features, fetched by row number: all that training and scoring see of X."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    import torch


class Rows(ABC):
    """Rows of features, float32, fetched a batch at a time.

    Attributes
    ----------
    shape : tuple of int
        Shape of one row: ``(n_features,)``, or ``(channels, height, width)`` for images.
    hold_out_limit : int or None
        Unlabeled rows that may be held out at most, where rows are not all in memory.
    prepares_for_order : bool
        Whether `shuffle` also prepares for its order, so that only the last one is to be followed.
    in_memory : bool
        Whether all rows are in memory, so that there is a `table` of them.
    """

    shape: tuple[int, ...]
    hold_out_limit: int | None = None
    prepares_for_order: bool = False
    in_memory: bool = False

    @abstractmethod
    def __len__(self) -> int:
        """Count of rows."""

    @abstractmethod
    def take(self, index: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Rows of these numbers; written to `out`, which has their shape, where that is given."""

    def table(self, rows: np.ndarray | None = None) -> Any:
        """These rows, or all, as an array or a sparse matrix, where they are in memory."""
        raise ValueError(
            "a scikit-learn classifier as labeling model needs all features in memory, but X is read from "
            f"{type(self).__name__} as needed. Pass labeling=None, or a smaller table as an array."
        )

    def shuffle(self, rows: np.ndarray, generator: "torch.Generator") -> "torch.Tensor":
        """Order in which an epoch takes these rows; a source that is not in memory may prefer some orders."""
        import torch

        return torch.randperm(len(rows), generator=generator)

    def keep(self, rows: np.ndarray) -> None:  # noqa: B027
        """Prepare for these rows to be taken again and again."""

    def walk(self) -> None:  # noqa: B027
        """Prepare for rows to be taken in their order."""


class DenseRows(Rows):
    """Rows of an array, which is not copied (unless it is not float32 yet)."""

    in_memory = True

    def __init__(self, array: np.ndarray) -> None:
        self.array = np.ascontiguousarray(array, dtype=np.float32)
        self.shape = self.array.shape[1:]

    def __len__(self) -> int:
        return len(self.array)

    def take(self, index: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Rows of these numbers; see `Rows.take`."""
        # With "clip" numpy writes to `out` straight away, and no row number is out of range.
        return np.take(self.array, index, axis=0, out=out, mode="clip")

    def table(self, rows: np.ndarray | None = None) -> np.ndarray:
        """These rows, or all, as an array of two dimensions."""
        return self.array[slice(None) if rows is None else rows].reshape(-1, prod(self.shape))


class SparseRows(Rows):
    """Rows of a compressed sparse matrix: only the batch that is taken becomes dense."""

    in_memory = True

    def __init__(self, matrix: sparse.csr_matrix | sparse.csr_array) -> None:
        self.matrix = sparse.csr_array(matrix, dtype=np.float32)
        self.shape = (self.matrix.shape[1],)

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def take(self, index: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Rows of these numbers; see `Rows.take`."""
        return np.asarray(self.matrix[index].toarray(out=out))

    def table(self, rows: np.ndarray | None = None) -> sparse.csr_array:
        """These rows, or all, as a sparse matrix."""
        return sparse.csr_array(self.matrix[slice(None) if rows is None else rows])


class ReshapedRows(Rows):
    """Rows of another source, seen in another shape of as many numbers; for scoring."""

    def __init__(self, rows: Rows, shape: tuple[int, ...]) -> None:
        self.rows, self.shape = rows, shape

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, index: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Rows of these numbers; see `Rows.take`."""
        place = None if out is None else out.reshape(len(index), *self.rows.shape)
        return self.rows.take(index, place).reshape(len(index), *self.shape)

    def walk(self) -> None:
        """Prepare for rows to be taken in their order."""
        self.rows.walk()


class RowsInParts(Rows):
    """Rows of several sources in memory, one after another, none of which is copied."""

    in_memory = True

    def __init__(self, parts: Sequence[Rows]) -> None:
        self.parts, self.shape = list(parts), parts[0].shape
        self.starts = np.cumsum([0, *map(len, parts)])

    def __len__(self) -> int:
        return int(self.starts[-1])

    def take(self, index: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Rows of these numbers; see `Rows.take`."""
        out = np.empty((len(index), *self.shape), dtype=np.float32) if out is None else out
        part = np.searchsorted(self.starts, index, side="right") - 1
        # Runs of rows from one part, of which there are few where rows are in order.
        cuts = np.flatnonzero(np.diff(part, prepend=-1, append=-1))
        for begin, end in zip(cuts[:-1], cuts[1:], strict=True):
            number = part[begin]
            self.parts[number].take(index[begin:end] - self.starts[number], out=out[begin:end])
        return out


def as_rows(X: "np.ndarray | sparse.csr_matrix | sparse.csr_array | Rows") -> Rows:
    """Wrap a checked array or sparse matrix; rows are returned as they are."""
    if isinstance(X, Rows):
        return X
    return SparseRows(X) if sparse.issparse(X) else DenseRows(X)


def joined(first: Rows, second: Rows) -> Rows:
    """Rows of both, one after the other, in memory."""
    pair = first, second
    if all(isinstance(each, DenseRows) for each in pair):
        return DenseRows(np.concatenate([each.array for each in pair if isinstance(each, DenseRows)]))
    if not all(each.in_memory for each in pair):
        kinds = " and ".join(sorted({type(each).__name__ for each in pair}))
        raise ValueError(
            f"training and validation rows that count together must be in memory, but they are {kinds}. Put all rows "
            "into one table, and leave out validation=."
        )
    return SparseRows(sparse.vstack([sparse.csr_array(each.table()) for each in pair], format="csr"))


def as_table(X: Rows, rows: np.ndarray | None, names: Sequence[str] | None = None) -> Any:
    """Rows as scikit-learn takes them: two-dimensional, with the column names the classifier was fitted with."""
    table = X.table(rows)
    return table if names is None or sparse.issparse(table) else _data_frame(table, list(names))


def _data_frame(table: np.ndarray, names: list[str]) -> Any:
    """A frame of the library that is there: where columns have names, they came in one."""
    try:
        import pandas as pd
    except ImportError:
        import polars as pl

        return pl.DataFrame(table, schema=names)
    return pd.DataFrame(table, columns=names)
