"""Functions of the row in closed form as nodes of the graph, in 64 bits: scaling, ranks, waves."""

from math import prod

import numpy as np

from unskew.data.images import grid_of
from unskew.exporting.graph import Graph
from unskew.exporting.images import columns_in
from unskew.objectives.joint_likelihood import flattening
from unskew.posterior import FARTHEST, PosteriorModel, Scaling, Waves, scores_of_ranks


def posterior_in(graph: Graph, model: PosteriorModel, rows: str) -> str:
    """Logits of shape (n,): what `PosteriorModel.logits` gives under the assumptions that count.

    Common factors are multiplied into the weights here: runtimes merge a factor before a product into it, in 32 bits.
    """
    features = _scaled_in(graph, model.scaling, _table_in(graph, model, graph.as_float64(rows)))
    n_features, unit = model.scaling.n_features, 1 / np.sqrt(model.scaling.n_features)
    constant, *others = float(flattening(model.unseen)[0]) * model.coefficients[:, 0]
    linear, of_waves = (np.array(each)[:, None] for each in (others[:n_features], others[n_features:]))
    logit = graph.add("MatMul", features, unit * linear)
    if of_waves.any():
        logit = graph.add("Add", logit, _waves_in(graph, model.waves, features, unit, of_waves))
    return graph.vector(graph.add("Add", logit, np.float64(constant + model.offset[0])))


def _table_in(graph: Graph, model: PosteriorModel, rows: str) -> str:
    """Rows as a table; images as their gradients and colors, or for a model of an earlier version as their pixels."""
    grid = grid_of(graph.row_shape)
    if grid is None or model.n_inputs in (None, prod(graph.row_shape)):
        return graph.flat(rows)
    return columns_in(graph, grid, rows)


def _waves_in(graph: Graph, waves: Waves, features: str, unit: float, amplitudes: np.ndarray) -> str:
    """Sum of the cosines, written as sines: runtimes of before 2026 have no cosine in 64 bits."""
    angle = graph.add("Add", graph.add("MatMul", features, unit * waves.frequencies), waves.phases + np.pi / 2)
    return graph.add("MatMul", graph.add("Sin", angle), np.sqrt(2 / len(waves.phases)) * amplitudes)


def _scaled_in(graph: Graph, scaling: Scaling, x: str) -> str:
    """What `Scaling.apply` makes of rows, before it is divided by the root of the number of features."""
    if not len(scaling.kept):
        return graph.add("Unsqueeze", graph.same_for_all(0.0, x), np.array([1]))
    if scaling.filled is not None:
        missing = graph.add("IsNaN", x)
        x = graph.add("Where", missing, scaling.filled, x)
        if len(scaling.marked):
            marks = graph.as_float64(graph.columns(missing, scaling.marked))
            x = graph.add("Concat", x, marks, axis=1)
    if scaling.center is not None and scaling.directions is not None:
        x = graph.add("MatMul", graph.add("Sub", x, scaling.center), scaling.directions)
    x = graph.columns(x, scaling.kept)
    standard = graph.add("Div", graph.add("Sub", x, scaling.mean), scaling.deviation)
    standard = graph.add("Min", graph.add("Max", standard, np.float64(-FARTHEST)), np.float64(FARTHEST))
    features = graph.add("Mul", standard, scaling.size)
    if len(scaling.ranked):
        scores = _normal_scores_in(graph, scaling.quantiles, graph.columns(x, scaling.ranked))
        scores = graph.add("Mul", scores, scaling.size[scaling.ranked])
        features = graph.add("Concat", features, scores, axis=1)
    return features


def _normal_scores_in(graph: Graph, quantiles: np.ndarray, values: str) -> str:
    """Normal score of the rank of each value among the quantiles of its column; ties have that of their middle."""
    n, n_columns = quantiles.shape
    score_of_rank = scores_of_ranks(n)  # of twice the rank
    below = _number_below_in(graph, quantiles, values)
    # As whole columns one after another: entry i of column j is number j n + i.
    starts = n * np.arange(n_columns)
    place = graph.add("Add", graph.add("Min", below, np.int64(n - 1)), starts)
    flat = quantiles.T.ravel()
    is_tied = graph.add("Equal", graph.add("Gather", flat, place), values)
    by_column = quantiles.T
    twice_middle = [np.searchsorted(each, each, "left") + np.searchsorted(each, each, "right") for each in by_column]
    tied = graph.add("Gather", score_of_rank[np.concatenate(twice_middle)], place)
    between = graph.add("Gather", score_of_rank[::2], below)
    return graph.add("Where", is_tied, tied, between)


def _number_below_in(graph: Graph, quantiles: np.ndarray, values: str) -> str:
    """How many quantiles of its column are below each value, by halving what is left, with nodes instead of a loop."""
    n, n_columns = quantiles.shape
    starts, flat = n * np.arange(n_columns), quantiles.T.ravel()
    size = 1 << (n.bit_length() - 1)  # the largest power of two among the counts
    # One look at its place leaves a range of so many counts, at either end; from then on ranges are halved.
    first = graph.add("Less", np.ascontiguousarray(quantiles[size - 1]), values)
    found = graph.add("Where", first, np.int64(n + 1 - size), np.int64(0))
    while size > 1:
        size //= 2
        here = graph.add("Gather", flat, graph.add("Add", found, starts + size - 1))
        step = graph.add("Where", graph.add("Less", here, values), np.int64(size), np.int64(0))
        found = graph.add("Add", found, step)
    return found
