"""The posterior: against known laws, its uncertainty by perturbation, and what it refuses."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logit, ndtri

import unskew
from unskew.datasets import toy
from unskew.errors import TooFewLabeled
from unskew.metrics import estimate_ranking
from unskew.posterior import PosteriorModel, block_size, fit_posterior
from unskew.posterior._basis import Scales, Scaling, _normal_score, scale_of_columns
from unskew.posterior._confidence import (
    _other_explanations,
    confidence_logit,
    largest_noise,
    noise_variance,
)
from unskew.posterior._fit import View, other_views, rows_to_fit
from unskew.posterior._joint_fit import JointData, JointFit, log_posterior, slope_and_information


@pytest.fixture(scope="module")
def data():
    return toy.draw(1200, random_state=3)


@pytest.fixture(scope="module")
def found(data):
    return fit_posterior(data.X, data.labeled, data.confidence, random_state=0)


def test_probabilities_and_propensities_of_the_toy_law(data, found):
    assert np.abs(found.prob - data.law.posterior(data.X)).mean() < 0.02
    assert abs(found.prior - data.y.mean()) < 0.03
    assert np.corrcoef(found.propensity, data.law.propensity(data.X))[0, 1] > 0.8
    assert found.reliability > 0.95


def test_two_samples():
    drawn = toy.draw_two_samples(100, 1200, random_state=2)
    found = fit_posterior(drawn.X, drawn.labeled, drawn.confidence, scenario="two-sample", random_state=0)
    unlabeled = drawn.labeled == 0
    np.testing.assert_array_equal(found.everything, unlabeled)
    assert np.isnan(found.propensity).all()
    assert abs(found.prior - drawn.y[unlabeled].mean()) < 0.03


@pytest.mark.parametrize("prior", [0.12, 0.4])
def test_a_known_prior_is_the_mean_probability_exactly(prior, data):
    found = fit_posterior(data.X, data.labeled, data.confidence, prior=prior, random_state=0)
    assert found.prior == pytest.approx(prior, abs=1e-9)
    np.testing.assert_allclose(found.other_views.mean(axis=1), prior, atol=1e-9)
    np.testing.assert_allclose(found.predict(data.X), found.prob)
    everywhere = np.full(len(data.X), 1 / len(data.X))
    assert found.uncertainty(everywhere).model < 1e-12  # the mean cannot move


def test_images_and_sparse_matrices_are_their_numbers(data):
    request = data.labeled, data.confidence
    flat = fit_posterior(data.X, *request, random_state=0).prob
    images = fit_posterior(data.X.reshape(-1, 1, 1, 2), *request, random_state=0).prob
    np.testing.assert_array_equal(images, flat)
    np.testing.assert_allclose(fit_posterior(sparse.csr_array(data.X), *request, random_state=0).prob, flat)


def test_new_rows_have_the_probability_of_equal_old_ones(data, found):
    np.testing.assert_allclose(found.predict(data.X[:50]), found.prob[:50], rtol=1e-10)


def test_same_seed_same_probabilities(data, found):
    again = fit_posterior(data.X, data.labeled, data.confidence, random_state=0)
    np.testing.assert_array_equal(again.prob, found.prob)


def test_real_variation_is_not_taken_for_that_of_all_rows():
    """What the columns do not show, labels favor: without Eq. (P2)'s correction the share comes out too high."""
    rng = np.random.RandomState(0)
    errors = []
    for _ in range(4):
        X, hidden = rng.normal(size=(3000, 2)), 1.5 * rng.normal(size=3000)
        eta = expit(X[:, 0] - 2 + hidden)
        truth = rng.uniform(size=3000) < eta
        labeled = (truth & (rng.uniform(size=3000) < 0.3)).astype(int)
        found = fit_posterior(X, labeled, np.where(labeled, eta, np.nan), random_state=0)
        errors.append(found.prior - truth.mean())
        assert eta[labeled == 1].mean() > truth.mean() + 0.2  # what a plain regression on the labels would say
    assert abs(np.mean(errors)) < 0.05


@pytest.mark.filterwarnings("ignore::unskew.errors.LowReliabilityWarning")
@pytest.mark.parametrize("change", ["rounded", "noisy"])
def test_interval_of_the_share_counts_variation_that_no_column_shows(change):
    """Rounded or noisy confidence hides that what the columns do not explain is real."""
    covered = []
    for seed in range(10):
        rng = np.random.RandomState(seed)
        X = rng.normal(size=(1500, 2))
        eta = expit(1.5 * X[:, 0] + rng.normal(size=1500) - 1)
        truth = rng.uniform(size=1500) < eta
        labeled = (truth & (rng.uniform(size=1500) < 0.2)).astype(int)
        given = np.round(eta, 1) if change == "rounded" else np.clip(eta + 0.1 * rng.normal(size=1500), 0, 1)
        found = estimate_ranking(X[:, 0], fit_posterior(X, labeled, given))
        covered.append(found.prior_low <= truth.mean() <= found.prior_high)
    assert np.mean(covered) >= 0.8


