"""Compute all that a report shows of a model."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from unskew.metrics.diagnostics import Finding, Shift, Unit, check_weights, over_representation
from unskew.metrics.estimates import RankingEstimate, estimate_ranking, findings_instead_of_warnings, findings_of
from unskew.metrics.evidence import (
    LEAST_FLAGGED,
    SHARES,
    Estimate,
    Evidence,
    Histogram,
    Number,
    Risk,
    ThresholdCurve,
    TopShare,
    TrainingHistory,
    number,
)
from unskew.metrics.reliability import check_given_prior
from unskew.metrics.review_curve import ReviewCurve
from unskew.metrics.sar import SarCurves
from unskew.objectives.weights import inverse_labeling_weight
from unskew.posterior import Posterior

MOST_WEIGHTS = 2000
N_BINS = 20
BLOCK = 65_536
"""Rows that are processed together."""


def gather_evidence(
    *,
    y: Any,
    score: Any,
    confidence: Any,
    posterior: Posterior,
    labeling_prob: Any,
    clip: float,
    scenario: str,
    X: Any,
    feature_names: Sequence[str],
    feature_columns: Sequence[str] | None = None,
    feature_units: Sequence[Unit] | None = None,
    ranker: Any = None,
    prior_without_given: tuple[float, float] | None = None,
) -> Evidence:
    """Compute all that a report shows.

    Parameters
    ----------
    y, confidence, scenario
        As in `unskew.posterior.fit_posterior`.
    score : array of shape (n,)
        Out of fold.
    posterior : Posterior
        Of the same rows: all estimates come from it.
    labeling_prob, clip
        What the weights of the labeled rows in training were made of.
    X : array or sparse matrix of shape (n, n_features), images, or None
        What `ranker` was fitted on. Features of images have no names, and are not compared.
    feature_names, feature_columns, feature_units
        See `unskew.diagnostics.over_representation`.
    ranker : fitted ranker, optional
        Gives the training histories, and the scores that the thresholds stand at.
    prior_without_given : pair of float, optional
        Where the share of positives was given: its interval without that.
    """
    y, labeling_prob = np.asarray(y), np.asarray(labeling_prob, dtype=np.float64)
    confidence = np.asarray(confidence, dtype=np.float64)
    labeled, everything = y == 1, posterior.everything
    with findings_instead_of_warnings():
        found = estimate_ranking(score, posterior)
    sure, prob = confidence[labeled], labeling_prob[labeled]
    weight = inverse_labeling_weight(sure, prob, clip)
    # Scores of the fitted model itself, which are what a user will compare with a threshold.
    model_scores = None if ranker is None or X is None else ranker.decision_function(X)[everything]
    score_training, labeling_training = _histories_for_report(ranker)
    shifts: Sequence[Shift] = ()
    if X is not None and len(getattr(X, "shape", ())) == 2 and X.shape[1] == len(feature_names):
        table = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
        mean, std = _mean_and_std(table if everything.all() else table[everything], feature_units or ())
        shifts = over_representation(
            table[labeled], weight, mean, std, feature_names, feature_columns=feature_columns, units=feature_units
        )
    return Evidence(
        estimate=Estimate.of(found, prior_is_given=posterior.known_prior is not None),
        n_rows=len(y),
        n_labeled=int(labeled.sum()),
        n_ranked=int(everything.sum()),
        scenario=scenario,
        clip=float(clip),
        curve=_thin_curve(found.curves(), model_scores),
        weights=_evenly_spread(weight),
        confidence=_histogram(sure, 1.0),
        labeling_prob=_histogram(prob, 1.0 if scenario == "one-sample" else None),
        shifts=tuple(shifts),
        findings=(
            *_findings_of_estimate(found, posterior, prior_without_given),
            *check_weights(sure, prob, clip, scenario),
        ),
        score_training=score_training,
        labeling_training=labeling_training,
        own_share=None if model_scores is None else number(np.mean(model_scores >= ranker.threshold_)),
        top=top_shares(found, int(everything.sum()), model_scores),
        reviews=_reviews(found, model_scores),
    )


def _findings_of_estimate(
    found: RankingEstimate, posterior: Posterior, without: tuple[float, float] | None
) -> list[Finding]:
    findings = findings_of(found, posterior)
    if posterior.known_prior is not None and without is not None:
        findings.append(check_given_prior(posterior.known_prior, *without))
    return findings


def top_shares(found: RankingEstimate, n_ranked: int, model_scores: np.ndarray | None = None) -> tuple[TopShare, ...]:
    """What the usual shares of the rows at the top hold, each once; precision among a handful of rows is chance alone.

    The thresholds are scores of the fitted model, where they are given.
    """
    least = min(1.0, LEAST_FLAGGED / n_ranked)
    tops = {top.n: top for top in (found.at(max(share, least)) for share in SHARES)}
    descending = None if model_scores is None else np.sort(model_scores)[::-1]
    return tuple(
        TopShare(
            share=n / n_ranked,
            **{**vars(top), "threshold": None if descending is None else number(descending[n - 1])},
        )
        for n, top in tops.items()
    )


def _reviews(found: RankingEstimate, model_scores: np.ndarray | None) -> ReviewCurve:
    """Positives by rows reviewed, with the scores of the fitted model."""
    curve = found.reviews()
    none: tuple[Number, ...] = (None,) * len(curve.n)
    if model_scores is None:
        return replace(curve, threshold=none)
    descending = np.sort(model_scores)[::-1]
    return replace(curve, threshold=(None, *(number(descending[n - 1]) for n in curve.n[1:])))


def _thin_curve(curves: SarCurves, model_scores: np.ndarray | None) -> ThresholdCurve:
    """At most 200 thresholds: dense where few are flagged, and wherever recall grows."""
    flagged, tpr = curves.flagged, curves.tpr
    wanted = np.concatenate([SHARES, np.geomspace(max(float(flagged[1]), 1e-9), 1, 90), np.linspace(0, 1, 60)])
    places = np.concatenate([_nearest(flagged, wanted), _nearest(tpr, np.linspace(0, 1, 40)), [0, len(flagged) - 1]])
    kept = np.unique(places)
    threshold: list[Number] = [None] * len(kept)
    if model_scores is not None:
        # As many rows of the data reach the score as are flagged; nothing is flagged above the highest.
        count = np.rint(flagged[kept] * len(model_scores)).astype(int)
        descending = np.sort(model_scores)[::-1]
        threshold = [None if n == 0 else number(descending[min(n, len(descending)) - 1]) for n in count]
    shares = {name: tuple(getattr(curves, name)[kept].tolist()) for name in ("flagged", "tpr", "fpr", "precision")}
    return ThresholdCurve(**shares, threshold=tuple(threshold))


def _nearest(ascending: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Place of the entry nearest to each wanted value."""
    right = np.clip(np.searchsorted(ascending, wanted), 1, len(ascending) - 1)
    return np.asarray(np.where(wanted - ascending[right - 1] <= ascending[right] - wanted, right - 1, right))


