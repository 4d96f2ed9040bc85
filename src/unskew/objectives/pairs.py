r"""Sums of a surrogate over all pairs of two sets of scores, with their gradients, in linear time and memory.

Every risk of this package is made of

.. math:: \sum_n \sum_m a_n b_m \ell(h_n - l_m)

over "high" scores h (meant to be ranked above) and "low" scores l, with weights a and b. The gradients are summed along
with the value, so that nothing has to be kept for the backward pass but one number per score. Few pairs are one matrix;
from `DENSE_PAIRS` on `_linear_pairs` takes over, which never looks at a pair. A surrogate that a user made has no
such form: its pairs are visited in blocks of at most `BLOCK_PAIRS`, one after another.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from unskew.objectives._binned_pairs import rounded_sums
from unskew.objectives._linear_pairs import LARGEST_SCORE, Floats, linear_form, sums_at
from unskew.objectives.surrogates import Surrogate

BLOCK_PAIRS = 1 << 21
"""Pairs in memory at once: 8 MB for each of a few float32 matrices (margins, losses, slopes, a product of these)."""
DENSE_PAIRS = 1 << 20
"""So many pairs are always summed as a matrix.

Measured with one thread by `benchmarks/pair_sums.py`: with the sigmoid in float32 both ways take the same time at half
as many pairs when scores are a few units apart, and at about so many when they are hundreds apart; other surrogates and
float64 mostly break even earlier. More threads help the matrix only."""
DENSE_PAIRS_PER_SCORE = 16
"""And so many more for each score: with fewer on the other side sorting takes longer than to look at all pairs."""
BINNED_PAIRS = 1 << 16
"""Pairs from which on rounded scores pay, where they are allowed."""
LONGEST_DOT = 1 << 7
"""Numbers up to which a dot product, which adds one after another, is exact enough.

float32 may round equal numbers to the same side each time: the error is 4e-6 after a thousand of them."""


def pair_sum(
    high: Tensor,
    low: Tensor,
    surrogate: Surrogate,
    *,
    high_weight: Tensor | None = None,
    low_weight: Tensor | None = None,
    high_among_low: bool = False,
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
    high_among_low : bool
        Pair the high scores also with each other, but none with itself: they are then low scores as well, in front of
        those of `low`, and `low_weight` has the shape (n_high + n_low,).

    Examples
    --------
    >>> from unskew.objectives.surrogates import unhinged
    >>> pair_sum(torch.tensor([1.0, 3.0]), torch.tensor([0.0]), unhinged)
    tensor(-1.)
    """
    pairs = high, low, high_weight, low_weight, surrogate, high_among_low
    noted: list[_Noted] | None = getattr(_notes, "noted", None)
    if noted is None:
        result: Tensor = _PairSum.apply(*pairs)  # type: ignore[no-untyped-call]
        return result
    value, _, _, slopes = _evaluate(pairs, Wanted())
    noted.append((value, high, low, slopes[0] if len(slopes) == 1 else torch.cat(slopes)))
    return value


def mean_over_pairs(
    high: Tensor, low: Tensor, surrogate: Surrogate, high_weight: Tensor | None = None, low_weight: Tensor | None = None
) -> Tensor:
    """Mean over all pairs; see `unskew.risk.pair_mean`, which checks what it is given."""
    total = pair_sum(high, low, surrogate, high_weight=high_weight, low_weight=low_weight)
    return total / (len(high) * len(low))


def mean_over_distinct_pairs(
    score: Tensor, surrogate: Surrogate, high_weight: Tensor | None = None, low_weight: Tensor | None = None
) -> Tensor:
    """Mean over the pairs of two different scores; see `unskew.risk.distinct_pair_mean`."""
    n, no_others = len(score), score[:0]
    total = pair_sum(score, no_others, surrogate, high_weight=high_weight, low_weight=low_weight, high_among_low=True)
    return total / (n * (n - 1))


