"""Sums of a smooth surrogate over all pairs, of scores rounded to a grid: for trees, which round more than that.

Sources are counted on the grid, one convolution with the loss and its slope at the distances of the grid gives the sums
at each of its points, and a target looks up its own. For a million scores these are a few passes over them.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch
from scipy.fft import irfft, next_fast_len, rfft

from unskew.objectives._linear_pairs import Floats
from unskew.objectives.surrogates import SURROGATES, Surrogate

PER_UNIT = 256
"""Points of the grid in a unit of the score: slopes are off by some 1e-4 of themselves."""
MOST_POINTS = 1 << 16
"""Points between the lowest and the highest score, at most; beyond, nothing is rounded."""
POINTS_TOGETHER = 1 << 9
"""The number of points is a multiple of it, so that most rounds of boosting have the same grid as the one before."""
SMOOTH = "sigmoid", "logistic"
"""Surrogates that are so smooth that rounding does little, and nearly bounded, as a convolution needs it."""

Points = npt.NDArray[np.intp]


def rounded_sums(
    high: Floats,
    low: Floats,
    high_weight: Floats,
    low_weight: Floats,
    surrogate: Surrogate,
    high_is_first: bool,
    wanted: tuple[bool, bool],
) -> tuple[Floats | None, ...] | None:
    """Losses of high and of low scores and slopes of either, each summed over the weighted scores of the other side.

    Slopes are with respect to the scores. `high_is_first` says that the first low scores are the high ones, and
    `wanted` whether losses of low scores are wanted, and slopes. None where surrogate or scores do not allow it.
    """
    grid = _grid_of(low if high_is_first else np.concatenate((high, low)), surrogate)
    if grid is None:
        return None
    n_points, points = grid
    of_high, of_low = points[: len(high)], points[0 if high_is_first else len(high) :]
    # The first low scores, which may be the high ones, mostly have another weight than the rest.
    parts = slice(len(high)), slice(len(high), None)
    mass = sum(_counted(of_low[part], low_weight[part], n_points) for part in parts)
    loss, slope = _sums_at_points(np.asarray(mass), surrogate, 1, (True, wanted[1]))
    loss_of_low = slope_of_low = None
    if any(wanted):
        loss_at, slope_at = _sums_at_points(_counted(of_high, high_weight, n_points), surrogate, -1, wanted)
        at_points = loss_at, None if slope_at is None else -slope_at  # a margin falls where its low score rises
        # The table is small and looked up often: in the type of the scores the result takes no more room than they do.
        loss_of_low, slope_of_low = (
            None if each is None else each.astype(low.dtype).take(of_low) for each in at_points
        )
    loss_of_high, slope_of_high = (None if each is None else each.take(of_high) for each in (loss, slope))
    return loss_of_high, loss_of_low, slope_of_high, slope_of_low


def _grid_of(score: Floats, surrogate: Surrogate) -> tuple[int, Points] | None:
    """Number of points of a grid for these scores, and the point of each; None where none is good for them."""
    if surrogate.name not in SMOOTH or SURROGATES[surrogate.name] is not surrogate:
        return None
    lowest, highest = float(score.min()), float(score.max())
    width = (highest - lowest) * PER_UNIT
    if not width < MOST_POINTS - 1:  # nor where a score is not a number
        return None
    # Half a step more: what the conversion to whole numbers cuts off is then rounded.
    above = score - score.dtype.type(lowest - 0.5 / PER_UNIT)
    points = np.empty(len(score), dtype=np.intp)
    np.multiply(above, score.dtype.type(PER_UNIT), out=points, casting="unsafe")
    return POINTS_TOGETHER * (1 + int(width + 1) // POINTS_TOGETHER), points


def _counted(points: Points, weight: Floats, n_points: int) -> Floats:
    """Weight at each point."""
    if len(weight) and weight.min() == weight.max():  # without weights this takes half the time
        return np.bincount(points, minlength=n_points) * float(weight[0])
    return np.bincount(points, weight, n_points)


def _sums_at_points(
    mass: Floats, surrogate: Surrogate, direction: int, wanted: tuple[bool, bool]
) -> tuple[Floats | None, Floats | None]:
    """Losses and slopes at each point, summed over the weight at all points; margins grow in this direction."""
    n = len(mass)
    size = next_fast_len(2 * n, real=True)  # what wraps around ends up where nobody looks
    spectrum = rfft(mass, size)
    loss, slope = (
        irfft(kernel * spectrum, size)[n - 1 : 2 * n - 1] if is_wanted else None
        for kernel, is_wanted in zip(_spectra(surrogate, n, direction, size), wanted, strict=True)
    )
    return loss, slope


@lru_cache(maxsize=8)
def _spectra(surrogate: Surrogate, n_points: int, direction: int, size: int) -> npt.NDArray[np.complexfloating]:
    """Transforms of loss and slope at all margins of the grid."""
    with torch.inference_mode(False):
        margin = torch.arange(1 - n_points, n_points, dtype=torch.float64) * (direction / PER_UNIT)
        loss = surrogate.value(margin)
        return np.asarray(rfft(torch.stack([loss, surrogate.slope(margin, loss)]).numpy(), size))