def test_real_variation_and_noise_are_two_explanations_of_the_same_variance():
    """Each moves all of it to its side, but noise only as far as the ends of the scale allow."""
    scales = Scales(1.0, 1.0, 1.0, unseen=0.5, noise=0.01)
    per_noise = np.full(20, 16.0)
    real, noise = _other_explanations(scales, per_noise, most=0.25)
    assert real.unseen == pytest.approx(1.5 * (0.5 + 0.16))
    assert real.noise < 1e-5
    assert noise.noise == pytest.approx(0.01 + 0.5 / 16)
    assert noise.unseen < 1e-3
    _, held = _other_explanations(scales, per_noise, most=0.02)
    assert held.noise == pytest.approx(0.02)
    assert held.unseen == pytest.approx(0.5 - 0.01 * 16)


def test_uncertainty_of_the_mean_follows_from_the_coefficients(data, found):
    """V_model is the variance of the mean under draws of the coefficients from their covariance."""
    rng, model, fitted = np.random.RandomState(0), found.model, found._fitted
    columns = model.columns(data.X)
    draws = rng.multivariate_normal(model.coefficients[:, 0], fitted.covariance, size=400)
    kappa = 1 / np.sqrt(1 + np.pi * model.unseen[0] / 8)
    means = expit(kappa * (columns @ draws.T)).mean(axis=0)
    pull = found._pull_back(found.prob * (1 - found.prob) / len(data.X))
    assert float(pull @ fitted.covariance @ pull) == pytest.approx(means.var(), rel=0.3)


def test_deviation_is_larger_where_nobody_is_labeled(data, found):
    labeled = data.labeled == 1
    assert found.deviation[labeled].mean() < found.deviation[~labeled].mean()
    far = np.full((1, 2), 30.0)
    assert np.isfinite(found.predict(far)).all()


def test_other_columns_are_refused(found):
    with pytest.raises(ValueError, match="must have the 2 columns that the posterior was fitted with, but it has 3"):
        found.predict(np.zeros((4, 3)))


def test_units_do_not_matter(data, found):
    tiny = fit_posterior(data.X * 1e-12, data.labeled, data.confidence)
    np.testing.assert_allclose(tiny.prob, found.prob, rtol=1e-6)


def test_sparse_rows_are_checked(data):
    X = sparse.csr_array(data.X)
    X.data[3] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        fit_posterior(X, data.labeled, data.confidence)


# Its parts.


def small_joint_data(two_sample):
    rng = np.random.RandomState(1)
    A, B = np.column_stack([np.ones(30), rng.normal(size=(30, 3))]), np.column_stack([np.ones(30), rng.normal(size=30)])
    labeled = np.arange(30) < 9
    y = rng.normal(size=9)
    request = (A, B), np.array([5.0, 1, 1, 1, 1, 0.4]), labeled, rng.uniform(1, 3, 30), y, (0.3, 0.01), two_sample
    return JointData.of(*request)


@pytest.mark.parametrize("two_sample", [False, True])
def test_the_fit_is_where_the_slope_vanishes(two_sample):
    fit = JointFit.of(small_joint_data(two_sample))
    slope, information = slope_and_information(fit.data, fit.coefficients)
    assert slope @ np.linalg.solve(information, slope) < 0.05  # a further step would gain half of that
    for each in np.eye(6):
        assert log_posterior(fit.data, fit.coefficients + 0.3 * each) < log_posterior(fit.data, fit.coefficients)


def test_slope_of_the_log_posterior_numerically():
    data = small_joint_data(False)
    theta = np.linspace(-0.5, 0.5, 6)
    slope, _ = slope_and_information(data, theta)
    by_steps = [(log_posterior(data, theta + d) - log_posterior(data, theta - d)) / 2e-6 for d in 1e-6 * np.eye(6)]
    np.testing.assert_allclose(slope, by_steps, rtol=1e-5)


def test_left_out_predictions_are_those_of_fits_without_the_row():
    """The closed form against a Gaussian process fitted anew without each row, with the same scales."""
    from unskew.posterior._basis import INTERCEPT
    from unskew.posterior._confidence import _Process

    rng = np.random.RandomState(0)
    features, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    process = _Process(features, y, 0.2)
    log, per_noise = np.log([2.0, 0.5, 1.0, 0.1, 0.01]), rng.uniform(1, 5, 12)
    found = process._left_out(log, per_noise)
    bump = np.exp(-((features[:, None] - features) ** 2).sum(2) / (2 * process.unit))
    kernel = INTERCEPT**2 + 2.0 * features @ features.T + 0.5 * bump
    for left in range(12):
        others = np.arange(12) != left
        noisy = kernel[np.ix_(others, others)] + np.diag(0.1 + 0.01 * per_noise[others])
        assert found[left] == pytest.approx(kernel[left, others] @ np.linalg.solve(noisy, y[others]), rel=1e-6)


