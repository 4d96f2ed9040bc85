"""Calibrated probabilities of rankers."""

import numpy as np
import pytest

import unskew
from quick_fits import METHODS, QUICK, fit
from unskew.datasets import toy
from unskew.posterior import fit_posterior


@pytest.fixture(scope="module")
def drawn():
    return toy.draw(800, random_state=4)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_with_confidence_gives_the_same_calibrated_probability(name, drawn):
    ranker = fit(name, drawn)
    prob = ranker.predict_proba(drawn.X)
    assert prob.shape == (800, 2)
    np.testing.assert_allclose(prob.sum(axis=1), 1)
    assert np.abs(prob[:, 1] - drawn.law.posterior(drawn.X)).mean() < 0.05
    assert ranker.reliability_ > 0.8
    # What `prior_` says, the probabilities say, and `predict` flags.
    assert ranker.prior_ == pytest.approx(prob[:, 1].mean())
    assert ranker.predict(drawn.X).mean() == pytest.approx(ranker.prior_, abs=0.01)


@pytest.mark.parametrize("name", ["conf-auc", "ntc", "nnpu"])
def test_no_confidence_no_probability(name, drawn):
    alone = unskew.make(name, prior=0.2, **QUICK).fit(drawn.X, drawn.labeled) if name != "conf-auc" else None
    off = unskew.make(name, probability=False, **QUICK).fit(drawn.X, drawn.labeled, confidence=drawn.confidence)
    for ranker in filter(None, [alone, off, unskew.make(name)]):
        assert not hasattr(ranker, "predict_proba")
        with pytest.raises(AttributeError, match="has no attribute 'predict_proba'") as error:
            ranker.predict_proba(drawn.X)
        assert "learned from the confidence of 4 labels or more" in str(error.value.__cause__)


def test_scores_do_not_depend_on_the_probability(drawn):
    with_, without = (fit("conf-auc", drawn, probability=each) for each in (True, False))
    np.testing.assert_array_equal(with_.decision_function(drawn.X), without.decision_function(drawn.X))


def test_a_known_prior_is_the_mean_probability(drawn):
    ranker = fit("conf-auc", drawn, prior=0.35)
    assert ranker.predict_proba(drawn.X)[:, 1].mean() == pytest.approx(0.35, abs=1e-6)
    assert ranker.prior_ == 0.35


def test_methods_that_train_with_the_prior_take_that_of_the_posterior(drawn):
    assert fit("nnpu", drawn).prior_ == fit("conf-auc", drawn).prior_
    assert abs(fit("nnpu", drawn).prior_ - drawn.y.mean()) < 0.04


def test_two_samples_and_the_posterior_function_agree():
    data = toy.draw_two_samples(60, 400, random_state=0)
    ranker = fit("conf-auc", data, scenario="two-sample")
    found = fit_posterior(data.X, data.labeled, data.confidence, scenario="two-sample", random_state=1)
    assert np.abs(ranker.predict_proba(data.X)[:, 1] - found.prob).mean() < 0.02
    assert ranker.prior_ == pytest.approx(ranker.predict_proba(data.X[data.labeled == 0])[:, 1].mean())


def test_with_three_labels_the_share_comes_from_the_weights(drawn):
    few = np.flatnonzero(drawn.labeled)[3:]
    y = drawn.labeled.copy()
    y[few] = 0
    with pytest.warns(unskew.errors.NoHoldOutWarning):
        ranker = unskew.make("conf-auc", **QUICK).fit(drawn.X, y, confidence=drawn.confidence)
    assert not hasattr(ranker, "predict_proba")
    assert 0 < ranker.prior_ <= 1


def test_images_and_sparse_rows_have_probabilities(drawn):
    from scipy import sparse

    table = unskew.make("conf-auc", **QUICK).fit(drawn.X, drawn.labeled, confidence=drawn.confidence)
    images, rows = drawn.X.reshape(-1, 1, 1, 2), sparse.csr_matrix(drawn.X)
    for X in (images, rows):
        ranker = unskew.make("conf-auc", **QUICK).fit(X, drawn.labeled, confidence=drawn.confidence)
        np.testing.assert_allclose(ranker.predict_proba(X), table.predict_proba(drawn.X), rtol=1e-4)


def test_a_damaged_posterior_in_a_file_is_refused_by_name(drawn, tmp_path):
    from unskew._support import modelfile

    fit("conf-auc", drawn).save(tmp_path / "model")
    model = modelfile.read_model_file(tmp_path / "model")
    arrays = {**model.arrays, "posterior.phases": np.full(100, np.nan)}
    modelfile.write_model_file(tmp_path / "wrong", modelfile.ModelFile(model.header, arrays))
    with pytest.raises(unskew.errors.ModelFileError, match=r"wrong must hold a model.*finite numbers in float64"):
        unskew.load(tmp_path / "wrong")
    huge = {"posterior.coefficients": np.r_[1.7e308, np.zeros(104)], "posterior.offset": np.array(1.7e308)}
    arrays = {**model.arrays, **huge}
    modelfile.write_model_file(tmp_path / "huge", modelfile.ModelFile(model.header, arrays))
    with pytest.raises(unskew.errors.ModelFileError, match="its probability of being positive"):
        unskew.load(tmp_path / "huge")
