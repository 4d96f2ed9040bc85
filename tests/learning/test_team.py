from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

import unskew
from team_workers import (
    METHODS,
    N_SHARDS,
    network_in_float64,
    records_of,
    run_alone,
    run_team,
    small_network,
    train,
    train_all,
)
from unskew.data.team import sum_in_pairs
from unskew.learning.networks import build_network
from unskew.learning.shared_batches import SharedBatches
from unskew.learning.team import OneWorker, is_about_differences, output_bias
from unskew.learning.trainer import Trainer, new_pullback
from unskew.rankers.labeling import labeling_risk

ABOUT_DIFFERENCES = {"conf-auc", "puauc"}


@pytest.mark.parametrize(("n_workers", "network"), [(2, "mlp"), (4, small_network)])
def test_workers_together_learn_the_weights_of_one_to_the_last_bit(n_workers, network, tmp_path):
    train_with = partial(train_all, network=network)
    alone = run_alone(train_with)
    for found in run_team(n_workers, train_with, tmp_path):
        for method in METHODS:
            assert found[method].keys() == alone[method].keys()
            for name, value in alone[method].items():
                assert torch.equal(found[method][name], value), (method, name)


class WholeBatches:
    """The batches of a team of one as batches that are not shared: one product for all rows, the labeled ones first."""

    def __init__(self, shared):
        self.shared = shared

    def draw_epoch(self, generator):
        for parts, batch_of in self.shared.draw_epoch(generator):
            pairs = list(zip(parts.features, parts.layout.labeled, strict=True))
            rows = torch.cat([*(x[:n] for x, n in pairs), *(x[n:] for x, n in pairs)])
            weights = [] if parts.weights is None else parts.weights
            yield rows, lambda score, batch_of=batch_of, weights=weights: batch_of(torch.cat([score, *weights]))


class WithFixedBias:
    """A plain pull-back, but for the gradient of the last bias, which is set to its true value, 0."""

    def __init__(self, pullback):
        self.scores, self.uses_autograd, self.pullback = pullback.scores, pullback.uses_autograd, pullback

    def gradients(self, slope):
        *others, bias = self.pullback.gradients(slope)
        return [*others, torch.zeros_like(bias)]


@pytest.mark.parametrize("method", METHODS)
def test_200_steps_by_shards_are_those_of_one_process_with_the_whole_batch(method, monkeypatch):
    """In float64: float32 rounds the same step differently by 1e-7, and Adam carries that along."""
    shared = run_alone(partial(train, method=method, network=network_in_float64))
    steps_of_team = Trainer._steps

    def whole_steps(self, network, risk, data, course):
        _, batches = steps_of_team(self, network, risk, data, course)
        pullback = new_pullback(network, self.batch_size)
        labels = risk.__name__ == "labeling_risk" if hasattr(risk, "__name__") else False
        fixes = method in ABOUT_DIFFERENCES and not labels
        return WithFixedBias(pullback) if fixes else pullback, WholeBatches(batches)

    monkeypatch.setattr(Trainer, "_steps", whole_steps)
    plain = run_alone(partial(train, method=method, network=network_in_float64))
    assert plain.keys() == shared.keys()
    for name, value in plain.items():
        if name != "history":  # the validation risk is that of scores in float32
            assert float((shared[name] - value).norm() / value.norm()) < 1e-6, name
    assert any(not torch.equal(shared[name], value) for name, value in plain.items())  # two ways to compute it


def test_a_training_has_the_steps_that_the_comparison_speaks_of():
    data, _ = records_of(OneWorker(N_SHARDS))
    batches = SharedBatches(data, 100, "cpu")
    assert batches.n_steps * 10 == 200


