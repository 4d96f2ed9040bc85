"""The AUC estimated without negatives as scikit-learn's searches and cross-validation use it."""

from datetime import datetime, timedelta
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import unskew
from quick_fits import QUICK, fit
from unskew.datasets import toy
from unskew.errors import LowReliabilityWarning
from unskew.metrics import auc, estimate_ranking, make_sar_scorer, sar_auc
from unskew.metrics._tables import complete_features, is_table
from unskew.metrics.estimates import plug_in_auc
from unskew.metrics.scorer import MOST_KEPT
from unskew.posterior import fit_posterior
from unskew.tables import infer_features


@pytest.fixture
def metadata_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.filterwarnings("ignore::unskew.errors.NoEstimateWarning")  # of the fits: eleven labeled in each half
@pytest.mark.usefixtures("metadata_routing")
@pytest.mark.parametrize("name", unskew.methods())
def test_pipeline_grid_search_and_cross_validation_route_confidence(name, toy_data):
    pipeline = make_pipeline(StandardScaler(), unskew.make(name, **QUICK))
    step = pipeline.steps[-1][0]
    search = GridSearchCV(
        pipeline, {f"{step}__max_epochs": [1, 6]}, scoring=make_sar_scorer(), cv=2, error_score="raise"
    )
    search.fit(toy_data.X, toy_data.labeled, confidence=toy_data.confidence)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_[-1].prior_ > 0
    scores = cross_val_score(
        unskew.make(name, **QUICK), toy_data.X, toy_data.labeled, scoring=make_sar_scorer(), cv=2,
        params={"confidence": toy_data.confidence}, error_score="raise",
    )  # fmt: skip
    assert np.isfinite(scores).all()


def test_the_scorer_is_the_auc_by_the_posterior_of_the_held_out_rows(toy_data):
    ranker = fit("conf-auc", toy_data)
    new = toy.draw(400, random_state=3)
    score = ranker.decision_function(new.X)
    posterior = fit_posterior(new.X, new.labeled, new.confidence, random_state=0)
    scorer = make_sar_scorer()
    expected = estimate_ranking(score, posterior).auc
    assert scorer(ranker, new.X, new.labeled, confidence=new.confidence) == pytest.approx(expected)
    own = sar_auc(new.labeled, score, new.confidence, ranker.labeling_prob(new.X), clip=0.01).unclipped
    for lent in (ranker.labeling_, ranker):
        assert make_sar_scorer(labeling=lent)(ranker, new.X, new.labeled, confidence=new.confidence) == own
    with pytest.raises(ValueError, match=r"needs confidence, but none reached it. Turn metadata routing on"):
        scorer(ranker, new.X, new.labeled)
    with pytest.raises(TypeError, match="a StandardScaler has neither"):
        scorer(StandardScaler(), new.X, new.labeled, confidence=new.confidence)


def test_the_score_by_hand():
    """Eq. (P8): every pair of two rows, the first as far as it is positive and the second as far as it is not."""
    score, prob = np.array([3.0, 1.0, 2.0, 2.0]), np.array([0.9, 0.2, 0.5, 0.4])
    right = pairs = 0.0
    for i in range(4):
        for j in range(4):
            if i != j:
                pair = prob[i] * (1 - prob[j])
                pairs += pair
                right += pair * ((score[i] > score[j]) + (score[i] == score[j]) / 2)
    assert plug_in_auc(score, prob) == pytest.approx(right / pairs)


def test_the_scorer_judges_all_candidates_by_the_same_posterior(toy_data):
    """By labeling models of their own, a candidate that knows nothing can seem better than one that ranks well."""
    new = toy.draw(400, random_state=3)
    trained, not_trained = (fit("conf-auc", toy_data, max_epochs=epochs, learning_rate=0.05) for epochs in (40, 1))
    scorer, judged = make_sar_scorer(), (new.X, new.labeled)
    scores = [scorer(each, *judged, confidence=new.confidence) for each in (trained, not_trained)]
    true = [auc(new.y, each.decision_function(new.X)) for each in (trained, not_trained)]
    assert (scores[0] > scores[1]) == (true[0] > true[1])
    assert scores == pytest.approx(true, abs=0.1)
    other = fit("nnpu", toy_data, prior=0.2)  # has no labeling model, and needs none
    assert np.isfinite(scorer(other, *judged, confidence=new.confidence))
    plain = LogisticRegression().fit(toy_data.X, toy_data.labeled)
    assert np.isfinite(scorer(plain, *judged, confidence=new.confidence))


