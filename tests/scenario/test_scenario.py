"""Selection biases, what happens to confidence, annotators, and a labeling probability with noise."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.utils import check_random_state

from unskew.learning.networks import build_network
from unskew.learning.trainer import Trainer, new_generator
from unskew.rankers.labeling import LabelingNetwork
from unskew.records import RawData
from unskew.scenario import SOURCES, Sizes, draw_split, select_confident
from unskew.scenario.confidence import (
    TRANSFORMS,
    NoisyLabeling,
    in_levels,
    noisy,
    odds_power,
    power,
    share_of_votes,
    trees_confidence,
)
from unskew.weights import CLIP


def test_confident_positives_are_selected_by_the_odds_of_app_f4():
    confidence = np.array([0.1, 0.5, 0.9])
    counts = np.zeros(3)
    rng = np.random.RandomState(0)
    for _ in range(20_000):
        counts[select_confident(np.arange(3), confidence, 1, rng)] += 1
    expected = expit(4 * confidence - 2) / expit(4 * confidence - 2).sum()
    assert counts / 20_000 == pytest.approx(expected, abs=0.012)  # more than 3 standard errors


def test_no_more_are_selected_than_there_are():
    chosen = select_confident(np.arange(5, 9), np.full(4, 0.5), 4, np.random.RandomState(0))
    assert sorted(chosen) == [5, 6, 7, 8]
    with pytest.raises(ValueError, match="5 rows must be labeled, but there are only 4 positives"):
        select_confident(np.arange(4), np.full(4, 0.5), 5, np.random.RandomState(0))


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
def test_transforms_rise_strictly_within_zero_and_one(transform):
    r = np.linspace(0, 1, 101)
    for k in (0.25, 1.0, 4.0):
        changed = transform(r, k)
        assert (np.diff(changed) > 0).all()
        assert changed[[0, -1]] == pytest.approx([0, 1])
    assert transform(r, 1.0) == pytest.approx(r)
    assert np.isnan(transform(np.array([np.nan]), 2.0)).all()


def test_transforms_by_hand():
    assert power(np.array([0.3]), 2) == pytest.approx([0.09])
    assert odds_power(np.array([0.3]), 2) == pytest.approx([0.09 / (0.09 + 0.49)])


def test_noise_has_its_deviation_and_stays_inside():
    r = np.r_[np.full(50_000, 0.5), np.nan, 0.0, 1.0]
    changed = noisy(r, 0.1, np.random.RandomState(0))
    assert changed[:50_000].std() == pytest.approx(0.1, rel=0.02)
    assert changed[:50_000].mean() == pytest.approx(0.5, abs=0.002)
    assert np.isnan(changed[50_000])
    assert np.nanmin(changed) >= 0
    assert np.nanmax(changed) <= 1
    assert noisy(np.zeros(1000), 0.1, np.random.RandomState(0), least=0.01).min() == 0.01


def test_levels_by_hand():
    r = np.array([0.0, 0.24, 0.25, 0.5, 0.74, 0.75, 1.0, np.nan])
    expected = [0.125, 0.125, 0.375, 0.625, 0.625, 0.875, 0.875, np.nan]
    assert in_levels(r, 4) == pytest.approx(expected, nan_ok=True)
    assert in_levels(np.array([0.0, 0.3, 1.0]), 1).tolist() == [0.5, 0.5, 0.5]


def test_votes_are_those_of_the_drawn_people():
    r = np.array([0.0, 0.3, np.nan, 1.0])
    people = np.random.RandomState(0).uniform(size=(4, 5))
    expected = [0.0, sum(people[1] < 0.3) / 5, np.nan, 1.0]
    assert share_of_votes(r, 5, np.random.RandomState(0)) == pytest.approx(expected, nan_ok=True)


def test_votes_have_the_law_of_a_binomial_share():
    shares = share_of_votes(np.full(20_000, 0.3), 5, np.random.RandomState(0))
    assert set(np.round(5 * shares).astype(int)) == set(range(6))
    assert 5 * shares == pytest.approx(np.round(5 * shares))
    assert shares.mean() == pytest.approx(0.3, abs=0.005)  # more than 3 standard errors
    assert shares.var() == pytest.approx(0.3 * 0.7 / 5, rel=0.04)


@pytest.mark.parametrize("shape", [(3,), (3, 12, 12)])
def test_confidence_of_trees_rises_with_the_true_one(shape):
    """Of images as of tables; those see only principal components, so the first one must carry the class."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(3000, *shape)).astype(np.float32)
    z = rng.normal(size=3000)
    X += 2 * z.reshape(-1, *[1] * len(shape)).astype(np.float32)
    y = (rng.uniform(size=3000) < expit(2 * z)).astype(int)
    found = trees_confidence(X[:2000], y[:2000], X[2000:], np.random.RandomState(1))
    assert np.corrcoef(found, expit(2 * z[2000:]))[0, 1] > 0.85
    again = trees_confidence(X[:2000], y[:2000], X[2000:], np.random.RandomState(1))
    assert (found == again).all()


