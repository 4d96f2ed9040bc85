"""What is particular to the compared methods, their cards, and methods from outside the package."""

import contextlib
import copy
import importlib.util
import re
from dataclasses import asdict
from inspect import getdoc
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unskew
from quick_fits import METHODS, PAPER_ORDER, QUICK, fit
from unskew.data.rows import as_rows
from unskew.datasets import toy
from unskew.errors import ConfidenceMissingWarning, NoEstimateWarning
from unskew.learning._perceptron import Perceptron
from unskew.learning.batches import Batches
from unskew.rankers._card import _read_docstring, card_of
from unskew.records import PUData, ScoredBatch

ROOT = Path(__file__).parents[2]


# Cards.


def test_methods_come_in_the_papers_order():
    assert unskew.methods()[: len(PAPER_ORDER)] == tuple(PAPER_ORDER)
    assert tuple(card.name for card in unskew.method_cards()) == unskew.methods()


@pytest.mark.parametrize("name", METHODS)
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


@pytest.mark.parametrize("name", METHODS)
def test_a_notebook_shows_an_estimator_without_a_warning(name, toy_data):
    """scikit-learn reads the docstring for its display, and warns of what is not in the form of numpydoc."""
    ranker = unskew.make(name)
    for shown in (ranker, make_pipeline(StandardScaler(), ranker), unskew.make(name, labeling=unskew.ULSIF())):
        assert type(ranker).__name__ in shown._repr_html_()
    own = set(ranker.get_params()) - set(unskew.make("ntc").get_params())
    assert described_parameters(type(ranker)) == own
    assert described_parameters(unskew.rankers.Ranker) == set(unskew.make("ntc").get_params())


def described_parameters(kind):
    """Names in the section of parameters of the docstring."""
    _, _, sections = _read_docstring(getdoc(kind))
    return set(re.findall(r"^(\w+) :", sections.get("Parameters", ""), re.MULTILINE))


def test_a_notebook_shows_what_is_fitted_without_a_warning(toy_data):
    fitted = fit("conf-auc", toy_data, labeling=fit("ntc", toy_data).labeling_)
    assert "ConfidenceAUC" in fitted._repr_html_()


def test_a_card_reads_notes_and_sections():
    class Own(unskew.LabelingRanker):
        """One line.

        Formula.

        Parameters
        ----------
        power : int
            Of x**2.

        Use it when
        -----------
        A section.

        Notes
        -----
        **Assumption.** On the same
        line.

        **Differs from its authors.**
        Below **much**.

        Twice.
        """

        name, table_name, assumption = "own", "Own", "SAR"

    card = card_of(Own)
    assert (card.summary, card.description, card.use_when) == ("One line.", "Formula.", "A section.")
    assert (card.assumption_text, card.differences) == ("On the same\nline.", "Below **much**.\n\nTwice.")
    assert card.parameters == "power : int\n    Of x**2."
    assert card.avoid_when == ""


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


@pytest.mark.parametrize("name", METHODS)
def test_a_known_prior_sets_the_threshold_and_saves_the_labeling_model_where_it_can(name, toy_data):
    ranker = fit(name, toy_data, prior=0.5)
    assert ranker.predict(toy_data.X).mean() == pytest.approx(0.5, abs=0.01)
    assert hasattr(ranker, "labeling_") == unskew.method_card(name).uses_labeling
    if not hasattr(ranker, "labeling_"):
        with pytest.raises(AttributeError, match="fitted without one, because the prior was given"):
            ranker.labeling_prob(toy_data.X)


@pytest.mark.parametrize("name", METHODS)
def test_the_prior_is_shown_where_it_was_given_or_confidence_was(name, toy_data):
    """As the docstring of ConfidenceAUC says."""
    card = unskew.method_card(name)
    arguments = toy_data.X, toy_data.labeled
    missing = pytest.warns(ConfidenceMissingWarning) if "confidence" in card.needs else contextlib.nullcontext()
    with missing:
        given = unskew.make(name, prior=0.5, **QUICK).fit(*arguments)
    assert (given.prior_, given.label_freq_) == (0.5, pytest.approx(toy_data.labeled.mean() / 0.5))
    assert hasattr(fit(name, toy_data), "prior_")
    if "prior" not in card.needs:
        missing = pytest.warns(ConfidenceMissingWarning) if "confidence" in card.needs else contextlib.nullcontext()
        with missing:
            neither = unskew.make(name, **QUICK).fit(*arguments)
        assert not hasattr(neither, "prior_")
        assert not hasattr(neither, "label_freq_")