class ByTruth(ClassifierMixin, BaseEstimator):
    """Ranks by the true probability."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def decision_function(self, X):
        return toy.ToyLaw().posterior(X)


@pytest.mark.parametrize("seed", range(3))
def test_no_candidate_is_better_than_perfect(seed):
    """Weights from few labels gave estimates above 1."""
    new = toy.draw(120, random_state=seed)
    model = ByTruth().fit(new.X, new.labeled)
    assert 0.5 < make_sar_scorer()(model, new.X, new.labeled, confidence=new.confidence) <= 1


@pytest.mark.usefixtures("metadata_routing")
def test_low_reliability_is_said_once_in_a_search(toy_data):
    rng = np.random.RandomState(0)
    guessed = np.where(toy_data.labeled == 1, rng.uniform(0.1, 0.9, 300), np.nan)  # has nothing to do with the rows
    with pytest.warns(LowReliabilityWarning, match="can hardly be predicted from the other columns") as caught:
        cross_val_score(
            ByTruth(), toy_data.X, toy_data.labeled, scoring=make_sar_scorer(), cv=2, params={"confidence": guessed},
            error_score="raise",
        )  # fmt: skip
    assert len(caught) == 1


class ByFirstColumn(ClassifierMixin, BaseEstimator):
    """Ranks by its first column."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def decision_function(self, X):
        return X[:, 0]


def test_preprocessing_that_is_part_of_a_candidate_does_not_change_its_judge():
    """Where a candidate chooses columns, a posterior that sees only these would judge it by less than is known."""
    new, rng, scorer = toy.draw(1000, random_state=0), np.random.RandomState(0), make_sar_scorer()
    noise = rng.normal(0, 3, (1000, 1))
    changes = (lambda X: X), (lambda X: X[:, :1]), (lambda X: X[:, :1] + noise)
    whole, first, noisy = (
        scorer(
            make_pipeline(FunctionTransformer(change), ByFirstColumn()).fit(new.X, new.labeled), new.X, new.labeled,
            confidence=new.confidence,
        )
        for change in changes
    )  # fmt: skip
    assert whole == first
    assert noisy < first
    assert whole == pytest.approx(auc(new.y, new.X[:, 0]), abs=0.1)


