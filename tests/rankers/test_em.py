"""Posterior and propensity by expectation maximization: rounds, what is kept, when it stops."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

import unskew
from quick_fits import QUICK, fit
from unskew.datasets import toy
from unskew.learning.trainer import Trainer
from unskew.rankers._em import Logits, posterior_risk, propensity_risk
from unskew.rankers.labeling import labeling_risk


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
    data = toy.draw(6000, random_state=0)
    ranker = unskew.make("lbe", learning_rate=4e-3, max_epochs=30, random_state=0)
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
        seen.append((risk, data.unlabeled_weight, self.max_epochs, before is not None, data))
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
    train = rounds[0][4]
    logit = ranker.labeling_.logit_at(train.X, train.unlabeled_rows)
    np.testing.assert_allclose(q[0], np.exp(logit) / (2 + np.exp(logit)), rtol=1e-12)
    assert ranker.best_epoch_ == int(np.argmin([row.validation_risk for row in ranker.history_]))
    assert ranker.labeling_.network is not ranker.network_


@pytest.mark.parametrize("name", ["lbe", "sar-em"])
def test_em_starts_from_a_lent_network_only_where_rows_have_the_same_shape(name, tmp_path, monkeypatch):
    """That of images begins with a layer that flattens them: a copy of it would fit no file of a table's ranker."""
    images, y = np.random.RandomState(0).uniform(size=(40, 1, 4, 4)), np.repeat([1, 0], [10, 30])
    quick = {"network": "mlp", "max_epochs": 1, "random_state": 0}
    lent, table = unskew.make("ntc", **quick).fit(images, y), images.reshape(40, 16)
    risks, plain = [], Trainer.minimize

    def watched(self, risk, *arguments, **options):
        risks.append(risk)
        return plain(self, risk, *arguments, **options)

    monkeypatch.setattr(Trainer, "minimize", watched)
    for X, n_trained_anew in ((table, 1), (images, 0)):
        risks.clear()
        ranker = unskew.make(name, labeling=lent, **quick).fit(X, y)
        assert risks.count(labeling_risk) == n_trained_anew
        ranker.save(tmp_path / "model")
        loaded = unskew.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.posterior(X), ranker.posterior(X))
        np.testing.assert_array_equal(loaded.labeling_prob(X), lent.labeling_prob(images))


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
    # The share of labeled instances is that of the training data.
    labeled, alpha = validation.labeled == 1, toy_data.labeled.mean()
    expected = alpha * observed[labeled].mean() + (1 - alpha) * observed[~labeled].mean()
    best = ranker.history_[ranker.best_epoch_].validation_risk
    assert ranker.best_epoch_ < 39  # so that keeping the last round would show
    assert expected == pytest.approx(best, rel=1e-6)


def test_sar_em_needs_both_to_stand_still():
    still = Logits(*[torch.zeros(4).double()] * 4)
    moved = still._replace(propensity_unlabeled=torch.ones(4).double())  # another propensity
    better = still._replace(posterior_unlabeled=torch.full((4,), -3.0).double())  # a better likelihood
    ranker = unskew.make("sar-em")
    assert ranker.converged(still, still, 0.1)
    assert not ranker.converged(still, moved, 0.1)
    assert not ranker.converged(still, better, 0.1)
    assert ranker.converged(better, still, 0.1)  # worse is no gain


def test_sar_em_stops_when_it_stands_still(toy_data):
    impatient = fit("sar-em", toy_data, max_epochs=200, tolerance=10.0)
    assert len(impatient.history_) == 1
    patient = fit("sar-em", toy_data, max_epochs=40, tolerance=0.0)
    assert len(patient.history_) == 8
