"""Scores and weights of PU data, and the U-statistic that estimates of the AUC without negatives share."""

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from unskew.data.labels import check_labels
from unskew.data.validation import (
    SCENARIOS,
    check_choice,
    check_confidence,
    plain_array,
    require_room_for_labeled,
    require_two_of_each,
)
from unskew.errors import NoEstimateWarning
from unskew.objectives.auc import share_above
from unskew.objectives.weights import inverse_labeling_weight


@dataclass(frozen=True)
class Sample:
    """Scores and weights; `everything` stands for p(x): all rows, or in the two-sample scenario the unlabeled.

    The weights are scaled to imply the known prior, if there is one. Without, they are raised by the factor `raised_by`
    where they imply a prior below the share of labeled rows, which is the least possible.
    """

    labeled: np.ndarray
    unlabeled: np.ndarray
    weight: np.ndarray
    one_sample: bool
    known_prior: float | None = None
    raised_by: float = 1.0

    @property
    def everything(self) -> np.ndarray:
        return np.concatenate([self.labeled, self.unlabeled]) if self.one_sample else self.unlabeled

    @property
    def alpha(self) -> float:
        """What turns the mean weight into the prior: the share of labeled rows; 1 for two samples (Eq. 105)."""
        return len(self.labeled) / (len(self.labeled) + len(self.unlabeled)) if self.one_sample else 1.0

    @property
    def implied_prior(self) -> float:
        """What the weights imply, possible or not."""
        return self.alpha * float(self.weight.mean())


def read_sample(
    y: Any, score: Any, confidence: Any, labeling_prob: Any, scenario: str, clip: float, prior: float | None = None
) -> Sample:
    check_choice("scenario", scenario, SCENARIOS)
    y, score, labeling_prob = (column_or_1d(plain_array(each)) for each in (y, score, labeling_prob))
    check_consistent_length(y, score, labeling_prob)
    check_array(score, ensure_2d=False, input_name="score")
    labeled = check_labels(y)
    require_two_of_each(labeled, "an AUC without negatives")
    check_clip(clip)
    prob = labeling_prob[labeled].astype(np.float64)
    _require_possible(prob, np.flatnonzero(labeled), scenario, clip)
    weight = inverse_labeling_weight(check_confidence(confidence, labeled), prob, clip)
    score, one_sample = score.astype(np.float64), scenario == "one-sample"
    raised_by = 1.0
    # The prior that the weights imply, alpha times their mean, may be wrong; R_H does not depend on their scale.
    if prior is not None:
        weight = weight * (_mean_weight_for(prior, labeled, one_sample) / float(weight.mean()))
    elif one_sample:  # labeled instances are positive ones, so that the prior is at least alpha
        raised_by = max(1.0, 1 / float(weight.mean()))
    return Sample(score[labeled], score[~labeled], raised_by * weight, one_sample, prior, raised_by)


def _mean_weight_for(prior: Any, labeled: np.ndarray, one_sample: bool) -> float:
    """The mean weight that implies a known prior, which is checked."""
    advice = "Leave it out to have it estimated."
    if isinstance(prior, bool) or not isinstance(prior, Real) or not 0 < float(prior) < 1:
        raise ValueError(f"prior must be a number between 0 and 1, but it is {prior!r}. {advice}")
    if not one_sample:
        return float(prior)
    labeled_share = float(labeled.mean())
    require_room_for_labeled(float(prior), labeled_share, advice)
    return float(prior) / labeled_share


def check_clip(clip: Any) -> None:
    if isinstance(clip, bool) or not isinstance(clip, Real) or not 0 <= float(clip) < 1:
        raise ValueError(f"clip must be a number in [0, 1), 0 for none, but it is {clip!r}.")


