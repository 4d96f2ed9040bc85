"""How far down a ranking to go: the number of rows whose review earns most."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from unskew.metrics._display import cut_html
from unskew.metrics._tables import finite_scores, probabilities_of_rows
from unskew.metrics.estimates import RankingEstimate
from unskew.metrics.evidence import Evidence, review_curve_of
from unskew.metrics.review_curve import Number, ReviewCurve, Steps, curve_of_list


@dataclass(frozen=True)
class Costs:
    r"""What reviewing costs and what it is worth, in any unit of money.

    .. math:: \text{profit}(k) = g P_k - c k \quad\text{or}\quad -m (P_n - P_k) - c k

    with P_k positives among the k rows that are reviewed.

    Attributes
    ----------
    cost_review : float
        Of one row, c.
    gain_positive, cost_miss : float or None
        What a positive that is found is worth, g, or what one that is not found costs, m: one of them.
    capacity : int or None
        Most rows that can be reviewed.

    Examples
    --------
    >>> from unskew.metrics import Costs
    >>> Costs(cost_review=20, gain_positive=100).capacity is None
    True
    """

    cost_review: float
    gain_positive: float | None = None
    cost_miss: float | None = None
    capacity: int | None = None

    def check(self, word: Callable[[str], str] = str) -> None:
        """Refuse what nobody can mean; `word` gives the name of an argument to whoever typed it."""
        name = word("cost_review")
        if not _is_number(self.cost_review) or self.cost_review < 0:
            raise ValueError(
                f"{name} must be a number of 0 or more, in any unit of money, but it is {self.cost_review!r}. Give "
                "what it costs to review one row."
            )
        given = {key: getattr(self, key) for key in ("gain_positive", "cost_miss") if getattr(self, key) is not None}
        both = f"{word('gain_positive')}, what a positive that is found is worth, or {word('cost_miss')}, what one that"
        if len(given) != 1:
            found = "both were given" if given else "neither was given"
            raise ValueError(f"one number must say why to review at all, but {found}. Give {both} is missed costs.")
        ((key, value),) = given.items()
        if not _is_number(value) or value <= 0:
            raise ValueError(
                f"{word(key)} must be a number above 0, in the unit of {name}, but it is {value!r}. With nothing to "
                "gain, no row is worth reviewing."
            )
        if self.capacity is not None and (
            isinstance(self.capacity, bool) or not isinstance(self.capacity, Integral) or self.capacity < 1
        ):
            raise ValueError(
                f"{word('capacity')} must be a whole number of 1 or more, the most rows that can be reviewed, but it "
                f"is {self.capacity!r}. Leave it out if there is no limit."
            )

    @property
    def worth(self) -> float:
        """Of one more positive that is found."""
        worth = self.cost_miss if self.gain_positive is None else self.gain_positive
        assert worth is not None
        return worth

    def best(self, n: np.ndarray, positives: np.ndarray, *, limited: bool = True) -> int:
        """Place at which most is earned, of several the first."""
        earned = self.worth * positives - self.cost_review * n
        return int(np.argmax(np.where(n <= self.most(n) if limited else True, earned, -np.inf)))

    def last(self, n: np.ndarray) -> int:
        """Place of the most rows that can be reviewed."""
        return int(np.searchsorted(n, self.most(n), side="right")) - 1

    def most(self, n: np.ndarray) -> int:
        """Rows that can be reviewed."""
        return int(n[-1]) if self.capacity is None else min(self.capacity, int(n[-1]))


@dataclass(frozen=True)
class Earned:
    """What reviewing so many rows earns, with the ends of the interval; these are None where they are unknown.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(500, random_state=0)
    >>> posterior = unskew.posterior.fit_posterior(data.X, data.labeled, data.confidence)
    >>> found = unskew.metrics.estimate_ranking(posterior.prob, posterior)
    >>> cut = unskew.metrics.best_cut(found, cost_review=20, gain_positive=100)
    >>> len(cut.curve.n) == len(cut.curve.profit), cut.profit >= cut.everything.profit
    (True, True)
    """

    n: int
    profit: float
    profit_low: Number
    profit_high: Number


@dataclass(frozen=True)
class ProfitCurve:
    """What reviewing the rows with the highest scores earns, one entry for each of some numbers of rows, from 0 on.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(500, random_state=0)
    >>> posterior = unskew.posterior.fit_posterior(data.X, data.labeled, data.confidence)
    >>> found = unskew.metrics.estimate_ranking(posterior.prob, posterior)
    >>> cut = unskew.metrics.best_cut(found, cost_review=20, gain_positive=100)
    >>> len(cut.curve.n) == len(cut.curve.profit), cut.profit >= cut.everything.profit
    (True, True)
    """

    n: tuple[int, ...]
    profit: tuple[float, ...]
    profit_low: tuple[Number, ...]
    profit_high: tuple[Number, ...]


@dataclass(frozen=True)
class BestCut:
    """How many rows to review, and what is in them; ends of intervals are None where they are unknown.

    Attributes
    ----------
    n, share : int, float
        Rows to review, those with the highest scores, and their share of all rows.
    threshold : float or None
        Lowest score among them; None where no row is to be reviewed, or where the scores are unknown.
    expected_positives : float
        Positives among them.
    precision : float or None
        Share of positives among them; None where no row is to be reviewed.
    recall : float
        Share of all positives that is among them.
    profit : float
        What their review earns: with `gain_positive` more than reviewing nothing, with `cost_miss` in all, so that it
        is below 0.
    nothing, everything, at_capacity, unlimited : Earned
        Reviewing no row, all rows, as many as there is capacity for, and as many as would be best without that limit;
        the last two are None without a capacity.
    curve : ProfitCurve
        What reviewing any number of rows earns.
    first_tie : int
        Rows that have the highest score, which are reviewed together or not at all.
    level : float
        Nominal coverage of all intervals.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(500, random_state=0)
    >>> posterior = unskew.posterior.fit_posterior(data.X, data.labeled, data.confidence)
    >>> found = unskew.metrics.estimate_ranking(posterior.prob, posterior)
    >>> cut = unskew.metrics.best_cut(found, cost_review=20, gain_positive=100)
    >>> len(cut.curve.n) == len(cut.curve.profit), cut.profit >= cut.everything.profit
    (True, True)
    """

    costs: Costs
    n: int
    share: float
    threshold: Number
    expected_positives: float
    expected_positives_low: Number
    expected_positives_high: Number
    precision: Number
    precision_low: Number
    precision_high: Number
    recall: float
    recall_low: Number
    recall_high: Number
    profit: float
    profit_low: Number
    profit_high: Number
    nothing: Earned
    everything: Earned
    at_capacity: Earned | None
    unlimited: Earned | None
    curve: ProfitCurve = field(repr=False)
    first_tie: int
    level: float

    def _repr_html_(self) -> str:
        return cut_html(self)


def best_cut(
    estimate: RankingEstimate | Evidence,
    *,
    cost_review: float,
    gain_positive: float | None = None,
    cost_miss: float | None = None,
    capacity: int | None = None,
) -> BestCut:
    """How many of the rows with the highest scores to review, so that it earns most.

    Rows with equal scores are reviewed together or not at all.

    Parameters
    ----------
    estimate : RankingEstimate or Evidence
        From `cross_val_sar_auc` or `estimate_ranking`, or what a model file keeps of one: its curve has some places to
        stop, one every 2.5 % of the rows or closer.
    cost_review : float
        What it costs to review one row, in any unit of money.
    gain_positive : float, optional
        What a positive that is found is worth.
    cost_miss : float, optional
        Instead of that, what a positive that is not found costs. The best cut is the same; the profit counts from
        finding everything for free instead of from doing nothing.
    capacity : int, optional
        Most rows that can be reviewed.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(1000, random_state=0)
    >>> posterior = unskew.posterior.fit_posterior(data.X, data.labeled, data.confidence)
    >>> cut = best_cut(unskew.metrics.estimate_ranking(data.X[:, 0], posterior), cost_review=20, gain_positive=100)
    >>> cut.profit > max(cut.nothing.profit, cut.everything.profit)
    True
    """
    costs = _checked(cost_review, gain_positive, cost_miss, capacity)
    if isinstance(estimate, RankingEstimate):
        return cut_on_estimate(estimate, costs)
    if isinstance(estimate, Evidence):
        return cut_on_evidence(estimate, costs)
    raise TypeError(
        "estimate must come from cross_val_sar_auc or estimate_ranking, or be the evidence of a model file, but it is "
        f"of type {type(estimate).__name__}. For scores and probabilities of a list there is best_cut_of_list."
    )


def best_cut_of_list(
    score: Any,
    probability: Any,
    *,
    cost_review: float,
    gain_positive: float | None = None,
    cost_miss: float | None = None,
    capacity: int | None = None,
    like: RankingEstimate | Evidence | None = None,
) -> BestCut:
    """How many rows of a list to review, by their scores and their probabilities of being positive.

    Parameters
    ----------
    score, probability : arrays of shape (n,)
        Such as `decision_function(X)` and `predict_proba(X)[:, 1]` of rows that nobody has labeled.
    cost_review, gain_positive, cost_miss, capacity
        As in `best_cut`.
    like : RankingEstimate or Evidence, optional
        Of the rows that the probabilities were learned from: says how far they may be off. Without it there are no
        intervals.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(500, random_state=0)
    >>> posterior = unskew.posterior.fit_posterior(data.X, data.labeled, data.confidence)
    >>> cut = unskew.metrics.best_cut_of_list(posterior.prob, posterior.prob, cost_review=20, gain_positive=100)
    >>> 0 < cut.n < 500
    True
    """
    costs = _checked(cost_review, gain_positive, cost_miss, capacity)
    scores = finite_scores(score)
    steps = Steps.of(scores, probabilities_of_rows(probability, scores))
    curve, level = curve_to_carry(like)
    thin = steps.thin(places_to_stop(steps, costs))
    return cut_on(curve_of_list(thin, curve, level), costs, level)


def curve_to_carry(like: RankingEstimate | Evidence | None) -> tuple[ReviewCurve | None, float]:
    """What an estimate of other rows says of how far probabilities are off, and its level."""
    if isinstance(like, RankingEstimate):
        return like.reviews(), like.level
    return (None, 0.95) if like is None else (like.reviews, like.estimate.level)


def cut_on_estimate(found: RankingEstimate, costs: Costs) -> BestCut:
    """The best of all cuts."""
    return cut_on(found.reviews(places_to_stop(found.steps, costs)), costs, found.level)


def cut_on_evidence(evidence: Evidence, costs: Costs) -> BestCut:
    """The best of the cuts that a model file keeps."""
    curve = review_curve_of(evidence)
    curve = curve if costs.capacity is None else curve.stopping_at(costs.most(np.array(curve.n)))
    return cut_on(curve, costs, evidence.estimate.level)


def places_to_stop(steps: Steps, costs: Costs) -> list[int]:
    """Numbers of rows that a curve must have for the best cut to be exact."""
    places = {costs.best(steps.n, steps.positives), costs.best(steps.n, steps.positives, limited=False)}
    return [int(steps.n[place]) for place in {*places, costs.last(steps.n), min(1, len(steps.n) - 1)}]


def cut_on(curve: ReviewCurve, costs: Costs, level: float) -> BestCut:
    """The best of the places of a curve."""
    n, positives = np.array(curve.n), np.array(curve.positives)
    earned = [_earned(curve, costs, each) for each in range(len(n))]
    place = costs.best(n, positives)
    count, total, best, limited = int(n[place]), float(positives[-1]), earned[place], costs.capacity is not None
    found = curve.positives[place], curve.positives_low[place], curve.positives_high[place]
    precision, *of_precision = (None if each is None or count == 0 else each / count for each in found)
    profit, profit_low, profit_high = (
        tuple(getattr(each, name) for each in earned) for name in ("profit", "profit_low", "profit_high")
    )
    return BestCut(
        costs=costs,
        n=count,
        share=count / max(1, int(n[-1])),
        threshold=curve.threshold[place],
        expected_positives=found[0],
        expected_positives_low=found[1],
        expected_positives_high=found[2],
        precision=precision,
        precision_low=of_precision[0],
        precision_high=of_precision[1],
        recall=found[0] / total if total else 0.0,
        recall_low=curve.recall_low[place],
        recall_high=curve.recall_high[place],
        profit=best.profit,
        profit_low=best.profit_low,
        profit_high=best.profit_high,
        nothing=earned[0],
        everything=earned[-1],
        at_capacity=earned[costs.last(n)] if limited else None,
        unlimited=earned[costs.best(n, positives, limited=False)] if limited else None,
        curve=ProfitCurve(curve.n, profit, profit_low, profit_high),
        first_tie=int(n[min(1, len(n) - 1)]),
        level=level,
    )


def _earned(curve: ReviewCurve, costs: Costs, place: int) -> Earned:
    """Profit and its interval after so many rows. Implements: Eq. (C1)."""
    spent = costs.cost_review * curve.n[place]
    if costs.gain_positive is not None:
        gain = costs.gain_positive
        low, high = curve.positives_low[place], curve.positives_high[place]
        ends = (None if each is None else gain * each - spent for each in (low, high))
        return Earned(curve.n[place], gain * curve.positives[place] - spent, *ends)
    low, high = curve.missed_low[place], curve.missed_high[place]
    ends = (None if each is None else -costs.worth * each - spent for each in (high, low))
    return Earned(curve.n[place], -costs.worth * (curve.positives[-1] - curve.positives[place]) - spent, *ends)


def _checked(*given: Any) -> Costs:
    costs = Costs(*given)
    costs.check()
    return replace(costs, capacity=None if costs.capacity is None else int(costs.capacity))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(float(value)))
