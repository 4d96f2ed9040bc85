"""Large tables are fitted in blocks: the same numbers, in less memory."""

import tracemalloc

import numpy as np
import pytest

from unskew.posterior import _basis, _fit, regression
from unskew.posterior._basis import Scaling, is_large, weighted_products

N_WIDE = _basis.MOST_FEATURES + 44


@pytest.fixture
def wide():
    """More rows than a block has, and more columns than count each by itself."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(_basis.block_size(N_WIDE) + 700, N_WIDE)) @ rng.normal(size=(N_WIDE, N_WIDE))
    assert is_large(X)
    return X


def test_principal_components_in_blocks_are_those_of_all_rows_at_once(wide, monkeypatch):
    in_blocks = Scaling.of(wide, np.random.RandomState(0)).apply(wide)
    monkeypatch.setattr(_basis, "is_large", lambda _: False)
    at_once = Scaling.of(wide, np.random.RandomState(0)).apply(wide)
    assert in_blocks.shape == at_once.shape == (len(wide), _basis.MOST_FEATURES)
    np.testing.assert_allclose(in_blocks, at_once, atol=1e-10)


def test_weighted_products_in_blocks_are_those_of_all_rows(wide):
    weight = np.random.RandomState(1).uniform(size=len(wide))
    expected = wide[:, :3].T @ (weight[:, None] * wide)
    np.testing.assert_allclose(weighted_products(wide[:, :3], weight, wide), expected, rtol=1e-10)


@pytest.mark.parametrize(("fit", "most"), [(_fit.fit_rows, 4.8), (regression.fit_regression, 3.5)])
def test_a_fit_lets_go_of_its_rows_and_makes_no_whole_copies(fit, most, wide):
    rng = np.random.RandomState(2)
    labeled = rng.uniform(size=len(wide)) < 0.02
    confidence, weight = rng.uniform(0.2, 0.9, labeled.sum()), np.ones(len(wide))
    tracemalloc.start()
    try:
        fit(wide.copy(), labeled, confidence, weight, False, rng)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < most * wide.nbytes  # with whole copies 5.4 and 4.4 times
