"""Bad input: each message says what must hold, what was found and where, and what to do."""

from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy import sparse
from sklearn.exceptions import NotFittedError

import unskew
from quick_fits import QUICK
from unskew.data.validation import plain_array
from unskew.errors import TooFewLabeled

X = np.random.RandomState(0).normal(size=(40, 3))
Y = np.r_[np.ones(8, int), np.zeros(32, int)]
TEXT = Y.astype(str)
R = np.where(Y == 1, 0.9, np.nan)


def fit(X=X, y=Y, confidence=R, **options):
    return unskew.make("conf-auc", **QUICK).fit(X, y, confidence=confidence, **options)


def changed(values, row, value):
    values = np.array(values, dtype=object if isinstance(value, str) else None)
    values[row] = value
    return values


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            changed(Y, 20, 2),
            r"Only binary classification is supported. The type of the target is multiclass. y must have two values, "
            r".* but it has 3: 0, 1, 2 \(the third, 2, first at row 20\). Give all unlabeled instances, known",
        ),
        (
            changed(np.where(Y, "yes", "no"), 20, "?"),
            r'it has 3: "\?", "no", "yes" \(the third, \'\?\', first at row 20',
        ),
        (
            np.where(Y == 1, "yes", "no"),
            r'y holds words \("no", "yes"\), and nothing says which one means labeled. Pass pos_label=\'yes\' to the',
        ),
        *[
            (text, r'y holds words \("0", "1"\), and nothing says which one means labeled. Pass pos_label=')
            for text in (TEXT, TEXT.astype(object), pd.Series(TEXT), pl.Series(TEXT), pd.Series(pd.Categorical(TEXT)))
        ],
        (changed(Y, 5, "1"), r"not both numbers and words. 1 of 40 entries are words \(first: '1' at row 5\)"),
        (
            np.array([*Y[:-1], datetime(2020, 1, 1)]),
            r"1 of 40 entries is no finite number \(first: datetime.* row 39\)",
        ),
        (np.full(40, 7), r"y must have unlabeled instances \(class 0\), but all are labeled \(n_samples=40\)"),
        (np.full(40, -1), r"y must have labeled instances \(class 1\), but all 40 entries are -1"),
        (np.zeros(40, int), r"y must have labeled instances \(class 1\), but all 40 entries are 0"),
        (np.ones(40, int), r"y must have unlabeled instances \(class 0\), but all are labeled \(n_samples=40\)"),
        (
            np.eye(40, dtype=int)[7],
            r"needs at least two labeled instances \(class 1\), but only one of 40 is labeled \(row 7\)",
        ),
        (Y[:-1], r"inconsistent numbers of samples: \[40, 39\]"),
        (
            np.where(Y == 1, 1.0, np.nan),
            r"Input y contains NaN. .* 32 of 40 entries are missing \(first: nan at row 8\).*write 0: y.fillna\(0\)",
        ),
        (pd.Series(Y, dtype="Int64").where(Y == 1), r"32 of 40 entries are missing \(first: (<NA>|nan) at row 8\)"),
        (pl.Series(Y == 1).replace(False, None), r"32 of 40 entries are missing \(first: None at row 8\)"),
        ([*Y[:-1], None], r"1 of 40 entries are missing \(first: None at row 39\)"),
        (None, "requires y to be passed"),
    ],
)
def test_labels(y, message):
    with pytest.raises(ValueError, match=message):
        fit(y=y)


def test_too_few_labeled_can_be_caught_by_its_class():
    with pytest.raises(TooFewLabeled):
        fit(y=np.zeros(40, int))


@pytest.mark.parametrize(
    "y",
    [
        Y.astype(bool),
        Y.astype(float),
        Y.tolist(),
        pd.Series(Y),
        pl.Series(Y),
        Y.astype(np.uint8),
        pd.Series(Y, dtype=object),
        pd.Series(Y == 1, dtype=object),
        pd.Series(Y, dtype="Int64"),
        pd.Series(Y, dtype="category"),
        pd.Series(Y == 1, dtype="boolean"),
        np.where(Y == 1, 1, -1),
        np.where(Y == 1, 2.5, 1.5),
        pd.Series(2 * Y + 3, dtype="Int64"),
        torch.tensor(Y, dtype=torch.bfloat16, requires_grad=True),
    ],
)
def test_labels_of_any_type(y):
    np.testing.assert_array_equal(fit(y=y).decision_function(X), fit().decision_function(X))


