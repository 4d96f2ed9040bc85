"""Boosted trees: contributions leaf by leaf, where a row and the background differ in which columns lead there.

How a row passes a node is asked in one place, `_goes_left`.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from unskew.explaining._additive import Contributions
from unskew.explaining._columns import Columns
from unskew.learning.boosted_trees import MARKED, Tree

BLOCK_ROWS = 16_384
MOST_TABULATED = 12
"""Columns on the way to a leaf up to which all patterns have a place in a table."""


@dataclass(frozen=True)
class SumOfTrees:
    """Trees, the sum of whose leaves counts by a factor."""

    trees: list[Tree]
    factor: float

    def against(self, background: np.ndarray, columns: Columns) -> Contributions:
        """Contributions against these rows, each in its turn, by Eq. (E3)."""
        values = np.ascontiguousarray(background.T)
        leaves = [_leaves_of(tree, columns.of_feature, _goes_left(tree, values)) for tree in self.trees]

        def contributions(X: np.ndarray) -> np.ndarray:
            found = np.zeros((len(columns), len(X)))
            for begin in range(0, len(X), BLOCK_ROWS):
                block = slice(begin, begin + BLOCK_ROWS)
                values = np.ascontiguousarray(X[block].T)
                for tree, own in zip(self.trees, leaves, strict=True):
                    left = _goes_left(tree, values)
                    for leaf in own:
                        leaf.add(left, found[:, block])
            return self.factor * found.T

        return contributions


def _goes_left(tree: Tree, values: np.ndarray) -> np.ndarray:
    """Which rows each node sends left, shape (n_nodes, n); `values` has a row for each feature."""
    own = values[tree.split_feature]
    left: np.ndarray = own <= tree.threshold[:, None]
    missing = np.isnan(own)
    left = np.where(missing, tree.missing_left[:, None], left) if missing.any() else left
    for node, members in tree.sets():
        left[node] = (values[list(members)] > MARKED).any(axis=0)
    return left


@dataclass(frozen=True)
class _Leaf:
    """A leaf with the columns that lead there.

    Attributes
    ----------
    value : float
    columns : list of int
        Each once.
    nodes : list of (int, bool) for each column
        Nodes that split by it, and whether the way to the leaf goes left there.
    patterns, share : arrays of shape (n_patterns,)
        By which of the columns background rows could come here, the first column as the lowest bit; and how many do.
    """

    value: float
    columns: list[int]
    nodes: list[list[tuple[int, bool]]]
    patterns: np.ndarray
    share: np.ndarray

    def add(self, left: np.ndarray, found: np.ndarray) -> None:
        """Add what the columns contribute here to an array of shape (n_columns, n)."""
        pattern = _pattern(self.nodes, left)
        if len(self.columns) <= MOST_TABULATED:
            here = np.zeros(1 << len(self.columns), dtype=bool)
            here[pattern] = True
            different, place = np.flatnonzero(here), pattern
            table = np.zeros((len(self.columns), len(here)))
            table[:, different] = self._shares(different)
        else:
            different, place = np.unique(pattern, return_inverse=True)
            table = self._shares(different)
        for column, shares in zip(self.columns, table, strict=True):
            found[column] += shares.take(place)

    def _shares(self, patterns: np.ndarray) -> np.ndarray:
        bits = np.arange(len(self.columns))
        passes, background = ((each[:, None] >> bits & 1).astype(bool) for each in (patterns, self.patterns))
        return self.value * contributions_to_leaf(passes, background, self.share).T


def contributions_to_leaf(passes: np.ndarray, background: np.ndarray, share: np.ndarray) -> np.ndarray:
    r"""Shapley values of the columns on the way to a leaf of value 1.

    A row comes here if the values of all these columns C lead here. X are those by which the row does so, and
    :math:`B_b` those by which a background row does. A coalition of columns comes here if each of its columns is in X
    and each other one in B. So where :math:`X \cup B = C`, with a columns that only the row passes and m that only the
    background row passes,

    .. math::
        \varphi_c = \frac1B \sum_{b: X \cup B_b = C} \begin{cases}
        \frac{(a-1)!\, m!}{(a+m)!} & c \notin B_b \\ -\frac{a!\, (m-1)!}{(a+m)!} & c \notin X \end{cases}

    Implements: Eq. (E3). `passes` and `background` have shape (n, n_columns) and (n_patterns, n_columns), `share` is
    the share of the background with each pattern; the result has shape (n, n_columns).
    """
    meets = ~(~passes[:, None] & ~background[None]).any(axis=2)
    a, m = (~background).sum(axis=1)[None], (~passes).sum(axis=1)[:, None]
    with np.errstate(invalid="ignore"):  # of 0 columns none gets anything: infinite logarithms are replaced
        of_row = np.exp(gammaln(np.maximum(a, 1)) + gammaln(m + 1) - gammaln(a + m + 1))
        of_background = np.exp(gammaln(a + 1) + gammaln(np.maximum(m, 1)) - gammaln(a + m + 1))
    counted = meets * share
    gain = (counted * of_row) @ ~background
    return np.asarray(gain - ~passes * (counted * of_background).sum(axis=1)[:, None])


def _pattern(nodes: list[list[tuple[int, bool]]], left: np.ndarray) -> np.ndarray:
    """Which of the columns of a leaf let each row pass, as bits."""
    kind = np.int32 if len(nodes) < 31 else np.int64
    pattern: np.ndarray = np.zeros(left.shape[1], dtype=kind)
    for bit, own in enumerate(nodes):
        passes = np.ones(left.shape[1], dtype=bool)
        for node, goes_left in own:
            passes &= left[node] if goes_left else ~left[node]
        pattern = pattern | np.left_shift(passes, bit, dtype=kind)
    return pattern


def _leaves_of(tree: Tree, column_of: np.ndarray, left: np.ndarray) -> list[_Leaf]:
    """Leaves of a tree; `left` says where the background goes."""
    ways: dict[int, list[tuple[int, bool]]] = {0: []}
    leaves = []
    for node, children in enumerate(zip(tree.left_child.tolist(), tree.right_child.tolist(), strict=True)):
        for child, goes_left in zip(children, (True, False), strict=True):
            way = [*ways[node], (node, goes_left)]
            if child >= 0:
                ways[child] = way  # children come later than their parents
            else:
                leaves.append(_leaf(float(tree.leaf_value[-1 - child]), way, column_of[tree.split_feature], left))
    return leaves


def _leaf(value: float, way: list[tuple[int, bool]], column_of_node: np.ndarray, left: np.ndarray) -> _Leaf:
    by_column: dict[int, list[tuple[int, bool]]] = {}
    for step in way:
        by_column.setdefault(int(column_of_node[step[0]]), []).append(step)
    nodes = list(by_column.values())
    patterns, counts = np.unique(_pattern(nodes, left), return_counts=True)
    return _Leaf(value, list(by_column), nodes, patterns, counts / left.shape[1])