@pytest.mark.parametrize("kind", ["pandas", "polars", "objects"])
def test_words_and_gaps_in_a_table_are_encoded_as_by_a_ranker(kind):
    columns = {"size": [1.5, np.nan, 3.0, 1.5], "place": ["b", "a", "b", "c"], "n": [1, 2, 3, 4]}
    tables = {
        "pandas": pd.DataFrame(columns).astype({"n": "Int64"}),
        "polars": pl.DataFrame(columns),
        "objects": np.array(list(columns.values()), dtype=object).T,
    }
    found = complete_features(tables[kind])
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, infer_features(pl.DataFrame(columns))[1], atol=1e-6)
    np.testing.assert_array_equal(found[:, 1:5], [[0, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def test_texts_are_no_table():
    assert not is_table(["some text", "another"])
    with pytest.raises(ValueError, match="X must be a table or images, .* but it is a ndarray. Turn it into a table"):
        complete_features(["some text", "another"])


DAYS = [datetime(2020, 1, 1), None, datetime(2020, 1, 3)]


@pytest.mark.parametrize("library", [pd, pl])
def test_dates_and_durations_in_a_table_are_counted(library):
    spans = [timedelta(seconds=2), timedelta(0), None]
    table = library.DataFrame({"day": DAYS, "span": spans, "n": [1, 2, 3], "place": ["b", "a", "b"]})
    found = complete_features(table).T
    np.testing.assert_allclose(found[:4], [[-1, 0, 1], [0, 1, 0], [1, -1, 0], [0, 0, 1]], atol=1e-5)


def test_dates_in_an_array_are_counted():
    days = np.array([["2020-01-01"], ["NaT"], ["2020-01-03"]], dtype="datetime64[D]")
    day, no_day = complete_features(days).T
    assert day[2] - day[0] == 2
    assert day[1] == (day[0] + day[2]) / 2
    np.testing.assert_array_equal(no_day, [0, 1, 0])


def test_a_column_of_dates_that_a_candidate_leaves_out_does_not_break_its_score(toy_data):
    frame = pd.DataFrame(toy_data.X, columns=["a", "b"]).assign(day=pd.to_datetime(DAYS * 100))
    model = make_pipeline(FunctionTransformer(lambda X: X[["a", "b"]]), LogisticRegression())
    model.fit(frame, toy_data.labeled)
    assert np.isfinite(make_sar_scorer()(model, frame, toy_data.labeled, confidence=toy_data.confidence))


@pytest.mark.filterwarnings("ignore::unskew.errors.LowReliabilityWarning")  # two words are little to learn from
def test_texts_are_scored_by_what_the_candidate_makes_of_them(toy_data):
    texts = [" ".join("yes" if value > 0 else "no" for value in row) for row in toy_data.X]
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, toy_data.labeled)
    assert np.isfinite(make_sar_scorer()(model, texts, toy_data.labeled, confidence=toy_data.confidence))


@pytest.mark.filterwarnings("ignore::unskew.errors.NoEstimateWarning", "ignore::unskew.errors.LowReliabilityWarning")
@pytest.mark.usefixtures("metadata_routing")
def test_searches_and_pipelines_in_each_other_are_scored(toy_data):
    scorer, nested = make_sar_scorer(), make_pipeline(make_pipeline(StandardScaler(), unskew.make("conf-auc", **QUICK)))
    search = GridSearchCV(unskew.make("conf-auc", **QUICK), {"clip": [0.01, 0.1]}, scoring=scorer, cv=2)
    for candidate in (nested, search):
        scores = cross_val_score(
            candidate, toy_data.X, toy_data.labeled, scoring=scorer, cv=2, params={"confidence": toy_data.confidence},
            error_score="raise",
        )  # fmt: skip
        assert np.isfinite(scores).all()


@pytest.fixture
def asked(monkeypatch):
    """Rows that a posterior was learned from; in its place stands one that knows the first column."""
    rows = []

    def learn(X, y, confidence, **options):
        rows.append(X)
        prob = 0.1 + 0.5 * (X[:, 0] > 0)
        return SimpleNamespace(prob=prob, everything=np.ones(len(X), bool), reliability=1.0, confidence_varies=True)

    monkeypatch.setattr("unskew.metrics.scorer.fit_posterior", learn)
    monkeypatch.setattr("unskew.metrics.scorer._judgements", {})
    return rows


@pytest.mark.usefixtures("metadata_routing")
def test_the_scorer_learns_a_posterior_once_for_each_fold_of_a_search(toy_data, asked):
    X = toy_data.X.astype(np.float32)
    search = GridSearchCV(
        unskew.make("conf-auc", **QUICK), {"max_epochs": [1, 2, 6]}, scoring=make_sar_scorer(), cv=2, refit=False
    )
    search.fit(X, toy_data.labeled, confidence=toy_data.confidence)
    assert len(asked) == 2
    # Other features, labels or confidence are other rows.
    ranker, scorer = fit("conf-auc", toy_data), make_sar_scorer()
    for sign in (1, -1):
        for y in (toy_data.labeled, toy_data.labeled[::-1]):
            for sure in (0.5, 0.6, 0.6):
                scorer(ranker, sign * toy_data.X, y, confidence=np.full(len(X), sure))
    assert len(asked) == 2 + 8


def test_the_scorer_keeps_only_the_last_answers(toy_data, asked):
    from unskew.metrics.scorer import _judgements as kept

    ranker, scorer = fit("conf-auc", toy_data), make_sar_scorer()
    keys = []
    for shift in range(MOST_KEPT + 2):
        scorer(ranker, toy_data.X + shift, toy_data.labeled, confidence=toy_data.confidence)
        keys.append(list(kept)[-1])
    assert len(set(keys)) == MOST_KEPT + 2 == len(asked)
    assert list(kept) == keys[2:]


def test_the_scorer_takes_the_scenario_of_what_it_scores(toy_data):
    ranker = fit("conf-auc", toy_data, scenario="two-sample")
    judged = ranker, toy_data.X, toy_data.labeled
    score = make_sar_scorer()(*judged, confidence=toy_data.confidence)
    assert score == make_sar_scorer(scenario="two-sample")(*judged, confidence=toy_data.confidence)
    with pytest.raises(ValueError, match="must have the same scenario, but the scorer's is 'one-sample'"):
        make_sar_scorer(scenario="one-sample")(*judged, confidence=toy_data.confidence)
    with pytest.raises(ValueError, match="labeling must be None in the two-sample scenario"):
        make_sar_scorer(labeling=ranker)(*judged, confidence=toy_data.confidence)


@pytest.mark.parametrize("wrong", [{"clip": 5}, {"clip": "x"}, {"clip": -1}, {"labeling": "x"}, {"scenario": "three"}])
def test_a_wrong_scorer_is_refused_when_it_is_made(wrong):
    with pytest.raises((TypeError, ValueError), match=f"{next(iter(wrong))} must be"):
        make_sar_scorer(**wrong)
