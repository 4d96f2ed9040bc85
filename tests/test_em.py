"""Posterior and propensity by expectation maximization: rounds, what is kept, when it stops."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

import unskew
from conftest import QUICK
from test_methods import fit
from unskew.datasets import toy
from unskew.rankers._em import Logits, posterior_risk, propensity_risk
from unskew.training import Trainer


@pytest.mark.parametrize("name", ["lbe", "sar-em"])
def test_em_methods_give_posterior_and_propensity_and_keep_them_in_the_file(name, toy_data, tmp_path):
    ranker = fit(name, toy_data, max_epochs=20)
    posterior, propensity = ranker.posterior(toy_data.X), ranker.propensity(toy_data.X)
    np.testing.assert_allclose(posterior, 1 / (1 + np.exp(-ranker.decision_function(toy_data.X))))
    assert ((propensity > 0) & (propensity < 1)).all()
    ranker.save(tmp_path / "model")
    np.testing.assert_array_equal(unskew.load(tmp_path / "model").propensity(toy_data.X), propensity)
    # Pretraining does not depend on a labeling model that is no network.
    other = fit(name, toy_data, labeling=LogisticRegression())
    assert np.isfinite(other.decision_function(toy_data.X)).all()


def test_em_learns_the_product_of_posterior_and_propensity():
    data = toy.draw(8000, random_state=0)
    ranker = unskew.make("lbe", learning_rate=2e-3, max_epochs=60, random_state=0)
    ranker.fit(data.X, data.labeled, confidence=data.confidence)
    new = toy.draw(4000, random_state=1)
    product = ranker.posterior(new.X) * ranker.propensity(new.X)
    assert np.corrcoef(product, new.law.labeling_prob(new.X))[0, 1] > 0.95
    # Were the propensity's risk weighted by 1, it would be the labeling probability, far below the share that it is.
    assert ranker.propensity(new.X).mean() > 2 * new.law.labeling_prob(new.X).mean()


@pytest.mark.parametrize("name", ["lbe", "sar-em"])
def test_em_rounds(name, toy_data, monkeypatch):
    """Each round has its own q, goes on from the last one, and the best is what is kept."""
    seen, plain = [], Trainer.minimize

    def watched(self, risk, data, held_out, rng, title="training", *, start=None):
        before = None if start is None else start.network.state_dict()
        seen.append((risk, data.unlabeled_weight, self.max_epochs, before is not None))
        return plain(self, risk, data, held_out, rng, title, start=start)

    monkeypatch.setattr(Trainer, "minimize", watched)
    ranker = fit(name, toy_data, max_epochs=7, epochs_per_round=3, learning_rate=0.3)
    rounds = [each for each in seen if each[1] is not None]
    assert [each[0] for each in rounds] == [posterior_risk, propensity_risk] * 3
    assert [each[2] for each in rounds] == [3, 3, 3, 3, 1, 1]  # no more than max_epochs in all
    assert [each[3] for each in rounds] == [True, False, True, True, True, True]
    q = [each[1] for each in rounds[::2]]
    assert not np.allclose(q[0], q[1])
    assert not np.allclose(q[1], q[2])
    np.testing.assert_array_equal(rounds[0][1], rounds[1][1])
    # q of the first round: the labeling probability as posterior, one half as propensity.
    first = ranker.labeling_.network
    assert ranker.best_epoch_ == int(np.argmin([row.validation_risk for row in ranker.history_]))
    assert first is not ranker.network_


def test_em_keeps_the_best_round_and_heeds_patience(toy_data):
    for patience in (None, 2):
        ranker = fit("lbe", toy_data, max_epochs=40, learning_rate=1.0, patience=patience, network="mlp")
        held_out = [row.validation_risk for row in ranker.history_]
        best = int(np.argmin(held_out))
        assert ranker.best_epoch_ == best
        assert len(held_out) == (40 if patience is None else best + 1 + patience)
    validation = toy.draw(200, random_state=5)
    arguments = {"validation": (validation.X, validation.labeled)}
    ranker = unskew.make("lbe", **{**QUICK, "learning_rate": 0.05, "max_epochs": 40, "network": "mlp"})
    ranker.fit(toy_data.X, toy_data.labeled, **arguments)
    product = ranker.posterior(validation.X) * ranker.propensity(validation.X)
    observed = np.where(validation.labeled == 1, -np.log(product), -np.log(1 - product))
    best = ranker.history_[ranker.best_epoch_].validation_risk
    assert ranker.best_epoch_ < 39  # so that keeping the last round would show
    assert observed.mean() == pytest.approx(best, rel=1e-6)


def test_sar_em_needs_both_to_stand_still():
    still = Logits(*[torch.zeros(4).double()] * 4)
    moved = still._replace(propensity_unlabeled=torch.ones(4).double())  # another propensity
    better = still._replace(posterior_unlabeled=torch.full((4,), -3.0).double())  # a better likelihood
    ranker = unskew.make("sar-em")
    assert ranker._converged(still, still, 0.1)
    assert not ranker._converged(still, moved, 0.1)
    assert not ranker._converged(still, better, 0.1)
    assert ranker._converged(better, still, 0.1)  # worse is no gain


def test_sar_em_stops_when_it_stands_still(toy_data):
    impatient = fit("sar-em", toy_data, max_epochs=200, tolerance=10.0)
    assert len(impatient.history_) == 1
    patient = fit("sar-em", toy_data, max_epochs=40, tolerance=0.0)
    assert len(patient.history_) == 8
