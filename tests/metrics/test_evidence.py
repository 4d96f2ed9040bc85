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
from unskew.metrics import estimate_ranking
from unskew.metrics.evidence import SHARES, Evidence, Risk, TrainingHistory, top_of_old_record
from unskew.metrics.gather import _evenly_spread, gather_evidence
from unskew.posterior import fit_posterior


def posterior_of(data, **options):
    return fit_posterior(data.X, data.labeled, data.confidence, random_state=0, **options)


def evidence_of(data, posterior, score=None, scenario="one-sample", **options):
    settings = {"X": data.X, "feature_names": ["first", "second"], "clip": 0.01} | options
    return gather_evidence(
        y=data.labeled,
        score=data.X @ [1.0, 0.3] if score is None else score,
        confidence=data.confidence,
        posterior=posterior,
        labeling_prob=data.labeling_prob,
        scenario=scenario,
        **settings,
    )


def through_json(evidence):
    return Evidence.from_json(json.loads(json.dumps(evidence.to_json(), allow_nan=False)))


@pytest.fixture(scope="module")
def data():
    return toy.draw(1500, random_state=0)


@pytest.fixture(scope="module")
def posterior(data):
    return posterior_of(data)


@pytest.fixture(scope="module")
def evidence(data, posterior):
    return evidence_of(data, posterior)


def test_estimates_are_those_of_the_posterior(data, posterior, evidence):
    expected = estimate_ranking(data.X @ [1.0, 0.3], posterior)
    for name in ("auc", "low", "high", "level", "prior", "prior_low", "prior_high", "label_freq", "reliability"):
        assert getattr(evidence.estimate, name) == getattr(expected, name)
    assert (evidence.n_rows, evidence.n_labeled, evidence.n_ranked) == (1500, data.labeled.sum(), 1500)
    assert evidence.estimate.prior_low < data.law.prior < evidence.estimate.prior_high
    low, high = evidence.estimate.label_freq_ends
    assert low < evidence.estimate.label_freq < high
    assert [each.feature for each in evidence.shifts][:1] == ["second"]
    names = [
        "reliability",
        "labeled-share",
        "effective-sample-size",
        "heaviest-weights",
        "weight-tail",
        "positivity",
        "confidence",
    ]
    assert [each.name for each in evidence.findings] == [*names, "calibration"]


def test_the_curve_is_a_part_of_the_whole_one(data, posterior, evidence):
    whole = estimate_ranking(data.X @ [1.0, 0.3], posterior).curves()
    curve = evidence.curve
    points = set(zip(whole.flagged, whole.tpr, whole.fpr, whole.precision, strict=True))
    mine = list(zip(curve.flagged, curve.tpr, curve.fpr, curve.precision, strict=True))
    assert set(mine) <= points
    assert 100 < len(mine) <= 200
    assert curve.flagged[0] == 0
    assert curve.flagged[-1] == 1
    assert list(curve.flagged) == sorted(set(curve.flagged))
    assert max(np.diff(curve.flagged)) < 0.02
    assert min(np.diff(curve.tpr)) >= 0  # weights gave curves that bent backwards
    assert min(np.diff(curve.fpr)) >= 0
    assert set(curve.threshold) == {None}


@pytest.mark.parametrize("n", [60, 2000])
@pytest.mark.filterwarnings("ignore::unskew.errors.LowReliabilityWarning")
def test_the_curve_is_short_whatever_the_size(n):
    drawn = toy.draw(n, toy.ToyLaw(prior=0.4), random_state=1)
    curve = evidence_of(drawn, posterior_of(drawn), clip=0.05).curve
    assert len(curve.flagged) <= 200
    assert (curve.flagged[0], curve.flagged[-1]) == (0, 1)


def test_thresholds_are_scores_of_the_fitted_model(data, posterior):
    ranker = unskew.make("conf-auc", **QUICK).fit(data.X, data.labeled, confidence=data.confidence)
    evidence = evidence_of(data, posterior, ranker=ranker)
    score = ranker.decision_function(data.X)
    for top in evidence.top:
        assert np.sum(score >= top.threshold) == top.n
    for flagged, threshold in zip(evidence.curve.flagged[1:], evidence.curve.threshold[1:], strict=True):
        assert np.mean(score >= threshold) == pytest.approx(flagged, abs=1e-3)
    assert evidence.curve.threshold[0] is None
    assert evidence.score_training.best_epoch == ranker.best_epoch_
    assert evidence.score_training.history == tuple(ranker.history_)
    assert evidence.labeling_training.history == tuple(ranker.labeling_.history)
    assert through_json(evidence) == evidence


def test_a_method_that_is_its_labeling_network_has_one_history(data, posterior):
    ranker = unskew.make("ntc", **QUICK).fit(data.X, data.labeled)
    evidence = evidence_of(data, posterior, ranker=ranker)
    assert evidence.score_training is None
    assert len(evidence.labeling_training.history) == QUICK["max_epochs"]


def test_the_top_of_the_ranking(data, posterior, evidence):
    found = estimate_ranking(data.X @ [1.0, 0.3], posterior)
    assert [row.share for row in evidence.top] == pytest.approx(SHARES)
    for row in evidence.top:
        at = found.at(row.share)
        assert row.threshold is None  # of no model
        assert {**vars(at), "threshold": None, "share": row.share} == vars(row)
        assert row.precision_low < row.precision < row.precision_high
        assert row.expected_positives_low < row.expected_positives < row.expected_positives_high
    assert evidence.top[-1].recall > evidence.top[0].recall


