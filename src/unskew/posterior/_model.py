"""What gives the probability of being positive for any row: numbers only, so that a model file can keep it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import expit, logit

from unskew.data.images import as_columns, as_pixels
from unskew.objectives.joint_likelihood import flattening
from unskew.posterior._basis import N_WAVES, QUANTILES, Scaling, Waves, block_size, columns_of_propensity
from unskew.posterior._confidence import noise_variance
from unskew.posterior._joint_fit import USUAL_PROPENSITY


@dataclass(frozen=True)
class Errors:
    """How far a fit may be off by its own account, and what it found out about the labels.

    Attributes
    ----------
    covariance : array of shape (n_columns, n_columns)
        Of the coefficients of f, under the first set of assumptions.
    noise : float
        Variance of the noise of a confidence, on its own scale.
    propensity : array of shape (1 + n_features,), or None
        Coefficients of g; None for two samples, which do not show it.
    """

    covariance: np.ndarray
    noise: float
    propensity: np.ndarray | None


@dataclass(frozen=True)
class PosteriorModel:
    """The fitted function of the row.

    Attributes
    ----------
    coefficients : array of shape (n_columns, n_views)
        Of f, under each set of assumptions; the first is the one that counts.
    unseen : array of shape (n_views,)
        Variance of what the columns do not show.
    offset : array of shape (n_views,)
        Added to the logits; 0 unless the prior is known.
    errors : Errors or None
        None in a model of an earlier version, and in one that only gives scores.

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

    scaling: Scaling
    waves: Waves
    coefficients: np.ndarray
    unseen: np.ndarray
    offset: np.ndarray
    errors: Errors | None = None

    @property
    def n_inputs(self) -> int | None:
        """Numbers of a row that it was fitted to; None in a model of the first version, if they were few."""
        known = self.scaling.center if self.scaling.filled is None else self.scaling.filled
        return None if known is None else len(known)

    def table_of(self, rows: np.ndarray) -> np.ndarray:
        """Rows as the table that it was fitted to; in an earlier version images were their pixels."""
        return as_pixels(rows) if self.n_inputs in (None, prod(rows.shape[1:])) else as_columns(rows)

    def columns(self, X: np.ndarray) -> np.ndarray:
        """Columns in which f is linear."""
        return self.waves.columns_of_posterior(self.scaling.apply(X))

    def logits(self, X: Any) -> np.ndarray:
        """Logit of the probability of being positive, of each row under each set of assumptions."""
        kappa = flattening(self.unseen)
        parts = [kappa * (self.columns(block) @ self.coefficients) for _, block in blocks_of(X)]
        return np.asarray(np.concatenate([np.empty((0, len(self.offset))), *parts]) + self.offset)

    def predict(self, X: Any) -> np.ndarray:
        """Probability of being positive, of each row."""
        return np.asarray(expit(self.alone().logits(X)[:, 0]))

    def propensity_and_deviation(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Of each row: the propensity (NaN for two samples), and the standard deviation of the posterior's logit."""
        assert self.errors is not None
        propensity, deviation = np.full(X.shape[0], np.nan), np.empty(X.shape[0])
        for rows, block in blocks_of(X):
            features = self.scaling.apply(block)
            columns = self.waves.columns_of_posterior(features)
            deviation[rows] = np.sqrt(np.sum((columns @ self.errors.covariance) * columns, axis=1))
            if self.errors.propensity is not None:
                g = columns_of_propensity(features) @ self.errors.propensity + USUAL_PROPENSITY
                propensity[rows] = expit(g)
        return propensity, flattening(self.unseen[0]) * deviation

    def variance_of_confidence(self, f: np.ndarray) -> np.ndarray:
        """Variance of the logit of a confidence that rows with these f would be given: what no column shows, and noise.

        It is the first order of Eq. (P5), as if the confidence were where the fit expects it.
        """
        assert self.errors is not None
        return np.asarray(self.unseen[0] + noise_variance(self.errors.noise, f, f))

    def alone(self) -> Self:
        """Without the other sets of assumptions, and without errors."""
        only = np.ascontiguousarray(self.coefficients[:, :1])  # products round by the layout of their factors
        return type(self)(self.scaling, self.waves, only, self.unseen[:1], self.offset[:1])

    def to_arrays(self) -> dict[str, np.ndarray]:
        """All of it as arrays, without the other sets of assumptions."""
        parts = {**vars(self.scaling), **vars(self.waves), "coefficients": self.coefficients[:, 0]}
        parts |= {"unseen": np.float64(self.unseen[0]), "offset": np.float64(self.offset[0])}
        if self.errors is not None:
            parts |= {**vars(self.errors), "noise": np.float64(self.errors.noise)}
        # A file takes the numbers as they lie in memory.
        return {name: np.asarray(value, order="C") for name, value in parts.items() if value is not None}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], n_inputs: int) -> Self:
        """What `to_arrays` wrote for rows of so many numbers; ValueError if it cannot be that."""
        # Files of earlier versions have no sizes: each column counted the same.
        arrays = {"size": np.ones(np.shape(arrays.get("mean", ()))), **arrays}
        found = _checked_arrays(arrays, n_inputs)
        names = "kept", "mean", "deviation", "size", "ranked", "quantiles"
        scaling = Scaling(found.get("center"), found.get("directions"), *(found[name] for name in names))
        if "filled" in found:
            scaling = replace(scaling, filled=found["filled"], marked=found["marked"])
        waves = Waves(found["frequencies"], found["phases"])
        numbers = found["unseen"].reshape(1), found["offset"].reshape(1)
        errors = None
        if "covariance" in found:
            errors = Errors(found["covariance"], float(found["noise"]), found.get("propensity"))
        return cls(scaling, waves, found["coefficients"][:, None], *numbers, errors)


