"""How do I serve scores where neither unskew nor torch is installed? One file that needs onnxruntime alone.

    python examples/serve_onnx.py model.onnx [--port 8000]

`ranker.to_onnx("model.onnx")` writes the model. Rows come encoded, as `ranker.encode(table)` gives them, with null for
a missing value:

    curl -d '{"rows": [[0.5, 1.2], [null, -0.3]]}' http://127.0.0.1:8000/score
"""

import argparse
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import onnxruntime

LARGEST_BODY = 16_000_000
"""Bytes of a request."""


class Model:
    """A model file as `to_onnx` writes it."""

    def __init__(self, path: str) -> None:
        self.session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        self.row_shape = self.session.get_inputs()[0].shape[1:]
        self.outputs = [each.name for each in self.session.get_outputs()]
        self.notes = self.session.get_modelmeta().custom_metadata_map
        self.classes = json.loads(self.notes["classes"])

    def describe(self) -> dict[str, Any]:
        """What a caller has to know: the shape of a row and the names of its features."""
        names = json.loads(self.notes.get("feature_names", "null"))
        return {"method": self.notes["method"], "row_shape": self.row_shape, "feature_names": names}

    def score(self, rows: Any) -> dict[str, list[Any]]:
        """Score, probability and class of each row; None where a score is not a number."""
        encoded = np.array(rows, dtype=np.float32)  # null becomes a missing value
        if list(encoded.shape[1:]) != self.row_shape:
            raise ValueError(
                f"rows must be a list of rows of shape {self.row_shape}, but theirs is {encoded.shape[1:]}."
            )
        found = dict(zip(self.outputs, self.session.run(self.outputs, {"rows": encoded}), strict=True))
        answer = {name: [number if np.isfinite(number) else None for number in each] for name, each in found.items()}
        reached = found["score"] >= float(self.notes["threshold"])
        answer["class"] = [self.classes[int(each)] for each in reached]
        return answer


class Handler(BaseHTTPRequestHandler):
    """`GET /` describes the model, `POST /score` scores rows."""

    model: Model

    def do_GET(self) -> None:
        """Describe the model."""
        self.answer(200, self.model.describe())

    def do_POST(self) -> None:
        """Score rows."""
        size = int(self.headers.get("Content-Length", 0))
        if size > LARGEST_BODY:
            return self.answer(413, {"error": f"a request may have {LARGEST_BODY:,} bytes, but this one has {size:,}."})
        try:
            self.answer(200, self.model.score(json.loads(self.rfile.read(size))["rows"]))
        except (ValueError, TypeError, KeyError) as error:
            self.answer(400, {"error": f'the request must be {{"rows": [[number, ...], ...]}}: {error}'})

    def answer(self, status: int, content: dict[str, Any]) -> None:
        """Send JSON."""
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    """Serve a model on this machine until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--port", type=int, default=8000)
    arguments = parser.parse_args()
    Handler.model = Model(arguments.model)
    with ThreadingHTTPServer(("127.0.0.1", arguments.port), Handler) as server:
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
