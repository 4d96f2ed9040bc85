"""Images as the columns of closed forms, as nodes of the graph in 64 bits: what `unskew.data.images` computes."""

import numpy as np

from unskew.data.images import COLORS, FAINT, LEAST_ENERGY, Grid, cosines_and_sines
from unskew.exporting.graph import Graph


def columns_in(graph: Graph, grid: Grid, images: str) -> str:
    """Gradients and colors of images, of shape (n, n_columns)."""
    spread = _spread_in(graph, images)
    varies = graph.add("Greater", spread, np.float64(0))
    scaled = graph.add("Div", images, graph.add("Where", varies, spread, np.float64(1)))
    colors = graph.add("Mul", _colors_in(graph, grid, scaled), np.float64(COLORS))
    parts = [graph.add("Flatten", each, axis=1) for each in (_orientations_in(graph, grid, scaled), colors)]
    columns = graph.add("Concat", *parts, axis=1)
    unknown = graph.add("IsNaN", graph.add("Reshape", spread, np.array([-1, 1])))
    return graph.add("Where", unknown, np.float64(np.nan), columns)


def _spread_in(graph: Graph, images: str) -> str:
    """Standard deviation of the numbers of each image."""
    axes = np.array([1, 2, 3])
    apart = graph.add("Sub", images, graph.add("ReduceMean", images, axes, keepdims=1))
    return graph.add("Sqrt", graph.add("ReduceMean", graph.add("Mul", apart, apart), axes, keepdims=1))


def _orientations_in(graph: Graph, grid: Grid, images: str) -> str:
    across, down = (_gradient_in(graph, images, axis, size) for axis, size in ((3, grid.width), (2, grid.height)))
    first, second = (graph.add("Mul", each, each) for each in (across, down))
    product = graph.add("Mul", across, down)
    energy = _sum_in(graph, graph.add("Add", first, second))
    twice = [
        graph.add("Unsqueeze", _sum_in(graph, each), np.array([1]))
        for each in (graph.add("Sub", first, second), graph.add("Add", product, product))
    ]
    angles = [each[:, None, None] for each in cosines_and_sines()]
    turned = [graph.add("Mul", each, wave) for each, wave in zip(twice, angles, strict=True)]
    aligned = graph.add("Max", graph.add("Add", *turned), np.float64(0))
    size = graph.add("Add", graph.add("Mul", energy, graph.add("Sqrt", energy)), np.float64(LEAST_ENERGY))
    votes = graph.add("Div", graph.add("Mul", aligned, aligned), graph.add("Unsqueeze", size, np.array([1])))
    strength = _means_in(graph, votes, grid, grid.cell)
    energies = graph.add("ReduceSum", graph.add("Mul", strength, strength), np.array([1]), keepdims=1)
    around = _mean_of_neighbors_in(graph, energies, grid.places)
    return graph.add("Div", strength, graph.add("Sqrt", graph.add("Add", around, np.float64(FAINT**2))))


def _colors_in(graph: Graph, grid: Grid, images: str) -> str:
    means = _means_in(graph, images, grid, 2 * grid.cell)
    apart = graph.add("Sub", means, graph.add("ReduceMean", means, np.array([1]), keepdims=1))
    return graph.add("Gather", apart, np.arange(grid.channels - 1), axis=1)


def _gradient_in(graph: Graph, images: str, axis: int, size: int) -> str:
    """Difference of the neighbors along an axis; 0 at the border."""
    after, before = (_piece_in(graph, images, axis, *each) for each in ((2, size), (0, size - 2)))
    pads = np.zeros(8, dtype=np.int64)
    pads[[axis, 4 + axis]] = 1
    return graph.add("Pad", graph.add("Sub", after, before), pads, np.float64(0))


def _piece_in(graph: Graph, value: str, axis: int, start: int, end: int) -> str:
    return graph.add("Slice", value, np.array([start]), np.array([end]), np.array([axis]))


def _sum_in(graph: Graph, value: str) -> str:
    """Sum over channels."""
    return graph.add("ReduceSum", value, np.array([1]), keepdims=0)


def _means_in(graph: Graph, images: str, grid: Grid, cell: int) -> str:
    """Mean over the pixels of each place, by two products: of rows, and of columns."""
    down, across = (_membership(size, cell) for size in (grid.height, grid.width))
    return graph.add("MatMul", graph.add("MatMul", down.T, images), across)


def _membership(size: int, cell: int) -> np.ndarray:
    """Share of each pixel along a side in the mean of each place."""
    member = np.arange(size)[:, None] // cell == np.arange(size // cell)
    return np.asarray(member / cell)


def _mean_of_neighbors_in(graph: Graph, values: str, places: tuple[int, int]) -> str:
    """Mean of each place and those that touch it, likewise."""
    near = [abs(np.arange(size)[:, None] - np.arange(size)) <= 1 for size in places]
    down, across = (each / each.sum(axis=0) for each in near)
    return graph.add("MatMul", graph.add("MatMul", down.T, values), across)
