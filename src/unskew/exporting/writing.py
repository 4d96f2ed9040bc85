"""The file, which is not written before onnxruntime computes from it what the library computes."""

from typing import Any

import numpy as np

from unskew._support.files import write_atomically
from unskew._support.text import StrPath
from unskew.errors import MissingExtra, NotExportable
from unskew.exporting.graph import INPUT

MOST_APART = 1e-4
"""Difference, over one plus the size of the number, from which on the graph computes something else: a layer that does
more than its kind does, or a score function of someone's own. Rounding in 32 bits stays below a tenth of it."""


def write_checked(path: StrPath, model: Any, rows: np.ndarray, expected: dict[str, np.ndarray]) -> None:
    """Write a model if it gives what is expected of these rows."""
    content = model.SerializeToString()
    for name, found in computed(content, rows, list(expected)).items():
        apart = np.max(np.abs(found - expected[name]) / (1 + np.abs(expected[name])))
        if not apart <= MOST_APART:
            raise NotExportable(
                f"the graph must compute the same {name} as the model, but of rows that were made up to check it they "
                f"are {apart:.2g} apart. Something in the model computes more than its kind says: hooks on a layer, or "
                "a method of one's own without `score_in`."
            )
    write_atomically(path, content)


def computed(content: bytes, rows: np.ndarray, names: list[str]) -> dict[str, np.ndarray]:
    """Outputs of a model for some rows, by onnxruntime."""
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtra(
            "a model that is written as ONNX is checked by onnxruntime, but it is not installed. Install it: pip "
            "install 'unskew[onnx]'."
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    return dict(zip(names, session.run(names, {INPUT: rows}), strict=True))
