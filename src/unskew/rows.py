"""Features as something that hands out rows by number: the one view of X that training and scoring have."""

import warnings
from abc import ABC, abstractmethod

import numpy as np
import torch
from scipy import sparse
from torch import Tensor


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
    def take(self, index: Tensor, out: Tensor | None = None) -> Tensor:
        """Rows of these numbers, as a tensor; written to `out` where that is given and saves an allocation."""


class DenseRows(Rows):
    """Rows of an array, which is not copied."""

    def __init__(self, array: np.ndarray) -> None:
        with warnings.catch_warnings():
            # torch warns that it could write to a read-only (memory-mapped) array; nothing here ever does.
            warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
            self.tensor = torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32))
        self.shape = tuple(self.tensor.shape[1:])

    def __len__(self) -> int:
        """Count of rows."""
        return len(self.tensor)

    def take(self, index: Tensor, out: Tensor | None = None) -> Tensor:
        """Rows of these numbers; see `Rows.take`."""
        if out is None:
            return self.tensor.index_select(0, index)
        return torch.index_select(self.tensor, 0, index, out=out[: len(index)])


class SparseRows(Rows):
    """Rows of a compressed sparse matrix: only the batch that is asked for becomes dense."""

    def __init__(self, matrix: sparse.csr_matrix | sparse.csr_array) -> None:
        self.matrix = sparse.csr_array(matrix, dtype=np.float32)
        self.shape = (self.matrix.shape[1],)

    def __len__(self) -> int:
        """Count of rows."""
        return int(self.matrix.shape[0])

    def take(self, index: Tensor, out: Tensor | None = None) -> Tensor:
        """Rows of these numbers; see `Rows.take`."""
        return torch.from_numpy(self.matrix[index.numpy()].toarray())


def as_rows(X: np.ndarray | sparse.csr_matrix | sparse.csr_array) -> Rows:
    """Wrap a checked array or sparse matrix."""
    return SparseRows(X) if sparse.issparse(X) else DenseRows(X)
