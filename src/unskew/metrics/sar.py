r"""AUC, curves, prior and label frequency estimated from PU data with confidence, without any negative label.

With :math:`w = r / u` on labeled instances, :math:`E_l[w] = 1/c`, and weighted labeled instances stand for all
positives. The negatives follow from the whole: p = pi p^p + (1 - pi) p^n, Eq. (10).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit
from scipy.stats import t as student
from sklearn.utils import check_random_state

from unskew.data.validation import check_choice
from unskew.metrics._display import sar_auc_html
from unskew.metrics._sample import (
    Sample,
    auc_of,
    influence_of,
    parts_of,
    prior_and_label_freq,
    read_sample,
    warn_no_estimate,
)
from unskew.objectives.weights import effective_sample_size

BOOTSTRAP_DRAWS = 500


@dataclass(frozen=True)
class SarAUC:
    """AUC estimated without negatives, with an interval, and what was estimated on the way.

    Attributes
    ----------
    auc, low, high : float
        Estimate and its interval, in [0, 1].
    level : float
        Nominal coverage of the interval.
    prior : float
        Estimated share of positives.
    label_freq : float
        Estimated share of the positives that are labeled; NaN in the two-sample scenario.
    effective_labeled : float
        Number of equally weighted labels that the weighted ones are worth, (sum w)^2 / sum w^2.
    unclipped : float
        The estimate before it is clipped to [0, 1], for comparing estimates that chance takes beyond.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(2000, random_state=0)
    >>> score, u = data.law.posterior(data.X), data.law.labeling_prob(data.X)  # both known for this law
    >>> found = unskew.metrics.sar_auc(data.labeled, score, data.confidence, u)
    >>> bool(found.low < unskew.metrics.auc(data.y, score) < found.high)
    True
    """

    auc: float
    low: float
    high: float
    level: float
    prior: float
    label_freq: float
    effective_labeled: float
    unclipped: float

    def _repr_html_(self) -> str:
        return sar_auc_html(self)


@dataclass(frozen=True)
class SarCurves:
    """Curves estimated without negatives: one entry per threshold, from the highest score down.

    Attributes
    ----------
    thresholds : array
        Distinct scores; an instance is flagged when its score reaches the threshold. The first is infinite.
    tpr, fpr : arrays
        True and false positive rate, in [0, 1]; the latter is NaN where the estimated prior is 1, which leaves no
        negatives.
    precision : array
        Share of positives among the flagged, in [0, 1]; 1 where nothing is flagged.
    flagged : array
        Predicted-positive rate, the share of all instances that is flagged.
    prior, label_freq : float
        As in `SarAUC`.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(2000, random_state=0)
    >>> score, u = data.law.posterior(data.X), data.law.labeling_prob(data.X)  # both known for this law
    >>> curves = unskew.metrics.sar_curves(data.labeled, score, data.confidence, u)
    >>> float(curves.tpr[-1]), float(curves.fpr[-1])
    (1.0, 1.0)
    """

    thresholds: np.ndarray
    tpr: np.ndarray
    fpr: np.ndarray
    precision: np.ndarray
    flagged: np.ndarray
    prior: float
    label_freq: float


def sar_auc(
    y: Any,
    score: Any,
    confidence: Any,
    labeling_prob: Any,
    scenario: str = "one-sample",
    level: float = 0.95,
    random_state: Any = None,
    *,
    interval: str = "u-statistic",
    clip: float = 0.0,
    prior: float | None = None,
) -> SarAUC:
    r"""AUC estimated from PU data with confidence, without negatives.

    .. math::
        \widehat{AUC} = 1 - \frac{R_H - \hat\pi / 2}{1 - \hat\pi}, \quad
        R_H = \frac{\sum_n w_n F_n}{\sum_n w_n}, \quad
        F_n = E_x[1(s > s_n) + \tfrac12 1(s = s_n)], \quad
        \hat\pi = \max\Bigl(\hat\alpha, \hat\alpha \frac{1}{N^p} \sum_n w_n\Bigr)

    Implements: Eq. (12), its zero-one form, solved for the AUC. The weights are normalized by their own sum (Hájek),
    which lets errors of scale in the labeling probability cancel in R_H. A pair of an instance with itself is left out.
    The prior is at least the share of labeled instances in the one-sample scenario only, where these are positive ones.

    Parameters
    ----------
    y : array of shape (n,)
        1 labeled, 0 unlabeled.
    score : array of shape (n,)
    confidence : array of shape (n,)
        In [0, 1] and calibrated; read on labeled rows only.
    labeling_prob : array of shape (n,)
        Probability of being labeled, read on labeled rows only; in the two-sample scenario the density ratio. From a
        model fitted to the same rows it is too high; cross-fitted (out-of-fold) ones make the estimate honest.
    scenario : {"one-sample", "two-sample"}
        One-sample: the unlabeled are what labeling left over. Two-sample: they are a sample of everything.
    level : float in (0, 1)
        Coverage of the interval.
    random_state : int, RandomState or None
        Draws of the bootstrap.
    interval : {"u-statistic", "bootstrap"}
        From the variance of the U-statistic's projection (decision 5), or from resampled rows, which covers too seldom
        with few labeled instances.
    clip : float in [0, 1)
        Labeling probabilities below are raised to it. True probabilities need none; estimated ones do (the rankers use
        0.01), because one that is far too small would outweigh all others.
    prior : float in (0, 1), optional
        Share of positives, where it is known: the estimated one then has no influence.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(5000, random_state=0)
    >>> estimate = sar_auc(data.labeled, data.X[:, 0], data.confidence, data.labeling_prob)
    >>> estimate.low < data.law.linear_auc([1, 0]) < estimate.high
    True
    """
    check_choice("interval", interval, ("u-statistic", "bootstrap"))
    sample = read_sample(y, score, confidence, labeling_prob, scenario, clip, prior)
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, but it is {level!r}.")
    share, label_freq = prior_and_label_freq(sample)
    if share >= 1:
        warn_no_estimate(sample)
        estimate, low, high = float("nan"), 0.0, 1.0
    else:
        estimate = auc_of(*parts_of(sample))
        low, high = (
            _projected_interval(sample, estimate, level)
            if interval == "u-statistic"
            else _bootstrap_interval(sample, level, check_random_state(random_state))
        )
    return SarAUC(
        auc=float(np.clip(estimate, 0, 1)),
        low=low,
        high=high,
        level=level,
        prior=share,
        label_freq=label_freq,
        effective_labeled=effective_sample_size(sample.weight),
        unclipped=float(estimate),
    )


def sar_curves(
    y: Any,
    score: Any,
    confidence: Any,
    labeling_prob: Any,
    scenario: str = "one-sample",
    *,
    clip: float = 0.0,
    prior: float | None = None,
) -> SarCurves:
    r"""ROC and precision-recall curves estimated from PU data with confidence, without negatives.

    .. math::
        TPR(t) = \frac{\sum_n w_n 1[s_n \ge t]}{\sum_n w_n}, \quad PPR(t) = E_x 1[s \ge t], \quad
        FPR = \frac{PPR - \pi TPR}{1 - \pi}, \quad precision = \frac{\pi TPR}{PPR}

    FPR and precision are differences and ratios of estimates: where chance takes them out of [0, 1] they are clipped.
    Parameters as in `sar_auc`.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(2000, random_state=0)
    >>> score, u = data.law.posterior(data.X), data.law.labeling_prob(data.X)  # both known for this law
    >>> curves = unskew.metrics.sar_curves(data.labeled, score, data.confidence, u)
    >>> float(curves.tpr[-1]), float(curves.fpr[-1])
    (1.0, 1.0)
    """
    sample = read_sample(y, score, confidence, labeling_prob, scenario, clip, prior)
    share, label_freq = prior_and_label_freq(sample)
    scores = np.unique(np.concatenate([sample.labeled, sample.everything]))
    thresholds = np.concatenate([[np.inf], scores[::-1]])
    tpr = _share_reaching(sample.labeled, thresholds, sample.weight)
    flagged = _share_reaching(sample.everything, thresholds)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(flagged > 0, share * tpr / flagged, 1.0)
        fpr = (flagged - share * tpr) / (1 - share)
    if share >= 1:
        warn_no_estimate(sample, "false positive rate")
        fpr = np.where(np.isinf(thresholds), 0.0, np.nan)
    return SarCurves(thresholds, tpr, np.clip(fpr, 0, 1), np.clip(precision, 0, 1), flagged, share, label_freq)


class PairedDifference(NamedTuple):
    """AUC of the first ranking minus that of the second, with its interval.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(500, random_state=0)
    >>> posterior = unskew.posterior.fit_posterior(data.X, data.labeled, data.confidence)
    >>> found = unskew.metrics.compare_rankings(posterior.prob, data.X[:, 0], posterior)
    >>> found.low < found.difference < found.high
    True
    """

    difference: float
    low: float
    high: float


def paired_difference(
    y: Any,
    score_a: Any,
    score_b: Any,
    confidence: Any,
    labeling_prob: Any,
    clip: float = 0.0,
    scenario: str = "one-sample",
    level: float = 0.95,
    prior: float | None = None,
) -> PairedDifference:
    """Difference of the AUCs that `sar_auc` estimates for two scores of the same rows, with an interval.

    Both estimates share rows and weights, so most of their errors cancel, and the interval is much narrower than those
    of the two AUCs. It comes from the difference of each row's influence on them (decision 5).

    Parameters
    ----------
    y, confidence, labeling_prob, clip, scenario, level, prior
        As in `sar_auc`.
    score_a, score_b : arrays of shape (n,)
        Two scores of the same rows.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(5000, random_state=0)
    >>> evidence = data.confidence, data.labeling_prob
    >>> found = paired_difference(data.labeled, data.X[:, 0], data.X[:, 1], *evidence)
    >>> found.low < data.law.linear_auc([1, 0]) - data.law.linear_auc([0, 1]) < found.high
    True
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, but it is {level!r}.")
    evidence = confidence, labeling_prob, scenario, clip, prior
    first, second = (read_sample(y, score, *evidence) for score in (score_a, score_b))
    if prior_and_label_freq(first)[0] >= 1:
        warn_no_estimate(first)
        return PairedDifference(float("nan"), -1.0, 1.0)
    difference = auc_of(*parts_of(first)) - auc_of(*parts_of(second))
    error = (influence_of(first) - influence_of(second)).standard_error
    half_width = student.ppf((1 + level) / 2, max(1.0, effective_sample_size(first.weight) - 1)) * error
    clipped = np.clip([difference, difference - half_width, difference + half_width], -1, 1)
    return PairedDifference(*clipped.tolist())