class SlopesOf:
    """A risk with its derivatives with respect to all scores, in one vector.

    They are what autograd gives, and by autograd they are computed. But a risk that is nothing else than one `pair_sum`
    of the labeled and the unlabeled scores knows its derivatives without, and to record it for autograd takes as long
    as the sum itself. The first call finds out whether it is such a risk; later calls then skip the recording.
    """

    def __init__(self, risk: Callable[[Any], Tensor]) -> None:
        self.risk = risk
        self.is_one_sum = False

    def __call__(self, score: Tensor, batch_of: Callable[[Tensor], Any]) -> tuple[Tensor, Tensor]:
        """Value at ``batch_of(score)``, whose labeled and unlabeled scores are the two parts of `score`; and slopes."""
        if self.is_one_sum:
            batch = batch_of(score)
            value, noted = self._take_notes(batch)
            if len(noted) == 1:
                total, high, low, slope = noted[0]
                if total is value and high is batch.labeled and low is batch.unlabeled:
                    return value, slope
        with torch.inference_mode(False):  # autograd needs a copy: it cannot record scores made in that mode
            return self._by_autograd(batch_of(score.clone()))

    def _take_notes(self, batch: Any) -> "tuple[Tensor, list[_Noted]]":
        """Value of the risk, and all sums over pairs that it has made on the way, without autograd."""
        noted: list[_Noted] = []
        _notes.noted = noted
        try:
            return self.risk(batch), noted
        finally:
            _notes.noted = None

    def _by_autograd(self, batch: Any) -> tuple[Tensor, Tensor]:
        # Both parts are variables of their own: the way back to where they are one is the pull-back's.
        high, low = batch.labeled.requires_grad_(), batch.unlabeled.requires_grad_()
        value = self.risk(batch)
        slopes = torch.autograd.grad(value, (high, low), materialize_grads=True)
        self.is_one_sum = getattr(value.grad_fn, "scores", None) == (id(high), id(low)) and high is not low
        return value.detach(), torch.cat(slopes)


_Noted = tuple[Tensor, Tensor, Tensor, Tensor]
"""A `pair_sum`: its value, its high and its low scores, and its derivatives with respect to them."""
_notes = threading.local()


@contextmanager
def rounded_scores() -> Iterator[None]:
    """Let sums over many pairs round the scores, in this thread: a boosting round has no time for more."""
    _notes.rounds = True
    try:
        yield
    finally:
        _notes.rounds = False


_Pairs = tuple[Tensor, Tensor, Tensor | None, Tensor | None, Surrogate, bool]
"""High and low scores, their weights, the surrogate, and whether high scores are among the low ones."""


def _evaluate(pairs: _Pairs, wanted: "Wanted") -> tuple[Tensor, Tensor, Tensor | None, tuple[Tensor, ...]]:
    """Value of a sum over pairs, its derivatives with respect to either weights, and those with respect to the scores.

    The latter are two vectors, or one where high scores are among the low ones, which has them first; or none.
    """
    high, low, high_weight, low_weight, surrogate, high_among_low = pairs
    all_low = torch.cat((high, low)) if high_among_low else low
    a, b = _weight_of(high, high_weight), _weight_of(all_low, low_weight)
    request = high, all_low, a, b, surrogate, wanted._replace(self_pairs=0) if high_among_low else wanted
    n_pairs, sums = high.numel() * all_low.numel(), None
    if n_pairs > BINNED_PAIRS and getattr(_notes, "rounds", False):
        sums = _binned_sums(*request)
    sums = sums or (_block_sums if n_pairs <= DENSE_PAIRS else _sums_of_many)(*request)
    loss_of_high, loss_of_low, slope_of_high, slope_of_low = sums
    value = torch.dot(a, loss_of_high) if len(a) <= LONGEST_DOT else (a * loss_of_high).sum()
    if slope_of_high is None or slope_of_low is None:
        return value, loss_of_high, loss_of_low, ()
    slope_of_low.mul_(b)
    if high_among_low:
        slope_of_low.narrow(0, 0, len(a)).addcmul_(slope_of_high, a)
        return value, loss_of_high, loss_of_low, (slope_of_low,)
    return value, loss_of_high, loss_of_low, (slope_of_high.mul_(a), slope_of_low)


