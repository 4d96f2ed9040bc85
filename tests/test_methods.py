"""What is particular to the compared methods, their cards, and methods from outside the package."""

import copy
import importlib.util
import runpy
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

import unskew
from conftest import QUICK
from unskew.datasets import toy
from unskew.errors import ConfidenceMissingWarning
from unskew.perceptron import Perceptron
from unskew.rankers import _registered

ROOT = Path(__file__).parents[1]
PAPER_ORDER = ["conf-auc", "no-conf", "ntc", "nnpu", "puauc", "pusb", "pg", "pconf", "npu", "lbe", "sar-em"]


def fit(name, data, **parameters):
    return unskew.make(name, **{**QUICK, **parameters}).fit(data.X, data.labeled, confidence=data.confidence)


# Cards.


def test_methods_come_in_the_papers_order():
    assert unskew.methods() == tuple(PAPER_ORDER)
    assert [card.name for card in unskew.method_cards()] == PAPER_ORDER


@pytest.mark.parametrize("name", PAPER_ORDER)
def test_a_card_leaves_nothing_out(name):
    card = unskew.method_card(name)
    assert card.class_name == type(unskew.make(name)).__name__
    for field in ("summary", "description", "assumption_text", "use_when", "avoid_when", "differences", "reference"):
        assert len(getattr(card, field)) > 10, field
    assert ".. math::" in card.description or ":math:" in card.description
    assert card.summary.endswith(".")
    assert set(card.needs) <= {"confidence", "prior"}
    assert card.assumption.split(",")[0] in ("SCAR", "SAR")
    words = " ".join(unskew.make(name).__doc__.split())
    assert all(f"{scenario} scenario" in words for scenario in card.scenarios)
    own = set(unskew.make(name).get_params()) - set(unskew.make("ntc").get_params())
    assert all(each in card.parameters for each in own)
    assert asdict(card)["name"] == name


