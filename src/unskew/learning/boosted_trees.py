"""Boosted trees as a score function: plain arrays, checked on the way in, and scored without whoever grew them.

A tree is a list of nodes, the root first. A node sends a row to its left child where ``x[feature] <= threshold``, else
to its right one, and a row whose value is missing where `missing_left` says. A child is the number of a later node of
the same tree or, below zero, the complement of the number of a leaf. A score is `start` plus one leaf of each tree.

A node with members asks for a set of categories instead: its members are the columns that mark them (a category is a
column of zeros and ones), and a row goes left where any of these is 1. A category that was unknown in training has no
column, so that it goes right, as it does in LightGBM.

Rows are scored without walking down. Every node is compared with all rows of a block at once; where a row goes right,
the leaves to the left of that node are out of reach, and the first leaf of the tree that is not is where it ends.
Leaves are bits of one number, so that a few operations on large arrays do that for several trees together.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

BLOCK_ROWS = 1024
"""Rows scored at once: with `GROUP_NODES` nodes, what is worked on stays in the cache."""
GROUP_NODES = 240
"""Nodes compared at once, about: few calls, each of which has enough to do."""
MOST_LEAVES = 32
"""Leaves of a tree that are the bits of a number; rows walk down larger trees."""
LAYOUT: dict[str, tuple[type, int]] = {
    "split_feature": (np.int32, 1),
    "threshold": (np.float32, 1),
    "missing_left": (np.bool_, 1),
    "left_child": (np.int32, 1),
    "right_child": (np.int32, 1),
    "leaf_value": (np.float64, 1),
    "first_node": (np.int64, 1),
    "n_members": (np.int32, 1),
    "member": (np.int32, 1),
    "start": (np.float64, 0),
}
"""Type and dimensions of each array. A tree has one leaf more than nodes, so that no array says where leaves begin."""
PER_NODE = "split_feature", "threshold", "missing_left", "left_child", "right_child", "n_members"


NO_MEMBERS = np.empty(0, dtype=np.int32)
MARKED = 0.5
"""What a column that marks a category must be above."""


class Tree(NamedTuple):
    """One tree with at least one node; children as above. Members are those of all nodes, one after another."""

    split_feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    left_child: np.ndarray
    right_child: np.ndarray
    leaf_value: np.ndarray
    n_members: np.ndarray
    member: np.ndarray

    def sets(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Nodes that ask for categories, with the columns that mark these."""
        ends = np.cumsum(self.n_members)
        for node in np.flatnonzero(self.n_members).tolist():
            yield node, tuple(self.member[ends[node] - self.n_members[node] : ends[node]].tolist())