def _checked_arrays(arrays: Mapping[str, np.ndarray], n_inputs: int) -> Mapping[str, np.ndarray]:
    """Refuse arrays that do not fit each other."""

    def shape(name: str) -> tuple[int, ...]:
        return np.shape(arrays.get(name, np.empty((0, 0, 0))))

    n_kept, n_ranked = (shape(name)[0] for name in ("kept", "ranked"))
    n_features = max(1, n_kept + n_ranked)
    n_marked = shape("marked")[0] if "filled" in arrays else 0
    n_columns = shape("directions")[-1] if "directions" in arrays else n_inputs + n_marked
    wanted = {
        "kept": (n_kept,), "mean": (n_kept,), "deviation": (n_kept,), "size": (n_kept,), "ranked": (n_ranked,),
        "quantiles": (QUANTILES, n_ranked), "frequencies": (n_features, N_WAVES), "phases": (N_WAVES,),
        "coefficients": (1 + n_features + N_WAVES,), "unseen": (), "offset": (),
    }  # fmt: skip
    if "center" in arrays or "directions" in arrays:
        n_completed = n_inputs + n_marked
        wanted |= {"center": (n_completed,), "directions": (n_completed, n_columns)}
    if "filled" in arrays:  # files of earlier versions say nothing of missing values
        wanted |= {"filled": (n_inputs,), "marked": (n_marked,)}
    if "covariance" in arrays:  # nor do they say how far they may be off
        n_coefficients = 1 + n_features + N_WAVES
        wanted |= {"covariance": (n_coefficients, n_coefficients), "noise": ()}
        if "propensity" in arrays:
            wanted["propensity"] = (1 + n_features,)
    if {name: shape(name) for name in {*wanted, *arrays}} != wanted:
        raise ValueError(f"a posterior must have arrays of the shapes {wanted}, but they do not fit")
    for name, most in (("kept", n_columns), ("ranked", n_kept), ("marked", n_inputs)):
        places = arrays.get(name, np.arange(0))
        if places.dtype.kind != "i" or (len(places) and not 0 <= places.min() <= places.max() < most):
            raise ValueError(f"{name} must be numbers of columns below {most}")
    others = [each for name, each in arrays.items() if name not in ("kept", "ranked", "marked")]
    if not all(each.dtype == np.float64 and np.isfinite(each).all() for each in others):
        raise ValueError("a posterior must have finite numbers in float64")
    variances = arrays["unseen"], arrays.get("noise", 0.0), np.diagonal(arrays.get("covariance", np.zeros((1, 1))))
    if min(np.min(each) for each in variances) < 0 or (arrays["deviation"] <= 0).any():
        raise ValueError("variances of a posterior must be 0 or more, and deviations above 0")
    return arrays


def blocks_of(X: Any) -> Iterator[tuple[slice, np.ndarray]]:
    """Rows of a table, some at a time, as dense numbers in float64."""
    size = block_size(X.shape[1])
    for start in range(0, X.shape[0], size):
        rows = slice(start, start + size)
        yield rows, dense(X[rows])


def dense(X: Any) -> np.ndarray:
    """Rows as numbers in float64."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X).astype(np.float64, copy=False)


def offset_for(prior: float, logits: np.ndarray) -> float:
    """What has to be added to all logits so that the mean probability is the known prior.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import expit
    >>> from unskew.posterior import offset_for
    >>> logits = np.array([-1.0, 0.0, 2.0])
    >>> round(float(expit(logits + offset_for(0.3, logits)).mean()), 6)
    0.3
    """
    low, high = logit(prior) - logits.max(), logit(prior) - logits.min()
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if expit(logits + middle).mean() < prior else (low, middle)
    return float((low + high) / 2)
