"""The perceptron and its pull-back against torch's own layers and autograd, and the Adam against torch's own."""

import copy
import math
import pickle

import pytest
import torch
from torch import nn

from unskew.learning._perceptron import REGISTER_WIDTH, Perceptron, PerceptronPullback
from unskew.learning.trainer import Adam, AutogradPullback, new_pullback


def drawn(n_inputs=7, hidden=5, seed=0):
    perceptron = Perceptron(n_inputs, hidden)
    perceptron.draw(torch.Generator().manual_seed(seed))
    return perceptron.double()


def as_torch_layers(perceptron):
    n_inputs, hidden = perceptron.n_inputs, perceptron.hidden
    layers = nn.Linear(n_inputs, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 1)
    w1, b1, w2, b2, w3, b3 = (each.detach() for each in perceptron.layers())
    with torch.no_grad():
        for layer, weight, bias in zip(layers, (w1.T, w2.T, w3[None]), (b1, b2, b3), strict=True):
            layer.weight.data, layer.bias.data = weight.clone(), bias.reshape(-1).clone()
    return nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2], nn.Flatten(0))


def rows(n=11, n_inputs=7, seed=1, **options):
    return torch.randn(n, n_inputs, generator=torch.Generator().manual_seed(seed), dtype=torch.float64, **options)


def fixed_part(perceptron):
    """What no training may change: all weights but those that `layers` shows."""
    rest = copy.deepcopy(perceptron)
    with torch.no_grad():
        for each in rest.layers():
            each.zero_()
    return rest.weights.detach()


def by_hand(perceptron):
    return PerceptronPullback(perceptron, batch_size=11)


def gradient_by_layer(perceptron, gradient):
    """A gradient of the matrix of all weights, in the order and the shapes of the parameters of `as_torch_layers`."""
    shown = copy.deepcopy(perceptron)
    shown.weights.data = gradient
    w1, b1, w2, b2, w3, b3 = (each.detach() for each in shown.layers())
    return w1.T, b1, w2.T, b2, w3[None], b3.reshape(1)


SIZES = [(7, 5), (3, REGISTER_WIDTH - 1), (3, REGISTER_WIDTH), (1, 1)]
PULLBACKS = [by_hand, AutogradPullback]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("pullback_of", PULLBACKS)
def test_scores_and_gradients_are_those_of_torch_layers(sizes, pullback_of):
    perceptron = drawn(*sizes)
    reference = as_torch_layers(perceptron)
    pullback = pullback_of(perceptron)
    for seed in (1, 2):  # the second time the memory is not empty any more
        x, slope = rows(n_inputs=sizes[0], seed=seed), rows(11, 1, seed=seed + 10)[:, 0]
        expected = reference(x)
        torch.testing.assert_close(perceptron(x), expected)
        torch.testing.assert_close(pullback.scores(x), expected)
        (gradient,) = pullback.gradients(slope)
        theirs = torch.autograd.grad(expected, list(reference.parameters()), slope)
        for ours, each in zip(gradient_by_layer(perceptron, gradient), theirs, strict=True):
            torch.testing.assert_close(ours, each)


@pytest.mark.parametrize("sizes", SIZES)
def test_gradient_by_hand_is_that_of_autograd_also_beyond_the_layers(sizes):
    perceptron = drawn(*sizes)
    x, slope = rows(n_inputs=sizes[0]), rows(11, 1)[:, 0]
    pullback = by_hand(perceptron)
    torch.testing.assert_close(pullback.scores(x), perceptron(x).detach())
    (expected,) = torch.autograd.grad(perceptron(x), perceptron.weights, slope)
    torch.testing.assert_close(pullback.gradients(slope)[0], expected)


def test_smaller_batches_than_the_memory_is_made_for():
    perceptron = drawn()
    pullback = by_hand(perceptron)
    for n in (11, 4, 1, 11, 7):
        x, slope = rows(n, seed=n), rows(n, 1, seed=n)[:, 0]
        score = pullback.scores(x)
        assert score.shape == (n,)
        torch.testing.assert_close(score, perceptron(x).detach())
        (expected,) = torch.autograd.grad(perceptron(x), perceptron.weights, slope)
        torch.testing.assert_close(pullback.gradients(slope)[0], expected)


def test_each_network_gets_its_pullback():
    assert isinstance(new_pullback(Perceptron(3, 2), 4), PerceptronPullback)
    assert isinstance(new_pullback(nn.Sequential(Perceptron(3, 2)), 4), AutogradPullback)


