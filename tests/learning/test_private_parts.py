"""Private parts of other libraries: each is still there, and without it results are the same."""

import ast
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import unskew
from quick_fits import QUICK
from unskew.learning import _convnet, _perceptron, scoring, trainer

SOURCES = sorted((Path(__file__).parents[2] / "src" / "unskew").rglob("*.py"))
NOT_PRIVATE = {"_replace", "_asdict", "_fields", "_exit"}  # documented, in spite of their names


def test_torch_still_has_the_parts_that_make_training_quick():
    """If this fails, training still works, by the slower public ways below: look for the new names."""
    assert trainer.fused_adam("cpu") is torch._fused_adam_
    assert _perceptron.before_relu is torch.ops.aten.threshold_backward.grad_input
    assert _convnet.before_relu is _perceptron.before_relu
    assert not scoring._has_hooks(nn.Linear(1, 1))


def test_nothing_else_of_others_is_private():
    trees = [ast.parse(path.read_text()) for path in SOURCES]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    own |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    own |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    read = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    private = {name for name in read - own if name.startswith("_") and not name.endswith("__")}
    assert private <= NOT_PRIVATE
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    theirs = [node for node in imports if not str(node.module).startswith("unskew")]
    words = {word for node in theirs for word in (*str(node.module).split("."), *(name.name for name in node.names))}
    assert not {word for word in words if word.startswith("_") and not word.endswith("__")}


@pytest.fixture
def without_fused_adam(monkeypatch):
    trainer.fused_adam.cache_clear()
    monkeypatch.delattr(torch, "_fused_adam_")
    yield
    trainer.fused_adam.cache_clear()


def scores(toy_data, network):
    """Of a method whose risk has a slope in every direction: in that of an AUC Adam also follows what is rounded."""
    X = toy_data.X if network != "cnn" else np.random.RandomState(0).normal(size=(len(toy_data.X), 1, 16, 16))
    return unskew.make("ntc", **{**QUICK, "network": network}).fit(X, toy_data.labeled).decision_function(X)


@pytest.mark.parametrize("network", ["linear", "mlp", "cnn"])
def test_without_the_fused_step_the_public_one_learns_the_same(network, toy_data, request):
    expected = scores(toy_data, network)
    request.getfixturevalue("without_fused_adam")
    assert trainer.fused_adam("cpu") is None
    np.testing.assert_allclose(scores(toy_data, network), expected, rtol=1e-6, atol=1e-6)


def test_a_fused_step_of_another_form_is_not_used(monkeypatch):
    trainer.fused_adam.cache_clear()
    monkeypatch.setattr(torch, "_fused_adam_", lambda weights, *, gradients: None)
    assert trainer.fused_adam("cpu") is None
    trainer.fused_adam.cache_clear()


@pytest.mark.parametrize("network", ["mlp", "cnn"])
def test_without_the_gradient_of_the_relu_our_own_learns_the_same(network, toy_data, monkeypatch):
    expected = scores(toy_data, network)
    for module in (_perceptron, _convnet):
        monkeypatch.setattr(module, "before_relu", _perceptron._before_relu)
    np.testing.assert_allclose(scores(toy_data, network), expected, rtol=1e-6, atol=1e-6)


def test_a_module_whose_hooks_cannot_be_seen_is_scored_by_one_thread():
    network = nn.Sequential(nn.Linear(3, 1))
    assert scoring._is_safe_in_threads(network)
    del network[0]._forward_hooks
    assert not scoring._is_safe_in_threads(network)