def test_every_epoch_takes_each_unlabeled_row_once_and_each_batch_rows_of_all_shards():
    data, _ = records_of(OneWorker(N_SHARDS))
    numbered = data.X.take(np.arange(len(data.X)))
    numbered[:, 0] = np.arange(len(data.X))
    data.X.array[:] = numbered
    batches = SharedBatches(data, 100, "cpu")
    epochs = []
    for _ in range(2):
        seen = []
        for parts, batch_of in batches.draw_epoch(torch.Generator().manual_seed(3)):
            rows = [x[:, 0].long().numpy() for x in parts.features]
            scores = parts.layout.joined([torch.from_numpy(each) for each in rows])
            batch = batch_of(scores)
            assert set(batch.labeled.tolist()) <= set(data.labeled_rows)
            confidence = dict(zip(data.labeled_rows, data.confidence, strict=True))
            assert batch.confidence.numpy() == pytest.approx([confidence[each] for each in batch.labeled.tolist()])
            for own, n, place in zip(rows, parts.layout.labeled, data.share.slices(), strict=True):
                assert set(own[n:]) <= set(data.unlabeled_rows[place])
            assert 100 - 2 * N_SHARDS <= len(scores) <= 100 + N_SHARDS  # a part of each shard more or less
            seen += batch.unlabeled.tolist()
        assert sorted(seen) == data.unlabeled_rows.tolist()
        epochs.append(seen)
    assert epochs[0] != epochs[1]


def test_batches_go_on_in_the_middle_of_an_epoch():
    data, _ = records_of(OneWorker(N_SHARDS))

    def drawn(epoch, step, n):
        batches = SharedBatches(data, 100, "cpu")
        batches.start_at(epoch, step)
        generator, found = torch.Generator().manual_seed(3), []
        while len(found) < n:
            found += [torch.cat(parts.features).clone() for parts, _ in batches.draw_epoch(generator)]
        return found[:n]

    whole, rest = drawn(0, 0, 45), drawn(1, 7, 18)
    assert all(torch.equal(*pair) for pair in zip(whole[27:], rest, strict=True))


@pytest.mark.parametrize(("method", "expected"), [("conf-auc", True), ("puauc", True), ("nnpu", False)])
def test_a_risk_is_known_to_be_about_differences_by_what_a_shift_changes(method, expected):
    data, _ = records_of(OneWorker(N_SHARDS))
    ranker = unskew.make(method, **METHODS[method])
    ranker.prior_ = 0.3
    weighed = ranker.weigh(replace(data, labeling_prob=np.full(data.n_labeled, 0.2)))
    assert is_about_differences(ranker.risk, weighed) is expected


@pytest.mark.parametrize("network", ["mlp", "linear", "kernel", network_in_float64])
def test_the_output_bias_is_found(network):
    built = build_network(network, torch.randn(40, 3), torch.Generator().manual_seed(0))
    number, place = output_bias(built)
    x = torch.randn(5, 3)
    before = built(x).detach().reshape(-1)
    with torch.no_grad():
        [each for each in built.parameters() if each.requires_grad][number][place] += 1
    assert torch.allclose(built(x).detach().reshape(-1) - before, torch.ones_like(before), atol=1e-5)


def test_the_output_bias_of_a_module_of_unknown_make_is_not_guessed():
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.last = nn.Linear(3, 1)
            self.first = nn.Linear(3, 3)

        def forward(self, x):
            return self.last(self.first(x))

    assert output_bias(Own()) is None


def test_sums_in_pairs_are_the_same_in_halves():
    parts = list(torch.randn(8, 100))
    halves = [sum_in_pairs(parts[:4]), sum_in_pairs(parts[4:])]
    assert torch.equal(sum_in_pairs(parts), sum_in_pairs(halves))
    assert torch.allclose(sum_in_pairs(parts), torch.stack(parts).sum(0), atol=1e-5)


@pytest.mark.parametrize("n_workers", [1, 2, 3, 5, 8])
def test_every_shard_has_one_worker(n_workers):
    teams = [OneWorker(8, n_workers, rank) for rank in range(n_workers)]
    assert [shard for team in teams for shard in team.shards] == list(range(8))
    assert max(len(team.shards) for team in teams) - min(len(team.shards) for team in teams) <= 1


@pytest.mark.parametrize(("shards", "workers", "words"), [(6, 1, "power of two, but it is 6"), (4, 5, "from 1 to 4")])
def test_a_team_that_cannot_be_is_refused(shards, workers, words):
    with pytest.raises(ValueError, match=words):
        OneWorker(shards, workers)


def test_the_risk_of_the_labeling_model_is_not_about_differences():
    data, _ = records_of(OneWorker(N_SHARDS))
    assert not is_about_differences(labeling_risk, data)
