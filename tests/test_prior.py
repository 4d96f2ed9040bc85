"""The cut that a share of positives sets, and the prior that leaves room for the labeled instances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unskew
from conftest import QUICK
from unskew.rankers._prior import cut


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=30), st.floats(0.01, 0.99))
def test_the_cut_flags_as_many_as_ties_allow(scores, share):
    score = np.array(scores, dtype=float)
    flagged = (score >= cut(score, share)).sum()
    possible = [(score >= value).sum() for value in np.unique(score)]
    wanted = len(score) - min(max(round((1 - share) * len(score)), 1), len(score) - 1)
    if len(possible) == 1:  # nothing to tell them apart by
        assert flagged == (len(score) if 2 * wanted > len(score) else 0)
    else:  # some, and not all
        nearest = min(abs(each - wanted) for each in possible if each < len(score))
        assert abs(flagged - wanted) == nearest
        assert 0 < flagged < len(score)


def test_predictions_of_tied_scores_are_near_the_prior():
    x = np.repeat([1.0, 0.0], [50, 950])
    y = np.zeros(1000, dtype=int)
    y[:25] = y[-5:] = 1
    ranker = unskew.make("conf-auc", **QUICK).fit(x[:, None], y, confidence=np.where(x == 1, 0.95, 0.5))
    assert 0.03 < ranker.prior_ < 0.2
    np.testing.assert_array_equal(ranker.predict(x[:, None]), x)


def test_the_prior_may_be_the_share_of_labeled_instances_but_not_less(toy_data):
    y = np.repeat([1, 0], [23, 277])
    exact = unskew.make("nnpu", prior=23 / 300, **QUICK).fit(toy_data.X, y)
    assert exact.label_freq_ == 1
    for prior in (0.99 * 23 / 300, 0.05):
        with pytest.raises(ValueError, match=r"at least the share of labeled instances, 0\.07667"):
            unskew.make("nnpu", prior=prior, **QUICK).fit(toy_data.X, y)
