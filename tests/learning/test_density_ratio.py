import numpy as np
import pandas as pd
import pytest

from unskew.datasets import toy
from unskew.density_ratio import ULSIF, ratio_from_odds
from unskew.errors import TooFewLabeled


def test_ratio_from_odds_is_exact_for_the_true_classifier():
    law = toy.ToyLaw()
    X = np.random.RandomState(0).normal(size=(50, 2))
    ratio, alpha = law.density_ratio(X), 0.3
    # Two samples with share alpha of labeled: p(o=1|x) = alpha w / (alpha w + 1 - alpha).
    prob = alpha * ratio / (alpha * ratio + 1 - alpha)
    np.testing.assert_allclose(ratio_from_odds(prob, alpha), ratio)


@pytest.mark.parametrize("alpha", [0.5, 0.3, 0.01, 1e-6])
def test_ratio_of_a_sure_classifier_is_large_but_finite(alpha):
    ratio = ratio_from_odds(np.array([0.5, 1 - 1e-12, 1.0]), alpha)
    assert np.isfinite(ratio).all()
    assert (np.diff(ratio) > 0).all()


def test_ulsif_finds_the_ratio_of_two_gaussians():
    rng = np.random.RandomState(0)
    high, low = rng.normal(0.5, 0.8, size=(400, 1)), rng.normal(0, 1, size=(4000, 1))
    X, y = np.concatenate([high, low]), np.repeat([1, 0], [400, 4000])
    model = ULSIF(random_state=0).fit(X, y)
    at = np.linspace(-1, 2, 25)[:, None]
    true = (np.exp(-((at - 0.5) ** 2) / (2 * 0.64)) / 0.8 / np.exp(-(at**2) / 2)).ravel()
    estimate = model.density_ratio(at)
    assert (estimate >= 0).all()
    assert np.abs(estimate - true).mean() < 0.1
    # The mean of the ratio over the denominator is one.
    assert model.density_ratio(low).mean() == pytest.approx(1, abs=0.05)


X = np.random.RandomState(0).normal(size=(6, 2))


@pytest.mark.parametrize(
    ("y", "error", "told"),
    [
        ([1, 0, 0, 0, 0, 0], TooFewLabeled, "the density ratio needs at least two labeled instances .*only one of 6"),
        ([1, 1, 1, 1, 1, 0], ValueError, "the density ratio needs at least two unlabeled instances .*only one of 6"),
        ([0, 0, 0, 0, 0, 0], TooFewLabeled, "y must have labeled instances"),
        ([1, 1, 1, 1, 1, 1], ValueError, "y must have unlabeled instances"),
        ([1, 1, 1, -1, -1, 0], ValueError, "y must have two values"),
    ],
)
def test_ulsif_tells_what_is_wrong_with_the_labels(y, error, told):
    with pytest.raises(error, match=told):
        ULSIF().fit(X, y)


@pytest.mark.parametrize(
    ("features", "y", "told"),
    [
        (X[:, :1], [1, 1, 1, -1, -1, 0], "y must have two values"),
        (X[:, :1], [1, 0, 0, 0, 0, 0], "at least two labeled instances"),
        (X[:, :1], None, "ULSIF requires y to be passed, but the target y is None"),
        (np.full((6, 1), np.nan), [1, 1, 1, 0, 0, 0], "Input X contains NaN"),
        # Only when it chooses the width does it meet what no distance can be computed of.
        (X[:, :1] * 1e200, [1, 1, 1, 0, 0, 0], "must not contain infs or NaNs"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_a_fit_that_fails_leaves_the_ratio_as_it_was(features, y, told):
    model = ULSIF(random_state=0).fit(pd.DataFrame(X, columns=["a", "b"]), [1, 1, 1, 0, 0, 0])
    before = dict(vars(model))
    with pytest.raises(ValueError, match=told):
        model.fit(features, y)
    assert vars(model).keys() == before.keys()
    assert all(getattr(model, name) is value for name, value in before.items())
    model.fit(X[:, :1], [1, 1, 1, 0, 0, 0])
    assert model.n_features_in_ == 1
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("n_folds", wrong) for wrong in (0, 1, "x")],
        *[("n_centers", wrong) for wrong in (-1, 0, 2.5)],
        *[("widths", wrong) for wrong in ((0.0,), (), (-1.0, 1.0), (np.nan,), ("x",), 1.0)],
        *[("ridges", wrong) for wrong in ((0.0,), (), (-1.0, 1.0), (np.inf,), [[1.0]], "x")],
        ("random_state", "x"),
    ],
)
def test_ulsif_tells_what_is_wrong_with_a_parameter(name, value):
    with pytest.raises(ValueError, match=f"{name}.* must be"):
        ULSIF(**{name: value}).fit(X, [1, 1, 1, 0, 0, 0])


def test_ulsif_takes_few_rows_and_any_sequence():
    y = np.array([1, 1, 0, 0, 0, 0], dtype=bool)
    assert np.isfinite(ULSIF(widths=[1], ridges=np.array([0.1])).fit(X, y).density_ratio(X)).all()