@pytest.mark.parametrize(
    ("confidence", "message"),
    [
        (changed(R, 3, np.nan), r"\[0, 1\] on every labeled row, but 1 of 8 do not \(first: missing at row 3\)"),
        (
            changed(R, 2, 1.5),
            r"1 of 8 do not \(first: 1.5 at row 2\). Scores on another scale may be mapped .*strictly increasing",
        ),
        (changed(R, 2, -0.1), r"first: -0.1 at row 2"),
        (changed(R, 2, np.inf), r"first: inf at row 2"),
        (
            changed(R, 4, "high"),
            r"must be a number on every labeled row, but it is 'high' at row 4. Map words to numbers",
        ),
        (np.zeros(40), r"above zero for some labeled row, but all 8 are 0"),
        (R[:10], r"one entry per row, 40 in all, but its shape is \(10,\)"),
        (R[:, None], r"but its shape is \(40, 1\)"),
        (R[Y == 1], r"one entry per row, 40 in all, but its shape is \(8,\). Entries of unlabeled rows are not read"),
    ],
)
def test_confidence(confidence, message):
    with pytest.raises(ValueError, match=message):
        fit(confidence=confidence)


def test_confidence_is_read_on_labeled_rows_only():
    odd = changed(R.astype(object), 20, "whatever")
    odd[21], odd[22] = None, 7.0
    np.testing.assert_array_equal(fit(confidence=odd).decision_function(X), fit().decision_function(X))
    tensor = torch.tensor(R, requires_grad=True)
    np.testing.assert_array_equal(fit(confidence=tensor).decision_function(X), fit().decision_function(X))


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (
            changed(X, (7, 1), np.nan),
            r"contains NaN: 1 entries, the first in column 1, row 7. Impute .* or pass a data frame",
        ),
        (changed(X, (9, 2), -np.inf), r"contains infinity \(-inf\): 1 entries, the first in column 2, row 9"),
        (changed(X, (9, 2), 1e300), r"contains too large for float32 .*column 2, row 9"),
        (pd.DataFrame(changed(X, (7, 1), np.inf), columns=list("abc")), r"first in column 'b', row 7. Clip infinite"),
        (
            pd.DataFrame(changed(changed(X, (7, 1), np.inf), (8, 2), np.nan), columns=list("abc")),
            r'column "b" must hold finite numbers, but 1 row of 40 holds an infinite one \(first: inf at row 7\)',
        ),
        (sparse.csr_matrix(changed(np.zeros((40, 3)), (6, 2), np.nan)), r"first in column 2, row 6"),
        (
            np.array([[each, "Rome"] for each in range(40)], dtype=object),
            r"numeric, but it is 'Rome' in column 1, row 0. Encode such columns first, .* in a data frame",
        ),
        (
            pl.DataFrame({"age": range(40), "city": ["Rome"] * 40}),
            r'at least one column must be usable .*"age": looks like an identifier.*"city": constant',
        ),
        (X + 0j, "Complex data not supported"),
        (X[:, 0], "Expected 2D array, got 1D array"),
        (X[:, :, None], "Found array with dim 3"),
        (X[:, :0], r"Found array with 0 feature\(s\)"),
        (X[:0], "inconsistent|0 sample"),
        (
            np.zeros((40, 0, 4, 4)),
            r"at least one channel, row and column of pixels, but X has the shape \(40, 0, 4, 4\)",
        ),
        (np.zeros((40, 1, 4, 0)), r"of pixels, but X has the shape \(40, 1, 4, 0\)"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_features(features, message):
    with pytest.raises(ValueError, match=message):
        fit(X=features)


DATES = pd.to_datetime(["2020-01-01", None] * 20)


@pytest.mark.parametrize(
    "features", [np.full((40, 3), np.timedelta64("NaT", "s")), [[np.datetime64("2020-01-01")]] * 40]
)
def test_dates_in_an_array_are_no_numbers(features):
    with pytest.raises(ValueError, match="must be numeric, but it holds dates or durations. Encode such columns first"):
        fit(X=features)


def test_dates_are_no_numbers_to_score_either():
    ranker = fit(X=pd.DataFrame({"t": X[:, 0]}))
    with pytest.raises(ValueError, match="must be numeric, but column 't' holds dates or durations"):
        ranker.decision_function(pd.DataFrame({"t": DATES}))


def test_what_is_neither_number_nor_text_is_named():
    days = np.array([[1.0, None], *[[1.0, datetime(2020, 1, 1).date()]] * 39], dtype=object)
    with pytest.raises(TypeError, match=r"it is datetime.date\(2020, 1, 1\) in column 1, row 1. Encode such columns"):
        fit(X=days)
    with pytest.raises(ValueError, match=r"it is 'x' in column 0, row 1"):
        fit(X=np.array([1, "x"] * 20, dtype=object))
    images = np.zeros((40, 1, 2, 2), dtype=object)
    images[3, 0, 1, 1] = "dark"
    with pytest.raises(ValueError, match=r"it is 'dark' in column \(0, 1, 1\), row 3"):
        fit(X=images)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": X[:, 0], "b": Y == 1, "c": pd.array(Y, dtype="Int64")}),
        pd.DataFrame({"a": X[:, 0], "b": pd.array(Y == 1, dtype="boolean"), "c": pd.array(Y, dtype="Float32")}),
        pd.DataFrame({"a": X[:, 0], "b": Y == 1, "c": Y}, dtype=object),
        pd.DataFrame({"a": X[:, 0], "b": (Y == 1).astype(np.uint8), "c": pd.Categorical(Y)}),
        pl.DataFrame({"a": X[:, 0], "b": Y == 1, "c": Y}),
    ],
)
def test_numbers_of_any_type_are_features(frame):
    plain = np.column_stack([X[:, 0], Y, Y])
    np.testing.assert_array_equal(fit(X=frame).decision_function(frame), fit(X=plain).decision_function(plain))


