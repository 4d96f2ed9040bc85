r"""How the confidence follows from the row: a Gaussian process for its logit, fitted on labeled rows alone.

Gives the scales of all parts by the marginal likelihood, the noise, and how well a row's confidence is predicted by
those of the others.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import expit, logit

from unskew.posterior._basis import INTERCEPT, Scales

LOWEST, HIGHEST = 1e-3, 1 - 1e-3
"""Confidence beyond counts as this, and only says that the posterior is at least as far out."""
MOST_LABELED = 400
"""Labeled rows that the scales are learned from, at most: the cost grows with their third power."""
# Typical logarithms of the scales, and how far from them they may well be; the last two are the noises.
USUAL = np.log([3.0, 1.0, 1.0, 1.0, 0.3, 0.1, 1e-3])
SPREAD = np.array([1.5, 1.5, 0.7, 1.5, 1.5, 2.0, 3.0])
BOUNDS = [(-6.0, 5.0), (-6.0, 4.0), (-1.5, 2.5), (-7.0, 3.0), (-7.0, 3.0), (-8.0, 3.0), (-14.0, -2.0)]
ROUNDS = 3


@dataclass(frozen=True)
class ConfidenceFit:
    """What the labeled rows say by themselves.

    Attributes
    ----------
    variance : array of shape (n_labeled,)
        Of the noise in the logit of each confidence, Eq. (P4).
    residual : array of shape (n_labeled,)
        Logit of the confidence minus its prediction from the other labeled rows.
    reliability : float
        Share of the variance of the logit that these predictions explain, in [0, 1].
    """

    scales: Scales
    variance: np.ndarray
    residual: np.ndarray
    reliability: float


def confidence_logit(confidence: np.ndarray) -> np.ndarray:
    """Logit of the confidence, its ends held."""
    return np.asarray(logit(np.clip(confidence, LOWEST, HIGHEST)))


def noise_variance(scales: Scales, predicted: np.ndarray, found: np.ndarray) -> np.ndarray:
    r"""Variance of the logit of a confidence: what x does not explain, and noise of the confidence itself.

    .. math:: v = \omega^2 + \tau^2 / d^2, \quad d = \frac{\sigma(y) - \sigma(f)}{y - f}

    The second part has the same size on the scale of the confidence everywhere; d takes it to that of the logit. It
    gives confidence at its ends, where a little noise moves the logit far, the little weight it deserves.
    Implements: Eq. (P4).
    """
    gap = found - predicted
    near = np.abs(gap) < 1e-4
    tangent = expit(predicted) * expit(-predicted)
    slope = np.where(near, tangent, (expit(found) - expit(predicted)) / np.where(near, 1.0, gap))
    return np.asarray(scales.nugget + scales.noise / np.maximum(slope, 1e-4) ** 2)


def fit_confidence(
    features: np.ndarray, score: np.ndarray, labeling: np.ndarray, confidence: np.ndarray, rng: np.random.RandomState
) -> ConfidenceFit:
    """Scales by the marginal likelihood of the labeled rows, Eq. (P3), and the residuals of leaving each out."""
    y = confidence_logit(confidence)
    some = np.arange(len(y)) if len(y) <= MOST_LABELED else rng.choice(len(y), MOST_LABELED, replace=False)
    process = _Process(features[some], score[some], labeling[some], y[some])
    scales, predicted = process.fit()
    residual = y[some] - predicted
    others = (y[some].sum() - y[some]) / max(len(some) - 1, 1)
    spread = float(np.sum((y[some] - others) ** 2))
    reliability = 0.0 if spread == 0 else float(np.clip(1 - np.sum(residual**2) / spread, 0, 1))
    if len(some) < len(y):  # the rest is near enough to some of these: the same size of residuals
        everywhere = np.full(len(y), float(np.sqrt(np.mean(residual**2))))
        everywhere[some] = residual
        residual = everywhere
    return ConfidenceFit(scales, noise_variance(scales, y - residual, y), residual, reliability)


class _Process:
    """Kernel matrices of the labeled rows, and the marginal likelihood of their logits."""

    def __init__(self, features: np.ndarray, score: np.ndarray, labeling: np.ndarray, y: np.ndarray) -> None:
        self.y = y
        square = np.sum(features**2, axis=1)
        self.linear = features @ features.T
        self.distance = np.maximum(square[:, None] + square - 2 * self.linear, 0)
        apart = self.distance[np.triu_indices(len(y), 1)]
        self.unit = max(float(np.median(apart)), 1e-9) if len(apart) else 1.0
        self.score, self.labeling = np.outer(score, score), np.outer(labeling, labeling)

    def fit(self) -> tuple[Scales, np.ndarray]:
        """Scales, and the prediction of each logit from the others."""
        log, predicted = USUAL.copy(), (self.y + self.y.mean()) / 2
        for _ in range(ROUNDS):  # the variance depends on the predictions, and these on the variance
            per_noise = noise_variance(Scales(0, 0, 0, 0, 0, 0.0, 1.0), predicted, self.y)
            found = minimize(self._cost, log, (per_noise,), jac=True, method="L-BFGS-B", bounds=BOUNDS,
                             options={"maxiter": 40})  # fmt: skip
            log = found.x
            predicted = self._left_out(log, per_noise)
        linear, waves, length, *rest = np.exp(log).tolist()
        return Scales(linear, waves, length * self.unit, *rest), predicted

    def _kernel(self, log: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        linear, waves, length, score, labeling = np.exp(log[:5])
        bump = np.exp(-self.distance / (2 * length * self.unit))
        kernel = INTERCEPT**2 + linear * self.linear + waves * bump + score * self.score + labeling * self.labeling
        return kernel, bump

    def _cost(self, log: np.ndarray, per_noise: np.ndarray) -> tuple[float, np.ndarray]:
        """Negative log marginal likelihood with a weak prior of the scales, and its slopes; Eq. (P3)."""
        kernel, bump = self._kernel(log)
        linear, waves, length, score, labeling, nugget, noise = np.exp(log)
        kernel[np.diag_indices(len(self.y))] += nugget + noise * per_noise
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
            score * np.sum(pull * self.score),
            labeling * np.sum(pull * self.labeling),
            nugget * np.trace(pull),
            noise * np.sum(np.diag(pull) * per_noise),
        ]
        away = (log - USUAL) / SPREAD
        value = self.y @ solved / 2 + np.log(np.diag(factor[0])).sum() + away @ away / 2
        return float(value), np.array(slopes) + away / SPREAD

    def _left_out(self, log: np.ndarray, per_noise: np.ndarray) -> np.ndarray:
        """Prediction of each logit from all others, in closed form."""
        kernel, _ = self._kernel(log)
        kernel[np.diag_indices(len(self.y))] += np.exp(log[5]) + np.exp(log[6]) * per_noise
        inverse = np.linalg.inv(kernel)
        return np.asarray(self.y - inverse @ self.y / np.diag(inverse))
