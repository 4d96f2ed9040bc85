r"""Probability of being positive, :math:`\eta(x)`, learned from confidence, labels and unlabeled rows together.

The confidence is that probability at the labeled rows, but for noise. So it can be learned as a function of the row,
and together with the propensity :math:`e(x)` it must explain which rows were labeled. `docs/posterior.md` derives it.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit, logit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from unskew.data.validation import (
    SCENARIOS,
    check_choice,
    check_confidence,
    check_labels,
    plain_array,
    require_room_for_labeled,
)
from unskew.errors import TooFewLabeled
from unskew.posterior._basis import Basis, Scales, Scaling, ScoreRank, Standardizer, rank_of
from unskew.posterior._confidence import confidence_logit, fit_confidence
from unskew.posterior._joint_fit import SHIFT, USUAL_PROPENSITY, JointData, JointFit
from unskew.posterior._labeling import MOST_TRAINING_ROWS, LabelingFolds, fit_labeling_folds

__all__ = ["Posterior", "Uncertainty", "fit_posterior"]

FOLDS = 5
LEAST_LABELED = 4
MOST_LABELED_ROWS = 5_000
BLOCK = 65_536
USUAL_LEVEL_ERROR, USUAL_SLOPE_ERROR = 0.15, 0.2
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
        How well the confidence of a labeled row is predicted from the others: the share of the variance of its logit
        that predictions of left-out rows explain.
    everything : array of bool, shape (n,)
        Rows that stand for p(x): all, or in the two-sample scenario the unlabeled.
    """

    prob: np.ndarray
    propensity: np.ndarray
    deviation: np.ndarray
    reliability: float
    everything: np.ndarray
    n_labeled: int
    known_prior: float | None
    _fitted: "_Fitted" = field(repr=False)
    _table: "_Table" = field(repr=False)

    @property
    def prior(self) -> float:
        """Share of positives."""
        return float(self.prob[self.everything].mean())

    def predict(self, X: Any, score: Any = None) -> np.ndarray:
        """Probability of being positive for other rows; `score` is the ranker's, if there was one in the fit."""
        table = _Table(_flat(X), None if score is None else np.asarray(score, dtype=np.float64), None)
        f, _, _ = self._fitted.logits(table)
        return np.asarray(expit(f - SHIFT * self._fitted.scales.nugget + self._fitted.offset))

    def uncertainty(self, slope: np.ndarray) -> Uncertainty:
        """Variances of a quantity whose derivative by the probability of each row is `slope`."""
        steep = slope * self.prob * (1 - self.prob)
        fitted = self._fitted
        pull = fitted.pull_back(self._table, steep)
        if self.known_prior is not None:  # the mean is held by an offset that moves against the coefficients
            held = self.prob * (1 - self.prob) * self.everything / self.everything.sum()
            pull = pull - steep.sum() / held.sum() * fitted.pull_back(self._table, held)
        by_model = float(pull @ fitted.covariance @ pull)
        by_labels = float(np.sum((fitted.influence_of_labels @ pull) ** 2))
        spread = fitted.scales.nugget / 2 * float(steep.sum()) if self.known_prior is None else 0.0
        classes = float(np.sum(slope**2 * self.prob * (1 - self.prob)))
        flatter = float(steep @ logit(np.clip(self.prob, 1e-9, 1 - 1e-9)))
        higher = float(steep.sum()) if self.known_prior is None else 0.0
        off = (USUAL_LEVEL_ERROR * higher) ** 2 + (USUAL_SLOPE_ERROR * flatter) ** 2
        return Uncertainty(max(by_model, by_labels), classes, spread**2 / 12, off)


