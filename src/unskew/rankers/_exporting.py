"""A fitted ranker as an ONNX file: its score and, where it has one, its probability of being positive."""

import json
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from unskew._support.text import StrPath
from unskew._version import __version__
from unskew.data.frames import names_inside
from unskew.data.rows import DenseRows, Rows
from unskew.exporting import INPUT, Graph, network_in, posterior_in, write_checked
from unskew.rankers._probability import logits_of

CHECKED_NUMBERS = 100_000
"""Numbers in the rows that a graph is checked with, at most: many rows of a table, and some images."""


class Exportable:
    """A ranker whose score function can be written down as nodes of a graph."""

    input_shape_: tuple[int, ...]
    threshold_: float
    classes_: np.ndarray
    name: ClassVar[str]

    def encode(self, X: Any) -> np.ndarray:
        """Features of rows as the score function takes them, float32 of shape (n, n_features), or images.

        Of a data frame with words, dates or missing values that is what `schema_` makes of it; other rows are checked
        and otherwise stay as they are. It is the input of the file that `to_onnx` writes.
        """
        check_is_fitted(self)
        rows: Rows = self.read_features(X)  # type: ignore[attr-defined]
        return rows.take(np.arange(len(rows)))

    def to_onnx(self, path: StrPath) -> None:
        """Write the fitted model as an ONNX file, which onnxruntime computes without this library (``unskew[onnx]``).

        Its input, `rows`, is what `encode` gives. Its outputs are `score`, as `decision_function`, and, for a ranker
        that has probabilities, `probability`, that of being positive; both float64 of shape (n,). The cut of `predict`,
        names of features and the like are in its metadata. A missing value where the ranker takes none gives NaN
        instead of an error. The file is written only after onnxruntime has given the same numbers for made-up rows.

        Raises
        ------
        NotExportable
            If it rests on something that is no network of known layers, such as the classifier of another library.
        """
        check_is_fitted(self)
        graph = Graph(self.input_shape_)
        outputs = {"score": self.score_in(graph, INPUT)}
        sample = self._made_up_rows()
        expected = {"score": self.scores_at(DenseRows(sample))}  # type: ignore[attr-defined]
        if hasattr(self, "posterior_"):
            outputs["probability"] = graph.probability_of(posterior_in(graph, self.posterior_, INPUT))
            expected["probability"] = expit(logits_of(self.posterior_, DenseRows(sample)))
        write_checked(path, graph.model(outputs, self._notes()), sample, expected)

    def score_in(self, graph: Graph, rows: str) -> str:
        """Add the score function to a graph; returns the name of the scores, of shape (n,) in 64 bits."""
        if not hasattr(self, "members_"):
            return self._score_in(graph, rows)
        standardized = [
            graph.add(
                "Div",
                graph.add("Sub", each.ranker.score_in(graph, rows), np.float64(each.center)),
                np.float64(each.spread),
            )
            for each in self.members_
        ]
        return graph.weighted_sum(standardized, [each.weight for each in self.members_])

    def _score_in(self, graph: Graph, rows: str) -> str:
        """Nodes of the learned score function, as `_score` computes it."""
        return network_in(graph, self.network_, rows)  # type: ignore[attr-defined]

    def _made_up_rows(self) -> np.ndarray:
        rng = np.random.RandomState(20_190_227)  # no seed of others: rows of the fit are ties among ranks
        n_rows = max(8, min(256, CHECKED_NUMBERS // int(np.prod(self.input_shape_))))
        rows = rng.normal(size=(n_rows, *self.input_shape_)).astype(np.float32)
        if getattr(self, "takes_missing", False):
            rows[rng.uniform(size=rows.shape) < 0.1] = np.nan
        return rows

    def _notes(self) -> dict[str, str]:
        names = names_inside(self)
        notes = {
            "method": self.name,
            "library_version": __version__,
            "threshold": repr(float(self.threshold_)),
            "classes": json.dumps(self.classes_.tolist()),
        }
        return notes if names is None else {**notes, "feature_names": json.dumps([str(name) for name in names])}
