import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unskew.surrogates import SURROGATES, as_surrogate, zero_one

BY_HAND = {
    "zero_one": lambda z: 0.5 if z == 0 else float(z < 0),
    "sigmoid": lambda z: 1 / (1 + math.exp(z)),
    "ramp": lambda z: min(max((1 - z) / 2, 0), 1),
    "unhinged": lambda z: (1 - z) / 2,
    "logistic": lambda z: math.log(1 + math.exp(-z)),
    "squared": lambda z: (1 - z) ** 2,
    "hinge": lambda z: max(0, 1 - z),
    "squared_hinge": lambda z: max(0, 1 - z) ** 2,
    "exponential": lambda z: math.exp(-z),
}


@pytest.mark.parametrize("name", SURROGATES)
@pytest.mark.parametrize("z", [-3.7, -1.0, -0.2, 0.0, 0.4, 1.0, 5.5])
def test_value_is_the_formula(name, z):
    value = SURROGATES[name](torch.tensor(z, dtype=torch.float64)).item()
    assert value == pytest.approx(BY_HAND[name](z), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", SURROGATES)
@given(z=st.floats(-20, 20))
def test_symmetric_means_that_opposite_margins_add_to_one(name, z):
    surrogate = SURROGATES[name]
    both = surrogate(torch.tensor(z, dtype=torch.float64)) + surrogate(torch.tensor(-z, dtype=torch.float64))
    if surrogate.symmetric:
        assert both.item() == pytest.approx(1)


@pytest.mark.parametrize("name", [name for name in SURROGATES if not SURROGATES[name].symmetric])
def test_the_others_are_not_symmetric(name):
    z = torch.tensor([0.3, 2.0], dtype=torch.float64)
    assert not torch.allclose(SURROGATES[name](z) + SURROGATES[name](-z), torch.ones(2, dtype=torch.float64))


@pytest.mark.parametrize("name", [name for name in SURROGATES if SURROGATES[name] is not zero_one])
def test_gradient_and_slope_agree(name):
    # Away from the corners of ramp and hinge, where no derivative exists.
    z = torch.tensor([-4.2, -0.7, -0.1, 0.3, 0.8, 2.9], dtype=torch.float64, requires_grad=True)
    surrogate = SURROGATES[name]
    assert torch.autograd.gradcheck(surrogate, z)
    (gradient,) = torch.autograd.grad(surrogate(z).sum(), z)
    slope = surrogate.slope(z.detach(), surrogate(z.detach()))
    torch.testing.assert_close(slope, gradient)


def test_large_margins_stay_finite():
    z = torch.tensor([-1e4, 1e4])
    for name in ("sigmoid", "logistic", "ramp"):
        assert torch.isfinite(SURROGATES[name](z)).all()


def test_unknown_name_is_told_with_a_suggestion():
    with pytest.raises(
        ValueError, match=r"surrogate must be one of .*, but it is 'sigmiod'\. Did you mean 'sigmoid'\?"
    ):
        as_surrogate("sigmiod")
