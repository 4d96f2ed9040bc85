"""`auto`: its weights by hand, what it says of them, and that it ranks as well as its best part."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

import unskew
from unskew.data.holdout import rotating_hold_outs
from unskew.data.records import PUData
from unskew.data.rows import as_rows
from unskew.datasets import toy
from unskew.errors import ConfidenceMissingWarning
from unskew.rankers._members import Member
from unskew.rankers.auto import (
    IN_DOUBT,
    START,
    WITHOUT_CONFIDENCE,
    _weighed,
    agreement_with_confidence,
    weight_against_bias,
)


@pytest.fixture(scope="module")
def drawn():
    return toy.draw(500, random_state=4)


@pytest.fixture(scope="module")
def fitted(drawn):
    ranker = unskew.make("auto", random_state=0, ensemble=3)
    return ranker.fit(drawn.X, drawn.labeled, confidence=drawn.confidence)


def pu_record(drawn):
    labeled = drawn.labeled == 1
    rows = np.flatnonzero(labeled), np.flatnonzero(~labeled)
    return PUData(as_rows(drawn.X.astype(np.float32)), *rows, drawn.confidence[labeled])


def test_agreement_is_that_of_a_double_loop():
    rng = np.random.RandomState(0)
    score, sure = rng.normal(size=12).round(1), rng.uniform(size=12).round(1)
    wrong = pairs = 0.0
    for i in range(12):
        for j in range(12):
            wrong += np.sign(score[i] - score[j]) * (sure[i] - sure[j])
            pairs += abs(sure[i] - sure[j])
    assert agreement_with_confidence(score, sure) == pytest.approx(wrong / pairs)
    assert agreement_with_confidence(sure, sure) == pytest.approx(1)
    assert agreement_with_confidence(-sure, sure) == pytest.approx(-1)
    assert agreement_with_confidence(score, np.full(12, 0.4)) == 0


def out_of_fold(ranker, name):
    return next(each.ranker.out_of_fold_score_ for each in ranker.members_ if each.ranker.name == name)


def test_weights_follow_from_agreement_separation_and_start(fitted, drawn):
    parts = {part.method: part for part in fitted.parts_}
    assert set(parts) == set(START)
    assert drawn.labeled.sum() > 9
    against_bias = weight_against_bias(out_of_fold(fitted, "ntc-linear"), pu_record(drawn), 0.01)
    root_of_weighted = np.sqrt(against_bias.sum() ** 2 / (against_bias**2).sum())
    trust = max(0, *(part.agreement for part in parts.values()))
    best = max(part.separation for part in parts.values())
    unscaled = {}
    for name, part in parts.items():
        lost = 5 * (best - part.separation) + 20 * max(0, 0.75 * (best - 0.5) - (part.separation - 0.5))
        start = trust * START[name] + (1 - trust) * IN_DOUBT[name]
        unscaled[name] = start * np.exp(3 * max(0, part.agreement) - root_of_weighted * lost)
    total = sum(unscaled.values())
    for name, part in parts.items():
        assert part.weight == pytest.approx(unscaled[name] / total)
    assert [part.weight for part in fitted.parts_] == sorted((part.weight for part in fitted.parts_), reverse=True)


def test_separation_is_that_of_a_double_loop_over_weighted_pairs(fitted, drawn):
    data = pu_record(drawn)
    weight = weight_against_bias(out_of_fold(fitted, "ntc-linear"), data, 0.01)
    score = out_of_fold(fitted, "conf-reg")
    above = 0.0
    for weight_of, row in zip(weight, data.labeled_rows, strict=True):
        for other in data.unlabeled_rows:
            above += weight_of * (float(score[row] > score[other]) + 0.5 * float(score[row] == score[other]))
    part = next(part for part in fitted.parts_ if part.method == "conf-reg")
    assert part.separation == pytest.approx(above / (weight.sum() * data.n_unlabeled))


def test_weights_against_the_bias_are_confidence_over_labeling_probability(drawn):
    """On the toy law, where that is 1 / propensity: easy positives are labeled more often."""
    data = pu_record(drawn)
    labeling_prob = drawn.law.labeling_prob(drawn.X)
    weight = weight_against_bias(np.log(labeling_prob / (1 - labeling_prob)), data, 0.01)
    true = 1 / drawn.law.propensity(drawn.X)[data.labeled_rows]
    assert np.corrcoef(weight, true)[0, 1] > 0.9
    no_confidence = replace(data, confidence=None)
    assert (weight_against_bias(labeling_prob, no_confidence, 0.01) == 1).all()
    constant = replace(data, confidence=np.full(data.n_labeled, 0.7))
    assert (weight_against_bias(labeling_prob, constant, 0.01) == 1).all()


def test_the_score_is_the_weighted_mean_of_standardized_scores(fitted, drawn):
    by_hand = np.zeros(500)
    for member in fitted.members_:
        score = member.ranker.decision_function(drawn.X)
        by_hand += member.weight * (score - score.mean()) / score.std()
    np.testing.assert_allclose(fitted.decision_function(drawn.X), by_hand, atol=1e-5)


def test_it_ranks_about_as_well_as_the_truth(fitted):
    new = toy.draw(4000, random_state=5)
    assert fitted.score(new.X, new.y) > unskew.metrics.auc(new.y, new.law.posterior(new.X)) - 0.01


def test_a_file_keeps_parts_and_scores(fitted, drawn, tmp_path):
    fitted.save(tmp_path / "model")
    again = unskew.load(tmp_path / "model")
    assert again.parts_ == fitted.parts_
    np.testing.assert_array_equal(again.decision_function(drawn.X), fitted.decision_function(drawn.X))
    np.testing.assert_array_equal(again.predict_proba(drawn.X), fitted.predict_proba(drawn.X))


def test_labels_that_are_all_alike_favor_what_tells_labeled_from_unlabeled(drawn):
    ranker = unskew.make("auto", random_state=0, ensemble=2)
    ranker.fit(drawn.X, drawn.labeled, confidence=np.full(500, 0.7))
    parts = {part.method: part for part in ranker.parts_}
    assert {part.agreement for part in parts.values()} == {0}
    best = max(parts.values(), key=lambda part: part.separation)
    kept = [part for part in parts.values() if part.separation - 0.5 > 0.75 * (best.separation - 0.5)]
    assert len(kept) > 1
    root = np.sqrt(drawn.labeled.sum())  # labels weigh the same
    for part in kept:
        lost = np.exp(-5 * root * (best.separation - part.separation))
        assert part.weight / best.weight == pytest.approx(IN_DOUBT[part.method] / IN_DOUBT[best.method] * lost)


def test_a_method_that_hardly_tells_positives_from_the_rest_is_dropped(drawn):
    data = pu_record(drawn)
    rng = np.random.RandomState(0)
    useful = drawn.law.posterior(drawn.X)
    junk = rng.uniform(size=500)
    # It agrees with the confidence perfectly, among labels alone.
    junk[data.labeled_rows] = np.argsort(np.argsort(data.confidence)) / data.n_labeled
    blank = [Member(unskew.make(name), 0.0, 1.0, 1 / 3) for name in ("conf-auc", "conf-gp", "ntc-linear")]
    by_labels = drawn.law.labeling_prob(drawn.X)
    first, second, _ = _weighed(blank, [useful + 0.1 * rng.normal(size=500), junk, by_labels], data, 0.01)
    assert first.agreement < second.agreement == pytest.approx(1)
    assert second.separation < 0.6 < first.separation
    assert second.weight < 1e-3 * first.weight


def test_labels_that_follow_another_column_do_not_drop_what_follows_the_confidence():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(1500, 4))
    eta = expit(2 * X[:, 0] - 1.5)
    positive = rng.uniform(size=1500) < eta
    labeled = (positive & (rng.uniform(size=1500) < expit(2 * X[:, 1] - 2))).astype(int)
    ranker = unskew.make(
        "auto", random_state=0, ensemble=2, network="linear", max_epochs=20, probability=False, prior=0.3
    )
    ranker.fit(X, labeled, confidence=eta)
    by_labels = next(part for part in ranker.parts_ if part.method == "ntc-linear")
    scores = {part.method: out_of_fold(ranker, part.method) for part in ranker.parts_}
    unweighted = {name: unskew.metrics.auc(labeled, score) for name, score in scores.items()}
    assert unweighted["ntc-linear"] == max(unweighted.values())  # what follows the labels tells them apart best
    assert by_labels.separation < max(part.separation for part in ranker.parts_)  # but not with their bias undone
    assert by_labels.weight < 0.1
    assert unskew.metrics.auc(positive, ranker.decision_function(X)) > unskew.metrics.auc(positive, eta) - 0.02


def test_a_part_does_not_decide_the_weights_that_it_is_judged_by(fitted, drawn):
    """The out-of-fold score by hand: each part by weights of the other parts."""
    data = pu_record(drawn)
    start = [replace(each, weight=START[each.ranker.name]) for each in fitted.members_]
    scores = [each.ranker.out_of_fold_score_ for each in start]
    third = rotating_hold_outs(data, 3, np.random.RandomState(np.random.RandomState(0).randint(2**31 - 1)))
    for rest, held_out in third:
        weights = np.array([each.weight for each in _weighed(start, scores, rest, 0.01)])
        rows = held_out.labeled_rows
        by_hand = sum(w * each[rows] for w, each in zip(weights / weights.sum(), scores, strict=True))
        np.testing.assert_allclose(fitted.out_of_fold_score_[rows], by_hand, atol=1e-12)


def test_without_confidence_it_tells_labeled_from_unlabeled(drawn):
    ranker = unskew.make("auto", random_state=0, ensemble=2)
    with pytest.warns(ConfidenceMissingWarning, match="labeled rows are told from unlabeled"):
        ranker.fit(drawn.X, drawn.labeled)
    assert {part.method for part in ranker.parts_} == set(WITHOUT_CONFIDENCE)
    assert sum(part.weight for part in ranker.parts_) == pytest.approx(1)
    assert all(part.agreement is None and part.separation > 0.5 for part in ranker.parts_)


@pytest.mark.parametrize("ensemble", [1, 4])
def test_with_too_few_labels_to_hold_out_the_weights_are_those_of_the_start(ensemble, drawn):
    y = np.zeros(500, dtype=int)
    y[np.flatnonzero(drawn.labeled)[:3]] = 1
    labels = drawn.labeled if ensemble == 1 else y
    for sure in (None, drawn.confidence):
        with warnings.catch_warnings(action="ignore"):
            ranker = unskew.make("auto", random_state=0, ensemble=ensemble, max_epochs=2)
            ranker.fit(drawn.X, labels, confidence=sure)
        start = WITHOUT_CONFIDENCE if sure is None else START
        assert {part.method: pytest.approx(part.weight) for part in ranker.parts_} == start
        assert np.isfinite(ranker.decision_function(drawn.X)).all()


def test_two_samples_leave_out_what_is_not_defined_for_them():
    data = toy.draw_two_samples(60, 400, random_state=0)
    ranker = unskew.make("auto", random_state=0, ensemble=2, scenario="two-sample")
    ranker.fit(data.X, data.labeled, confidence=data.confidence)
    assert {part.method for part in ranker.parts_} == set(START) - {"conf-joint"}