def test_a_prior_below_the_share_of_labeled_is_refused(toy_data):
    with pytest.raises(ValueError, match=r"at least the share of labeled instances, 0\.07333, .*but it is 0\.01"):
        fit("conf-auc", toy_data, prior=0.01)
    assert fit("conf-auc", toy_data, prior=0.01, scenario="two-sample").prior_ == 0.01


@pytest.mark.parametrize(("confidence", "found"), [(1e-4, "below the share"), (1.0, "a prior of")])
def test_an_impossible_prior_is_told_by_methods_that_train_with_it(confidence, found, toy_data):
    class Seldom(LogisticRegression):
        """Says that next to nobody is labeled."""

        def predict_proba(self, X):
            return np.tile([0.99, 0.01], (len(X), 1))

    by_weights = {"labeling": Seldom() if confidence == 1.0 else None, "probability": False}
    arguments = toy_data.X, toy_data.labeled, np.full(300, confidence)
    with pytest.warns(NoEstimateWarning, match=f"say something impossible, .*{found}"):
        ranker = unskew.make("nnpu", **by_weights, **QUICK).fit(*arguments)
    assert ranker.prior_ == pytest.approx(1.0 if confidence == 1.0 else toy_data.labeled.mean())
    unskew.make("conf-auc", **by_weights, **QUICK).fit(*arguments)  # does not need it, and says nothing


# Scenarios.


@pytest.mark.parametrize("name", METHODS)
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
    assert [row.validation_risk for row in one.history_] != [row.validation_risk for row in two.history_]


# Method by method.


