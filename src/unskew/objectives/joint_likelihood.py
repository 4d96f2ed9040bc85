r"""Likelihood of labels and their confidence under :math:`\eta` and :math:`e`, with its slopes and its information.

On the logit scale, f for what the columns show of :math:`\eta` and g for e, both may be any number. Beside f stands
what the columns do not show, of variance :math:`\omega^2`; the logit of a confidence is that of :math:`\eta` plus noise
of variance v. The derivation is in `docs/posterior.md`.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

LARGEST_PROB = 1 - 1e-9


class Told(NamedTuple):
    """What the confidence of the labeled rows says; one entry each.

    Attributes
    ----------
    logit : array
        Of the confidence.
    noise : array
        Variance v of the noise in it.
    unseen : float
        Variance of what the columns do not show, of all rows.
    at_top, at_bottom : arrays of bool
        At the end of a scale: the logit may be that far out, or farther.
    """

    logit: np.ndarray
    noise: np.ndarray
    unseen: float
    at_top: np.ndarray
    at_bottom: np.ndarray


class JointLikelihood(NamedTuple):
    """Log likelihood of each row, its slopes in f and g, and the entries of its expected information in (f, g)."""

    value: np.ndarray
    slope_f: np.ndarray
    slope_g: np.ndarray
    info_ff: np.ndarray
    info_fg: np.ndarray
    info_gg: np.ndarray


def flattening(variance: float | np.ndarray) -> np.ndarray:
    r"""Factor of a logit that is the mean of a sigmoid over normal values around it.

    .. math:: E\,\sigma(f + \varepsilon) \approx \sigma(\kappa f), \quad \kappa = (1 + \pi \omega^2 / 8)^{-1/2}

    Implements: Eq. (P1).
    """
    return np.asarray(1 / np.sqrt(1 + np.pi * np.asarray(variance) / 8))


def one_sample_likelihood(f: np.ndarray, g: np.ndarray, labeled: np.ndarray, told: Told) -> JointLikelihood:
    r"""Rows of one sample, some of whose positives were labeled.

    .. math::
        (1 - o) \log\{1 - \sigma(g) \sigma(\kappa f)\}
        + o \, \{\log \sigma(g) + \log \sigma(\kappa' m) + \log N(y; f, \omega^2 + v)\}

    Implements: Eq. (P2).
    """
    kappa = flattening(told.unseen)
    log_prob = np.minimum(-np.logaddexp(0, -kappa * f) - np.logaddexp(0, -g), np.log(LARGEST_PROB))
    prob, not_positive, not_labeled = np.exp(log_prob), kappa * expit(-kappa * f), expit(-g)
    odds = prob / (1 - prob)
    value = np.where(labeled, -np.logaddexp(0, -g), np.log1p(-prob))
    slope_f, slope_g = np.where(labeled, 0.0, -odds * not_positive), np.where(labeled, 1.0, -odds) * not_labeled
    info = odds * not_positive**2, odds * not_positive * not_labeled, odds * not_labeled**2
    return _with_confidence(JointLikelihood(value, slope_f, slope_g, *info), f, labeled, told)


def two_sample_likelihood(f: np.ndarray, g: np.ndarray, labeled: np.ndarray, told: Told) -> JointLikelihood:
    r"""Labeled rows collected apart from the others, which are a sample of everything.

    .. math::
        -\log(1 + e^h) + o \, \{g + \log \sigma(\kappa' m) + \log N(y; f, \omega^2 + v)\}, \quad
        h = g + \log \sigma(\kappa f)

    Only the ratio of densities can be known here, up to a factor, so that g is the logarithm of the propensity plus a
    constant. Implements: Eq. (P3).
    """
    kappa = flattening(told.unseen)
    log_odds = g - np.logaddexp(0, -kappa * f)
    prob, not_positive = expit(log_odds), kappa * expit(-kappa * f)
    value = np.where(labeled, g, 0.0) - np.logaddexp(0, log_odds)
    spread = prob * (1 - prob)
    info = spread * not_positive**2, spread * not_positive, spread
    return _with_confidence(JointLikelihood(value, -prob * not_positive, labeled - prob, *info), f, labeled, told)


def is_beyond_end(f: np.ndarray, told: Told) -> np.ndarray:
    """Labeled rows whose f is farther out than the end of the scale where their confidence is: it agrees with that."""
    return np.asarray((told.at_top & (f > told.logit)) | (told.at_bottom & (f < told.logit)))


def _with_confidence(rows: JointLikelihood, f: np.ndarray, labeled: np.ndarray, told: Told) -> JointLikelihood:
    r"""Add what the confidence of the labeled rows says.

    Given its confidence, the logit of a labeled row's posterior is normal around m, the mean of f and y weighted by
    their precision. So where the confidence is exact, that the row is positive says nothing more about f.
    """
    total = told.unseen + told.noise
    gap = told.logit - f[labeled]
    beyond = is_beyond_end(f[labeled], told)
    gap, share = np.where(beyond, 0.0, gap), told.unseen / total
    kappa = flattening(share * told.noise)
    middle = kappa * (f[labeled] + share * gap)
    value, slope_f, info_ff = rows.value.copy(), rows.slope_f.copy(), rows.info_ff.copy()
    value[labeled] -= np.logaddexp(0, -middle) + gap**2 / (2 * total) + np.log(total) / 2
    slope_f[labeled] += expit(-middle) * kappa * np.where(beyond, 1.0, 1 - share) + gap / total
    info_ff[labeled] += ~beyond / total
    return rows._replace(value=value, slope_f=slope_f, info_ff=info_ff)
