"""Boosted trees in the place of a network, through the rankers."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import unskew
from unskew._support.modelfile import read_model_file, write_model_file
from unskew.data.rows import as_rows
from unskew.datasets import toy
from unskew.errors import MissingExtra, ModelFileError
from unskew.learning.boosted_trees import BoostedTrees
from unskew.rankers.labeling import CrossFittedLabeling, LabelingNetwork

pytest.importorskip("lightgbm")

TREES = {"network": "trees", "max_epochs": 30, "learning_rate": 0.2, "random_state": 0}
GROWING = ["conf-auc", "no-conf", "ntc", "nnpu", "puauc", "pusb", "pg", "pconf", "npu", "conf-fit"]


@pytest.fixture(scope="module")
def data():
    return toy.draw(900, random_state=0)


def fit(data, name="conf-auc", **parameters):
    settings = {**TREES, "probability": False, **parameters}
    settings |= {"mixings": (0.3, 0.7)} if name == "npu" else {}
    settings |= {"prior": 0.4} if name in ("nnpu", "pusb", "npu") else {}
    return unskew.make(name, **settings).fit(data.X, data.labeled, confidence=data.confidence)


@pytest.fixture(scope="module")
def fitted(data):
    return fit(data, probability=True)


@pytest.mark.parametrize("name", GROWING)
def test_each_method_ranks_by_trees_and_comes_back_from_its_file(name, data, tmp_path):
    ranker, other = fit(data, name), toy.draw(1500, random_state=1)
    assert ranker.score(other.X, other.y) > 0.75
    assert len(ranker.history_) > 5
    assert 0 <= ranker.best_epoch_ < len(ranker.history_)
    ranker.save(tmp_path / "model")
    loaded = unskew.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(other.X), ranker.decision_function(other.X))
    if hasattr(ranker, "labeling_"):
        np.testing.assert_array_equal(loaded.labeling_prob(other.X), ranker.labeling_prob(other.X))


@pytest.mark.parametrize("name", ["lbe", "sar-em", "conf-joint"])
def test_methods_that_go_on_from_a_network_refuse_trees(name, data):
    with pytest.raises(ValueError, match="trains two networks in turns.*Use network='mlp', or a method that can grow"):
        fit(data, name)


def test_trees_find_an_interaction():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(3000, 4))
    logit = 4 * np.sign(X[:, 0] * X[:, 1]) * np.minimum(np.abs(X[:, 0] * X[:, 1]), 1) - 1
    probability = 1 / (1 + np.exp(-logit))
    y = rng.uniform(size=3000) < probability
    labeled = (y & (rng.uniform(size=3000) < np.where(X[:, 2] > 0, 0.5, 0.1))).astype(int)
    ranker = unskew.make("conf-auc", network="trees", probability=False, random_state=0)
    assert ranker.fit(X, labeled, confidence=probability).score(X, y) > 0.8
    assert ranker.max_epochs_ == 200
    assert ranker.learning_rate_ == 0.05


def test_the_same_seed_gives_the_same_trees(data, fitted):
    again, copy = fit(data, probability=True), pickle.loads(pickle.dumps(fitted))
    scores = fitted.decision_function(data.X)
    np.testing.assert_array_equal(again.decision_function(data.X), scores)
    np.testing.assert_array_equal(copy.decision_function(data.X), scores)
    other = fit(data, random_state=1)
    assert not np.array_equal(other.decision_function(data.X), scores)
    assert clone(fitted).network == "trees"


def test_the_labeling_model_is_cross_fitted_by_default(data, fitted):
    assert isinstance(fitted.labeling_, CrossFittedLabeling)
    assert len(fitted.labeling_.folds) == 5
    assert all(isinstance(fold.network, BoostedTrees) for fold in fitted.labeling_.folds)
    assert max(len(tree.leaf_value) for fold in fitted.labeling_.folds for tree in fold.network.trees()) == 7
    assert len(fit(data, crossfit=2).labeling_.folds) == 2
    assert fitted.predict_proba(data.X).shape == (900, 2)


def test_few_labels_have_fewer_folds(five_labeled):
    X, y, confidence = five_labeled
    ranker = unskew.make("conf-auc", **TREES).fit(X, y, confidence=confidence, validation=(X, y, confidence))
    assert len(ranker.labeling_.folds) == 2
    ranker = unskew.make("no-conf", **TREES).fit(X[2:], y[2:], validation=(X, y))
    assert isinstance(ranker.labeling_, LabelingNetwork)


def test_no_fold_chooses_its_rounds_by_rows_that_it_predicts():
    from unskew.data.records import Epoch
    from unskew.rankers._labeling_folds import with_rounds_of_others

    def fold(*risks):
        trees = fit(toy.draw(300, random_state=0), max_epochs=4).network_
        history = [Epoch(number, 0.0, risk) for number, risk in enumerate(risks)]
        return LabelingNetwork(trees, "trees", (2,), history=history)

    found = with_rounds_of_others([fold(0, 9, 9, 9), fold(9, 0, 9, 9), fold(9, 9, 9, 0)])
    assert found[0].best_epoch == 1
    assert found[1].best_epoch == 0
    assert found[2].best_epoch in (0, 1)
    assert len(found[1].network.trees()) == 1


def test_missing_values_reach_the_trees():
    data = toy.draw(900, random_state=0)
    X = data.X.astype(np.float32)
    X[::7, 0] = np.nan
    rows, others = as_rows(X), as_rows(data.X)  # sources are checked where they are read
    rows.columns = others.columns = ["a", "b"]
    ranker = unskew.make("conf-auc", **TREES).fit(rows, data.labeled, confidence=data.confidence)
    assert np.isfinite(ranker.decision_function(rows)).all()
    assert np.isfinite(ranker.predict_proba(rows)).all()
    full = unskew.make("conf-auc", **TREES).fit(others, data.labeled, confidence=data.confidence)
    assert np.isfinite(full.predict_proba(rows)).all()  # where none was missing in training, it is the mean
    assert np.isfinite(full.decision_function(rows)).all()


def test_files_of_earlier_versions_have_no_probability_of_missing_values(fitted, tmp_path):
    path = tmp_path / "model"
    fitted.save(path)
    model = read_model_file(path)
    arrays = {name: each for name, each in model.arrays.items() if not name.endswith((".filled", ".marked"))}
    write_model_file(path, type(model)(model.header, arrays))
    again, rows = unskew.load(path), toy.draw(20, random_state=1).X
    np.testing.assert_array_equal(again.predict_proba(rows), fitted.predict_proba(rows))
    rows[3, 0] = np.nan
    with pytest.raises(ValueError, match="come from a file of an earlier version.*no value of X may be missing"):
        again.predict_proba(rows)


def test_who_takes_missing_values():
    def takes(name, **parameters):
        return unskew.make(name, **{"network": "trees", **parameters}).takes_missing

    assert all(takes(name) for name in GROWING)
    assert all(takes(name) for name in ("auto", "conf-fit", "conf-gp", "conf-reg", "ntc-linear"))
    assert not any(takes(name) for name in ("lbe", "sar-em", "conf-joint"))
    assert not any(takes(name, network="mlp") for name in ("conf-auc", "auto", "conf-gp"))
    assert not takes("conf-auc", labeling=LogisticRegression())
    assert takes("conf-auc", labeling=HistGradientBoostingClassifier())
    assert not takes("conf-auc", labeling=unskew.make("ntc"))
    assert takes("conf-auc", labeling=unskew.make("ntc", network="trees"))


def test_auto_uses_trees_where_it_can(tmp_path):
    data = toy.draw(300, random_state=0)
    ranker = unskew.make("auto", ensemble=2, **TREES).fit(data.X, data.labeled, confidence=data.confidence)
    networks = {each.ranker.name: each.ranker.network for each in ranker.members_}
    assert networks["conf-auc"] == networks["conf-fit"] == "trees"
    assert networks["conf-joint"] == "mlp"
    ranker.save(tmp_path / "model")
    loaded = unskew.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(data.X), ranker.decision_function(data.X))


def test_auto_leaves_out_what_takes_no_missing_values(tmp_path):
    data = toy.draw(300, random_state=0)
    X = data.X.copy()
    X[::9, 1] = np.nan
    ranker = unskew.make("auto", ensemble=2, **TREES).fit(X, data.labeled, confidence=data.confidence)
    assert {part.method for part in ranker.parts_} == {"conf-gp", "conf-reg", "conf-auc", "conf-fit", "ntc-linear"}
    assert ranker.takes_missing
    assert ranker.score(X, data.y) > 0.85
    ranker.save(tmp_path / "model")
    loaded = unskew.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(X), ranker.decision_function(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), ranker.predict_proba(X))
    full = unskew.make("auto", ensemble=2, **TREES).fit(data.X, data.labeled, confidence=data.confidence)
    with pytest.raises(ValueError, match="must be finite, but it contains NaN"):  # there it has a network
        full.decision_function(X)


def shops(n, seed, n_kinds=40):
    """A frame whose posterior depends on a word of many values, with noise in their order."""
    rng = np.random.RandomState(seed)
    kind, size = rng.randint(n_kinds, size=n), rng.normal(size=n)
    logit = 2.5 * np.sin(2.4 * kind) + 0.5 * size - 0.5
    probability = 1 / (1 + np.exp(-logit))
    labeled = (rng.uniform(size=n) < probability * 0.4).astype(int)
    words = [f"shop {each}" if each else None for each in kind]
    return pd.DataFrame({"size": size, "shop": words, "open": kind % 2 == 0}), labeled, probability


@pytest.mark.parametrize("name", ["conf-auc", "conf-fit"])
def test_trees_split_by_sets_of_categories(name, tmp_path):
    X, labeled, probability = shops(1500, 0)
    ranker = unskew.make(name, **TREES).fit(X, labeled, confidence=probability)
    trees = ranker.network_.trees()
    assert max(len(members) for tree in trees for _, members in tree.sets()) > 3
    used = {member for tree in trees for _, members in tree.sets() for member in members}
    assert {ranker.schema_.feature_columns[each] for each in used} == {"shop"}
    ranker.save(tmp_path / "model")
    loaded = unskew.load(tmp_path / "model")
    new, _, truth = shops(400, 1)
    new.loc[:5, "shop"] = "a shop of which nobody has heard"
    np.testing.assert_array_equal(loaded.decision_function(new), ranker.decision_function(new))
    assert unskew.metrics.auc((truth > 0.5)[6:], ranker.decision_function(new)[6:]) > 0.85
    together = unskew.make(name, ensemble=2, **TREES).fit(X, labeled, confidence=probability)
    assert any(len(tree.member) for each in together.members_ for tree in each.ranker.network_.trees())


def test_ensembles_searches_tables_and_images(data):
    ranker = fit(data, ensemble=2)
    assert len(ranker.members_) == 2
    search = GridSearchCV(unskew.make("puauc", **TREES), {"learning_rate": [0.1, 0.3]}, cv=2)
    assert search.fit(data.X, data.labeled).best_params_["learning_rate"] in (0.1, 0.3)
    images = data.X[:, :2].reshape(-1, 1, 1, 2)
    made = unskew.make("no-conf", **TREES)
    scores = made.fit(images, data.labeled).decision_function(images)
    by_table = clone(made).fit(sparse.csr_matrix(data.X[:, :2]), data.labeled)
    np.testing.assert_allclose(by_table.decision_function(data.X[:, :2]), scores, atol=1e-5)


def test_large_columns_need_no_scaling(data):
    large = data.X.copy()
    large[:, 0] *= 2.0**20  # warnings are errors here
    ranker = unskew.make("no-conf", **TREES)
    first, second = (clone(ranker).fit(X, data.labeled).decision_function(X) for X in (data.X, large))
    np.testing.assert_allclose(first, second, atol=1e-5)


def test_without_lightgbm_models_are_loaded_but_not_fitted(data, fitted, tmp_path, monkeypatch):
    fitted.save(tmp_path / "model")
    monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
    loaded = unskew.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(data.X), fitted.decision_function(data.X))
    with pytest.raises(MissingExtra, match=r"pip install 'unskew\[trees\]'"):
        fit(data)


def cycle(arrays):
    arrays["network.left_child"][0] = 0


def far_feature(arrays):
    arrays["labeling3.split_feature"][-1] = 10**6


def not_finite(arrays):
    arrays["network.leaf_value"][2] = np.nan


def shorter(arrays):
    arrays["labeling0.threshold"] = arrays["labeling0.threshold"][:-1]


def other_type(arrays):
    arrays["network.first_node"] = arrays["network.first_node"].astype(np.float32)


def no_start(arrays):
    del arrays["network.start"]


@pytest.mark.parametrize("damage", [cycle, far_feature, not_finite, shorter, other_type, no_start])
def test_a_file_with_damaged_trees_is_refused_by_name(damage, fitted, tmp_path):
    path = tmp_path / "model.unskew"
    fitted.save(path)
    model = read_model_file(path)
    arrays = {name: value.copy() for name, value in model.arrays.items()}
    damage(arrays)
    write_model_file(path, type(model)(model.header, arrays))
    with pytest.raises(ModelFileError, match=r"model.unskew must hold .* the arrays of boosted trees must be"):
        unskew.load(path)