def test_pages_are_what_the_methods_say():
    spec = importlib.util.spec_from_file_location("method_pages", ROOT / "docs" / "method_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "methods").glob("*.md")}
    assert module.pages() == written, "run: python docs/method_pages.py"


# The prior.


@pytest.mark.parametrize("name", ["nnpu", "pusb", "npu"])
def test_methods_that_train_with_the_prior(name, toy_data):
    with pytest.raises(
        ValueError, match=r"must know the prior.*neither was given. Pass prior=\.\.\. to the constructor"
    ):
        unskew.make(name, **QUICK).fit(toy_data.X, toy_data.labeled)
    estimated, other, given = fit(name, toy_data), fit(name, toy_data, prior=0.6), fit(name, toy_data, prior=0.4)
    assert (given.prior_, other.prior_) == (0.4, 0.6)
    assert given.label_freq_ == pytest.approx(toy_data.labeled.mean() / 0.4)
    assert estimated.prior_ == fit("ntc", toy_data).prior_
    assert not np.array_equal(given.decision_function(toy_data.X), other.decision_function(toy_data.X))


def test_puauc_needs_the_prior_for_non_symmetric_surrogates_only(toy_data):
    unskew.make("puauc", **QUICK).fit(toy_data.X, toy_data.labeled)
    with pytest.raises(ValueError, match="must know the prior"):
        unskew.make("puauc", surrogate="logistic", **QUICK).fit(toy_data.X, toy_data.labeled)
    low, high = (fit("puauc", toy_data, surrogate="logistic", prior=prior) for prior in (0.3, 0.9))
    assert not np.array_equal(low.decision_function(toy_data.X), high.decision_function(toy_data.X))
    low, high = (fit("puauc", toy_data, surrogate="sigmoid", prior=prior) for prior in (0.3, 0.9))
    np.testing.assert_array_equal(low.decision_function(toy_data.X), high.decision_function(toy_data.X))


@pytest.mark.parametrize("name", PAPER_ORDER)
def test_a_known_prior_sets_the_threshold_and_saves_the_labeling_model_where_it_can(name, toy_data):
    ranker = fit(name, toy_data, prior=0.5)
    assert ranker.predict(toy_data.X).mean() == pytest.approx(0.5, abs=0.01)
    assert hasattr(ranker, "labeling_") == unskew.method_card(name).uses_labeling
    if not hasattr(ranker, "labeling_"):
        with pytest.raises(AttributeError, match="fitted without one, because the prior was given"):
            ranker.labeling_prob(toy_data.X)


def test_a_prior_below_the_share_of_labeled_is_refused(toy_data):
    share = toy_data.labeled.mean()
    with pytest.raises(ValueError, match=rf"at least the share of labeled instances, {share:.3g}.*but it is 0.01"):
        fit("conf-auc", toy_data, prior=0.01)
    assert fit("conf-auc", toy_data, prior=0.01, scenario="two-sample").prior_ == 0.01


# Scenarios.


@pytest.mark.parametrize("name", PAPER_ORDER)
def test_two_samples_where_defined_and_a_clear_error_where_not(name):
    data = toy.draw_two_samples(60, 300, random_state=0)
    if "two-sample" in unskew.method_card(name).scenarios:
        ranker = fit(name, data, scenario="two-sample")
        assert np.isfinite(ranker.decision_function(data.X)).all()
        assert np.isnan(ranker.label_freq_)
    else:
        with pytest.raises(ValueError, match=r"defined for the one-sample scenario only, but scenario is 'two-sample'"):
            fit(name, data, scenario="two-sample")


@pytest.mark.parametrize("name", ["nnpu", "puauc", "pusb", "npu"])
def test_the_scenario_changes_what_is_learned(name, toy_data):
    surrogate = {"surrogate": "logistic"} if name == "puauc" else {}
    one, two = (fit(name, toy_data, prior=0.5, scenario=s, **surrogate) for s in ("one-sample", "two-sample"))
    assert not np.allclose(one.decision_function(toy_data.X), two.decision_function(toy_data.X))


# Method by method.


def test_lending_the_labeling_model_changes_nothing_but_time(toy_data):
    ntc = fit("ntc", toy_data, random_state=3)
    for name in ("conf-auc", "no-conf", "pg", "lbe", "sar-em"):
        lent = fit(name, toy_data, labeling=ntc, random_state=3)
        assert lent.labeling_ is ntc.labeling_
        before = ntc.decision_function(toy_data.X)
        np.testing.assert_array_equal(before, ntc.decision_function(toy_data.X))  # it was read, not trained on


@pytest.mark.parametrize("scenario", ["one-sample", "two-sample"])
def test_pg_ranks_as_ntc_and_recovers_the_posterior_by_a_root(scenario):
    data = toy.draw(800, random_state=0) if scenario == "one-sample" else toy.draw_two_samples(80, 700, random_state=0)
    ntc = fit("ntc", data, scenario=scenario, network="mlp")
    pg = fit("pg", data, scenario=scenario, labeling=ntc, network="mlp")
    ours, theirs = pg.decision_function(data.X), ntc.decision_function(data.X)
    np.testing.assert_array_equal(np.argsort(ours, kind="stable"), np.argsort(theirs, kind="stable"))
    u = ntc.labeling_prob(data.X)
    in_training = np.exp(2 * ours[0]) / u[0]  # 1 / k, the same for every instance
    np.testing.assert_allclose(np.exp(2 * ours), u * in_training, rtol=1e-6)
    posterior = pg.posterior(data.X)
    assert posterior.max() == 1.0
    np.testing.assert_allclose(posterior, np.minimum(1, np.sqrt(u * in_training)), rtol=1e-6)


def test_npu_keeps_the_weight_that_validates_best(toy_data):
    ranker = fit("npu", toy_data, prior=0.5)
    singles = [fit("npu", toy_data, prior=0.5, mixings=[mixing]) for mixing in ranker.mixings]
    risks = [single.history_[single.best_epoch_].validation_risk for single in singles]
    best = int(np.argmin(risks))
    assert ranker.mixing_ == ranker.mixings[best]
    np.testing.assert_array_equal(ranker.decision_function(toy_data.X), singles[best].decision_function(toy_data.X))
    for mixings in ([], [0.0, 0.5], [[0.5]]):
        with pytest.raises(ValueError, match="mixings must be one or more numbers between 0 and 1"):
            fit("npu", toy_data, mixings=mixings)


def test_nnpu_offers_both_corrections(toy_data):
    absolute, held = (
        fit("nnpu", toy_data, correction=correction, learning_rate=0.05, max_epochs=40, prior=0.9)
        for correction in ("absolute", "non-negative")
    )
    assert not np.array_equal(absolute.decision_function(toy_data.X), held.decision_function(toy_data.X))
    with pytest.raises(ValueError, match=r"'correction' parameter.*Did you mean 'absolute'"):
        fit("nnpu", toy_data, correction="absolut")


def test_pconf_without_confidence_says_what_that_means(toy_data):
    with pytest.warns(ConfidenceMissingWarning, match="leaves it nothing to tell instances apart by"):
        unskew.make("pconf", **QUICK).fit(toy_data.X, toy_data.labeled)
    one, other = (fit("pconf", toy_data, surrogate=surrogate) for surrogate in ("sigmoid", "logistic"))
    assert not np.array_equal(one.decision_function(toy_data.X), other.decision_function(toy_data.X))


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


def test_sar_em_stops_when_it_stands_still(toy_data):
    impatient = fit("sar-em", toy_data, max_epochs=200, tolerance=10.0)
    assert len(impatient.history_) == 1
    patient = fit("sar-em", toy_data, max_epochs=40, tolerance=0.0)
    assert len(patient.history_) == 8


def test_a_copied_perceptron_keeps_its_fixed_weights_under_autograd():
    network = copy.deepcopy(Perceptron(3, 4))
    network.draw(torch.Generator().manual_seed(0))
    network(torch.ones(2, 3)).sum().backward()
    assert not network.weights.grad[:-1, 4].any()
    assert network.weights.grad.any()


# From outside.


@pytest.fixture
def clean_registry():
    before = dict(_registered)
    yield
    _registered.clear()
    _registered.update(before)


@pytest.mark.usefixtures("clean_registry")
def test_the_example_of_a_new_method_runs_and_appears_in_the_comparison(monkeypatch, capsys, toy_data, tmp_path):
    monkeypatch.setattr(sys, "argv", ["new_method.py", "--rows", "300", "--epochs", "2"])
    runpy.run_path(str(ROOT / "examples" / "new_method.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [*PAPER_ORDER, "weighted-pu"]
    assert unskew.methods()[-1] == "weighted-pu"
    assert unskew.method_card("weighted-pu").assumption == "SAR"
    ranker = fit("weighted-pu", toy_data)
    ranker.save(tmp_path / "model")
    loaded = unskew.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(toy_data.X), ranker.decision_function(toy_data.X))


@pytest.mark.usefixtures("clean_registry")
def test_what_cannot_be_registered_is_told():
    @dataclass(kw_only=True, eq=False, repr=False)
    class Nameless(unskew.LabelingRanker):
        def _to_score(self, logit):
            return logit

    with pytest.raises(TypeError, match="must say its name, a string, but Nameless.name is not there"):
        unskew.register(Nameless)

    @dataclass(kw_only=True, eq=False, repr=False)
    class Taken(Nameless):
        name: ClassVar[str] = "ntc"
        table_name: ClassVar[str] = "NTC"
        assumption: ClassVar[str] = "SCAR"

    with pytest.raises(ValueError, match="the name 'ntc' is taken by NonTraditional"):
        unskew.register(Taken)
    with pytest.raises(TypeError, match="LabelingRanker does not define _to_score"):
        unskew.register(unskew.LabelingRanker)
    with pytest.raises(TypeError, match="takes a class derived from RiskRanker"):
        unskew.register(LogisticRegression)
    assert unskew.methods() == tuple(PAPER_ORDER)
