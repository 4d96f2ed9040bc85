import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unskew
from conftest import QUICK
from unskew.errors import NoHoldOutWarning
from unskew.holdout import hold_out
from unskew.records import PUData
from unskew.rows import as_rows


def data(n_labeled, n_unlabeled):
    rows = np.arange(n_labeled + n_unlabeled)
    return PUData(as_rows(rows[:, None]), rows[:n_labeled], rows[n_labeled:], confidence=rows[:n_labeled] / 100)


@given(st.integers(4, 60), st.integers(2, 60), st.floats(0.01, 0.99), st.integers(0, 2**31))
def test_every_instance_is_on_one_side_and_two_labeled_on_both(n_labeled, n_unlabeled, fraction, seed):
    whole = data(n_labeled, n_unlabeled)
    train, held_out = hold_out(whole, fraction, np.random.RandomState(seed))
    assert min(train.n_labeled, held_out.n_labeled) >= 2
    assert min(train.n_unlabeled, held_out.n_unlabeled) >= 1
    assert sorted([*train.labeled_rows, *held_out.labeled_rows]) == list(whole.labeled_rows)
    assert sorted([*train.unlabeled_rows, *held_out.unlabeled_rows]) == list(whole.unlabeled_rows)
    for part in (train, held_out):
        np.testing.assert_array_equal(part.confidence, part.labeled_rows / 100)


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
