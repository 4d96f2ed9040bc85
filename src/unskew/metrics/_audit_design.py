"""Which rows to check by hand: strata by score, with more rows where they decide."""

from dataclasses import dataclass

import numpy as np

ROWS_PER_STRATUM = 7
MOST_STRATA = 40
LEAST_PER_STRATUM = 3
EVEN_SHARE = 0.3
"""Part of the rows that is spread evenly, so that no part of the table depends on a guess about it."""
RARE = 0.04
"""Least guess of how likely a row is positive: positives far down the list are rare, and decide the AUC."""
WEIGHTS = {"prior": 0.3, "auc": 6.0, "precision": 0.3, "recall": 1.0}
"""How much each quantity counts when rows are placed; the AUC gains least from strata, and needs the most rows."""


@dataclass(frozen=True)
class AuditSample:
    """Rows to check by hand, and how likely each was to be drawn.

    Attributes
    ----------
    rows : int array of shape (n,)
        Row numbers, from 0, in random order.
    inclusion : array of shape (n,)
        Probability with which each of them was drawn.
    stratum : int array of shape (n,)
        Stratum of each of them; 0 holds the highest scores.
    edges : array of shape (n_strata - 1,)
        Lowest score of each stratum but the last.
    n_rows : int
        Rows of the table.
    threshold : float or None
        Score at the cut for which the rows were placed; None if there was no cut to place them for.

    Examples
    --------
    >>> import numpy as np
    >>> import unskew
    >>> rng = np.random.default_rng(0)
    >>> probability = rng.beta(1, 4, 1000)
    >>> truth = (rng.uniform(size=1000) < probability).astype(int)
    >>> rows = unskew.metrics.audit_sample(probability, 100, random_state=0)
    >>> len(rows.rows), bool((rows.inclusion > 0).all())
    (100, True)
    """

    rows: np.ndarray
    inclusion: np.ndarray
    stratum: np.ndarray
    edges: np.ndarray
    n_rows: int
    threshold: float | None

    def stratum_of(self, score: np.ndarray) -> np.ndarray:
        """Stratum of every row, by its score."""
        # Edges fall, and a row with the score of an edge is above it.
        return np.asarray(len(self.edges) - np.searchsorted(self.edges[::-1], score, side="right"))


def draw_sample(
    score: np.ndarray, n: int, share: float, threshold: float | None, rng: np.random.RandomState
) -> AuditSample:
    r"""Draw a simple random sample without replacement from each stratum.

    .. math:: \pi_i = n_h / N_h \quad\text{for each row } i \text{ of stratum } h

    Implements: Eq. (A1).
    """
    edges = _edges(score, n, share, threshold)
    empty = np.empty(0, dtype=np.int64)
    placed = AuditSample(empty, np.empty(0), empty, edges, len(score), threshold)
    stratum = placed.stratum_of(score)
    sizes = np.bincount(stratum, minlength=len(edges) + 1)
    rate = np.empty(len(score))
    rate[np.argsort(-score, kind="stable")] = sampling_rate(len(score), share)
    counts = _allocate(np.bincount(stratum, rate), sizes, n)
    drawn = [rng.choice(np.flatnonzero(stratum == each), count, replace=False) for each, count in enumerate(counts)]
    rows = rng.permutation(np.concatenate(drawn))
    return AuditSample(rows, (counts / sizes)[stratum[rows]], stratum[rows], edges, len(score), threshold)


def sampling_rate(n_rows: int, share: float) -> np.ndarray:
    r"""How many rows to check at each place of the list, from the highest score down, relative to the mean.

    .. math:: q(v) \propto \varepsilon + (1 - \varepsilon) \Bigl\{\sum_k w_k\, p(v)(1 - p(v))\, g_k(v)^2\Bigr\}^{1/2},
        \qquad p(v) = \frac{1}{1 + (v / v_0)^2}

    with the place v in (0, 1), the share :math:`v_0` above the cut and the slope :math:`g_k` of each quantity: the rate
    that makes the sum of the variances least if a share p(v) of the rows at v is positive. Only the order of the rows
    and the share at the cut enter, so that wrong probabilities cannot misplace rows.

    Implements: Eq. (A2).
    """
    place = (np.arange(n_rows) + 0.5) / n_rows
    guess = np.clip(1 / (1 + (place / share) ** 2), RARE, 1 - RARE)
    positives, rank, top = guess.sum(), n_rows * (1 - place), place <= share
    recall = guess[top].sum() / positives
    auc = (rank @ guess - positives**2 / 2) / (positives * (n_rows - positives))
    slopes = {
        "prior": np.ones(n_rows),
        "auc": rank - positives - auc * (n_rows - 2 * positives),
        "precision": top.astype(float),
        "recall": top - recall,
    }
    spread = np.zeros(n_rows)
    for name, slope in slopes.items():
        own = guess * (1 - guess) * slope**2
        spread += WEIGHTS[name] * own / max(own.mean(), 1e-300)
    rate = np.sqrt(spread)
    return np.asarray(EVEN_SHARE + (1 - EVEN_SHARE) * rate / rate.mean())


def _edges(score: np.ndarray, n: int, share: float, threshold: float | None) -> np.ndarray:
    """Lowest scores of the strata, which get about equally many rows; the cut is one of them.

    Rows with equal scores are in the same stratum.
    """
    ranked, rate = -np.sort(-score), sampling_rate(len(score), share)
    n_strata = int(np.clip(n // ROWS_PER_STRATUM, 2, MOST_STRATA))
    above = round(share * len(score)) if threshold is None else int(np.sum(score >= threshold))
    cut = int(np.clip(above, 0, len(score)))
    n_above = int(np.clip(round(n_strata * rate[:cut].sum() / rate.sum()), 1, n_strata - 1))
    ends = [
        _ends(rate[:cut], n_above),
        _ends(rate[cut:], n_strata - n_above) + cut,
    ]
    last = np.concatenate([*ends, [cut]]).astype(int)  # number of rows down to the end of a stratum
    found = np.unique(ranked[last[(last > 0) & (last < len(score))] - 1])[::-1]
    return np.asarray(found[found > ranked[-1]])


def _ends(rate: np.ndarray, parts: int) -> np.ndarray:
    """Where to cut a list so that each part has the same sum."""
    if len(rate) == 0:
        return np.empty(0)
    return 1.0 + np.searchsorted(np.cumsum(rate) / rate.sum(), np.arange(1, parts) / parts)


def _allocate(rate: np.ndarray, sizes: np.ndarray, n: int) -> np.ndarray:
    """Rows for each stratum in proportion to its rate, but a few at least, and not more than it has."""
    least = min(LEAST_PER_STRATUM, n // len(sizes))
    counts: np.ndarray = np.minimum(sizes, least)
    while counts.sum() < n:  # one row after another to where it is missing most
        counts[np.argmax(np.where(counts < sizes, rate / (counts + 0.5), -1))] += 1
    return counts
