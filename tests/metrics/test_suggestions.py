"""Which rows to label next: against brute force, the truth of the toy law, and the words of messages."""

import copy
import dataclasses

import numpy as np
import pytest
from scipy.special import expit
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import unskew
from unskew.errors import LowReliabilityWarning
from unskew.metrics import suggestions
from unskew.metrics._label_design import choose_rows, share_of_likes
from unskew.metrics.estimates import plug_in_auc
from unskew.metrics.suggestions import ESTIMATE, GAP, suggest
from unskew.posterior import offset_for


@pytest.fixture(scope="module")
def drawn():
    return unskew.datasets.toy.draw(1500, random_state=3)


@pytest.fixture(scope="module")
def fitted(drawn):
    return unskew.make("conf-gp").fit(drawn.X, drawn.labeled, confidence=drawn.confidence)


def small_design(seed):
    rng = np.random.RandomState(seed)
    columns, root = rng.normal(size=(30, 4)), rng.normal(size=(4, 4))
    return columns, root @ root.T, rng.normal(size=(4, 2)), rng.uniform(0.1, 2.0, 30)


def after_label(covariance, row, variance):
    """Covariance of the coefficients of a linear regression with one more observation."""
    return np.linalg.inv(np.linalg.inv(covariance) + np.outer(row, row) / variance)


@pytest.mark.parametrize("seed", range(3))
def test_eq_s1_chooses_as_trying_every_row_does(seed):
    columns, covariance, slopes, variance = small_design(seed)
    allowed = np.arange(5, 30)
    whole = [c @ covariance @ c for c in slopes.T]

    def left_under(changed):
        return np.mean([c @ changed @ c / before for c, before in zip(slopes.T, whole, strict=True)])

    found = choose_rows(columns, covariance, slopes, variance, allowed, 6)
    free = list(allowed)
    for row, share in zip(found.rows.tolist(), found.left.tolist(), strict=True):
        tried = {each: left_under(after_label(covariance, columns[each], variance[each])) for each in free}
        assert row == min(tried, key=tried.get)
        assert share == pytest.approx(tried[row])
        covariance = after_label(covariance, columns[row], variance[row])
        free.remove(row)


def test_likes_are_rows_whose_errors_are_correlated():
    columns, covariance, _, _ = small_design(0)
    full = columns @ covariance @ columns.T
    deviation = np.sqrt(np.diag(full))
    expected = [np.mean([full[i, j] / deviation[i] / deviation[j] > 0.7 for j in range(30)]) for i in (2, 9)]
    assert share_of_likes(columns, covariance, np.array([2, 9])) == pytest.approx(expected)


def test_suggested_rows_are_unlabeled_likely_different_and_always_the_same(drawn, fitted):
    found = suggest(fitted, drawn.X, 40, labeled=drawn.labeled)
    assert len(set(found.rows.tolist())) == 40
    assert not drawn.labeled[found.rows].any()
    assert found.n_considered == 1500
    probability = fitted.predict_proba(drawn.X)[:, 1]
    assert probability[found.rows].min() >= probability.mean() / 2
    assert (np.diff(found.left) < 0).all()
    assert 0 < found.left[-1] < 1
    again = suggest(fitted, drawn.X, 40, labeled=drawn.labeled == 1)
    assert found.rows.tolist() == again.rows.tolist()
    assert found.reasons == again.reasons


def test_gaps_are_where_the_law_labels_rarely(drawn, fitted):
    found = suggest(fitted, drawn.X, 40, labeled=drawn.labeled)
    propensity = drawn.law.propensity(drawn.X[found.rows])
    gap = np.array(found.kinds) == GAP
    assert gap.any()
    assert not gap.all()
    assert propensity[gap].max() < drawn.law.label_freq
    assert propensity[gap].mean() < propensity[~gap].mean() - 0.1
    for kind, reason in zip(found.kinds, found.reasons, strict=True):
        assert reason.startswith({GAP: "Positives like it are rarely labeled", ESTIMATE: "The model is unsure"}[kind])


def test_of_a_large_table_some_rows_are_looked_at(drawn, fitted, monkeypatch):
    monkeypatch.setattr(suggestions, "MOST_ROWS", 200)
    found = [suggest(fitted, drawn.X, 20, labeled=drawn.labeled, random_state=seed) for seed in (0, 0, 1)]
    assert [each.n_considered for each in found] == [200] * 3
    assert found[0].rows.tolist() == found[1].rows.tolist() != found[2].rows.tolist()
    assert not any(drawn.labeled[each.rows].any() for each in found)
    everything = suggest(fitted, drawn.X, 300, labeled=drawn.labeled)
    assert len(set(everything.rows.tolist())) == 300


