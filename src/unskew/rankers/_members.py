"""Rankers that score together: networks of one method on rotating hold-outs, or methods that are combined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from unskew._support.progress import progress_bar
from unskew.data.holdout import counting, rotating_hold_outs
from unskew.data.records import Epoch, PUData
from unskew.data.rows import Rows
from unskew.learning.threads import one_thread

if TYPE_CHECKING:
    from unskew.rankers._base import Ranker

LEAST_IN_FOLD = 2
"""Labeled rows, and others, that each member must be judged by."""
MOST_MEASURED = 50_000
"""Rows by which the scores of members are measured, at most."""


@dataclass(frozen=True)
class Member:
    """A fitted ranker that scores together with others: its score is standardized and counts by its weight.

    Attributes
    ----------
    ranker : Ranker
    center, spread : float
        Mean and standard deviation of its score over the rows that stand for all.
    weight : float
        The weights of all members sum to 1.
    agreement : float or None
        How well its scores of rows that it did not learn from agree with the confidence of labels, in [-1, 1]; None
        where that does not decide its weight.
    separation : float or None
        AUC of labeled against unlabeled rows by such scores, likewise.
    """

    ranker: Ranker
    center: float
    spread: float
    weight: float
    agreement: float | None = None
    separation: float | None = None

    def standardized(self, X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
        """Its score of these rows, or of all, in standard deviations."""
        return np.asarray((self.ranker.scores_at(X, rows) - self.center) / self.spread)


class Together(NamedTuple):
    """Members, and what they found out together.

    Attributes
    ----------
    out_of_fold : array of shape (n,)
        For each row of the data the standardized score by the member that did not learn from it.
    prior : float
        Share of positives.
    """

    members: tuple[Member, ...]
    out_of_fold: np.ndarray
    prior: float


def combined_score(members: tuple[Member, ...], X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
    """Weighted mean of the members' standardized scores."""
    return np.asarray(sum(each.weight * each.standardized(X, rows) for each in members))


def mean_of(members: tuple[Member, ...], estimate: Callable[[Ranker], np.ndarray]) -> np.ndarray:
    """Weighted mean of what the members estimate."""
    return np.asarray(sum(each.weight * estimate(each.ranker) for each in members))


def count_members(wanted: int, data: PUData) -> int:
    """Members that the data allow: each is judged by two labeled rows, of which one counts, and two others."""
    most = data.n_labeled // LEAST_IN_FOLD, data.n_unlabeled // LEAST_IN_FOLD, int(counting(data).sum())
    return max(1, min(wanted, *most))


def fit_members(ranker: Ranker, data: PUData, prior: float | None, rng: np.random.RandomState, n: int) -> Together:
    """Fit n copies of a ranker, each to all rows but one part in n, which chooses its epoch and judges it.

    Each gets a seed of its own and one thread, so that the result depends neither on how many processes share the work
    nor on the machine's number of cores.
    """
    splits = rotating_hold_outs(data, n, rng)
    blanks = [ranker.blank_member(int(seed)) for seed in rng.randint(2**31 - 1, size=n)]
    pool = Parallel(n_jobs=ranker.n_jobs, return_as="generator")
    tasks = (delayed(_fit_one)(blank, *split, prior) for blank, split in zip(blanks, splits, strict=True))
    fitted, priors = [], []
    with progress_bar(f"{ranker.name}: {n} times", n, shown=ranker.verbose) as step:
        for each, share in pool(tasks):
            fitted.append(each)
            priors.append(share)
            step()
    members = tuple(standardized_member(each, data, 1 / n) for each in fitted)
    out_of_fold = np.full(len(data.X), np.nan)
    for member, (_, held_out) in zip(members, splits, strict=True):
        rows = np.concatenate([held_out.labeled_rows, held_out.unlabeled_rows])
        out_of_fold[rows] = member.standardized(data.X, rows)
    return Together(members, out_of_fold, float(np.mean(priors)))


def _fit_one(ranker: Ranker, train: PUData, held_out: PUData, prior: float | None) -> tuple[Ranker, float]:
    with one_thread():
        return ranker.fit_member(train, held_out, prior)


def standardized_member(ranker: Ranker, data: PUData, weight: float) -> Member:
    """A fitted ranker with the mean and the spread of its score over the rows that stand for all."""
    score = ranker.scores_at(data.X, enough_of(ranker.rows_for_all(data)))
    spread = float(score.std())
    return Member(ranker, float(score.mean()), spread if spread > 0 else 1.0, weight)


def enough_of(rows: np.ndarray) -> np.ndarray:
    """These rows, or of very many enough for a mean, a spread and a quantile: scoring is most of a large fit."""
    if len(rows) <= MOST_MEASURED:
        return rows
    chosen = np.random.default_rng(0).choice(len(rows), MOST_MEASURED, replace=False, shuffle=False)
    return np.asarray(rows[np.sort(chosen)])


def mean_history(members: tuple[Member, ...]) -> tuple[list[Epoch], int]:
    """Mean risks of each epoch that all members reached, and the epoch whose mean validation risk is the lowest."""
    histories = [each.ranker.history_ for each in members]
    shortest = min(len(each) for each in histories)
    if not shortest:
        return [], 0
    risks = np.array([[row[1:] for row in each[:shortest]] for each in histories], dtype=float).mean(axis=0)
    rows = [Epoch(number, *pair) for number, pair in enumerate(risks.tolist())]
    return rows, int(np.argmin(risks[:, 1]))
