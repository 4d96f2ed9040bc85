"""Data sets, the toy law's own truth, and the experiment's split."""

import numpy as np
import pytest
from scipy import integrate
from sklearn.utils import check_random_state

from unskew import datasets
from unskew.datasets import toy
from unskew.learning.trainer import Trainer
from unskew.metrics import auc
from unskew.scenario import Sizes, draw_split, select_favored


def test_toy_law_is_consistent():
    law = toy.ToyLaw()
    data = toy.draw(400_000, law, 0)
    assert data.y.mean() == pytest.approx(law.prior, abs=0.003)
    assert data.labeled[data.y == 1].mean() == pytest.approx(law.label_freq, abs=0.006)
    assert data.labeled[data.y == 0].sum() == 0  # Eq. (5): negatives are never labeled
    assert data.labeled.mean() == pytest.approx(law.alpha, abs=0.003)
    # Calibration of posterior and labeling probability, in ten bins each.
    for prob, truth in ((law.posterior(data.X), data.y), (data.labeling_prob, data.labeled)):
        bins = np.digitize(prob, np.quantile(prob, np.linspace(0.1, 0.9, 9)))
        for each in range(10):
            assert truth[bins == each].mean() == pytest.approx(prob[bins == each].mean(), abs=0.01)
    # Eqs. (13) and (14): weighting labeled instances by r / u gives back the positives.
    labeled = data.labeled == 1
    weight = data.confidence[labeled] / data.labeling_prob[labeled]
    assert np.average(data.X[labeled], axis=0, weights=weight) == pytest.approx(
        data.X[data.y == 1].mean(axis=0), abs=0.03
    )
    assert auc(data.y, data.X @ [1, 0.3]) == pytest.approx(law.linear_auc([1, 0.3]), abs=0.003)


def test_toy_label_frequency_by_quadrature():
    law = toy.ToyLaw(easy_share=0.3, steepness=0.7)

    def mean_propensity(center):
        def integrand(x2):
            density = np.exp(-((x2 - center[1]) ** 2) / 2) / np.sqrt(2 * np.pi)
            return law.propensity(np.array([[0.0, x2]]))[0] * density

        return integrate.quad(integrand, center[1] - 10, center[1] + 10)[0]

    expected = 0.3 * mean_propensity(law.easy) + 0.7 * mean_propensity(law.hard)
    assert law.label_freq == pytest.approx(expected)


def test_two_samples_of_the_toy_law():
    data = toy.draw_two_samples(5000, 50_000, random_state=0)
    labeled = data.labeled == 1
    assert labeled.sum() == 5000
    assert data.y[~labeled].mean() == pytest.approx(data.law.prior, abs=0.01)
    # E_l[r / w] is the prior, Eq. (105).
    assert np.mean(data.confidence[labeled] / data.labeling_prob[labeled]) == pytest.approx(data.law.prior, abs=0.01)


def test_digits_need_no_download():
    raw = datasets.load("digits")
    assert raw.X.min() == 0
    assert raw.X.max() == 1
    np.testing.assert_array_equal(raw.y, raw.classes % 2)


def test_a_split_is_disjoint_biased_and_has_the_asked_shares():
    raw = datasets.load("digits")
    sizes = Sizes(train=400, validation=100, confidence=200, test=200)
    # Each row says its number, so that overlaps would show.
    numbered = type(raw)(np.arange(1797, dtype=np.float32)[:, None] / 2048, raw.y, raw.classes, raw.favored)
    split = draw_split(
        numbered, prior=0.2, label_freq=0.5, rng=check_random_state(0), sizes=sizes, trainer=Trainer(max_epochs=1)
    )
    parts = [split.train.X, split.validation.X, split.test_X]
    rows = [set((2048 * part.ravel()).astype(int)) for part in parts]
    assert [len(each) for each in rows] == [400, 100, 200]
    assert not rows[0] & rows[1] | rows[0] & rows[2] | rows[1] & rows[2]
    assert split.test_y.mean() == 0.5
    train = (2048 * split.train.X.ravel()).astype(int)
    assert raw.y[train].mean() == 0.2
    labeled = split.train.y == 1
    assert labeled.sum() == 40
    assert raw.y[train[labeled]].all()
    assert np.isin(raw.classes[train[labeled]], (1, 3, 5)).mean() == 0.9
    assert np.isnan(split.train.confidence[~labeled]).all()
    assert ((split.train.confidence[labeled] > 0) & (split.train.confidence[labeled] < 1)).all()
    with pytest.raises(ValueError, match="need .* instances of class 0, but there are 891"):
        draw_split(raw, prior=0.2, label_freq=0.5, rng=check_random_state(0))


def test_selection_says_when_there_are_too_few():
    favored = np.array([True] * 9 + [False])
    with pytest.raises(ValueError, match="10 rows must be labeled, 1 of them not favored, but there are only 0 such"):
        select_favored(np.arange(10), np.ones(10, dtype=bool), 10, np.random.RandomState(0))
    chosen = select_favored(np.arange(10), favored, 10, np.random.RandomState(0))
    assert sorted(chosen) == list(range(10))
