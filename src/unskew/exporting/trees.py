"""Boosted trees as one node of the graph, in 64 bits.

Every split there asks whether a number is at most a threshold; all else becomes columns before, as in
`unskew.learning.boosted_trees`. Missing values become infinite, above or below, by where the node sends them. Sets of
categories become columns that are 0 in rows that have one of them and 1 in all others.
"""

from typing import Any

import numpy as np

from unskew.exporting.graph import Graph
from unskew.learning.boosted_trees import LAYOUT, MARKED, BoostedTrees

AT_MOST = 0
"""Number of the comparison `x <= threshold` in the format."""
SUM, NO_TRANSFORM = 1, 0


def trees_in(graph: Graph, trees: BoostedTrees, rows: str) -> str:
    """Scores of shape (n,) of a table of rows."""
    arrays = {name: getattr(trees, name).cpu().numpy() for name in LAYOUT}
    if len(arrays["first_node"]) == 1:
        return graph.same_for_all(float(arrays["start"]), rows)
    columns, place = _columns_in(graph, arrays, rows, trees.n_features)
    threshold = np.where(arrays["n_members"] > 0, MARKED, arrays["threshold"].astype(np.float64))
    attributes = {**_structure(arrays), **_splits(graph, arrays, place, threshold)}
    scores = graph.add("TreeEnsemble", graph.as_float64(columns), domain="ai.onnx.ml", **attributes)
    return graph.add("Add", graph.vector(scores), np.float64(arrays["start"]))


def _columns_in(graph: Graph, arrays: dict[str, np.ndarray], rows: str, n_features: int) -> tuple[str, np.ndarray]:
    """Columns that nodes compare, and which one each node looks at."""
    by_set = arrays["n_members"] > 0
    key = arrays["split_feature"].astype(np.int64) + np.where(arrays["missing_left"], 0, n_features)
    used = np.unique(key[~by_set])
    place = np.searchsorted(used, key)
    parts = []
    if len(used):
        values = graph.columns(rows, used % n_features)
        ends = np.where(used < n_features, -np.inf, np.inf).astype(np.float32)
        parts.append(graph.add("Where", graph.add("IsNaN", values), ends, values))
    if by_set.any():
        sets, which = _distinct_sets(arrays["n_members"], arrays["member"])
        parts.append(_outside_of(graph, sets, rows))
        place[by_set] = len(used) + which
    return parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1), place


def _distinct_sets(n_members: np.ndarray, member: np.ndarray) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """Sets of columns, and which one each node that has members asks for."""
    parts = np.split(member, np.cumsum(n_members[n_members > 0])[:-1])
    number: dict[tuple[int, ...], int] = {}
    which = [number.setdefault(tuple(part.tolist()), len(number)) for part in parts]
    return list(number), np.array(which)


def _outside_of(graph: Graph, sets: list[tuple[int, ...]], rows: str) -> str:
    """A column for each set: 0 in rows in which one of its columns is marked, else 1."""
    marks = np.unique(np.concatenate([np.array(each) for each in sets]))
    is_in = np.zeros((len(marks), len(sets)), dtype=np.float32)
    for number, members in enumerate(sets):
        is_in[np.searchsorted(marks, members), number] = 1
    marked = graph.as_float32(graph.add("Greater", graph.columns(rows, marks), np.float32(MARKED)))
    return graph.as_float32(graph.add("Equal", graph.add("MatMul", marked, is_in), np.float32(0)))


def _structure(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Which node or leaf follows on which: those of all trees are numbered through, leaves behind all nodes.

    Runtimes of before 2026 take a node for a leaf if its two children have the same number, one as a node and the other
    as a leaf. So no leaf has the number of a node.
    """
    first = arrays["first_node"]
    tree = np.arange(len(first) - 1).repeat(np.diff(first))  # of each node
    found: dict[str, Any] = {"tree_roots": first[:-1].tolist()}
    for side, name in (("true", "left_child"), ("false", "right_child")):
        child = arrays[name].astype(np.int64)
        # Behind each tree's nodes it has one leaf more than nodes, so leaves are ahead by one for each tree before.
        number = np.where(child >= 0, first[tree] + child, first[-1] + first[tree] + tree - 1 - child)
        found[f"nodes_{side}nodeids"] = number.tolist()
        found[f"nodes_{side}leafs"] = (child < 0).astype(int).tolist()
    return found


def _splits(graph: Graph, arrays: dict[str, np.ndarray], place: np.ndarray, threshold: np.ndarray) -> dict[str, Any]:
    """What nodes compare, and what leaves are worth."""
    tensor = graph.onnx.numpy_helper.from_array
    n_nodes = len(threshold)
    leaves = np.concatenate([np.zeros(n_nodes), arrays["leaf_value"]])  # the first are nobody's, see `_structure`
    return {
        "nodes_featureids": place.tolist(),
        "nodes_splits": tensor(threshold),
        "nodes_modes": tensor(np.full(n_nodes, AT_MOST, dtype=np.uint8)),
        "leaf_targetids": [0] * len(leaves),
        "leaf_weights": tensor(leaves),
        "n_targets": 1,
        "aggregate_function": SUM,
        "post_transform": NO_TRANSFORM,
    }