def _projected_interval(sample: Sample, estimate: float, level: float) -> tuple[float, float]:
    """The farther ends of two intervals: symmetric on the scale of the logit, and on that of the AUC (decision 5).

    Student's quantile is for as many degrees of freedom as the weights are worth. Within two standard errors of 0 or 1
    the logit's slope says nothing any more: it is then taken two errors away.
    """
    error = influence_of(sample).standard_error
    quantile = student.ppf((1 + level) / 2, max(1.0, effective_sample_size(sample.weight) - 1))
    away = min(2 * error, 0.5)
    inside = float(np.clip(estimate, max(away, 1e-9), min(1 - away, 1 - 1e-9)))
    half_width = quantile * error / (inside * (1 - inside))
    low = min(float(expit(logit(inside) - half_width)), estimate - quantile * error)
    high = max(float(expit(logit(inside) + half_width)), estimate + quantile * error)
    return max(0.0, float(low)), min(1.0, float(high))


def _bootstrap_interval(sample: Sample, level: float, rng: np.random.RandomState) -> tuple[float, float]:
    """Percentiles over resampled rows; each draw reuses the one sort of the scores, and costs O(n)."""
    score = np.concatenate([sample.labeled, sample.unlabeled])
    n_labeled = len(sample.labeled)
    _, group = np.unique(score, return_inverse=True)
    n_groups = int(group.max()) + 1
    estimates = np.empty(BOOTSTRAP_DRAWS)
    for number in range(BOOTSTRAP_DRAWS):
        count = _resample(n_labeled, len(score), sample.one_sample, rng)
        everyone = count if sample.one_sample else np.where(np.arange(len(score)) < n_labeled, 0, count)
        at = np.bincount(group, weights=everyone, minlength=n_groups)
        above = (at.sum() - np.cumsum(at) + at / 2)[group[:n_labeled]] / at.sum()
        weight = count[:n_labeled] * sample.weight
        scale = sample.alpha / (n_labeled if not sample.one_sample else sample.alpha * len(score))
        mean, risk = scale * weight.sum(), scale * (weight @ above)
        least = count[:n_labeled].sum() / len(score) if sample.one_sample else 0.0
        prior = sample.known_prior or max(mean / sample.raised_by, least)
        estimates[number] = auc_of(prior, risk * prior / mean) if mean > 0 and prior < 1 else np.nan
    low, high = np.nanquantile(estimates, [(1 - level) / 2, (1 + level) / 2])
    return float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1))


def _resample(n_labeled: int, n: int, one_sample: bool, rng: np.random.RandomState) -> np.ndarray:
    """How often each row is drawn; the two samples of the two-sample scenario keep their sizes."""
    parts = (n,) if one_sample else (n_labeled, n - n_labeled)
    return np.concatenate([np.bincount(rng.randint(part, size=part), minlength=part) for part in parts])


def _share_reaching(score: np.ndarray, thresholds: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """(Weighted) share of scores that are at least each threshold."""
    order = np.argsort(score, kind="stable")
    below = np.concatenate([[0.0], np.cumsum(np.ones(len(score)) if weight is None else weight[order])])
    return np.asarray(1 - below[np.searchsorted(score[order], thresholds, "left")] / below[-1])
