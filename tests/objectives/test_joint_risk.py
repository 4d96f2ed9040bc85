"""The joint likelihood as two risks: by hand, by gradcheck, and where both functions are known."""

import math

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from unskew.data.records import ScoredBatch
from unskew.objectives.joint_risk import confidence_logit, posterior_risk, propensity_risk, unlabeled_loss

LABELED, UNLABELED = [0.7, -1.2], [0.4, 2.0, -3.0]
CONFIDENCE, HELD, ALPHA, DEVIATION = [0.8, 0.3], [0.25, 0.6, 0.01], 0.2, 0.7


def batch(labeled=LABELED, unlabeled=UNLABELED, confidence=CONFIDENCE):
    sure = None if confidence is None else torch.tensor(confidence, dtype=torch.float64)
    scores = (torch.tensor(each, dtype=torch.float64) for each in (labeled, unlabeled))
    held = torch.tensor(HELD, dtype=torch.float64)
    return ScoredBatch(*scores, ALPHA, confidence=sure, unlabeled_weight=held)


def sigmoid(z):
    return 1 / (1 + math.exp(-z))


def by_hand(with_confidence):
    """Eq. (J1), row by row."""
    value = 0.0
    for f, r in zip(LABELED, CONFIDENCE, strict=True):
        value -= ALPHA * math.log(sigmoid(f)) / 2
        if with_confidence:
            value += ALPHA * (math.log(r / (1 - r)) - f) ** 2 / (2 * DEVIATION**2) / 2
    for f, e in zip(UNLABELED, HELD, strict=True):
        value -= (1 - ALPHA) * math.log(1 - e * sigmoid(f)) / 3
    return value


@pytest.mark.parametrize("with_confidence", [True, False])
def test_posterior_risk_by_hand(with_confidence):
    found = posterior_risk(batch(confidence=CONFIDENCE if with_confidence else None), DEVIATION)
    assert float(found) == pytest.approx(by_hand(with_confidence), rel=1e-12)


def test_propensity_risk_by_hand():
    """Eq. (J2), row by row: that of the posterior without its confidence."""
    assert float(propensity_risk(batch())) == pytest.approx(by_hand(False), rel=1e-12)


def test_slopes():
    scores = [torch.tensor(each, dtype=torch.float64, requires_grad=True) for each in (LABELED, UNLABELED)]

    def risks(labeled, unlabeled):
        record = batch()._replace(labeled=labeled, unlabeled=unlabeled)
        return posterior_risk(record, DEVIATION), propensity_risk(record)

    assert gradcheck(risks, scores)


def test_no_digits_are_lost_at_the_ends():
    score = torch.tensor([-80.0, 80.0, 80.0], dtype=torch.float64)
    found = unlabeled_loss(score, torch.tensor([0.5, 0.5, 1e-12], dtype=torch.float64))
    np.testing.assert_allclose(found.numpy(), [0.5 * math.exp(-80), math.log(2), 1e-12], rtol=1e-3, atol=1e-16)
    assert torch.isfinite(confidence_logit(torch.tensor([0.0, 1.0]))).all()


def test_the_true_posterior_and_propensity_minimize_both_risks_in_the_mean():
    """Derivative of the expected risk at the truth is 0: rows are labeled with probability h e."""
    h, e = 0.3, 0.4
    f, g = (torch.tensor(math.log(p / (1 - p)), dtype=torch.float64, requires_grad=True) for p in (h, e))
    alpha = h * e
    for score, other, risk in ((f, e, lambda b: posterior_risk(b, 1.0)), (g, h, propensity_risk)):
        held = torch.tensor([other], dtype=torch.float64)
        record = ScoredBatch(score[None], score[None], alpha, unlabeled_weight=held)
        (slope,) = torch.autograd.grad(risk(record), score)
        assert float(slope) == pytest.approx(0, abs=1e-12)