def _evenly_spread(weight: np.ndarray) -> tuple[float, ...]:
    ordered = np.sort(weight)
    if len(ordered) > MOST_WEIGHTS:
        ordered = ordered[np.rint(np.linspace(0, len(ordered) - 1, MOST_WEIGHTS)).astype(int)]
    return tuple(ordered.tolist())


def _histogram(values: np.ndarray, most: float | None) -> Histogram:
    top = max(float(values.max()), 1e-9) if most is None else most
    counts, edges = np.histogram(np.clip(values, 0, top), bins=N_BINS, range=(0, top))
    return Histogram(tuple(counts.tolist()), tuple(edges.tolist()))


def _mean_and_std(X: Any, units: Sequence[Unit]) -> tuple[np.ndarray, np.ndarray]:
    """Over the rows that have a value."""
    if not sparse.issparse(X):
        mean = X.mean(axis=0, dtype=np.float64)
        # In blocks: a table in float64 would be twice as large as the one in memory.
        blocks = (X[start : start + BLOCK] - mean for start in range(0, len(X), BLOCK))
        std = np.sqrt(sum(np.square(block).sum(axis=0) for block in blocks) / len(X))
        for place, unit in enumerate(units):
            if unit.absent is not None:
                values = X[X[:, unit.absent] == 0, place].astype(np.float64)
                mean[place], std[place] = (values.mean(), values.std()) if len(values) else (0.0, 0.0)
        return mean, std
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    squared = np.asarray(X.multiply(X).mean(axis=0), dtype=np.float64).ravel()
    return mean, np.sqrt(np.maximum(squared - mean**2, 0))


def _histories_for_report(ranker: Any) -> tuple[TrainingHistory | None, TrainingHistory | None]:
    """Histories of the score function and of the labeling probability; a method may have only the second."""
    labeling_model = getattr(ranker, "labeling_", None)
    score = _history_for_report(getattr(ranker, "history_", None), getattr(ranker, "best_epoch_", 0))
    labeling = _history_for_report(getattr(labeling_model, "history", None), getattr(labeling_model, "best_epoch", 0))
    return (None, labeling) if score == labeling else (score, labeling)


def _history_for_report(history: Any, best_epoch: Any) -> TrainingHistory | None:
    if not history:
        return None
    rows = (Risk(int(row[0]), number(row[1]), number(row[2])) for row in history)
    return TrainingHistory(tuple(rows), int(best_epoch))
