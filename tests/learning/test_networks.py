import numpy as np
import pytest
import torch
from torch import nn

from unskew.learning._perceptron import Perceptron
from unskew.learning.networks import HIDDEN, NETWORKS, KernelFeatures, build_network, empty_network, own_randomness


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("name", NETWORKS)
def test_one_score_per_row_and_no_global_draw(name):
    sample = torch.rand(7, 3, 32, 32) if name == "cnn" else torch.rand(7, 5)
    before = torch.random.get_rng_state()
    first, second = (build_network(name, sample, generator(3)) for _ in range(2))
    empty_network(name, tuple(sample.shape[1:]))
    assert torch.equal(torch.random.get_rng_state(), before)
    score = first(sample)
    assert score.numel() == 7
    assert torch.equal(score, second(sample))
    assert not torch.equal(score, build_network(name, sample, generator(4))(sample))


def test_sizes_are_those_of_the_paper():
    (mlp,) = [m for m in build_network("mlp", torch.rand(2, 784), generator()).modules() if isinstance(m, Perceptron)]
    assert [tuple(each.shape) for each in mlp.layers()] == [(784, 124), (124,), (124, 124), (124,), (124,), ()]
    cnn = build_network("cnn", torch.rand(2, 3, 32, 32), generator())
    convolutions = [layer for layer in cnn.modules() if isinstance(layer, nn.Conv2d)]
    assert [(c.in_channels, c.out_channels, c.kernel_size) for c in convolutions] == [(3, 6, (5, 5)), (6, 16, (5, 5))]
    (head,) = [layer for layer in cnn.modules() if isinstance(layer, Perceptron)]
    assert (head.n_inputs, head.hidden) == (400, HIDDEN)


def test_cnn_is_the_plain_network():
    sample = torch.rand(4, 3, 32, 32)
    cnn = build_network("cnn", sample, generator())
    plain = nn.Sequential(
        nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 124), nn.ReLU(), nn.Linear(124, 124), nn.ReLU(), nn.Linear(124, 1),
    )  # fmt: skip
    (head,) = [layer for layer in cnn.modules() if isinstance(layer, Perceptron)]
    w1, b1, w2, b2, w3, b3 = head.layers()
    weights = [*(c.weight for c in cnn if isinstance(c, nn.Conv2d)), w1.T, w2.T, w3[None]]
    biases = [*(c.bias for c in cnn if isinstance(c, nn.Conv2d)), b1, b2, b3[None]]
    with torch.no_grad():
        layers = [layer for layer in plain if hasattr(layer, "weight")]
        for layer, weight, bias in zip(layers, weights, biases, strict=True):
            layer.weight.copy_(weight)
            layer.bias.copy_(bias)
    torch.testing.assert_close(cnn(sample), plain(sample).ravel(), atol=1e-6, rtol=1e-5)


def test_images_too_small_for_the_cnn():
    with pytest.raises(ValueError, match=r"16 x 16 pixels or more, but one row of X has shape \(1, 8, 8\)"):
        build_network("cnn", torch.rand(2, 1, 8, 8), generator())


def test_kernel_features_approach_the_gaussian_kernel():
    sample = torch.randn(60, 3, generator=generator())
    features = KernelFeatures(3, n_features=20_000)
    features.draw(sample, generator())
    phi = features(sample)
    gamma = 1 / torch.pdist(sample.double()).square().median()
    expected = torch.exp(-gamma * torch.cdist(sample.double(), sample.double()).square()).float()
    assert (phi @ phi.T / 20_000 - expected).abs().max() < 0.05


def test_kernel_of_equal_rows_has_some_width():
    build_network("kernel", torch.ones(5, 2), generator())(torch.ones(5, 2))


def test_own_randomness_is_put_back():
    state = torch.random.get_rng_state()
    draws = []
    for _ in range(2):
        with own_randomness(lambda shape: nn.Linear(2, 1), 7, "cpu"):
            draws.append(torch.rand(3))
    assert torch.equal(*draws)
    assert torch.equal(torch.random.get_rng_state(), state)
    np.random.seed(0)  # noqa: NPY002 (the global state is the thing under test)
    before = np.random.get_state()  # noqa: NPY002
    build_network("mlp", torch.rand(3, 2), generator())
    np.testing.assert_equal(np.random.get_state(), before)  # noqa: NPY002


def test_own_randomness_seeds_the_generator_of_its_device_and_no_other(monkeypatch):
    def refuse(seed):
        raise AssertionError("this seeds all devices, of which only some are put back")

    monkeypatch.setattr(torch, "manual_seed", refuse)
    monkeypatch.setattr(torch.cuda, "manual_seed_all", refuse)
    with own_randomness(lambda shape: nn.Linear(2, 1), 7, "cpu"):
        assert torch.equal(torch.rand(3), torch.rand(3, generator=generator(7)))
    # Accelerators in name only, whose states are kept here.
    states = {"cuda:0": generator(1).get_state(), "cuda:1": generator(2).get_state()}
    before = states.copy()
    monkeypatch.setattr(torch.cuda, "get_rng_state", states.__getitem__)
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state, device: states.update({device: state}))
    monkeypatch.setattr("unskew.learning.networks.Generator", lambda device: torch.Generator())
    with own_randomness(lambda shape: nn.Linear(2, 1), 7, "cuda:1"):
        assert torch.equal(states["cuda:1"], generator(7).get_state())
        assert states["cuda:0"] is before["cuda:0"]
        assert torch.equal(torch.rand(3), torch.rand(3, generator=generator(7)))
    assert all(torch.equal(states[device], before[device]) for device in before)
