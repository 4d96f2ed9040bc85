import copy
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unskew
from quick_fits import QUICK
from unskew._support import modelfile
from unskew.data.rows import _data_frame, as_rows
from unskew.datasets import toy
from unskew.errors import LabelingNotSavedWarning, ModelFileError, TooFewLabeled
from unskew.learning.trainer import Trainer
from unskew.rankers._labeling_fit import fit_labeling
from unskew.rankers.labeling import CrossFittedLabeling, LabelingNetwork
from unskew.records import PUData


def fit(data, **parameters):
    ranker = unskew.make("conf-auc", **{**QUICK, **parameters})
    return ranker.fit(data.X, data.labeled, confidence=data.confidence)


def test_default_is_a_network_whose_probability_is_the_sigmoid_of_the_ntc_score(toy_data):
    ntc = unskew.make("ntc", **QUICK).fit(toy_data.X, toy_data.labeled)
    assert isinstance(ntc.labeling_, LabelingNetwork)
    prob = ntc.labeling_.predict_proba(toy_data.X)
    np.testing.assert_allclose(prob.sum(axis=1), 1)
    np.testing.assert_allclose(prob[:, 1], 1 / (1 + np.exp(-ntc.decision_function(toy_data.X))))
    np.testing.assert_allclose(ntc.labeling_.predict_proba(torch.from_numpy(toy_data.X)), prob)
    assert ntc.history_ == ntc.labeling_.history


def test_the_network_learns_the_true_labeling_probability():
    data = toy.draw(20_000, random_state=1)
    ntc = unskew.make("ntc", learning_rate=3e-3, max_epochs=30, random_state=0).fit(data.X, data.labeled)
    error = np.abs(ntc.labeling_prob(data.X) - data.labeling_prob)
    assert error.mean() < 0.01


@pytest.mark.parametrize(
    "classifier",
    [
        LogisticRegression(),
        RandomForestClassifier(20),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(), RandomForestClassifier(20)),
    ],
)
def test_any_classifier_may_estimate_it_and_is_seeded(classifier, toy_data):
    before = np.random.get_state()  # noqa: NPY002
    first, second = fit(toy_data, labeling=classifier), fit(toy_data, labeling=classifier)
    np.testing.assert_equal(np.random.get_state(), before)  # noqa: NPY002
    assert not [name for name, value in first.labeling_.get_params().items() if "random_state" in name and not value]
    np.testing.assert_array_equal(first.decision_function(toy_data.X), second.decision_function(toy_data.X))
    assert type(first.labeling_) is type(classifier)
    assert first.labeling_ is not classifier
    np.testing.assert_allclose(
        first.labeling_prob(toy_data.X),
        first.labeling_.predict_proba(toy_data.X.astype(np.float32))[:, 1],
    )


def test_a_fitted_one_is_used_as_it_is(toy_data):
    lent = LogisticRegression().fit(toy_data.X, toy_data.labeled)
    coefficients = lent.coef_.copy()
    assert fit(toy_data, labeling=lent).labeling_ is lent
    np.testing.assert_array_equal(lent.coef_, coefficients)
    ntc = unskew.make("ntc", **QUICK).fit(toy_data.X, toy_data.labeled)
    assert fit(toy_data, labeling=ntc).labeling_ is ntc.labeling_
    assert fit(toy_data, labeling=ntc.labeling_).labeling_ is ntc.labeling_
    # A clone of the ranker refits a classifier, as scikit-learn's clones do, but keeps a lent network.
    kept = clone(unskew.make("conf-auc", labeling=ntc.labeling_, **QUICK))
    np.testing.assert_array_equal(kept.labeling.predict_proba(toy_data.X), ntc.labeling_.predict_proba(toy_data.X))
    frozen = clone(unskew.make("conf-auc", labeling=FrozenEstimator(lent), **QUICK))
    new = toy.draw(200, random_state=1)
    frozen.fit(new.X, new.labeled, confidence=new.confidence)
    np.testing.assert_array_equal(frozen.labeling_.coef_, coefficients)


