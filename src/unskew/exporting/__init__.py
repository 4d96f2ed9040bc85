"""Fitted score functions as ONNX graphs, which other runtimes compute without this library and without torch.

A graph is written node by node from numbers: nothing is traced, and nothing is executed. What it cannot hold is refused
by its name.
"""

from unskew.exporting.graph import INPUT, Graph
from unskew.exporting.networks import network_in
from unskew.exporting.posterior import posterior_in
from unskew.exporting.writing import write_checked

__all__ = ["INPUT", "Graph", "network_in", "posterior_in", "write_checked"]
