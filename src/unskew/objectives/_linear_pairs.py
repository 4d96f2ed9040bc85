r"""Sums of a surrogate over all pairs in the time that it takes to sort the scores.

For each target t, sums over all sources s with weights q are wanted,

.. math:: F(t) = \sum_s q_s \ell(t - s), \qquad F'(t) = \sum_s q_s \ell'(t - s),

for every surrogate of the package. Polynomials of the margin need moments of all sources; those that are cut off at a
margin need moments of the sources above a score, from one sort. The smooth ones (sigmoid, logistic) meet a source

- near, at most `NEAR` cells away, by charges at the nodes of its cell; what these do at the nodes of the target's cell
  is interpolated;
- far, by the series of the loss in powers of :math:`e^{-|z|}`: each term is a product of a source's and a target's
  part, and its sum is carried along the axis from cell to cell;
- far above, where the loss is 1 (sigmoid) or -z (logistic) and such a series, also by sums from the top.

There is no grid to choose and no distance at which anything is cut off: the error is relative to each sum of absolute
terms, about 1e-7 at most, wherever the scores are, also where the sum is a tail of 1e-80.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import comb
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from unskew.objectives.surrogates import SURROGATES, Surrogate

Array = npt.NDArray[np.float64]
Floats = npt.NDArray[Any]
"""Numbers of any floating type; they are worked on in float64."""

LARGEST_SCORE = 1e15
"""Beyond it, neighboring cells would be the same floating-point number."""
CHUNK_ROWS, CHUNK_CELLS = 1 << 15, 1 << 12
"""Rows and cells worked on at once: their few arrays of about 256 kB stay in the nearer caches."""

CELL = 0.5
"""Width of a cell. A power of two: places in cells are then exact."""
N_NODES = 6
"""Nodes in a cell: e^z is interpolated with a relative error of 4 (CELL / 4)^6 / 6! = 2e-8, both ends together."""
NEAR = 4
"""Cells on either side that are near; all others are at least a margin of NEAR * CELL = 2 away."""
N_TERMS = 10
"""Terms of the series for those: the first that is left out is at most e^(-10 * 2) = 2e-9 of the first."""


class Field(NamedTuple):
    """What the sources do: both sums at targets, from what `locate` found out about these."""

    locate: Callable[[Array], Any]
    loss: Callable[[Any], Array]
    slope: Callable[[Any], Array]


Form = Callable[[Floats, Floats, Floats], Field]
"""From sources, their weights and all targets to the field."""


def linear_form(surrogate: Surrogate) -> Form | None:
    """Form of a surrogate of the package; None for a user's own, even if it has the name of one of them."""
    return FORMS[surrogate.name] if SURROGATES.get(surrogate.name) is surrogate else None


def sums_at(
    target: Floats, source: Floats, weight: Floats, form: Form, wants_loss: bool, wants_slope: bool
) -> tuple[Array | None, Array | None]:
    """Weighted losses and slopes of the margins target - source, summed over the sources, for each target.

    Neither set of scores is empty, and none is beyond `LARGEST_SCORE`; weights may be of either sign. What is not
    wanted is None.
    """
    loss, slope = (np.empty(target.shape) if wanted else None for wanted in (wants_loss, wants_slope))
    if not (wants_loss or wants_slope):
        return None, None
    with np.errstate(over="ignore", invalid="ignore"):  # the exponential loss may be infinite
        field = form(source, weight, target)
        for rows in _chunks(len(target)):
            place = field.locate(target[rows].astype(np.float64))
            if loss is not None:
                loss[rows] = field.loss(place)
            if slope is not None:
                slope[rows] = field.slope(place)
    return loss, slope


def _chunks(n_rows: int, size: int = CHUNK_ROWS) -> Iterator[slice]:
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def _power(exponent: int, gap: Array, moments: Sequence[Any]) -> Array:
    """Sum of q (s - t)^exponent from the moments of the sources about a point, and the gap from t to that point."""
    total: Array = np.zeros_like(gap)
    for power, moment in enumerate(moments[exponent::-1]):
        total += comb(exponent, power) * gap**power * moment
    return total


def _whole_power(exponent: int, factor: float, source: Floats, weight: Floats, _target: Floats) -> Field:
    r"""Field of the loss :math:`f (1 - z)^d`, d = 1 or 2."""
    s, q = source.astype(np.float64), weight.astype(np.float64)
    # About their mean nothing cancels that does not cancel in the sum over pairs.
    centre = np.average(s, weights=np.abs(q)) if q.any() else 0.0
    moments = [q @ (s - centre) ** power for power in range(exponent + 1)]
    return Field(
        lambda target: centre - (target - 1),
        lambda gap: factor * _power(exponent, gap, moments),
        lambda gap: -factor * exponent * _power(exponent - 1, gap, moments),
    )


