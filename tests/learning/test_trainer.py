import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from unskew.data.rows import as_rows
from unskew.errors import TrainingDiverged
from unskew.learning.batches import Batches, batch_sizes
from unskew.learning.scoring import score_rows
from unskew.learning.trainer import Trainer
from unskew.rankers.labeling import labeling_risk
from unskew.records import PUData, ScoredBatch

WEIGHT = 10.0


def pu_data(n_labeled=30, n_unlabeled=170, seed=0, n_features=3):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n_labeled + n_unlabeled, n_features)).astype(np.float32)
    X[:n_labeled, 0] += 2
    rows = rng.permutation(len(X))
    labeled, unlabeled = rows[rows < n_labeled], rows[rows >= n_labeled]
    return PUData(as_rows(X), labeled, unlabeled, confidence=labeled / 100, weight=labeled * WEIGHT)


def test_labeling_risk_is_the_cross_entropy():
    batch = ScoredBatch(torch.tensor([1.0, -2.0]), torch.tensor([0.5, 0.0, -1.0]), alpha=0.4)
    labeled = (math.log(1 + math.exp(-1)) + math.log(1 + math.exp(2))) / 2
    unlabeled = (math.log(1 + math.exp(0.5)) + math.log(2) + math.log(1 + math.exp(-1))) / 3
    assert labeling_risk(batch).item() == pytest.approx(0.4 * labeled + 0.6 * unlabeled)


@given(st.integers(1, 50), st.integers(1, 400), st.integers(2, 64), st.integers(0, 1000))
def test_an_epoch_walks_all_unlabeled_once_and_repeats_nobody_in_a_batch(n_labeled, n_unlabeled, batch_size, seed):
    data = pu_data(n_labeled, n_unlabeled, n_features=1)
    identity = as_rows(np.arange(n_labeled + n_unlabeled, dtype=np.float32)[:, None])  # each row says its number
    batches = Batches(
        PUData(identity, data.labeled_rows, data.unlabeled_rows, data.confidence, None, data.weight), batch_size, "cpu"
    )
    seen_unlabeled, seen_labeled = [], []
    n_batches = 0
    for features, batch_of in batches.draw_epoch(torch.Generator().manual_seed(seed)):
        rows = features[:, 0].clone()
        batch = batch_of(rows)
        assert len(rows) <= batch_size
        assert len(set(rows.tolist())) == len(rows)
        # Weight and confidence belong to the labeled rows of this batch.
        np.testing.assert_allclose(batch.weight, batch.labeled * WEIGHT)
        np.testing.assert_allclose(batch.confidence, batch.labeled / 100, rtol=1e-6)
        assert batch.alpha == data.alpha
        seen_unlabeled += batch.unlabeled.tolist()
        seen_labeled += batch.labeled.tolist()
        n_batches += 1
    assert n_batches == batches.n_steps
    assert sorted(seen_unlabeled) == sorted(data.unlabeled_rows)
    assert set(seen_labeled) <= set(data.labeled_rows)


def test_batch_sizes_keep_the_ratio_of_the_data():
    def data(n_labeled, n_unlabeled):
        return PUData(None, np.arange(n_labeled), np.arange(n_unlabeled))

    assert batch_sizes(data(100, 4900), 1024) == (20, 1004)
    assert batch_sizes(data(25, 4975), 1024) == (5, 1019)
    assert batch_sizes(data(5, 100_000), 1024) == (2, 1022)  # at least two labeled: one pair of them
    assert batch_sizes(data(1, 100_000), 1024) == (1, 1023)
    assert batch_sizes(data(5, 100_000), 2) == (1, 1)
    assert batch_sizes(data(5, 45), 1024) == (5, 45)  # no more than there are


def test_the_kept_weights_are_those_of_the_lowest_validation_risk():
    data, held_out = pu_data(), pu_data(seed=1)
    trained = Trainer("linear", max_epochs=40, learning_rate=0.1).minimize(
        labeling_risk, data, held_out, np.random.RandomState(0)
    )
    risks = [row.validation_risk for row in trained.history]
    assert [row.epoch for row in trained.history] == list(range(40))
    assert trained.best_epoch == int(np.argmin(risks))
    scores = [
        score_rows(trained.network, held_out.X, rows) for rows in (held_out.labeled_rows, held_out.unlabeled_rows)
    ]
    assert labeling_risk(ScoredBatch(*scores, held_out.alpha)).item() == pytest.approx(min(risks), rel=1e-5)
    assert trained.history[-1].train_risk < trained.history[0].train_risk


def test_patience_stops_early_and_keeps_the_same_best():
    # With this rate the validation risk turns up soon.
    data, held_out = pu_data(), pu_data(seed=1)
    run = {"risk": labeling_risk, "data": data, "held_out": held_out}
    full = Trainer("mlp", max_epochs=60, learning_rate=0.01).minimize(**run, rng=np.random.RandomState(0))
    short = Trainer("mlp", max_epochs=60, learning_rate=0.01, patience=3).minimize(**run, rng=np.random.RandomState(0))
    assert len(short.history) < 60
    assert short.history == full.history[: len(short.history)]
    assert len(short.history) - 1 - short.best_epoch == 3


def test_same_seed_same_weights_and_no_global_seed_touched():
    data = pu_data()
    state, numpy_state = torch.random.get_rng_state(), np.random.get_state()  # noqa: NPY002
    runs = [
        Trainer(network, max_epochs=3).minimize(labeling_risk, data, data, np.random.RandomState(seed)).network
        for network in ("mlp", dropout_network)
        for seed in (5, 5, 6)
    ]
    scores = [score_rows(network, data.X) for network in runs]
    assert torch.equal(scores[0], scores[1])
    assert torch.equal(scores[3], scores[4])
    assert not torch.equal(scores[0], scores[2])
    assert not torch.equal(scores[3], scores[5])
    assert torch.equal(torch.random.get_rng_state(), state)
    np.testing.assert_equal(np.random.get_state(), numpy_state)  # noqa: NPY002


