"""Coefficients of posterior and propensity together: the mode of the joint likelihood, and the spread around it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from unskew.objectives.joint_likelihood import LabelLikelihood, one_sample_likelihood, two_sample_likelihood
from unskew.posterior._basis import Scales
from unskew.posterior._confidence import noise_variance

USUAL_PROPENSITY = -1.0
"""Logit of the propensity where nothing is known: about a quarter of the positives."""
SHIFT = 0.25
"""How far below the labeled rows' logit that of all rows lies, in variances that x does not explain: Eq. (P5)."""
LEAST_AT_END = 3
MOST_STEPS, ROUNDS, SMALL_GAIN = 20, 3, 1e-3


@dataclass(frozen=True)
class JointData:
    """Columns, labels and confidence of the rows that are fitted to; `weight` is how many rows each stands for."""

    posterior_columns: np.ndarray
    propensity_columns: np.ndarray
    labeled: np.ndarray
    weight: np.ndarray
    confidence_logit: np.ndarray
    variance: np.ndarray
    two_sample: bool

    @property
    def likelihood(self) -> Callable[[np.ndarray, np.ndarray, np.ndarray], LabelLikelihood]:
        return two_sample_likelihood if self.two_sample else one_sample_likelihood

    def logits(self, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logits f and g of each row."""
        cut = self.posterior_columns.shape[1]
        g = self.propensity_columns @ coefficients[cut:] + (0.0 if self.two_sample else USUAL_PROPENSITY)
        return self.posterior_columns @ coefficients[:cut], g


@dataclass(frozen=True)
class JointFit:
    """Mode of the coefficients of f, then g, and their covariance by Laplace's method."""

    coefficients: np.ndarray
    covariance: np.ndarray
    variance: np.ndarray

    @classmethod
    def of(cls, data: JointData, scales: Scales) -> Self:
        """Fisher scoring; between its rounds the noise of each confidence is computed anew."""
        theta = _start(data)
        for _ in range(ROUNDS):
            theta = _climb(data, scales, theta)
            f, _ = data.logits(theta)
            variance = noise_variance(scales, f[data.labeled], data.confidence_logit)
            data = replace(data, variance=variance)
        _, information = _slope_and_information(data, scales, theta)
        return cls(theta, np.linalg.inv(information), data.variance)


def _precision(data: JointData) -> np.ndarray:
    """Of the normal prior of the coefficients; the scale of the propensity is free for two samples."""
    n = data.posterior_columns.shape[1]
    precision = np.ones(n + data.propensity_columns.shape[1])
    precision[n] = 1e-4 if data.two_sample else 1.0
    return precision


def _start(data: JointData) -> np.ndarray:
    """Begin with f by regression on the confidence alone, and a constant g."""
    n, columns = data.posterior_columns.shape[1], data.posterior_columns[data.labeled]
    theta = np.zeros(n + data.propensity_columns.shape[1])
    theta[:n] = np.linalg.solve(
        columns.T @ (columns / data.variance[:, None]) + np.eye(n),
        columns.T @ (data.confidence_logit / data.variance),
    )
    return theta


def _residual(data: JointData, f: np.ndarray) -> np.ndarray:
    """Of the confidence; one at an end of its scale says only that f lies that far out or farther."""
    y, gap = data.confidence_logit, data.confidence_logit - f[data.labeled]
    beyond = (_shared_end(y) & (gap < 0)) | (_shared_end(-y) & (gap > 0))
    return np.where(beyond, 0.0, gap)


def _shared_end(y: np.ndarray) -> np.ndarray:
    """Rows at the highest value, if several share it: then it is the end of a scale, of levels or votes."""
    at_end = y == y.max()
    return np.asarray(at_end & (at_end.sum() >= LEAST_AT_END) & (at_end.sum() < len(y)))


def log_posterior(data: JointData, scales: Scales, theta: np.ndarray) -> float:
    r"""Log density of labels, confidence and coefficients, without constants.

    .. math::
        \sum_n \log p(o_n | x_n) - \sum_{n: o_n = 1} \frac{(y_n - f_n)^2}{2 v_n} - \tfrac12 |\theta|^2

    Implements: Eq. (P6).
    """
    f, g = data.logits(theta)
    labels = data.likelihood(f - SHIFT * scales.nugget, g, data.labeled).value @ data.weight
    confidence = np.sum(_residual(data, f) ** 2 / data.variance) / 2
    return float(labels - confidence - np.sum(_precision(data) * theta**2) / 2)


def _slope_and_information(data: JointData, scales: Scales, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    f, g = data.logits(theta)
    found = data.likelihood(f - SHIFT * scales.nugget, g, data.labeled)
    residual = _residual(data, f)
    slope_f, info_ff = data.weight * found.slope_f, data.weight * found.info_ff
    slope_f[data.labeled] += residual / data.variance
    info_ff[data.labeled] += (residual != 0) / data.variance
    A, B, precision = data.posterior_columns, data.propensity_columns, _precision(data)
    slope = np.concatenate([A.T @ slope_f, B.T @ (data.weight * found.slope_g)]) - precision * theta
    across = A.T @ ((data.weight * found.info_fg)[:, None] * B)
    information = np.block(
        [[A.T @ (info_ff[:, None] * A), across], [across.T, B.T @ ((data.weight * found.info_gg)[:, None] * B)]]
    )
    information[np.diag_indices(len(theta))] += precision
    return slope, information


def _climb(data: JointData, scales: Scales, theta: np.ndarray) -> np.ndarray:
    """Fisher scoring with halved steps, until the density hardly grows."""
    value = log_posterior(data, scales, theta)
    for _ in range(MOST_STEPS):
        slope, information = _slope_and_information(data, scales, theta)
        step, size = np.linalg.solve(information, slope), 1.0
        while (new := log_posterior(data, scales, theta + size * step)) < value and size > 1e-4:
            size /= 2
        gain = new - value
        if gain <= 0:
            return theta
        theta, value = theta + size * step, new
        if gain < SMALL_GAIN:
            return theta
    return theta