def _suffix_moments(position: Array, own: Sequence[Array]) -> list[Array]:
    r"""Moments about each position of the sources there and above.

    From the top, :math:`M_k(i) = m_k(i) + \sum_j \binom{k}{j} \delta^{k - j} M_j(i + 1)` with the step
    :math:`\delta` from i to i + 1 and the moments m of the sources at i itself: nothing is ever subtracted. One
    entry more than there are positions is the 0 above all.
    """
    step = np.diff(position, append=position[-1:])
    sums: list[Array] = []
    for order, mine in enumerate(own):
        terms = mine.astype(np.float64)
        for lower, known in enumerate(sums):
            terms += comb(order, lower) * step ** (order - lower) * known[1:]
        sums.append(np.append(np.cumsum(terms[::-1])[::-1], 0.0))
    return sums


def _sorted(source: Floats, weight: Floats) -> tuple[Array, Array]:
    order = np.argsort(source)
    return source[order].astype(np.float64), weight[order].astype(np.float64)


def _cut_power(exponent: int, factor: float, source: Floats, weight: Floats, _target: Floats) -> Field:
    r"""Field of the loss :math:`f \max(0, 1 - z)^d`, d = 1 or 2: only sources above t - 1 count."""
    s, q = _sorted(source, weight)
    none = np.zeros_like(q)
    moments = _suffix_moments(s, [q, none, none][: exponent + 1])
    ends = np.append(s, s[-1])

    def locate(target: Array) -> tuple[Array, list[Array]]:
        first = np.searchsorted(s, target - 1, side="right")
        return ends[first] - (target - 1), [moment[first] for moment in moments]

    return Field(
        locate,
        lambda place: factor * _power(exponent, *place),
        lambda place: -factor * exponent * _power(exponent - 1, *place),
    )


def _zero_one(source: Floats, weight: Floats, _target: Floats) -> Field:
    """Field of the zero-one loss: the weight above the target, and half of that at it."""
    s, q = _sorted(source, weight)
    (above,) = _suffix_moments(s, [q])
    return Field(
        lambda target: (np.searchsorted(s, target, side="left"), np.searchsorted(s, target, side="right")),
        lambda ends: (above[ends[0]] + above[ends[1]]) / 2,
        lambda ends: np.zeros(len(ends[0])),
    )


