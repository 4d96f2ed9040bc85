"""The objectives of the compared methods: by hand, by gradcheck, and what is known of them on finite laws."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from scipy.special import expit, logit

from finite_law import FiniteLaw, random_law
from unskew.pu_risk import absolute_correction, nonnegative_correction, pu_risk_parts
from unskew.rankers._em import Logits, observed_loss, positive_prob_of_unlabeled, posterior_risk, propensity_risk
from unskew.rankers.npu import npu_risk_parts
from unskew.rankers.pconf import pconf_risk
from unskew.rankers.puauc import puauc_risk
from unskew.records import ScoredBatch
from unskew.risk import confidence_auc_risk, distinct_pair_mean
from unskew.surrogates import SURROGATES, logistic, sigmoid

LABELED, UNLABELED = [0.7, -1.2, 2.0], [0.1, -0.4, 1.5, -2.2]
CONFIDENCE = [0.9, 0.3, 0.6]
ALPHA, PRIOR, MIXING = 0.15, 0.35, 0.3
SCENARIOS = ["one-sample", "two-sample"]
POINT_LOSS = {"sigmoid": lambda z: 1 / (1 + math.exp(z)), "logistic": lambda z: math.log(1 + math.exp(-z))}


def tensors(*lists, grad=False):
    return tuple(torch.tensor(each, dtype=torch.float64, requires_grad=grad) for each in lists)


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def everything_by_hand(loss, scenario):
    """E_x of the loss of calling an instance negative."""
    unlabeled = mean(loss(-s) for s in UNLABELED)
    return unlabeled if scenario == "two-sample" else ALPHA * mean(loss(-s) for s in LABELED) + (1 - ALPHA) * unlabeled


# By hand.


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", ["sigmoid", "logistic"])
def test_parts_of_the_pu_risk(name, scenario):
    loss = POINT_LOSS[name]
    positive, negative = pu_risk_parts(*tensors(LABELED, UNLABELED), ALPHA, PRIOR, SURROGATES[name], scenario)
    assert float(positive) == pytest.approx(PRIOR * mean(loss(s) for s in LABELED), abs=1e-14)
    expected = everything_by_hand(loss, scenario) - PRIOR * mean(loss(-s) for s in LABELED)
    assert float(negative) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", SURROGATES)
def test_puauc_by_a_double_loop(name, scenario):
    loss = SURROGATES[name]
    one_sample = scenario == "one-sample"

    def pair_loss(high, low):
        return float(loss(torch.tensor(high - low, dtype=torch.float64)))

    mixed = mean(pair_loss(s, t) for s in LABELED for t in UNLABELED)
    among = mean(pair_loss(s, t) for i, s in enumerate(LABELED) for j, t in enumerate(LABELED) if i != j)
    over_everything = ALPHA * among + (1 - ALPHA) * mixed if one_sample else mixed
    risk = float(puauc_risk(*tensors(LABELED, UNLABELED), ALPHA, PRIOR, loss, scenario))
    if loss.symmetric:  # labeled-labeled pairs are left out: their mean is one half
        assert among == pytest.approx(0.5)
        risk += (ALPHA if one_sample else 0) * 0.5 - PRIOR * 0.5
    assert risk == pytest.approx(over_everything - PRIOR * among, abs=1e-12)


@pytest.mark.parametrize("name", ["sigmoid", "logistic"])
def test_pconf_by_hand(name):
    loss = POINT_LOSS[name]
    expected = mean(loss(s) + (1 - r) / r * loss(-s) for s, r in zip(LABELED, CONFIDENCE, strict=True))
    assert float(pconf_risk(*tensors(LABELED, CONFIDENCE), SURROGATES[name])) == pytest.approx(expected, abs=1e-14)


def npu_parts(surrogate, scenario, mixing=MIXING):
    labeled, unlabeled, confidence = tensors(LABELED, UNLABELED, CONFIDENCE)
    return npu_risk_parts(ScoredBatch(labeled, unlabeled, ALPHA), confidence, PRIOR, mixing, surrogate, scenario)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_npu_by_hand(scenario):
    loss = POINT_LOSS["sigmoid"]
    positive, negative = npu_parts(sigmoid, scenario)
    weighted = mean((1 - r - MIXING) / r * loss(-s) for s, r in zip(LABELED, CONFIDENCE, strict=True))
    assert float(positive) == pytest.approx(PRIOR * mean(loss(s) for s in LABELED), abs=1e-14)
    assert float(negative) == pytest.approx(MIXING * everything_by_hand(loss, scenario) + PRIOR * weighted, abs=1e-14)


def expectation_by_hand(a, b):
    h, e = 1 / (1 + math.exp(-a)), 1 / (1 + math.exp(-b))
    return h * (1 - e) / (1 - h * e)


PROPENSITY_LABELED, PROPENSITY_UNLABELED = [0.2, -0.5, 1.1], [-0.3, 0.8, -1.0, 0.4]


def em_batches():
    """The same weights q for the scores of either network."""
    logits = Logits(*tensors(LABELED, UNLABELED, PROPENSITY_LABELED, PROPENSITY_UNLABELED, grad=True))
    q = positive_prob_of_unlabeled(logits.posterior_unlabeled, logits.propensity_unlabeled).detach()
    posterior = ScoredBatch(logits.posterior_labeled, logits.posterior_unlabeled, ALPHA, unlabeled_weight=q)
    propensity = ScoredBatch(logits.propensity_labeled, logits.propensity_unlabeled, ALPHA, unlabeled_weight=q)
    return logits, posterior, propensity


def test_expectation_and_maximization_by_hand():
    _, posterior, propensity = em_batches()
    q = [expectation_by_hand(a, b) for a, b in zip(UNLABELED, PROPENSITY_UNLABELED, strict=True)]
    np.testing.assert_allclose(posterior.unlabeled_weight, q, rtol=1e-14)
    loss = POINT_LOSS["logistic"]
    # h on duplicated data, weights q and 1 - q; e on the labels, weights q.
    doubled = mean(w * loss(a) + (1 - w) * loss(-a) for a, w in zip(UNLABELED, q, strict=True))
    expected = ALPHA * mean(loss(a) for a in LABELED) + (1 - ALPHA) * doubled
    assert float(posterior_risk(posterior).detach()) == pytest.approx(expected, abs=1e-14)
    weighted = mean(w * loss(-b) for b, w in zip(PROPENSITY_UNLABELED, q, strict=True))
    expected = ALPHA * mean(loss(b) for b in PROPENSITY_LABELED) + (1 - ALPHA) * weighted
    assert float(propensity_risk(propensity).detach()) == pytest.approx(expected, abs=1e-14)


def test_observed_loss_by_hand():
    logits, _, _ = em_batches()

    def product(a, b):
        return 1 / (1 + math.exp(-a)) / (1 + math.exp(-b))

    labeled = mean(-math.log(product(a, b)) for a, b in zip(LABELED, PROPENSITY_LABELED, strict=True))
    unlabeled = mean(-math.log(1 - product(a, b)) for a, b in zip(UNLABELED, PROPENSITY_UNLABELED, strict=True))
    expected = ALPHA * labeled + (1 - ALPHA) * unlabeled
    assert float(observed_loss(logits, ALPHA).detach()) == pytest.approx(expected, abs=1e-14)
    extreme = Logits(*tensors([60.0], [-60.0], [60.0], [60.0]))
    assert 0 <= float(observed_loss(extreme, ALPHA)) < 1e-12


# Corrections.


def test_corrections_where_nothing_is_to_be_corrected_are_the_sum():
    positive, negative = tensors(0.4, 0.2)
    for risk in (absolute_correction(positive, negative), nonnegative_correction(positive, negative)):
        assert float(risk) == pytest.approx(0.6)


def test_corrections_below_zero():
    for beta, gamma in [(0.0, 1.0), (0.05, 0.5)]:
        positive, negative = tensors(0.4, -0.3, grad=True)
        risk = nonnegative_correction(positive, negative, beta, gamma)
        assert float(risk.detach()) == pytest.approx(0.4 - beta)
        slopes = torch.autograd.grad(risk, (positive, negative))
        assert [float(each) for each in slopes] == [0.0, -gamma]
    positive, negative = tensors(0.4, -0.3, grad=True)
    slopes = torch.autograd.grad(absolute_correction(positive, negative), (positive, negative))
    assert [float(each) for each in slopes] == [1.0, -1.0]
    # Between -beta and zero the authors' correction leaves the risk as it is.
    assert float(nonnegative_correction(*tensors(0.4, -0.03), beta=0.05)) == pytest.approx(0.37)


# Gradients.


def scored(risk, **columns):
    def value(labeled, unlabeled):
        return risk(ScoredBatch(labeled, unlabeled, ALPHA, **columns))

    return value


Q = torch.tensor([0.2, 0.9, 0.5, 0.4], dtype=torch.float64)
OBJECTIVES = {
    **{
        f"pu {name} {scenario}": lambda p, u, name=name, scenario=scenario: absolute_correction(
            *pu_risk_parts(p, u, ALPHA, PRIOR, SURROGATES[name], scenario)
        )
        for name in ("sigmoid", "logistic")
        for scenario in SCENARIOS
    },
    **{
        f"puauc {name} {scenario}": partial(
            lambda p, u, name, scenario: puauc_risk(p, u, ALPHA, PRIOR, SURROGATES[name], scenario),
            name=name,
            scenario=scenario,
        )
        for name in ("sigmoid", "logistic", "squared")
        for scenario in SCENARIOS
    },
    "pconf": lambda p, u: pconf_risk(p, *tensors(CONFIDENCE), sigmoid) + 0 * u.sum(),
    "npu": lambda p, u: absolute_correction(
        *npu_risk_parts(ScoredBatch(p, u, ALPHA), *tensors(CONFIDENCE), PRIOR, MIXING, sigmoid, "one-sample")
    ),
    "posterior": scored(posterior_risk, unlabeled_weight=Q),
    "propensity": scored(propensity_risk, unlabeled_weight=Q),
}


@pytest.mark.parametrize("name", OBJECTIVES)
def test_gradients(name):
    assert torch.autograd.gradcheck(OBJECTIVES[name], tensors(LABELED, UNLABELED, grad=True))


def test_the_gradient_of_puaucs_labeled_pairs_is_zero_for_symmetric_surrogates_only():
    for surrogate in SURROGATES.values():
        (labeled,) = tensors(LABELED, grad=True)
        (slope,) = torch.autograd.grad(distinct_pair_mean(labeled, surrogate), labeled)
        assert (float(slope.abs().max()) < 1e-15) == surrogate.symmetric


def test_em_follows_the_gradient_of_the_observed_loss():
    logits, posterior, propensity = em_batches()
    observed = torch.autograd.grad(observed_loss(logits, ALPHA), logits)
    expected = torch.autograd.grad(posterior_risk(posterior), logits[:2])
    expected += torch.autograd.grad(propensity_risk(propensity), logits[2:])
    for one, other in zip(observed, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-15)


# Identities.


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("mixing", [0.1, 0.5, 0.9])
def test_npu_is_a_mixture_of_upu_and_pconf(mixing, scenario):
    labeled, unlabeled, confidence = tensors(LABELED, UNLABELED, CONFIDENCE)
    upu = sum(pu_risk_parts(labeled, unlabeled, ALPHA, PRIOR, sigmoid, scenario))
    pconf = PRIOR * pconf_risk(labeled, confidence, sigmoid)
    npu = sum(npu_parts(sigmoid, scenario, mixing))
    assert float(npu) == pytest.approx(float(mixing * upu + (1 - mixing) * pconf), abs=1e-14)


def test_pconf_with_the_sigmoid_loss_has_one_sigmoid():
    labeled, confidence = tensors(LABELED, CONFIDENCE)
    expected = (1 + (1 - 2 * confidence) / confidence * torch.sigmoid(labeled)).mean()
    assert float(pconf_risk(labeled, confidence, sigmoid)) == pytest.approx(float(expected), abs=1e-14)


def test_constant_weights_make_conf_auc_puauc():
    labeled, unlabeled = tensors(LABELED, UNLABELED)
    weighted = confidence_auc_risk(labeled, unlabeled, torch.full_like(labeled, 3.0), ALPHA)
    plain = puauc_risk(labeled, unlabeled, ALPHA, None, sigmoid, "one-sample")
    assert float(weighted) == pytest.approx(3 * (float(plain) + ALPHA / 2))


# Populations: laws of finitely many x, where every expectation is a sum.


class Town:
    """A finite population: at each point so many people, so many of them positive, so many of these labeled.

    Means over its labeled and unlabeled people are expectations, so that the functions under test compute exactly what
    they estimate.
    """

    def __init__(self, people, positive, labeled, score):
        self.people, self.positive, self.labeled = np.array([people, positive, labeled])
        self.score = np.array(score)
        self.alpha, self.prior = self.labeled.sum() / self.people.sum(), self.positive.sum() / self.people.sum()
        self.posterior, self.labeling_prob = self.positive / self.people, self.labeled / self.people

    def tensors(self, scenario, *columns):
        """Scores of labeled and unlabeled people, and columns of the labeled ones."""
        others = self.people if scenario == "two-sample" else self.people - self.labeled
        repeated = [np.repeat(each, self.labeled) for each in (self.score, *columns)]
        labeled, *rest = (torch.from_numpy(each) for each in repeated)
        return labeled, torch.from_numpy(np.repeat(self.score, others)), *rest

    def risk(self, loss):
        """What a classifier costs that knows all classes."""
        negative = self.people - self.positive
        return (self.positive @ loss(self.score) + negative @ loss(-self.score)) / self.people.sum()

    def auc_risk(self):
        """Sigmoid loss of a pair of a positive and a negative, over all such pairs."""
        positive, negative = np.repeat(self.score, self.positive), np.repeat(self.score, self.people - self.positive)
        return expit(negative[None, :] - positive[:, None]).mean()


SCAR = Town([40, 60, 80], [20, 10, 40], [10, 5, 20], [0.7, -1.3, 0.2])
SAR = Town([40, 60, 80], [20, 10, 40], [18, 2, 10], [0.7, -1.3, 0.2])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_pu_risk_is_exact_under_scar_and_not_under_sar(scenario):
    for town, exact in ((SCAR, True), (SAR, False)):
        labeled, unlabeled = town.tensors(scenario)
        risk = sum(pu_risk_parts(labeled, unlabeled, town.alpha, town.prior, sigmoid, scenario))
        assert (abs(float(risk) - town.risk(lambda z: expit(-z))) < 1e-12) == exact


def test_pconf_is_exact_under_scar_and_not_under_sar():
    for town, exact in ((SCAR, True), (SAR, False)):
        labeled, _, confidence = town.tensors("one-sample", town.posterior)
        risk = town.prior * float(pconf_risk(labeled, confidence, sigmoid))
        assert (abs(risk - town.risk(lambda z: expit(-z))) < 1e-12) == exact


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_puauc_is_exact_under_scar_and_not_under_sar(scenario):
    for town, exact in ((SCAR, True), (SAR, False)):
        labeled, unlabeled = town.tensors(scenario)
        # Labeled pairs are left out of the risk. In the population their mean is one half.
        risk = float(puauc_risk(labeled, unlabeled, town.alpha, None, sigmoid, scenario))
        within = town.alpha / 2 if scenario == "one-sample" else 0.0
        value = (risk + within - town.prior / 2) / (1 - town.prior)
        assert (abs(value - town.auc_risk()) < 1e-12) == exact


def test_under_scar_with_certain_labels_conf_auc_ranks_as_puauc():
    # r = 1 wherever somebody is labeled: classes do not overlap, and u = c there, so that every weight is 1/c.
    town = Town([30, 50, 20], [30, 0, 20], [6, 0, 4], [0.0, 0.0, 0.0])
    weight = 1 / np.where(town.labeled > 0, town.labeling_prob, 1)
    gaps = []
    for score in np.random.RandomState(0).normal(scale=2, size=(20, 3)):
        town.score = score
        labeled, unlabeled, w = town.tensors("one-sample", weight)
        ours = float(confidence_auc_risk(labeled, unlabeled, w, town.alpha))
        theirs = float(puauc_risk(labeled, unlabeled, town.alpha, None, sigmoid, "one-sample"))
        gaps.append(ours - 5 * theirs)  # c = 1/5
    assert np.ptp(gaps) < 1e-12  # the same risk up to a factor and a constant: the same ranking


def population_upu(law, score, loss):
    """Sum of the parts of the PU risk with sums over the law in place of means over instances."""
    if_negative = loss(-score)
    return law.prior * (law.labeled @ loss(score)) + law.mass @ if_negative - law.prior * (law.labeled @ if_negative)


def test_pusb_is_least_where_its_sigmoid_is_u_over_c():
    # What counts is u(x) < c; the propensity may be above c, as it is at two of these points.
    law = FiniteLaw(np.array([0.3, 0.5, 0.2]), np.array([0.8, 0.3, 0.6]), np.array([0.5, 0.4, 0.6]))
    ratio = law.labeling_prob / law.label_freq
    assert (ratio < 1).all()
    assert (law.propensity > law.label_freq).sum() == 2
    score = torch.from_numpy(logit(ratio)).requires_grad_()
    labeled, unlabeled = torch.from_numpy(law.labeled), torch.from_numpy(law.unlabeled)

    def population(score):
        if_negative = logistic(-score)
        everything = law.alpha * labeled @ if_negative + (1 - law.alpha) * unlabeled @ if_negative
        return law.prior * labeled @ logistic(score) + everything - law.prior * labeled @ if_negative

    (slope,) = torch.autograd.grad(population(score), score)
    assert float(slope.abs().max()) < 1e-15
    for step in torch.eye(3, dtype=torch.float64):
        least = float(population(score.detach()))
        assert float(population(score.detach() + 0.1 * step)) > least < float(population(score.detach() - 0.1 * step))


def test_pusb_without_correction_has_no_minimum_where_the_propensity_is_high():
    law = FiniteLaw(np.array([0.5, 0.5]), np.array([0.9, 0.5]), np.array([0.9, 0.1]))
    ratio = law.labeling_prob / law.label_freq
    assert ratio[0] > 1
    values = []
    for height in (0.0, 10.0, 100.0):
        score = np.array([height, logit(ratio[1])])
        values.append(population_upu(law, score, lambda z: np.logaddexp(0, -z)))
    assert values[0] > values[1] > values[2] < -1


@pytest.mark.parametrize("seed", range(5))
def test_the_truth_is_where_em_stands_still_and_the_propensity_must_be_weighted_by_q(seed):
    law = random_law(seed, 5)
    posterior, propensity = (torch.from_numpy(logit(each)) for each in (law.posterior, law.propensity))
    q = positive_prob_of_unlabeled(posterior, propensity)

    def slope(risk, score, weight):
        """Largest derivative of the population risk: each point is a batch of its own, with its share of labeled."""
        score = score.clone().requires_grad_()
        total = sum(
            law.mass[i] * risk(ScoredBatch(one, one, law.labeling_prob[i], unlabeled_weight=weight[i : i + 1]))
            for i, one in enumerate(score.split(1))
        )
        return float(torch.autograd.grad(total, score)[0].abs().max())

    assert slope(posterior_risk, posterior, q) < 1e-12
    assert slope(propensity_risk, propensity, q) < 1e-12
    assert slope(propensity_risk, propensity, torch.ones_like(q)) > 1e-3
    # Weighted by 1, the labeling probability is where it stands still: the trap of two public implementations.
    assert slope(propensity_risk, torch.from_numpy(logit(law.labeling_prob)), torch.ones_like(q)) < 1e-12
