"""The weighted AUC risk for every surrogate and scenario, for the methods that use it."""

from torch import Tensor

from unskew.data.records import ScoredBatch
from unskew.objectives.auc_risk import (
    confidence_auc_risk,
    nonsymmetric_auc_risk,
    nonsymmetric_two_sample_auc_risk,
    two_sample_auc_risk,
)
from unskew.objectives.surrogates import SURROGATES, as_surrogate, zero_one

TRAINABLE = tuple(name for name in SURROGATES if name != zero_one.name)
"""Surrogates with a slope to follow."""


def weighted_auc_risk(batch: ScoredBatch, surrogate: str, scenario: str) -> Tensor:
    """Risk of the scenario in its form for the surrogate: symmetric ones do without the positive-positive term."""
    assert batch.weight is not None
    scores = batch.labeled, batch.unlabeled, batch.weight
    symmetric = as_surrogate(surrogate).symmetric
    if scenario == "two-sample":
        two_sample = two_sample_auc_risk if symmetric else nonsymmetric_two_sample_auc_risk
        return two_sample(*scores, surrogate)
    one_sample = confidence_auc_risk if symmetric else nonsymmetric_auc_risk
    return one_sample(*scores, batch.alpha, surrogate)
