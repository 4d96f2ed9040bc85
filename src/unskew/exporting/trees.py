"""Boosted trees as one node of the graph, in 64 bits.

Sets of categories become columns of their own, as in `unskew.learning.boosted_trees`: 0 in rows that have one of them
and 1 in all others. So every split asks whether a number is at most a threshold.
"""

from typing import Any

import numpy as np

from unskew.exporting.graph import Graph
from unskew.learning.boosted_trees import LAYOUT, MARKED, PER_NODE, BoostedTrees

AT_MOST = 0
"""Number of the comparison `x <= threshold` in the format."""
SUM, NO_TRANSFORM = 1, 0


def trees_in(graph: Graph, trees: BoostedTrees, rows: str) -> str:
    """Scores of shape (n,) of a table of rows."""
    arrays = {name: getattr(trees, name).cpu().numpy() for name in LAYOUT}
    if len(arrays["first_node"]) == 1:
        return graph.same_for_all(float(arrays["start"]), rows)
    feature, threshold = arrays["split_feature"].astype(np.int64), arrays["threshold"].astype(np.float64)
    by_set = np.flatnonzero(arrays["n_members"])
    if len(by_set):
        sets, which = _distinct_sets(arrays["n_members"], arrays["member"])
        rows = graph.add("Concat", rows, _outside_of(graph, sets, rows), axis=1)
        feature[by_set], threshold[by_set] = trees.n_features + which, MARKED
    attributes = {**_structure(arrays), **_splits(graph, arrays, feature, threshold)}
    scores = graph.add("TreeEnsemble", graph.as_float64(rows), domain="ai.onnx.ml", **attributes)
    return graph.add("Add", graph.vector(scores), np.float64(arrays["start"]))


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
    """Which node or leaf follows on which: those of all trees are numbered through."""
    first = arrays["first_node"]
    tree = np.arange(len(first) - 1).repeat(np.diff(first))  # of each node
    found: dict[str, Any] = {"tree_roots": first[:-1].tolist()}
    for side, name in (("true", "left_child"), ("false", "right_child")):
        child = arrays[name].astype(np.int64)
        # Behind each tree's nodes it has one leaf more than nodes, so leaves are ahead by one for each tree before.
        number = np.where(child >= 0, first[tree] + child, first[tree] + tree - 1 - child)
        found[f"nodes_{side}nodeids"] = number.tolist()
        found[f"nodes_{side}leafs"] = (child < 0).astype(int).tolist()
    return found


def _splits(graph: Graph, arrays: dict[str, np.ndarray], feature: np.ndarray, threshold: np.ndarray) -> dict[str, Any]:
    """What nodes compare, and what leaves are worth."""
    tensor = graph.onnx.numpy_helper.from_array
    n_nodes, n_leaves = len(arrays[PER_NODE[0]]), len(arrays["leaf_value"])
    return {
        "nodes_featureids": feature.tolist(),
        "nodes_splits": tensor(threshold),
        "nodes_modes": tensor(np.full(n_nodes, AT_MOST, dtype=np.uint8)),
        "nodes_missing_value_tracks_true": arrays["missing_left"].astype(int).tolist(),
        "leaf_targetids": [0] * n_leaves,
        "leaf_weights": tensor(arrays["leaf_value"]),
        "n_targets": 1,
        "aggregate_function": SUM,
        "post_transform": NO_TRANSFORM,
    }
