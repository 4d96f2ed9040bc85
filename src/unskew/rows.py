"""Features as something that hands out rows by number: the one view of X that training and scoring have."""

from abc import ABC, abstractmethod

import numpy as np
from scipy import sparse


class Rows(ABC):
    """Rows of features, float32, fetched a batch at a time.

    Attributes
    ----------
    shape : tuple of int
        Shape of one row: ``(n_features,)``, or ``(channels, height, width)`` for images.
    """

    shape: tuple[int, ...]

    @abstractmethod
    def __len__(self) -> int:
        """Count of rows."""

    @abstractmethod
    def take(self, index: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Rows of these numbers; written to `out`, which has their shape, where that is given."""


class DenseRows(Rows):
    """Rows of an array, which is not copied (unless it is not float32 yet)."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = np.ascontiguousarray(array, dtype=np.float32)
        self.shape = self.array.shape[1:]

    def __len__(self) -> int:
        """Count of rows."""
        return len(self.array)

    def take(self, index: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Rows of these numbers; see `Rows.take`."""
        # With "clip" numpy writes to `out` straight away, and no row number is out of range.
        return np.take(self.array, index, axis=0, out=out, mode="clip")


class SparseRows(Rows):
    """Rows of a compressed sparse matrix: only the batch that is asked for becomes dense."""

    def __init__(self, matrix: sparse.csr_matrix | sparse.csr_array) -> None:
        self.matrix = sparse.csr_array(matrix, dtype=np.float32)
        self.shape = (self.matrix.shape[1],)

    def __len__(self) -> int:
        """Count of rows."""
        return int(self.matrix.shape[0])

    def take(self, index: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Rows of these numbers; see `Rows.take`."""
        return np.asarray(self.matrix[index].toarray(out=out))


def as_rows(X: np.ndarray | sparse.csr_matrix | sparse.csr_array) -> Rows:
    """Wrap a checked array or sparse matrix."""
    return SparseRows(X) if sparse.issparse(X) else DenseRows(X)
