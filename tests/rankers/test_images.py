"""Closed forms on images: what they see of them, and what models of earlier versions saw."""

import numpy as np
import pytest

import unskew
from unskew.data.images import as_columns, n_columns_of
from unskew.data.rows import as_rows
from unskew.posterior import fit_posterior
from unskew.rankers._probability import logits_of

SHAPE = (2, 16, 16)


def bars(n: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Images of noisy bars at random places; those of the second kind run across instead of down."""
    truth = rng.uniform(size=n) < 0.4
    images = rng.normal(size=(n, *SHAPE)) * 0.3
    for image, is_positive, start in zip(images, truth, rng.randint(4, size=n), strict=True):
        image[:, :, start::4] += 1 * ~is_positive
        image[:, start::4, :] += 1 * is_positive
    return images.astype(np.float32), truth


@pytest.fixture(scope="module")
def table():
    rng = np.random.RandomState(0)
    images, truth = bars(300, rng)
    labeled = truth & (rng.uniform(size=300) < 0.3)
    return images, labeled.astype(int), np.where(labeled, rng.uniform(0.7, 0.99, 300), np.nan), truth


@pytest.mark.parametrize("method", ["conf-gp", "conf-reg", "ntc-linear"])
def test_closed_forms_tell_which_way_bars_run(method, table, tmp_path):
    images, labeled, confidence, _ = table
    new, truth = bars(300, np.random.RandomState(1))
    ranker = unskew.make(method, random_state=0).fit(images, labeled, confidence=confidence)
    assert ranker.score(new, truth) > 0.95
    flat = unskew.make(method, random_state=0).fit(images.reshape(300, -1), labeled, confidence=confidence)
    assert flat.score(new.reshape(300, -1), truth) < 0.9  # pixels say less
    ranker.save(tmp_path / "model.unskew")
    again = unskew.load(tmp_path / "model.unskew")
    np.testing.assert_array_equal(again.decision_function(images), ranker.decision_function(images))


def test_the_posterior_of_a_table_is_that_of_the_ranker(table):
    images, labeled, confidence, _ = table
    found = fit_posterior(images, labeled, confidence)
    ranker = unskew.make("conf-gp", random_state=0).fit(images, labeled, confidence=confidence)
    np.testing.assert_allclose(found.predict(images), ranker.predict_proba(images)[:, 1], atol=1e-9)
    assert found.model.n_inputs == n_columns_of(SHAPE)


def test_a_model_of_pixels_goes_on_seeing_pixels(table):
    images, labeled, confidence, _ = table
    of_pixels = fit_posterior(images.reshape(300, -1), labeled, confidence).model
    of_columns = fit_posterior(images, labeled, confidence).model
    rows = as_rows(images)
    np.testing.assert_array_equal(logits_of(of_pixels, rows), of_pixels.logits(images.reshape(300, -1))[:, 0])
    np.testing.assert_array_equal(logits_of(of_columns, rows), of_columns.logits(as_columns(rows.array))[:, 0])