def fit_posterior(
    X: Any,
    y: Any,
    confidence: Any,
    *,
    score: Any = None,
    scenario: str = "one-sample",
    prior: float | None = None,
    random_state: Any = None,
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
    score : array of shape (n,), optional
        Score of a ranker, out of fold, which is a feature like the others: to judge a ranking, pass it.
    scenario : {"one-sample", "two-sample"}
        As in the rankers.
    prior : float in (0, 1), optional
        Share of positives, where it is known; the mean probability is then exactly that.
    random_state : int, RandomState or None
        Folds, forests and random waves.

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
    table = _Table(_flat(X), None if score is None else column_or_1d(plain_array(score)).astype(np.float64), None)
    check_consistent_length(table.X, labeled, *([] if table.score is None else [table.score]))
    if min(labeled.sum(), (~labeled).sum()) < LEAST_LABELED:
        raise TooFewLabeled(
            f"a posterior needs at least {LEAST_LABELED} labeled and {LEAST_LABELED} unlabeled rows, but there are "
            f"{labeled.sum()} and {(~labeled).sum()}. Label more."
        )
    _check_prior(prior, float(labeled.mean()) if scenario == "one-sample" else 0.0)
    rng = check_random_state(random_state)
    everything = np.ones(len(labeled), dtype=bool) if scenario == "one-sample" else ~labeled
    fitted, table = _fit(table, labeled, sure, everything, scenario == "two-sample", prior, rng)
    f, g, deviation = fitted.logits(table, with_deviation=True)
    prob = expit(f - SHIFT * fitted.scales.nugget + fitted.offset)
    propensity = expit(g) if scenario == "one-sample" else np.full(len(prob), np.nan)
    about = fitted.reliability, everything, int(labeled.sum()), prior
    return Posterior(prob, propensity, deviation, *about, fitted, table)


def _check_prior(prior: Any, labeled_share: float) -> None:
    if prior is None:
        return
    if isinstance(prior, bool) or not isinstance(prior, float | int | np.number) or not 0 < float(prior) < 1:
        raise ValueError(f"prior must be a number between 0 and 1, but it is {prior!r}. Leave it out if it is unknown.")
    require_room_for_labeled(float(prior), labeled_share, "Leave it out to have it estimated.")


def _flat(X: Any) -> Any:
    """Rows of numbers; images as their pixels, sparse matrices as they are."""
    X = plain_array(X)
    if sparse.issparse(X):
        return X.tocsr()
    X = np.asarray(X)
    return check_array(X.reshape(len(X), -1) if X.ndim > 2 else X, dtype=[np.float64, np.float32], input_name="X")


@dataclass(frozen=True)
class _Table:
    """Rows, a ranker's score of them, and the fold of the labeling model that left each out (None: new rows)."""

    X: Any
    score: np.ndarray | None
    fold: np.ndarray | None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def part(self, rows: Any) -> "_Table":
        X = self.X[rows]
        X = (X.toarray() if sparse.issparse(X) else X).astype(np.float64, copy=False)
        return _Table(X, *(None if each is None else each[rows] for each in (self.score, self.fold)))

    def blocks(self) -> list[slice]:
        return [slice(start, start + BLOCK) for start in range(0, len(self), BLOCK)]


@dataclass(frozen=True)
class _Fitted:
    """All that gives f and g of a row."""

    scaling: Scaling
    rank: ScoreRank
    labeling: LabelingFolds
    usual_labeling: Standardizer
    basis: Basis
    joint: JointFit
    influence_of_labels: np.ndarray
    reliability: float
    offset: float = 0.0

    @property
    def scales(self) -> Scales:
        return self.basis.scales

    @property
    def covariance(self) -> np.ndarray:
        """Of the coefficients of f."""
        n = self.influence_of_labels.shape[1]
        return self.joint.covariance[:n, :n]

    def columns(self, part: _Table) -> tuple[np.ndarray, np.ndarray]:
        features, score = self.scaling.apply(part.X), self.rank.apply(part.score, len(part))
        labeling = self.usual_labeling.apply(self.labeling.logit_at(features, part.fold))
        return self.basis.of_posterior(features, score, labeling), self.basis.of_propensity(features, score)

    def logits(self, table: _Table, with_deviation: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """f, g and the standard deviation of f at each row, block by block."""
        f, g, deviation = (np.zeros(len(table)) for _ in range(3))
        n, theta = self.influence_of_labels.shape[1], self.joint.coefficients
        for rows in table.blocks():
            A, B = self.columns(table.part(rows))
            f[rows], g[rows] = A @ theta[:n], B @ theta[n:] + USUAL_PROPENSITY
            if with_deviation:
                deviation[rows] = np.sqrt(np.sum((A @ self.covariance) * A, axis=1))
        return f, g, deviation

    def pull_back(self, table: _Table, steep: np.ndarray) -> np.ndarray:
        """Derivative by the coefficients of f of something whose derivative by f is `steep`."""
        return np.asarray(sum(steep[rows] @ self.columns(table.part(rows))[0] for rows in table.blocks()))


def _fit(
    table: _Table,
    labeled: np.ndarray,
    sure: np.ndarray,
    everything: np.ndarray,
    two_sample: bool,
    prior: float | None,
    rng: np.random.RandomState,
) -> tuple[_Fitted, _Table]:
    """Fit on all rows, or on enough of them; the table comes back with the folds of its rows."""
    rows, weight = _enough_rows(labeled, rng)
    chosen, labels = table.part(rows), labeled[rows]
    rank = rank_of(None if table.score is None else table.score[everything])
    scaling = Scaling.of(chosen.X, rng)
    features, score = scaling.apply(chosen.X), rank.apply(chosen.score, len(rows))
    n_folds = min(FOLDS, int(labels.sum()) // 2, int((~labels).sum()) // 2)
    labeling, fold = fit_labeling_folds(features, labels, float(labeled.mean()), n_folds, rng)
    by_labels = labeling.logit_at(features, fold)
    usual = Standardizer.of(by_labels)
    by_labels = usual.apply(by_labels)
    confidence = np.full(len(labeled), np.nan)
    confidence[labeled] = sure
    known = confidence[rows][labels]
    alone = fit_confidence(features[labels], score[labels], by_labels[labels], known, rng)
    basis = Basis.draw(alone.scales, features.shape[1], rng)
    A, B = basis.of_posterior(features, score, by_labels), basis.of_propensity(features, score)
    joint = JointFit.of(
        JointData(A, B, labels, weight, confidence_logit(known), alone.variance, two_sample), alone.scales
    )
    pulled = A[labels] @ joint.covariance[: A.shape[1], : A.shape[1]]
    influence = pulled * (alone.residual / joint.variance)[:, None]
    all_folds = rng.randint(n_folds, size=len(labeled))
    all_folds[rows] = fold
    table = _Table(table.X, table.score, all_folds)
    fitted = _Fitted(scaling, rank, labeling, usual, basis, joint, influence, alone.reliability)
    return (fitted if prior is None else _held_at(prior, fitted, table, everything)), table


def _enough_rows(labeled: np.ndarray, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Rows that are fitted to, in order, and how many of the table each stands for."""
    rows, weight = [], np.ones(len(labeled))
    for which, most in ((labeled, MOST_LABELED_ROWS), (~labeled, MOST_TRAINING_ROWS)):
        places = np.flatnonzero(which)
        kept = places if len(places) <= most else rng.choice(places, most, replace=False)
        weight[kept] = len(places) / len(kept)
        rows.append(kept)
    chosen = np.sort(np.concatenate(rows))
    return chosen, weight[chosen]


def _held_at(prior: float, fitted: _Fitted, table: _Table, everything: np.ndarray) -> _Fitted:
    """The same with an offset of f that makes the mean probability the known prior."""
    f = fitted.logits(table)[0][everything] - SHIFT * fitted.scales.nugget
    low, high = logit(prior) - f.max(), logit(prior) - f.min()
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if expit(f + middle).mean() < prior else (low, middle)
    return replace(fitted, offset=(low + high) / 2)
