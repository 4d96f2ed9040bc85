from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unskew
from quick_fits import QUICK
from unskew.data.holdout import hold_out
from unskew.data.rows import DenseRows, as_rows
from unskew.errors import NoHoldOutWarning
from unskew.learning import batches, trainer
from unskew.rankers import _em
from unskew.records import PUData, ScoredBatch


def data(n_labeled, n_unlabeled):
    rows = np.arange(n_labeled + n_unlabeled)
    return PUData(as_rows(rows[:, None]), rows[:n_labeled], rows[n_labeled:], confidence=(1 + rows[:n_labeled]) / 100)


@given(st.integers(4, 60), st.integers(2, 60), st.floats(0.01, 0.99), st.integers(0, 2**31))
def test_every_instance_is_on_one_side_and_two_labeled_on_both(n_labeled, n_unlabeled, fraction, seed):
    whole = data(n_labeled, n_unlabeled)
    train, held_out = hold_out(whole, fraction, np.random.RandomState(seed))
    assert min(train.n_labeled, held_out.n_labeled) >= 2
    assert min(train.n_unlabeled, held_out.n_unlabeled) >= 1
    assert sorted([*train.labeled_rows, *held_out.labeled_rows]) == list(whole.labeled_rows)
    assert sorted([*train.unlabeled_rows, *held_out.unlabeled_rows]) == list(whole.unlabeled_rows)
    for part in (train, held_out):
        np.testing.assert_array_equal(part.confidence, (1 + part.labeled_rows) / 100)
        assert part.alpha == whole.alpha
    # The same share of both kinds, as far as whole instances allow.
    assert abs(held_out.n_unlabeled - n_unlabeled * held_out.n_labeled / n_labeled) <= 1


class FewInMemory(DenseRows):
    hold_out_limit = 20


def test_a_limit_of_unlabeled_ones_leaves_the_share_of_labeled_ones_in_every_risk():
    whole = data(50, 950)
    limited = replace(whole, X=FewInMemory(np.zeros((1000, 1))))
    train, held_out = hold_out(limited, 0.2, np.random.RandomState(0))
    assert (held_out.n_labeled, held_out.n_unlabeled) == (10, 20)
    assert held_out.labeled_share == pytest.approx(1 / 3)
    assert train.alpha == held_out.alpha == 0.05


@pytest.mark.parametrize("sure", [(0, 1), (3, 4), (0, 1, 2, 3, 4)])
def test_confidence_zero_is_not_all_that_a_side_has(sure):
    confidence = np.zeros(5)
    confidence[list(sure)] = 0.9
    for seed in range(20):
        parts = hold_out(replace(data(5, 40), confidence=confidence), 0.2, np.random.RandomState(seed))
        assert [part.n_labeled for part in parts] == [3, 2]
        assert all(part.confidence.any() for part in parts)


def test_one_label_that_counts_is_too_few_to_hold_out():
    whole = replace(data(5, 40), confidence=np.r_[0.9, np.zeros(4)])
    told = r"there are 5 \(1 with a confidence above 0, where 2 are needed\) and 40: nothing is held out"
    with pytest.warns(NoHoldOutWarning, match=told):
        train, held_out = hold_out(whole, 0.2, np.random.RandomState(0))
    assert train is held_out is whole


@pytest.mark.parametrize("sizes", [(2, 10), (3, 10), (10, 1)])
def test_too_few_to_hold_out_is_told(sizes):
    whole = data(*sizes)
    with pytest.warns(
        NoHoldOutWarning, match=rf"there are {sizes[0]} and {sizes[1]}: nothing is held out, and the epoch"
    ):
        train, held_out = hold_out(whole, 0.2, np.random.RandomState(0))
    assert train is whole
    assert held_out is whole


def test_the_warning_points_at_the_call_of_fit():
    X = np.random.RandomState(0).normal(size=(30, 2))
    with pytest.warns(NoHoldOutWarning) as caught:
        unskew.make("ntc", **QUICK).fit(X, np.r_[np.ones(3), np.zeros(27)])
    assert [each.filename for each in caught] == [__file__]


@pytest.mark.parametrize("name", ["ntc", "nnpu", "lbe"])
def test_validation_data_are_judged_by_the_objective_of_the_training_data(name, monkeypatch):
    """With a quarter of them labeled, where it is a twentieth in the training data, the factors are those of these."""
    rng, seen = np.random.RandomState(0), []
    X, y, Xv, yv = rng.normal(size=(200, 2)), np.repeat([1, 0], [10, 190]), rng.normal(size=(40, 2)), np.arange(40) < 10
    for module in (batches, trainer, _em):
        monkeypatch.setattr(module, "ScoredBatch", watched(seen), raising=False)
    monkeypatch.setattr(_em, "observed_loss", watched_loss(seen, _em.observed_loss))
    ranker = unskew.make(name, **{**QUICK, "max_epochs": 2})
    ranker.fit(X, y, confidence=np.ones(200), validation=(Xv, yv.astype(int), np.ones(40)))
    assert len(seen) >= 4
    assert set(seen) == {0.05}


def watched(seen):
    def batch(*args, **entries):
        made = ScoredBatch(*args, **entries)
        seen.append(made.alpha)
        return made

    return batch


def watched_loss(seen, loss):
    def watching(logits, alpha):
        seen.append(alpha)
        return loss(logits, alpha)

    return watching
