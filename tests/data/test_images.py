"""Images as columns, against loops over pixels written by hand."""

import numpy as np
import pytest

from unskew.data.images import COLORS, FAINT, LEAST_ENERGY, as_columns, as_pixels, n_columns_of

RNG = np.random.RandomState(0)


def columns_by_hand(image: np.ndarray) -> np.ndarray:
    """Gradients and colors of one image of 16 to 31 pixels a side, pixel by pixel."""
    image = image / image.std()
    channels, height, width = image.shape
    cell = min(height, width) // 8
    rows, columns = height // cell, width // cell
    strength = np.zeros((9, rows, columns))
    for y in range(rows * cell):
        for x in range(columns * cell):
            across = [c[y, x + 1] - c[y, x - 1] if 0 < x < width - 1 else 0 for c in image]
            down = [c[y + 1, x] - c[y - 1, x] if 0 < y < height - 1 else 0 for c in image]
            energy = sum(a * a + d * d for a, d in zip(across, down, strict=True))
            for b in range(9):
                turned = sum(
                    (a * a - d * d) * np.cos(2 * np.pi * b / 9) + 2 * a * d * np.sin(2 * np.pi * b / 9)
                    for a, d in zip(across, down, strict=True)
                )
                share = max(turned, 0) ** 2 / (energy**1.5 + LEAST_ENERGY)
                strength[b, y // cell, x // cell] += share / cell**2
    found = np.zeros_like(strength)
    for y in range(rows):
        for x in range(columns):
            near = [
                np.sum(strength[:, v, w] ** 2)
                for v in range(max(0, y - 1), min(rows, y + 2))
                for w in range(max(0, x - 1), min(columns, x + 2))
            ]
            found[:, y, x] = strength[:, y, x] / np.sqrt(np.mean(near) + FAINT**2)
    step, colors = 2 * cell, []
    for channel in image[:-1]:
        for y in range(height // step):
            for x in range(width // step):
                here = slice(y * step, (y + 1) * step), slice(x * step, (x + 1) * step)
                colors.append(COLORS * (channel[here].mean() - np.mean([c[here].mean() for c in image])))
    return np.concatenate([found.ravel(), colors])


@pytest.mark.parametrize("shape", [(1, 16, 16), (3, 17, 25), (2, 24, 20)])
def test_columns_are_those_of_the_loops(shape):
    images = RNG.normal(size=(3, *shape)) + 2
    expected = np.array([columns_by_hand(each) for each in images])
    np.testing.assert_allclose(as_columns(images), expected, atol=1e-10)
    assert expected.shape[1] == n_columns_of(shape)


def test_there_are_never_as_many_columns_as_pixels():
    shapes = [(c, h, w) for c in range(1, 6) for h in range(16, 100) for w in range(16, 100)]
    assert [shape for shape in shapes if n_columns_of(shape) == np.prod(shape)] == []


def test_other_light_changes_nothing_and_another_direction_does():
    bars = np.zeros((1, 1, 32, 32))
    bars[..., ::4] = 1
    same = as_columns(5 * bars + 3)
    np.testing.assert_allclose(as_columns(bars), same, atol=1e-8)
    turned = as_columns(bars.transpose(0, 1, 3, 2))
    by_orientation = [np.abs(each[:, : 9 * 64].reshape(9, -1)).sum(axis=1) for each in (same, turned)]
    assert np.argmax(by_orientation[0]) == 0  # the gradient runs across
    assert np.argmax(by_orientation[1]) in (4, 5)


def test_an_even_image_has_no_gradient_and_a_missing_pixel_leaves_nothing_known():
    images = np.full((2, 3, 16, 16), 7.0)
    images[1, 0, 3, 3] = np.nan
    columns = as_columns(images)
    assert not columns[0].any()
    assert np.isnan(columns[1]).all()


@pytest.mark.parametrize("shape", [(5,), (1, 8, 8), (3, 15, 40)])
def test_tables_and_small_images_are_their_numbers(shape):
    rows = RNG.normal(size=(4, *shape)).astype(np.float32)
    np.testing.assert_array_equal(as_columns(rows), as_pixels(rows))
    assert as_columns(rows).dtype == np.float64
    assert n_columns_of(shape) == np.prod(shape)


def test_blocks_of_images_are_no_different():
    images = RNG.normal(size=(300, 1, 16, 16))
    np.testing.assert_array_equal(as_columns(images)[290:], as_columns(images[290:]))
