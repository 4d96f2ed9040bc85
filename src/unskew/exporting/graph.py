"""A graph that grows node by node: names and constants are its business, formulas are that of its users.

Values are named by strings. What a graph holds in 64 bits is what the library computes in 64 bits.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from unskew.errors import MissingExtra

OPSET, TREES_OPSET, IR_VERSION = 21, 5, 10
"""Versions of the format: the first that has trees in 64 bits, which runtimes from the end of 2024 on read."""
INPUT = "rows"
"""Name of the encoded rows, in float32."""
Numbers = np.ndarray | np.number[Any]


def require_onnx() -> Any:
    """The package onnx, or how to get it."""
    try:
        import onnx
    except ImportError as error:
        raise MissingExtra(
            "a model is written as ONNX by the packages onnx and onnxruntime, but they are not both installed. Install "
            "them: pip install 'unskew[onnx]'."
        ) from error
    return onnx


class Graph:
    """Nodes and constants of a graph whose input are rows of this shape."""

    def __init__(self, row_shape: tuple[int, ...]) -> None:
        self.onnx = require_onnx()
        self.row_shape = row_shape
        self.nodes: list[Any] = []
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._initializers: list[Any] = []

    def add(self, op: str, *inputs: str | Numbers, domain: str = "", **attributes: Any) -> str:
        """Append a node; returns the name of its output. Inputs are names of values, or arrays."""
        names = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        output = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(op, names, [output], domain=domain, **attributes))
        return output

    def constant(self, values: Numbers) -> str:
        """Name of a constant; equal ones are stored once."""
        values = np.array(values, order="C")  # a copy, one after another in memory, also of a single number
        key = str(values.dtype), values.shape, values.tobytes()
        if key not in self._constants:
            self._constants[key] = name = f"constant_{len(self._constants)}"
            self._initializers.append(self.onnx.numpy_helper.from_array(values, name))
        return self._constants[key]

    def as_float64(self, value: str) -> str:
        """The value in 64 bits."""
        return self.add("Cast", value, to=self.onnx.TensorProto.DOUBLE)

    def as_float32(self, value: str) -> str:
        """The value, or truth as 1 and 0, in 32 bits."""
        return self.add("Cast", value, to=self.onnx.TensorProto.FLOAT)

    def columns(self, value: str, places: np.ndarray) -> str:
        """Some columns of a table."""
        return self.add("Gather", value, np.asarray(places, dtype=np.int64), axis=1)

    def flat(self, rows: str) -> str:
        """Rows as a table, images as their pixels."""
        return rows if len(self.row_shape) == 1 else self.add("Flatten", rows, axis=1)

    def in_shape(self, rows: str, shape: tuple[int, ...]) -> str:
        """Rows in another shape of as many numbers."""
        return rows if shape == self.row_shape else self.add("Reshape", rows, np.array([-1, *shape]))

    def vector(self, value: str) -> str:
        """Scores of shape (n,) from (n, 1) or (n,)."""
        return self.add("Reshape", value, np.array([-1]))

    def same_for_all(self, value: float, rows: str) -> str:
        """One number for each row."""
        n_rows = self.add("Shape", rows, start=0, end=1)
        tensor = self.onnx.numpy_helper.from_array(np.array([value]))
        return self.add("ConstantOfShape", n_rows, value=tensor)

    def weighted_sum(self, values: Sequence[str], weights: Sequence[float]) -> str:
        """Sum of values, each by its weight."""
        weighted = [self.add("Mul", each, np.float64(w)) for each, w in zip(values, weights, strict=True)]
        return weighted[0] if len(weighted) == 1 else self.add("Sum", *weighted)

    def probability_of(self, logit: str) -> str:
        """Sigmoid."""
        return self.add("Sigmoid", logit)

    def log_probability_of(self, logit: str) -> str:
        r"""Logarithm of the sigmoid, exact for large logits: :math:`\min(g, 0) - \log(1 + e^{-|g|})`."""
        small = self.add("Exp", self.add("Neg", self.add("Abs", logit)))
        rest = self.add("Log", self.add("Add", small, np.float64(1)))
        return self.add("Sub", self.add("Min", logit, np.float64(0)), rest)

    def logit_of(self, probability: str, margin: float) -> str:
        """Logit of a probability, which is kept this far from 0 and 1."""
        low = self.add("Max", probability, np.float64(margin))
        inside = self.add("Min", low, np.float64(1 - margin))
        return self.add("Log", self.add("Div", inside, self.add("Sub", np.float64(1), inside)))

    def model(self, outputs: dict[str, str], notes: dict[str, str]) -> Any:
        """The whole graph as a model; `outputs` gives names to values of shape (n,)."""
        helper, types = self.onnx.helper, self.onnx.TensorProto
        named = [helper.make_node("Identity", [value], [name]) for name, value in outputs.items()]
        graph = helper.make_graph(
            [*self.nodes, *named],
            "unskew",
            [helper.make_tensor_value_info(INPUT, types.FLOAT, ["n", *self.row_shape])],
            [helper.make_tensor_value_info(name, types.DOUBLE, ["n"]) for name in outputs],
            self._initializers,
        )
        versions = helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", TREES_OPSET)
        model = helper.make_model(graph, producer_name="unskew", opset_imports=versions, ir_version=IR_VERSION)
        helper.set_model_props(model, notes)
        return model