def _ramp(source: Floats, weight: Floats, _target: Floats) -> Field:
    """Field of the ramp loss: all weight above t + 1, and of the sources between t - 1 and t + 1 half the distance."""
    s, q = _sorted(source, weight)
    centre = s[len(s) // 2]
    mass, lever = _prefix_sums(q), _prefix_sums(q * (s - centre))

    def loss(place: Any) -> Any:
        first, last, gap = place
        inside = _sum_between(lever, first, last) + gap * _sum_between(mass, first, last)
        return _sum_between(mass, last, len(s)) + inside / 2

    return Field(
        lambda t: (np.searchsorted(s, t - 1, "left"), np.searchsorted(s, t + 1, "right"), centre - (t - 1)),
        loss,
        lambda place: -_sum_between(mass, *place[:2]) / 2,
    )


def _prefix_sums(terms: Array) -> Array:
    """Prefix sums of which also small differences are right: of coarse parts, without any rounding, and of the rests.

    The slope of the ramp is such a difference, and what lies outside the two ends must leave no trace in it.
    """
    grain = np.ldexp(1.0, int(np.frexp(np.abs(terms).sum())[1]) - 52)  # 2^53 grains are more than all terms together
    coarse = np.rint(terms / grain) * grain
    sums: Array = np.zeros((2, len(terms) + 1))
    np.cumsum(coarse, out=sums[0, 1:])
    np.cumsum(terms - coarse, out=sums[1, 1:])
    return sums


def _sum_between(sums: Array, first: Any, last: Any) -> Any:
    return (sums[0, last] - sums[0, first]) + (sums[1, last] - sums[1, first])


def _exponential(source: Floats, weight: Floats, _target: Floats) -> Field:
    r"""Field of the loss :math:`e^{-z} = e^{c - t} e^{s - c}`, with the largest source as c against overflow."""
    counts = weight != 0
    s, q = source[counts].astype(np.float64), weight[counts].astype(np.float64)
    top = s.max(initial=-LARGEST_SCORE)
    total = q @ np.exp(s - top)
    return Field(lambda t: np.exp(top - t) * total, lambda loss: loss, lambda loss: -loss)


class Kernel(NamedTuple):
    r"""A smooth loss of the margin, also as its series for large :math:`|z|`.

    .. math:: \ell(z) = [z < 0] (-z)^d + \sigma_z \sum_{k \geq 1} (-1)^{k+1} c_k e^{-k|z|}

    where the sign :math:`\sigma_z` is 1 for positive margins and `sign_above` for negative ones, and the power
    of the margin may be missing.
    """

    value: Callable[[Array], Array]
    series: Array
    sign_above: int
    power_above: int | None


TERMS = np.arange(1.0, N_TERMS + 1)
SIGNS = (-1) ** (TERMS + 1)
SIGMOID = Kernel(lambda z: expit(-z), SIGNS, sign_above=-1, power_above=0)
SIGMOID_DECAY = Kernel(lambda z: expit(z) * expit(-z), SIGNS * TERMS, sign_above=1, power_above=None)
LOGISTIC = Kernel(lambda z: np.logaddexp(0, -z), SIGNS / TERMS, sign_above=1, power_above=1)

NODES = -np.cos(np.pi * (np.arange(N_NODES) + 0.5) / N_NODES)
"""Chebyshev's nodes of the cell [-1, 1], ascending and symmetric."""
POWERS_OF_VALUES = np.linalg.inv(np.vander(NODES, increasing=True))
"""From values at the nodes to coefficients of the powers of the place in the cell."""


def _smooth(loss: Kernel, decay: Kernel, source: Floats, weight: Floats, target: Floats) -> Field:
    """Field of a smooth loss of which `decay` is the slope but for the sign: a polynomial in each cell of targets."""
    cells, source_cells = _cells_of(target), _cells_of(source)
    moments = _cell_moments(source, weight, source_cells)
    loss_powers, decay_powers = _cell_polynomials(cells, source_cells, moments, (loss, decay))

    def locate(target: Array) -> tuple[Any, Array]:
        cell, place = _cell_and_place(target)
        return _index(cells, cell), place

    return Field(locate, lambda at: _polynomial(loss_powers, *at), lambda at: -_polynomial(decay_powers, *at))


def _cell_and_place(score: Floats) -> tuple[Array, Array]:
    """Number of each score's cell, and its place there from -1 to 1."""
    scaled = np.multiply(score, 1 / CELL, dtype=np.float64)
    cell = np.floor(scaled)
    return cell, 2 * (scaled - cell) - 1


def _cells_of(score: Floats) -> Array:
    """Numbers of the cells, ascending: all from the first to the last, or without the empty ones if those are many."""
    first, last = (np.floor(float(end) / CELL) for end in (score.min(), score.max()))
    if last - first < len(score):
        return np.arange(first, last + 1)
    return np.unique(np.floor(np.multiply(score, 1 / CELL, dtype=np.float64)))


def _index(cells: Array, cell: Array) -> Any:
    """Where in `cells` each cell is."""
    has_gaps = cells[-1] - cells[0] != len(cells) - 1
    return np.searchsorted(cells, cell) if has_gaps else (cell - cells[0]).astype(np.intp)


def _cell_moments(source: Floats, weight: Floats, cells: Array) -> Array:
    """Sums of q place^k over the sources of each cell; of shape (N_NODES, n_cells)."""
    moments = np.zeros((N_NODES, len(cells)))
    for rows in _chunks(len(source), max(CHUNK_ROWS, len(cells))):  # adding up takes as long as there are cells
        cell, place = _cell_and_place(source[rows])
        index = _index(cells, cell)
        term = weight[rows].astype(np.float64)
        for moment in moments:
            moment += np.bincount(index, term, minlength=len(cells))
            term *= place
    return moments


def _polynomial(powers: Array, index: Any, place: Array) -> Array:
    """Value at each place of the polynomial of its cell, by Horner's rule."""
    value: Array = powers[-1].take(index)
    for power in powers[-2::-1]:
        value *= place
        value += power.take(index)
    return value


def _cell_polynomials(cells: Array, source_cells: Array, moments: Array, kernels: tuple[Kernel, ...]) -> Array:
    """Coefficients of the powers of the place, of shape (n_kernels, N_NODES, n_cells): all sources together."""
    charges = POWERS_OF_VALUES.T @ moments
    values = np.zeros((len(kernels), N_NODES, len(cells)))
    _add_near(values, cells, source_cells, charges, kernels)
    _add_below(values, cells, source_cells, charges, [kernel.series for kernel in kernels])
    # Above is below on the reversed axis.
    turned = values[:, ::-1, ::-1], -cells[::-1], -source_cells[::-1], charges[::-1, ::-1]
    _add_below(*turned, [kernel.sign_above * kernel.series for kernel in kernels])
    for kernel, value in zip(kernels, values, strict=True):
        if kernel.power_above is not None:
            value += _power_above(cells, source_cells, moments, kernel.power_above)
        value[:] = POWERS_OF_VALUES @ value
    return values


def _add_near(values: Array, cells: Array, source_cells: Array, charges: Array, kernels: tuple[Kernel, ...]) -> None:
    """Add to the values at the nodes of each target cell the sums over the near charges."""
    for offset in range(-NEAR, NEAR + 1):
        margin = CELL * ((NODES[:, None] - NODES) / 2 - offset)
        matrices = np.stack([kernel.value(margin) for kernel in kernels])  # from a source's node to a target's
        for part in _chunks(len(cells), CHUNK_CELLS):
            here, there = _matches(cells[part], source_cells, offset)
            values[:, :, part][:, :, here] += matrices @ charges[:, there]


def _matches(cells: Array, source_cells: Array, offset: int) -> tuple[Any, Any]:
    """Where the target cells are that have a source cell at that offset, and where these are."""
    wanted = cells + offset
    found = np.searchsorted(source_cells, wanted)
    hit = np.flatnonzero(source_cells.take(found, mode="clip") == wanted)
    return _as_slice(hit), _as_slice(found[hit])


def _as_slice(index: npt.NDArray[np.intp]) -> Any:
    """Ascending index, as a slice if it has no gaps: then nothing needs to be copied."""
    has_gaps = len(index) == 0 or index[-1] - index[0] != len(index) - 1
    return index if has_gaps else slice(index[0], index[-1] + 1)


def _add_below(values: Array, cells: Array, source_cells: Array, charges: Array, coefficients: list[Array]) -> None:
    """Add the sums over the charges far below, by series with these coefficients."""
    grown = np.exp(np.outer(TERMS, NODES) * CELL / 2)  # e^(k y) at the nodes
    running = _running_sums(source_cells, grown @ charges)
    matrices = np.stack([each / grown.T for each in coefficients])
    for part in _chunks(len(cells), CHUNK_CELLS):
        last = np.searchsorted(source_cells, cells[part] - NEAR - 1, side="right") - 1
        distance = np.where(last < 0, np.inf, cells[part] - source_cells[last])
        values[:, :, part] += matrices @ (_faded(distance, N_TERMS) * running[:, last])


def _running_sums(cells: Array, parts: Array) -> Array:
    r"""For each cell c and term k, :math:`\sum_{b \leq c} e^{-k (c - b)} u_{kb}`, in the place of the parts u."""
    step = 1
    # After each round an entry holds twice as many cells, those up to its own, faded to the distance from it.
    while step < len(cells):
        distance = cells[step:] - cells[:-step]
        nearest = CELL * distance.min()
        if nearest > 750:  # nothing is left of e^-750
            break
        alive = 1 + int(20 / nearest)  # what term k still adds is at most e^(-(k - 1) nearest) of what the first adds
        upper, lower = parts[:alive, step:], parts[:alive, :-step]
        for part in reversed(list(_chunks(len(distance), CHUNK_CELLS))):  # from the top: below is still to be read
            upper[:, part] += _faded(distance[part], alive) * lower[:, part]
        step *= 2
    return parts


def _faded(distance: Array, n_terms: int) -> Array:
    """What is left of each of the first terms at a distance in cells: the powers of what is left of the first."""
    powers = np.empty((min(n_terms, N_TERMS), len(distance)))
    np.exp(-CELL * distance, out=powers[0])
    known = 1
    while known < len(powers):
        new = powers[known : 2 * known]
        np.multiply(powers[: len(new)], powers[known - 1], out=new)
        known *= 2
    return powers


def _power_above(cells: Array, source_cells: Array, moments: Array, power: int) -> Array:
    """Sums of q (s - t)^power at the nodes of each target cell, over the sources far above."""
    sums = _suffix_moments(source_cells * CELL, (moments[0], moments[1] * (CELL / 2))[: power + 1])
    first = np.searchsorted(source_cells, cells + NEAR + 1)
    ends = np.append(source_cells, source_cells[-1])
    gap = (ends[first] - cells - NODES[:, None] / 2) * CELL
    return _power(power, gap, [each[first] for each in sums])


FORMS: dict[str, Form] = {
    "zero_one": _zero_one,
    "sigmoid": partial(_smooth, SIGMOID, SIGMOID_DECAY),
    "ramp": _ramp,
    "unhinged": partial(_whole_power, 1, 0.5),
    "logistic": partial(_smooth, LOGISTIC, SIGMOID),
    "squared": partial(_whole_power, 2, 1.0),
    "hinge": partial(_cut_power, 1, 1.0),
    "squared_hinge": partial(_cut_power, 2, 1.0),
    "exponential": _exponential,
}
