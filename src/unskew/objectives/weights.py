"""Weights that undo the bias of the labels, and what weighted instances are worth."""

from collections.abc import Sequence

import numpy as np

CLIP = 0.01
"""Least labeling probability (Sec. 5.2)."""


def inverse_labeling_weight(confidence: np.ndarray, labeling_prob: np.ndarray, clip: float = CLIP) -> np.ndarray:
    r"""Weight of each labeled instance: its confidence over its labeling probability.

    .. math:: w_n = \frac{r_n}{\max(\hat u_n, \tau)} \propto \frac{1}{e(x_n)}

    Implements: Eq. (14), inverted: the propensity is u / r, and weights are one over it. In the two-sample
    scenario the density ratio stands in for the labeling probability, see Eq. (106).

    Parameters
    ----------
    confidence : array of shape (n_labeled,), in [0, 1]
    labeling_prob : array of shape (n_labeled,), > 0
    clip : float in (0, 1)
        Labeling probabilities below are raised to it, so that no single instance takes over (Sec. 5.2).

    Examples
    --------
    >>> inverse_labeling_weight(np.array([0.9, 0.5]), np.array([0.3, 0.001])).round(2)
    array([ 3., 50.])
    """
    return np.asarray(confidence / np.maximum(labeling_prob, clip))


def effective_sample_size(weight: np.ndarray | Sequence[float]) -> float:
    """Number of equally weighted instances that these are worth, (sum w)^2 / sum w^2 (Kish); 0 if all weigh nothing.

    Examples
    --------
    >>> effective_sample_size([2.0, 2.0, 0.0])
    2.0
    """
    array = np.asarray(weight, dtype=np.float64)
    return float(array.sum() ** 2 / np.sum(array**2)) if array.any() else 0.0