def test_trees_give_another_confidence_to_the_same_parts():
    raw = annotated_raw(2000)
    features = np.c_[raw.y + np.random.RandomState(1).normal(size=2000), raw.X[:, 0]].astype(np.float32)
    raw = RawData(features, raw.y, raw.classes, raw.favored)
    options = {"prior": 0.3, "label_freq": 0.3, "sizes": Sizes(400, 200, 400, 100), "trainer": Trainer(max_epochs=1)}
    network, trees = (draw_split(raw, rng=check_random_state(0), source=source, **options) for source in SOURCES)
    assert (network.train.X == trees.train.X).all()
    assert (network.test_X == trees.test_X).all()
    both = (network.train.y == 1) & (trees.train.y == 1)
    assert both.any()
    assert (network.train.confidence[both] != trees.train.confidence[both]).all()
    with pytest.raises(ValueError, match="source must be one of network, trees, but it is 'forest'"):
        draw_split(raw, rng=check_random_state(0), source="forest", **options)


@pytest.mark.parametrize("shape", [(4,), (3, 32, 32)])
def test_noisy_labeling_is_the_exact_one_and_noise(shape):
    import torch

    rng = np.random.RandomState(0)
    kind = "mlp" if len(shape) == 1 else "cnn"
    network = build_network(kind, torch.zeros(1, *shape), new_generator(rng))
    exact = LabelingNetwork(network, kind, shape)
    X = rng.uniform(size=(300, *shape)).astype(np.float32)
    labeling = NoisyLabeling(exact, 0.02, np.random.RandomState(1))
    noise = labeling.predict_proba(X.reshape(300, -1))[:, 1] - exact.predict_proba(X)[:, 1]
    assert noise == pytest.approx(0.02 * np.random.RandomState(1).standard_normal(300), abs=1e-7)
    strong = NoisyLabeling(exact, 10.0, np.random.RandomState(1)).predict_proba(X)
    assert strong[:, 1].min() == CLIP
    assert strong.sum(axis=1) == pytest.approx(np.ones(300))


def annotated_raw(n=600):
    """Half of the rows annotated; the number of each row is its only feature."""
    rng = np.random.RandomState(0)
    y = rng.permutation(np.repeat([0, 1], n // 2))
    annotated = np.arange(n) < n // 2
    confidence = np.where(annotated, np.where(y == 1, 0.9, 0.1), np.nan)
    return RawData(np.arange(n, dtype=np.float32)[:, None], y, y, (y == 1) & (np.arange(n) % 2 == 0), confidence)


def test_annotated_instances_are_seen_and_the_others_test():
    raw = annotated_raw()
    sizes = Sizes(train=120, validation=60, test=80)
    split = draw_split(raw, prior=0.2, label_freq=0.5, rng=check_random_state(0), sizes=sizes)
    train, validation, test = (part[:, 0].astype(int) for part in (split.train.X, split.validation.X, split.test_X))
    assert (len(train), len(validation), len(test)) == (120, 60, 80)
    assert max(train.max(), validation.max()) < 300 <= test.min()
    assert not set(train) & set(validation)
    assert raw.y[train].mean() == pytest.approx(0.2)
    assert raw.y[test].mean() == pytest.approx(0.5)
    labeled = split.train.y == 1
    assert labeled.sum() == 12
    assert raw.favored[train[labeled]].sum() == round(0.9 * 12)
    assert (split.train.confidence[labeled] == 0.9).all()
    assert np.isnan(split.train.confidence[~labeled]).all()
    with pytest.raises(ValueError, match="need .* instances of class 0, but there are"):
        draw_split(raw, prior=0.05, label_freq=0.5, rng=check_random_state(0), sizes=Sizes(train=290))


def test_confidence_bias_prefers_confident_positives():
    raw = annotated_raw(4000)
    confidence = np.where(np.isnan(raw.confidence), np.nan, np.random.RandomState(1).uniform(size=4000))
    raw = RawData(raw.X, raw.y, raw.classes, raw.favored, confidence)
    sizes = Sizes(train=1500, validation=100, test=100)
    options = {"prior": 0.5, "label_freq": 0.2, "sizes": sizes, "trainer": Trainer()}
    by_favor, by_confidence = (
        draw_split(raw, rng=check_random_state(0), selection=selection, **options)
        for selection in ("favored", "confidence")
    )
    assert np.nanmean(by_favor.train.confidence) == pytest.approx(0.5, abs=0.08)
    assert np.nanmean(by_confidence.train.confidence) > 0.57  # 0.6 by the law