def test_gradient_by_differences_for_inputs_and_weights():
    perceptron = drawn(4, 3)
    x = rows(6, 4, requires_grad=True)
    assert torch.autograd.gradcheck(perceptron, x)

    def scores(*layers):
        other = copy.deepcopy(perceptron)
        with torch.no_grad():
            for place, values in zip(other.layers(), layers, strict=True):
                place.copy_(values)
        return other

    layers = [each.detach().clone() for each in perceptron.layers()]
    (gradient,) = torch.autograd.grad(perceptron(x).sum(), perceptron.weights)
    shown = copy.deepcopy(perceptron)
    shown.weights.data = gradient
    step = 1e-6
    for number, layer in enumerate(layers):
        for place in range(layer.numel()):
            moved = [each.clone() for each in layers]
            moved[number].view(-1)[place] += step
            above = scores(*moved)(x).sum()
            moved[number].view(-1)[place] -= 2 * step
            below = scores(*moved)(x).sum()
            expected = (above - below).item() / (2 * step)
            assert shown.layers()[number].reshape(-1)[place].item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("pullback_of", PULLBACKS)
def test_padding_stays_exactly_what_it_was(sizes, pullback_of):
    perceptron = drawn(*sizes)
    before, start = fixed_part(perceptron), perceptron.weights.detach().clone()
    assert before.sum() == 2  # one entry for each of the two nodes that are always 1
    pullback, optimizer = pullback_of(perceptron), Adam(perceptron, 0.1)
    for seed in range(5):
        score = pullback.scores(rows(n_inputs=sizes[0], seed=seed))
        optimizer.descend(pullback.gradients(2 * score))
    assert not torch.equal(perceptron.weights, start)
    assert torch.equal(fixed_part(perceptron), before)


def test_weights_changed_between_forward_and_backward_are_noticed():
    perceptron = drawn()
    risk = perceptron(rows()).sum()
    with torch.no_grad():
        perceptron.weights.mul_(2)
    with pytest.raises(RuntimeError, match="modified.*inplace|inplace.*modified"):
        risk.backward()


def test_two_forward_passes_before_a_backward_pass():
    perceptron = drawn()
    x, other = rows(), rows(seed=2)
    (both,) = torch.autograd.grad(perceptron(x).sum() + perceptron(other).sum(), perceptron.weights)
    single = [torch.autograd.grad(perceptron(each).sum(), perceptron.weights)[0] for each in (x, other)]
    torch.testing.assert_close(both, sum(single))


def test_drawn_weights_follow_the_law_of_torch_and_leave_the_global_generator_alone():
    state = torch.get_rng_state()
    perceptron = Perceptron(50, 40)
    perceptron.draw(torch.Generator().manual_seed(0))
    assert torch.equal(torch.get_rng_state(), state)
    for part, fan_in in zip(perceptron.layers(), (50, 50, 40, 40, 40, 40), strict=True):
        bound = 1 / math.sqrt(fan_in)
        assert part.abs().max() <= bound
        if part.dim() == 2:  # enough of them to tell the law: standard deviation of a uniform variable, and its reach
            assert part.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.05)
            assert part.abs().max() > 0.99 * bound
    assert torch.equal(drawn(seed=3).weights, drawn(seed=3).weights)
    assert not torch.equal(drawn(seed=3).weights, drawn(seed=4).weights)


def gradients_of(network, risk):
    trainable = [each for each in network.parameters() if each.requires_grad]
    return list(torch.autograd.grad(risk, trainable, materialize_grads=True))


def test_adam_is_that_of_torch():
    network = nn.Sequential(nn.Linear(7, 4), nn.Tanh(), nn.Linear(4, 1)).double()
    network[0].bias.requires_grad_(False)
    reference = copy.deepcopy(network)
    ours, theirs = Adam(network, 0.01), torch.optim.Adam(reference.parameters(), lr=0.01)
    for seed in range(20):
        x = rows(seed=seed)
        ours.descend(gradients_of(network, network(x).square().mean()))
        theirs.zero_grad()
        reference(x).square().mean().backward()
        theirs.step()
    for mine, expected in zip(network.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(mine, expected, rtol=1e-10, atol=1e-12)


def test_adam_leaves_weights_without_a_gradient_alone():
    network = nn.ModuleDict({"used": nn.Linear(7, 1), "unused": nn.Linear(7, 1)}).double()
    before = copy.deepcopy(network["unused"].state_dict())
    used = copy.deepcopy(network["used"].state_dict())
    optimizer = Adam(network, 0.1)
    for seed in range(3):
        optimizer.descend(gradients_of(network, network["used"](rows(seed=seed)).sum()))
    assert not torch.equal(network["used"].weight, used["weight"])
    torch.testing.assert_close(dict(network["unused"].state_dict()), dict(before), rtol=0, atol=0)


def test_a_frozen_perceptron_can_be_copied():
    frozen = Perceptron(3, 5)
    frozen.draw(torch.Generator().manual_seed(0))
    frozen.requires_grad_(False)
    X = torch.randn(4, 3)
    for copied in (copy.deepcopy(frozen), pickle.loads(pickle.dumps(frozen))):
        assert torch.equal(copied(X), frozen(X))
        assert not copied.weights.requires_grad
