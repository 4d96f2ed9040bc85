r"""Share of positives, AUC, curves, precision and recall as averages of a posterior, each with an interval.

The probability of being positive stands for the class of a row that nobody knows: a row counts as :math:`\eta` of a
positive and as :math:`1 - \eta` of a negative. So curves cannot bend backwards, and nothing leaves [0, 1].
"""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.special import expit, logit
from scipy.stats import t as student
from sklearn.utils.validation import check_consistent_length

from unskew.errors import LowReliabilityWarning, NoEstimateWarning
from unskew.metrics._display import ranking_html, top_html
from unskew.metrics._tables import finite_scores
from unskew.metrics.diagnostics import Finding
from unskew.metrics.reliability import check_labeled_share, check_reliability, warn_of
from unskew.metrics.review_curve import ReviewCurve, Steps
from unskew.metrics.sar import PairedDifference, SarCurves
from unskew.posterior import Posterior

N_REGIONS, USUAL_LOCAL_ERROR = 20, 0.5
"""Parts of a ranking whose confidence may be off by itself, and how far, on the scale of the logit."""


@dataclass(frozen=True)
class TopRows:
    """What the rows with the highest scores hold; each number with the ends of its interval.

    Attributes
    ----------
    n : int
        Rows at the top; rows with equal scores are together at the top or not.
    threshold : float
        Lowest score among them.
    precision : float
        Share of positives among them.
    recall : float
        Share of all positives that is among them.
    lift : float
        Precision divided by the share of positives among all rows.
    expected_positives : float
        Positives among them.

    Examples
    --------
    >>> list(TopRows.__annotations__)[:3]  # `RankingEstimate.at` gives one
    ['n', 'threshold', 'precision']
    """

    n: int
    threshold: float
    precision: float
    precision_low: float
    precision_high: float
    recall: float
    recall_low: float
    recall_high: float
    lift: float
    lift_low: float
    lift_high: float
    expected_positives: float
    expected_positives_low: float
    expected_positives_high: float

    def _repr_html_(self) -> str:
        return top_html(self)


@dataclass(frozen=True)
class RankingEstimate:
    """How good a ranking of these rows is, estimated without negatives.

    Attributes
    ----------
    auc, low, high : float
        Share of pairs that the ranking has in the right order, and its interval.
    prior, prior_low, prior_high : float
        Share of positives.
    label_freq : float
        Share of the positives that is labeled; NaN in the two-sample scenario.
    reliability : float
        How well the confidence can be predicted from the row, in [0, 1]; see `unskew.posterior.Posterior`.
    level : float
        Nominal coverage of all intervals.

    Examples
    --------
    >>> list(RankingEstimate.__annotations__)[:3]  # `estimate_ranking` gives one
    ['auc', 'low', 'high']
    """

    auc: float
    low: float
    high: float
    prior: float
    prior_low: float
    prior_high: float
    label_freq: float
    reliability: float
    level: float
    _judge: "_Judge" = field(repr=False, compare=False)

    def at(self, share: float) -> TopRows:
        """What this share of the rows, those with the highest scores, holds."""
        if not 0 < share <= 1:
            raise ValueError(f"share must lie above 0 and be at most 1, but it is {share!r}. The top 5 % is 0.05.")
        return self._judge.top(share)

    def reviews(self, always: Iterable[int] = ()) -> ReviewCurve:
        """Positives by how many of the rows with the highest scores are reviewed, with intervals.

        The curve has about 75 places to stop, and those after which `always` so many rows are reviewed.
        """
        return self._judge.reviews(always)

    def _repr_html_(self) -> str:
        return ranking_html(self)

    @property
    def steps(self) -> Steps:
        """All places where reviewing may stop."""
        return self._judge.steps

    def curves(self) -> SarCurves:
        """ROC and precision-recall curves; `tpr` and `fpr` never fall."""
        return self._judge.curves(self.prior, self.label_freq)


