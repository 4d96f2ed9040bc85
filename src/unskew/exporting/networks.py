"""Networks as nodes of the graph, layer by layer, in 32 bits as they were trained; their scores in 64 bits."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from torch import Tensor, nn

from unskew.errors import NotExportable
from unskew.exporting.graph import Graph
from unskew.exporting.trees import trees_in
from unskew.learning.boosted_trees import BoostedTrees
from unskew.learning.networks import ConvNet, KernelFeatures, Perceptron


def network_in(graph: Graph, network: nn.Module, rows: str) -> str:
    """Scores of shape (n,) in 64 bits."""
    if type(network) is BoostedTrees:
        return trees_in(graph, network, graph.flat(rows))
    return graph.as_float64(graph.vector(_layer_in(graph, network, rows)))


def _layer_in(graph: Graph, layer: nn.Module, x: str) -> str:
    kind = type(layer)  # what derives from a known layer may compute anything
    if kind not in LAYERS:
        known = ", ".join(each.__name__ for each in LAYERS)
        raise NotExportable(
            f"a network that is written as ONNX must consist of the layers {known}, but it has a {kind.__name__}. Use "
            "network='mlp', 'cnn', 'linear', 'kernel' or 'trees', or build it from these layers."
        )
    return LAYERS[kind](graph, layer, x)


def _chain(graph: Graph, layers: Any, x: str) -> str:
    for layer in layers:
        x = _layer_in(graph, layer, x)
    return x


def _linear(graph: Graph, layer: Any, x: str) -> str:
    product = graph.add("MatMul", x, _numbers(layer.weight).T)
    return product if layer.bias is None else graph.add("Add", product, _numbers(layer.bias))


def _perceptron(graph: Graph, layer: Any, x: str) -> str:
    w1, b1, w2, b2, w3, b3 = map(_numbers, layer.layers())
    for weight, bias in ((w1, b1), (w2, b2)):
        x = graph.add("Relu", graph.add("Add", graph.add("MatMul", x, weight), bias))
    return graph.add("Add", graph.add("MatMul", x, w3[:, None]), b3)


def _kernel(graph: Graph, layer: Any, x: str) -> str:
    angle = graph.add("Add", graph.add("MatMul", x, _numbers(layer.projection)), _numbers(layer.phase))
    return graph.add("Mul", graph.add("Cos", angle), np.float32(math.sqrt(2)))


def _convolution(graph: Graph, layer: Any, x: str) -> str:
    if isinstance(layer.padding, str) or layer.padding_mode != "zeros":
        raise NotExportable(
            "a convolution that is written as ONNX must be padded with a number of zeros, but it has "
            f"padding={layer.padding!r}, padding_mode={layer.padding_mode!r}. Pad with a number of zeros."
        )
    weights = [_numbers(each) for each in (layer.weight, layer.bias) if each is not None]
    strides, dilations, pads = map(list, (layer.stride, layer.dilation, layer.padding * 2))
    return graph.add("Conv", x, *weights, strides=strides, dilations=dilations, pads=pads, group=layer.groups)


def _pooling(graph: Graph, layer: Any, x: str) -> str:
    size, step, pad, apart = map(_pair, (layer.kernel_size, layer.stride, layer.padding, layer.dilation))
    shape: dict[str, Any] = {"kernel_shape": size, "strides": step, "pads": pad * 2, "dilations": apart}
    return graph.add("MaxPool", x, ceil_mode=int(layer.ceil_mode), **shape)


def _flatten(graph: Graph, layer: Any, x: str) -> str:
    if (layer.start_dim, layer.end_dim) != (1, -1):
        raise NotExportable(
            "a Flatten that is written as ONNX must flatten whole rows, but it has "
            f"start_dim={layer.start_dim}, end_dim={layer.end_dim}. Use nn.Flatten()."
        )
    return graph.add("Flatten", x, axis=1)


def _same(graph: Graph, layer: Any, x: str) -> str:
    """Nothing happens here when a row is scored."""
    return x


def _pair(size: Any) -> list[int]:
    return list(size) if isinstance(size, tuple) else [size, size]


def _numbers(values: Tensor) -> np.ndarray:
    return np.ascontiguousarray(values.detach().cpu().numpy())


LAYERS: dict[type[nn.Module], Callable[[Graph, Any, str], str]] = {
    nn.Sequential: _chain,
    ConvNet: _chain,
    Perceptron: _perceptron,
    KernelFeatures: _kernel,
    nn.Linear: _linear,
    nn.Conv2d: _convolution,
    nn.MaxPool2d: _pooling,
    nn.Flatten: _flatten,
    nn.ReLU: lambda graph, layer, x: graph.add("Relu", x),
    nn.Tanh: lambda graph, layer, x: graph.add("Tanh", x),
    nn.Sigmoid: lambda graph, layer, x: graph.add("Sigmoid", x),
    nn.Dropout: _same,
    nn.Identity: _same,
}
"""How each kind of layer becomes nodes."""