def test_slopes_of_the_marginal_likelihood_numerically():
    from unskew.posterior._confidence import _Process

    rng = np.random.RandomState(0)
    process = _Process(rng.normal(size=(15, 3)), rng.normal(size=15), 0.2)
    log, per_noise = np.log([2.0, 0.5, 1.3, 0.1, 0.01]), rng.uniform(1, 5, 15)
    _, slopes = process._cost(log, per_noise)
    steps = 1e-6 * np.eye(5)
    by_steps = [(process._cost(log + d, per_noise)[0] - process._cost(log - d, per_noise)[0]) / 2e-6 for d in steps]
    np.testing.assert_allclose(slopes, by_steps, rtol=1e-5)


def test_noise_variance_by_hand():
    predicted, found = np.array([0.0, 2.0]), np.array([0.0, 4.0])
    slopes = np.array([0.25, (expit(4.0) - expit(2.0)) / 2])
    np.testing.assert_allclose(noise_variance(0.01, predicted, found), 0.01 / slopes**2)


def test_noise_is_bounded_by_how_many_confidences_are_at_the_ends():
    rng = np.random.RandomState(0)
    exact = rng.uniform(size=200)
    assert largest_noise(exact) < 0.03
    for size in (0.05, 0.1, 0.2):
        noisy = np.clip(exact + size * rng.normal(size=200), 0, 1)
        assert 0.7 * size < largest_noise(noisy) < 4 * size
    assert largest_noise(rng.binomial(5, exact) / 5) == pytest.approx(0.5 / np.sqrt(5))  # votes do not show it
    assert largest_noise(np.full(10, 0.7)) == 0.5
    assert largest_noise(np.r_[np.full(10, 1 / 3), np.full(10, 0.333333)]) == 0.01  # levels but for rounding


def test_columns_with_two_values_are_not_counted_twice():
    rng = np.random.RandomState(0)
    X = np.column_stack([rng.normal(size=100), rng.randint(2, size=100), np.ones(100)])
    scaling = Scaling.of(X, rng)
    assert scaling.apply(X).shape == (100, 3)  # two that vary, and the rank of one of them
    assert np.mean(np.sum(scaling.apply(X) ** 2, axis=1)) == pytest.approx(1, abs=0.1)
    assert Scaling.of(np.ones((10, 2)), rng).apply(np.ones((4, 2))).tolist() == [[0.0]] * 4


def test_wide_rows_become_components():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 300)) @ np.diag(np.linspace(3, 0.1, 300))
    scaling = Scaling.of(X, rng)
    assert scaling.directions.shape == (300, 60)
    assert np.isfinite(scaling.apply(X)).all()
    assert np.mean(np.sum(scaling.apply(X) ** 2, axis=1)) == pytest.approx(1, abs=0.1)
    spread = scaling.apply(X).std(axis=0)
    assert spread[0] > 1.5 * spread[-2]  # components keep their sizes


def test_units_of_wide_tables_do_not_matter_unless_one_unit_explains_more():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(400, 12)) @ rng.normal(size=(12, 300)) + rng.normal(size=(400, 300))
    units = 10 ** rng.uniform(-3, 3, size=300)
    for one_unit in (False, True):
        first, second = (Scaling.of(each, np.random.RandomState(0), one_unit=one_unit) for each in (X, X * units))
        pairs = [each.apply(rows) @ each.apply(rows).T for each, rows in ((first, X), (second, X * units))]
        assert np.allclose(*pairs, atol=0.02) == (not one_unit)
    # Pixels: what matters is where columns vary most, which standardized columns do not show.
    X = rng.normal(size=(600, 300)) * np.r_[np.full(5, 10.0), np.full(295, 1.0)]
    eta = expit(0.1 * X[:, 0] + 0.1 * X[:, 1] - 1)
    labeled = (rng.uniform(size=600) < 0.6 * eta).astype(int)
    chosen = fit_posterior(X, labeled, eta)
    assert chosen.reliability > 0.8
    assert np.corrcoef(chosen.prob, eta)[0, 1] > 0.9


def test_large_tables_are_fitted_to_some_of_their_rows():
    labeled = np.zeros(50_000, dtype=bool)
    labeled[:5000] = True
    rows, weight = rows_to_fit(labeled, 20, np.random.RandomState(0))
    assert (labeled[rows].sum(), (~labeled[rows]).sum()) == (3000, 10_000)
    assert weight.sum() == pytest.approx(50_000)
    assert (np.diff(rows) > 0).all()
    assert len(rows_to_fit(labeled, 20_000, np.random.RandomState(0))[0]) == 2000  # wide ones to fewer
    assert block_size(20) == 16_384
    assert block_size(150_528) == 64


