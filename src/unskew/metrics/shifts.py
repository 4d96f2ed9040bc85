"""What the labels over-represent, feature by feature."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import t as student

from unskew.data.validation import check_choice

KINDS = ("number", "share", "date")
FALSE_ALARM = 0.05
"""Chance that `over_representation` names any feature at all where the labels over-represent nothing."""
LEAST_SHIFT = 0.1
"""Standard deviations below which a shift is too small to report, however certain it is."""
LEAST_KNOWN = 3
"""Labeled rows that must have a value of a feature for its means to be compared."""


@dataclass(frozen=True)
class Unit:
    """How a feature reads in the user's own table: center + scale * feature.

    Attributes
    ----------
    kind : {"number", "share", "date"}
        A share is the mean of zeros and ones; a date is in days since 1970-01-01.
    center, scale : float
    absent : int or None
        Number of the feature that is 1 where this one has no value: such rows are left out of its means.

    Examples
    --------
    >>> from unskew import diagnostics
    >>> diagnostics.Unit("number", center=45.0, scale=12.0).scale
    12.0
    """

    kind: str = "number"
    center: float = 0.0
    scale: float = 1.0
    absent: int | None = None


@dataclass(frozen=True)
class Shift:
    """How far the labels over-represent high (or low) values of a feature.

    Attributes
    ----------
    feature : str
    labeled_mean, weighted_mean, all_mean : float
        Mean over the labeled rows as they came, as they count after weighting (an estimate for all positives), and over
        all rows; in the user's unit where that is known. Rows without a value are left out.
    shift : float
        Labeled minus weighted mean, in standard deviations of the feature over all rows.
    kind : {"number", "share", "date"}
        How the means are to be read, see `Unit`.

    Examples
    --------
    >>> from unskew import diagnostics
    >>> shift = diagnostics.Shift("age", labeled_mean=60.0, weighted_mean=50.0, all_mean=45.0, shift=0.8)
    >>> shift.labeled_mean > shift.weighted_mean
    True
    """

    feature: str
    labeled_mean: float
    weighted_mean: float
    all_mean: float
    shift: float
    kind: str = "number"

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)


def over_representation(
    X_labeled: Any,
    weight: Any,
    X_mean: Any,
    X_std: Any,
    feature_names: Sequence[str],
    *,
    feature_columns: Sequence[str] | None = None,
    units: Sequence[Unit] | None = None,
) -> list[Shift]:
    """What the labels over-represent: features whose mean over labels differs from that over all positives.

    A feature is named only if its shift is beyond chance (Student's test with the effective number of labels, at
    `FALSE_ALARM` over all features together) and at least `LEAST_SHIFT` standard deviations large.

    Parameters
    ----------
    X_labeled : array or sparse matrix of shape (n_labeled, n_features)
    weight : array of shape (n_labeled,)
    X_mean, X_std : arrays of shape (n_features,)
        Over all rows that have a value. Features that do not vary are left out.
    feature_names : sequence of str
    feature_columns : sequence of str, optional
        Column of the table that each feature was made from. Of two that mirror each other (yes and no) only the first
        is named.
    units : sequence of Unit, optional
        By default means are those of the features, and a feature of zeros and ones is a share.

    Returns
    -------
    shifts : largest first, by absolute value

    Examples
    --------
    >>> import numpy as np
    >>> from unskew import diagnostics
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> weight = np.exp(-X[:, 0])  # labels with a high first feature are too frequent, and count less
    >>> shifts = diagnostics.over_representation(X, weight, X.mean(axis=0), X.std(axis=0), ["age", "amount"])
    >>> shifts[0].feature, shifts[0].shift > 0
    ('age', True)
    """
    X = X_labeled.toarray() if sparse.issparse(X_labeled) else np.asarray(X_labeled)
    X, weight = X.astype(np.float64), np.asarray(weight, dtype=np.float64)
    mean, std = (np.asarray(each, dtype=np.float64).ravel() for each in (X_mean, X_std))
    if len(weight) < LEAST_KNOWN or not weight.sum() > 0:
        return []
    if units is None:
        units = [Unit("share" if np.isin(column, (0, 1)).all() else "number") for column in X.T]
    present = _has_value(X, units)
    known, heavy = present.sum(axis=0), present * weight[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        plain, weighted = present / present.mean(axis=0), heavy / heavy.mean(axis=0)
        labeled_mean, weighted_mean = (plain * X).mean(axis=0), (weighted * X).mean(axis=0)
        degrees = np.maximum(1.0, heavy.sum(axis=0) ** 2 / np.square(heavy).sum(axis=0) - 1)
        shift = np.where(std > 0, (labeled_mean - weighted_mean) / std, 0.0)
        # Both means are of the same rows: the error is that of the difference, row by row.
        influence = plain * (X - labeled_mean) - weighted * (X - weighted_mean)
        error = np.sqrt(influence.var(axis=0, ddof=1) / len(X)) / std
    tested = np.flatnonzero((std > 0) & (known >= LEAST_KNOWN) & (heavy.sum(axis=0) > 0))
    bound = student.ppf(1 - FALSE_ALARM / (2 * max(1, len(tested))), degrees)
    found = [i for i in tested.tolist() if abs(shift[i]) >= LEAST_SHIFT and abs(shift[i]) > bound[i] * error[i]]
    found.sort(key=lambda i: -abs(shift[i]))
    if feature_columns is not None:
        found = _without_mirrors(found, X, feature_columns)
    means = np.array([labeled_mean, weighted_mean, mean])
    shifts = []
    for i in found:
        labels, positives, everything = (units[i].center + units[i].scale * means[:, i]).tolist()
        shifts.append(Shift(str(feature_names[i]), labels, positives, everything, float(shift[i]), units[i].kind))
    return shifts


def _has_value(X: np.ndarray, units: Sequence[Unit]) -> np.ndarray:
    """Which entries of the features are values, and not what a missing one was filled with."""
    present = np.ones(X.shape, dtype=bool)
    for number, unit in enumerate(units):
        if unit.absent is not None:
            present[:, number] = X[:, unit.absent] == 0
    return present


def _without_mirrors(found: list[int], X: np.ndarray, columns: Sequence[str]) -> list[int]:
    """Leave out features that only say the opposite of one that was named before: no beside yes."""
    kept: list[int] = []
    for i in found:
        if not any(columns[i] == columns[j] and np.ptp(X[:, i] + X[:, j]) < 1e-9 for j in kept):
            kept.append(i)
    return kept