def test_a_model_file_suggests_the_same(drawn, tmp_path):
    ranker = unskew.make("ntc-linear").fit(drawn.X, drawn.labeled, confidence=drawn.confidence)
    ranker.save(tmp_path / "model.unskew")
    again = unskew.load(tmp_path / "model.unskew")
    assert suggest(again, drawn.X, 10).rows.tolist() == suggest(ranker, drawn.X, 10).rows.tolist()


def test_two_samples_have_no_gaps():
    drawn = unskew.datasets.toy.draw_two_samples(80, 600, random_state=0)
    ranker = unskew.make("conf-gp", scenario="two-sample").fit(drawn.X, drawn.labeled, confidence=drawn.confidence)
    assert set(suggest(ranker, drawn.X, 10, labeled=drawn.labeled).kinds) == {ESTIMATE}


def test_a_known_share_of_positives_needs_no_label(drawn):
    """The first choice takes most from the variance of the AUC, the mean probability held."""
    ranker = unskew.make("conf-gp", prior=0.2).fit(drawn.X, drawn.labeled, confidence=drawn.confidence)
    found = suggest(ranker, drawn.X, 5, labeled=drawn.labeled)
    model = ranker.posterior_
    columns = model.columns(drawn.X.astype(np.float32).astype(np.float64))  # ranks see which values are equal
    covariance = model.errors.covariance
    score = ranker.decision_function(drawn.X)

    def auc_at(change):
        f = columns @ (model.coefficients[:, 0] + change)
        logits = f / np.sqrt(1 + np.pi * model.unseen[0] / 8)
        return plug_in_auc(score, expit(logits + offset_for(0.2, logits)))

    step = 1e-4
    slope = np.array([auc_at(step * each) - auc_at(-step * each) for each in np.eye(columns.shape[1])]) / (2 * step)
    f = columns @ model.coefficients[:, 0]
    variance = np.sum((columns @ covariance) * columns, axis=1) + model.variance_of_confidence(f)
    gain = (columns @ covariance @ slope) ** 2 / variance
    probability = ranker.predict_proba(drawn.X)[:, 1]
    gain[(drawn.labeled == 1) | (probability < probability.mean() / 2)] = 0
    assert found.rows[0] == np.argmax(gain)
    assert found.left[0] == pytest.approx(1 - gain.max() / (slope @ covariance @ slope), abs=1e-3)


def test_where_the_confidence_says_little_there_is_a_warning(drawn):
    rng = np.random.RandomState(0)
    chance = np.where(drawn.labeled == 1, rng.uniform(size=1500), np.nan)
    ranker = unskew.make("conf-gp").fit(drawn.X, drawn.labeled, confidence=chance)
    with pytest.warns(LowReliabilityWarning, match="can hardly be predicted .* label some rows that are drawn at rand"):
        suggest(ranker, drawn.X, 5, labeled=drawn.labeled)


def test_words_and_missing_values_are_taken_as_fit_takes_them(drawn):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"first": drawn.X[:, 0], "side": np.where(drawn.X[:, 1] > 0, "up", "down")})
    ranker = unskew.make("conf-gp").fit(frame, drawn.labeled, confidence=drawn.confidence)
    found = unskew.suggest(ranker, frame, 10, labeled=drawn.labeled)
    assert isinstance(found, unskew.Suggestions)
    assert not drawn.labeled[found.rows].any()


def test_messages(drawn, fitted):
    with pytest.raises(ValueError, match=r"n must be from 1 to the number of rows without a label, 1,3\d\d, but it is"):
        suggest(fitted, drawn.X, 1500, labeled=drawn.labeled)
    with pytest.raises(ValueError, match="n must be from 1 .* but it is 0"):
        suggest(fitted, drawn.X, 0)
    with pytest.raises(ValueError, match="labeled must have one label per row, 1,500"):
        suggest(fitted, drawn.X, 5, labeled=drawn.labeled[:10])
    with pytest.raises(TypeError, match="est must be a ranker of this package, but it is a LogisticRegression"):
        suggest(LogisticRegression(), drawn.X, 5)
    with pytest.raises(NotFittedError):
        suggest(unskew.make("conf-gp"), drawn.X, 5)
    without = unskew.make("ntc-linear").fit(drawn.X, drawn.labeled)
    with pytest.raises(ValueError, match="this model has none: it was fitted without confidence.*Fit it with confid"):
        suggest(without, drawn.X, 5)
    older = copy.copy(fitted)
    older.posterior_ = dataclasses.replace(fitted.posterior_, errors=None)
    with pytest.raises(ValueError, match="comes from a file of an earlier version, which does not say. Fit it again"):
        suggest(older, drawn.X, 5)
