"""Tables of any size whose truth is known: 20 columns that interact, biased labels, confidence with noise.

A law is drawn from its seed: which columns count, alone or in pairs, which way, and what kind of positives is labeled.
So choices can be made on some laws and judged on others.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from scipy.special import expit

N_COLUMNS = 20
LINES, PAIRS, BENDS = 6, 5, 2
"""Columns that count alone, pairs that count by their product, and columns that count by how far out they are."""
SPREAD, PRIOR, NOISE = 2.5, 0.1, 0.5
"""Standard deviation of the posterior's logit, share of positives, and that of the noise on a confidence's logit."""
LABELED_SHARE, LEAST_LABELED, MOST_LABELED = 0.01, 50, 10_000
"""Labels among the rows of a table, about: nobody labels more because the table is larger."""
BLOCK = 1 << 18
"""Rows drawn at a time; their numbers in float64 are all that is held beside the table."""


class Draw(NamedTuple):
    """A table; `confidence` is that of labeled rows, not a number elsewhere, and `posterior` is the truth."""

    X: np.ndarray
    y: np.ndarray
    labeled: np.ndarray
    confidence: np.ndarray
    posterior: np.ndarray


@dataclass(frozen=True)
class Law:
    """Law of the row, its class and its label; the columns are standard normal.

    Attributes
    ----------
    lines, pairs, bends : arrays of int
        Columns of each part of the posterior's logit.
    sizes : array
        Of each part, in that order.
    level : float
        The constant of that logit.
    favored : array of shape (N_COLUMNS,)
        Slopes of the logit of the propensity, but for a factor: labels favor what some of the lines speak against.
    """

    lines: np.ndarray
    pairs: np.ndarray
    bends: np.ndarray
    sizes: np.ndarray
    level: float
    favored: np.ndarray

    @classmethod
    def of(cls, seed: int) -> Self:
        """The law of this seed."""
        rng = np.random.RandomState(seed)
        lines = rng.permutation(N_COLUMNS)[:LINES]
        pairs = rng.permutation(N_COLUMNS)[: 2 * PAIRS].reshape(PAIRS, 2)
        bends = rng.permutation(N_COLUMNS)[:BENDS]
        sizes = rng.choice([-1, 1], LINES + PAIRS + BENDS) * rng.uniform(0.5, 1.5, LINES + PAIRS + BENDS)
        sizes *= SPREAD / np.linalg.norm(sizes)
        favored = np.zeros(N_COLUMNS)
        favored[lines[:2]] = -np.sign(sizes[:2])
        favored[rng.randint(N_COLUMNS)] += 1.0
        some = cls(lines, pairs, bends, sizes, 0.0, favored).logit(rng.normal(size=(20_000, N_COLUMNS)))
        low, high = -20.0, 20.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if expit(some + middle).mean() < PRIOR else (low, middle)
        return cls(lines, pairs, bends, sizes, low, favored)

    def logit(self, X: np.ndarray) -> np.ndarray:
        """Logit of the posterior."""
        bent = np.abs(X[:, self.bends]) - np.sqrt(2 / np.pi)
        parts = X[:, self.lines], X[:, self.pairs].prod(axis=2), bent / np.sqrt(1 - 2 / np.pi)
        return np.asarray(np.concatenate(parts, axis=1) @ self.sizes + self.level)

    def draw(self, n_rows: int, seed: int) -> Draw:
        """A table of so many rows; the expected number of labels goes by their number."""
        rng = np.random.default_rng(seed)
        X = np.empty((n_rows, N_COLUMNS), dtype=np.float32)
        logit, liked = np.empty(n_rows), np.empty(n_rows)
        for start in range(0, n_rows, BLOCK):
            rows = slice(start, start + BLOCK)
            rng.standard_normal(dtype=np.float32, out=X[rows])
            block = X[rows].astype(np.float64)
            logit[rows], liked[rows] = self.logit(block), expit(block @ self.favored)
        posterior = expit(logit)
        y = rng.random(n_rows) < posterior
        wanted = min(max(LABELED_SHARE * n_rows, LEAST_LABELED), MOST_LABELED)
        labeled = y & (rng.random(n_rows) < liked * (wanted / liked[y].sum()))
        confidence = np.full(n_rows, np.nan)
        confidence[labeled] = expit(logit[labeled] + NOISE * rng.standard_normal(int(labeled.sum())))
        return Draw(X, y.astype(np.int8), labeled.astype(np.int8), confidence, posterior)