def estimate_ranking(score: Any, posterior: Posterior, *, level: float = 0.95) -> RankingEstimate:
    r"""AUC and share of positives from a posterior, with intervals that count what was estimated.

    .. math::
        \hat\pi = \frac1n \sum_i \eta_i, \qquad
        \widehat{AUC} = \frac{\sum_{i \ne j} \eta_i (1 - \eta_j) \{1(s_i > s_j) + \tfrac12 1(s_i = s_j)\}}
        {\sum_{i \ne j} \eta_i (1 - \eta_j)}

    See Eqs. (P7) and (P8) in `docs/posterior.md`. Warns where the reliability of the posterior is low.

    Parameters
    ----------
    score : array of shape (n,)
        Higher for more likely positive; out of fold where the ranker learned from the same rows.
    posterior : Posterior
        Of the same rows, from `unskew.posterior.fit_posterior`.
    level : float in (0, 1)
        Coverage of the intervals.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(500, random_state=0)
    >>> posterior = unskew.posterior.fit_posterior(data.X, data.labeled, data.confidence)
    >>> found = unskew.metrics.estimate_ranking(posterior.prob, posterior)
    >>> bool(found.low < unskew.metrics.auc(data.y, posterior.prob) < found.high)
    True
    """
    judge = _Judge(_checked_score(score, posterior, level), posterior, level)
    auc, low, high = judge.share(partial(_auc, judge.score))
    prior, lowest, highest = judge.prior
    label_freq = float("nan")
    if len(judge.prob) == len(posterior.prob):
        label_freq = min(1.0, posterior.n_labeled / (prior * len(judge.prob)))
    found = RankingEstimate(auc, low, high, prior, lowest, highest, label_freq, posterior.reliability, level, judge)
    for finding in findings_of(found, posterior):
        warn_of(finding)
    return found


@contextmanager
def findings_instead_of_warnings() -> Iterator[None]:
    """For callers that show `findings_of` what they estimate."""
    with warnings.catch_warnings():
        for kind in (LowReliabilityWarning, NoEstimateWarning):
            warnings.simplefilter("ignore", kind)
        yield


def findings_of(found: RankingEstimate, posterior: Posterior) -> list[Finding]:
    """What a user should know of an estimate: the same of which `estimate_ranking` warns in Python."""
    findings = [check_reliability(found.reliability, varies=posterior.confidence_varies)]
    if posterior.everything.all():
        findings.append(check_labeled_share(found.prior_high, posterior.n_labeled / len(posterior.prob)))
    return findings


def compare_rankings(score_a: Any, score_b: Any, posterior: Posterior, *, level: float = 0.95) -> PairedDifference:
    """Difference of the AUCs of two scores of the same rows: most of their errors are shared, and cancel.

    Warns where the reliability of the posterior is low.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(500, random_state=0)
    >>> posterior = unskew.posterior.fit_posterior(data.X, data.labeled, data.confidence)
    >>> found = unskew.metrics.compare_rankings(posterior.prob, data.X[:, 0], posterior)
    >>> found.low < found.difference < found.high
    True
    """
    warn_of(check_reliability(posterior.reliability, varies=posterior.confidence_varies))
    judge, other = (_Judge(_checked_score(score, posterior, level), posterior, level) for score in (score_a, score_b))

    def difference(prob: np.ndarray) -> _Value:
        first, second = _auc(judge.score, prob), _auc(other.score, prob)
        return _Value(first.value - second.value, first.slope - second.slope)

    found, error = judge.measure(difference)
    ends = np.clip([found - judge.quantile * error, found + judge.quantile * error], -1, 1)
    return PairedDifference(found, *ends.tolist())


def plug_in_auc(score: np.ndarray, prob: np.ndarray) -> float:
    """Eq. (P8) alone, without its interval: for rows that stand for all, in [0, 1]."""
    return _auc(score, prob).value


def auc_and_slope(score: np.ndarray, prob: np.ndarray) -> tuple[float, np.ndarray]:
    """Eq. (P8), and its derivative by the probability of each row."""
    found = _auc(score, prob)
    return found.value, found.slope


def _checked_score(score: Any, posterior: Posterior, level: float) -> np.ndarray:
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, but it is {level!r}.")
    checked = finite_scores(score)
    check_consistent_length(checked, posterior.prob)
    return checked


@dataclass(frozen=True)
class _Value:
    """A quantity at given probabilities, and its derivative by the probability of each row."""

    value: float
    slope: np.ndarray


