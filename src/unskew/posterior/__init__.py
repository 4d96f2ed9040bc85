r"""Probability of being positive, :math:`\eta(x)`, learned from confidence, labels and unlabeled rows together.

The confidence is that probability at the labeled rows, but for noise. So it can be learned as a function of the row,
and together with the propensity :math:`e(x)` it must explain which rows were labeled. `docs/posterior.md` derives it.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit, logit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from unskew.data.images import as_columns
from unskew.data.labels import check_labels
from unskew.data.validation import (
    SCENARIOS,
    check_choice,
    check_confidence,
    plain_array,
    require_room_for_labeled,
)
from unskew.objectives.joint_likelihood import flattening
from unskew.posterior._basis import FARTHEST, Scaling, Waves, block_size, scores_of_ranks
from unskew.posterior._fit import LEAST_LABELED, FittedPosterior, fit_rows, most_rows, rows_to_fit
from unskew.posterior._model import PosteriorModel, dense, offset_for

__all__ = [
    "FARTHEST",
    "LEAST_LABELED",
    "Posterior",
    "PosteriorModel",
    "Scaling",
    "Uncertainty",
    "Waves",
    "block_size",
    "fit_posterior",
    "fit_rows",
    "most_rows",
    "offset_for",
    "rows_to_fit",
    "scores_of_ranks",
]

USUAL_LEVEL_ERROR, USUAL_SLOPE_ERROR = 0.1, 0.1
"""How far the logit of a confidence may be off unseen, in its level and, relatively, in its slope."""


@dataclass(frozen=True)
class Uncertainty:
    """Variances of a quantity that depends on the posterior of many rows, by where they come from.

    Attributes
    ----------
    model : float
        Of the fitted coefficients, as the model itself sees it, or as its errors at labels left out show.
    classes : float
        Of the true classes around their probabilities.
    selection : float
        Of how far labeled rows differ from others in what their columns do not show.
    calibration : float
        Of a confidence that is off by as much as well-kept ones are, which cannot be seen from inside.

    Examples
    --------
    >>> from unskew.posterior import Uncertainty
    >>> Uncertainty(model=0.01, classes=0.02, selection=0.0, calibration=0.0).classes
    0.02
    """

    model: float
    classes: float
    selection: float
    calibration: float


@dataclass(frozen=True)
class Posterior:
    """Probability of being positive for each row of a table, with its uncertainty; made by `fit_posterior`.

    Attributes
    ----------
    prob : array of shape (n,)
        Probability of being positive.
    propensity : array of shape (n,)
        Probability of being labeled, for a positive like this row; NaN in the two-sample scenario.
    deviation : array of shape (n,)
        Standard deviation of the logit of `prob`.
    reliability : float in [0, 1]
        How well the confidence of a row is predicted from the others: the share of the variance of its logit that
        predictions of left-out labels explain, by the worse one of two fits. Labels count by the inverse of their
        labeling probability, so that they stand for all rows; see Eq. (P10) in `docs/posterior.md`.
    everything : array of bool, shape (n,)
        Rows that stand for p(x): all, or in the two-sample scenario the unlabeled.
    other_views : array of shape (n_views, n)
        Probabilities under other assumptions about what the rows cannot show.
    confidence_varies : bool
        Whether labels differ in their confidence.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(500, random_state=0)
    >>> posterior = unskew.posterior.fit_posterior(data.X, data.labeled, data.confidence)
    >>> bool(abs(posterior.prob.mean() - data.y.mean()) < 0.1)
    True
    >>> posterior.predict(data.X[:3]).shape
    (3,)
    """

    prob: np.ndarray
    propensity: np.ndarray
    deviation: np.ndarray
    reliability: float
    everything: np.ndarray
    other_views: np.ndarray
    n_labeled: int
    confidence_varies: bool
    known_prior: float | None
    model: PosteriorModel = field(repr=False)
    _fitted: FittedPosterior = field(repr=False)
    _X: Any = field(repr=False)

    @property
    def prior(self) -> float:
        """Share of positives."""
        return float(self.prob[self.everything].mean())

    def predict(self, X: Any) -> np.ndarray:
        """Probability of being positive for other rows."""
        X = _flat(X)
        if X.shape[1] != self._X.shape[1]:
            raise ValueError(
                f"X must have the {self._X.shape[1]} columns that the posterior was fitted with, but it has "
                f"{X.shape[1]}. Pass the same columns in the same order."
            )
        return self.model.predict(X)

    def uncertainty(self, slope: np.ndarray, pull: np.ndarray | None = None) -> Uncertainty:
        """Variances of a quantity whose derivative by the probability of each row is `slope`.

        `pull`, that by the coefficients (`pull_of`), is what takes long: whoever knows it passes it.
        """
        spread = self.prob * (1 - self.prob)
        steep = slope * spread
        pull = self.pull_of(slope) if pull is None else pull
        if self.known_prior is not None:  # the mean is held by an offset that moves against the coefficients
            pull = pull - steep.sum() / spread[self.everything].sum() * self._pull_of_all
        by_model = float(pull @ self._fitted.covariance @ pull)
        by_labels = float(np.sum((self._fitted.influence_of_labels @ pull) ** 2))
        classes = float(np.sum(slope**2 * spread))
        higher = float(steep.sum()) if self.known_prior is None else 0.0
        flatter = float(steep @ logit(np.clip(self.prob, 1e-9, 1 - 1e-9)))
        off = (USUAL_LEVEL_ERROR * higher) ** 2 + (USUAL_SLOPE_ERROR * flatter) ** 2
        return Uncertainty(max(by_model, by_labels), classes, (self.model.unseen[0] / 2 * higher) ** 2 / 12, off)

    def pull_of(self, slope: np.ndarray) -> np.ndarray:
        """Derivative by the coefficients of a quantity whose derivative by the probability of each row is `slope`."""
        # Most rows have the same slope in shares of the top rows: what they have in common is computed once.
        usual = float(np.median(slope[self.everything]))
        rest = (slope - usual * self.everything) * (self.prob * (1 - self.prob))
        return np.asarray(usual * self._pull_of_all + self._pull_back(rest))

    @cached_property
    def _pull_of_all(self) -> np.ndarray:
        return self._pull_back(self.prob * (1 - self.prob) * self.everything)

    def _pull_back(self, steep: np.ndarray) -> np.ndarray:
        """Derivative by the coefficients of something whose derivative by the logit of each row is `steep`."""
        rows = np.flatnonzero(steep)
        size = block_size(self._X.shape[1])
        parts = (rows[start : start + size] for start in range(0, len(rows), size))
        total = np.zeros(len(self.model.coefficients))
        for part in parts:
            total += steep[part] @ self.model.columns(dense(self._X[part]))
        return np.asarray(flattening(self.model.unseen[0]) * total)


def fit_posterior(
    X: Any,
    y: Any,
    confidence: Any,
    *,
    scenario: str = "one-sample",
    prior: float | None = None,
    random_state: Any = 0,
) -> Posterior:
    """Learn the probability of being positive, and the propensity, for every row of a table.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, n_features), or images
        Numbers, all finite.
    y : array of shape (n,)
        1 labeled, 0 unlabeled.
    confidence : array of shape (n,)
        In [0, 1] and calibrated, exact or noisy; read on labeled rows only.
    scenario : {"one-sample", "two-sample"}
        As in the rankers.
    prior : float in (0, 1), optional
        Share of positives, where it is known; the mean probability is then exactly that.
    random_state : int, RandomState or None, default=0
        Random waves, and which rows are fitted to where there are very many. It is fixed, so that everybody who asks
        has the same numbers of the same table.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(1000, random_state=0)
    >>> found = fit_posterior(data.X, data.labeled, data.confidence, random_state=0)
    >>> bool(abs(found.prob - data.law.posterior(data.X)).mean() < 0.02)
    True
    """
    check_choice("scenario", scenario, SCENARIOS)
    labeled = check_labels(column_or_1d(plain_array(y)))
    sure = check_confidence(confidence, labeled)
    X = _flat(X)
    check_consistent_length(X, labeled)
    two_sample = scenario == "two-sample"
    _check_prior(prior, 0.0 if two_sample else float(labeled.mean()))
    rng = check_random_state(random_state)
    rows, weight = rows_to_fit(labeled, X.shape[1], rng)
    among_labeled = (np.cumsum(labeled) - 1)[rows[labeled[rows]]]
    found = fit_rows(dense(X[rows]), labeled[rows], sure[among_labeled], weight, two_sample, rng)
    everything = ~labeled if two_sample else np.ones(len(labeled), dtype=bool)
    model = found.model
    logits = model.logits(X)
    if prior is not None:
        offset = np.array([offset_for(float(prior), each) for each in logits[everything].T])
        model, logits = replace(model, offset=offset), logits + offset
    prob, *others = expit(logits).T
    propensity, deviation = model.propensity_and_deviation(X)
    about = found.reliability, everything, np.array(others), int(labeled.sum()), bool(np.ptp(sure) > 0), prior
    return Posterior(prob, propensity, deviation, *about, model, found, X)


def _check_prior(prior: Any, labeled_share: float) -> None:
    if prior is None:
        return
    if isinstance(prior, bool) or not isinstance(prior, float | int | np.number) or not 0 < float(prior) < 1:
        raise ValueError(f"prior must be a number between 0 and 1, but it is {prior!r}. Leave it out if it is unknown.")
    require_room_for_labeled(float(prior), labeled_share, "Leave it out to have it estimated.")


def _flat(X: Any) -> Any:
    """Rows of numbers; images as their gradients and colors, sparse matrices as they are."""
    X = plain_array(X)
    if not sparse.issparse(X):
        X = np.asarray(X)
        X = as_columns(X) if X.ndim > 2 else X
    return check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
