r"""How the confidence follows from the row: a Gaussian process for its logit, fitted to labeled rows alone.

Gives the scales of all parts by the marginal likelihood, the noise, and how far a row's confidence is from what those
of the others predict.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import expit, logit

from unskew.posterior._basis import INTERCEPT, Scales

LOWEST, HIGHEST = 1e-3, 1 - 1e-3
"""Confidence beyond counts as this."""
MOST_LABELED = 400
"""Labeled rows that the scales are learned from, at most: the cost grows with their third power."""
# Typical logarithms of the scales, in the order of `Scales`, and how far from them they may well be.
USUAL = np.log([3.0, 1.0, 1.0, 0.1, 1e-3])
SPREAD = np.array([1.5, 1.5, 0.7, 2.0, 3.0])
BOUNDS = [(-6.0, 5.0), (-6.0, 4.0), (-1.5, 2.5), (-8.0, 3.0), (-14.0, -1.4)]
ROUNDS = 3
NEAR_END = 0.15
LEAST_NOISE, MOST_NOISE = 0.01, 0.5
HIDDEN_SPREAD = 1.5
"""Labels favor rows whose unseen part is high, and so show less of its variance than there may be: by this factor."""
NO_UNSEEN, NO_NOISE = math.exp(BOUNDS[3][0]), math.exp(BOUNDS[4][0])


@dataclass(frozen=True)
class ConfidenceFit:
    """What the labeled rows say by themselves.

    Attributes
    ----------
    residual : array of shape (n_labeled,)
        Logit of the confidence minus its prediction from the other labeled rows.
    left_out : array of int
        Labeled rows that were left out for that; where there are very many, others have a residual of the usual size.
    evidence : float
        Log marginal likelihood, with which scalings of the same rows can be compared.
    all_real, all_noise : Scales
        What the columns do not explain taken for real variation alone, or for noise as far as there can be noise.
    """

    scales: Scales
    residual: np.ndarray
    left_out: np.ndarray
    evidence: float
    all_real: Scales
    all_noise: Scales


def confidence_logit(confidence: np.ndarray) -> np.ndarray:
    """Logit of the confidence, its ends held.

    A confidence of exactly 0 or 1 was rounded, voted or cut off there: it counts as halfway to the nearest one inside.
    """
    inside = confidence[(confidence > 0) & (confidence < 1)]
    lowest, highest = (inside.min() / 2, (1 + inside.max()) / 2) if len(inside) else (LOWEST, HIGHEST)
    return np.asarray(logit(np.clip(confidence, max(lowest, LOWEST), min(highest, HIGHEST))))


def noise_variance(noise: float, predicted: np.ndarray, found: np.ndarray) -> np.ndarray:
    r"""Variance of the noise in the logit of a confidence.

    .. math:: v = \tau^2 / d^2, \quad d = \frac{\sigma(y) - \sigma(f)}{y - f}

    The noise has the same size on the scale of the confidence everywhere; d takes it to that of the logit. It gives
    confidence at its ends, where a little noise moves the logit far, the little weight it deserves.
    Implements: Eq. (P5).
    """
    gap = found - predicted
    near = np.abs(gap) < 1e-4
    tangent = expit(predicted) * expit(-predicted)
    slope = np.where(near, tangent, (expit(found) - expit(predicted)) / np.where(near, 1.0, gap))
    return np.asarray(noise / np.maximum(slope, 1e-4) ** 2)


def largest_noise(confidence: np.ndarray) -> float:
    """Noise above this size would have left more confidences at 0 or 1 than there are.

    Near the ends, where the share of rows per unit is about constant, noise of size tau takes 0.4 tau of that share
    beyond them. Levels and votes say nothing about their noise in this way, but m votes, which have steps of 1/m, have
    no more noise than sqrt(eta (1 - eta) / m).
    """
    values = np.unique(np.round(confidence, 9))
    if len(values) <= max(3, len(confidence) / 4):
        step = float(np.median(np.diff(values))) if len(values) > 1 else 1.0
        return max(LEAST_NOISE, MOST_NOISE * math.sqrt(step))
    away = np.minimum(confidence, 1 - confidence)
    at_end, near = (away < 1e-9).sum(), ((away >= 1e-9) & (away < NEAR_END)).sum()
    return float(np.clip(1.5 * NEAR_END * (at_end + 0.5) / (near + 0.5) / 0.4, LEAST_NOISE, MOST_NOISE))


def fit_confidence(features: np.ndarray, confidence: np.ndarray, rng: np.random.RandomState) -> ConfidenceFit:
    """Scales by the marginal likelihood of the labeled rows, and the residuals of leaving each out."""
    y = confidence_logit(confidence)
    some = np.arange(len(y)) if len(y) <= MOST_LABELED else rng.choice(len(y), MOST_LABELED, replace=False)
    most = largest_noise(confidence)
    scales, predicted, evidence = _Process(features[some], y[some], most).fit()
    all_real, all_noise = _other_explanations(scales, noise_variance(1.0, predicted, y[some]), most**2)
    residual = y[some] - predicted
    if len(some) < len(y):  # the rest is near enough to some of these: the same size of residuals
        everywhere = np.full(len(y), float(np.sqrt(np.mean(residual**2))))
        everywhere[some] = residual
        residual = everywhere
    return ConfidenceFit(scales, residual, some, evidence, all_real, all_noise)


def _other_explanations(scales: Scales, per_noise: np.ndarray, most: float) -> tuple[Scales, Scales]:
    """The same unexplained variance as real variation alone, and as noise, of variance `most` at most.

    A few dozen labels hardly tell the two apart: rounded or noisy confidence hides real variation.
    """
    real = float(HIDDEN_SPREAD / np.mean(1 / (scales.unseen + scales.noise * per_noise)))
    usual = float(1 / np.mean(1 / per_noise))
    noise = max(scales.noise, min(most, scales.noise + scales.unseen / usual))
    left = max(NO_UNSEEN, scales.unseen - (noise - scales.noise) * usual)
    return scales._replace(unseen=real, noise=NO_NOISE), scales._replace(unseen=left, noise=noise)


class _Process:
    """Kernel matrices of the labeled rows, and the marginal likelihood of their logits."""

    def __init__(self, features: np.ndarray, y: np.ndarray, largest_noise: float) -> None:
        self.y = y
        square = np.sum(features**2, axis=1)
        self.linear = features @ features.T
        self.distance = np.maximum(square[:, None] + square - 2 * self.linear, 0)
        apart = self.distance[np.triu_indices(len(y), 1)]
        self.unit = max(float(np.median(apart)), 1e-9) if len(apart) else 1.0
        self.bounds = [*BOUNDS[:-1], (BOUNDS[-1][0], 2 * np.log(largest_noise))]

    def fit(self) -> tuple[Scales, np.ndarray, float]:
        """Scales, the prediction of each logit from the others, and the evidence."""
        log = np.minimum(USUAL, [high for _, high in self.bounds])
        predicted = (self.y + self.y.mean()) / 2
        for _ in range(ROUNDS):  # the noise depends on the predictions, and these on the noise
            per_noise = noise_variance(1.0, predicted, self.y)
            found = minimize(self._cost, log, (per_noise,), jac=True, method="L-BFGS-B", bounds=self.bounds,
                             options={"maxiter": 40})  # fmt: skip
            log = found.x
            predicted = self._left_out(log, per_noise)
        linear, waves, length, unseen, noise = np.exp(log).tolist()
        return Scales(linear, waves, length * self.unit, unseen, noise), predicted, -float(found.fun)

    def _kernel(self, log: np.ndarray, per_noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Covariance of the logits, and the part of it that falls with the distance."""
        linear, waves, length, unseen, noise = np.exp(log)
        bump = np.exp(-self.distance / (2 * length * self.unit))
        kernel = INTERCEPT**2 + linear * self.linear + waves * bump
        kernel[np.diag_indices(len(self.y))] += unseen + noise * per_noise
        return kernel, bump

    def _cost(self, log: np.ndarray, per_noise: np.ndarray) -> tuple[float, np.ndarray]:
        """Negative log marginal likelihood with a weak prior of the scales, and its slopes."""
        kernel, bump = self._kernel(log, per_noise)
        linear, waves, length, unseen, noise = np.exp(log)
        try:
            factor = cho_factor(kernel, lower=True)
        except np.linalg.LinAlgError:
            return 1e10, np.zeros(len(log))
        solved, inverse = cho_solve(factor, self.y), cho_solve(factor, np.eye(len(self.y)))
        pull = (inverse - np.outer(solved, solved)) / 2
        bumped = pull * bump
        slopes = [
            linear * np.sum(pull * self.linear),
            waves * np.sum(bumped),
            waves * np.sum(bumped * self.distance) / (2 * length * self.unit),
            unseen * np.trace(pull),
            noise * np.sum(np.diag(pull) * per_noise),
        ]
        away = (log - USUAL) / SPREAD
        value = self.y @ solved / 2 + np.log(np.diag(factor[0])).sum() + away @ away / 2
        return float(value), np.array(slopes) + away / SPREAD

    def _left_out(self, log: np.ndarray, per_noise: np.ndarray) -> np.ndarray:
        """Prediction of each logit from all others, in closed form."""
        inverse = np.linalg.inv(self._kernel(log, per_noise)[0])
        return np.asarray(self.y - inverse @ self.y / np.diag(inverse))
