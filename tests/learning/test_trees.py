"""Boosted trees: the arrays, what grows them, and the slopes they are grown on."""

import math
import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from unskew.data.records import PUData, ScoredBatch
from unskew.data.rows import as_rows
from unskew.errors import MissingExtra
from unskew.learning import boosting
from unskew.learning.boosted_trees import LAYOUT, BoostedTrees, check_arrays, joined_trees
from unskew.learning.boosting import (
    LIKELIHOOD,
    PAIRS,
    BinnedRows,
    Columns,
    TreeTrainer,
    _Slopes,
    dataset_of,
    rounded_down,
    trees_of,
)
from unskew.learning.scoring import score_rows
from unskew.learning.tree_pace import leaves_for, tree_pace_for
from unskew.objectives import pairs
from unskew.objectives.auc_risk import weighted_auc_risk
from unskew.objectives.pairs import SlopesOf, rounded_scores
from unskew.objectives.surrogates import logistic, sigmoid
from unskew.rankers.conf_fit import PULL, squared_risk

lgb = pytest.importorskip("lightgbm")


def risk(batch):
    return weighted_auc_risk(batch, sigmoid, "one-sample")


def record(n=600, n_labeled=60, seed=0, missing=False):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    X[:n_labeled, 0] += 1.5
    if missing:
        X[rng.uniform(size=X.shape) < 0.2] = np.nan
    return PUData(as_rows(X), np.arange(n_labeled), np.arange(n_labeled, n), weight=rng.uniform(1, 9, n_labeled))


def grown(X, y, leaves=31, rounds=20, **settings):
    quiet = {"objective": "binary", "num_leaves": leaves, "min_data_in_leaf": 2, "verbosity": -1, "num_threads": 1}
    return lgb.train({**quiet, **settings}, lgb.Dataset(X, y, params=quiet), rounds)


def as_arrays(booster):
    return joined_trees(list(trees_of(booster.model_to_string())), 0.0)


