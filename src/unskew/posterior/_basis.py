"""Rows as the numbers in which posterior and propensity are linear."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import ndtri
from sklearn.decomposition import PCA

FARTHEST = 4.0
"""Standard deviations beyond which a value counts as this far away: a line goes nowhere there."""
MOST_FEATURES = 256
MOST_RANKED = 128
"""Columns up to which each also counts by its rank, which straightens amounts and durations."""
QUANTILES = 513
N_WAVES = 100


@dataclass(frozen=True)
class Scaling:
    """Columns standardized and, where there are not too many, by the normal score of their rank beside that."""

    components: PCA | None
    kept: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    quantiles: np.ndarray | None

    @classmethod
    def of(cls, X: np.ndarray, rng: np.random.RandomState) -> Self:
        components = None
        if X.shape[1] > MOST_FEATURES:
            components = PCA(MOST_FEATURES if len(X) > MOST_FEATURES else None, random_state=rng).fit(X)
            X = components.transform(X)
        deviation = X.std(axis=0)
        kept = np.flatnonzero(deviation > 1e-9 * np.maximum(1.0, np.abs(X).max(axis=0)))
        X = X[:, kept]
        quantiles = np.quantile(X, np.linspace(0, 1, QUANTILES), axis=0) if X.shape[1] <= MOST_RANKED else None
        return cls(components, kept, X.mean(axis=0), deviation[kept], quantiles)

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Features of mean squared norm about 1."""
        if self.components is not None:
            X = self.components.transform(X)
        X = X[:, self.kept]
        parts = [np.clip((X - self.mean) / self.deviation, -FARTHEST, FARTHEST)]
        if self.quantiles is not None:
            parts.append(np.column_stack([_normal_score(*pair) for pair in zip(X.T, self.quantiles.T, strict=True)]))
        scaled = np.hstack(parts) if X.shape[1] else np.zeros((len(X), 1))
        return np.asarray(scaled / np.sqrt(scaled.shape[1]))


def _normal_score(values: np.ndarray, quantiles: np.ndarray) -> np.ndarray:
    """Normal quantile of the rank that each value has among the quantiles; ties get the middle of their ranks."""
    rank = (np.searchsorted(quantiles, values, "left") + np.searchsorted(quantiles, values, "right")) / 2
    return np.asarray(ndtri(np.clip(rank, 0.5, len(quantiles) - 0.5) / len(quantiles)))


@dataclass(frozen=True)
class Scales:
    """Prior variances of the parts of f, and of the noise in the confidence; see Eq. (P3) and (P4)."""

    linear: float
    waves: float
    length: float
    score: float
    labeling: float
    nugget: float
    noise: float


@dataclass(frozen=True)
class Basis:
    """Columns such that f and g have independent standard normal coefficients.

    Random waves stand for a Gaussian process with the squared exponential kernel (Rahimi and Recht, 2007).
    """

    scales: Scales
    frequencies: np.ndarray
    phases: np.ndarray

    @classmethod
    def draw(cls, scales: Scales, n_features: int, rng: np.random.RandomState) -> Self:
        frequencies = rng.normal(size=(n_features, N_WAVES)) / np.sqrt(scales.length)
        return cls(scales, frequencies, rng.uniform(0, 2 * np.pi, N_WAVES))

    def of_posterior(self, features: np.ndarray, score: np.ndarray, labeling: np.ndarray) -> np.ndarray:
        """Columns of f."""
        waves = np.sqrt(2 * self.scales.waves / N_WAVES) * np.cos(features @ self.frequencies + self.phases)
        linear = np.sqrt(self.scales.linear) * features
        beside = np.column_stack([np.sqrt(self.scales.score) * score, np.sqrt(self.scales.labeling) * labeling])
        return np.hstack([np.full((len(features), 1), INTERCEPT), linear, beside, waves])

    def of_propensity(self, features: np.ndarray, score: np.ndarray) -> np.ndarray:
        """Columns of g: a smoother function, without waves."""
        return np.hstack([np.full((len(features), 1), 2.0), features, 0.5 * score[:, None]])


INTERCEPT = 5.0


@dataclass(frozen=True)
class Standardizer:
    """Mean and deviation of one number per row."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, values: np.ndarray) -> Self:
        return cls(float(values.mean()), max(float(values.std()), 1e-9))

    def apply(self, values: np.ndarray) -> np.ndarray:
        return (values - self.mean) / self.deviation


@dataclass(frozen=True)
class ScoreRank:
    """Normal score of a ranker's score among all rows; 0 without a score."""

    quantiles: np.ndarray | None = None

    def apply(self, score: np.ndarray | None, n: int) -> np.ndarray:
        if self.quantiles is None or score is None:
            return np.zeros(n)
        return _normal_score(np.asarray(score, dtype=np.float64), self.quantiles)


def rank_of(score: Any) -> ScoreRank:
    """How a score becomes a feature; None stays without one."""
    if score is None:
        return ScoreRank()
    return replace(ScoreRank(), quantiles=np.quantile(np.asarray(score, dtype=np.float64), np.linspace(0, 1, 2049)))
