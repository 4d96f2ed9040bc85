r"""Sums of a surrogate over all pairs of two sets of scores, with their gradients, in bounded memory.

Every risk of this package is made of

.. math:: \sum_n \sum_m a_n b_m \ell(h_n - l_m)

over "high" scores h (meant to be ranked above) and "low" scores l, with weights a and b. The matrix of all pairs is
never held whole: blocks of at most `BLOCK_PAIRS` pairs are visited one after another, and the gradients are summed in
the same visit, so that nothing has to be kept for the backward pass but one number per score.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from unskew.surrogates import Surrogate

BLOCK_PAIRS = 1 << 21
"""Pairs in memory at once: 8 MB for each of the two float32 matrices (margins' losses and slopes)."""


def pair_sum(
    high: Tensor,
    low: Tensor,
    surrogate: Surrogate,
    *,
    high_weight: Tensor | None = None,
    low_weight: Tensor | None = None,
) -> Tensor:
    """Sum of the surrogate over all pairs, as a differentiable scalar.

    Parameters
    ----------
    high, low : tensors of shape (n_high,) and (n_low,)
        Scores; the margin of pair (n, m) is ``high[n] - low[m]``.
    surrogate : Surrogate
        The loss of a margin.
    high_weight, low_weight : tensors of shape (n_high,) and (n_low,), optional
        Factors of each score's pairs; 1 if left out.

    Examples
    --------
    >>> from unskew.surrogates import unhinged
    >>> pair_sum(torch.tensor([1.0, 3.0]), torch.tensor([0.0]), unhinged)
    tensor(-1.)
    """
    result: Tensor = _PairSum.apply(high, low, high_weight, low_weight, surrogate)  # type: ignore[no-untyped-call]
    return result


class _PairSum(torch.autograd.Function):
    """Value and all gradients in one walk over the blocks; most sums are a single block."""

    @staticmethod
    def forward(
        ctx: Any, high: Tensor, low: Tensor, high_weight: Tensor | None, low_weight: Tensor | None, surrogate: Surrogate
    ) -> Tensor:
        a = torch.ones_like(high) if high_weight is None else high_weight.to(high.dtype)
        b = torch.ones_like(low) if low_weight is None else low_weight.to(low.dtype)
        wants_slope = ctx.needs_input_grad[0] or ctx.needs_input_grad[1]
        wants_low_loss = ctx.needs_input_grad[3]
        if len(high) * len(low) <= BLOCK_PAIRS:
            loss_of_high, loss_of_low, slope_of_high, slope_of_low = _block_sums(
                high, low, a, b, surrogate, wants_slope, wants_low_loss
            )
        else:
            loss_of_high, slope_of_high = torch.zeros_like(high), torch.zeros_like(high)
            loss_of_low, slope_of_low = torch.zeros_like(low), torch.zeros_like(low)
            for rows, columns in _blocks(len(high), len(low)):
                parts = high[rows], low[columns], a[rows], b[columns]
                sums = _block_sums(*parts, surrogate, wants_slope, wants_low_loss)
                loss_of_high[rows] += sums[0]
                if wants_low_loss:
                    loss_of_low[columns] += sums[1]
                if wants_slope:
                    slope_of_high[rows] += sums[2]
                    slope_of_low[columns] += sums[3]
        ctx.save_for_backward(a, b, loss_of_high, loss_of_low, slope_of_high, slope_of_low)
        return torch.dot(a, loss_of_high)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        a, b, loss_of_high, loss_of_low, slope_of_high, slope_of_low = ctx.saved_tensors
        needed = ctx.needs_input_grad
        return (
            slope_of_high * (a * grad) if needed[0] else None,
            slope_of_low * (b * -grad) if needed[1] else None,
            loss_of_high * grad if needed[2] else None,
            loss_of_low * grad if needed[3] else None,
            None,
        )


def _block_sums(
    high: Tensor,
    low: Tensor,
    high_weight: Tensor,
    low_weight: Tensor,
    surrogate: Surrogate,
    wants_slope: bool,
    wants_low_loss: bool,
) -> tuple[Tensor, Tensor | None, Tensor | None, Tensor | None]:
    """Sums over the other side of a block's losses and slopes: for each high, for each low, and the same of slopes."""
    margin = high[:, None] - low
    loss = surrogate.value(margin)
    loss_of_high, loss_of_low = loss @ low_weight, high_weight @ loss if wants_low_loss else None
    if not wants_slope:
        return loss_of_high, loss_of_low, None, None
    slope = surrogate.slope(margin, loss)
    return loss_of_high, loss_of_low, slope @ low_weight, high_weight @ slope


def _blocks(n_high: int, n_low: int) -> Iterator[tuple[slice, slice]]:
    """Rectangles of at most `BLOCK_PAIRS` pairs that together cover all pairs once."""
    width = max(1, min(n_low, BLOCK_PAIRS))
    height = max(1, BLOCK_PAIRS // width)
    for top in range(0, n_high, height):
        for left in range(0, n_low, width):
            yield slice(top, top + height), slice(left, left + width)
