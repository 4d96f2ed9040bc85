"""What a report shows: right by the metrics it comes from, and the same after a journey through JSON."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import unskew
from quick_fits import QUICK
from unskew._support.text import percent
from unskew.datasets import toy
from unskew.diagnostics import Unit
from unskew.metrics import sar_auc, sar_curves
from unskew.metrics.evidence import SHARES, Evidence, Risk, TrainingHistory, threshold_table
from unskew.metrics.gather import gather_evidence
from unskew.weights import inverse_labeling_weight


def evidence_of(data, score=None, scenario="one-sample", **options):
    settings = {"X": data.X, "feature_names": ["first", "second"], "clip": 0.01} | options
    return gather_evidence(
        y=data.labeled,
        score=data.X @ [1.0, 0.3] if score is None else score,
        confidence=data.confidence,
        labeling_prob=data.labeling_prob,
        scenario=scenario,
        **settings,
    )


def through_json(evidence):
    return Evidence.from_json(json.loads(json.dumps(evidence.to_json(), allow_nan=False)))


@pytest.fixture(scope="module")
def data():
    return toy.draw(3000, random_state=0)


@pytest.fixture(scope="module")
def evidence(data):
    return evidence_of(data)


def test_estimates_are_those_of_the_metrics(data, evidence):
    expected = sar_auc(data.labeled, data.X @ [1.0, 0.3], data.confidence, data.labeling_prob, clip=0.01)
    for name in ("auc", "low", "high", "level", "prior", "label_freq", "effective_labeled"):
        assert getattr(evidence.estimate, name) == getattr(expected, name)
    assert (evidence.n_rows, evidence.n_labeled, evidence.n_ranked) == (3000, data.labeled.sum(), 3000)
    assert evidence.estimate.prior_low < evidence.estimate.prior < evidence.estimate.prior_high
    assert [each.feature for each in evidence.shifts][:1] == ["second"]
    assert len(evidence.findings) == 8


def test_the_curve_is_a_part_of_the_whole_one(data, evidence):
    whole = sar_curves(data.labeled, data.X @ [1.0, 0.3], data.confidence, data.labeling_prob, clip=0.01)
    curve = evidence.curve
    points = set(zip(whole.flagged, whole.tpr, whole.fpr, whole.precision, strict=True))
    mine = list(zip(curve.flagged, curve.tpr, curve.fpr, curve.precision, strict=True))
    assert set(mine) <= points
    assert 100 < len(mine) <= 200
    assert curve.flagged[0] == 0
    assert curve.flagged[-1] == 1
    assert list(curve.flagged) == sorted(set(curve.flagged))
    assert max(np.diff(curve.flagged)) < 0.02
    assert set(curve.threshold) == {None}


@pytest.mark.parametrize("n", [30, 100, 3000, 30_000])
def test_the_curve_is_short_whatever_the_size(n):
    drawn = toy.draw(n, toy.ToyLaw(prior=0.4), random_state=1)
    curve = evidence_of(drawn, clip=0.05).curve
    assert len(curve.flagged) <= 200
    assert (curve.flagged[0], curve.flagged[-1]) == (0, 1)


def test_thresholds_are_scores_of_the_fitted_model(data):
    ranker = unskew.make("conf-auc", **QUICK).fit(data.X, data.labeled, confidence=data.confidence)
    evidence = evidence_of(data, ranker=ranker)
    score = ranker.decision_function(data.X)
    for flagged, threshold in zip(evidence.curve.flagged[1:], evidence.curve.threshold[1:], strict=True):
        assert np.mean(score >= threshold) == pytest.approx(flagged, abs=1e-3)
    assert evidence.curve.threshold[0] is None
    assert evidence.score_training.best_epoch == ranker.best_epoch_
    assert evidence.score_training.history == tuple(ranker.history_)
    assert evidence.labeling_training.history == tuple(ranker.labeling_.history)
    assert through_json(evidence) == evidence


def test_a_method_that_is_its_labeling_network_has_one_history(data):
    ranker = unskew.make("ntc", **QUICK).fit(data.X, data.labeled)
    evidence = evidence_of(data, ranker=ranker)
    assert evidence.score_training is None
    assert len(evidence.labeling_training.history) == QUICK["max_epochs"]


def test_threshold_table(data, evidence):
    rows = threshold_table(evidence)
    assert [row.flagged for row in rows] == pytest.approx(SHARES)
    for row in rows:
        flags = np.argsort(-(data.X @ [1.0, 0.3]))[: round(row.flagged * 3000)]
        labeled = data.labeled == 1
        weight = np.zeros(3000)
        weight[labeled] = inverse_labeling_weight(data.confidence[labeled], data.labeling_prob[labeled], 0.01)
        assert row.recall == pytest.approx(weight[flags].sum() / weight.sum())
        assert row.precision == pytest.approx(min(1, weight[flags].sum() / len(flags)))
    assert rows[-1].recall > rows[0].recall
    assert threshold_table(evidence, (0.5, 0.5, 0.5)) == rows[-1:]
    assert threshold_table(replace(evidence, curve=None)) == []


def test_thresholds_of_few_rows_are_those_that_can_be():
    drawn = toy.draw(40, toy.ToyLaw(prior=0.5), random_state=0)
    rows = threshold_table(evidence_of(drawn, clip=0.1))
    assert rows[0].flagged == pytest.approx(10 / 40)  # among fewer precision is chance, and the page does not show it
    assert len(rows) == len({row.flagged for row in rows})


def test_interval_of_the_prior_covers():
    law = toy.ToyLaw()
    covered = []
    for seed in range(300):
        estimate = evidence_of(toy.draw(1500, law, random_state=seed), clip=0.0).estimate
        covered.append(estimate.prior_low <= law.prior <= estimate.prior_high)
    # Four standard errors of a share of 0.95 over 300 draws are 0.05.
    assert 0.9 <= np.mean(covered) <= 0.99


def test_two_samples():
    drawn = toy.draw_two_samples(300, 2000, random_state=0)
    evidence = evidence_of(drawn, scenario="two-sample")
    assert evidence.n_ranked == 2000
    assert evidence.estimate.label_freq is None
    assert evidence.labeling_prob.edges[-1] == pytest.approx(drawn.labeling_prob[:300].max())
    assert sum(evidence.labeling_prob.counts) == sum(evidence.confidence.counts) == 300
    assert through_json(evidence) == evidence


def test_an_impossible_prior_leaves_no_curve_and_no_warning(data):
    evidence = gather_evidence(
        y=data.labeled,
        score=data.X[:, 0],
        confidence=data.confidence,
        labeling_prob=np.full(3000, 0.001),
        clip=0.001,
        scenario="one-sample",
        X=None,
        feature_names=[],
    )
    assert evidence.estimate.auc is None
    assert evidence.curve is None
    assert evidence.shifts == ()
    assert {each.name: each.level for each in evidence.findings}["prior"] == "warning"
    assert through_json(evidence) == evidence


def test_weights_are_thinned_evenly():
    rng = np.random.RandomState(0)
    n = 9000
    evidence = gather_evidence(
        y=np.arange(n) < 5000,
        score=rng.normal(size=n),
        confidence=np.full(n, 0.9),
        labeling_prob=rng.uniform(0.6, 0.9, n),
        clip=0.01,
        scenario="one-sample",
        X=rng.normal(size=(n, 1)).astype(np.float32),
        feature_names=["a"],
    )
    weights = np.array(evidence.weights)
    assert len(weights) == 2000
    assert (np.diff(weights) >= 0).all()
    assert weights[[0, -1]] == pytest.approx([1, 1.5], abs=1e-3)


def test_sparse_features_give_the_same_shifts_and_images_none(data, evidence):
    assert evidence_of(data, X=sparse.csr_matrix(data.X)).shifts == tuple(
        replace(each, all_mean=pytest.approx(each.all_mean), shift=pytest.approx(each.shift))
        for each in evidence.shifts
    )
    assert evidence_of(data, X=data.X.reshape(3000, 1, 1, 2)).shifts == ()


def test_odd_values_survive_json_as_what_it_can_hold(evidence):
    history = (Risk(0, None, 1.0), Risk(1, 2.0, None))
    odd = replace(evidence, score_training=TrainingHistory(history, 1), labeling_training=None, curve=None)
    assert through_json(odd) == odd
    infinite = replace(
        evidence,
        estimate=replace(evidence.estimate, auc=float("nan"), high=float("inf"), prior=np.float64("-inf")),
        n_rows=np.int64(5000),
        weights=(np.float32(0.5), float("nan")),
    )
    plain = infinite.to_json()
    json.dumps(plain, allow_nan=False)
    assert plain["estimate"]["auc"] is plain["estimate"]["high"] is plain["estimate"]["prior"] is None
    assert type(plain["n_rows"]) is int
    assert plain["weights"] == [0.5, None]


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("n_rows",), "<b>", "evidence.n_rows must be a whole number, but it is '<b>'"),
        (("n_rows",), True, "evidence.n_rows must be a whole number, but it is True"),
        (("scenario",), 3, "evidence.scenario must be a text, but it is 3"),
        (("clip",), float("nan"), "evidence.clip must be a finite number, but it is nan"),
        (("estimate",), [1], "evidence.estimate must be an object"),
        (("estimate", "auc"), "0.9", "evidence.estimate.auc must be a finite number, but it is '0.9'"),
        (("curve", "tpr", 2), None, r"evidence.curve.tpr\[2\] must be a finite number, but it is None"),
        (("findings", 0, "level"), "<script>", "level must be one of 'good', 'note', 'warning', but it is '<script>'"),
        (("shifts", 0, "kind"), "numbre", "Did you mean 'number'"),
        (("weights",), None, "evidence.weights must be a list, but it is None"),
        (("score_training",), {"history": [[1, 2]], "best_epoch": 1}, "must have 3 entries, but it has 2"),
        (("score_training",), {"history": [[1, 2, "x"]], "best_epoch": 1}, "validation_risk must be a finite number"),
        (("score_training",), {"history": []}, "evidence.score_training must hold best_epoch, but it does not"),
    ],
)
def test_a_tampered_record_is_refused_by_name(evidence, place, value, message):
    content = evidence.to_json()
    inside = content
    for step in place[:-1]:
        inside = inside[step]
    inside[place[-1]] = value
    with pytest.raises(ValueError, match=message):
        Evidence.from_json(content)


def test_a_record_that_lacks_something_is_refused(evidence):
    content = evidence.to_json()
    del content["n_rows"], content["clip"]
    with pytest.raises(ValueError, match="evidence must hold n_rows, clip, but it does not"):
        Evidence.from_json(content)


def test_a_given_prior_is_used_as_it_is(data, evidence):
    given = evidence_of(data, prior=0.4)
    assert given.estimate.prior == pytest.approx(0.4)
    assert given.estimate.weighted_prior == pytest.approx(evidence.estimate.prior)
    assert given.estimate.prior_low is None
    assert given.estimate.label_freq == pytest.approx(data.labeled.mean() / 0.4)
    judged = data.labeled, data.X @ [1.0, 0.3], data.confidence, data.labeling_prob
    assert given.estimate.auc == sar_auc(*judged, clip=0.01, prior=0.4).auc != evidence.estimate.auc
    assert given.curve.precision != evidence.curve.precision
    assert "as given" in [each for each in given.findings if each.name == "prior"][0].text
    # The check and the headline speak of one label frequency.
    label_freq = given.n_labeled / given.n_rows / 0.4
    assert given.estimate.label_freq == pytest.approx(label_freq)
    said = [each for each in given.findings if each.name == "label-frequency"][0].text
    assert said == f"An estimated {percent(label_freq)} of the positives are labeled."
    assert through_json(given) == given


def test_the_share_that_the_model_itself_flags(data, evidence):
    assert evidence.own_share is None
    ranker = unskew.make("conf-auc", prior=0.3, **QUICK).fit(data.X, data.labeled, confidence=data.confidence)
    assert evidence_of(data, ranker=ranker).own_share == ranker.predict(data.X).mean()


def test_records_from_before_lack_what_came_later(evidence):
    content = evidence.to_json()
    del content["own_share"], content["estimate"]["weighted_prior"]
    assert Evidence.from_json(content) == evidence
    del content["estimate"]["auc"]
    with pytest.raises(ValueError, match=r"evidence.estimate must hold auc, but it does not"):
        Evidence.from_json(content)


def test_rows_without_a_value_are_left_out_of_all_means(data):
    absent = np.arange(3000) % 3 == 0
    X = np.c_[np.where(absent, 7.0, data.X[:, 1]), absent]
    names = {"feature_names": ["second", "missing"], "feature_units": [Unit(absent=1), Unit("share")]}
    found = evidence_of(data, score=data.X[:, 0], X=X, **names).shifts[0]
    assert found.feature == "second"
    assert found.all_mean == pytest.approx(data.X[~absent, 1].mean())
    assert found.labeled_mean == pytest.approx(data.X[~absent & (data.labeled == 1), 1].mean())


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (("curve", "fpr"), [0.0], "a curve must have one entry per threshold, two or more"),
        (("confidence", "edges"), [0.0, 1.0], "one edge more than counts"),
        (("labeling_prob", "counts", 0), -1, "counts, each 0 or more"),
        (("n_labeled",), 1, "two labeled rows or more"),
        (("n_ranked",), 10**9, "1000000000 ranked"),
        (("weights",), [], "0 weights"),
        (("score_training",), {"history": [[0, 1.0, 1.0]], "best_epoch": 1}, "best_epoch must be one of 1 epochs"),
    ],
)
def test_a_record_whose_parts_disagree_is_refused(evidence, place, value, told):
    content = inside = evidence.to_json()
    for step in place[:-1]:
        inside = inside[step]
    inside[place[-1]] = value
    with pytest.raises(ValueError, match=told):
        Evidence.from_json(content)
