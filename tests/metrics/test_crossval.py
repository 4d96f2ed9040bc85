"""Cross-validation takes what `fit` takes, and tells what it cannot cut into folds."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import unskew
from pool_here import Here
from quick_fits import QUICK
from unskew.datasets import toy
from unskew.errors import GivenPriorWarning, LowReliabilityWarning, TooFewLabeled
from unskew.metrics import cross_val_sar_auc, out_of_fold, out_of_fold_labeling
from unskew.metrics.crossval import out_of_fold_score

DATA = toy.draw(200, random_state=0)
X, Y, R = DATA.X, DATA.labeled, DATA.confidence
RANKER = unskew.make("ntc", **{**QUICK, "max_epochs": 1})
OPTIONS = {"n_folds": 2, "random_state": 0, "labeling": DecisionTreeClassifier(min_samples_leaf=20)}


def honest(X=X, y=Y, confidence=R, **options):
    return out_of_fold(RANKER, X, y, confidence, **{**OPTIONS, **options})


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
def test_sparse_features_of_any_kind(kind):
    found = honest(X=getattr(sparse, f"{kind}_array")(X))
    np.testing.assert_allclose(found.score, honest().score)


def test_the_seed_reaches_a_classifier_inside_a_pipeline():
    forest = make_pipeline(StandardScaler(), RandomForestClassifier(5))
    first, second = (honest(labeling=forest).labeling_prob for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, honest(labeling=forest, random_state=1).labeling_prob)


@pytest.mark.parametrize(
    "y",
    [
        Y.astype(object),
        Y == 1,
        Y.astype(float),
        Y.tolist(),
        pd.Series(Y, dtype="Int64"),
        pd.Series(Y, index=range(1000, 1200)),
        torch.tensor(Y, dtype=torch.float32, requires_grad=True),
        Y[:, None],
    ],
    ids=["object", "bool", "float", "list", "nullable", "index", "tensor", "column"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_labels_of_any_type(y):
    expected, found = honest(), honest(y=y)
    np.testing.assert_array_equal(found.score, expected.score)
    np.testing.assert_array_equal(found.labeling_prob, expected.labeling_prob)
    cut = {"n_folds": 2, "random_state": 0}
    assert cross_val_sar_auc(RANKER, X, y, R, **cut) == cross_val_sar_auc(RANKER, X, Y, R, **cut)


def test_a_column_of_labels_is_told_as_in_fit():
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        honest(y=Y[:, None])


@pytest.mark.parametrize("tensor", [torch.tensor(X, requires_grad=True), torch.tensor(X).to_sparse()])
def test_tensors_as_features(tensor):
    np.testing.assert_array_equal(honest(X=tensor).score, honest().score)
    np.testing.assert_array_equal(honest(X=tensor).labeling_prob, honest().labeling_prob)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": X[:-1]}, "X must have one row per label, but X has 199 rows and y has 200 entries"),
        ({"X": np.r_[X, X]}, "but X has 400 rows and y has 200 entries"),
        ({"y": np.where(Y == 1, 1.0, np.nan)}, r"entries are missing \(first: nan at row"),
        ({"y": np.where(Y == 1, "yes", "no")}, "y must have two values, .* nothing says which one means labeled"),
        ({"y": np.stack([Y, Y], axis=1)}, "should be a 1d array"),
        ({"n_folds": "x"}, "n_folds must be a whole number, 2 or more, but it is 'x'"),
        ({"n_folds": 1}, "n_folds must be a whole number, 2 or more, but it is 1"),
        ({"n_folds": 2.0}, "but it is 2.0"),
        ({"n_folds": True}, "but it is True"),
        ({"labeling_prob": np.ones(199)}, r"labeling_prob must have one entry per row, 200 in all, but .* \(199,\)"),
    ],
)
def test_what_cannot_be_cross_validated_is_told(changes, message):
    with pytest.raises(ValueError, match=message):
        honest(**changes)


def test_more_folds_than_labels_allow():
    with pytest.raises(TooFewLabeled, match="150 folds need at least 300 labeled instances"):
        honest(n_folds=np.int64(150))


def test_the_labeling_alone_is_checked_in_the_same_way():
    with pytest.raises(ValueError, match="X has 199 rows and y has 200 entries"):
        out_of_fold_labeling(X[:-1], Y)
    with pytest.raises(ValueError, match="n_folds must be a whole number"):
        out_of_fold_labeling(X, Y, n_folds="x")


def test_features_must_be_in_memory(tmp_path):
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1]}), tmp_path / "x.parquet")
    rows = unskew.ParquetRows(tmp_path / "x.parquet")
    for use in (out_of_fold, cross_val_sar_auc):
        with pytest.raises(ValueError, match="needs all features in memory, .* but X is a ParquetRows. Pass X.take"):
            use(RANKER, rows, Y, R)
    np.testing.assert_array_equal(honest(X=rows.take(np.arange(len(rows)))).score, honest().score)


CUT = {"n_folds": 2, "random_state": 0}


def test_low_reliability_warns_once_not_per_fold():
    guessed = np.where(Y == 1, np.random.RandomState(0).uniform(0.1, 0.9, len(Y)), np.nan)
    with pytest.warns(LowReliabilityWarning, match="Use the intervals only") as caught:
        found = cross_val_sar_auc(RANKER, X, Y, guessed, **CUT)
    assert len(caught) == 1
    assert found.reliability < 0.6


@pytest.mark.parametrize("prior", [0.2, 0.8])
def test_a_given_prior_that_the_confidence_contradicts_is_told(prior):
    if prior < 0.5:  # warnings are errors here
        assert cross_val_sar_auc(RANKER, X, Y, R, prior=prior, **CUT).prior == pytest.approx(prior)
        return
    with pytest.warns(GivenPriorWarning, match="80 % of all rows are positive, as given; without that .* Check"):
        cross_val_sar_auc(RANKER, X, Y, R, prior=prior, **CUT)


def test_words_and_gaps_in_a_table_do_not_hinder_an_estimate():
    frame = pd.DataFrame({"a": np.where(np.arange(200) % 9 == 0, np.nan, X[:, 0]), "b": X[:, 1], "c": ["x", "y"] * 100})
    numbers = make_column_transformer(("passthrough", ["b"]))
    found = cross_val_sar_auc(make_pipeline(numbers, LogisticRegression()), frame, Y, R, **CUT)
    assert 0.5 < found.high <= 1


def test_an_infinite_number_is_not_a_word():
    from unskew.metrics._tables import complete_features

    table = np.array([[1.0, 2.0], [np.inf, 3.0]])
    with pytest.raises(ValueError, match="infinity"):
        complete_features(table)


def test_a_search_is_judged_as_what_it_searches():
    from sklearn.model_selection import GridSearchCV

    from unskew.metrics.crossval import _last_step

    search = GridSearchCV(make_pipeline(StandardScaler(), RANKER), {})
    assert _last_step(search) is RANKER


def test_workers_give_what_one_process_gives(toy_data):
    data = toy_data.X, toy_data.labeled, toy_data.confidence
    ranker = unskew.make("ntc", **QUICK)
    alone = out_of_fold_score(ranker, *data, n_folds=3, random_state=0, n_jobs=1)
    pool = Here()
    np.testing.assert_array_equal(alone, out_of_fold_score(ranker, *data, n_folds=3, random_state=0, workers=pool))
    assert len(pool.done) == 3
    found = cross_val_sar_auc(ranker, *data, n_folds=3, random_state=0, workers=pool)
    assert found.auc == cross_val_sar_auc(ranker, *data, n_folds=3, random_state=0, n_jobs=1).auc
