"""The convolutional network and its pull-back against torch's own layers and autograd."""

import copy
import math
import pickle

import numpy as np
import pytest
import torch
from torch import nn

import unskew
from unskew.data.rows import as_rows
from unskew.learning import _convnet as convnet
from unskew.learning._convnet import ConvNet, ConvNetPullback
from unskew.learning._perceptron import Perceptron
from unskew.learning.networks import build_network, empty_network
from unskew.learning.scoring import score_rows
from unskew.learning.trainer import Adam, AutogradPullback, new_pullback

SHAPES = [(3, 32, 32), (1, 28, 28), (1, 16, 16), (2, 19, 30), (4, 33, 17)]


def drawn(shape=(3, 32, 32), seed=0):
    return build_network("cnn", torch.zeros(1, *shape), torch.Generator().manual_seed(seed))


def plain(network):
    """The network of the paper as one would write it in torch, with the same weights."""
    channels, height, width = network.shape
    n_pooled = 16 * math.prod(((size - 4) // 2 - 4) // 2 for size in (height, width))
    reference = nn.Sequential(
        nn.Conv2d(channels, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(n_pooled, 124), nn.ReLU(), nn.Linear(124, 124), nn.ReLU(), nn.Linear(124, 1),
    ).to(network.head.weights.dtype)  # fmt: skip
    with torch.no_grad():
        for place, value in zip(reference.parameters(), by_layer(network, list(network.parameters())), strict=True):
            place.copy_(value)
    return reference


def by_layer(network, values):
    """Values for each parameter of the network, in the order and the shapes of the parameters of `plain`."""
    head = Perceptron(network.head.n_inputs, network.head.hidden)
    head.weights.data = values[-1].detach()
    w1, b1, w2, b2, w3, b3 = (each.detach() for each in head.layers())
    return [*values[:-1], w1.T, b1, w2.T, b2, w3[None], b3.reshape(1)]


def images(n, shape, seed=1, dtype=torch.float32):
    return torch.randn(n, *shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def slopes(n, seed=2, dtype=torch.float32):
    return torch.randn(n, generator=torch.Generator().manual_seed(seed), dtype=dtype) / n


def assert_same_step(network, pullback, reference, x, slope, **tolerance):
    expected = reference(x).ravel()
    torch.testing.assert_close(pullback.scores(x), expected.detach(), **tolerance)
    theirs = torch.autograd.grad(expected, list(reference.parameters()), slope)
    for ours, each in zip(by_layer(network, pullback.gradients(slope)), theirs, strict=True):
        torch.testing.assert_close(ours, each, **tolerance)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [1, 2, 41])
def test_scores_and_gradients_are_those_of_the_plain_network(shape, n):
    network = drawn(shape)
    assert_same_step(
        network, ConvNetPullback(network, n), plain(network), images(n, shape), slopes(n), rtol=0, atol=1e-5
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("pullback_of", [lambda network: ConvNetPullback(network, 11), AutogradPullback])
def test_in_double_precision_they_agree_to_the_last_digits(shape, pullback_of):
    network = drawn(shape).double()
    pullback, reference = pullback_of(network), plain(network)
    for seed in (1, 2):  # the second time the memory is not empty any more
        x, slope = images(11, shape, seed, torch.float64), slopes(11, seed, torch.float64)
        assert_same_step(network, pullback, reference, x, slope, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("shape", [(1, 20, 24), (2, 16, 16)])
def test_chunks_and_batches_of_any_size(shape, monkeypatch):
    monkeypatch.setattr(convnet, "CHUNK_TILES", 3 * (shape[1] // 4 - 1) * (shape[2] // 4 - 1))  # three images
    network = drawn(shape).double()
    pullback, reference = ConvNetPullback(network, 8), plain(network)
    assert pullback.blocks.chunk == 3
    for n in (8, 7, 3, 2, 1, 4, 8):
        x, slope = images(n, shape, n, torch.float64), slopes(n, n, torch.float64)
        assert_same_step(network, pullback, reference, x, slope, rtol=1e-10, atol=1e-12)
        with torch.inference_mode():
            torch.testing.assert_close(network(x), reference(x).ravel(), rtol=1e-10, atol=1e-12)
    with torch.inference_mode():
        assert network(x[:0]).shape == (0,)


def test_equal_pixels_get_the_gradient_as_in_torch():
    shape = (1, 20, 20)
    network = drawn(shape).double()
    with torch.no_grad():
        for layer in network.convolutions:  # small integers: sums are exact, and many are equal
            layer.weight.copy_(layer.weight.sign() * (layer.weight.abs() > 0.5 * layer.weight.abs().max()))
            layer.bias.zero_()
    x = images(9, shape, dtype=torch.float64).round()
    hidden = network[0](x)
    beside = hidden[..., ::2] == hidden[..., 1::2]
    assert beside.double().mean() > 0.02
    pullback = ConvNetPullback(network, 9)
    assert_same_step(network, pullback, plain(network), x, slopes(9, dtype=torch.float64), rtol=1e-10, atol=1e-12)


def test_gradient_by_differences():
    network = drawn((2, 16, 21)).double()
    x, slope = images(5, network.shape, dtype=torch.float64), slopes(5, dtype=torch.float64)
    pullback = ConvNetPullback(network, 5)
    pullback.scores(x)
    gradients = [each.clone() for each in pullback.gradients(slope)]
    start = [each.detach().clone() for each in network.parameters()]
    step = 1e-7
    for number, gradient in enumerate(gradients):
        direction = torch.randn(gradient.shape, generator=torch.Generator().manual_seed(number), dtype=torch.float64)
        direction[gradient == 0] = 0  # among them what the perceptron holds fixed
        values = []
        for sign in (1, -1):
            with torch.no_grad():
                list(network.parameters())[number].copy_(start[number] + sign * step * direction)
            values.append(pullback.scores(x) @ slope)
        with torch.no_grad():
            list(network.parameters())[number].copy_(start[number])
        slope_there = (values[0] - values[1]).item() / (2 * step)
        assert slope_there == pytest.approx((gradient * direction).sum().item(), rel=1e-4, abs=1e-8)


def test_the_layout_of_the_images_does_not_matter():
    network = drawn()
    x = images(4, network.shape)
    with torch.inference_mode():
        expected = network(x)
        assert torch.equal(network(x.contiguous(memory_format=torch.channels_last)), expected)
        assert torch.equal(network(x.repeat_interleave(2, dim=0)[::2]), expected)


def test_scoring_is_the_same_with_and_without_autograd():
    network = drawn()
    x = images(33, network.shape)
    recorded = network(x)
    assert recorded.requires_grad
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            torch.testing.assert_close(network(x), recorded.detach(), rtol=0, atol=1e-5)


def test_a_score_does_not_depend_on_the_other_rows():
    network, x = drawn((1, 16, 16)), images(200, (1, 16, 16)).numpy()
    together = score_rows(network, as_rows(x))
    torch.testing.assert_close(together, plain(network)(torch.from_numpy(x)).detach().ravel(), rtol=0, atol=1e-5)
    for row in (0, 57, 199):
        assert torch.equal(score_rows(network, as_rows(x), np.array([row])), together[row : row + 1])


def test_each_device_has_its_pullback():
    network = drawn((1, 16, 16))
    assert isinstance(new_pullback(network, 4), ConvNetPullback)
    elsewhere = copy.deepcopy(network).to("meta")
    assert isinstance(new_pullback(elsewhere, 4), AutogradPullback)
    with torch.inference_mode():
        assert elsewhere(torch.zeros(3, 1, 16, 16, device="meta")).shape == (3,)


def test_initial_weights_are_drawn_layer_by_layer_by_the_law_of_torch():
    state = torch.get_rng_state()
    network, generator = drawn(seed=5), torch.Generator().manual_seed(5)
    assert torch.equal(torch.get_rng_state(), state)
    for layer in network.convolutions:
        bound = 1 / math.sqrt(layer.in_channels * 25)
        for part in (layer.weight, layer.bias):
            assert torch.equal(part, torch.empty_like(part).uniform_(-bound, bound, generator=generator))
    head = Perceptron(400, 124)
    head.draw(generator)
    assert torch.equal(network.head.weights, head.weights)


def test_state_comes_back():
    network, other = drawn(seed=1), empty_network("cnn", (3, 32, 32))
    names = ["0.weight", "0.bias", "3.weight", "3.bias", "7.weights"]
    assert list(network.state_dict()) == names
    other.load_state_dict(network.state_dict())
    x = images(3, network.shape)
    for each in (other, copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        assert isinstance(each, ConvNet)
        assert torch.equal(each(x), network(x))
        with torch.inference_mode():
            assert torch.equal(each(x), network(x))


def test_loaded_weights_reach_the_pullback():
    network, other = drawn(seed=1), drawn(seed=2)
    pullback = ConvNetPullback(network, 3)
    network.load_state_dict(other.state_dict())
    x = images(3, network.shape)
    torch.testing.assert_close(pullback.scores(x), other(x).detach(), rtol=0, atol=1e-5)


def test_ten_steps_of_training_are_those_of_the_plain_network():
    network = drawn((1, 16, 16)).double()
    reference = plain(network)
    ways = [(each, new_pullback(each, 20), Adam(each, 1e-3)) for each in (network, reference)]
    assert [type(pullback) for _, pullback, _ in ways] == [ConvNetPullback, AutogradPullback]
    for seed in range(10):
        x = images(20, (1, 16, 16), seed, torch.float64)
        for _, pullback, optimizer in ways:
            optimizer.descend(pullback.gradients(2 * pullback.scores(x) - 1))
    for ours, theirs in zip(by_layer(network, list(network.parameters())), reference.parameters(), strict=True):
        torch.testing.assert_close(ours.detach(), theirs.detach(), rtol=0, atol=1e-6)


def test_a_method_trains_with_it_and_repeats_itself():
    rng = np.random.RandomState(0)
    X, y = rng.uniform(size=(120, 1, 16, 16)), np.repeat([1, 0], [30, 90])
    X[:60] += rng.uniform(size=(1, 16, 16))
    r = np.where(y == 1, rng.uniform(0.6, 1, size=120), np.nan)
    scores = []
    for _ in range(2):
        ranker = unskew.make("conf-auc", network="cnn", max_epochs=3, batch_size=50, random_state=0)
        scores.append(ranker.fit(X, y, confidence=r).decision_function(X))
    assert np.isfinite(scores[0]).all()
    assert scores[0][:60].mean() > scores[0][60:].mean()
    np.testing.assert_array_equal(*scores)
