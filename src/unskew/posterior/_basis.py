"""Rows as the numbers in which the logits of posterior and propensity are linear."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
from scipy.special import ndtri
from sklearn.decomposition import PCA

FARTHEST = 4.0
"""Standard deviations beyond which a value counts as this far away: a line goes nowhere there."""
MOST_FEATURES = 256
"""Columns up to which each counts by itself; more are replaced by so many principal components."""
MOST_FOR_COVARIANCE = 1000
"""Columns up to which their covariance gives the components faster than random projections do."""
MOST_RANKED = 128
"""Columns up to which each also counts by its rank, which straightens amounts and durations."""
QUANTILES = 513
N_WAVES = 100
BLOCK, BLOCK_NUMBERS = 16_384, 1_000_000
"""Rows, and numbers in them, that are turned into columns at a time."""
COPIES, COLUMNS_AT_ONCE = 4, 32
"""Of a block on the way to its features, and columns that are copied at a time."""
INTERCEPT = 5.0
"""Prior standard deviation of the constant of f."""


class Scales(NamedTuple):
    """Prior variances of the parts of f, Eq. (P4), and the variances of what f does not explain, Eq. (P5)."""

    linear: float
    waves: float
    length: float
    unseen: float
    noise: float


@dataclass(frozen=True)
class Scaling:
    """Columns standardized and, where there are not too many, by the normal score of their rank beside that.

    More columns than MOST_FEATURES are replaced by principal components, which keep their sizes: one that hardly varies
    is hardly anything. A missing value becomes the mean of its column; where some were missing in training, a column of
    zeros and ones behind the others marks them.

    Attributes
    ----------
    filled : array of shape (n_inputs,), or None
        What a missing value becomes; models of earlier versions have none, and take no missing values.
    marked : array of int
        Columns in which values were missing in training.
    center, directions : arrays, or None
        Principal components of wide tables and images.
    kept : array of int
        Columns, or components, that vary.
    size : array of shape (n_kept,)
        How much each counts: 1, or for a component its standard deviation over the usual one.
    ranked : array of int
        Those of the kept ones whose rank counts, too; that of a column with two values would be the same column again.
    quantiles : array of shape (QUANTILES, n_ranked)

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> posterior = unskew.posterior.fit_posterior(data.X, data.labeled, data.confidence)
    >>> posterior.model.scaling.mean.shape[0] >= 2
    True
    """

    center: np.ndarray | None
    directions: np.ndarray | None
    kept: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    size: np.ndarray
    ranked: np.ndarray
    quantiles: np.ndarray
    filled: np.ndarray | None = None
    marked: np.ndarray = field(default_factory=lambda: np.arange(0))

    @classmethod
    def of(cls, X: np.ndarray, rng: np.random.RandomState, *, one_unit: bool = False) -> Self:
        """Learn from these rows; with `one_unit` the columns of a wide table, such as pixels, keep their sizes, too."""
        filled, marked = _means_of_present(X), np.flatnonzero(np.isnan(X).any(axis=0))
        X = _completed(X, filled, marked)
        center = directions = None
        if X.shape[1] > MOST_FEATURES:
            unit = _deviation_if_varying(X)
            unit = np.where(np.isfinite(unit), unit[np.isfinite(unit)].mean(), np.inf) if one_unit else unit
            center = X.mean(axis=0)
            directions = _directions(X, center, unit, rng) / unit[:, None]
            X = _components(X, center, directions)
        deviation = _deviation_if_varying(X)
        kept = np.flatnonzero(np.isfinite(deviation))
        as_it_is = len(kept) == X.shape[1] and is_large(X)
        X, deviation = X if as_it_is else X[:, kept], deviation[kept]
        size = np.ones(len(kept)) if directions is None else deviation / np.sqrt(np.mean(deviation**2))
        ranked, quantiles = np.arange(0), np.empty((QUANTILES, 0))
        if 0 < X.shape[1] <= MOST_RANKED:
            quantiles = np.quantile(X, np.linspace(0, 1, QUANTILES), axis=0, method="nearest")
            between = (quantiles > quantiles[0]) & (quantiles < quantiles[-1])
            ranked = np.flatnonzero(between.any(axis=0))
            quantiles = quantiles[:, ranked]
        return cls(center, directions, kept, X.mean(axis=0), deviation, size, ranked, quantiles, filled, marked)

    @property
    def n_features(self) -> int:
        """Numbers that a row becomes."""
        return max(1, len(self.kept) + len(self.ranked))

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Features of mean squared norm about 1."""
        if not is_large(X):
            return self._features_of(X)
        scaled = np.empty((len(X), self.n_features))
        for rows in _blocks(X, COPIES):
            scaled[rows] = self._features_of(X[rows])
        return scaled

    def _features_of(self, X: np.ndarray) -> np.ndarray:
        if self.filled is not None:
            X = _completed(X, self.filled, self.marked)
        if self.center is not None:
            X = (X - self.center) @ self.directions
        X = X[:, self.kept]
        if not X.shape[1]:
            return np.zeros((len(X), 1))
        standard = (X - self.mean) / self.deviation
        np.clip(standard, -FARTHEST, FARTHEST, out=standard)  # in place: of wide tables copies are large
        standard *= self.size
        columns = zip(X[:, self.ranked].T, self.quantiles.T, self.size[self.ranked], strict=True)
        scores = [size * _normal_score(values, quantiles) for values, quantiles, size in columns]
        scaled = np.column_stack([standard, *scores])
        scaled /= np.sqrt(self.n_features)
        return scaled


