"""Ensembles on rotating hold-outs: what they average, what they keep, and that the seed decides everything."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import unskew
from quick_fits import METHODS, QUICK, fit
from unskew.data.holdout import pooled, rotating_hold_outs
from unskew.data.records import PUData
from unskew.data.rows import DenseRows, as_rows
from unskew.datasets import toy
from unskew.rankers import _members
from unskew.rankers._members import count_members, enough_of, fit_members, standardized_member


@pytest.fixture(scope="module")
def drawn():
    return toy.draw(300, random_state=2)


@pytest.fixture(scope="module")
def record(drawn):
    labeled = drawn.labeled == 1
    rows = as_rows(drawn.X.astype(np.float32))
    return PUData(rows, np.flatnonzero(labeled), np.flatnonzero(~labeled), drawn.confidence[labeled])


def test_hold_outs_rotate_over_every_row_once(record):
    splits = rotating_hold_outs(record, 4, np.random.RandomState(0))
    held_out = np.concatenate([np.r_[out.labeled_rows, out.unlabeled_rows] for _, out in splits])
    assert sorted(held_out) == list(range(300))
    for train, out in splits:
        assert not set(train.labeled_rows) & set(out.labeled_rows)
        assert train.n_labeled + out.n_labeled == record.n_labeled
        assert train.alpha == out.alpha == record.alpha
        np.testing.assert_array_equal(out.confidence, record.confidence[np.isin(record.labeled_rows, out.labeled_rows)])


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"auto"}))  # which has weights of its own
def test_score_is_the_mean_of_standardized_scores_and_the_file_keeps_it(name, drawn, tmp_path):
    ranker = fit(name, drawn, ensemble=3)
    by_hand = np.zeros(300)
    for member in ranker.members_:
        score = member.ranker.decision_function(drawn.X)
        by_hand += (score - score.mean()) / score.std() / 3
    np.testing.assert_allclose(ranker.decision_function(drawn.X), by_hand, atol=1e-5)
    assert len({member.ranker.random_state for member in ranker.members_}) == 3
    ranker.save(tmp_path / "model")
    again = unskew.load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(drawn.X), ranker.decision_function(drawn.X))
    np.testing.assert_array_equal(again.predict_proba(drawn.X), ranker.predict_proba(drawn.X))
    if hasattr(ranker, "labeling_"):
        np.testing.assert_array_equal(again.labeling_prob(drawn.X), ranker.labeling_prob(drawn.X))
    for estimate in ("posterior", "propensity"):
        if hasattr(ranker, estimate):
            mean = np.mean([getattr(each.ranker, estimate)(drawn.X) for each in ranker.members_], axis=0)
            np.testing.assert_allclose(getattr(again, estimate)(drawn.X), mean, rtol=1e-6)


def test_the_number_of_processes_and_threads_does_not_matter(drawn):
    first, second = (fit("conf-gp", drawn, ensemble=2, n_jobs=jobs).decision_function(drawn.X) for jobs in (1, 2))
    np.testing.assert_array_equal(first, second)
    expected = fit("conf-auc", drawn, ensemble=2).decision_function(drawn.X)
    np.testing.assert_array_equal(fit("conf-auc", drawn, ensemble=2, n_jobs=2).decision_function(drawn.X), expected)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        np.testing.assert_array_equal(fit("conf-auc", drawn, ensemble=2).decision_function(drawn.X), expected)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert not np.array_equal(fit("conf-auc", drawn, ensemble=2, random_state=1).decision_function(drawn.X), expected)


def test_out_of_fold_scores_are_by_members_that_did_not_see_the_row(drawn, record, monkeypatch):
    seen, fit_one = [], _members._fit_one

    def recorded(blank, train, held_out, prior):
        seen.append(set(train.labeled_rows) | set(train.unlabeled_rows))
        return fit_one(blank, train, held_out, prior)

    monkeypatch.setattr(_members, "_fit_one", recorded)
    ranker = unskew.make("ntc", **{**QUICK, "ensemble": 3})
    ranker.input_shape_ = (2,)
    found = fit_members(ranker, record, 0.2, np.random.RandomState(0), 3)
    splits = rotating_hold_outs(record, 3, np.random.RandomState(0))
    for member, (_, out), own in zip(found.members, splits, seen, strict=True):
        rows = np.r_[out.labeled_rows, out.unlabeled_rows]
        assert not own & set(rows)
        assert len(own) + len(rows) == 300
        np.testing.assert_array_equal(found.out_of_fold[rows], member.standardized(record.X, rows))


def test_a_part_of_very_many_rows_measures_the_scores(drawn, record, monkeypatch):
    rows = np.arange(300)
    assert enough_of(rows) is rows
    ranker = fit("ntc", drawn)
    whole = standardized_member(ranker, record, 1.0)
    monkeypatch.setattr(_members, "MOST_MEASURED", 200)
    some = enough_of(3 * rows)
    assert len(np.unique(some)) == 200
    assert set(some) <= set(3 * rows)
    np.testing.assert_array_equal(some, np.sort(some))
    part = standardized_member(ranker, record, 1.0)
    assert part.center != whole.center
    assert abs(part.center - whole.center) < 0.2 * whole.spread
    assert part.spread == pytest.approx(whole.spread, rel=0.2)
    # The threshold by which a user predicts is still that of all rows.
    pair = fit("ntc", drawn, ensemble=2, prior=0.3)
    assert pair.predict(drawn.X).mean() == 0.3


def test_of_rows_in_files_few_are_held_out_and_from_everywhere(record):
    class FromFile(DenseRows):
        hold_out_limit = 20

    rows = FromFile(record.X.array)
    splits = rotating_hold_outs(replace(record, X=rows), 3, np.random.RandomState(0))
    for train, out in splits:
        assert out.n_unlabeled == 20
        assert train.n_unlabeled == record.n_unlabeled - 20
        assert out.unlabeled_rows.max() > 200


def test_labels_that_count_are_dealt_out_to_all_parts(record):
    sure = np.zeros(record.n_labeled)
    sure[:3] = 0.9
    few = replace(record, confidence=sure)
    assert count_members(5, few) == 3
    for train, out in rotating_hold_outs(few, 3, np.random.RandomState(0)):
        assert (out.confidence > 0).sum() == 1
        assert (train.confidence > 0).sum() == 2


def test_validation_without_confidence_is_refused_where_its_rows_teach(drawn):
    more = toy.draw(100, random_state=3)
    for ranker in (unskew.make("ntc", ensemble=2), unskew.make("ntc-linear")):
        with pytest.raises(ValueError, match="validation must have confidence too, because its rows are used"):
            ranker.fit(drawn.X, drawn.labeled, drawn.confidence, validation=(more.X, more.labeled))


def test_few_labels_allow_few_members(record):
    def with_labels(n):
        return PUData(record.X, np.arange(n), np.arange(n, 300))

    assert [count_members(4, with_labels(n)) for n in (2, 3, 4, 7, 8, 50)] == [1, 1, 2, 3, 4, 4]


def test_validation_rows_rotate_with_the_others(drawn):
    more = toy.draw(100, random_state=3)
    ranker = unskew.make("ntc", **{**QUICK, "ensemble": 2})
    ranker.fit(drawn.X, drawn.labeled, drawn.confidence, validation=(more.X, more.labeled, more.confidence))
    assert ranker.training_summary_["n_labeled"] == drawn.labeled.sum() + more.labeled.sum()
    assert ranker.training_summary_["n_validation_labeled"] == 0


def test_pooled_records_keep_their_order(record):
    both = pooled(record, record)
    assert len(both.X) == 600
    np.testing.assert_array_equal(both.X.take(both.labeled_rows[-1:]), record.X.take(record.labeled_rows[-1:]))
    np.testing.assert_array_equal(both.confidence, np.r_[record.confidence, record.confidence])


def test_history_is_the_mean_of_the_members(drawn):
    ranker = fit("conf-auc", drawn, ensemble=2)
    first, second = (each.ranker.history_ for each in ranker.members_)
    assert ranker.history_[1].validation_risk == pytest.approx(
        (first[1].validation_risk + second[1].validation_risk) / 2
    )
    assert ranker.best_epoch_ == int(np.argmin([row.validation_risk for row in ranker.history_]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"spread": 0.0}, "a spread above 0"),
        ({"weight": 2.0}, "a weight from 0 to 1"),
        ({"method": "no-such"}, "no method 'no-such'"),
        ({"header": {}}, "must"),
    ],
)
def test_a_damaged_member_is_refused_by_name(change, words, drawn, tmp_path):
    from unskew._support import modelfile

    fit("conf-auc", drawn, ensemble=2).save(tmp_path / "model")
    model = modelfile.read_model_file(tmp_path / "model")
    first, second = model.header["members"]
    header = {**model.header, "members": [{**first, **change}, second]}
    modelfile.write_model_file(tmp_path / "wrong", modelfile.ModelFile(header, model.arrays))
    with pytest.raises(unskew.errors.ModelFileError, match=f"wrong.*{words}"):
        unskew.load(tmp_path / "wrong")
