r"""Images as columns of a table: which way edges run, and what is colored how, place by place.

A function that is linear in pixels, or smooth in them, can hardly tell what a photograph shows: the same thing has
other pixels one step to the side, or in other light. Histograms of oriented gradients (N. Dalal, B. Triggs. Histograms
of oriented gradients for human detection. CVPR 2005) change little with both. Nothing is known of an image with a
missing pixel.
"""

from math import prod
from typing import NamedTuple

import numpy as np

GRID, LEAST_SIZE = 8, 16
"""Places along the shorter side of an image, and pixels of it from which on there are places."""
ORIENTATIONS = 9
FAINT = 0.02
"""Size of a gradient that hardly counts, in standard deviations of the image's numbers."""
COLORS = 0.3
"""How much a difference of colors counts beside a gradient."""
LEAST_ENERGY = 1e-12
"""Added where energies divide: an even patch has none."""
BLOCK_IMAGES = 256


class Grid(NamedTuple):
    """Places of an image.

    Attributes
    ----------
    cell : int
        Pixels along the side of a place; numbers of rows and columns that do not fill a place are left out.
    """

    channels: int
    height: int
    width: int
    cell: int

    @property
    def places(self) -> tuple[int, int]:
        """Rows and columns of places where gradients are counted."""
        return self.height // self.cell, self.width // self.cell

    @property
    def color_places(self) -> tuple[int, int]:
        """The same for colors, which need fewer."""
        return self.height // (2 * self.cell), self.width // (2 * self.cell)

    @property
    def n_columns(self) -> int:
        """Columns that an image becomes."""
        return ORIENTATIONS * prod(self.places) + (self.channels - 1) * prod(self.color_places)


def grid_of(shape: tuple[int, ...]) -> Grid | None:
    """Places of rows of this shape; None for rows of a table, and for images so small that pixels are all there is.

    There are never as many columns as pixels, as 3 by 3 pixels of one channel would give: by its width a model knows
    which of them it was fitted to.
    """
    if len(shape) != 3 or min(shape[1:]) < LEAST_SIZE:
        return None
    grid = Grid(*shape, cell=min(shape[1:]) // GRID)
    return grid if grid.n_columns != prod(shape) else grid._replace(cell=grid.cell - 1)


def n_columns_of(shape: tuple[int, ...]) -> int:
    """Columns that `as_columns` makes of rows of this shape."""
    grid = grid_of(shape)
    return prod(shape) if grid is None else grid.n_columns


def as_pixels(rows: np.ndarray) -> np.ndarray:
    """Rows as a table of numbers in float64; images as their pixels."""
    return np.asarray(rows.reshape(len(rows), -1), dtype=np.float64)


def as_columns(rows: np.ndarray) -> np.ndarray:
    """Rows as a table of numbers in float64; images as their gradients and colors, small ones as their pixels."""
    grid = grid_of(rows.shape[1:])
    if grid is None:
        return as_pixels(rows)
    table = np.empty((len(rows), grid.n_columns))
    for start in range(0, len(rows), BLOCK_IMAGES):
        block = slice(start, start + BLOCK_IMAGES)
        table[block] = _columns_of_block(rows[block].astype(np.float64), grid)
    return table


def _columns_of_block(images: np.ndarray, grid: Grid) -> np.ndarray:
    spread = images.std(axis=(1, 2, 3), keepdims=True)
    images = images / np.where(spread == 0, 1.0, spread)
    parts = _orientations(images, grid), COLORS * _colors(images, grid)
    return np.hstack([each.reshape(len(images), -1) for each in parts])


def _orientations(images: np.ndarray, grid: Grid) -> np.ndarray:
    r"""How strong edges are at each place, by the way they run, beside what is usual around it.

    With :math:`E = \sum_c (g_x^2 + g_y^2)` the energy of a pixel's gradient over all channels, its share at the
    orientation :math:`\theta_b = \pi b / 9` is

    .. math:: \sqrt{E} \max(0, \cos 2 (\phi - \theta_b))^2, \qquad
        E \cos 2 (\phi - \theta) = \cos 2 \theta \sum_c (g_x^2 - g_y^2) + \sin 2 \theta \sum_c 2 g_x g_y

    Each place has the mean of these over its pixels, divided by the root mean square of all orientations at it and at
    the places that touch it. Implements: Eq. (P12).
    """
    across, down = np.zeros_like(images), np.zeros_like(images)
    across[..., 1:-1] = images[..., 2:] - images[..., :-2]
    down[..., 1:-1, :] = images[..., 2:, :] - images[..., :-2, :]
    energy = (across**2 + down**2).sum(axis=1)
    twice = np.stack([(across**2 - down**2).sum(axis=1), 2 * (across * down).sum(axis=1)], axis=-1)
    aligned = np.maximum(twice @ np.stack(cosines_and_sines()), 0)
    votes = aligned**2 / (energy**1.5 + LEAST_ENERGY)[..., None]
    strength = _means_of_places(np.moveaxis(votes, -1, 1), grid.cell)
    around = _mean_of_neighbors((strength**2).sum(axis=1))
    return np.asarray(strength / np.sqrt(around + FAINT**2)[:, None])


def cosines_and_sines() -> tuple[np.ndarray, np.ndarray]:
    """Of twice the angle of each orientation."""
    angles = 2 * np.pi / ORIENTATIONS * np.arange(ORIENTATIONS)
    return np.cos(angles), np.sin(angles)


def _colors(images: np.ndarray, grid: Grid) -> np.ndarray:
    """How far the channels are from their mean at each place; the last one follows from the others."""
    means = _means_of_places(images, 2 * grid.cell)
    return np.asarray((means - means.mean(axis=1, keepdims=True))[:, :-1])


def _means_of_places(images: np.ndarray, cell: int) -> np.ndarray:
    n, channels, height, width = images.shape
    rows, columns = height // cell, width // cell
    inside = images[..., : rows * cell, : columns * cell]
    return np.asarray(inside.reshape(n, channels, rows, cell, columns, cell).mean(axis=(3, 5)))


def _mean_of_neighbors(values: np.ndarray) -> np.ndarray:
    """Mean of each place and those that touch it; there are fewer at the border."""
    sums = np.pad(np.stack([values, np.ones_like(values)]), ((0, 0), (0, 0), (1, 1), (1, 1)))
    sums = sums[..., :-2, :] + sums[..., 1:-1, :] + sums[..., 2:, :]
    sums = sums[..., :-2] + sums[..., 1:-1] + sums[..., 2:]
    return np.asarray(sums[0] / sums[1])
