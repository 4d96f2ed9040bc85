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
        """Rows of these numbers, as a tensor; written to `out`, of their shape, where that saves an allocation."""


class DenseRows(Rows):
    """Rows of an array, which is not copied (unless it is not float32 yet)."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = np.ascontiguousarray(array, dtype=np.float32)
        self.shape = self.array.shape[1:]
        with warnings.catch_warnings():  # torch warns of an array that is read-only; it is not written to
            warnings.simplefilter("ignore", UserWarning)
            self._tensor = torch.from_numpy(self.array)

    def __len__(self) -> int:
        """Count of rows."""
        return len(self.array)

    def take(self, index: Tensor, out: Tensor | None = None) -> Tensor:
        """Rows of these numbers; see `Rows.take`."""
        return torch.index_select(self._tensor, 0, index, out=out)


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
