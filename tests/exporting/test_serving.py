"""The example server answers as the library does, with neither the library nor torch within its reach."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import unskew
from quick_fits import QUICK
from unskew.datasets import toy

SERVER = Path(__file__).parents[2] / "examples" / "serve_onnx.py"
DATA, NEW = toy.draw(300, random_state=0), toy.draw(20, random_state=1)


@pytest.fixture(scope="module")
def ranker():
    ranker = unskew.make("conf-reg", **{**QUICK, "network": "trees"})
    return ranker.fit(DATA.X, DATA.labeled, confidence=DATA.confidence)


@pytest.fixture(scope="module")
def address(ranker, tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    ranker.to_onnx(folder / "model.onnx")
    for name in ("unskew", "torch", "sklearn"):
        (folder / f"{name}.py").write_text("raise ImportError('a server must not import this')")
    command = [sys.executable, SERVER, folder / "model.onnx", "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as server:
        try:
            yield server.stdout.readline().decode().strip()
        finally:
            server.terminate()


def answer(address, body=None):
    with urllib.request.urlopen(address, data=body, timeout=30) as response:
        return json.load(response)


def test_scores_probabilities_and_classes(address, ranker):
    rows = NEW.X.astype(object)
    rows[0, 0] = None
    found = answer(f"{address}/score", json.dumps({"rows": rows.tolist()}).encode())
    X = rows.astype(float)
    np.testing.assert_allclose(found["score"], ranker.decision_function(X), atol=1e-5)
    np.testing.assert_allclose(found["probability"], ranker.predict_proba(X)[:, 1], atol=1e-5)
    assert found["class"] == ranker.predict(X).tolist()
    assert answer(address) == {"method": "conf-reg", "row_shape": [2], "feature_names": None}


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b"{}", b'{"rows": [[1, 2, 3]]}', b'{"rows": 5}', b'{"rows": [["a", 1]]}']
)
def test_wrong_requests_are_refused_in_one_sentence(address, body):
    with pytest.raises(urllib.error.HTTPError) as refusal:
        answer(f"{address}/score", body)
    assert refusal.value.code == 400
    assert json.load(refusal.value)["error"].startswith("the request must be")