def _auc(score: np.ndarray, prob: np.ndarray) -> _Value:
    """AUC with fractional classes, and its slopes, by one sort. Implements: Eq. (P8)."""
    _, place = np.unique(score, return_inverse=True)
    positive, negative = (np.bincount(place, each) for each in (prob, 1 - prob))
    # Own pairs, which are no pairs, would be ties.
    worse = (np.cumsum(negative) - negative / 2)[place] - (1 - prob) / 2
    better = (positive.sum() - np.cumsum(positive) + positive / 2)[place] - prob / 2
    pairs = prob.sum() * (1 - prob).sum() - np.sum(prob * (1 - prob))
    value = float(prob @ worse / pairs)
    slope = (worse - better - value * ((1 - prob).sum() - prob.sum() - (1 - 2 * prob))) / pairs
    return _Value(value, slope)


def _mean(prob: np.ndarray) -> _Value:
    """Share of positives. Implements: Eq. (P7)."""
    return _Value(float(prob.mean()), np.full(len(prob), 1 / len(prob)))


def _precision(flagged: np.ndarray, prob: np.ndarray) -> _Value:
    n = int(flagged.sum())
    return _Value(float(prob[flagged].mean()), flagged / n)


def _recall(flagged: np.ndarray, prob: np.ndarray) -> _Value:
    all_positives = float(prob.sum())
    recall = float(prob[flagged].sum()) / all_positives
    return _Value(recall, (flagged - recall) / all_positives)


def _log_lift(flagged: np.ndarray, prob: np.ndarray) -> _Value:
    """Logarithm of the precision over the share of positives."""
    found, all_positives = float(prob[flagged].sum()), float(prob.sum())
    return _Value(float(np.log(found / flagged.sum() / prob.mean())), flagged / found - 1 / all_positives)


Quantity = Callable[[np.ndarray], _Value]