class _PairSum(torch.autograd.Function):
    """Value and all gradients at once."""

    @staticmethod
    def forward(ctx: Any, high: Tensor, low: Tensor, *others: Any) -> Tensor:
        needed = ctx.needs_input_grad
        wanted = Wanted(slope=needed[0] or needed[1], low_loss=needed[3])
        value, by_high_weight, by_low_weight, slopes = _evaluate((high, low, *others), wanted)
        if len(slopes) == 1:
            slopes = torch.split_with_sizes(slopes[0], (len(high), len(low)))
        ctx.derivatives = *(slopes or (None, None)), by_high_weight, by_low_weight
        if not (needed[2] or needed[3]):  # with weights that depend on the scores, slopes are not all there is to it
            ctx.scores = id(high), id(low)
        return value

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        both = zip(ctx.derivatives, ctx.needs_input_grad, strict=False)  # the last two arguments are no tensors
        return *(each * grad if needed else None for each, needed in both), None, None


def _weight_of(score: Tensor, weight: Tensor | None) -> Tensor:
    """Weight of each score, in the dtype of the scores."""
    if weight is None:
        return torch.ones_like(score)
    return weight if weight.dtype == score.dtype else weight.to(score.dtype)


Sums = tuple[Tensor, Tensor | None, Tensor | None, Tensor | None]
"""Losses summed for each high score, losses for each low one, slopes for each high, slopes for each low.

A slope is the derivative with respect to the score: of opposite sign for the low ones."""


class Wanted(NamedTuple):
    """Which sums are wanted (slopes, losses for the low scores as well), and of which pairs.

    `self_pairs` is the diagonal of the matrix of all pairs on which a score meets itself, where there are such pairs:
    these are left out, not subtracted afterwards. A heavy score's own pair may be larger by far than all others.
    """

    slope: bool = True
    low_loss: bool = False
    self_pairs: int | None = None


def _block_sums(high: Tensor, low: Tensor, a: Tensor, b: Tensor, surrogate: Surrogate, wanted: Wanted) -> Sums:
    """Sums of one block, each over the weighted scores of the other side."""
    margin = high.unsqueeze(1) - low
    loss = surrogate.value(margin)
    loss = _without_diagonal(loss, wanted.self_pairs)
    loss_of_high, loss_of_low = _row_sums(loss, b), _row_sums(loss.t(), a) if wanted.low_loss else None
    if not wanted.slope:
        return loss_of_high, loss_of_low, None, None
    slope = _without_diagonal(surrogate.slope(margin, loss), wanted.self_pairs)
    return loss_of_high, loss_of_low, _row_sums(slope, b), _row_sums(slope.t(), a).neg_()


def _without_diagonal(matrix: Tensor, offset: int | None) -> Tensor:
    if offset is None:
        return matrix
    matrix = matrix.contiguous()  # a user's function may have returned one number for all
    matrix.diagonal(offset).zero_()
    return matrix


def _row_sums(matrix: Tensor, weight: Tensor) -> Tensor:
    """Weighted sum of each row."""
    if len(weight) <= LONGEST_DOT:
        return torch.mv(matrix, weight)
    return (matrix * weight).sum(1)  # adds pairs, and pairs of pairs


def _sums_by_block(high: Tensor, low: Tensor, a: Tensor, b: Tensor, surrogate: Surrogate, wanted: Wanted) -> Sums:
    """The same sums for any number of pairs, block after block."""
    totals = torch.zeros_like(high), torch.zeros_like(low), torch.zeros_like(high), torch.zeros_like(low)
    for rows, columns in _blocks(len(high), len(low)):
        if wanted.self_pairs is not None:
            wanted = wanted._replace(self_pairs=rows.start - columns.start)
        sums = _block_sums(high[rows], low[columns], a[rows], b[columns], surrogate, wanted)
        for total, part, where in zip(totals, sums, (rows, columns, rows, columns), strict=True):
            if part is not None:
                total[where] += part
    return totals


