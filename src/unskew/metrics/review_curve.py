"""How many positives are found by reviewing the rows with the highest scores, from none of the rows to all of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from unskew.metrics._display import reviews_html

Number = float | None
"""None where a number is unknown or infinite, which JSON cannot hold."""

N_POINTS = 40
"""Points on each of two grids: one that is dense at the top of the ranking, and an even one."""


USUAL_TIE = 10
"""Rows with equal scores that are no more than an accident; out of fold, rows of several folds share a score."""


@dataclass(frozen=True)
class ReviewCurve:
    """Positives by rows reviewed, one entry for each of some places to stop, from no row to all.

    Rows with equal scores are reviewed together or not at all. Ends of intervals are None where nothing is known of
    them.

    Attributes
    ----------
    n : tuple of int
        Rows reviewed: those with the highest scores.
    threshold : tuple of float or None
        Lowest score among them; None where no row is reviewed, or where the score is unknown.
    positives : tuple of float
        Positives among them.
    missed_low, missed_high : tuples of float or None
        Interval of the positives among all other rows.
    recall_low, recall_high : tuples of float or None
        Interval of the share of all positives that is among them.
    largest_tie : int
        Most rows with equal scores.
    """

    n: tuple[int, ...]
    threshold: tuple[Number, ...]
    positives: tuple[float, ...]
    positives_low: tuple[Number, ...]
    positives_high: tuple[Number, ...]
    missed_low: tuple[Number, ...]
    missed_high: tuple[Number, ...]
    recall_low: tuple[Number, ...]
    recall_high: tuple[Number, ...]
    largest_tie: int = 1

    def __post_init__(self) -> None:
        lengths = {len(each) for each in self._columns().values()}
        if len(lengths) > 1 or not self.n or list(self.n) != sorted(set(self.n)) or self.n[0] != 0:
            raise ValueError(
                "a curve of reviews must have one entry for each number of rows, which rises from 0, but it does not."
            )

    def __repr__(self) -> str:
        return f"<ReviewCurve of {self.n[-1]:,} rows with {len(self.n)} places to stop>"

    def _repr_html_(self) -> str:
        return reviews_html(self)

    @property
    def has_intervals(self) -> bool:
        """Whether the ends of the intervals are known."""
        return None not in self.positives_low

    def stopping_at(self, n: int) -> Self:
        """The same curve with one more place to stop, between two known ones, unless many scores are equal."""
        few = max(USUAL_TIE, n // 20)  # where at most so many scores are equal, a place is near any number of rows
        if n in self.n or not 0 < n < self.n[-1] or self.largest_tie > few:
            return self
        place = int(np.searchsorted(self.n, n))
        share = (n - self.n[place - 1]) / (self.n[place] - self.n[place - 1])

        def between(low: Number, high: Number) -> Number:
            return None if low is None or high is None else low + share * (high - low)

        columns = self._columns()
        middle = {name: between(values[place - 1], values[place]) for name, values in columns.items()} | {"n": n}
        if middle["threshold"] is None:  # above the first score there is none
            middle["threshold"] = self.threshold[place]
        added = {name: (*values[:place], middle[name], *values[place:]) for name, values in columns.items()}
        return replace(self, **added)  # type: ignore[arg-type]

    def _columns(self) -> dict[str, tuple[Number, ...]]:
        return {name: values for name, values in vars(self).items() if isinstance(values, tuple)}

    @classmethod
    def without_intervals(cls, n: Sequence[int], threshold: Sequence[Number], positives: Sequence[float]) -> Self:
        """Where nothing says how far the probabilities may be off."""
        none = [(None, None)] * len(n)
        return cls.of_ends(n, threshold, positives, {"positives": none, "missed": none, "recall": none})

    @classmethod
    def of_ends(
        cls,
        n: Sequence[int],
        threshold: Sequence[Number],
        positives: Sequence[float],
        ends: Mapping[str, Sequence[tuple[Number, Number]]],
        largest_tie: int = 1,
    ) -> Self:
        """With the two ends of the interval of each quantity at each place."""
        sides = {
            f"{name}_{side}": tuple(each[place] for each in pairs)
            for name, pairs in ends.items()
            for place, side in enumerate(("low", "high"))
        }
        return cls(tuple(n), tuple(threshold), tuple(positives), largest_tie=largest_tie, **sides)


@dataclass(frozen=True)
class Steps:
    """Places where reviewing may stop: after any row whose score is higher than that of the next one.

    Attributes
    ----------
    n : array of int
        Rows above each place; the first is 0, the last are all.
    threshold : array
        Lowest score above it; NaN for the first.
    positives : array
        Sum of the probabilities above it.
    spread : array
        Variance of the number of positives above it, around that sum.
    """

    n: np.ndarray
    threshold: np.ndarray
    positives: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, score: np.ndarray, prob: np.ndarray) -> Self:
        """Of rows in any order."""
        order = np.argsort(-score, kind="stable")
        none = cls.none()
        return none.joined(none.next(score[order], prob[order]))

    @classmethod
    def none(cls) -> Self:
        """The place before the first row."""
        return cls(np.zeros(1, dtype=np.int64), np.array([np.nan]), np.zeros(1), np.zeros(1))

    def next(self, score: np.ndarray, prob: np.ndarray) -> Self:
        """The places after the last of these, among more rows whose scores fall and are no higher."""
        ends = np.flatnonzero(np.append(score[1:] < score[:-1], True)[: len(score)])
        sums = ((each.cumsum()[ends]) for each in (prob, prob * (1 - prob)))
        positives, spread = (
            last + more for last, more in zip((self.positives[-1], self.spread[-1]), sums, strict=True)
        )
        return type(self)(self.n[-1] + ends + 1, score[ends], positives, spread)

    def joined(self, *others: Self) -> Self:
        """These places and those after them."""
        parts = [vars(each).values() for each in (self, *others)]
        return type(self)(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def at(self, places: Any) -> Self:
        """Some of the places."""
        return type(self)(self.n[places], self.threshold[places], self.positives[places], self.spread[places])

    def thin(self, always: Iterable[int] = (), n_rows: int | None = None) -> Self:
        """Few places that show the whole curve, and those after which `always` so many rows are reviewed.

        `n_rows` will be all rows, where these places are only the first.
        """
        wanted = rows_to_show(int(self.n[-1]) if n_rows is None else n_rows)
        nearest = np.minimum(np.searchsorted(self.n, wanted), len(self.n) - 1)
        return self.at(np.union1d(nearest, np.searchsorted(self.n, list(always))).astype(int))

    @property
    def largest_tie(self) -> int:
        """Most rows with equal scores."""
        return int(np.diff(self.n).max(initial=1))

    @property
    def thresholds(self) -> tuple[Number, ...]:
        """As a record keeps them."""
        return tuple(None if np.isnan(each) else float(each) for each in self.threshold)


def rows_to_show(n_rows: int) -> np.ndarray:
    """Numbers of rows at which a curve is drawn, dense at the top of the ranking."""
    dense = np.geomspace(1, max(n_rows, 1), N_POINTS)
    return np.unique(np.rint(np.concatenate([[0], dense, np.linspace(0, n_rows, N_POINTS)])).astype(np.int64))


def curve_of_list(steps: Steps, like: ReviewCurve | None = None, level: float = 0.95) -> ReviewCurve:
    r"""Positives in a list of other rows, from their probabilities alone.

    `like`, the curve of the rows that the probabilities were learned from, says how far these may be off: each share of
    the list has the interval that the same share of those rows has, on the scale of the logit. The list has other rows,
    whose classes are spread around their probabilities, too: both errors are combined as the sides of a right triangle.

    .. math:: low' = p' - \sqrt{(p' - \sigma(logit\,p' + logit\,low - logit\,p))^2 + z^2 \sum \eta (1 - \eta) / k^2}

    Implements: Eq. (C2), here for the precision.
    """
    n, positives = steps.n.tolist(), steps.positives.tolist()
    if like is None or not like.has_intervals:
        return ReviewCurve.without_intervals(n, steps.thresholds, positives)
    n_rows, total = float(steps.n[-1]), float(steps.positives[-1])
    at, quantile = steps.n / max(n_rows, 1), float(norm.ppf((1 + level) / 2))
    rest, rest_spread = total - steps.positives, steps.spread[-1] - steps.spread
    recall = _ratio(steps.positives, np.full_like(at, total))
    of_recall = (1 - recall) ** 2 * steps.spread + recall**2 * rest_spread
    shares = {
        "positives": (_ratio(steps.positives, steps.n), _ratio(np.sqrt(steps.spread), steps.n), steps.n),
        "missed": (_ratio(rest, n_rows - steps.n), _ratio(np.sqrt(rest_spread), n_rows - steps.n), n_rows - steps.n),
        "recall": (recall, _ratio(np.sqrt(of_recall), np.full_like(at, total)), 1.0),
    }
    ends = {}
    for name, (share, spread, size) in shares.items():
        sides = []
        for side in ("low", "high"):
            moved = expit(_logit(share) + np.interp(at, *_shift_of(like, name, side)))
            width = np.hypot(moved - share, quantile * spread)
            end = np.clip(share - width if side == "low" else share + width, 0, 1) * size
            sides.append(_exact_at_ends(end, name, steps.n).tolist())
        ends[name] = list(zip(*sides, strict=True))
    return ReviewCurve.of_ends(n, steps.thresholds, positives, ends)


def _exact_at_ends(values: np.ndarray, name: str, n: np.ndarray) -> np.ndarray:
    """What is known where no row is reviewed, or every row."""
    if name != "missed":
        values = np.where(n == 0, 0.0, values)
    return np.where(n == n[-1], 1.0, values) if name == "recall" and n[-1] else values


def _shift_of(curve: ReviewCurve, name: str, side: str) -> tuple[np.ndarray, np.ndarray]:
    """How far the end of an interval is from its share, on the scale of the logit, by the share of rows reviewed."""
    n, positives = np.array(curve.n, dtype=float), np.array(curve.positives)
    total, n_rows = positives[-1], n[-1]
    sizes = {"positives": n, "missed": n_rows - n, "recall": np.ones_like(n)}[name]
    share = _ratio({"positives": positives, "missed": total - positives, "recall": positives / total}[name], sizes)
    end = _ratio(np.array(getattr(curve, f"{name}_{side}"), dtype=float), sizes)
    inside = {"positives": n > 0, "missed": n < n_rows, "recall": (n > 0) & (n < n_rows)}[name]
    return n[inside] / n_rows, (_logit(end) - _logit(share))[inside]


def _ratio(above: Any, below: Any) -> np.ndarray:
    """Quotient, 0 where there is nothing to divide by."""
    above, below = np.broadcast_arrays(np.asarray(above, dtype=float), np.asarray(below, dtype=float))
    return np.asarray(np.divide(above, below, out=np.zeros(above.shape), where=below > 0))


def _logit(share: np.ndarray) -> np.ndarray:
    return np.asarray(logit(np.clip(share, 1e-6, 1 - 1e-6)))
