"""Fits to rows that several workers hold together: what is different where nobody has all rows."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy.special import expit

from unskew.data.holdout import hold_out_shared
from unskew.data.records import PUData
from unskew.data.team import Share
from unskew.learning.networks import TREES
from unskew.learning.team import sample_of_all
from unskew.posterior import PosteriorModel, fit_rows, most_rows, rows_to_fit
from unskew.rankers._prior import cut_in, with_room_for_labeled
from unskew.rankers._probability import Probability, can_fit_probability, logits_of

if TYPE_CHECKING:
    from unskew.rankers._base import Ranker

MOST_HELD_OUT = 1 << 20
"""Unlabeled rows that are held out at most, of all workers: more do not choose an epoch better."""
DIGIT = 16
"""Bits of a score by which it is looked for at a time."""


def require_team(ranker: Ranker, joining: list[str]) -> None:
    """Refuse what cannot be learned by workers that hold the rows together, before any file is read."""
    wrong = {
        f"method {ranker.name}": not ranker.joins_team,
        "ensemble": ranker.ensemble > 1,
        "network='trees'": ranker.network == TREES,
        "labeling": ranker.labeling is not None,
        "crossfit": bool(ranker.crossfit),
        "device": ranker.device != "cpu",
    }
    if found := [name for name, is_wrong in wrong.items() if is_wrong]:
        raise ValueError(
            f"several workers train one network on the CPU, with its own labeling network, but {' and '.join(found)} "
            f"{'asks' if len(found) == 1 else 'ask'} for something else. Methods that they can train: "
            f"{', '.join(joining)}; leave ensemble, labeling, crossfit and device as they are."
        )


def fit_share(ranker: Ranker, data: PUData) -> Ranker:
    """Fit a ranker to a record of which this worker has a share; all workers get the same fitted ranker.

    The ranker knows its columns and classes, and its `random_state` is a number.
    """
    assert data.share is not None
    ranker.check_request(data.confidence)
    rng = np.random.RandomState(ranker.random_state)
    prior = _learn_probability(ranker, data) if ranker.probability and can_fit_probability(data) else None
    most = MOST_HELD_OUT // data.share.team.n_shards
    train, held_out = hold_out_shared(data, ranker.validation_fraction, int(rng.randint(2**31 - 1)), most)
    prior = ranker.learn_once(train, held_out, prior, rng)
    ranker.threshold_ = cut_in(_SharedScores(ranker, data), prior)
    return ranker


def _learn_probability(ranker: Ranker, data: PUData) -> float:
    """As `Ranker` does alone: share of positives by the posterior, or the known one, which the posterior keeps."""
    known = None if ranker.prior is None else with_room_for_labeled(float(ranker.prior), data, ranker.scenario)
    found = _fit_probability(data, ranker.scenario, known)
    ranker.posterior_, ranker.reliability_ = found.model, found.reliability
    return ranker.show_prior(found.prior, data.alpha)


def _fit_probability(data: PUData, scenario: str, prior: float | None) -> Probability:
    """Fit to some rows of all shards, by one worker for all, and average over all rows; see `fit_probability`."""
    share, two_sample = data.share, scenario == "two-sample"
    assert share is not None
    rng = np.random.RandomState(0)
    n_inputs = prod(data.X.shape)
    sample = sample_of_all(data, share, most_rows(n_inputs), 0)
    labeled = np.repeat([True, False], [data.n_labeled, len(sample)])
    rows, weight = rows_to_fit(labeled, n_inputs, rng)
    weight[~labeled[rows]] *= data.n_unlabeled / len(sample)

    def fit() -> Any:
        assert data.confidence is not None
        table = np.concatenate([data.X.take(data.labeled_rows), sample.numpy()]).reshape(len(labeled), -1)
        known = labeled[rows], data.confidence[rows[labeled[rows]]], weight
        return fit_rows(table[rows].astype(np.float64), *known, two_sample, rng, with_other_views=False)

    found = share.team.from_first(fit)
    mean = _MeanProbability(found.model, data, share, with_labeled=not two_sample)
    if prior is not None:
        offset = np.array([mean.offset_for(prior)])
        return Probability(replace(found.model, offset=offset), found.reliability, prior)
    return Probability(found.model, found.reliability, mean.at(0.0) if two_sample else max(mean.at(0.0), data.alpha))


class _MeanProbability:
    """Mean probability over the rows of all workers."""

    def __init__(self, model: PosteriorModel, data: PUData, share: Share, *, with_labeled: bool) -> None:
        self.share, self.n = share, data.n_unlabeled + with_labeled * data.n_labeled
        places = [data.unlabeled_rows[each] for each in share.slices()]
        self.logits = [logits_of(model, data.X, rows) for rows in places]  # by shards, for the same bits
        self.labeled = logits_of(model, data.X, data.labeled_rows[: data.n_labeled * with_labeled])

    def at(self, offset: float) -> float:
        """Mean where this is added to all logits."""
        sums = [torch.tensor([expit(each + offset).sum()]) for each in self.logits]
        return (float(self.share.team.total(sums)) + float(expit(self.labeled + offset).sum())) / self.n

    def offset_for(self, prior: float) -> float:
        """What has to be added so that the mean is the known prior."""
        low, high = -64.0, 64.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.at(middle) < prior else (low, middle)
        return (low + high) / 2


class _SharedScores:
    """Scores of all rows in ascending order, none of which leaves its worker: only counts are exchanged.

    A score at a place is found digit by digit, from counts of the next 16 bits among those that begin alike.
    """

    def __init__(self, ranker: Ranker, data: PUData) -> None:
        assert data.share is not None
        self.team = data.share.team
        own = [ranker.scores_at(data.X, data.unlabeled_rows)]
        if ranker.scenario != "two-sample" and self.team.rank == 0:  # all have the labeled rows
            own.append(ranker.scores_at(data.X, data.labeled_rows))
        score = np.sort(np.concatenate(own))
        # As whole numbers that have the order of the scores; -0 is 0.
        bits = (score + 0.0).view(np.int64)
        self.keys = np.where(bits < 0, ~bits, bits ^ np.int64(-(2**63))).view(np.uint64)
        self.n = self._sum(np.array([len(self.keys)]))[0]

    def __len__(self) -> int:
        return int(self.n)

    def at(self, place: int) -> float:
        """Score at a place, from 0 on."""
        begin, left = 0, place
        for shift in range(64 - DIGIT, -1, -DIGIT):
            edges = np.uint64(begin) + (np.arange(1, 1 << DIGIT, dtype=np.uint64) << np.uint64(shift))
            first = np.searchsorted(self.keys, np.uint64(begin))
            ends = np.append(np.searchsorted(self.keys, edges), self._end(begin, shift))
            counts = self._sum(np.diff(ends, prepend=first))
            digit = int(np.searchsorted(np.cumsum(counts), left, side="right"))
            left -= int(counts[:digit].sum())
            begin += digit << shift
        return _score_of(begin)

    def count_below(self, value: float) -> int:
        """Scores below a value."""
        return int(self._sum(np.array([np.searchsorted(self.keys, np.uint64(_key_of(value)))]))[0])

    def count_up_to(self, value: float) -> int:
        """Scores below a value or equal to it."""
        return int(self._sum(np.array([np.searchsorted(self.keys, np.uint64(_key_of(value)), side="right")]))[0])

    def _end(self, begin: int, shift: int) -> int:
        """Place behind the keys that begin with these digits."""
        end = begin + (1 << (shift + DIGIT))
        return len(self.keys) if end >> 64 else int(np.searchsorted(self.keys, np.uint64(end)))

    def _sum(self, counts: np.ndarray) -> np.ndarray:
        """Counts of all workers together; whole numbers have the same sum in any order."""
        mine = torch.from_numpy(counts.astype(np.int64))
        parts = [mine, *[torch.zeros_like(mine)] * (len(self.team.shards) - 1)]
        return np.asarray(self.team.total(parts).numpy())


def _key_of(value: float) -> int:
    bits = int(np.array([value + 0.0]).view(np.int64)[0])
    return (~bits if bits < 0 else bits ^ -(2**63)) % (1 << 64)


def _score_of(key: int) -> float:
    bits = key ^ (1 << 63) if key >> 63 else ~key % (1 << 64)
    return float(np.array([bits], dtype=np.uint64).view(np.float64)[0])
