"""Setting instances aside, so that the epoch is not chosen on the data that trained it."""

import warnings
from dataclasses import replace

import numpy as np

from unskew.data.records import PUData
from unskew.data.rows import joined
from unskew.errors import NoHoldOutWarning, TooFewLabeled

LEAST_LABELED = 2
"""Labeled instances wanted on either side: one pair of labeled ones exists from two on."""


def hold_out(data: PUData, fraction: float, rng: np.random.RandomState) -> tuple[PUData, PUData]:
    """Split off the same share of the labeled and of the unlabeled instances.

    Both sides keep at least two labeled ones when there are four or more, for which the share may have to be larger
    than `fraction`. With fewer (or with a single unlabeled one) nothing is held out: both records are the whole
    data, the epoch is then chosen by the training risk, and a warning says so.

    Rows that are not all in memory limit how many unlabeled ones are held out. The labeled, of which there are few, are
    then held out all the same: both records say what share of the whole is labeled, and every risk goes by that. The
    training data come first.
    """
    counts = counting(data)
    if data.n_labeled < 2 * LEAST_LABELED or data.n_unlabeled < 2 or counts.sum() < 2:
        in_words = "" if counts.all() else f" ({counts.sum()} with a confidence above 0, where 2 are needed)"
        warnings.warn(
            f"a hold-out needs at least {2 * LEAST_LABELED} labeled and 2 unlabeled instances, but there are "
            f"{data.n_labeled}{in_words} and {data.n_unlabeled}: nothing is held out, and the epoch is chosen by the "
            "risk on the training data. Pass validation=, or label more instances.",
            NoHoldOutWarning,
            stacklevel=5,  # hold_out, learn_together, _fit, fit: the line that called fit
        )
        return data, data
    labeled_out = _choose_held_out(data.n_labeled, fraction, LEAST_LABELED, rng)
    _let_both_sides_count(labeled_out, counts)
    unlabeled_out = _choose_held_out(data.n_unlabeled, float(labeled_out.mean()), 1, rng, data.X.hold_out_limit)
    return _select_rows(data, ~labeled_out, ~unlabeled_out), _select_rows(data, labeled_out, unlabeled_out)


def hold_out_shared(data: PUData, fraction: float, seed: int, most: int) -> tuple[PUData, PUData]:
    """The same for data that a team holds: every worker chooses the same labeled rows, and others in its shards.

    At most `most` unlabeled rows of each shard are held out.
    """
    assert data.share is not None
    if data.n_labeled < 2 * LEAST_LABELED or min(data.share.sizes) < 2 or counting(data).sum() < 2:
        raise TooFewLabeled(
            f"training by several workers needs at least {2 * LEAST_LABELED} labeled rows, two of them with a "
            f"confidence above 0, and 2 unlabeled rows in each of {len(data.share.sizes)} shards, but there are "
            f"{data.n_labeled} and {data.n_unlabeled}. Fit without workers: so few rows need none."
        )
    labeled_out = _choose_held_out(data.n_labeled, fraction, LEAST_LABELED, np.random.RandomState(seed))
    _let_both_sides_count(labeled_out, counting(data))
    share = float(labeled_out.mean())
    sizes = tuple(min(max(round(share * n), 1), n - 1, most) for n in data.share.sizes)
    chosen = [
        _choose_held_out(data.share.sizes[shard], share, 1, np.random.RandomState([seed, shard]), most)
        for shard in data.share.team.shards
    ]
    unlabeled_out = np.concatenate(chosen)
    left = tuple(n - out for n, out in zip(data.share.sizes, sizes, strict=True))
    train, held_out = _select_rows(data, ~labeled_out, ~unlabeled_out), _select_rows(data, labeled_out, unlabeled_out)
    return (
        replace(train, share=replace(data.share, sizes=left)),
        replace(held_out, share=replace(data.share, sizes=sizes)),
    )


def counting(data: PUData) -> np.ndarray:
    """Labeled instances that are not surely negative by their confidence."""
    return np.ones(data.n_labeled, dtype=bool) if data.confidence is None else np.asarray(data.confidence > 0)


def rotating_hold_outs(data: PUData, n: int, rng: np.random.RandomState) -> list[tuple[PUData, PUData]]:
    """Training and held-out part, n times: each instance is held out once, and teaches all other times.

    Of rows that are not all in memory only as many unlabeled ones are held out as fit; the others teach every time.
    """
    order = rng.permutation(data.n_labeled)
    # Those that count are dealt out first: a part without any would have no risk to judge by.
    order = order[np.argsort(~counting(data)[order], kind="stable")]
    labeled_turn = np.empty(data.n_labeled, dtype=int)
    labeled_turn[order] = np.arange(data.n_labeled) % n
    unlabeled_turn = rng.permutation(np.arange(data.n_unlabeled) % n)
    splits = []
    for turn in range(n):
        labeled_out, unlabeled_out = labeled_turn == turn, unlabeled_turn == turn
        if data.X.hold_out_limit is not None:
            too_many = rng.permutation(np.flatnonzero(unlabeled_out))[data.X.hold_out_limit :]
            unlabeled_out[too_many] = False
        out = _select_rows(data, labeled_out, unlabeled_out)
        splits.append((_select_rows(data, ~labeled_out, ~unlabeled_out), out))
    return splits


def pooled(data: PUData, more: PUData) -> PUData:
    """Both records as one, whose share of labeled instances is that of all."""
    both = data.confidence is not None and more.confidence is not None
    if not both and (data.confidence is not None or more.confidence is not None):
        raise ValueError(
            "validation must have confidence too, because its rows are used for training here, but it is (X, y). Pass "
            "(X, y, confidence)."
        )
    return PUData(
        X=joined(data.X, more.X),
        labeled_rows=np.concatenate([data.labeled_rows, len(data.X) + more.labeled_rows]),
        unlabeled_rows=np.concatenate([data.unlabeled_rows, len(data.X) + more.unlabeled_rows]),
        confidence=np.concatenate([data.confidence, more.confidence]) if both else None,
    )


def _choose_held_out(
    count: int, fraction: float, least: int, rng: np.random.RandomState, most: int | None = None
) -> np.ndarray:
    wanted = min(max(round(fraction * count), least), count - least)
    chosen = np.zeros(count, dtype=bool)
    chosen[rng.permutation(count)[: wanted if most is None else min(wanted, most)]] = True
    return chosen


def _let_both_sides_count(chosen: np.ndarray, counts: np.ndarray) -> None:
    """Exchange one instance where all that count are on one side: the risk of the other would be zero at any score."""
    for side in (chosen, ~chosen):
        if not (side & counts).any():
            exchanged = [np.flatnonzero(side)[0], np.flatnonzero(~side & counts)[0]]
            chosen[exchanged] = ~chosen[exchanged]
            return


def _select_rows(data: PUData, labeled: np.ndarray, unlabeled: np.ndarray) -> PUData:
    return replace(
        data,
        labeled_rows=data.labeled_rows[labeled],
        unlabeled_rows=data.unlabeled_rows[unlabeled],
        confidence=None if data.confidence is None else data.confidence[labeled],
        sample_alpha=data.alpha,
    )