def test_the_top_of_few_rows_is_what_can_be():
    drawn = toy.draw(60, toy.ToyLaw(prior=0.5), random_state=0)
    top = evidence_of(drawn, posterior_of(drawn), clip=0.1).top
    assert top[0].n == 10  # among fewer precision is chance, and the page does not show it
    assert len(top) == len({row.n for row in top})


def test_the_top_of_an_old_record_is_read_off_its_curve(evidence):
    """Records of earlier versions have a curve alone: the same values, without intervals."""
    old = top_of_old_record(replace(evidence, top=()))
    assert [row.n for row in old] == [row.n for row in evidence.top]
    for then, now in zip(old, evidence.top, strict=True):
        for name in ("share", "precision", "recall", "lift", "expected_positives"):
            assert getattr(then, name) == pytest.approx(getattr(now, name))
        assert then.precision_low is then.lift_high is None
    assert top_of_old_record(replace(evidence, curve=None)) == []


def test_two_samples():
    drawn = toy.draw_two_samples(300, 2000, random_state=0)
    evidence = evidence_of(drawn, posterior_of(drawn, scenario="two-sample"), scenario="two-sample")
    assert evidence.n_ranked == 2000
    assert evidence.estimate.label_freq is None
    assert evidence.labeling_prob.edges[-1] == pytest.approx(drawn.labeling_prob[:300].max())
    assert sum(evidence.labeling_prob.counts) == sum(evidence.confidence.counts) == 300
    assert through_json(evidence) == evidence


def test_low_reliability_is_a_finding_and_no_warning(data, posterior):
    """Warnings are errors here."""
    unsure = replace(posterior, reliability=0.2)
    evidence = evidence_of(data, unsure)
    assert {each.name: each.level for each in evidence.findings}["reliability"] == "warning"
    assert not evidence.estimate.shows_points
    assert through_json(evidence) == evidence


def test_weights_are_thinned_evenly():
    weights = np.array(_evenly_spread(1 / np.random.RandomState(0).uniform(2 / 3, 1, 5000)))
    assert len(weights) == 2000
    assert (np.diff(weights) >= 0).all()
    assert weights[[0, -1]] == pytest.approx([1, 1.5], abs=1e-3)


def test_sparse_features_give_the_same_shifts_and_images_none(data, posterior, evidence):
    assert evidence_of(data, posterior, X=sparse.csr_matrix(data.X)).shifts == tuple(
        replace(each, all_mean=pytest.approx(each.all_mean), shift=pytest.approx(each.shift))
        for each in evidence.shifts
    )
    assert evidence_of(data, posterior, X=data.X.reshape(1500, 1, 1, 2)).shifts == ()


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


@pytest.mark.parametrize(("prior", "level"), [(0.2, "good"), (0.6, "note")])
def test_a_given_prior_is_used_as_it_is(data, evidence, prior, level):
    free = evidence.estimate.prior_low, evidence.estimate.prior_high
    given = evidence_of(data, posterior_of(data, prior=prior), prior_without_given=free)
    assert given.estimate.prior == pytest.approx(prior)
    assert given.estimate.prior_low is given.estimate.prior_high is None
    assert given.estimate.label_freq_ends == (None, None)
    assert given.estimate.label_freq == pytest.approx(data.labeled.mean() / prior)
    assert given.estimate.auc != evidence.estimate.auc
    (finding,) = [each for each in given.findings if each.name == "given-prior"]
    assert finding.level == level
    assert f"{percent(prior)} of all rows are positive, as given" in finding.text
    assert f"{percent(free[0])} to {percent(free[1])}" in finding.text
    assert through_json(given) == given


def test_the_share_that_the_model_itself_flags(data, posterior, evidence):
    assert evidence.own_share is None
    ranker = unskew.make("conf-auc", prior=0.3, **QUICK).fit(data.X, data.labeled, confidence=data.confidence)
    assert evidence_of(data, posterior, ranker=ranker).own_share == ranker.predict(data.X).mean()


def test_records_from_before_lack_what_came_later(evidence):
    content = evidence.to_json()
    del content["own_share"], content["top"], content["estimate"]["reliability"]
    content["estimate"] |= {"effective_labeled": 30.0, "weighted_prior": None}  # which no one reads any more
    built = Evidence.from_json(content)
    assert built == replace(evidence, top=(), estimate=replace(evidence.estimate, reliability=None))
    assert built.estimate.shows_points
    del content["estimate"]["auc"]
    with pytest.raises(ValueError, match=r"evidence.estimate must hold auc, but it does not"):
        Evidence.from_json(content)


def test_rows_without_a_value_are_left_out_of_all_means(data, posterior):
    absent = np.arange(1500) % 3 == 0
    X = np.c_[np.where(absent, 7.0, data.X[:, 1]), absent]
    names = {"feature_names": ["second", "missing"], "feature_units": [Unit(absent=1), Unit("share")]}
    found = evidence_of(data, posterior, score=data.X[:, 0], X=X, **names).shifts[0]
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