def _require_possible(prob: np.ndarray, rows: np.ndarray, scenario: str, clip: float) -> None:
    raised = np.maximum(prob, clip)
    bad = np.flatnonzero(~((raised > 0) & np.isfinite(raised) & ((raised <= 1) | (scenario == "two-sample"))))
    if bad.size:
        first = prob[bad[0]]
        hint = " Pass clip=0.01 to raise those that are too small." if first <= 0 else ""
        raise ValueError(
            "labeling_prob must lie in (0, 1] on every labeled row (a density ratio above 0 in the two-sample "
            f"scenario), but {bad.size} of {prob.size} do not (first: {first} at row {rows[bad[0]]}).{hint}"
        )


def prior_and_label_freq(sample: Sample) -> tuple[float, float]:
    """The prior, at most 1, and the label frequency that follows; NaN for two samples."""
    prior = min(sample.implied_prior, 1.0)
    return prior, sample.alpha / prior if sample.one_sample else float("nan")


def warn_no_estimate(sample: Sample, what: str = "AUC") -> None:
    warnings.warn(
        "the estimated prior, alpha times the mean of confidence / labeling_prob, must be below 1 for an AUC, but "
        f"it is {sample.implied_prior:.3g}: labeling probabilities are too small or confidence is too high. The {what} "
        "is NaN. Estimate the labeling probability again, or raise small ones with clip=.",
        NoEstimateWarning,
        stacklevel=3,
    )


def parts_of(sample: Sample) -> tuple[float, float]:
    """The two means that the AUC is a function of: A = pi, and B = pi R_H."""
    return sample.implied_prior, sample.alpha * float(np.mean(sample.weight * share_above_labeled(sample)))


def auc_of(prior: float, weighted_risk: float) -> float:
    return 1 - (weighted_risk / prior - prior / 2) / (1 - prior)


def share_above_labeled(sample: Sample) -> np.ndarray:
    """F_n of each labeled instance, the pair with itself left out as in Eq. (17)."""
    above = share_above(sample.unlabeled, sample.labeled)
    if not sample.one_sample:
        return above
    n = len(sample.labeled)
    among_labeled = (n * share_above(sample.labeled, sample.labeled) - 0.5) / (n - 1)
    return np.asarray(sample.alpha * among_labeled + (1 - sample.alpha) * above)


@dataclass(frozen=True)
class Influence:
    """How far each row moves the estimated AUC, times the number of rows: the projection of the U-statistic.

    In the two-sample scenario the two samples are independent, and each has its own part.
    """

    labeled: np.ndarray
    unlabeled: np.ndarray
    one_sample: bool

    def __sub__(self, other: "Influence") -> "Influence":
        """Influence on the difference of two estimates from the same rows."""
        return Influence(self.labeled - other.labeled, self.unlabeled - other.unlabeled, self.one_sample)

    @property
    def standard_error(self) -> float:
        """Of the estimate that this is the influence on."""
        parts = [self.labeled, self.unlabeled]
        if self.one_sample:
            parts = [np.concatenate(parts)]
        return float(np.sqrt(sum(part.var(ddof=1) / len(part) for part in parts)))


def influence_of(sample: Sample) -> Influence:
    """Influence of each row on the AUC, by the delta method on its two means."""
    prior, weighted_risk = parts_of(sample)
    # The mean weight scales R_H = B / A.
    slope_scale, slope_risk = weighted_risk / (prior**2 * (1 - prior)), -1 / (prior * (1 - prior))
    own = sample.weight * (slope_scale + slope_risk * share_above_labeled(sample))
    if sample.known_prior is None:  # it is the mean weight again or, where that is too small, the share of the labeled
        slope_prior = 0.5 / (1 - prior) - (weighted_risk / prior - prior / 2) / (1 - prior) ** 2
        own = own + slope_prior * (sample.weight if sample.raised_by == 1 else 1.0)
    # The weight of the labeled instances that each row outranks: its part as the "any x" of a pair.
    labeled, unlabeled = (
        slope_risk * prior * (1 - share_above(sample.labeled, part, sample.weight))
        for part in (sample.labeled, sample.unlabeled)
    )
    return Influence(own + labeled if sample.one_sample else own, unlabeled, sample.one_sample)
