"""Coefficients of posterior and propensity together: the mode of the joint likelihood, and the spread around it."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import expit, log_expit

from unskew.objectives.joint_likelihood import (
    JointLikelihood,
    Told,
    flattening,
    is_beyond_end,
    one_sample_likelihood,
    two_sample_likelihood,
)
from unskew.posterior._basis import weighted_products
from unskew.posterior._confidence import noise_variance

USUAL_PROPENSITY = -1.0
"""Logit of the propensity where nothing is known: about a quarter of the positives."""
FREE = 100.0
"""Prior deviation of the constant of g for two samples, whose propensity has no scale."""
LEAST_AT_END = 3
MOST_OWN = 0.999
"""Share of its own fitted value that a label has at most; beyond, rounding decides what is left without it."""
MOST_STEPS, ROUNDS, SMALL_GAIN = 20, 3, 1e-2


@dataclass(frozen=True)
class JointData:
    """Columns, labels and confidence of the rows that are fitted to.

    Attributes
    ----------
    scale : array
        Prior standard deviation of each coefficient: of f, then of g.
    weight : array of shape (n,)
        How many rows of the table each row stands for.
    noise : float
        Variance of the noise on the scale of the confidence.
    """

    columns_f: np.ndarray
    columns_g: np.ndarray
    scale: np.ndarray
    labeled: np.ndarray
    weight: np.ndarray
    told: Told
    noise: float
    two_sample: bool

    @classmethod
    def of(
        cls,
        columns: tuple[np.ndarray, np.ndarray],
        scale: np.ndarray,
        labeled: np.ndarray,
        weight: np.ndarray,
        confidence_logit: np.ndarray,
        variances: tuple[float, float],
        two_sample: bool,
    ) -> Self:
        """`variances` are those of what the columns do not show, and of the noise."""
        unseen, noise = variances
        ends = _shared_end(confidence_logit), _shared_end(-confidence_logit)
        told = Told(confidence_logit, np.full(len(confidence_logit), 0.1), unseen, *ends)
        return cls(*columns, scale, labeled, weight, told, noise, two_sample)

    def logits(self, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logits f and g of each row."""
        cut = self.columns_f.shape[1]
        g = self.columns_g @ coefficients[cut:] + (0.0 if self.two_sample else USUAL_PROPENSITY)
        return self.columns_f @ coefficients[:cut], g

    def with_noise_at(self, coefficients: np.ndarray) -> Self:
        """The same with the noise of each confidence computed anew, because it depends on f."""
        f, _ = self.logits(coefficients)
        noise = noise_variance(self.noise, f[self.labeled], self.told.logit)
        return replace(self, told=self.told._replace(noise=noise))

    def likelihood(self, coefficients: np.ndarray) -> JointLikelihood:
        """Of each row."""
        f, g = self.logits(coefficients)
        return (two_sample_likelihood if self.two_sample else one_sample_likelihood)(f, g, self.labeled, self.told)


def _shared_end(y: np.ndarray) -> np.ndarray:
    """Rows at the highest value, if several share it: then it is the end of a scale, of levels or votes."""
    at_end = y == y.max()
    return np.asarray(at_end & (at_end.sum() >= LEAST_AT_END) & (at_end.sum() < len(y)))


