"""Probability of being positive, of the rows that a ranker is fitted to and of new ones, whatever their source."""

from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from unskew._support.memory import give_back
from unskew.data.images import as_columns
from unskew.data.records import PUData
from unskew.data.rows import DenseRows, Rows, SparseRows
from unskew.posterior import LEAST_LABELED, PosteriorModel, block_size, fit_rows, offset_for, rows_to_fit


class Probability(NamedTuple):
    """The fitted posterior, how well the confidence can be predicted from the row, and the share of positives."""

    model: PosteriorModel
    reliability: float
    prior: float


def can_fit_probability(data: PUData) -> bool:
    """Whether there is confidence, and enough of both kinds of rows."""
    return data.confidence is not None and min(data.n_labeled, data.n_unlabeled) >= LEAST_LABELED


def has_missing(X: Rows) -> bool:
    """Whether a value is missing, of rows in memory; those in files are checked as they are read."""
    values = X.array if isinstance(X, DenseRows) else X.matrix.data if isinstance(X, SparseRows) else np.empty(0)
    return values.size > 0 and bool(np.isnan(values.min()))


def fit_probability(data: PUData, scenario: str, prior: float | None) -> Probability:
    """Fit to enough of the rows, and average over all of them; where the prior is known, it is that average."""
    two_sample = scenario == "two-sample"
    rng = np.random.RandomState(0)  # as `fit_posterior`: the same table has the same probabilities
    labeled, confidence = np.zeros(len(data.X), dtype=bool), np.full(len(data.X), np.nan)
    labeled[data.labeled_rows], confidence[data.labeled_rows] = True, data.confidence
    rows, weight = rows_to_fit(labeled, prod(data.X.shape), rng)
    labels = labeled[rows]
    confidence = confidence[rows][labels]
    # Without names or lists of arguments on the way, so that `fit_rows` is the last to hold the rows.
    found = fit_rows(table_of(data.X, rows), labels, confidence, weight, two_sample, rng, with_other_views=False)
    model = found.model
    give_back()  # gaps that the fit left, before another one begins
    logits = logits_of(model, data.X, data.unlabeled_rows if two_sample else None)
    if prior is not None:
        return Probability(replace(model, offset=np.array([offset_for(prior, logits)])), found.reliability, prior)
    mean = float(expit(logits).mean())
    return Probability(model, found.reliability, mean if two_sample else max(mean, data.alpha))


def logits_of(model: PosteriorModel, X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
    """Logit of the probability of these rows, or of all."""
    if model.scaling.filled is None and has_missing(X):
        raise ValueError(
            "the probabilities of this model come from a file of an earlier version, and are functions of all columns: "
            "no value of X may be missing, but some are NaN. Fill them in, in a pipeline, or fit the model again."
        )
    rows = np.arange(len(X)) if rows is None else rows
    X.walk()
    size = block_size(prod(X.shape))
    parts = (rows[start : start + size] for start in range(0, len(rows), size))
    return np.concatenate([np.empty(0), *(model.logits(model.table_of(X.take(part)))[:, 0] for part in parts)])


def table_of(X: Rows, rows: np.ndarray) -> np.ndarray:
    """These rows as a table of numbers in float64; images as their gradients and colors."""
    return as_columns(X.take(rows))


def require_posterior(ranker: Any) -> bool:
    """True for a ranker that has probabilities; an AttributeError says why another has none.

    One that is not fitted has none yet: whether it will depends on the confidence, and whoever asks before the fit, as
    scikit-learn's own checks do, expects that it does not.
    """
    if not hasattr(ranker, "posterior_"):
        raise AttributeError(
            f"probabilities are learned from the confidence of {LEAST_LABELED} labels or more, but this ranker was "
            "fitted without it, or with probability=False, or it comes from a file of an earlier version. Call "
            "fit(X, y, confidence=...)."
        )
    return True
