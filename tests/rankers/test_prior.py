"""The cut that a share of positives sets, and the prior that leaves room for the labeled instances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unskew
from quick_fits import QUICK
from unskew.rankers._prior import cut, share_of_positives
from unskew.records import PUData


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


def part(labeling_prob, confidence=None, *, n_unlabeled=0, sample_alpha=None):
    """A part of a sample, of which only counts, probabilities and confidence matter here."""
    return PUData(
        X=None,
        labeled_rows=np.arange(len(labeling_prob)),
        unlabeled_rows=np.arange(n_unlabeled),
        confidence=None if confidence is None else np.array(confidence),
        labeling_prob=np.array(labeling_prob),
        sample_alpha=sample_alpha,
    )


def test_the_prior_from_the_confidence_by_hand():
    # r / max(u, 0.1): 0.8 / 0.4 = 2, 0.5 / 0.1 = 5, 0.6 / 0.2 = 3 and, held out, 1 / 0.5 = 2; their mean is 3.
    train = part([0.4, 0.05, 0.2], [0.8, 0.5, 0.6], n_unlabeled=17)  # alpha = 3 / 20
    held_out = part([0.5], [1.0], n_unlabeled=1)  # its own share, 1 / 2, says nothing
    share = share_of_positives(None, [train, held_out], 0.1, "one-sample")
    assert share.prior == pytest.approx(0.15 * 3)
    assert share.trusted
    assert not share.impossible
    known = part([0.4, 0.05, 0.2], [0.8, 0.5, 0.6], n_unlabeled=17, sample_alpha=0.2)
    assert share_of_positives(None, [known, held_out], 0.1, "one-sample").prior == pytest.approx(0.2 * 3)
    # A part without confidence has no say: (2 + 5 + 3) / 3.
    unsure = part([0.01], n_unlabeled=1)
    assert share_of_positives(None, [train, unsure], 0.1, "one-sample").prior == pytest.approx(0.15 * 10 / 3)


def test_the_prior_from_the_confidence_of_two_samples_by_hand():
    # Density ratios: 0.8 / 4 = 0.2, 0.5 / 2 = 0.25 and 0.9 / 6 = 0.15; their mean is 0.2, whatever alpha is.
    for n_unlabeled in (1, 100):
        train, held_out = part([4.0, 2.0], [0.8, 0.5], n_unlabeled=n_unlabeled), part([6.0], [0.9], n_unlabeled=5)
        share = share_of_positives(None, [train, held_out], 0.1, "two-sample")
        assert share.prior == pytest.approx(0.2)
        assert share.trusted


def test_the_prior_without_confidence_by_hand():
    # max(u, 0.1): 0.4, 0.1, 0.4 and 0.3; their mean is 0.3.
    train, held_out = part([0.4, 0.05, 0.4], n_unlabeled=17), part([0.3], n_unlabeled=1)
    share = share_of_positives(None, [train, held_out], 0.1, "one-sample")
    assert share.prior == pytest.approx(0.15 / 0.3)
    assert not share.trusted
    known = part([0.4, 0.05, 0.4], n_unlabeled=17, sample_alpha=0.12)
    assert share_of_positives(None, [known, held_out], 0.1, "one-sample").prior == pytest.approx(0.12 / 0.3)
    ratios = part([4.0, 1.0, 6.0], n_unlabeled=17), part([9.0], n_unlabeled=1)  # their mean is 5
    share = share_of_positives(None, list(ratios), 0.1, "two-sample")
    assert share.prior == pytest.approx(1 / 5)
    assert not share.trusted


@pytest.mark.parametrize(
    ("labeling_prob", "confidence", "prior", "impossible"),
    [
        ([0.1, 0.1], [0.9, 0.9], 1.0, "a prior of 1.8"),  # 0.2 * 9
        ([0.8, 0.8], [0.4, 0.4], 0.2, "a prior of 0.1, below the share 0.2 of labeled instances"),  # 0.2 * 0.5
    ],
)
def test_an_impossible_prior_is_moved_to_the_next_possible_one(labeling_prob, confidence, prior, impossible):
    share = share_of_positives(None, [part(labeling_prob, confidence, n_unlabeled=8)], 0.01, "one-sample")
    assert share.prior == pytest.approx(prior)
    assert share.impossible == impossible


def test_the_prior_may_be_the_share_of_labeled_instances_but_not_less(toy_data):
    y = np.repeat([1, 0], [23, 277])
    exact = unskew.make("nnpu", prior=23 / 300, **QUICK).fit(toy_data.X, y)
    assert exact.label_freq_ == 1
    # Of a fold of a cross-validation one instance more than of the whole may be labeled.
    for prior in (22.5 / 300, 22.01 / 300):
        assert unskew.make("nnpu", prior=prior, **QUICK).fit(toy_data.X, y).prior_ == pytest.approx(23 / 300)
    for prior in (21.5 / 300, 0.05):
        with pytest.raises(ValueError, match=r"at least the share of labeled instances, 0\.07667"):
            unskew.make("nnpu", prior=prior, **QUICK).fit(toy_data.X, y)
