"""Columns of the table and the features that were made from each: the players, and what they hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class Columns:
    """Names of the columns, and the number of the column that each feature belongs to."""

    names: tuple[str, ...]
    of_feature: np.ndarray

    @classmethod
    def from_names(cls, names: Sequence[str]) -> Self:
        """Columns by the name of the column of each feature; features of one name belong together."""
        place = {name: number for number, name in enumerate(dict.fromkeys(names))}
        return cls(tuple(place), np.array([place[name] for name in names], dtype=np.int64))

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def one_feature_each(self) -> bool:
        """Whether features and columns are the same."""
        return len(self.names) == len(self.of_feature)

    def summed(self, by_feature: np.ndarray, source: np.ndarray | None = None) -> np.ndarray:
        """Sum over the features of each column; `source` says which feature each number belongs to, if not in order."""
        own = self.of_feature if source is None else self.of_feature[source]
        entries = np.ones(len(own)), (np.arange(len(own)), own)
        return np.asarray(by_feature @ sparse.csr_array(entries, shape=(len(own), len(self))))
