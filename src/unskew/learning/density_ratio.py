r"""The density ratio :math:`w(x) = p(x|o=1) / p(x)` that the two-sample scenario needs (App. D.2).

There the share of labeled instances is the collector's choice and says nothing, so that p(o=1|x) cannot be estimated,
but the ratio can: from the odds of a probabilistic classifier, or directly by least squares (uLSIF).
"""

from collections import defaultdict
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from unskew._support.parameters import SEED, Rule, all_above, check_parameters, whole_number
from unskew.data.labels import check_labels
from unskew.data.validation import require_two_of_each


def ratio_from_odds(labeling_prob: np.ndarray, alpha: float) -> np.ndarray:
    r"""Density ratio from a classifier of labeled against unlabeled.

    .. math:: w(x) = \frac{p(x|o=1)}{p(x)} = \frac{q(x)}{1 - q(x)} \cdot \frac{1 - \alpha}{\alpha}

    Implements: Eq. (104), the estimate of its w. Two-sample scenario: the unlabeled are a sample of p(x), and q is the
    probability that an instance of both samples together, with a share alpha of labeled ones, is a labeled one.

    Examples
    --------
    >>> ratio_from_odds(np.array([0.5]), alpha=0.2)
    array([4.])
    """
    # No probability below 1 is much nearer to it, and odds of a smaller number would overflow where alpha is small.
    odds = labeling_prob / np.maximum(1 - labeling_prob, np.finfo(np.float64).eps)
    return np.asarray(odds * (1 - alpha) / alpha)


@dataclass(eq=False, repr=False)
class ULSIF(BaseEstimator):
    r"""Density ratio by unconstrained least-squares importance fitting [1]_.

    The ratio is a sum of Gaussian kernels at labeled instances; their coefficients minimize the squared error to the
    true ratio plus a ridge, in closed form. Kernel width and ridge are chosen by cross-validation of that error.

    Parameters
    ----------
    n_centers : int, default=100
        Kernels at most.
    widths : sequence of float, default=(0.25, 0.5, 1.0, 2.0)
        Kernel widths to try, as multiples of the median distance between labeled and unlabeled instances.
    ridges : sequence of float, default=(0.001, 0.01, 0.1, 1.0)
        Ridges to try.
    n_folds : int, default=5
        Folds of the cross-validation, two or more; fewer where there are fewer labeled or unlabeled instances.
    random_state : int, RandomState or None, default=None
        Chooses centers and folds.

    Attributes
    ----------
    centers_, coef_, width_, ridge_ : the fitted ratio
    n_features_in_ : int

    References
    ----------
    .. [1] T. Kanamori, S. Hido, M. Sugiyama. A least-squares approach to direct importance estimation. JMLR 10, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> import unskew
    >>> rng = np.random.default_rng(0)
    >>> labeled, unlabeled = rng.normal(1, 1, (100, 1)), rng.normal(0, 1, (300, 1))
    >>> X, y = np.concatenate([labeled, unlabeled]), np.repeat([1, 0], [100, 300])
    >>> low, high = unskew.ULSIF(random_state=0).fit(X, y).density_ratio([[-1.0], [2.0]])
    >>> bool(low < 1 < high)
    True
    """

    n_centers: int = 100
    widths: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0)
    ridges: tuple[float, ...] = (1e-3, 1e-2, 1e-1, 1.0)
    n_folds: int = 5
    random_state: Any = None

    rules: ClassVar[dict[str, Rule]] = {
        "n_centers": whole_number(1),
        "widths": all_above(0),
        "ridges": all_above(0),
        "n_folds": whole_number(2),
        "random_state": SEED,
    }

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the ratio of labeled (y = 1) to unlabeled (y = 0) instances; if that fails, all stays as it was."""
        check_parameters(self)
        widths, ridges = (np.asarray(each, dtype=np.float64) for each in (self.widths, self.ridges))
        features, y = check_X_y(X, y, dtype=np.float64, estimator=self)
        is_labeled = check_labels(y)
        labeled, unlabeled = features[is_labeled], features[~is_labeled]
        require_two_of_each(is_labeled, "the density ratio")
        rng = check_random_state(self.random_state)
        n_centers = min(self.n_centers, len(labeled))
        centers = labeled[rng.choice(len(labeled), n_centers, replace=False)]
        to_labeled, to_unlabeled = cdist(labeled, centers), cdist(unlabeled, centers)
        unit = float(np.median(to_unlabeled)) or 1.0
        n_folds = min(self.n_folds, len(labeled), len(unlabeled))
        folds = [rng.permutation(np.arange(len(part)) % n_folds) for part in (labeled, unlabeled)]
        width, ridge = _best_width_and_ridge(to_labeled, to_unlabeled, unit * widths, ridges, folds)
        coef = _coefficients(_gaussian_kernel(to_labeled, width), _gaussian_kernel(to_unlabeled, width), ridge)
        validate_data(self, X, skip_check_array=True)  # number and names of the columns
        self.centers_, self.coef_, self.width_, self.ridge_ = centers, coef, width, ridge
        return self

    def density_ratio(self, X: Any) -> np.ndarray:
        """Estimated ratio at each row, never negative."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(_gaussian_kernel(cdist(X, self.centers_), self.width_) @ self.coef_)


def _gaussian_kernel(distance: np.ndarray, width: float) -> np.ndarray:
    return np.asarray(np.exp(-(distance**2) / (2 * width**2)))


def _coefficients(high: np.ndarray, low: np.ndarray, ridge: float) -> np.ndarray:
    """Solve the ridge problem; negative coefficients become zero, as its authors do."""
    second_moment = low.T @ low / len(low) + ridge * np.eye(low.shape[1])
    return np.asarray(np.maximum(linalg.solve(second_moment, high.mean(axis=0), assume_a="pos"), 0))


def _best_width_and_ridge(
    to_labeled: np.ndarray, to_unlabeled: np.ndarray, widths: np.ndarray, ridges: np.ndarray, folds: list[np.ndarray]
) -> tuple[float, float]:
    """Choose those of the lowest cross-validated error."""
    high_fold, low_fold = folds
    errors: dict[tuple[float, float], float] = defaultdict(float)
    for width in map(float, widths):
        high, low = _gaussian_kernel(to_labeled, width), _gaussian_kernel(to_unlabeled, width)
        for ridge, fold in product(map(float, ridges), range(int(high_fold.max()) + 1)):
            coef = _coefficients(high[high_fold != fold], low[low_fold != fold], ridge)
            below, above = low[low_fold == fold] @ coef, high[high_fold == fold] @ coef
            # Squared error to the true ratio, up to a constant: half the mean square below minus the mean above.
            errors[width, ridge] += float(np.mean(below**2) / 2 - np.mean(above))
    return min(errors, key=errors.__getitem__)
