"""Sums in linear time against all pairs by hand in float64, wherever the scores are; and when they are used."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.objectives import _linear_pairs as linear_pairs
from unskew.objectives import pairs
from unskew.objectives._linear_pairs import CELL, CHUNK_CELLS, CHUNK_ROWS, FORMS, LARGEST_SCORE, linear_form
from unskew.objectives.pairs import SlopesOf, Wanted, pair_sum
from unskew.records import ScoredBatch
from unskew.risk import confidence_auc_risk
from unskew.surrogates import SURROGATES, Surrogate, hinge, sigmoid, zero_one

LOSS_AND_SLOPE = {
    "zero_one": (lambda z: (z < 0) + 0.5 * (z == 0), np.zeros_like),
    "sigmoid": (lambda z: fraction(-z), lambda z: -fraction(z) * fraction(-z)),
    "ramp": (lambda z: np.clip((1 - z) / 2, 0, 1), lambda z: -0.5 * (np.abs(z) <= 1)),
    "unhinged": (lambda z: (1 - z) / 2, lambda z: np.full_like(z, -0.5)),
    "logistic": (lambda z: np.logaddexp(0, -z), lambda z: -fraction(-z)),
    "squared": (lambda z: (1 - z) ** 2, lambda z: -2 * (1 - z)),
    "hinge": (lambda z: np.maximum(0, 1 - z), lambda z: -1.0 * (z < 1)),
    "squared_hinge": (lambda z: np.maximum(0, 1 - z) ** 2, lambda z: -2 * np.maximum(0, 1 - z)),
    "exponential": (lambda z: np.exp(-z), lambda z: -np.exp(-z)),
}
every_surrogate = pytest.mark.parametrize("name", SURROGATES)
DTYPES = [torch.float32, torch.float64]


def fraction(z):
    """1 / (1 + e^-z), of full relative accuracy in its tail."""
    small = np.exp(-np.abs(z))
    return np.where(z < 0, small, 1) / (1 + small)


def all_pairs(high, low, a, b, name):
    """Losses for each high and low score, slopes for each, and the sums of the same terms without their signs."""
    with np.errstate(over="ignore", invalid="ignore"):
        margin = high[:, None] - low
        loss, slope = (function(margin) for function in LOSS_AND_SLOPE[name])
        exact = loss @ b, a @ loss, slope @ b, -(a @ slope)
        loss, slope, a, b = (np.abs(each) for each in (loss, slope, a, b))
        return exact, (loss @ b, a @ loss, slope @ b, a @ slope)


def check(name, high, low, a, b, dtype=torch.float64, relative=3e-7):
    """Each sum, relative to its terms without signs: stricter than relative to the value or the largest gradient."""
    tensors = [torch.from_numpy(each).to(dtype) for each in (high, low, a, b)]
    ours = pairs._linear_sums(*tensors, SURROGATES[name], Wanted(low_loss=True))
    exact, sizes = all_pairs(*(each.double().numpy() for each in tensors), name)
    limits = torch.finfo(dtype)
    for mine, expected, size in zip(ours, exact, sizes, strict=True):
        assert mine.dtype == dtype
        fits = size < limits.max  # where the dense sum is infinite, or the difference of two that are, all is lost
        error = np.abs(mine.double().numpy()[fits] - expected[fits])
        assert (error <= relative * size[fits] + 1e3 * limits.tiny).all()


def weights(rng, n, signed=False):
    """Over six orders of magnitude."""
    sign = rng.choice([-1, 1], n) if signed else 1
    return sign * 10 ** rng.uniform(-3, 3, n)


SPREADS = {
    "unit": lambda rng, n, m: (rng.normal(size=n), rng.normal(size=m)),
    "tens": lambda rng, n, m: (20 * rng.normal(size=n), 20 * rng.normal(size=m)),
    "ten thousand": lambda rng, n, m: (rng.uniform(-1e4, 1e4, n), rng.uniform(-1e4, 1e4, m)),
    "scattered": lambda rng, n, m: (rng.uniform(-1e9, 1e9, n), rng.uniform(-1e9, 1e9, m)),
    "all equal": lambda rng, n, m: (np.full(n, 0.3), np.full(m, 0.3)),
    "all but equal": lambda rng, n, m: (1e-6 * rng.normal(size=n), 1e-6 * rng.normal(size=m)),
    "an outlier among low": lambda rng, n, m: (rng.normal(size=n), np.r_[1e6, rng.normal(size=m)][:m]),
    "an outlier among high": lambda rng, n, m: (np.r_[1e6, rng.normal(size=n)][:n], rng.normal(size=m)),
    "outliers on both sides": lambda rng, n, m: (np.r_[1e6, rng.normal(size=n)], np.r_[1e6, rng.normal(size=m)]),
    "far from zero": lambda rng, n, m: (1e6 + rng.normal(size=n), 1e6 + rng.normal(size=m)),
    "separated by 20": lambda rng, n, m: (rng.uniform(20, 24, n), -rng.uniform(size=m)),
    "separated by 20 to 200": lambda rng, n, m: (rng.uniform(20, 200, n), -rng.uniform(0, 1, m)),
    "separated by 200": lambda rng, n, m: (200 + rng.normal(size=n), rng.normal(size=m)),
    "in the wrong order": lambda rng, n, m: (rng.normal(size=n) - 60, rng.normal(size=m)),
    "two heaps": lambda rng, n, m: (rng.choice([0, 60], n) + rng.normal(size=n), rng.choice([0, 60], m) * 1.0),
    "ties at the kinks": lambda rng, n, m: (rng.randint(-3, 4, n) / 2, rng.randint(-3, 4, m) / 2),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("spread", SPREADS)
@every_surrogate
def test_sums_are_those_over_all_pairs(name, spread, dtype):
    rng = np.random.RandomState(0)
    for n_high, n_low in [(30, 200), (200, 30), (1, 50), (50, 1), (1, 1)]:
        high, low = SPREADS[spread](rng, n_high, n_low)
        for signed in (False, True):
            check(name, high, low, weights(rng, len(high)), weights(rng, len(low), signed), dtype)


@pytest.mark.parametrize("way", ["_block_sums", "_sums_by_block"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("spread", SPREADS)
@every_surrogate
def test_sums_of_a_matrix_are_as_exact_as_its_margins(name, spread, dtype, way, monkeypatch):
    monkeypatch.setattr(pairs, "BLOCK_PAIRS", 2000)
    rng, limits = np.random.RandomState(0), torch.finfo(dtype)
    for n_high, n_low in [(30, 200), (200, 30), (1, 50), (50, 1), (1, 1)]:
        high, low = SPREADS[spread](rng, n_high, n_low)
        columns = high, low, weights(rng, len(high)), weights(rng, len(low), signed=True)
        tensors = [torch.from_numpy(each).to(dtype) for each in columns]
        doubles = [each.double().numpy() for each in tensors]
        sums, moved = all_pairs(*doubles, name), by_rounding(*doubles[:2], name, limits.eps)
        a, b = (np.abs(each) for each in doubles[2:])
        ours = getattr(pairs, way)(*tensors, SURROGATES[name], Wanted(low_loss=True))
        tolerances = (1e-6, moved[0] @ b), (1e-6, a @ moved[0]), (1e-5, moved[1] @ b), (1e-5, a @ moved[1])
        for mine, expected, size, (relative, rounding) in zip(ours, *sums, tolerances, strict=True):
            # A loss may be infinite where its product with a small weight is not.
            fits = np.isfinite(size + rounding) & (size < 1e-3 * limits.max)
            error = np.abs(mine.double().numpy()[fits] - expected[fits])
            assert (error <= relative * size[fits] + rounding[fits] + 1e3 * limits.tiny).all()


def by_rounding(high, low, name, eps):
    """How far losses and slopes move when margins are rounded, as they are in a matrix of the type of the scores."""
    with np.errstate(over="ignore", invalid="ignore"):
        margin = high[:, None] - low
        step = eps * np.abs(margin)
        return [
            np.maximum(
                np.abs(function(margin + step) - function(margin)), np.abs(function(margin - step) - function(margin))
            )
            for function in LOSS_AND_SLOPE[name]
        ]


@pytest.mark.parametrize("margin", [-1.0, 0.1, 1.0])
@pytest.mark.parametrize("sizes", [(20, 1004), (1, 300_000), (300_000, 1), (3, 500_000)], ids=str)
def test_equal_numbers_are_not_rounded_to_one_side(sizes, margin):
    """A dot product of float32 numbers is off by 4e-6 after a thousand of them, and by 8e-4 after a million."""
    high, low = torch.full((sizes[0],), margin, requires_grad=True), torch.zeros(sizes[1], requires_grad=True)
    value = pair_sum(high, low, sigmoid)
    slopes = torch.autograd.grad(value, (high, low))
    loss, slope = (float(function(np.float64(high[0].item()))) for function in LOSS_AND_SLOPE["sigmoid"])
    assert value.item() == pytest.approx(loss * sizes[0] * sizes[1], rel=1e-6)
    for mine, expected in zip(slopes, (slope * sizes[1], -slope * sizes[0]), strict=True):
        np.testing.assert_allclose(mine.numpy(), expected, rtol=1e-6)


def test_pairs_in_the_wrong_order_keep_their_slope():
    """The loss is 1 to rounding there: one that is computed from it would be zero, and training stand still."""
    for margin in (-10, -17, -40):
        high, low = torch.full((20,), float(margin), requires_grad=True), torch.zeros(1004)
        (slope,) = torch.autograd.grad(pair_sum(high, low, sigmoid), high)
        np.testing.assert_allclose(slope.numpy(), -1004 * np.exp(margin) / (1 + np.exp(margin)) ** 2, rtol=1e-5)


def test_a_heavy_score_does_not_feel_its_own_pair():
    """Its own pair is larger by far than all others: added and subtracted again, it would leave its rounding behind."""
    found = []
    for dtype in DTYPES:
        high, low = (torch.tensor(each, dtype=dtype, requires_grad=True) for each in ([10.0, 0.0], [-30.0]))
        value = confidence_auc_risk(high, low, torch.tensor([1e3, 1e-3], dtype=dtype), alpha=0.5)
        found.append((value.item(), torch.cat(torch.autograd.grad(value, (high, low))).double()))
    (value, gradient), (true_value, true_gradient) = found
    assert value == pytest.approx(true_value, rel=1e-6)
    assert (gradient - true_gradient).abs().max() <= 1e-5 * true_gradient.abs().max()


sixty_fourths = st.lists(st.integers(-(64 * 300), 64 * 300), min_size=1, max_size=12)
magnitudes = st.sampled_from([2**-6, 1.0, 64.0])


@settings(max_examples=40)
@every_surrogate
@given(sixty_fourths, sixty_fourths, magnitudes, st.integers(-(10**6), 10**6), st.integers(0, 10**6), st.booleans())
def test_sums_of_any_scores_are_those_over_all_pairs(name, high, low, scale, shift, seed, signed):
    # Differences of such scores are exact, so that the kinks of hinge and ramp are met, and met on the same side.
    high, low = (np.array(each) / 64 * scale + shift for each in (high, low))
    rng = np.random.RandomState(seed)
    check(name, high, low, weights(rng, len(high)), weights(rng, len(low), signed))


smooth_scores = st.lists(st.floats(-800, 800), min_size=1, max_size=12).map(np.array)


@settings(max_examples=100)
@pytest.mark.parametrize("name", ["sigmoid", "logistic", "exponential"])
@given(smooth_scores, smooth_scores, st.integers(0, 10**6), st.sampled_from(DTYPES))
def test_smooth_sums_of_any_scores_are_those_over_all_pairs(name, high, low, seed, dtype):
    rng = np.random.RandomState(seed)
    check(name, high, low, weights(rng, len(high)), weights(rng, len(low)), dtype)


@pytest.mark.parametrize("spread", ["unit", "ten thousand", "an outlier among low", "scattered"])
@pytest.mark.parametrize("name", ["sigmoid", "logistic", "squared_hinge", "ramp"])
def test_more_rows_and_cells_than_one_chunk(name, spread):
    rng = np.random.RandomState(0)
    n_low = 2 * CHUNK_ROWS + 5
    high, low = SPREADS[spread](rng, 12, n_low)
    if spread == "scattered":
        assert len(np.unique(low // 1)) > 2 * CHUNK_CELLS
    check(name, high, low, weights(rng, 12), weights(rng, n_low))


@every_surrogate
def test_light_pairs_that_matter_beside_heavy_ones_that_do_not(name):
    # All that pulls at the score 0 is one light low score; the heavy ones are far above, or far below.
    high, low = np.zeros(2), np.r_[np.full(1000, 90.0), 0.5, np.full(1000, -90.0)]
    check(name, high, low, np.ones(2), np.r_[np.full(1000, 1e3), 1e-6, np.full(1000, 1e3)])


@pytest.mark.parametrize("name", ["sigmoid", "logistic"])
def test_sums_are_carried_over_weightless_scores_and_from_chunk_to_chunk(name, monkeypatch):
    monkeypatch.setattr(linear_pairs, "CHUNK_CELLS", 64)
    places = np.arange(0, 300, CELL)
    heavy = np.random.RandomState(0).uniform(size=len(places)) < 0.02
    check(name, places + 0.1, places, np.ones(len(places)), np.where(heavy, 1.0, 0.0))
    check(name, places + 0.1, places, np.ones(len(places)), np.ones(len(places)))
    # only the first weighs anything, and hundreds lie between it and the last
    check(name, places, places, np.ones(len(places)), 1.0 * (places == 0))
    check(name, places, places[::-1].copy(), 1.0 * (places > 299), np.ones(len(places)))


def test_tails_are_relative_to_themselves():
    high, low = torch.linspace(80, 90, 50).double(), torch.linspace(-90, -80, 50).double()
    for name in ("sigmoid", "logistic"):
        loss, _, slope, _ = pairs._linear_sums(high, low, high, low * 0 + 1, SURROGATES[name], Wanted())
        assert 0 < loss.max() < 1e-65
        torch.testing.assert_close(loss, -slope, rtol=1e-6, atol=0)  # both are e^-z there


def test_what_is_not_wanted_is_not_there():
    arguments = [torch.randn(9), torch.randn(8), torch.ones(9), torch.ones(8), sigmoid]
    assert [each is None for each in pairs._linear_sums(*arguments, Wanted(slope=False))] == [False, True, True, True]
    assert [each is None for each in pairs._linear_sums(*arguments, Wanted())] == [False, True, False, False]


@every_surrogate
def test_every_surrogate_of_the_package_has_a_form_and_its_likeness_has_none(name):
    assert linear_form(SURROGATES[name]) is FORMS[name]
    assert linear_form(replace(SURROGATES[name])) is None


# pair_sum above the number of pairs from which the sums are linear


def variables(n_high, n_low, n_low_weights=None, dtype=torch.float64):
    rng = np.random.RandomState(0)
    columns = [
        3 * rng.normal(size=n_high) + 2,
        3 * rng.normal(size=n_low),
        weights(rng, n_high),
        weights(rng, n_low_weights or n_low, signed=True),
    ]
    return [torch.from_numpy(each).to(dtype).requires_grad_() for each in columns]


@pytest.fixture
def used(monkeypatch):
    """Which way each sum went since the start of the test."""
    ways = []
    for way in ("_block_sums", "_sums_by_block", "_linear_sums"):
        function = getattr(pairs, way)

        def note(*args, way=way, function=function):
            ways.append(way)
            return function(*args)

        monkeypatch.setattr(pairs, way, note)
    return ways


def crossover(n_high):
    """Most low scores with so many high ones that are not yet summed in linear time."""
    per_score = pairs.DENSE_PAIRS_PER_SCORE
    return (pairs.DENSE_PAIRS + per_score * n_high) // (n_high - per_score)


@pytest.mark.parametrize("n_high", [100, 1000])
@every_surrogate
def test_the_two_ways_meet_at_the_crossover(name, n_high, used, monkeypatch):
    surrogate, inputs = SURROGATES[name], variables(n_high, crossover(n_high) + 1)

    def value_and_gradients():
        value = pair_sum(*inputs[:2], surrogate, high_weight=inputs[2], low_weight=inputs[3])
        return value, *torch.autograd.grad(value, inputs)

    linear = value_and_gradients()
    assert used == ["_linear_sums"]
    monkeypatch.setattr(pairs, "DENSE_PAIRS", 1 << 21)
    dense = value_and_gradients()
    assert used[1] == "_block_sums"
    assert linear[0].item() == pytest.approx(dense[0].item(), rel=1e-6)
    for mine, expected in zip(linear[1:], dense[1:], strict=True):
        assert (mine - expected).abs().max() <= 1e-6 * expected.abs().max()


def test_the_way_depends_on_pairs_and_scores(used):
    torch.manual_seed(0)
    for n_high, n_low in [(20, 1004), (1000, 1000), (100, crossover(100)), (100, crossover(100) + 1), (3, 500_000)]:
        pair_sum(torch.randn(n_high), torch.randn(n_low), sigmoid)
    ways = [way for way, before in zip(used, ["", *used], strict=False) if (before, way) != ("_sums_by_block",) * 2]
    assert [way for way in ways if way != "_block_sums"] == ["_sums_by_block", "_linear_sums", "_sums_by_block"]
    assert ways[:2] == ["_block_sums"] * 2


@every_surrogate
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_high_scores_among_the_low_ones(name, dtype, monkeypatch):
    monkeypatch.setattr(pairs, "DENSE_PAIRS", 0)
    high, low, a, b = variables(120, 300, 120 + 300, dtype=dtype)
    value = pair_sum(high, low, SURROGATES[name], high_weight=a, low_weight=b, high_among_low=True)
    ours = torch.autograd.grad(value, (high, low, a, b))
    h, m, p, q = (each.detach().double().numpy() for each in (high, low, a, b))
    margin = h[:, None] - np.r_[h, m]
    loss, slope = (function(margin) for function in LOSS_AND_SLOPE[name])
    loss[:, :120] -= np.diag(loss.diagonal())
    slope = slope * np.outer(p, q)
    for_low = -slope.sum(axis=0)
    gradients = slope.sum(axis=1) + for_low[:120], for_low[120:], loss @ q, p @ loss
    assert value.item() == pytest.approx(p @ loss @ q, abs=1e-6 * (p @ np.abs(loss) @ np.abs(q)))
    for mine, expected in zip(ours, gradients, strict=True):
        assert (
            np.abs(mine.numpy() - expected).max()
            <= 1e-6 * np.abs(slope).sum(axis=1).max() + 1e-5 * np.abs(expected).max()
        )


def test_slopes_are_known_without_autograd(used):
    slopes_of = SlopesOf(lambda batch: pair_sum(batch.labeled, batch.unlabeled, sigmoid))
    for _ in range(2):  # by autograd, and then without
        high, low = (each.detach().requires_grad_() for each in variables(100, 20_000)[:2])
        score = torch.cat((high, low)).detach()
        _, slope = slopes_of(score, lambda score: ScoredBatch(score[:100], score[100:], alpha=0.5))
        expected = torch.autograd.grad(pair_sum(high, low, sigmoid), (high, low))
        torch.testing.assert_close(slope, torch.cat(expected))
    assert slopes_of.is_one_sum
    assert set(used) == {"_linear_sums"}


def test_a_users_surrogate_goes_on_working(used):
    high, low, a, b = variables(100, 20_000)
    own = Surrogate("sigmoid", False, hinge.value, hinge.slope)  # the name of another
    value = pair_sum(high, low, own, high_weight=a, low_weight=b)
    expected = pair_sum(high, low, hinge, high_weight=a, low_weight=b)
    assert [way for way in used if way != "_block_sums"] == ["_sums_by_block", "_linear_sums"]
    torch.testing.assert_close(value, expected)
    gradients = (torch.autograd.grad(each, (high, low, a, b)) for each in (value, expected))
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1000 * LARGEST_SCORE])
@pytest.mark.parametrize(
    "where", [[0], [1], [0, 1], [2], [3]], ids=["high", "low", "both", "high weight", "low weight"]
)
def test_numbers_that_are_none_do_what_they_do_to_a_matrix(where, bad, monkeypatch):
    monkeypatch.setattr(pairs, "DENSE_PAIRS", 0)
    inputs = [each.detach() for each in variables(100, 200)]
    for column in where:
        inputs[column][3] = bad
    high, low, a, b = inputs
    value = pair_sum(high, low, sigmoid, high_weight=a, low_weight=b)
    expected = a @ (sigmoid(high[:, None] - low) @ b)
    torch.testing.assert_close(value, expected, equal_nan=True)


def test_half_precision_and_no_gradients(monkeypatch):
    monkeypatch.setattr(pairs, "DENSE_PAIRS", 0)
    high, low = (each.detach().bfloat16() for each in variables(100, 200)[:2])
    value = pair_sum(high, low, sigmoid)
    assert value.dtype == torch.bfloat16
    assert not value.requires_grad
    assert value.item() == pytest.approx(pair_sum(high.double(), low.double(), sigmoid).item(), rel=0.01)


def test_memory_is_a_few_numbers_for_each_score():
    high, low, weight, _ = variables(1000, 300_000)
    tracemalloc.start()
    pair_sum(high, low, sigmoid, high_weight=weight)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 8 * 300_000


def test_zero_one_counts_each_pair_of_integers():
    rng = np.random.RandomState(0)
    high, low = (torch.from_numpy(rng.randint(0, 50, n)).double() for n in (2000, 3000))
    margin = high[:, None] - low
    assert pair_sum(high, low, zero_one).item() == (margin < 0).sum() + 0.5 * (margin == 0).sum()
