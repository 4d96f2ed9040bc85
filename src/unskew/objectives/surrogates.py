r"""Losses of a margin, :math:`z = s(x^p) - s(x)`, that stand in for the zero-one loss of the AUC.

A surrogate says whether it is symmetric, :math:`\ell(z) + \ell(-z) = 1` for every z: only then is the
positive-positive term of Eq. (11) a constant, which Eq. (17) relies on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn.functional import softplus

from unskew.data.validation import check_choice


@dataclass(frozen=True, repr=False)
class Surrogate:
    """A loss of the margin with its derivative.

    Attributes
    ----------
    name : str
        What users write: ``surrogate="sigmoid"``.
    symmetric : bool
        Whether loss(z) + loss(-z) = 1 for every margin z.
    value : callable
        Margins to losses, element by element; differentiable by torch.
    slope : callable
        ``slope(margin, loss)``: the derivative, from the margins and the losses already computed from them.

    Examples
    --------
    >>> import torch
    >>> from unskew import surrogates
    >>> surrogates.sigmoid, float(surrogates.sigmoid(torch.tensor(0.0)))
    (<sigmoid surrogate, symmetric>, 0.5)
    """

    name: str
    symmetric: bool
    value: Callable[[Tensor], Tensor]
    slope: Callable[[Tensor, Tensor], Tensor]

    @cached_property
    def at_zero(self) -> tuple[float, float]:
        """Loss and slope of a pair of equal scores."""
        zero = torch.zeros((), dtype=torch.float64)
        loss = self.value(zero)
        return float(loss), float(self.slope(zero, loss))

    def __call__(self, margin: Tensor) -> Tensor:
        """Loss of each margin."""
        return self.value(margin)

    def __repr__(self) -> str:
        kind = "symmetric" if self.symmetric else "non-symmetric"
        return f"<{self.name} surrogate, {kind}>"


def _ramp_slope(margin: Tensor, _loss: Tensor) -> Tensor:
    return torch.where(margin.abs() <= 1, -0.5, 0.0).to(margin.dtype)


def _below_one(margin: Tensor) -> Tensor:
    return torch.clamp(1 - margin, min=0)


zero_one = Surrogate("zero_one", True, lambda z: 0.5 - 0.5 * torch.sign(z), lambda z, _loss: torch.zeros_like(z))
"""1 below zero, 0 above, 1/2 at zero: the loss inside Eq. (2). Its slope is zero, so it measures but cannot train."""
# Not loss (loss - 1): where a pair is in the wrong order the loss is rounded to nearly 1, and its slope would be lost.
sigmoid = Surrogate("sigmoid", True, lambda z: torch.sigmoid(-z), lambda z, loss: torch.sigmoid(z).mul_(loss).neg_())
"""1 / (1 + e^z): the paper's choice."""
ramp = Surrogate("ramp", True, lambda z: torch.clamp((1 - z) / 2, 0, 1), _ramp_slope)
"""(1 - z) / 2, clipped to [0, 1]."""
unhinged = Surrogate("unhinged", True, lambda z: (1 - z) / 2, lambda z, _loss: torch.full_like(z, -0.5))
"""(1 - z) / 2: symmetric and unbounded."""
logistic = Surrogate("logistic", False, lambda z: softplus(-z), lambda z, _loss: -torch.sigmoid(-z))
"""log(1 + e^-z)."""
squared = Surrogate("squared", False, lambda z: (1 - z) ** 2, lambda z, _loss: -2 * (1 - z))
"""(1 - z)^2."""
hinge = Surrogate("hinge", False, _below_one, lambda z, _loss: torch.where(z < 1, -1.0, 0.0).to(z.dtype))
"""max(0, 1 - z)."""
squared_hinge = Surrogate("squared_hinge", False, lambda z: _below_one(z) ** 2, lambda z, _loss: -2 * _below_one(z))
"""max(0, 1 - z)^2."""
exponential = Surrogate("exponential", False, lambda z: torch.exp(-z), lambda _z, loss: -loss)
"""e^-z."""

SURROGATES: dict[str, Surrogate] = {
    each.name: each
    for each in (zero_one, sigmoid, ramp, unhinged, logistic, squared, hinge, squared_hinge, exponential)
}
TRAINABLE = tuple(name for name in SURROGATES if name != zero_one.name)
"""Surrogates with a slope to follow."""


def as_surrogate(surrogate: str | Surrogate) -> Surrogate:
    """Return the surrogate of that name; one that is a `Surrogate` already is returned as it is.

    Examples
    --------
    >>> as_surrogate("sigmoid")
    <sigmoid surrogate, symmetric>
    """
    if isinstance(surrogate, Surrogate):
        return surrogate
    if not isinstance(surrogate, str):
        raise TypeError(
            f"surrogate must be a name or an unskew.surrogates.Surrogate, but it is {surrogate!r}. Give a function of "
            "your own a name and a slope: Surrogate(name, symmetric, value, slope)."
        )
    check_choice("surrogate", surrogate, tuple(SURROGATES))
    return SURROGATES[surrogate]