def test_views_differ_and_scales_are_those_of_their_parts():
    assert len({View(), *other_views(View())}) == 7
    scales = scale_of_columns(unskew.posterior._basis.Scales(4.0, 9.0, 1.0, 0.1, 0.0), 3)
    assert scales[:5].tolist() == [5.0, 2.0, 2.0, 2.0, 3.0]
    assert len(scales) == 104


# What a model file keeps.


def test_arrays_bring_the_same_model_back(data, found):
    arrays = found.model.to_arrays()
    again = PosteriorModel.from_arrays(arrays, 2)
    np.testing.assert_array_equal(again.predict(data.X), found.model.predict(data.X))
    for one, other in zip(
        again.propensity_and_deviation(data.X), found.model.propensity_and_deviation(data.X), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    older = {name: each for name, each in arrays.items() if name not in ("covariance", "noise", "propensity")}
    assert PosteriorModel.from_arrays(older, 2).errors is None


DAMAGES = {
    "missing": lambda arrays: arrays.pop("phases"),
    "shape": lambda arrays: arrays.update(coefficients=arrays["coefficients"][:-1]),
    "type": lambda arrays: arrays.update(mean=arrays["mean"].astype(np.float32)),
    "not finite": lambda arrays: arrays.update(offset=np.array(np.nan)),
    "place": lambda arrays: arrays.update(kept=arrays["kept"] + 1),
    "negative place": lambda arrays: arrays.update(ranked=arrays["ranked"] - 1),
    "deviation": lambda arrays: arrays.update(deviation=-arrays["deviation"]),
    "variance": lambda arrays: arrays.update(unseen=np.array(-1.0)),
    "variance of coefficients": lambda arrays: arrays.update(covariance=-arrays["covariance"]),
    "noise": lambda arrays: arrays.update(noise=np.array(-1.0)),
    "errors without covariance": lambda arrays: arrays.pop("covariance"),
    "more": lambda arrays: arrays.update(other=np.zeros(3)),
    "half of the components": lambda arrays: arrays.update(center=np.zeros(2)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_arrays_that_do_not_fit_are_refused(damage, found):
    arrays = dict(found.model.to_arrays())
    DAMAGES[damage](arrays)
    with pytest.raises(ValueError, match="posterior must have|must be numbers of columns|variances of a posterior"):
        PosteriorModel.from_arrays(arrays, 2)


# What is refused.


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"y": np.r_[np.ones(3), np.zeros(7)]}, "at least 4 labeled and 4 unlabeled rows, but there are 3 and 7"),
        ({"confidence": np.full(10, 2.0)}, r"between 0 and 1|must lie in \[0, 1\]"),
        ({"prior": 1.5}, "prior must be a number between 0 and 1, but it is 1.5"),
        ({"prior": 0.2}, "at least the share of labeled"),
        ({"scenario": "three"}, "scenario must be"),
        ({"X": np.full((10, 2), np.nan)}, "NaN"),
    ],
)
def test_what_a_posterior_needs_is_said(changes, words):
    request = {"X": np.eye(10, 2), "y": np.r_[np.ones(5), np.zeros(5)], "confidence": np.full(10, 0.5), **changes}
    with pytest.raises((ValueError, TooFewLabeled), match=words):
        fit_posterior(request.pop("X"), request.pop("y"), request.pop("confidence"), **request)


def test_confidence_at_its_ends_is_held():
    assert np.isfinite(confidence_logit(np.array([0.0, 1.0]))).all()
    assert confidence_logit(np.array([0.5]))[0] == pytest.approx(logit(0.5))
    np.testing.assert_allclose(confidence_logit(np.array([0.0, 0.2, 0.9, 1.0])), logit([0.1, 0.2, 0.9, 0.95]))


def test_constant_columns_and_constant_confidence_give_the_share_that_confidence_says():
    X, labeled = np.ones((200, 2)), (np.arange(200) < 20).astype(int)
    found = fit_posterior(X, labeled, np.full(200, 0.4), random_state=0)
    assert np.ptp(found.prob) < 1e-9
    assert found.prior == pytest.approx(0.4, abs=0.1)


def test_normal_scores_of_ranks_by_hand():
    quantiles = np.array([0.0, 1.0, 1.0, 1.0, 2.0, 5.0])
    values = np.array([-3.0, 0.0, 0.5, 1.0, 1.5, 2.0, 5.0, 9.0])
    for value, score in zip(values, _normal_score(values, quantiles), strict=True):
        rank = sum(each < value for each in quantiles) + sum(each == value for each in quantiles) / 2
        assert score == ndtri(min(max(rank, 0.5), 5.5) / 6)
