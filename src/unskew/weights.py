"""Weights that undo the bias of the labels."""

import numpy as np


def inverse_labeling_weight(confidence: np.ndarray, labeling_prob: np.ndarray, clip: float = 0.01) -> np.ndarray:
    r"""Weight of each labeled instance: its confidence over its labeling probability.

    .. math:: w_n = \frac{r_n}{\max(\hat u_n, \tau)} \propto \frac{1}{e(x_n)}

    Implements: Eq. (14), turned round: the propensity is u / r, and weights are its inverse. In the two-sample
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
