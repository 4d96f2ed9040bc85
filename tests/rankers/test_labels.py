"""Labels of every coding: which value means labeled, what predict gives back, and what is refused."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.base import clone

import unskew
from quick_fits import QUICK
from unskew.data.labels import check_labels, labeled_by, read_labels
from unskew.datasets import toy
from unskew.errors import TooFewLabeled
from unskew.metrics import cross_val_sar_auc, make_sar_scorer, sar_auc
from unskew.posterior import fit_posterior

DATA = toy.draw(200, random_state=0)
X, R, LABELED = DATA.X, DATA.confidence, DATA.labeled == 1


def coded(unlabeled, labeled, truth=LABELED):
    return np.where(truth, labeled, unlabeled)


def fit(y, **parameters):
    return unskew.make("conf-auc", **QUICK, **parameters).fit(X, y, confidence=R)


CODINGS = {
    "0 and 1": (coded(0, 1), None, [0, 1]),
    "truth": (LABELED, None, [False, True]),
    "-1 and 1": (coded(-1, 1), None, [-1, 1]),
    "1 and 2": (coded(1, 2).astype(np.uint8), None, [1, 2]),
    "floats": (coded(0.5, 1.5), None, [0.5, 1.5]),
    "the smaller means labeled": (coded(1, 0), 0, [1, 0]),
    "False means labeled": (~LABELED, False, [True, False]),
    "words": (coded("no", "yes"), "yes", ["no", "yes"]),
    "words as objects": (coded("yes", "no").astype(object), "no", ["yes", "no"]),
    "words of pandas": (pd.Series(coded("no", "yes"), dtype="string"), "yes", ["no", "yes"]),
    "words of polars": (pl.Series(coded("no", "yes")), "yes", ["no", "yes"]),
    "categories": (pd.Series(pd.Categorical(coded("no", "yes"))), "yes", ["no", "yes"]),
    "Int64": (pd.Series(coded(3, 4), dtype="Int64"), None, [3, 4]),
    "boolean": (pd.Series(LABELED, dtype="boolean"), None, [False, True]),
    "tensor": (torch.tensor(coded(-1, 1)), None, [-1, 1]),
}


@pytest.mark.parametrize("coding", CODINGS)
def test_every_coding_gives_the_same_scores_and_its_own_values_back(coding, tmp_path):
    y, pos_label, classes = CODINGS[coding]
    ranker, plain = fit(y, pos_label=pos_label), fit(coded(0, 1))
    np.testing.assert_array_equal(ranker.decision_function(X), plain.decision_function(X))
    assert ranker.classes_.tolist() == classes
    np.testing.assert_array_equal(ranker.predict(X), ranker.classes_[plain.predict(X)])
    truth = coded(*classes, DATA.y == 1)
    assert ranker.score(X, truth) == plain.score(X, DATA.y)
    ranker.save(tmp_path / "model")
    again = unskew.load(tmp_path / "model")
    assert again.classes_.tolist() == classes
    np.testing.assert_array_equal(again.predict(X), ranker.predict(X))
    assert again.score(X, truth) == ranker.score(X, truth)


@pytest.mark.parametrize("coding", CODINGS)
def test_validation_clones_and_estimates_read_the_same_coding(coding):
    y, pos_label, classes = CODINGS[coding]
    ranker = unskew.make("conf-auc", pos_label=pos_label, **QUICK)
    held_out = X, y, R
    found = clone(ranker).fit(X, y, confidence=R, validation=held_out).decision_function(X)
    plain = clone(ranker).set_params(pos_label=None)
    expected = clone(plain).fit(X, coded(0, 1), confidence=R, validation=(X, coded(0, 1), R)).decision_function(X)
    np.testing.assert_array_equal(found, expected)
    folds = {"n_folds": 2, "random_state": 0}
    assert cross_val_sar_auc(ranker, X, y, R, **folds) == cross_val_sar_auc(plain, X, coded(0, 1), R, **folds)
    scorer = make_sar_scorer()
    values = np.asarray(y) if coding != "tensor" else y.numpy()
    fitted = ranker.fit(X, y, confidence=R)
    assert scorer(fitted, X, values, confidence=R) == scorer(
        plain.fit(X, LABELED, confidence=R), X, LABELED, confidence=R
    )


def test_functions_without_a_ranker_take_two_numbers_too():
    score, prob = X[:, 0], DATA.labeling_prob
    assert sar_auc(coded(-1, 1), score, R, prob) == sar_auc(LABELED, score, R, prob)
    np.testing.assert_array_equal(fit_posterior(X, coded(1, 2), R).prob, fit_posterior(X, LABELED, R).prob)
    with pytest.raises(ValueError, match="or y == 'yes' instead of y"):
        fit_posterior(X, coded("no", "yes"), R)


@pytest.mark.parametrize(
    ("y", "pos_label", "error", "message"),
    [
        (coded("no", "yes"), "maybe", TooFewLabeled, "pos_label, 'maybe', but all 200 entries are 'no' and 'yes'"),
        (coded("no", "yes"), 1, TooFewLabeled, "pos_label, 1, but all 200 entries are 'no' and 'yes'"),
        (np.full(200, "yes"), "yes", ValueError, "but all are labeled"),
        (np.full(200, "no"), "yes", TooFewLabeled, "pos_label, 'yes', but all 200 entries are 'no'"),
        (coded(0, 1), 2, TooFewLabeled, "pos_label, 2, but all 200 entries are 0 and 1"),
        (np.arange(200) % 3, 1, ValueError, "Only binary .* has 3: 0, 1, 2"),
        (
            coded("no", "yes"),
            [1],
            ValueError,
            "pos_label of ConfidenceAUC must be a number, True or False, a word",
        ),
    ],
)
def test_labels_that_do_not_fit_are_told(y, pos_label, error, message):
    with pytest.raises(error, match=message):
        fit(y, pos_label=pos_label)


def test_later_labels_are_held_to_the_coding():
    ranker = fit(coded("no", "yes"), pos_label="yes")
    with pytest.raises(ValueError, match="in training, 'no' and 'yes', but 200 of 200 entries .*first: 0 at row 0"):
        ranker.score(X, np.zeros(200, int))
    with pytest.raises(ValueError, match=r"y of validation must hold .* 1 and 2, but \d+ of 200 .*\(first: 0 at row"):
        unskew.make("conf-auc", **QUICK).fit(X, coded(1, 2), confidence=R, validation=(X, coded(0, 1), R))
    with pytest.raises(ValueError, match="both must occur"):
        ranker.score(X, np.full(200, "no"))


def test_the_plain_coding_is_not_in_the_file(tmp_path):
    from unskew._support.modelfile import read_model_file

    fit(coded(0, 1)).save(tmp_path / "model")
    header = read_model_file(tmp_path / "model").header
    assert not {"classes", "schema"} & set(header)
    assert json.loads(json.dumps(header["parameters"]))["pos_label"] is None


def test_labels_as_they_are_read():
    labels = read_labels([3, 1, 3])
    assert labels.labeled.tolist() == [True, False, True]
    assert labels.classes.tolist() == [1, 3]
    assert check_labels(np.array(["b", "a"]), "a").tolist() == [False, True]
    assert labeled_by(np.array([1.0, 0.0]), np.array([False, True])).tolist() == [True, False]