def dropout_network(shape):
    return nn.Sequential(nn.Linear(shape[0], 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 1))


def test_dropout_is_off_when_scoring():
    data = pu_data()
    network = (
        Trainer(dropout_network, max_epochs=1).minimize(labeling_risk, data, data, np.random.RandomState(0)).network
    )
    assert torch.equal(score_rows(network, data.X), score_rows(network, data.X))


def test_a_network_with_two_outputs_is_told():
    data = pu_data()
    with pytest.raises(ValueError, match=r"one score per row, shape \(n,\) or \(n, 1\), but it gave \(200, 2\)"):
        Trainer(lambda shape: nn.Linear(shape[0], 2)).minimize(labeling_risk, data, data, np.random.RandomState(0))


def test_divergence_is_told_with_a_way_out():
    data = pu_data()
    with pytest.raises(TrainingDiverged, match=r"in epoch 0 it is .*Standardize X, lower learning_rate \(now 0.1\)"):
        Trainer(learning_rate=0.1).minimize(
            lambda batch: batch.labeled.mean() * torch.inf, data, data, np.random.RandomState(0)
        )


def test_keeping_the_last_epoch():
    data, held_out = pu_data(), pu_data(seed=1)
    trainer = Trainer("mlp", max_epochs=30, learning_rate=0.05, keep="last")
    assert trainer.minimize(labeling_risk, data, held_out, np.random.RandomState(0)).best_epoch == 29


def test_sparse_and_dense_rows_are_the_same():
    from scipy import sparse

    X = np.random.RandomState(0).binomial(1, 0.2, size=(20, 6)).astype(np.float32)
    index = np.array([3, 3, 0, 19])
    dense, thin = as_rows(X), as_rows(sparse.csr_matrix(X))
    assert (len(dense), dense.shape) == (len(thin), thin.shape) == (20, (6,))
    np.testing.assert_array_equal(dense.take(index), X[index])
    for rows in (dense, thin):
        buffer = np.full((4, 6), 7, dtype=np.float32)
        rows.take(index, out=buffer)
        np.testing.assert_array_equal(buffer, X[index])


def test_a_frozen_network_is_told():
    data = pu_data()
    with pytest.raises(ValueError, match="must have weights to train, but none of its parameters requires a gradient"):
        Trainer(lambda shape: nn.Linear(shape[0], 1).requires_grad_(False)).minimize(
            labeling_risk, data, data, np.random.RandomState(0)
        )


def test_no_epoch_is_drawn_that_is_not_asked_for(monkeypatch):
    drawn, draw = [], Batches._draw
    monkeypatch.setattr(Batches, "_draw", lambda self, generator: drawn.append(self) or draw(self, generator))
    data = pu_data(4, 10)  # so few rows that thousands of epochs could be drawn at once
    Trainer("linear", max_epochs=3).minimize(labeling_risk, data, data, np.random.RandomState(0))
    assert len(drawn) == 3


@pytest.mark.parametrize("ahead", [True, False])
def test_epochs_drawn_ahead_are_those_drawn_one_by_one(ahead, monkeypatch):
    if not ahead:
        monkeypatch.setattr("unskew.data.rows.Rows.prepares_for_order", True)
    X = as_rows(np.arange(60, dtype=np.float32).reshape(60, 1))
    data = PUData(X, np.arange(7), np.arange(7, 60), weight=np.arange(1.0, 8.0))
    batches, generator = Batches(data, 20, "cpu", n_epochs=3), torch.Generator().manual_seed(0)
    assert batches.n_ahead == (3 if ahead else 1)
    epochs = [[rows.ravel().tolist() for rows, _ in batches.draw_epoch(generator)] for _ in range(3)]
    by_hand = torch.Generator().manual_seed(0)
    for epoch in epochs:
        n_labeled, n_steps = batches.n_labeled, len(epoch)
        assert sorted(row for rows in epoch for row in rows[n_labeled:]) == list(range(7, 60))
        n_passes = -(-n_steps // (7 // n_labeled))
        labeled = torch.cat(
            [torch.randperm(7, generator=by_hand)[: 7 // n_labeled * n_labeled] for _ in range(n_passes)]
        )
        order = torch.randperm(53, generator=by_hand).numpy()
        assert [row for rows in epoch for row in rows[:n_labeled]] == labeled[: n_steps * n_labeled].tolist()
        assert [rows[n_labeled:] for rows in epoch] == [sorted(7 + part) for part in np.array_split(order, n_steps)]


@pytest.mark.parametrize("network", ["mlp", "linear"])
def test_a_batch_size_beyond_all_rows_takes_no_memory_beyond_them(network):
    trainer = Trainer(network, max_epochs=1, batch_size=10**12)
    assert len(trainer.minimize(labeling_risk, pu_data(), pu_data(), np.random.RandomState(0)).history) == 1


def test_rows_are_looked_at_only_where_a_network_depends_on_them():
    data, taken = pu_data(), []
    plain = data.X.take
    data.X.take = lambda rows, out=None: taken.append(len(rows)) or plain(rows, out)
    for network, most in (("mlp", 1), ("kernel", 200)):
        taken.clear()
        Trainer(network, max_epochs=1).minimize(labeling_risk, data, data, np.random.RandomState(0))
        assert taken[0] == most