def test_a_classifier_fitted_on_a_data_frame_gets_its_column_names(toy_data):
    import pandas as pd

    frame = pd.DataFrame(toy_data.X, columns=["a", "b"])
    lent = LogisticRegression().fit(frame, toy_data.labeled)
    ranker = unskew.make("conf-auc", labeling=lent, **QUICK).fit(
        frame, toy_data.labeled, confidence=toy_data.confidence
    )
    np.testing.assert_allclose(ranker.labeling_prob(frame), lent.predict_proba(frame)[:, 1], rtol=1e-5)


@pytest.mark.parametrize("crossfit", [0, 2])
def test_a_classifier_may_choose_columns_by_their_names(crossfit, toy_data, monkeypatch):
    import pandas as pd

    frame = pd.DataFrame(toy_data.X, columns=["a", "b"])
    chooser = make_pipeline(ColumnTransformer([("scaled", StandardScaler(), ["b"])]), LogisticRegression())
    by_name = unskew.make("conf-auc", labeling=chooser, crossfit=crossfit, **QUICK)
    by_name.fit(frame, toy_data.labeled, confidence=toy_data.confidence)
    prob = by_name.labeling_prob(frame)
    np.testing.assert_array_equal(prob, by_name.labeling_prob(frame.assign(a=0.0)))
    assert list(by_name.labeling_.feature_names_in_) == ["a", "b"]
    by_name.fit(pl.DataFrame(toy_data.X, schema=["a", "b"]), toy_data.labeled, confidence=toy_data.confidence)
    np.testing.assert_array_equal(by_name.labeling_prob(frame), prob)
    monkeypatch.setitem(sys.modules, "pandas", None)  # as where it is not installed
    assert _data_frame(toy_data.X, ["a", "b"]).equals(pl.DataFrame(toy_data.X, schema=["a", "b"]))


