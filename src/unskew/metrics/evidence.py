"""All that a report shows of a model, as one record that can be kept as JSON inside the model file."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple, Self

import numpy as np

from unskew._support.json_records import build
from unskew.metrics.diagnostics import Finding, Shift
from unskew.metrics.estimates import RankingEstimate
from unskew.metrics.reliability import shows_points
from unskew.metrics.review_curve import Number as Number
from unskew.metrics.review_curve import ReviewCurve

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
"""Shares of the rows, those with the highest scores, that a table of thresholds has."""

LEAST_FLAGGED = 10
"""Rows that a threshold has to flag to be shown."""


@dataclass(frozen=True)
class Estimate:
    """What is estimated of the ranking and of the data, without negatives.

    Attributes
    ----------
    auc, low, high : float or None
        AUC with its interval; None where it cannot be estimated.
    level : float
        Nominal coverage of the intervals.
    prior, prior_low, prior_high : float or None
        Share of positives; without an interval where the user gave the share.
    label_freq : float or None
        Share of the positives that is labeled; None in the two-sample scenario.
    reliability : float or None
        How well the confidence can be predicted from the row, in [0, 1]. None in model files of earlier versions, whose
        estimates come from the weights.
    """

    auc: Number
    low: Number
    high: Number
    level: float
    prior: Number
    prior_low: Number
    prior_high: Number
    label_freq: Number
    reliability: Number = None

    @classmethod
    def of(cls, found: RankingEstimate, *, prior_is_given: bool = False) -> Self:
        """The record of an estimate."""
        kept: dict[str, Any] = {each.name: number(getattr(found, each.name)) for each in fields(cls)}
        if prior_is_given:
            kept |= {"prior_low": None, "prior_high": None}
        return cls(**kept)

    @property
    def shows_points(self) -> bool:
        """Whether single values are shown, or only their intervals."""
        return shows_points(self.reliability)

    @property
    def label_freq_ends(self) -> tuple[Number, Number]:
        """Interval of `label_freq`, which follows from that of the share of positives."""
        if not (self.label_freq and self.prior and self.prior_low and self.prior_high):
            return None, None
        labeled_share = self.label_freq * self.prior
        return min(1.0, labeled_share / self.prior_high), min(1.0, labeled_share / self.prior_low)


@dataclass(frozen=True)
class TopShare:
    """What the top of a ranking holds; ends of intervals are None in model files of earlier versions.

    Attributes
    ----------
    share, n : float, int
        Share of all rows that is at the top, and their number.
    threshold : float or None
        Lowest score of the fitted model among them; None where it is not known.
    precision, recall, lift, expected_positives : float
        As in `unskew.metrics.TopRows`.
    """

    share: float
    n: int
    threshold: Number
    precision: float
    precision_low: Number
    precision_high: Number
    recall: float
    recall_low: Number
    recall_high: Number
    lift: float
    lift_low: Number
    lift_high: Number
    expected_positives: float
    expected_positives_low: Number
    expected_positives_high: Number


@dataclass(frozen=True)
class ThresholdCurve:
    """ROC and precision-recall curves, one entry per threshold, from nothing flagged to everything.

    Attributes
    ----------
    flagged : tuple of float
        Share of all rows that is flagged.
    tpr, fpr, precision : tuples of float
        Recall (true positive rate), false positive rate, share of positives among the flagged.
    threshold : tuple of float or None
        Score of the fitted model at which a row is flagged; None where it is not known.
    """

    flagged: tuple[float, ...]
    tpr: tuple[float, ...]
    fpr: tuple[float, ...]
    precision: tuple[float, ...]
    threshold: tuple[Number, ...]

    def __post_init__(self) -> None:
        lengths = [len(each) for each in vars(self).values()]
        if len(set(lengths)) > 1 or lengths[0] < 2:
            raise ValueError(f"a curve must have one entry per threshold, two or more, but it has {lengths}.")


@dataclass(frozen=True)
class Histogram:
    """Counts between edges, of which there is one more."""

    counts: tuple[int, ...]
    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.counts) == len(self.edges) - 1 or min(self.counts) < 0:
            raise ValueError("a histogram must have counts, each 0 or more, and one edge more than counts.")


class Risk(NamedTuple):
    """Risks of one epoch."""

    epoch: int
    train_risk: Number
    validation_risk: Number


@dataclass(frozen=True)
class TrainingHistory:
    """How the training of a network went, and which epoch was kept."""

    history: tuple[Risk, ...]
    best_epoch: int

    def __post_init__(self) -> None:
        if not 0 <= self.best_epoch < len(self.history):
            raise ValueError(f"best_epoch must be one of {len(self.history)} epochs, but it is {self.best_epoch}.")


@dataclass(frozen=True)
class Evidence:
    """All that a report shows, computed once.

    Attributes
    ----------
    n_ranked : int
        Rows that shares refer to: all, or in the two-sample scenario the unlabeled.
    curve : ThresholdCurve or None
        At most 200 thresholds; None where an earlier version could estimate no AUC.
    weights : tuple of float
        Of the labeled rows in training, ascending, at most 2000 evenly spread ones.
    confidence, labeling_prob : Histogram
        Over the labeled rows.
    shifts : tuple of Shift
        What the labels over-represent, largest first.
    score_training, labeling_training : TrainingHistory or None
        None where no network was trained.
    own_share : float or None
        Share of these rows that the model itself flags, by its own threshold; None where no model was given.
    top : tuple of TopShare
        What the top of the ranking holds; empty in model files of earlier versions.
    reviews : ReviewCurve or None
        Positives by rows reviewed; None in model files of earlier versions, for which `review_curve_of` makes one.
    """

    estimate: Estimate
    n_rows: int
    n_labeled: int
    n_ranked: int
    scenario: str
    clip: float
    curve: ThresholdCurve | None
    weights: tuple[float, ...]
    confidence: Histogram
    labeling_prob: Histogram
    shifts: tuple[Shift, ...]
    findings: tuple[Finding, ...]
    score_training: TrainingHistory | None
    labeling_training: TrainingHistory | None
    own_share: Number = None
    top: tuple[TopShare, ...] = ()
    reviews: ReviewCurve | None = None

    def __post_init__(self) -> None:
        if not (2 <= self.n_labeled <= self.n_rows and 1 <= self.n_ranked <= self.n_rows and self.weights):
            raise ValueError(
                "evidence must be of two labeled rows or more, with their weights, but it has "
                f"{self.n_labeled} of {self.n_rows} rows, {self.n_ranked} ranked, {len(self.weights)} weights."
            )

    def to_json(self) -> dict[str, Any]:
        """The record as what JSON can hold: no tuple, no NaN, no infinity."""
        content: dict[str, Any] = plain(asdict(self))
        return {**content, "findings": [each.to_json() for each in self.findings]}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """The record that `to_json` wrote; ValueError if it is anything else."""
        built: Self = build(cls, content, "evidence")
        return built


def first_cut(evidence: Evidence, curve: ThresholdCurve) -> int:
    """Place of the first threshold worth showing: precision among a handful of rows is chance alone."""
    enough = [place for place, each in enumerate(curve.flagged) if each * evidence.n_ranked >= LEAST_FLAGGED]
    return enough[0] if len(enough) > len(curve.flagged) / 2 else 1


def top_of_old_record(evidence: Evidence) -> list[TopShare]:
    """What the top of the ranking holds, read off the curve of a file that has no more; empty where there is none.

    Rows with equal scores are flagged together, so each share is the nearest possible one, from `first_cut` on.
    """
    curve, prior, none = evidence.curve, evidence.estimate.prior, (None, None)
    if curve is None or not prior:
        return []
    first = first_cut(evidence, curve)
    flagged = np.array(curve.flagged[first:])
    rows = []
    for place in dict.fromkeys(first + int(np.argmin(np.abs(flagged - share))) for share in SHARES):
        share, precision, n = (
            curve.flagged[place],
            curve.precision[place],
            round(curve.flagged[place] * evidence.n_ranked),
        )
        values = precision, *none, curve.tpr[place], *none, precision / prior, *none, precision * n, *none
        rows.append(TopShare(share, n, curve.threshold[place], *values))
    return rows


def review_curve_of(evidence: Evidence) -> ReviewCurve:
    """Positives by rows reviewed, which files of earlier versions have at the thresholds of their curve, as points."""
    if evidence.reviews is not None:
        return evidence.reviews
    curve, prior = evidence.curve, evidence.estimate.prior
    if curve is None or not prior:
        raise ValueError(
            "to find the best cut, the AUC and the share of positives must have been estimated, but they are unknown: "
            "confidence and labeling probability contradict each other. Fit again."
        )
    n = np.rint(np.array(curve.flagged) * evidence.n_ranked).astype(int)
    first = np.unique(n, return_index=True)[1]  # of thresholds between which no row lies
    positives = prior * evidence.n_ranked * np.array(curve.tpr)[first]
    threshold = [None if n[place] == 0 else curve.threshold[place] for place in first]
    return ReviewCurve.without_intervals(n[first].tolist(), threshold, positives.tolist())


def number(value: Any) -> Number:
    """A float, or None for what JSON cannot hold."""
    return float(value) if value is not None and math.isfinite(value) else None


def plain(value: Any) -> Any:
    """The value as what JSON can hold: None for a number that is not finite."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