def _means_of_present(X: np.ndarray) -> np.ndarray:
    """Mean of the values of each column that are there; 0 where none is."""
    there = ~np.isnan(X)
    return np.asarray(np.where(there, X, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1))


def _completed(X: np.ndarray, filled: np.ndarray, marked: np.ndarray) -> np.ndarray:
    """Rows without missing values, and columns that say where they were."""
    missing = np.isnan(X)
    if missing.any():
        X = np.where(missing, filled, X)
    return np.hstack([X, missing[:, marked].astype(np.float64)]) if len(marked) else X


def _deviation_if_varying(X: np.ndarray) -> np.ndarray:
    """Standard deviation of each column; infinite for one that is constant but for rounding."""
    at_once = COLUMNS_AT_ONCE if is_large(X) else max(1, X.shape[1])  # a copy of them is made on the way
    some = range(0, X.shape[1], at_once)
    deviation = np.concatenate([np.empty(0), *(X[:, each : each + at_once].std(axis=0) for each in some)])
    largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    return np.where(deviation > 1e-9 * largest, deviation, np.inf)


def _directions(X: np.ndarray, center: np.ndarray, unit: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Principal directions of the columns in their units, the one of most variance first, one per column."""
    count = min(MOST_FEATURES, len(X))
    if not (is_large(X) and X.shape[1] <= MOST_FOR_COVARIANCE):
        solver = "covariance_eigh" if X.shape[1] <= MOST_FOR_COVARIANCE else "randomized"
        return np.asarray(PCA(count, svd_solver=solver, random_state=rng).fit(X / unit).components_.T)
    blocks = ((X[rows] - center) / unit for rows in _blocks(X))  # the same without a copy of all rows
    _, directions = np.linalg.eigh(sum(block.T @ block for block in blocks))
    directions = directions[:, ::-1][:, :count]
    largest = np.take_along_axis(directions, np.abs(directions).argmax(axis=0)[None], axis=0)
    return np.asarray(directions * np.sign(largest))


def _components(X: np.ndarray, center: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Principal components of rows."""
    found = np.empty((len(X), directions.shape[1]))
    for rows in _blocks(X):
        np.matmul(X[rows] - center, directions, out=found[rows])
    return found


def _blocks(X: np.ndarray, copies: int = 1) -> Iterator[slice]:
    """Rows of a matrix, as many at a time as may be copied so often."""
    size = block_size(copies * X.shape[1])
    yield from (slice(start, start + size) for start in range(0, len(X), size))


def _normal_score(values: np.ndarray, quantiles: np.ndarray) -> np.ndarray:
    """Normal quantile of the rank that each value has among the quantiles; ties get the middle of their ranks."""
    n = len(quantiles)
    below = np.searchsorted(quantiles, values, "left")
    # Only ties have another rank from the right, and there are few ranks: this is much of scoring.
    tied = np.flatnonzero(quantiles[np.minimum(below, n - 1)] == values)
    twice_rank = 2 * below
    twice_rank[tied] = below[tied] + np.searchsorted(quantiles, values[tied], "right")
    return np.asarray(scores_of_ranks(n)[twice_rank])


def scores_of_ranks(n: int) -> np.ndarray:
    """Normal scores of the ranks 0, 1/2, 1, ... among n numbers.

    Examples
    --------
    >>> from unskew.posterior import scores_of_ranks
    >>> scores = scores_of_ranks(3)
    >>> len(scores), bool(abs(scores.sum()) < 1e-9)
    (7, True)
    """
    return np.asarray(ndtri(np.clip(np.arange(2 * n + 1) / 2, 0.5, n - 0.5) / n))


@dataclass(frozen=True)
class Waves:
    """Random cosines, which stand for a Gaussian process with the squared exponential kernel (Rahimi, Recht, 2007).

    Examples
    --------
    >>> import numpy as np
    >>> from unskew.posterior import Waves
    >>> Waves(frequencies=np.zeros((2, 4)), phases=np.zeros(4)).phases.shape
    (4,)
    """

    frequencies: np.ndarray
    phases: np.ndarray

    @classmethod
    def draw(cls, length: float, n_features: int, rng: np.random.RandomState) -> Self:
        """Waves of this squared length scale."""
        frequencies = rng.normal(size=(n_features, N_WAVES)) / np.sqrt(length)
        return cls(frequencies, rng.uniform(0, 2 * np.pi, N_WAVES))

    def columns_of_posterior(self, features: np.ndarray) -> np.ndarray:
        """Columns of f: a constant, the features, the waves."""
        if not is_large(features):
            return np.hstack([np.ones((len(features), 1)), features, self._of(features)])
        first = 1 + features.shape[1]
        columns = np.empty((len(features), first + N_WAVES))
        columns[:, 0] = 1
        columns[:, 1:first] = features
        for rows in _blocks(features):
            columns[rows, first:] = self._of(features[rows])
        return columns

    def _of(self, features: np.ndarray) -> np.ndarray:
        waves = features @ self.frequencies + self.phases
        np.cos(waves, out=waves)
        waves *= np.sqrt(2 / N_WAVES)
        return np.asarray(waves)


def scale_of_columns(scales: Scales, n_features: int) -> np.ndarray:
    r"""Prior standard deviation of the coefficient of each column of f.

    .. math:: f(x) = \theta_0 + \theta^T z(x) + \sum_k \vartheta_k \sqrt{2/K} \cos(a_k^T z(x) + b_k)

    Implements: Eq. (P4).
    """
    parts = (INTERCEPT, 1), (np.sqrt(scales.linear), n_features), (np.sqrt(scales.waves), N_WAVES)
    return np.concatenate([np.full(count, size) for size, count in parts])


def columns_of_propensity(features: np.ndarray) -> np.ndarray:
    """Columns of g, a smoother function: a constant and the features."""
    return np.hstack([np.ones((len(features), 1)), features])


def block_size(n_inputs: int) -> int:
    """Rows of this width that are worked on at a time.

    Examples
    --------
    >>> from unskew.posterior import block_size
    >>> block_size(10) >= block_size(1000) > 0
    True
    """
    return max(64, min(BLOCK, BLOCK_NUMBERS // max(1, n_inputs)))


def is_large(X: np.ndarray) -> bool:
    """Whether copies of it are avoided. Sums round by how their terms lie in memory, so only then."""
    return len(X) > block_size(X.shape[1])


def weighted_products(left: np.ndarray, weight: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Sum over the rows of the weighted product of each column of one matrix with each of the other.

    In blocks, because a matrix times its weights is as large as the matrix.
    """
    return np.asarray(sum(left[rows].T @ (weight[rows, None] * right[rows]) for rows in _blocks(right)))