class BoostedTrees(nn.Module):
    """Sum of trees; rows of any shape with `n_features` numbers go in, scores of shape (n,) come out.

    All arrays are buffers, so that they are saved and moved as the weights of networks are, and `from_arrays` refuses
    those that are no trees. There is nothing to train here.
    """

    split_feature: Tensor
    threshold: Tensor
    missing_left: Tensor
    left_child: Tensor
    right_child: Tensor
    leaf_value: Tensor
    first_node: Tensor
    n_members: Tensor
    member: Tensor
    start: Tensor

    def __init__(self, n_features: int, arrays: Mapping[str, np.ndarray] | None = None) -> None:
        super().__init__()
        self.n_features = n_features
        arrays = joined_trees([], 0.0) if arrays is None else arrays
        for name in LAYOUT:
            self.register_buffer(name, torch.from_numpy(np.array(arrays[name])))
        trees = self.trees()
        self._columns = _Columns(trees, n_features)
        self._groups = list(_groups_of(trees, self._columns))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], n_features: int) -> "BoostedTrees":
        """Trees from arrays of any origin, each of which is checked; earlier ones have no sets of categories."""
        if not {"n_members", "member"} & set(arrays):
            n_nodes = np.size(arrays.get("threshold", ()))
            arrays = {**arrays, "n_members": np.zeros(n_nodes, dtype=np.int32), "member": NO_MEMBERS}
        check_arrays(arrays, n_features)
        return cls(n_features, arrays)

    def trees(self) -> list[Tree]:
        """Trees one by one."""
        arrays = {name: getattr(self, name).cpu().numpy() for name in LAYOUT}
        ends = arrays["first_node"].tolist()
        first_member = np.concatenate([[0], np.cumsum(arrays["n_members"], dtype=np.int64)])
        parts = ((slice(begin, end), n) for n, (begin, end) in enumerate(zip(ends[:-1], ends[1:], strict=True)))
        return [
            Tree(
                **{name: arrays[name][nodes] for name in PER_NODE},
                leaf_value=arrays["leaf_value"][nodes.start + n : nodes.stop + n + 1],
                member=arrays["member"][first_member[nodes.start] : first_member[nodes.stop]],
            )
            for nodes, n in parts
        ]

    def first(self, n_trees: int) -> "BoostedTrees":
        """The first of these trees alone."""
        return BoostedTrees(self.n_features, joined_trees(self.trees()[:n_trees], float(self.start)))

    def forward(self, x: Tensor) -> Tensor:
        """Scores of shape (n,) for rows of shape (n, ...)."""
        rows = x.detach().cpu().numpy().reshape(len(x), -1)
        scores = np.full(len(rows), float(self.start))
        for begin in range(0, len(rows), BLOCK_ROWS):
            block, part = rows[begin : begin + BLOCK_ROWS], scores[begin : begin + BLOCK_ROWS]
            columns = self._columns.of(block)
            for group in self._groups:
                part += group.scores(columns)
        return torch.from_numpy(scores)

    def extra_repr(self) -> str:
        """Sizes, for printing."""
        return f"n_features={self.n_features}, n_trees={len(self.first_node) - 1}"


def joined_trees(trees: list[Tree], start: float) -> dict[str, np.ndarray]:
    """Trees as the arrays of `LAYOUT`."""
    columns = zip(*trees, strict=True) if trees else [[] for _ in Tree._fields]
    arrays: dict[str, np.ndarray] = {
        name: np.concatenate([np.empty(0), *column]).astype(LAYOUT[name][0])
        for name, column in zip(Tree._fields, columns, strict=True)
    }
    first_node = np.cumsum([0, *(len(tree.threshold) for tree in trees)], dtype=np.int64)
    return {**arrays, "first_node": first_node, "start": np.array(start)}


def check_arrays(arrays: Mapping[str, np.ndarray], n_features: int) -> None:
    """Refuse arrays that are not those of trees over so many features: each leaf is reached, and in one way."""
    found = {name: (value.dtype, value.ndim) for name, value in arrays.items()}
    wanted = {name: (np.dtype(kind), n_dimensions) for name, (kind, n_dimensions) in LAYOUT.items()}
    _require(found == wanted, f"of these types and dimensions: {wanted}", found)
    first, n_nodes = arrays["first_node"], len(arrays["threshold"])
    ends = len(first) > 0 and first[0] == 0 and first[-1] == n_nodes and bool((np.diff(first) > 0).all())
    _require(ends, f"of trees whose first nodes ascend from 0 to the number of nodes, {n_nodes}", first)
    sizes = {name: len(arrays[name]) for name in (*PER_NODE, "leaf_value")}
    n_leaves = n_nodes + len(first) - 1
    _require(
        sizes == {**dict.fromkeys(PER_NODE, n_nodes), "leaf_value": n_leaves},
        f"of one entry for each of {n_nodes} nodes and {n_leaves} leaves",
        sizes,
    )
    for name in ("threshold", "leaf_value", "start"):
        _require(bool(np.isfinite(arrays[name]).all()), f"finite, {name} too", arrays[name])
    for name in ("split_feature", "member"):
        feature = arrays[name]
        _require(bool(((feature >= 0) & (feature < n_features)).all()), f"of splits by {n_features} features", feature)
    counts, n_members = arrays["n_members"], len(arrays["member"])
    fits = bool((counts >= 0).all()) and int(counts.sum(dtype=np.int64)) == n_members
    _require(fits, f"of nodes with {n_members} members together", counts)
    _check_children(arrays, first)


