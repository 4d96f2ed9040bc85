"""A score learned by regression on the confidence: closed forms, with exact predictions of left-out labels."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import logit
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from unskew.posterior._basis import Scaling, Waves, block_size, is_large, weighted_products
from unskew.posterior._model import PosteriorModel

SURE, UNSURE = 0.999, 1e-6
"""Confidence beyond counts as this: logits of 0 and 1 are infinite."""
PULL, RIDGE = 0.01, 0.001
"""Of the regression on the logit: how strongly scores of all rows, and coefficients, are drawn to 0."""
PULL_OF_WEIGHTS, RIDGE_OF_WEIGHTS = 100.0, 0.01
"""The same for the regression that learns by the weights alone."""
PENALTIES, FOLDS = (0.1, 1.0, 10.0), 5
"""Inverse penalties of the logistic regression that gives the labeling probability, and its folds."""
LEAST_PROB = 0.01
"""Labeling probabilities below count as this, which bounds the weights."""
WIDTH = 0.3
"""Of the waves: the kernel falls by this power of e at the median squared distance of labeled rows to all."""
MOST_PAIRS = 4_000_000
"""Distances that this median is of, about: those of 3,000 labels to 13,000 rows would take a gigabyte."""


@dataclass(frozen=True)
class Regression:
    """Coefficients of a fit, and the prediction of each labeled row by a fit without it."""

    coefficients: np.ndarray
    left_out: np.ndarray


def fit_regression(
    X: np.ndarray,
    labeled: np.ndarray,
    confidence: np.ndarray,
    weight: np.ndarray,
    two_sample: bool,
    rng: np.random.RandomState,
) -> PosteriorModel:
    r"""Score of a row by regression on the confidence of the labeled ones.

    .. math:: s(x) = \rho\, z(f(x)) + (1 - \rho)\, z(h(x))

    f is the regression on the logit of the confidence and h that on the confidence with a strong pull, which learns by
    the weights alone; z standardizes over all rows, and :math:`\rho` is the rank correlation of the confidence with
    predictions of left-out labels, 0 at least: where the confidence cannot be predicted, the weights count.
    Implements: Eq. (R2).

    Parameters
    ----------
    X : array of shape (n, n_features)
    labeled : array of bool, shape (n,)
    confidence : array of shape (n_labeled,)
    weight : array of shape (n,)
        How many rows of the table each row stands for.
    two_sample : bool
        Labeled rows were collected apart from the others, which alone stand for all.
    rng : RandomState
    """
    scaling = Scaling.of(X, rng)
    features = scaling.apply(X)
    del X  # let go here, see `fit_rows`
    waves = Waves.draw(_length_of_waves(features, labeled), features.shape[1], rng)
    columns = waves.columns_of_posterior(features)
    if is_large(features):
        features = columns[:, 1 : 1 + features.shape[1]]  # the same numbers, in memory once
    prob, _ = cross_fitted_labeling(features, labeled, weight, rng)
    prob = np.maximum(prob, LEAST_PROB / weight.max())[labeled]  # of tables that are fitted to in part all are smaller
    balance = (1 - prob) / prob if two_sample else 1 / prob  # the odds are the ratio of densities but for a factor
    balance /= balance.sum()
    everything = weight * ~labeled if two_sample else weight
    moments = weighted_products(columns, everything / everything.sum(), columns)
    target = logit(np.clip(confidence, UNSURE, SURE))
    target = (target - target.min()) / max(float(target.std()), 1e-6) + 1
    by_target = regress(columns[labeled], target, balance, moments, PULL, RIDGE)
    by_weight = regress(columns[labeled], confidence, balance, moments, PULL_OF_WEIGHTS, RIDGE_OF_WEIGHTS)
    trust = _trust(by_target.left_out, confidence)
    coefficients = sum(
        share * fit.coefficients / max(_spread(fit.coefficients, moments), 1e-12)
        for share, fit in ((trust, by_target), (1 - trust, by_weight))
    )
    return PosteriorModel(scaling, waves, np.asarray(coefficients)[:, None], np.zeros(1), np.zeros(1))


def regress(
    columns: np.ndarray, target: np.ndarray, balance: np.ndarray, moments: np.ndarray, pull: float, ridge: float
) -> Regression:
    r"""Weighted least squares on the labeled rows that draws the scores of all rows to 0.

    .. math::
        \min_\theta \sum_l v_l (\theta^T \phi_l - t_l)^2 + k\, E_x[(\theta^T \phi)^2] + \lambda (1 + k) |\theta|^2

    The weights v sum to 1 and undo the bias of the labels, :math:`v \propto 1 / \hat u`. With all functions allowed
    the minimum is t / (1 + k) wherever labels are: the pull changes the order of no two rows, but keeps rows unlike
    any label low. Without label l the prediction is :math:`(f_l - h_l t_l) / (1 - h_l)`, h the diagonal of the hat
    matrix. Implements: Eq. (R1).

    Parameters
    ----------
    columns : array of shape (n_labeled, n_columns)
    target, balance : arrays of shape (n_labeled,)
        t and v.
    moments : array of shape (n_columns, n_columns)
        Mean product of each two columns over all rows.
    pull, ridge : float
        k and lambda.
    """
    system = columns.T @ (columns * balance[:, None]) + pull * moments
    system[np.diag_indices(len(system))] += ridge * (1 + pull)
    solved = np.linalg.solve(system, columns.T * balance)
    coefficients = solved @ target
    own = np.sum(columns * solved.T, axis=1)
    fitted = columns @ coefficients
    return Regression(coefficients, (fitted - own * target) / np.maximum(1 - own, 1e-9))


def _spread(coefficients: np.ndarray, moments: np.ndarray) -> float:
    """Standard deviation of a score over all rows; the first column is the constant."""
    mean = float(moments[0] @ coefficients)
    return float(np.sqrt(max(coefficients @ moments @ coefficients - mean**2, 0.0)))


def _trust(left_out: np.ndarray, confidence: np.ndarray) -> float:
    if np.ptp(confidence) == 0 or np.ptp(left_out) == 0:
        return 0.0
    return max(0.0, float(spearmanr(left_out, confidence).statistic))


def _length_of_waves(features: np.ndarray, labeled: np.ndarray) -> float:
    own = features[labeled]
    own = own[:: math.ceil(len(own) * len(features) / MOST_PAIRS)]  # the median of so many says the same
    squared = np.sum(own**2, axis=1)[:, None] + np.sum(features**2, axis=1)
    size = block_size(len(features))
    for start in range(0, len(own), size):  # of all at once there would be three matrices of this size
        rows = slice(start, start + size)
        squared[rows] -= 2 * own[rows] @ features.T
    return max(float(np.median(squared, overwrite_input=True)), 1e-9) / (2 * WIDTH)


def fit_labeled_against_unlabeled(
    X: np.ndarray, labeled: np.ndarray, weight: np.ndarray, rng: np.random.RandomState
) -> PosteriorModel:
    """Logit of the labeling probability, by a logistic regression on the columns and the normal scores of ranks."""
    scaling = Scaling.of(X, rng)
    features = scaling.apply(X)
    del X
    _, penalty = cross_fitted_labeling(features, labeled, weight, rng)
    found = LogisticRegression(C=penalty, max_iter=300).fit(features, labeled, weight)
    waves = Waves.draw(1.0, features.shape[1], rng)
    nothing = np.zeros(len(waves.phases))  # of the waves
    coefficients = np.concatenate([found.intercept_, found.coef_[0], nothing])
    return PosteriorModel(scaling, waves, coefficients[:, None], np.zeros(1), np.zeros(1))


def cross_fitted_labeling(
    features: np.ndarray, labeled: np.ndarray, weight: np.ndarray, rng: np.random.RandomState
) -> tuple[np.ndarray, float]:
    """Labeling probability of each row by a logistic regression on other rows, and the penalty that suits best."""
    folds = min(FOLDS, int(labeled.sum()), int((~labeled).sum()))
    if folds < 2:
        return np.full(len(labeled), float(np.average(labeled, weights=weight))), PENALTIES[0]
    splits = list(StratifiedKFold(folds, shuffle=True, random_state=rng).split(features, labeled))
    found = []
    for penalty in PENALTIES:
        prob = np.empty(len(labeled))
        for inside, outside in splits:
            model = LogisticRegression(C=penalty, max_iter=300).fit(features[inside], labeled[inside], weight[inside])
            prob[outside] = model.predict_proba(features[outside])[:, 1]
        loss = -float(weight @ np.where(labeled, np.log(prob), np.log1p(-prob)))
        found.append((loss, prob, penalty))
    _, prob, penalty = min(found, key=lambda each: each[0])
    return prob, penalty
