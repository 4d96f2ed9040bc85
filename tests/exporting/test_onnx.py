"""What onnxruntime computes from a written model is what the library computes, for every method and kind of model."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch import nn

import unskew
from quick_fits import METHODS, QUICK
from unskew.datasets import toy
from unskew.errors import MissingExtra, NotExportable
from unskew.learning.boosted_trees import BoostedTrees
from unskew.practice.model import TableModel

GOLDEN = Path(__file__).parents[1] / "golden"
PAGE = Path(__file__).parents[2] / "docs" / "interchange.md"
DATA, NEW = toy.draw(400, random_state=0), toy.draw(300, random_state=1)
TREES = {"network": "trees", "max_epochs": 15, "learning_rate": 0.3, "random_state": 0}
CLOSED = ["conf-gp", "conf-reg", "ntc-linear"]


def with_gaps(X, seed):
    X = X.copy()
    X[np.random.RandomState(seed).uniform(size=X.shape) < 0.15] = np.nan
    return X


def frame(data, seed):
    """Words of more categories than a split by one column would need, gaps, truth values."""
    rng = np.random.RandomState(seed)
    towns = np.clip((2 * data.X[:, 0] + 4 + rng.normal(size=len(data.X))).astype(int), 0, 7)
    towns = np.array(list("hbfdgcae"), dtype=object)[towns]
    towns[rng.uniform(size=len(towns)) < 0.1] = None
    gaps = with_gaps(data.X, seed)
    return pd.DataFrame({"amount": gaps[:, 0], "age": data.X[:, 1], "town": towns, "known": data.X[:, 1] > 0})


def fit(name, X=DATA.X, **parameters):
    parameters |= {"mixings": (0.3, 0.7)} if name == "npu" else {}
    return unskew.make(name, **{**QUICK, **parameters}).fit(X, DATA.labeled, confidence=DATA.confidence)


def computed(path, rows):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(None, {"rows": rows}), strict=True))


def assert_same(ranker, X, tmp_path):
    ranker.to_onnx(path := tmp_path / "model.onnx")
    found = computed(path, ranker.encode(X))
    np.testing.assert_allclose(found["score"], ranker.decision_function(X), rtol=1e-5, atol=1e-5)
    assert np.ptp(found["score"]) > 0.01
    assert ("probability" in found) == hasattr(ranker, "posterior_")
    if "probability" in found:
        np.testing.assert_allclose(found["probability"], ranker.predict_proba(X)[:, 1], rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("network", ["mlp", "linear"])
def test_every_method(name, network, tmp_path):
    assert_same(fit(name, network=network, ensemble=2 if network == "mlp" else 1), NEW.X, tmp_path)


@pytest.mark.parametrize("name", [name for name in METHODS if name not in ("lbe", "sar-em", "conf-joint")])
def test_every_method_with_trees_sets_of_categories_and_gaps(name, tmp_path):
    ranker = fit(name, frame(DATA, 0), **TREES, ensemble=2 if name in ("auto", "conf-auc") else 1)
    assert_same(ranker, frame(NEW, 1), tmp_path)


@pytest.mark.parametrize("name", ["conf-auc", "ntc", "pg", *CLOSED])
def test_missing_values_of_arrays(name, tmp_path):
    ranker = fit(name, with_gaps(DATA.X, 0), **TREES)
    assert_same(ranker, with_gaps(NEW.X, 1), tmp_path)
    assert_same(fit(name, **TREES), with_gaps(NEW.X, 2), tmp_path)  # gaps where training had none


def test_trees_that_were_tested_here_split_by_sets_of_categories():
    trees = fit("conf-auc", frame(DATA, 0), **TREES).network_
    assert isinstance(trees, BoostedTrees)
    assert trees.n_members.max() > 1
    assert len(set(trees.missing_left[trees.n_members == 0].tolist())) == 2


def test_large_trees_and_trees_without_a_split(tmp_path):
    ranker = fit("conf-auc", **TREES)
    node = {"split_feature": 0, "threshold": 0.0, "missing_left": False, "n_members": 0}
    n = 50  # a chain, in which every node sends the smallest rows to a leaf
    arrays = {name: np.full(n, value) for name, value in node.items()}
    arrays["threshold"] = np.linspace(-2, 2, n, dtype=np.float32)
    arrays["left_child"], arrays["right_child"] = -1 - np.arange(n), np.arange(1, n + 1)
    arrays["right_child"][-1] = -1 - n
    types = {"split_feature": np.int32, "left_child": np.int32, "right_child": np.int32, "n_members": np.int32}
    arrays = {name: values.astype(types.get(name, values.dtype)) for name, values in arrays.items()}
    arrays |= {"leaf_value": np.arange(n + 1.0) ** 2, "first_node": np.array([0, n]), "start": np.array(1.5)}
    arrays["member"] = np.empty(0, dtype=np.int32)
    ranker.network_ = BoostedTrees.from_arrays(arrays, 2)
    assert_same(ranker, NEW.X, tmp_path)
    ranker.network_ = ranker.network_.first(0)
    ranker.to_onnx(tmp_path / "none.onnx")
    np.testing.assert_array_equal(computed(tmp_path / "none.onnx", ranker.encode(NEW.X))["score"], np.full(300, 1.5))


@pytest.mark.parametrize("network", ["cnn", "mlp", "linear", "kernel", "trees"])
def test_images(network, tmp_path):
    rng = np.random.RandomState(0)
    images, labeled = rng.normal(size=(60, 2, 17, 18)).astype(np.float32), np.repeat([1, 0], 30)
    images[:30, :, 4:12] += 0.5
    ranker = unskew.make("conf-auc", **{**QUICK, "network": network, "max_epochs": 2})
    ranker.fit(images, labeled, confidence=rng.uniform(size=60))
    assert_same(ranker, images + 0.1, tmp_path)


def test_closed_forms_of_wide_tables_and_of_ranks_with_ties(tmp_path):
    rng = np.random.RandomState(0)
    wide = rng.normal(size=(400, 300))
    wide[:, 0] = DATA.X[:, 0]
    ranker = fit("conf-gp", wide)
    assert ranker.function_.scaling.directions is not None
    assert_same(ranker, wide[:50] + 0.01, tmp_path)
    steps = np.round(DATA.X, 1)
    ranker = fit("ntc-linear", np.column_stack([steps, np.ones(400)]))  # a constant column is left out
    assert len(ranker.function_.scaling.ranked) == 2
    assert_same(ranker, np.column_stack([steps, np.zeros(400)]), tmp_path)
    assert_same(ranker, np.column_stack([100 * NEW.X, np.zeros(300)]), tmp_path)  # beyond all quantiles


@pytest.mark.parametrize("name", ["ntc", "pg", "conf-auc"])
@pytest.mark.parametrize("scenario", ["one-sample", "two-sample"])
def test_cross_fitted_labeling_and_both_scenarios(name, scenario, tmp_path):
    assert_same(fit(name, scenario=scenario, crossfit=2), NEW.X, tmp_path)


@pytest.mark.parametrize("name", ["toy.unskew", "model.unskew"])
def test_model_files_of_earlier_versions(name, tmp_path):
    ranker = unskew.load(GOLDEN / name)
    assert_same(ranker, np.random.RandomState(0).normal(size=(50, *ranker.input_shape_)), tmp_path)


def test_the_file_says_what_it_is(tmp_path):
    ranker = unskew.make("conf-auc", **QUICK, pos_label="yes").fit(
        frame(DATA, 0), np.where(DATA.labeled, "yes", "no"), confidence=DATA.confidence
    )
    ranker.to_onnx(path := tmp_path / "model.onnx")
    onnx.checker.check_model(onnx.load(path), full_check=True)
    notes = onnxruntime.InferenceSession(path).get_modelmeta().custom_metadata_map
    assert json.loads(notes["feature_names"]) == list(ranker.schema_.feature_names)
    assert json.loads(notes["classes"]) == ["no", "yes"]
    assert (notes["method"], notes["library_version"]) == ("conf-auc", unskew.__version__)
    new = frame(NEW, 1)
    reached = computed(path, ranker.encode(new))["score"] >= float(notes["threshold"])
    assert np.mean(reached == (ranker.predict(new) == "yes")) > 0.99
    assert ranker.encode(new).shape == (300, len(ranker.schema_.feature_names))


def small_network(*layers):
    return lambda shape: nn.Sequential(nn.Flatten(), nn.Linear(2, 4), *layers, nn.Linear(4, 1))


def test_networks_of_ones_own_of_known_layers(tmp_path):
    layers = nn.Tanh(), nn.Dropout(0.5), nn.Sequential(nn.ReLU(), nn.Identity()), nn.Linear(4, 4, bias=False)
    assert_same(fit("conf-auc", network=small_network(*layers, nn.Sigmoid())), NEW.X, tmp_path)


class Doubled(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


@dataclass(kw_only=True, eq=False, repr=False)
class Odds(unskew.LabelingRanker):
    """A method of someone's own that says nothing of graphs."""

    name = table_name = "odds"
    assumption = "SCAR"

    def to_score(self, logit):
        return np.exp(logit)


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (lambda: fit("conf-auc", network=small_network(nn.ELU())), "the layers Sequential, .* but it has a ELU"),
        (lambda: fit("conf-auc", network=small_network(Doubled(4, 4))), "it has a Doubled"),
        (lambda: fit("ntc", labeling=LogisticRegression()), "but it is a LogisticRegression"),
        (lambda: fit("pg", scenario="two-sample", labeling=unskew.ULSIF()), "but it is a ULSIF"),
        (lambda: Odds(**QUICK).fit(DATA.X, DATA.labeled), "in `to_score_in`, but Odds does not"),
    ],
)
def test_what_no_graph_can_hold_is_refused_by_its_name(ranker, message, tmp_path):
    (path := tmp_path / "model.onnx").write_bytes(b"before")
    with pytest.raises(NotExportable, match=message):
        ranker().to_onnx(path)
    assert path.read_bytes() == b"before"