def test_slopes_are_those_of_a_double_loop_times_what_makes_their_mean_one():
    data, rng = record(40, 8), np.random.RandomState(1)
    slopes, score, w, alpha = _Slopes(risk, data, 0.0, PAIRS), rng.normal(size=40), data.weight, 8 / 40
    at_zero, expected = (np.zeros(40) for _ in range(2))
    for found, s in ((at_zero, np.zeros(40)), (expected, score)):
        for n in range(8):
            for m in range(40):
                if n != m:
                    share = alpha / (8 * 7) if m < 8 else (1 - alpha) / (8 * 32)
                    value = 1 / (1 + math.exp(s[n] - s[m]))
                    found[n] -= share * w[n] * value * (1 - value)
                    found[m] += share * w[n] * value * (1 - value)
    first, _ = slopes(np.zeros(40), None)
    gradient, curvature = slopes(score, None)
    assert np.abs(first[:8]).mean() == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(gradient, expected / np.abs(at_zero[:8]).mean(), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(curvature, np.abs(gradient), atol=1e-6)
    # The scale of which the top of the module speaks.
    assert 1 / np.abs(at_zero[:8]).mean() == pytest.approx(4 * 8 / ((1 - alpha) * w.mean()), rel=0.02)


def test_the_curvature_of_the_cross_entropy_is_exact():
    from unskew.rankers.labeling import labeling_risk

    data, score = record(50, 10), np.random.RandomState(0).normal(size=50)
    gradient, curvature = _Slopes(labeling_risk, data, 0.0, LIKELIHOOD)(score, None)
    p = 1 / (1 + np.exp(-score))
    np.testing.assert_allclose(gradient, p - np.repeat([1, 0], [10, 40]), atol=1e-5)
    np.testing.assert_allclose(curvature, p * (1 - p), atol=1e-5)


@pytest.mark.parametrize("surrogate", [sigmoid, logistic])
@pytest.mark.parametrize("scenario", ["one-sample", "two-sample"])
def test_rounded_scores_give_nearly_the_same_slopes(surrogate, scenario, monkeypatch):
    rng = np.random.RandomState(0)
    score, weight = torch.from_numpy(2 * rng.normal(size=3000)), torch.from_numpy(rng.uniform(1, 5, 300))
    found = []
    for least in (math.inf, 0):
        monkeypatch.setattr(pairs, "BINNED_PAIRS", least)
        slopes = SlopesOf(lambda batch: weighted_auc_risk(batch, surrogate, scenario))
        with rounded_scores():
            found.append(slopes(score, lambda s: ScoredBatch(s[:300], s[300:], 0.1, weight)))
    (value, exact), (rounded_value, rounded) = found
    assert float(rounded_value) == pytest.approx(float(value), rel=1e-3)
    assert (rounded - exact).abs().sum() < 1e-3 * exact.abs().sum()
    assert not torch.equal(rounded, exact)


def test_scores_too_far_apart_or_not_finite_are_not_rounded():
    score = torch.cat([torch.zeros(300), torch.full((300,), 1e6)])
    with rounded_scores():
        value = pairs.mean_over_pairs(score[:300], score[300:], sigmoid)
        assert float(value) == 1
        assert torch.isnan(pairs.mean_over_pairs(score[:300], score[300:] * math.nan, sigmoid))


@pytest.mark.parametrize("leaves", [2, 4, 31, 32, 33, 90])
def test_scores_are_those_of_lightgbm(leaves):
    rng = np.random.RandomState(0)
    X = np.round(rng.normal(size=(1500, 5)), 1).astype(np.float32)
    X[:, 3] = rng.choice([0, 0, 0, 1e-38, 5], 1500)
    X[rng.uniform(size=1500) < 0.2, 1] = np.nan
    booster = grown(X, X[:, 0] * X[:, 2] + np.nan_to_num(X[:, 1]) > 0.3, leaves)
    network = BoostedTrees.from_arrays(as_arrays(booster), 5)
    at_thresholds = np.tile(X[:200], (1, 1))
    for tree in network.trees()[:5]:  # rows exactly at thresholds, just above, missing and zero everywhere
        for feature, threshold in zip(tree.split_feature, tree.threshold, strict=True):
            some = rng.randint(200, size=3)
            at_thresholds[some, feature] = [threshold, np.nextafter(threshold, np.float32(np.inf)), np.nan]
    odd = np.array([[0] * 5, [np.nan] * 5, [-0.0] * 5, [3e38] * 5, [-3e38] * 5], dtype=np.float32)
    rows = np.concatenate([X, at_thresholds, odd])
    expected = booster.predict(rows.astype(np.float64), raw_score=True)
    np.testing.assert_allclose(network(torch.from_numpy(rows)).numpy(), expected, atol=1e-9)
    np.testing.assert_allclose(score_rows(network, as_rows(rows)).numpy(), expected, atol=1e-6)


@pytest.mark.parametrize("leaves", [4, 31, 60])
def test_sets_of_categories_are_scored_as_by_lightgbm(leaves):
    rng = np.random.RandomState(0)
    first, second, numbers = rng.randint(45, size=2000), rng.randint(5, size=2000), rng.normal(size=(2000, 2))
    y = np.sin(3.3 * first) + 0.5 * np.cos(second) + 0.5 * numbers[:, 0] + 0.3 * rng.normal(size=2000) > 0.4
    X = np.column_stack([numbers[:, 0], np.eye(45)[first], numbers[:, 1], np.eye(5)[second]]).astype(np.float32)
    X[:60, 1:46] = 0  # a word that was not known in training
    columns = Columns(52, (tuple(range(1, 46)), tuple(range(47, 52))))
    codes = columns.fold(X)
    assert np.isnan(codes[:60, 2]).all()
    np.testing.assert_array_equal(codes[60:], np.column_stack([numbers, first, second]).astype(np.float32)[60:])
    free = {"min_data_per_group": 5, "cat_smooth": 1, "max_cat_to_onehot": 1}
    quiet = {"objective": "binary", "num_leaves": leaves, "min_data_in_leaf": 2, "verbosity": -1, "num_threads": 1}
    data = lgb.Dataset(codes[60:], y[60:], params={**quiet, **free}, categorical_feature=[2, 3])
    booster = lgb.train({**quiet, **free}, data, 20)
    arrays = joined_trees(list(trees_of(booster.model_to_string(), columns)), 0.0)
    assert (arrays["n_members"] > 1).sum() > 20
    network = BoostedTrees.from_arrays(arrays, 52)
    expected = booster.predict(codes.astype(np.float64), raw_score=True)
    np.testing.assert_allclose(network(torch.from_numpy(X)).numpy(), expected, atol=1e-9)
    again = pickle.loads(pickle.dumps(network.first(10)))
    expected = booster.predict(codes.astype(np.float64), raw_score=True, num_iteration=10)
    np.testing.assert_allclose(again(torch.from_numpy(X)).numpy(), expected, atol=1e-9)


def test_arrays_of_earlier_versions_have_no_sets():
    arrays = as_arrays(grown(np.random.RandomState(0).normal(size=(99, 5)), np.arange(99) % 2))
    older = {name: each for name, each in arrays.items() if name not in ("n_members", "member")}
    rows = torch.randn(30, 5, generator=torch.Generator().manual_seed(0))
    assert torch.equal(BoostedTrees.from_arrays(older, 5)(rows), BoostedTrees.from_arrays(arrays, 5)(rows))


def test_squares_begin_at_the_best_constant_with_their_own_curvature():
    data = replace(record(50, 10), confidence=np.linspace(0.1, 0.9, 10))
    squares = partial(squared_risk, low=-2.0, spread=1.5, two_sample=False)
    start = boosting._start_of(squares, data, boosting.SQUARES)
    y, w = np.log(data.confidence / (1 - data.confidence)), data.weight
    target, pull = 1 + (y + 2) / 1.5, PULL
    by_hand = (w * target).mean() / (w.mean() + pull)
    assert start == pytest.approx(by_hand, rel=1e-5)
    slopes = _Slopes(squares, data, 0.0, boosting.SQUARES)
    score = np.random.RandomState(0).normal(size=50)
    for _ in range(2):
        gradient, curvature = slopes(score, None)
        own = np.concatenate([w / 10 + pull * 0.2 / 10, np.full(40, pull * 0.8 / 40)])  # halves of the curvature
        np.testing.assert_allclose(curvature, own / own[:10].mean(), rtol=1e-3, atol=2e-6)
        slope = own * score - np.concatenate([w * target / 10, np.zeros(40)])
        np.testing.assert_allclose(gradient, slope / own[:10].mean(), rtol=1e-3, atol=1e-4)
        score = score + 0.5


def test_rows_that_nothing_splits_end_in_no_tree():
    data = record(60, 10)
    alike = replace(data, X=as_rows(np.ones((60, 3), dtype=np.float32)))
    trained = TreeTrainer("trees", max_epochs=200).minimize(risk, alike, alike, np.random.RandomState(0))
    assert len(trained.history) == 1
    assert trained.network.trees() == []


def test_thresholds_are_rounded_so_that_the_same_numbers_are_above():
    near = np.array([0.1, -0.1, 1.0, 1e-35, -1e-35, 1e300, -1e300])
    down = rounded_down(near)
    assert down.dtype == np.float32
    assert (down[:-1] <= near[:-1]).all()
    assert (np.nextafter(down[:4], np.float32(np.inf)) > near[:4]).all()
    assert down[5] == np.finfo(np.float32).max


def test_missing_values_go_where_they_went_in_training():
    X = np.random.RandomState(0).normal(size=(400, 2)).astype(np.float32)
    X[:150, 0] = np.nan
    y = np.isnan(X[:, 0]) | (X[:, 0] > 1)
    network = BoostedTrees(2, as_arrays(grown(X, y, 4)))
    found = network(torch.tensor([[math.nan, 0.0], [2.0, 0.0], [-1.0, 0.0]]))
    assert found[0] > found[2]
    assert found[1] > found[2]
    # Where none was missing in training, a missing value counts as 0.
    full = np.nan_to_num(X, nan=3.0)
    network = BoostedTrees(2, as_arrays(grown(full, y, 4)))
    assert network(torch.tensor([[math.nan, math.nan]])) == network(torch.tensor([[0.0, 0.0]]))


def test_boosting_lowers_the_risk_and_keeps_the_best_round():
    data, held_out = record(), record(seed=1)
    trained = TreeTrainer("trees", max_epochs=60, learning_rate=0.1).minimize(
        risk, data, held_out, np.random.RandomState(0)
    )
    assert trained.history[-1].train_risk < 0.8 * trained.history[0].train_risk
    validation = [row.validation_risk for row in trained.history]
    assert trained.best_epoch == int(np.argmin(validation))
    assert len(trained.network.trees()) == trained.best_epoch + 1
    score = score_rows(trained.network, held_out.X)
    at_best = risk(ScoredBatch(score[:60], score[60:], held_out.alpha, torch.from_numpy(held_out.weight).float()))
    assert float(at_best) == pytest.approx(min(validation), rel=1e-3)


def test_patience_ends_boosting_and_last_keeps_all_rounds():
    data, held_out = record(200, 20), record(200, 20, seed=1)
    trainer = TreeTrainer("trees", max_epochs=200, learning_rate=0.3, patience=3)
    trained = trainer.minimize(risk, data, held_out, np.random.RandomState(0))
    assert len(trained.history) == trained.best_epoch + 4 < 200
    last = replace(trainer, keep="last", patience=None, max_epochs=12)
    assert len(last.minimize(risk, data, held_out, np.random.RandomState(0)).network.trees()) == 12


def test_rows_in_bins_are_shared_by_parts():
    data = record()
    part = replace(data, labeled_rows=data.labeled_rows[::2], unlabeled_rows=data.unlabeled_rows[::3], weight=None)
    binned = BinnedRows(data)
    assert binned.part(data) is binned.whole
    assert binned.part(part).num_data() == 30 + 180
    assert binned.part(record()) is None
    assert binned.part(replace(part, labeled_rows=part.labeled_rows[::-1])) is None


def test_rows_in_a_sparse_matrix_and_images():
    from scipy import sparse

    X = np.random.RandomState(0).normal(size=(50, 6)) * (np.random.RandomState(1).uniform(size=(50, 6)) < 0.3)
    assert dataset_of(as_rows(sparse.csr_array(X)), np.arange(50)).num_data() == 50
    assert dataset_of(as_rows(X.reshape(50, 1, 2, 3)), np.arange(50)).num_feature() == 6


def test_trees_do_not_go_on():
    data = record(100, 10)
    trained = TreeTrainer("trees", max_epochs=2).minimize(risk, data, data, np.random.RandomState(0))
    with pytest.raises(ValueError, match="grown from the first to the last in one go, but this method goes on"):
        TreeTrainer("trees").minimize(risk, data, data, np.random.RandomState(0), start=trained)


def test_without_the_package_an_extra_is_asked_for(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
    with pytest.raises(MissingExtra, match=r"pip install 'unskew\[trees\]'"):
        boosting.lightgbm()


def test_pace_by_size():
    assert tree_pace_for(5000, 100)[:3:2] == (200, 0.05)
    assert tree_pace_for(5000, 100, 4.0)[:3:2] == (200, 0.1)
    assert tree_pace_for(10**6, 10**4)[:3:2] == (100, 0.1)
    assert (leaves_for(5000, 149), leaves_for(5000, 150)) == (4, 8)
    assert (leaves_for(5000, 100), leaves_for(10**6, 10**4), leaves_for(10**6, 100)) == (4, 31, 4)


def test_trees_are_copied_and_printed():
    network = BoostedTrees(5, as_arrays(grown(np.random.RandomState(0).normal(size=(99, 5)), np.arange(99) % 2)))
    again = pickle.loads(pickle.dumps(network))
    rows = torch.randn(30, 5, generator=torch.Generator().manual_seed(0))
    assert torch.equal(again(rows), network(rows))
    assert "n_features=5, n_trees=20" in repr(again)
    assert torch.equal(BoostedTrees(5)(rows), torch.zeros(30, dtype=torch.float64))
    assert len(network.first(3).trees()) == 3


def set_to(name, place, value):
    def change(arrays):
        arrays[name] = arrays[name].copy()
        arrays[name][place] = value

    return change


def replaced(name, change):
    return lambda arrays: arrays.__setitem__(name, change(arrays[name]))


DAMAGES = [
    (lambda arrays: arrays.pop("threshold"), "of these types and dimensions"),
    (lambda arrays: arrays.__setitem__("more", np.zeros(1)), "of these types and dimensions"),
    (replaced("threshold", lambda a: a.astype(np.float64)), "of these types and dimensions"),
    (replaced("leaf_value", lambda a: a[None]), "of these types and dimensions"),
    (replaced("first_node", lambda a: a[:0]), "first nodes ascend"),
    (replaced("first_node", lambda a: a[1:]), "first nodes ascend"),
    (set_to("first_node", 1, 2**62), "first nodes ascend"),
    (set_to("first_node", 1, 0), "first nodes ascend"),
    (set_to("first_node", 1, -5), "first nodes ascend"),
    (replaced("leaf_value", lambda a: a[:-1]), "one entry for each"),
    (replaced("missing_left", lambda a: a[:-1]), "one entry for each"),
    (set_to("threshold", 0, np.nan), "finite, threshold too"),
    (set_to("leaf_value", -1, np.inf), "finite, leaf_value too"),
    (set_to("start", (), -np.inf), "finite, start too"),
    (set_to("split_feature", 3, 5), "splits by 5 features"),
    (set_to("split_feature", 3, -1), "splits by 5 features"),
    (replaced("member", lambda a: np.zeros(3, np.int32)), "of nodes with 3 members"),
    (set_to("n_members", 0, 1), "of nodes with 0 members"),
    (set_to("n_members", slice(0, 2), [-1, 1]), "of nodes with 0 members"),
    (replaced("member", lambda a: np.array([5], np.int32)), "splits by 5 features"),
    (set_to("left_child", 0, 0), "children that come later"),
    (set_to("right_child", 2, 1), "children that come later"),
    (set_to("left_child", 1, 10**6), "children that come later"),
    (set_to("right_child", 0, -(2**31)), "children that come later"),
    (set_to("right_child", slice(None), -1), "the child of one node each"),
]


@pytest.mark.parametrize(("damage", "words"), DAMAGES)
def test_arrays_that_are_no_trees_are_refused(damage, words):
    arrays = as_arrays(grown(np.random.RandomState(0).normal(size=(200, 5)), np.arange(200) % 2, 6, 4))
    check_arrays(arrays, 5)
    assert set(arrays) == set(LAYOUT)
    damage(arrays)
    with pytest.raises(ValueError, match=words):
        BoostedTrees.from_arrays(arrays, 5)


def test_few_rows_with_hardly_any_curvature_do_not_stop_lightgbm():
    from unskew.rankers.labeling import labeling_risk

    trainer = TreeTrainer("trees", max_epochs=40, learning_rate=0.2).for_labeling()
    for seed in range(10):
        data = record(70, 5, seed)
        trained = trainer.minimize(labeling_risk, data, data, np.random.RandomState(0))
        assert math.isfinite(trained.history[-1].train_risk)