def _check_children(arrays: Mapping[str, np.ndarray], first: np.ndarray) -> None:
    """Refuse children that are not later nodes or leaves of the same tree, each the child of one node."""
    size = np.diff(first)
    number = np.arange(len(size)).repeat(size)  # of the tree of each node
    place, own_size = np.arange(first[-1]) - first[number], size[number]
    reached = []
    for name in ("left_child", "right_child"):
        child = arrays[name].astype(np.int64)
        inside = np.where(child >= 0, (child > place) & (child < own_size), -1 - child <= own_size)
        _require(bool(inside.all()), f"of children that come later in their tree, {name} too", arrays[name])
        # Behind all nodes come the leaves, of which each tree before has one more than nodes.
        reached.append(np.where(child >= 0, first[number] + child, first[-1] + first[number] + number - 1 - child))
    times = np.bincount(np.concatenate(reached).astype(np.int64), minlength=int(2 * first[-1] + len(size)))
    times[first[:-1]] += 1  # a root is nobody's child
    _require(bool((times == 1).all()), "of trees whose nodes and leaves are the child of one node each", times)


def _require(holds: bool, wanted: str, found: object) -> None:
    if not holds:
        said = " ".join(str(found).split())
        raise ValueError(f"the arrays of boosted trees must be {wanted}, but they are {said[:200]}")


class _Columns:
    """What nodes compare: columns, each of them twice where missing values go right at one node and left at another.

    Behind them comes a column for each set of categories, 0 in rows that have one of them and 1 in all others.
    """

    def __init__(self, trees: list[Tree], n_features: int) -> None:
        self.n_features = n_features
        keys = [self._keys(tree)[tree.n_members == 0] for tree in trees]
        self.used = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *keys]))
        self.features, self.go_right = self.used % n_features, self.used >= n_features
        self.sets: dict[tuple[int, ...], int] = {}
        for tree in trees:
            for _, members in tree.sets():
                self.sets.setdefault(members, len(self.sets))
        of_all = np.concatenate([NO_MEMBERS, *(np.array(each, dtype=np.int32) for each in self.sets)])
        self.marks, place = np.unique(of_all, return_inverse=True)
        ends = np.cumsum([0, *(len(each) for each in self.sets)])
        shape = len(self.sets), len(self.marks)
        # Sparse: a file with many sets of one column each must not ask for the product of both counts.
        self.is_in = sparse.csr_array((np.ones(len(of_all), dtype=np.float32), place, ends), shape=shape)

    def _keys(self, tree: Tree) -> np.ndarray:
        return tree.split_feature.astype(np.int64) + np.where(tree.missing_left, 0, self.n_features)

    def places(self, tree: Tree) -> np.ndarray:
        """Which of the columns each node of a tree looks at."""
        places = np.searchsorted(self.used, self._keys(tree))
        for node, members in tree.sets():
            places[node] = len(self.used) + self.sets[members]
        return places

    def of(self, rows: np.ndarray) -> np.ndarray:
        """Columns of some rows, one after another; missing values that go right are infinite, others are not above."""
        values = np.ascontiguousarray(rows.take(self.features, axis=1).T)
        if self.go_right.any():
            values[np.isnan(values) & self.go_right[:, None]] = np.inf
        if not self.sets:
            return values
        marked = (rows.take(self.marks, axis=1).T > MARKED).astype(np.float32)
        return np.concatenate([values, (self.is_in @ marked == 0).astype(np.float32)])