@dataclass(frozen=True)
class _Judge:
    """Scores and probabilities of the rows that stand for all, and the errors of what is computed from them."""

    all_scores: np.ndarray
    posterior: Posterior
    level: float

    @cached_property
    def score(self) -> np.ndarray:
        return np.asarray(self.all_scores[self.posterior.everything])

    @cached_property
    def prob(self) -> np.ndarray:
        return np.asarray(self.posterior.prob[self.posterior.everything])

    @property
    def quantile(self) -> float:
        return float(student.ppf((1 + self.level) / 2, max(2, self.posterior.n_labeled - 1)))

    @cached_property
    def region(self) -> np.ndarray:
        """Part of the ranking that each row belongs to."""
        order = np.argsort(np.argsort(self.score, kind="stable"), kind="stable")
        return np.asarray(order * N_REGIONS // len(order))

    @cached_property
    def steps(self) -> Steps:
        return Steps.of(self.score, self.prob)

    @cached_property
    def prior(self) -> tuple[float, float, float]:
        """Share of positives, with its interval."""
        if self.posterior.known_prior is not None:
            return (self.posterior.prior,) * 3
        # Its truth is never at an end of the scale, so the logit's interval alone is right.
        return self.share(_mean, near_end=False)

    def measure(self, quantity: Quantity, pull: np.ndarray | None = None) -> tuple[float, float]:
        r"""A quantity, and its standard error.

        .. math:: V = V_{model} + V_{selection} + V_{classes} + V_{calibration} + V_{regions} + V_{views}

        Implements: Eq. (P9).
        """
        found = quantity(self.prob)
        parts = self.posterior.uncertainty(self._everywhere(found.slope), pull)
        steep = found.slope * self.prob * (1 - self.prob)
        regions = USUAL_LOCAL_ERROR**2 * np.sum(np.bincount(self.region, steep) ** 2)
        others = self.posterior.other_views[:, self.posterior.everything]
        # The others come in pairs of opposite answers to one question each, which is worth half their mean square.
        views = sum((quantity(each).value - found.value) ** 2 for each in others) / 4
        variance = parts.model + parts.selection + parts.classes + parts.calibration + regions + views
        return found.value, float(np.sqrt(variance))

    def _everywhere(self, values: np.ndarray) -> np.ndarray:
        """Values of the rows that stand for all, at their places among all rows; 0 elsewhere."""
        everywhere = np.zeros(len(self.posterior.prob))
        everywhere[self.posterior.everything] = values
        return everywhere

    def share(
        self, quantity: Quantity, *, near_end: bool = True, pull: np.ndarray | None = None
    ) -> tuple[float, float, float]:
        """A share, and its interval, symmetric on the scale of the logit.

        `near_end`: its truth may well be 0 or 1, which that interval never reaches, so that each end is the farther one
        of this and of an interval that is symmetric around the share (decision 5). Within two standard errors of an
        end the slope of the logit says nothing any more: it is then taken two errors away.
        """
        value, error = self.measure(quantity, pull)
        away = min(2 * error, 0.5) if near_end else 1e-6
        inside = float(np.clip(value, max(away, 1e-6), min(1 - away, 1 - 1e-6)))
        half_width = self.quantile * error / (inside * (1 - inside))
        low, high = float(expit(logit(inside) - half_width)), float(expit(logit(inside) + half_width))
        if near_end:
            low, high = min(low, value - self.quantile * error), max(high, value + self.quantile * error)
        return value, max(low, 0.0), min(high, 1.0)

    def top(self, share: float) -> TopRows:
        n = len(self.score)
        threshold = float(np.partition(self.score, n - max(1, round(share * n)))[n - max(1, round(share * n))])
        flagged = self.score >= threshold
        count = int(flagged.sum())
        precision = self.share(partial(_precision, flagged))
        recall = self.share(partial(_recall, flagged))
        log_lift, error = self.measure(partial(_log_lift, flagged))
        lift = np.exp(log_lift + self.quantile * error * np.array([0, -1, 1])).tolist()
        return TopRows(count, threshold, *precision, *recall, *lift, *(count * each for each in precision))

    def reviews(self, always: Iterable[int]) -> ReviewCurve:
        steps = self.steps.thin(always)
        n, total = int(steps.n[-1]), float(steps.positives[-1])
        low, high = (each * n for each in self.prior[1:])
        of_top = np.zeros_like(self._pull_of_all)
        last = np.inf
        ends = {"positives": [(0.0, 0.0)], "missed": [(low, high)], "recall": [(0.0, 0.0)]}
        for count, threshold in zip(steps.n[1:-1].tolist(), steps.threshold[1:-1].tolist(), strict=True):
            flagged = self.score >= threshold
            of_top = of_top + self.posterior.pull_of(self._everywhere(flagged & (self.score < last)))
            of_rest, last = self._pull_of_all - of_top, threshold
            found = float(self.prob[flagged].sum()) / total
            shares = {
                "positives": (partial(_precision, flagged), count, of_top / count),
                "missed": (partial(_precision, ~flagged), n - count, of_rest / (n - count)),
                "recall": (partial(_recall, flagged), 1, (of_top - found * self._pull_of_all) / total),
            }
            for name, (quantity, size, pull) in shares.items():
                _, least, most = self.share(quantity, pull=pull)
                ends[name].append((least * size, most * size))
        for name, of_all in {"positives": (low, high), "missed": (0.0, 0.0), "recall": (1.0, 1.0)}.items():
            ends[name].append(of_all)
        points = steps.n.tolist(), steps.thresholds, steps.positives.tolist()
        return ReviewCurve.of_ends(*points, ends, self.steps.largest_tie)

    @cached_property
    def _pull_of_all(self) -> np.ndarray:
        return self.posterior.pull_of(self._everywhere(np.ones(len(self.score))))

    def curves(self, prior: float, label_freq: float) -> SarCurves:
        scores, place = np.unique(-self.score, return_inverse=True)
        rows, positives, negatives = (
            np.concatenate([[0.0], np.cumsum(np.bincount(place, each))])
            for each in (np.ones(len(place)), self.prob, 1 - self.prob)
        )
        precision = np.concatenate([[1.0], positives[1:] / rows[1:]])
        shares = positives / positives[-1], negatives / negatives[-1], precision, rows / rows[-1]
        return SarCurves(np.concatenate([[np.inf], -scores]), *shares, prior, label_freq)
