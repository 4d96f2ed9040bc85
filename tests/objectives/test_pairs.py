import tracemalloc
from dataclasses import replace
from typing import NamedTuple

import pytest
import torch

from unskew.objectives import pairs
from unskew.objectives.pairs import SlopesOf, pair_sum
from unskew.surrogates import SURROGATES, hinge, sigmoid, zero_one

TRAINABLE = [surrogate for surrogate in SURROGATES.values() if surrogate is not zero_one]


def in_blocks(surrogate, block, monkeypatch):
    """A user's surrogate that is the same function: its pairs are visited in blocks of that size."""
    monkeypatch.setattr(pairs, "DENSE_PAIRS", 0)
    monkeypatch.setattr(pairs, "BLOCK_PAIRS", block)
    return replace(surrogate)


def inputs(n_high=5, n_low=4, seed=0):
    generator = torch.Generator().manual_seed(seed)
    sizes = (n_high, n_low, n_high, n_low)
    return [torch.randn(size, generator=generator, dtype=torch.float64, requires_grad=True) for size in sizes]


def dense_sum(high, low, a, b, surrogate):
    return (a[:, None] * b[None, :] * surrogate(high[:, None] - low[None, :])).sum()


@pytest.mark.parametrize("surrogate", SURROGATES.values(), ids=SURROGATES)
def test_sum_is_the_double_loop(surrogate):
    high, low, a, b = (each.detach() for each in inputs())
    by_hand = sum(a[n].item() * b[m].item() * surrogate(high[n] - low[m]).item() for n in range(5) for m in range(4))
    assert pair_sum(high, low, surrogate, high_weight=a, low_weight=b).item() == pytest.approx(by_hand)


@pytest.mark.parametrize("surrogate", TRAINABLE, ids=lambda each: each.name)
def test_gradients_of_scores_and_weights(surrogate):
    assert torch.autograd.gradcheck(
        lambda high, low, a, b: pair_sum(high, low, surrogate, high_weight=a, low_weight=b), inputs()
    )


@pytest.mark.parametrize("block", [1, 3, 7, 10_000])
def test_blocks_of_any_size_give_the_same_value_and_gradients(block, monkeypatch):
    variables, surrogate = inputs(9, 6), in_blocks(sigmoid, block, monkeypatch)
    value = pair_sum(*variables[:2], surrogate, high_weight=variables[2], low_weight=variables[3])
    expected = dense_sum(*variables, sigmoid)
    torch.testing.assert_close(value, expected)
    torch.testing.assert_close(torch.autograd.grad(value, variables), torch.autograd.grad(expected, variables))


@pytest.mark.parametrize("block", [3, 10_000])
@pytest.mark.parametrize("surrogate", SURROGATES.values(), ids=SURROGATES)
def test_high_scores_among_the_low_ones_meet_each_other_but_not_themselves(surrogate, block, monkeypatch):
    high, low, a, _ = inputs()
    b = inputs(5 + 4, seed=1)[0]
    own = in_blocks(surrogate, block, monkeypatch)
    value = pair_sum(high, low, own, high_weight=a, low_weight=b, high_among_low=True)
    losses = a[:, None] * b * surrogate(high[:, None] - torch.cat((high, low)))
    expected = losses.sum() - losses.diagonal().sum()
    torch.testing.assert_close(value, expected)
    if surrogate is not zero_one:
        variables = high, low, a, b
        torch.testing.assert_close(torch.autograd.grad(value, variables), torch.autograd.grad(expected, variables))


class Pair(NamedTuple):
    labeled: torch.Tensor
    unlabeled: torch.Tensor


def pair_of(score):
    return Pair(*score.split([5, len(score) - 5]))


def scores(seed=0):
    return torch.randn(9, generator=torch.Generator().manual_seed(seed)).double()


WEIGHT = torch.arange(1.0, 6.0).double()
FUNCTIONS = {
    "one sum": (lambda pair: pair_sum(*pair, sigmoid, high_weight=WEIGHT), True),
    "one sum among": (lambda pair: pair_sum(*pair, sigmoid, high_weight=WEIGHT, high_among_low=True), True),
    "a function of a sum": (lambda pair: torch.exp(pair_sum(*pair, sigmoid)), False),
    "two sums": (lambda pair: pair_sum(*pair, sigmoid) + pair_sum(*pair, hinge), False),
    "scores in other places": (lambda pair: pair_sum(pair[1], pair[0], sigmoid), False),
    "other scores": (lambda pair: pair_sum(2 * pair[0], pair[1], sigmoid), False),
    "no sum": (lambda pair: pair[0].square().sum(), False),
    "weights that depend on scores": (lambda pair: pair_sum(*pair, sigmoid, high_weight=torch.exp(pair[0])), False),
}


@pytest.mark.parametrize("inference", [False, True], ids=["recording", "inference"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_slopes_of_the_scores_are_those_of_autograd(name, inference):
    function, is_one_sum = FUNCTIONS[name]
    slopes_of = SlopesOf(function)
    for seed in range(3):  # the first call finds out what it is, the others rely on it
        with torch.inference_mode(inference):
            value, slope = slopes_of(scores(seed), pair_of)
        plain = scores(seed).requires_grad_()
        expected = function(pair_of(plain))
        torch.testing.assert_close(value, expected.detach())
        torch.testing.assert_close(slope, *torch.autograd.grad(expected, plain, materialize_grads=True))
        assert slopes_of.is_one_sum == is_one_sum
        assert not value.requires_grad


def test_slopes_by_autograd_when_a_function_changes_its_nature():
    functions = [lambda pair: pair_sum(*pair, sigmoid), lambda pair: 3 * pair_sum(*pair, sigmoid)]
    slopes_of = SlopesOf(lambda pair: functions[0](pair))
    _, once = slopes_of(scores(), pair_of)
    functions.reverse()
    torch.testing.assert_close(slopes_of(scores(), pair_of)[1], 3 * once)
    functions.reverse()
    plain = pair_of(scores().requires_grad_())
    assert pair_sum(*plain, sigmoid).requires_grad  # notes are taken inside only


def test_blocks_cover_every_pair_once(monkeypatch):
    monkeypatch.setattr(pairs, "BLOCK_PAIRS", 7)
    seen = torch.zeros(5, 11)
    for rows, columns in pairs._blocks(5, 11):
        assert seen[rows, columns].numel() <= 7
        seen[rows, columns] += 1
    assert (seen == 1).all()


def test_many_pairs_need_little_memory():
    high, low = torch.randn(3000, requires_grad=True), torch.randn(22_000, requires_grad=True)
    peak = _peak_tensor_bytes(lambda: pair_sum(high, low, replace(sigmoid)).backward())
    assert peak > 4 * pairs.BLOCK_PAIRS  # else nothing was seen
    assert peak < 6 * 4 * pairs.BLOCK_PAIRS < 4 * 3000 * 22_000 / 5  # blocks, not the 264 MB matrix


def _peak_tensor_bytes(run):
    """Largest sum of live tensor memory that torch's own profiler saw."""
    tracemalloc.start()  # keeps Python's own allocations out of the figure
    with torch.autograd.profiler.profile(profile_memory=True) as profile:
        run()
    tracemalloc.stop()
    live = peak = 0
    for event in profile.kineto_results.events():
        if event.name() == "[memory]":
            live += event.nbytes()
            peak = max(peak, live)
    return peak