def _blocks(n_high: int, n_low: int) -> Iterator[tuple[slice, slice]]:
    """Rectangles of at most `BLOCK_PAIRS` pairs that together cover all pairs once."""
    width = max(1, min(n_low, BLOCK_PAIRS))
    height = max(1, BLOCK_PAIRS // width)
    for top in range(0, n_high, height):
        for left in range(0, n_low, width):
            yield slice(top, top + height), slice(left, left + width)


def _sums_of_many(high: Tensor, low: Tensor, a: Tensor, b: Tensor, surrogate: Surrogate, wanted: Wanted) -> Sums:
    """The same sums in linear time, where there is a way and it pays."""
    pays = len(high) * len(low) > DENSE_PAIRS + DENSE_PAIRS_PER_SCORE * (len(high) + len(low))
    is_linear = pays and linear_form(surrogate) is not None and _is_tame(high, low, a, b)
    return (_linear_sums if is_linear else _sums_by_block)(high, low, a, b, surrogate, wanted)


def _is_tame(high: Tensor, low: Tensor, a: Tensor, b: Tensor) -> bool:
    """Whether all scores and weights are numbers, and no score is too far away for `_linear_pairs`."""
    scores_are = all(each.abs().max().item() <= LARGEST_SCORE for each in (high, low))
    return scores_are and all(torch.isfinite(each).all().item() for each in (a, b))


def _linear_sums(high: Tensor, low: Tensor, a: Tensor, b: Tensor, surrogate: Surrogate, wanted: Wanted) -> Sums:
    """The same sums in linear time, for tame numbers and a surrogate that has a linear form; neither set is empty."""
    form = linear_form(surrogate)
    assert form is not None
    tops, bottoms, top_weight, bottom_weight = (_as_array(each) for each in (high, low, a, b))
    loss_of_high, slope_of_high = sums_at(tops, bottoms, bottom_weight, form, True, wanted.slope)
    # h - l = (-l) - (-h): a low score sees the high ones as a high one sees the low, on the reversed axis.
    loss_of_low, slope_of_low = sums_at(-bottoms, -tops, top_weight, form, wanted.low_loss, wanted.slope)
    if slope_of_low is not None:
        np.negative(slope_of_low, out=slope_of_low)
    arrays = loss_of_high, loss_of_low, slope_of_high, slope_of_low
    return _as_sums(arrays, (top_weight, bottom_weight), surrogate, wanted, high)


def _binned_sums(high: Tensor, low: Tensor, a: Tensor, b: Tensor, surrogate: Surrogate, wanted: Wanted) -> Sums | None:
    """The same sums of scores rounded to a grid; None where these cannot be rounded."""
    tops, bottoms, top_weight, bottom_weight = (_as_array(each) for each in (high, low, a, b))
    are_first = wanted.self_pairs is not None  # whether the high scores are the first low ones
    request = are_first, (wanted.low_loss, wanted.slope)
    arrays = rounded_sums(tops, bottoms, top_weight, bottom_weight, surrogate, *request)
    return None if arrays is None else _as_sums(arrays, (top_weight, bottom_weight), surrogate, wanted, high)


def _as_sums(
    arrays: tuple[Floats | None, ...],
    weights: tuple[Floats, Floats],
    surrogate: Surrogate,
    wanted: Wanted,
    like: Tensor,
) -> Sums:
    """Sums as tensors, without the pairs in which a score meets itself; slopes are with respect to the scores."""
    if wanted.self_pairs is not None:  # their margin is zero; they are taken out while the sums are still float64
        n = len(weights[0])
        own, (loss, slope) = 2 * (weights[1][:n], weights[0]), surrogate.at_zero
        for array, weight, at_zero in zip(arrays, own, (loss, loss, slope, -slope), strict=True):
            if array is not None:
                array[:n] -= at_zero * weight.astype(np.float64)
    sums = [None if each is None else torch.from_numpy(each).to(like) for each in arrays]
    assert sums[0] is not None
    return sums[0], sums[1], sums[2], sums[3]


def _as_array(tensor: Tensor) -> Floats:
    """Tensor as an array; a float32 or float64 on the CPU is not copied."""
    tensor = tensor.detach().cpu()
    as_it_is = tensor.dtype in (torch.float32, torch.float64)
    array: Floats = (tensor if as_it_is else tensor.double()).numpy()
    return array