def test_torch_tensors_of_any_kind():
    coarse = torch.tensor(X, requires_grad=True).to(torch.bfloat16)
    plain = coarse.detach().float().numpy()
    expected = fit(X=plain).decision_function(plain)
    for tensor in (coarse, coarse.float(), coarse.detach().to_sparse(), torch.nn.Parameter(coarse.detach())):
        np.testing.assert_array_equal(fit(X=tensor).decision_function(tensor), expected)
    half = torch.tensor(X).half()
    np.testing.assert_array_equal(plain_array(half), X.astype(np.float16))
    assert plain_array(X) is X


def test_other_features_than_in_training():
    ranker = fit()
    with pytest.raises(ValueError, match="X has 2 features, but ConfidenceAUC is expecting 3 features"):
        ranker.decision_function(X[:, :2])
    with pytest.raises(ValueError, match=r"contains NaN: 1 entries, the first in column 0, row 1"):
        ranker.decision_function(changed(X, (1, 0), np.nan))
    frame = pd.DataFrame(X, columns=list("abc"))
    with pytest.raises(ValueError, match="feature names should match those that were passed during fit"):
        fit(X=frame).predict(frame[["b", "a", "c"]])


def test_unfitted_use(tmp_path):
    ranker = unskew.make("conf-auc")
    for use in (ranker.predict, ranker.decision_function, ranker.labeling_prob):
        with pytest.raises(NotFittedError, match="This ConfidenceAUC instance is not fitted yet"):
            use(X)
    with pytest.raises(NotFittedError):
        ranker.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"network": "mpl"},
            r"network of ConfidenceAUC must be one of .* or a function, but it is 'mpl'\. Did you mean 'mlp'\?",
        ),
        ({"scenario": "one_sample"}, r"but it is 'one_sample'\. Did you mean 'one-sample'\?"),
        ({"surrogate": "sigmod"}, r"Did you mean 'sigmoid'\?"),
        ({"max_epochs": 0}, r"max_epochs of ConfidenceAUC must be a whole number of at least 1 or 'auto', but it is 0"),
        ({"learning_rate": -1.0}, r"learning_rate .* must be a number above 0 and finite or 'auto', but it is -1"),
        ({"clip": 2}, r"clip .* must be a number above 0 and below 1, but it is 2"),
        ({"crossfit": 1}, r"crossfit .* must be 0 or a whole number of at least 2"),
        ({"validation_fraction": 1.0}, r"validation_fraction .* above 0 and below 1"),
        (
            {"labeling": "ntc"},
            r"labeling .* must be None, a classifier .*, a density ratio or a fitted ranker, but it is 'ntc'",
        ),
        ({"device": "gpu9"}, r"device must be one that torch has here, but it is 'gpu9'"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        unskew.make("conf-auc", **parameters).fit(X, Y, confidence=R)


def test_nearly_right_names():
    with pytest.raises(ValueError, match=r"there is no method 'confauc', only conf-auc, .* Did you mean 'conf-auc'\?"):
        unskew.make("confauc")
    with pytest.raises(
        TypeError, match=r"ConfidenceAUC has no parameter 'max_epoch', only .* Did you mean 'max_epochs'\?"
    ):
        unskew.make("conf-auc", max_epoch=3)
    with pytest.raises(ValueError, match=r"there is no data set 'digit', only .* Did you mean 'digits'\?"):
        unskew.datasets.load("digit")


@pytest.mark.parametrize(
    ("validation", "message"),
    [
        ((X,), r"validation must be a tuple \(X, y, confidence\) or \(X, y\), but it is a tuple of 1"),
        (7, r"but it is a int"),
        ((X[:, :2], Y, R), "X has 2 features"),
        ((X, Y[:5], R), r"y of validation must have one label per row, 40, but it has the shape \(5,\)"),
        ((X, None, R), r"one label per row, 40, but it has the shape \(\)"),
        ((X, Y), r"validation must have confidence too"),
        ((X, np.zeros(40, int), R), "y must have labeled instances"),
        ((X, np.where(Y == 1, 1.0, np.nan), R), r"32 of 40 entries are missing \(first: nan at row 8\)"),
        ((X, Y, changed(R, 0, 3.0)), r"first: 3 at row 0"),
    ],
)
def test_validation_data(validation, message):
    with pytest.raises(ValueError, match=message):
        fit(validation=validation)


def test_one_side_with_confidence_is_enough_for_the_prior():
    ranker = unskew.make("ntc", **QUICK).fit(X, Y, confidence=R, validation=(X, Y))
    assert 0 < ranker.prior_ <= 1


def test_cross_validation_tells_what_it_needs():
    from sklearn.pipeline import make_pipeline

    ranker = unskew.make("conf-auc", **QUICK)
    with pytest.raises(TypeError, match="must be a ranker of this package, but it is a Pipeline"):
        unskew.metrics.out_of_fold(make_pipeline(ranker), X, Y, R)
    with pytest.raises(ValueError, match=r"one entry per row, 40 in all, but its shape is \(\)"):
        unskew.metrics.cross_val_sar_auc(ranker, X, Y, None)


@pytest.mark.parametrize("network", ["mlp", "kernel"])
def test_features_near_the_limit_of_float32_give_no_score_that_is_no_number(network):
    ranker = unskew.make("conf-auc", **{**QUICK, "network": network, "max_epochs": 1}).fit(X, Y, confidence=R)
    wrong = X.copy()
    wrong[7] = -3.4028235e38
    for call in (ranker.decision_function, ranker.predict, ranker.labeling_prob):
        with pytest.raises(ValueError, match=r"1 of 40 scores are not \(first: nan at row 7\). Look for"):
            call(wrong)