def test_a_file_that_would_compute_something_else_is_not_written(tmp_path):
    ranker = fit("conf-auc", network=small_network())
    ranker.network_[1].register_forward_hook(lambda layer, given, found: found + 1)
    with pytest.raises(NotExportable, match="same score as the model.*hooks on a layer"):
        ranker.to_onnx(tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


def test_a_labeling_model_that_the_score_does_not_need_may_be_anything(tmp_path):
    assert_same(fit("conf-auc", labeling=LogisticRegression()), NEW.X, tmp_path)


def test_weights_do_not_have_to_be_on_the_path_of_a_gradient(tmp_path):
    ranker = fit("conf-auc", probability=False)
    with torch.no_grad():
        ranker.network_[1].weight.mul_(3)
    assert_same(ranker, NEW.X, tmp_path)


@pytest.mark.parametrize("name", ["onnx", "onnxruntime"])
def test_the_extra_is_named_when_it_is_missing(name, monkeypatch, tmp_path):
    ranker = fit("conf-auc")
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=r"pip\s+install 'unskew\[onnx\]'"):
        ranker.to_onnx(tmp_path / "model.onnx")


def test_nothing_else_needs_the_extra():
    blocked = "import sys; sys.modules['onnx'] = sys.modules['onnxruntime'] = None"
    subprocess.run([sys.executable, "-c", f"{blocked}; import unskew; unskew.make('ntc'); unskew.explain"], check=True)


def test_the_code_of_the_page_runs_as_written(tmp_path, monkeypatch):
    import polars as pl

    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S):
        exec(compile(block, str(PAGE), "exec"), names)
    new = pl.read_csv(GOLDEN / "new_claims.csv", infer_schema_length=0)
    rows = names["write_model_of_table"](GOLDEN / "model.unskew", new)
    expected = TableModel.load(GOLDEN / "model.unskew").score(new)
    np.testing.assert_allclose(computed("table.onnx", rows)["score"], expected, atol=1e-5)