class Memory(LogisticRegression):
    """A classifier that is sure of whatever row it was fitted with: in-sample it says 1, else 0.2."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.seen_ = {row.tobytes() for row in np.asarray(X)}
        return self

    def predict_proba(self, X):
        prob = np.array([1.0 if row.tobytes() in self.seen_ else 0.2 for row in np.asarray(X)])
        return np.column_stack([1 - prob, prob])


def test_crossfit_gives_out_of_fold_probabilities(toy_data):
    by_weights = {"labeling": Memory(), "probability": False}
    in_sample, honest = fit(toy_data, **by_weights), fit(toy_data, **by_weights, crossfit=3)
    assert isinstance(honest.labeling_, CrossFittedLabeling)
    assert len(honest.labeling_.folds) == 3
    confidence, alpha = toy_data.confidence[toy_data.labeled == 1], toy_data.labeled.mean()
    # In-sample the training weights are r / 1, out-of-fold all are r / 0.2: the prior follows.
    assert honest.prior_ == pytest.approx(alpha * confidence.mean() / 0.2)
    assert in_sample.prior_ < 0.5 * honest.prior_
    # No fold saw a held-out or new row, and each training row was seen by two of the three.
    new = toy_data.X + 1
    np.testing.assert_allclose(honest.labeling_.predict_proba(new)[:, 1], 0.2)


def test_crossfit_with_networks(toy_data):
    ranker = fit(toy_data, crossfit=2)
    folds = [fold.predict_proba(toy_data.X) for fold in ranker.labeling_.folds]
    np.testing.assert_allclose(ranker.labeling_.predict_proba(toy_data.X), np.mean(folds, axis=0))
    ntc = unskew.make("ntc", crossfit=2, **QUICK).fit(toy_data.X, toy_data.labeled)
    mean = ntc.labeling_.predict_proba(toy_data.X)[:, 1]
    np.testing.assert_allclose(ntc.decision_function(toy_data.X), np.log(mean / (1 - mean)), rtol=1e-6)


def test_crossfit_tells_what_it_cannot_do(toy_data, five_labeled):
    lent = LogisticRegression().fit(toy_data.X, toy_data.labeled)
    with pytest.raises(ValueError, match="crossfit=3 fits the labeling model anew .*, but the given one is fitted"):
        fit(toy_data, labeling=lent, crossfit=3)
    X, y, confidence = five_labeled
    with pytest.raises(
        TooFewLabeled, match="crossfit=3 needs at least 6 labeled instances for training, but there are 3"
    ):
        unskew.make("conf-auc", crossfit=3, **QUICK).fit(X, y, confidence=confidence)


def test_a_density_ratio_is_for_two_samples(toy_data):
    with pytest.raises(ValueError, match="ULSIF estimates a density ratio, which only scenario='two-sample' uses"):
        fit(toy_data, labeling=unskew.ULSIF())
    data = toy.draw_two_samples(60, 400, random_state=0)
    ranker = fit(data, labeling=unskew.ULSIF(), scenario="two-sample")
    np.testing.assert_allclose(
        ranker.labeling_prob(data.X), ranker.labeling_.density_ratio(data.X.astype(np.float32)), rtol=1e-6
    )


@pytest.mark.parametrize("name", ["ntc", "pg", "conf-auc"])
def test_density_ratios_are_cross_fitted(name, tmp_path):
    data = toy.draw_two_samples(60, 400, random_state=0)
    ranker = unskew.make(name, labeling=unskew.ULSIF(), scenario="two-sample", crossfit=2, **QUICK)
    ranker.fit(data.X, data.labeled, confidence=data.confidence)
    ratio = ranker.labeling_.density_ratio(data.X)
    np.testing.assert_allclose(ratio, np.mean([fold.density_ratio(data.X) for fold in ranker.labeling_.folds], axis=0))
    np.testing.assert_allclose(ranker.labeling_prob(data.X), ratio, rtol=1e-4)
    assert not hasattr(ranker.labeling_, "predict_proba")
    if name == "ntc":
        np.testing.assert_allclose(np.exp(ranker.decision_function(data.X)), ratio, rtol=1e-4)
    lent = unskew.make("no-conf", labeling=ranker.labeling_, scenario="two-sample", **QUICK)
    assert lent.fit(data.X, data.labeled).labeling_ is ranker.labeling_
    with pytest.raises(ValueError, match="fitted on 2 features, but X has 1"):
        lent.fit(data.X[:, :1], data.labeled)
    with pytest.raises(ValueError, match="estimates a density ratio, which only scenario='two-sample' uses"):
        lent.set_params(scenario="one-sample").fit(data.X, data.labeled)
    if name == "conf-auc":
        with pytest.warns(LabelingNotSavedWarning, match="a CrossFittedRatio"):
            ranker.save(tmp_path / "model")


def test_a_density_ratio_fitted_on_a_data_frame_gets_its_column_names():
    data = toy.draw_two_samples(60, 400, random_state=0)
    frame = frame_of(data)
    lent = unskew.ULSIF(random_state=0).fit(frame, data.labeled)
    for name in ("conf-auc", "ntc"):
        ranker = unskew.make(name, labeling=lent, scenario="two-sample", **QUICK)
        ranker.fit(frame, data.labeled, confidence=data.confidence)  # a warning would be an error here
        np.testing.assert_allclose(ranker.labeling_prob(frame), lent.density_ratio(frame), rtol=1e-4)
        assert np.isfinite(ranker.decision_function(frame)).all()
        with pytest.raises(ValueError, match=r"fitted on the columns \['a', 'b'\], but X has \['b', 'a'\]"):
            ranker.fit(frame[["b", "a"]], data.labeled, confidence=data.confidence)


def test_two_sample_weights_use_the_ratio_of_the_network():
    data = toy.draw_two_samples(400, 4000, random_state=0)
    ranker = unskew.make("conf-auc", scenario="two-sample", learning_rate=3e-3, max_epochs=40, random_state=0)
    ranker.fit(data.X, data.labeled, confidence=data.confidence)
    labeled = data.labeled == 1
    ratio = ranker.labeling_prob(data.X[labeled])
    assert np.corrcoef(np.log(ratio), np.log(data.labeling_prob[labeled]))[0, 1] > 0.9
    assert ranker.prior_ == pytest.approx(data.law.prior, rel=0.3)
    assert np.isnan(ranker.label_freq_)


def test_a_lent_model_must_know_the_same_columns_and_classes(toy_data):
    import pandas as pd

    frame = pd.DataFrame(toy_data.X, columns=["a", "b"])
    ntc = unskew.make("ntc", **QUICK).fit(frame[["b", "a"]], toy_data.labeled)
    for lent in (LogisticRegression().fit(frame[["b", "a"]], toy_data.labeled), ntc):
        with pytest.raises(ValueError, match=r"fitted on the columns \['b', 'a'\], but X has \['a', 'b'\]"):
            unskew.make("no-conf", labeling=lent, **QUICK).fit(frame, toy_data.labeled)
    for lent in (
        LogisticRegression().fit(toy_data.X[:, :1], toy_data.labeled),
        unskew.make("ntc", **QUICK).fit(toy_data.X[:, :1], toy_data.labeled),
    ):
        with pytest.raises(ValueError, match="fitted on 1 features, but X has 2"):
            fit(toy_data, labeling=lent)
    words = LogisticRegression().fit(toy_data.X, np.where(toy_data.labeled == 1, "labeled", "unlabeled"))
    with pytest.raises(ValueError, match=r"must know the classes 0 \(unlabeled\) and 1 \(labeled\)"):
        fit(toy_data, labeling=words)
    turned = LogisticRegression().fit(toy_data.X, toy_data.labeled)
    turned.classes_ = np.array([1, 0])
    prob = fit(toy_data, labeling=turned).labeling_prob(toy_data.X)
    np.testing.assert_allclose(prob, turned.predict_proba(toy_data.X.astype(np.float32))[:, 0])


def frame_of(data):
    import pandas as pd

    return pd.DataFrame(data.X, columns=["a", "b"])


@pytest.mark.parametrize("crossfit", [0, 2])
def test_a_lent_network_knows_its_columns(crossfit, toy_data, tmp_path):
    frame = frame_of(toy_data)
    ntc = unskew.make("ntc", crossfit=crossfit, **QUICK).fit(frame, toy_data.labeled)
    assert ntc.labeling is None
    ntc.save(tmp_path / "model")
    for lent in (ntc.labeling_, unskew.load(tmp_path / "model").labeling_, copy.deepcopy(ntc.labeling_)):
        assert list(lent.feature_names_in_) == ["a", "b"]
        assert unskew.make("no-conf", labeling=lent, **QUICK).fit(frame, toy_data.labeled).labeling_ is lent
        with pytest.raises(ValueError, match=r"fitted on the columns \['a', 'b'\], but X has \['b', 'a'\]"):
            unskew.make("no-conf", labeling=lent, **QUICK).fit(frame[["b", "a"]], toy_data.labeled)
        with pytest.raises(ValueError, match="fitted on 2 features, but X has 1"):
            unskew.make("no-conf", labeling=lent, **QUICK).fit(toy_data.X[:, :1], toy_data.labeled)


@pytest.mark.parametrize("crossfit", [0, 2])
def test_predict_proba_of_a_network_checks_columns_as_a_ranker_does(crossfit, toy_data):
    frame = frame_of(toy_data)
    labeling = unskew.make("ntc", crossfit=crossfit, **QUICK).fit(frame, toy_data.labeled).labeling_
    prob = labeling.predict_proba(frame)
    with pytest.raises(ValueError, match="Feature names must be in the same order as they were in fit"):
        labeling.predict_proba(frame[["b", "a"]])
    with pytest.raises(ValueError, match="feature names should match"):
        labeling.predict_proba(frame[["a"]])
    with pytest.warns(UserWarning, match="X does not have valid feature names, but LabelingNetwork was fitted with"):
        np.testing.assert_array_equal(labeling.predict_proba(toy_data.X), prob)
    labeling = unskew.make("ntc", crossfit=crossfit, **QUICK).fit(toy_data.X, toy_data.labeled).labeling_
    assert labeling.feature_names_in_ is None
    with pytest.raises(ValueError, match=r"rows of shape \(2,\), as in training, but they have shape \(1,\)"):
        labeling.predict_proba(toy_data.X[:, :1])
    with pytest.raises(ValueError, match=r"rows of shape \(2,\), .* but they have shape \(1, 1, 2\)"):
        labeling.predict_proba(toy_data.X[:, None, None])
    with pytest.raises(ValueError, match="must be finite"):
        labeling.predict_proba(np.full((1, 2), np.nan))


def test_names_of_a_network_are_as_many_as_its_features(toy_data, tmp_path):
    ranker = unskew.make("no-conf", **QUICK).fit(frame_of(toy_data), toy_data.labeled)
    with pytest.raises(ValueError, match="one feature name per feature, 2, but it got 1"):
        replace(ranker.labeling_, feature_names=("a",))
    ranker.save(tmp_path / "model")
    model = modelfile.read_model_file(tmp_path / "model")
    assert model.header["labeling"][0]["feature_names"] == ["a", "b"]
    del model.header["labeling"][0]["feature_names"]  # as older versions wrote it
    modelfile.write_model_file(tmp_path / "older", model)
    loaded = unskew.load(tmp_path / "older")
    assert loaded.labeling_.feature_names_in_ is None
    np.testing.assert_array_equal(loaded.labeling_prob(frame_of(toy_data)), ranker.labeling_prob(frame_of(toy_data)))
    model.header["labeling"][0]["feature_names"] = ["a", "b", "c"]
    modelfile.write_model_file(tmp_path / "wrong", model)
    with pytest.raises(ModelFileError, match="feature_names of a labeling model must be those of its ranker"):
        unskew.load(tmp_path / "wrong")


def test_images_have_no_names():
    rng = np.random.RandomState(0)
    images, y = rng.uniform(size=(40, 1, 4, 4)), np.repeat([1, 0], [10, 30])
    ntc = unskew.make("ntc", **{**QUICK, "max_epochs": 1}).fit(images, y)
    np.testing.assert_array_equal(ntc.labeling_.predict_proba(images)[:, 1], ntc.labeling_prob(images))
    with pytest.raises(ValueError, match=r"rows of shape \(1, 4, 4\)"):
        ntc.labeling_.predict_proba(images.reshape(40, -1))


def test_what_cannot_estimate_is_refused(toy_data):
    from sklearn.svm import LinearSVC

    with pytest.raises(ValueError, match="labeling of .* must be None, a classifier with predict_proba"):
        fit(toy_data, labeling=LinearSVC())
    with pytest.raises(ValueError, match="must have one, but this NonTraditional is not fitted"):
        fit(toy_data, labeling=unskew.make("ntc"))


@pytest.mark.parametrize("crossfit", [0, 2])
def test_sure_classifiers_give_finite_scores(crossfit, toy_data):
    from sklearn.tree import DecisionTreeClassifier

    ranker = unskew.make("ntc", labeling=DecisionTreeClassifier(), crossfit=crossfit, random_state=0)
    ranker.fit(toy_data.X, toy_data.labeled, confidence=toy_data.confidence)
    assert np.isfinite(ranker.decision_function(toy_data.X)).all()
    assert np.isfinite(ranker.threshold_)
    assert ranker.history_ == []


def test_ntc_ranks_by_a_density_ratio():
    data = toy.draw_two_samples(60, 400, random_state=0)
    ranker = unskew.make("ntc", scenario="two-sample", labeling=unskew.ULSIF(), random_state=0).fit(
        data.X, data.labeled
    )
    np.testing.assert_allclose(np.exp(ranker.decision_function(data.X)), ranker.labeling_prob(data.X))


def test_a_callable_that_hands_out_one_module_is_copied(toy_data):
    from torch import nn

    module = nn.Linear(2, 1)
    ranker = fit(toy_data, network=lambda shape: module)
    assert ranker.labeling_.network is not ranker.network_
    np.testing.assert_array_equal(
        ranker.decision_function(toy_data.X), fit(toy_data, network=lambda shape: module).decision_function(toy_data.X)
    )


def test_the_ratio_of_a_fold_goes_by_what_the_fold_was_fitted_on():
    """A constant classifier says the share of labeled instances that it saw: the ratio is one, whatever that share."""
    rows = np.arange(67)
    data = PUData(as_rows(np.zeros((67, 1), dtype=np.float32)), rows[:7], rows[7:])
    _, crossfitted, _ = fit_labeling(
        DummyClassifier(), data, data, Trainer(), np.random.RandomState(0), crossfit=3, scenario="two-sample"
    )
    np.testing.assert_allclose(crossfitted.density_ratio, 1)
    assert crossfitted.labeling_prob is None  # a ratio is not called a probability