@dataclass(frozen=True)
class JointFit:
    """Mode of the coefficients of f, then g, their covariance by Laplace's method, and the evidence of the scales.

    The evidence is the log density of labels and confidence, the coefficients integrated out.
    """

    data: JointData
    coefficients: np.ndarray
    covariance: np.ndarray
    evidence: float

    @classmethod
    def of(cls, data: JointData, start: np.ndarray | None = None) -> Self:
        """Fisher scoring; between its rounds the noise of each confidence is computed anew."""
        theta = _from_confidence(data) if start is None else start
        for _ in range(ROUNDS):
            data = data.with_noise_at(theta)
            theta = _climb(data, theta)
        _, information = slope_and_information(data, theta)
        log_determinant = float(np.linalg.slogdet(information)[1])
        evidence = log_posterior(data, theta) - float(np.log(data.scale).sum()) - log_determinant / 2
        return cls(data, theta, np.linalg.inv(information), evidence)

    def log_labeling(self) -> np.ndarray:
        """Log probability of being labeled, of each labeled row; for two samples its log odds of being in that one."""
        f, g = (each[self.data.labeled] for each in self.data.logits(self.coefficients))
        log_propensity = g if self.data.two_sample else log_expit(g)
        return np.asarray(log_propensity + log_expit(flattening(self.data.told.unseen) * f))

    def left_out_logits(self) -> np.ndarray:
        r"""Logit of each label's confidence as the fit without that confidence predicts it, by one step from the mode.

        .. math::
            \hat y_{-i} = y_i - \frac{y_i - f_i - \omega^2 \kappa \sigma(-\kappa f_i)}{1 - h_i}, \quad
            h_i = \frac{a_i' \Sigma a_i}{\omega^2 + v_i}

        a is the row of columns of f and :math:`\Sigma` the covariance of their coefficients. What is added to f is what
        labels favor of that which the columns do not show. A prediction beyond the end of the scale where the
        confidence is agrees with it. Implements: Eq. (P11).
        """
        told, labeled, n = self.data.told, self.data.labeled, self.data.columns_f.shape[1]
        f, columns = self.data.logits(self.coefficients)[0][labeled], self.data.columns_f[labeled]
        kappa = flattening(told.unseen)
        expected = f + told.unseen * kappa * expit(-kappa * f)
        variance = np.sum((columns @ self.covariance[:n, :n]) * columns, axis=1)
        own = np.minimum(self.data.weight[labeled] * variance / (told.unseen + told.noise), MOST_OWN)
        left_out = told.logit - (told.logit - expected) / (1 - own)
        agrees = is_beyond_end(f, told) | is_beyond_end(left_out, told)
        return np.where(agrees, told.logit, left_out)

    def influence_of_labels(self, residual: np.ndarray) -> np.ndarray:
        """What each label did to the coefficients of f, by how badly it was predicted from the others.

        One whose f is beyond the end of its scale did nothing.
        """
        told, n = self.data.told, self.data.columns_f.shape[1]
        f, _ = self.data.logits(self.coefficients)
        pull = np.where(is_beyond_end(f[self.data.labeled], told), 0.0, residual / (told.noise + told.unseen))
        return np.asarray(self.data.columns_f[self.data.labeled] @ self.covariance[:n, :n] * pull[:, None])


def _from_confidence(data: JointData) -> np.ndarray:
    """Begin with f by regression on the confidence alone, and a constant g."""
    n, columns = data.columns_f.shape[1], data.columns_f[data.labeled]
    theta = np.zeros(len(data.scale))
    variance = data.told.unseen + data.told.noise
    theta[:n] = np.linalg.solve(
        columns.T @ (columns / variance[:, None]) + np.diag(data.scale[:n] ** -2),
        columns.T @ (data.told.logit / variance),
    )
    return theta


def log_posterior(data: JointData, theta: np.ndarray) -> float:
    r"""Log density of labels, confidence and coefficients, without constants.

    .. math:: \sum_n \log p(o_n, y_n | x_n) - \tfrac12 \sum_j \theta_j^2 / s_j^2

    Implements: Eq. (P6).
    """
    return float(data.likelihood(theta).value @ data.weight - np.sum((theta / data.scale) ** 2) / 2)


def slope_and_information(data: JointData, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slope of `log_posterior` in the coefficients, and their expected information."""
    found, A, B, weight = data.likelihood(theta), data.columns_f, data.columns_g, data.weight
    slope = np.concatenate([A.T @ (weight * found.slope_f), B.T @ (weight * found.slope_g)]) - theta / data.scale**2
    across = weighted_products(A, weight * found.info_fg, B)
    of_f = weighted_products(A, weight * found.info_ff, A)
    of_g = weighted_products(B, weight * found.info_gg, B)
    information = np.block([[of_f, across], [across.T, of_g]])
    information[np.diag_indices(len(theta))] += data.scale**-2.0
    return slope, information


def _climb(data: JointData, theta: np.ndarray) -> np.ndarray:
    """Fisher scoring with halved steps, until the density hardly grows."""
    value = log_posterior(data, theta)
    for _ in range(MOST_STEPS):
        slope, information = slope_and_information(data, theta)
        step, size = np.linalg.solve(information, slope), 1.0
        while (new := log_posterior(data, theta + size * step)) < value and size > 1e-4:
            size /= 2
        gain = new - value
        if gain <= 0:
            return theta
        theta, value = theta + size * step, new
        if gain < SMALL_GAIN:
            return theta
    return theta
