"""Each risk against loops by hand, its gradient, the truth on the toy law, and what must not change it."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from unskew import risk
from unskew.datasets import toy
from unskew.records import ScoredBatch
from unskew.surrogates import SURROGATES, sigmoid, zero_one

SYMMETRIC = [name for name, each in SURROGATES.items() if each.symmetric]
NON_SYMMETRIC = [name for name, each in SURROGATES.items() if not each.symmetric]
LABELED = [0.8, -0.3, 1.7, 0.2, -1.1]
WEIGHT = [1.5, 0.7, 12.0, 3.3, 0.1]
UNLABELED = [0.5, -2.0, 0.9, 0.0]
ALPHA = 5 / 9


def tensors(requires_grad=False):
    return [
        torch.tensor(each, dtype=torch.float64, requires_grad=requires_grad) for each in (LABELED, UNLABELED, WEIGHT)
    ]


def loss(name, z):
    return SURROGATES[name](torch.tensor(z, dtype=torch.float64)).item()


def labeled_labeled(name, factor):
    pairs = [(n, m) for n in range(5) for m in range(5) if n != m]
    return sum(factor(n, m) * loss(name, LABELED[n] - LABELED[m]) for n, m in pairs) / 20


def labeled_unlabeled(name):
    return sum(WEIGHT[n] * loss(name, LABELED[n] - UNLABELED[m]) for n in range(5) for m in range(4)) / 20


@pytest.mark.parametrize("name", SURROGATES)
def test_eq_4_equals_the_double_loop(name):
    high, low, _ = tensors()
    by_hand = sum(loss(name, h - m) for h in LABELED for m in UNLABELED) / 20
    assert risk.pn_auc_risk(high, low, name).item() == pytest.approx(by_hand)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_eq_17_equals_the_double_loop(name):
    by_hand = ALPHA * labeled_labeled(name, lambda n, m: WEIGHT[n]) + (1 - ALPHA) * labeled_unlabeled(name)
    assert risk.confidence_auc_risk(*tensors(), ALPHA, name).item() == pytest.approx(by_hand)


@pytest.mark.parametrize("name", SURROGATES)
def test_eq_102_equals_the_double_loop(name):
    by_hand = (
        ALPHA * labeled_labeled(name, lambda n, m: WEIGHT[n])
        + (1 - ALPHA) * labeled_unlabeled(name)
        - ALPHA * labeled_labeled(name, lambda n, m: WEIGHT[n] * WEIGHT[m])
    )
    assert risk.nonsymmetric_auc_risk(*tensors(), ALPHA, name).item() == pytest.approx(by_hand)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_eq_106_equals_the_double_loop(name):
    assert risk.two_sample_auc_risk(*tensors(), name).item() == pytest.approx(labeled_unlabeled(name))


@pytest.mark.parametrize("name", SURROGATES)
def test_two_sample_risk_of_any_surrogate_equals_the_double_loop(name):
    by_hand = labeled_unlabeled(name) - labeled_labeled(name, lambda n, m: WEIGHT[n] * WEIGHT[m])
    assert risk.nonsymmetric_two_sample_auc_risk(*tensors(), name).item() == pytest.approx(by_hand)


def test_absolute_risk_by_hand():
    bracket = torch.tensor(2.0)
    # c / (1 - pi) L - pi / (2 (1 - pi)) = 0.1 / 0.8 * 2 - 0.2 / 1.6
    assert risk.absolute_auc_risk(bracket, prior=0.2, label_freq=0.1).item() == pytest.approx(0.125)
    # without the constant, which is inside the bracket of a non-symmetric surrogate
    value = risk.absolute_auc_risk(bracket, prior=0.2, label_freq=0.1, surrogate="logistic")
    assert value.item() == pytest.approx(0.25)
    # 1 / ((1 - pi) pi) L - pi / (2 (1 - pi)) = 2 / 0.16 - 0.125
    assert risk.absolute_auc_risk(bracket, prior=0.2, scenario="two-sample").item() == pytest.approx(12.375)
    with pytest.raises(ValueError, match="one-sample AUC risk needs label_freq"):
        risk.absolute_auc_risk(bracket, prior=0.2)


@pytest.mark.parametrize("name", [name for name in SURROGATES if SURROGATES[name] is not zero_one])
def test_gradients(name):
    functions = [
        lambda high, low, weight: risk.nonsymmetric_auc_risk(high, low, weight, ALPHA, name),
        lambda high, low, weight: risk.nonsymmetric_two_sample_auc_risk(high, low, weight, name),
        lambda high, low, weight: risk.pn_auc_risk(high, low, name) * weight.sum(),
    ]
    if SURROGATES[name].symmetric:
        functions += [
            lambda high, low, weight: risk.confidence_auc_risk(high, low, weight, ALPHA, name),
            lambda high, low, weight: risk.two_sample_auc_risk(high, low, weight, name),
        ]
    for function in functions:
        assert torch.autograd.gradcheck(function, tensors(requires_grad=True))


@pytest.mark.parametrize("name", NON_SYMMETRIC)
def test_non_symmetric_surrogate_in_eq_17_names_the_function_to_use(name):
    for function in (
        lambda *args: risk.confidence_auc_risk(*args, ALPHA, name),
        lambda *args: risk.two_sample_auc_risk(*args, name),
    ):
        with pytest.raises(ValueError, match=rf"'{name}' is not symmetric.*unskew.risk.nonsymmetric_auc_risk"):
            function(*tensors())


def test_one_labeled_score_has_no_labeled_labeled_term():
    high, low, weight = (torch.tensor(each) for each in ([0.3], [0.1, 0.9], [2.0]))
    by_hand = 0.75 * 2 * (loss("sigmoid", 0.2) + loss("sigmoid", -0.6)) / 2
    assert risk.confidence_auc_risk(high, low, weight, 0.25).item() == pytest.approx(by_hand)


# The truth: on the toy law the PN risk of a linear score is known, Eq. (3).

DIRECTION = np.array([0.8, -0.6])


def true_sigmoid_risk(law):
    """E[sigma(-D)] for D a mixture of Gaussians, by Gauss-Hermite quadrature."""
    nodes, node_weights = np.polynomial.hermite_e.hermegauss(80)
    node_weights = node_weights / math.sqrt(2 * math.pi)
    return sum(
        share * float(node_weights @ (1 / (1 + np.exp(mean + std * nodes))))
        for share, mean, std in law.linear_margins(DIRECTION)
    )


def estimated_risk(data, weight, surrogate="sigmoid"):
    score = torch.from_numpy(data.X @ DIRECTION)
    labeled = torch.from_numpy(data.labeled == 1)
    law = data.law
    pieces = score[labeled], score[~labeled], torch.from_numpy(weight[data.labeled == 1])
    function = risk.confidence_auc_risk if SURROGATES[surrogate].symmetric else risk.nonsymmetric_auc_risk
    bracket = function(*pieces, labeled.double().mean().item(), surrogate)
    return risk.absolute_auc_risk(bracket, prior=law.prior, label_freq=law.label_freq, surrogate=surrogate).item()


def standard_errors_off(estimates, truth):
    return abs(np.mean(estimates) - truth) / (np.std(estimates, ddof=1) / math.sqrt(len(estimates)))


def test_eq_17_is_unbiased_on_the_toy_law_and_without_weights_it_is_not():
    draws = [toy.draw(1000, random_state=seed) for seed in range(400)]
    truth = true_sigmoid_risk(draws[0].law)
    weighted = [estimated_risk(data, data.confidence / data.labeling_prob) for data in draws]
    # The mean weight is 1 / c; constant weights of that size are what a method without a correction uses.
    constant = [estimated_risk(data, np.full(len(data.X), 1 / data.law.label_freq)) for data in draws]
    assert standard_errors_off(weighted, truth) < 4
    assert standard_errors_off(constant, truth) > 10


@pytest.mark.parametrize("name", ["logistic", "squared"])
def test_eq_102_is_unbiased_on_the_toy_law(name):
    draws = [toy.draw(1000, random_state=seed) for seed in range(400)]
    # The true PN risk of a non-symmetric surrogate, from a large sample of true classes.
    big = toy.draw(400_000, random_state=1)
    score = big.X @ DIRECTION
    rng = np.random.RandomState(0)
    margins = rng.choice(score[big.y == 1], 2_000_000) - rng.choice(score[big.y == 0], 2_000_000)
    losses = SURROGATES[name](torch.from_numpy(margins)).numpy()
    truth, truth_error = losses.mean(), losses.std() / math.sqrt((big.y == 1).sum())
    weighted = np.array([estimated_risk(data, data.confidence / data.labeling_prob, name) for data in draws])
    error = math.hypot(weighted.std(ddof=1) / 20, truth_error)
    assert abs(weighted.mean() - truth) < 4 * error


def test_eq_106_is_unbiased_on_the_two_sample_toy_law():
    draws = [toy.draw_two_samples(100, 800, random_state=seed) for seed in range(300)]
    law = draws[0].law

    def estimate(data, weight):
        score, labeled = torch.from_numpy(data.X @ DIRECTION), torch.from_numpy(data.labeled == 1)
        pieces = score[labeled], score[~labeled], torch.from_numpy(weight[data.labeled == 1])
        bracket = risk.two_sample_auc_risk(*pieces)
        return risk.absolute_auc_risk(bracket, prior=law.prior, scenario="two-sample").item()

    truth = true_sigmoid_risk(law)
    weighted = [estimate(data, data.confidence / data.labeling_prob) for data in draws]
    constant = [estimate(data, np.full(len(data.X), law.prior)) for data in draws]
    assert standard_errors_off(weighted, truth) < 4
    assert standard_errors_off(constant, truth) > 10


# Properties

scores = arrays(np.float64, st.integers(2, 20), elements=st.floats(-8, 8))


@given(scores)
def test_lemma_c1_positive_positive_term_is_one_half(values):
    score = torch.from_numpy(values)
    assert risk.distinct_pair_mean(score, sigmoid).item() == pytest.approx(0.5)


def any_risk(high, low, weight):
    yield risk.confidence_auc_risk(high, low, weight, 0.3).item()
    yield risk.nonsymmetric_auc_risk(high, low, weight, 0.3, "logistic").item()
    yield risk.two_sample_auc_risk(high, low, weight).item()


@given(scores, scores, st.floats(-50, 50), st.integers(0, 2**31))
def test_shifting_all_scores_or_permuting_instances_changes_nothing(high, low, shift, seed):
    rng = np.random.RandomState(seed)
    weight = rng.uniform(0.1, 100, len(high))
    tensors = [torch.from_numpy(each) for each in (high, low, weight)]
    expected = list(any_risk(*tensors))
    assert list(any_risk(tensors[0] + shift, tensors[1] + shift, tensors[2])) == pytest.approx(expected)
    order = rng.permutation(len(high))
    shuffled = any_risk(tensors[0][order], tensors[1][rng.permutation(len(low))], tensors[2][order])
    assert list(shuffled) == pytest.approx(expected)


@given(scores, scores, st.floats(0.1, 10))
def test_scaling_the_labeling_probability_scales_the_risk(high, low, scale):
    weight = np.linspace(0.5, 5, len(high))
    pieces = torch.from_numpy(high), torch.from_numpy(low)
    plain = risk.confidence_auc_risk(*pieces, torch.from_numpy(weight), 0.2).item()
    scaled = risk.confidence_auc_risk(*pieces, torch.from_numpy(weight / scale), 0.2).item()
    assert scaled == pytest.approx(plain / scale)


@given(scores, scores)
def test_constant_weights_leave_the_labeled_labeled_gradient_zero(high, low):
    # With equal weights Eq. (17) is the PU risk of the unbiased case: only labeled-unlabeled pairs pull.
    labeled, unlabeled = torch.from_numpy(high).requires_grad_(), torch.from_numpy(low)
    alpha, weight = 0.4, torch.full((len(high),), 3.0, dtype=torch.float64)
    (gradient,) = torch.autograd.grad(risk.confidence_auc_risk(labeled, unlabeled, weight, alpha), labeled)
    (expected,) = torch.autograd.grad(risk.pn_auc_risk(labeled, unlabeled), labeled)
    torch.testing.assert_close(gradient, 3 * (1 - alpha) * expected)


# What the public functions refuse, and that training does not pay for it

DOORS = {
    "confidence": lambda labeled, unlabeled, weight: risk.confidence_auc_risk(labeled, unlabeled, weight, 0.5),
    "non-symmetric": lambda *args: risk.nonsymmetric_auc_risk(*args, 0.5, "logistic"),
    "two samples": risk.two_sample_auc_risk,
    "non-symmetric two samples": lambda *args: risk.nonsymmetric_two_sample_auc_risk(*args, "logistic"),
}
HIGH, LOW, ONES = torch.tensor([1.0, 2.0]), torch.tensor([0.0, 0.5, -1.0]), torch.ones(2)
NAN, INFINITE = torch.tensor([0.0, math.nan]), torch.tensor([math.inf, 0.0])
REFUSED = {
    "a list": (
        [1.0, 2.0],
        LOW,
        ONES,
        TypeError,
        r"labeled must be a torch tensor, but it is a list. Pass torch.as",
    ),
    "an array": (HIGH, LOW.numpy(), ONES, TypeError, r"unlabeled must be a torch tensor, but it is a ndarray"),
    "no weight": (HIGH, LOW, None, TypeError, r"weight must be a torch tensor, but it is a NoneType"),
    "whole numbers": (HIGH.long(), LOW, ONES, TypeError, r"labeled must have a floating-point type.*labeled.float"),
    "two types": (
        HIGH,
        LOW.double(),
        ONES,
        TypeError,
        r"one type.*float32 on cpu and torch.float64.*to\(labeled",
    ),
    "two types of weight": (HIGH, LOW, ONES.double(), TypeError, r"Pass weight.to\(labeled\)"),
    "two devices": (HIGH, LOW.to("meta"), ONES, TypeError, r"one device.*on cpu and torch.float32 on meta"),
    "no labeled": (HIGH[:0], LOW, ONES[:0], ValueError, r"labeled must have at least one score, but it is empty"),
    "no unlabeled": (HIGH, LOW[:0], ONES, ValueError, r"unlabeled must have at least one score"),
    "a column": (
        HIGH,
        LOW[:, None],
        ONES,
        ValueError,
        r"shape \(n,\), but its shape is \(3, 1\).*unlabeled.flatten",
    ),
    "one number": (HIGH[0], LOW, ONES, ValueError, r"labeled must have the shape \(n,\), but its shape is \(\)"),
    "another length": (HIGH, LOW, torch.ones(3), ValueError, r"weight must have one entry for each.*labeled, 2.*has 3"),
    "NaN": (
        NAN,
        LOW,
        ONES,
        ValueError,
        r"labeled must be finite, but 1 of 2.*first: nan at position 1",
    ),
    "infinity": (HIGH, INFINITE, ONES, ValueError, r"unlabeled must be finite.*first: inf at position 0"),
    "a negative weight": (
        HIGH,
        LOW,
        -ONES,
        ValueError,
        r"weight must be finite and not negative, but 2 of 2.*-1",
    ),
    "a NaN weight": (HIGH, LOW, NAN, ValueError, r"weight must be finite and not negative.*first: nan at position 1"),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("case", REFUSED)
def test_wrong_tensors_are_refused_in_words(door, case):
    *arguments, kind, words = REFUSED[case]
    with pytest.raises(kind, match=words):
        DOORS[door](*arguments)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 2.0, math.nan, True, "0.5", torch.tensor(0.5), None])
def test_alpha_outside_its_range_is_refused(alpha):
    words = "alpha must be a number above 0 and below 1, but it is"
    with pytest.raises(ValueError, match=words):
        risk.confidence_auc_risk(HIGH, LOW, ONES, alpha)
    with pytest.raises(ValueError, match=words):
        risk.nonsymmetric_auc_risk(HIGH, LOW, ONES, alpha, "logistic")


def test_means_over_pairs_refuse_the_same():
    with pytest.raises(TypeError, match=r"high and low must have one type.*Pass low.to\(high\)"):
        risk.pair_mean(HIGH, LOW.double(), sigmoid)
    with pytest.raises(ValueError, match="low_weight must be finite and not negative"):
        risk.pair_mean(HIGH, LOW, sigmoid, low_weight=-torch.ones(3))
    with pytest.raises(ValueError, match="high_weight must have one entry for each score of high, 2, but it has 3"):
        risk.pair_mean(HIGH, LOW, sigmoid, high_weight=torch.ones(3))
    with pytest.raises(ValueError, match="at least two entries, but it has one"):
        risk.distinct_pair_mean(HIGH[:1], sigmoid)
    with pytest.raises(ValueError, match="low_weight must have one entry for each score of score, 2, but it has 3"):
        risk.distinct_pair_mean(HIGH, sigmoid, low_weight=torch.ones(3))
    with pytest.raises(ValueError, match="negative must have at least one score"):
        risk.pn_auc_risk(HIGH, LOW[:0])
    assert risk.pair_mean(HIGH, LOW, "sigmoid") == risk.pair_mean(HIGH, LOW, sigmoid)
    with pytest.raises(TypeError, match=r"surrogate must be a name or an unskew.surrogates.Surrogate.*and a slope"):
        risk.pair_mean(HIGH, LOW, torch.sigmoid)


def test_factor_and_constant_need_shares():
    bracket = torch.tensor(1.0)
    with pytest.raises(ValueError, match="prior must be a number above 0 and below 1, but it is 1"):
        risk.absolute_auc_risk(bracket, prior=1, label_freq=0.5)
    with pytest.raises(ValueError, match="label_freq must be a number above 0 and at most 1, but it is 0"):
        risk.absolute_auc_risk(bracket, prior=0.5, label_freq=0)
    with pytest.raises(ValueError, match="scenario must be one of.*Did you mean 'two-sample'"):
        risk.absolute_auc_risk(bracket, prior=0.5, scenario="twosample")


@pytest.mark.parametrize("scenario", ["one-sample", "two-sample"])
@pytest.mark.parametrize("name", SURROGATES)
def test_training_computes_the_same_bit_for_bit_and_checks_nothing(name, scenario, monkeypatch):
    one_sample = risk.confidence_auc_risk if name in SYMMETRIC else risk.nonsymmetric_auc_risk
    two_sample = risk.two_sample_auc_risk if name in SYMMETRIC else risk.nonsymmetric_two_sample_auc_risk
    found = []
    for unchecked in (False, True):
        labeled, unlabeled, weight = tensors(requires_grad=True)
        if unchecked:
            monkeypatch.setattr(risk, "_check_scores", None)
            monkeypatch.setattr(risk, "_check_weight", None)
            batch = ScoredBatch(labeled, unlabeled, ALPHA, weight)
            value = risk.weighted_auc_risk(batch, SURROGATES[name], scenario)
        elif scenario == "one-sample":
            value = one_sample(labeled, unlabeled, weight, ALPHA, name)
        else:
            value = two_sample(labeled, unlabeled, weight, name)
        found.append((value.detach(), *torch.autograd.grad(value, (labeled, unlabeled, weight))))
    for checked, unchecked in zip(*found, strict=True):
        assert torch.equal(checked, unchecked)
