r"""Likelihood of labels under :math:`\eta(x)` and :math:`e(x)`, with its slopes and its information.

Positives are labeled with the propensity e, so that a row is labeled with probability :math:`u = e \eta`. On the logit
scale, f for :math:`\eta` and g for e, both may be any number. The derivation is in `docs/posterior.md`.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

LARGEST_PROB = 1 - 1e-9


class LabelLikelihood(NamedTuple):
    """Log likelihood of each row, its slopes in f and g, and the entries of its expected information in (f, g)."""

    value: np.ndarray
    slope_f: np.ndarray
    slope_g: np.ndarray
    info_ff: np.ndarray
    info_fg: np.ndarray
    info_gg: np.ndarray


def one_sample_likelihood(f: np.ndarray, g: np.ndarray, labeled: np.ndarray) -> LabelLikelihood:
    r"""Rows of one sample, some of whose positives were labeled.

    .. math:: \log p(o | x) = o \log(e \eta) + (1 - o) \log(1 - e \eta), \quad \eta = \sigma(f), \; e = \sigma(g)

    Implements: Eq. (P1).
    """
    log_prob = np.minimum(-np.logaddexp(0, -f) - np.logaddexp(0, -g), np.log(LARGEST_PROB))
    prob, not_positive, not_labeled = np.exp(log_prob), expit(-f), expit(-g)
    odds = prob / (1 - prob)
    pull = np.where(labeled, 1.0, -odds)
    value = np.where(labeled, log_prob, np.log1p(-prob))
    info = odds * not_positive**2, odds * not_positive * not_labeled, odds * not_labeled**2
    return LabelLikelihood(value, pull * not_positive, pull * not_labeled, *info)


def two_sample_likelihood(f: np.ndarray, g: np.ndarray, labeled: np.ndarray) -> LabelLikelihood:
    r"""Labeled rows collected apart from the others, which are a sample of everything.

    .. math:: \log p(o | x) = o \log \sigma(h) + (1 - o) \log \sigma(-h), \quad h = \log \eta + g

    Only the ratio of densities :math:`e \eta` can be known here, up to a factor, so that g is the logarithm of the
    propensity plus a constant. Implements: Eq. (P2).
    """
    log_odds = g - np.logaddexp(0, -f)
    prob, not_positive = expit(log_odds), expit(-f)
    pull, spread = labeled - prob, prob * (1 - prob)
    value = np.where(labeled, -np.logaddexp(0, -log_odds), -np.logaddexp(0, log_odds))
    info = spread * not_positive**2, spread * not_positive, spread
    return LabelLikelihood(value, pull * not_positive, pull, *info)