def fitted_numbers(ranker, X):
    return [ranker.decision_function(X), ranker.prior_, ranker.history_]


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"auto"}))  # whose folds have labeling models of their own
def test_lending_the_labeling_model_changes_nothing_but_time(name, toy_data):
    ntc = fit("ntc", toy_data, random_state=3)
    before = ntc.decision_function(toy_data.X)
    lent, own = fit(name, toy_data, labeling=ntc, random_state=3), fit(name, toy_data, random_state=3)
    assert hasattr(lent, "labeling_") == unskew.method_card(name).uses_labeling
    assert getattr(lent, "labeling_", ntc.labeling_) is ntc.labeling_
    for one, other in zip(fitted_numbers(lent, toy_data.X), fitted_numbers(own, toy_data.X), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(ntc.decision_function(toy_data.X), before)  # it was read, not trained on


def test_what_cannot_lend_is_told(toy_data):
    for lender in (unskew.make("ntc"), fit("nnpu", toy_data, prior=0.5)):
        with pytest.raises(ValueError, match=r"must have one, but this .* Pass the fitted ranker's labeling_"):
            fit("conf-auc", toy_data, labeling=lender)
    kept = clone(unskew.make("conf-auc", labeling=fit("ntc", toy_data).labeling_, **QUICK))
    kept.fit(toy_data.X, toy_data.labeled, confidence=toy_data.confidence)


def test_a_lent_density_ratio_keeps_the_share_of_labeled_that_it_was_fitted_with():
    data = toy.draw_two_samples(60, 300, random_state=0)
    ntc = fit("ntc", data, scenario="two-sample")
    fewer = slice(0, 180)  # the same labeled rows and fewer unlabeled ones
    borrower = unskew.make("conf-auc", labeling=ntc, scenario="two-sample", **QUICK)
    borrower.fit(data.X[fewer], data.labeled[fewer], confidence=data.confidence[fewer])
    np.testing.assert_array_equal(borrower.labeling_prob(data.X), ntc.labeling_prob(data.X))


# The classes minimize what their objectives say: parameters that are not the defaults, values by hand.

P, U = torch.tensor([0.7, -1.2, 2.0]).double(), torch.tensor([-2.1, -1.4, -3.5, -2.2]).double()
R, W = torch.tensor([0.9, 0.002, 0.6]).double(), torch.tensor([2.0, 0.5, 4.0]).double()
A, PI = 0.15, 0.6
POSITIVE = {"sigmoid": lambda z: torch.sigmoid(-z), "logistic": lambda z: torch.log1p(torch.exp(-z))}


def pu_parts(loss, scenario, clip=0.01):
    """Parts of the PU risk for these scores; the second is negative."""
    everything = loss(-U).mean() if scenario == "two-sample" else A * loss(-P).mean() + (1 - A) * loss(-U).mean()
    return PI * loss(P).mean(), everything - PI * loss(-P).mean()


def npu_by_hand(mixing, scenario):
    loss, r = POSITIVE["sigmoid"], R.clamp(min=0.05)
    everything = loss(-U).mean() if scenario == "two-sample" else A * loss(-P).mean() + (1 - A) * loss(-U).mean()
    return PI * loss(P).mean() + (mixing * everything + PI * ((1 - r - mixing) / r * loss(-P)).mean()).abs()


def pair_loss(loss, weight=None):
    losses = loss(P[:, None] - U[None, :])
    return (losses if weight is None else weight[:, None] * losses).mean()


def by_hand(name, scenario, parameters):
    positive, negative = pu_parts(POSITIVE[parameters.get("surrogate", "sigmoid")], scenario)
    assert negative < -0.05
    if name == "nnpu":
        return positive - parameters["beta"] if parameters["correction"] == "non-negative" else positive - negative
    if name == "pusb":
        positive, negative = pu_parts(POSITIVE["logistic"], scenario)
        return positive + negative.abs()
    if name == "pconf":
        loss, r = POSITIVE[parameters["surrogate"]], R.clamp(min=parameters["clip"])
        return (loss(P) + (1 - r) / r * loss(-P)).mean()
    if name == "npu":
        return npu_by_hand(0.3, scenario)
    if name == "puauc":
        return pair_loss(POSITIVE["sigmoid"]) * (1 if scenario == "two-sample" else 1 - A)
    assert name in ("conf-auc", "no-conf")
    mixed = pair_loss(POSITIVE["sigmoid"], W)
    margins = P[:, None] - P[None, :]
    among = (W[:, None] * torch.sigmoid(-margins) * (1 - torch.eye(3))).sum() / 6
    return mixed if scenario == "two-sample" else A * among + (1 - A) * mixed


WIRED = [
    ("nnpu", {"surrogate": "sigmoid", "correction": "absolute"}),
    ("nnpu", {"surrogate": "logistic", "correction": "absolute"}),
    ("nnpu", {"surrogate": "sigmoid", "correction": "non-negative", "beta": 0.02, "gamma": 0.5}),
    ("pusb", {}),
    ("pconf", {"surrogate": "sigmoid", "clip": 0.05}),
    ("pconf", {"surrogate": "logistic", "clip": 0.02}),
    ("npu", {"clip": 0.05}),
    ("puauc", {}),
    ("conf-auc", {}),
    ("no-conf", {}),
]


@pytest.mark.parametrize("scenario", ["one-sample", "two-sample"])
@pytest.mark.parametrize(("name", "parameters"), WIRED)
def test_each_class_minimizes_its_objective(name, parameters, scenario):
    ranker = unskew.make(name, scenario=scenario, **parameters)
    ranker.prior_, ranker.mixing_ = PI, 0.3
    risk = ranker.risk(ScoredBatch(P, U, A, weight=W, confidence=R))
    assert float(risk) == pytest.approx(float(by_hand(name, scenario, parameters)), abs=1e-12)


def test_gamma_reaches_the_gradient_of_nnpu():
    ranker = unskew.make("nnpu", correction="non-negative", gamma=0.25)
    ranker.prior_ = PI
    labeled = P.clone().requires_grad_()
    (slope,) = torch.autograd.grad(ranker.risk(ScoredBatch(labeled, U, A)), labeled)
    (expected,) = torch.autograd.grad(-0.25 * (A - PI) * torch.sigmoid(labeled).mean(), labeled)
    torch.testing.assert_close(slope, expected)


def test_weights_of_unlabeled_instances_stay_with_their_rows():
    rows = np.arange(50, dtype=np.float32)
    data = PUData(as_rows(rows[:, None]), np.arange(5), np.arange(5, 50), unlabeled_weight=rows[5:], weight=rows[:5])
    for x, batch_of in Batches(data, 16, "cpu").draw_epoch(torch.Generator().manual_seed(0)):
        batch = batch_of(x[:, 0].clone())
        torch.testing.assert_close(batch.unlabeled, batch.unlabeled_weight)
        torch.testing.assert_close(batch.labeled, batch.weight)


@pytest.mark.parametrize("scenario", ["one-sample", "two-sample"])
def test_pg_ranks_as_ntc_and_recovers_the_posterior_by_a_root(scenario):
    data = toy.draw(800, random_state=0) if scenario == "one-sample" else toy.draw_two_samples(80, 700, random_state=0)
    ntc = fit("ntc", data, scenario=scenario, network="mlp")
    pg = fit("pg", data, scenario=scenario, labeling=ntc, network="mlp")
    ours, theirs = pg.decision_function(data.X), ntc.decision_function(data.X)
    np.testing.assert_array_equal(np.argsort(ours, kind="stable"), np.argsort(theirs, kind="stable"))
    validation = (data.X[:9], np.r_[1, 1, 1, np.zeros(6, int)])
    whole = unskew.make("pg", scenario=scenario, labeling=ntc, network="mlp", prior=0.9)
    whole.fit(data.X, data.labeled, validation=validation)  # trained on all rows, so that k is the maximum over them
    u = ntc.labeling_prob(data.X)
    np.testing.assert_allclose(np.exp(2 * whole.decision_function(data.X)), u / u.max(), rtol=1e-6)
    np.testing.assert_allclose(whole.posterior(data.X), np.sqrt(u / u.max()), rtol=1e-6)
    outlier = 100 * data.X[np.argmax(u)][None]
    assert whole.posterior(outlier)[0] <= 1.0


def test_npu_keeps_the_weight_that_validates_best(toy_data):
    ranker = fit("npu", toy_data, prior=0.5)
    singles = [fit("npu", toy_data, prior=0.5, mixings=[mixing]) for mixing in ranker.mixings]
    risks = [single.history_[single.best_epoch_].validation_risk for single in singles]
    best = int(np.argmin(risks))
    assert ranker.mixing_ == ranker.mixings[best]
    np.testing.assert_array_equal(ranker.decision_function(toy_data.X), singles[best].decision_function(toy_data.X))
    for mixings in ([], [0.0, 0.5], [[0.5]]):
        with pytest.raises(ValueError, match="mixings of NoisyPU must be one or more numbers above 0 and below 1"):
            fit("npu", toy_data, mixings=mixings)


def test_nnpu_offers_both_corrections(toy_data):
    absolute, held = (
        fit("nnpu", toy_data, correction=correction, learning_rate=0.05, max_epochs=40, prior=0.9)
        for correction in ("absolute", "non-negative")
    )
    assert not np.array_equal(absolute.decision_function(toy_data.X), held.decision_function(toy_data.X))
    with pytest.raises(ValueError, match=r"correction of NonNegativePU must be.*Did you mean 'absolute'"):
        fit("nnpu", toy_data, correction="absolut")


def test_pconf_without_confidence_says_what_that_means(toy_data):
    with pytest.warns(ConfidenceMissingWarning, match="leaves it nothing to distinguish instances by"):
        unskew.make("pconf", **QUICK).fit(toy_data.X, toy_data.labeled)
    one, other = (fit("pconf", toy_data, surrogate=surrogate) for surrogate in ("sigmoid", "logistic"))
    assert not np.array_equal(one.decision_function(toy_data.X), other.decision_function(toy_data.X))


def test_a_copied_perceptron_keeps_its_fixed_weights_under_autograd():
    network = copy.deepcopy(Perceptron(3, 4))
    network.draw(torch.Generator().manual_seed(0))
    network(torch.ones(2, 3)).sum().backward()
    assert not network.weights.grad[:-1, 4].any()
    assert network.weights.grad.any()


# Comparisons.


def test_each_method_is_fitted_as_alone_with_a_lent_labeling_model(toy_data, monkeypatch):
    arguments = toy_data.X, toy_data.labeled, toy_data.confidence
    fitted = dict(unskew.fit_each(["conf-auc", "nnpu", "ntc"], *arguments, **QUICK))
    assert fitted["conf-auc"].labeling_ is fitted["ntc"].labeling_
    again = dict(unskew.fit_each(["nnpu"], *arguments, **QUICK))
    np.testing.assert_array_equal(
        again["nnpu"].decision_function(toy_data.X), fitted["nnpu"].decision_function(toy_data.X)
    )
    folded = dict(unskew.fit_each(["conf-auc", "pg"], *arguments, **{**QUICK, "crossfit": 2}))
    assert folded["conf-auc"].prior_ == folded["pg"].prior_  # the same estimates out of the same folds


def test_a_comparison_refuses_before_it_fits_anything(toy_data):
    arguments = toy_data.X, toy_data.labeled
    with pytest.raises(TypeError, match=r"names must be a list of methods, but it is the string 'ntc'"):
        unskew.fit_each("ntc", *arguments)
    with pytest.raises(ValueError, match="there is no method 'nppu'"):
        unskew.fit_each(["ntc", "nppu"], *arguments)
    with pytest.raises(ValueError, match="defined for the one-sample scenario only"):
        unskew.fit_each(["ntc", "lbe"], *arguments, scenario="two-sample")
    with pytest.raises(ValueError, match="NonNegativePU must know the prior"):
        unskew.fit_each(["ntc", "nnpu"], *arguments)
    with pytest.raises(TypeError, match="has no parameter 'epochs'"):
        unskew.fit_each(["ntc"], *arguments, epochs=3)