class _Masks:
    """Trees of up to `MOST_LEAVES` leaves, which are compared with a block of rows together."""

    def __init__(self, trees: list[Tree], columns: _Columns) -> None:
        self.n_trees, self.n_nodes = len(trees), max(len(tree.threshold) for tree in trees)
        shape = self.n_nodes, self.n_trees  # smaller trees are filled up with nodes that send no row right
        place, mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.uint32)
        threshold = np.full(shape, np.inf, dtype=np.float32)
        self.values = np.zeros((self.n_trees, self.n_nodes + 1))
        for number, tree in enumerate(trees):
            own = slice(len(tree.threshold)), number
            place[own], threshold[own] = columns.places(tree), _thresholds(tree)
            mask[own], order = _left_leaves(tree)
            self.values[number, order] = tree.leaf_value
        self.place, self.threshold = place.ravel(), threshold.reshape(-1, 1)
        self.mask = mask.reshape(-1, 1).view(np.int32)
        # From the exponent of a power of two in float32, which is 127 more, to the place of the leaf.
        self.to_leaf = (np.arange(self.n_trees, dtype=np.int32) * (self.n_nodes + 1) - 127)[:, None]

    def scores(self, columns: np.ndarray) -> np.ndarray:
        """Sum over the trees, shape (n,)."""
        right = columns.take(self.place, axis=0) > self.threshold
        out_of_reach = np.bitwise_or.reduce((right * self.mask).reshape(self.n_nodes, self.n_trees, -1), axis=0)
        lowest = ~out_of_reach & (out_of_reach + np.int32(1))
        leaf = lowest.view(np.uint32).astype(np.float32).view(np.int32) >> 23
        return np.asarray(self.values.take(leaf + self.to_leaf).sum(axis=0))


class _Walk:
    """A tree of any size, which rows walk down."""

    def __init__(self, tree: Tree, columns: _Columns) -> None:
        self.tree, self.place, self.threshold = tree, columns.places(tree), _thresholds(tree)

    def scores(self, columns: np.ndarray) -> np.ndarray:
        """Leaf of each row, shape (n,)."""
        node, walking = np.zeros(columns.shape[1], dtype=np.int64), np.arange(columns.shape[1])
        while len(walking):  # children come later than their parents, so this ends
            at = node[walking]
            right = columns[self.place[at], walking] > self.threshold[at]
            node[walking] = np.where(right, self.tree.right_child[at], self.tree.left_child[at])
            walking = walking[node[walking] >= 0]
        return np.asarray(self.tree.leaf_value[-1 - node])


def _thresholds(tree: Tree) -> np.ndarray:
    """What rows that go right are above."""
    return np.where(tree.n_members > 0, np.float32(MARKED), tree.threshold)


def _groups_of(trees: list[Tree], columns: _Columns) -> Iterator[_Masks | _Walk]:
    """Trees in the form in which they are scored, small ones together."""
    together: list[Tree] = []
    for tree in trees:
        size = max(len(each.threshold) for each in (tree, *together))
        if together and size * (len(together) + 1) > GROUP_NODES:
            yield _Masks(together, columns)
            together = []
        if len(tree.leaf_value) > MOST_LEAVES:
            yield _Walk(tree, columns)
        else:
            together.append(tree)
    if together:
        yield _Masks(together, columns)


def _left_leaves(tree: Tree) -> tuple[np.ndarray, list[int]]:
    """Leaves left of each node as bits, and for each leaf its place from left to right, which is its bit."""
    children = list(zip(tree.left_child.tolist(), tree.right_child.tolist(), strict=True))
    n_leaves = [1] * len(children)
    for node in range(len(children) - 1, -1, -1):  # children come later
        n_leaves[node] = sum(1 if child < 0 else n_leaves[child] for child in children[node])
    begin, place, bits = [0] * len(children), [0] * (len(children) + 1), []
    for node, (left, right) in enumerate(children):
        n_left = 1 if left < 0 else n_leaves[left]
        bits.append(((1 << n_left) - 1) << begin[node])
        for child, first in ((left, begin[node]), (right, begin[node] + n_left)):
            if child < 0:
                place[-1 - child] = first
            else:
                begin[child] = first
    return np.array(bits, dtype=np.uint32), place
