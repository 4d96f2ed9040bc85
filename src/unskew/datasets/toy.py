"""A distribution with every quantity known in closed form: the truth that tests and examples compare with.

Positives come from two Gaussian groups in the plane, negatives from one. Labelers prefer one group: the propensity
rises along the second axis, from "hard" positives to "easy" ones.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.utils import check_random_state

from unskew.data.records import RawData
from unskew.datasets._registry import dataset

_EASY, _HARD, _NEGATIVE = 0, 1, 2


@dataclass(frozen=True)
class ToyLaw:
    r"""Law of (x, y, o) with known posterior, propensity, labeling probability, prior and label frequency.

    .. math:: e(x) = e_0 + (e_1 - e_0) \Phi(b x_2)

    Attributes
    ----------
    prior : float
        Share of positives.
    easy, hard, negative : pairs of float
        Centers of the two groups of positives and of the negatives; all have unit covariance.
    easy_share : float
        Share of the easy group among the positives.
    least_propensity, most_propensity, steepness : float
        e_0, e_1 and b above.
    """

    prior: float = 0.2
    easy: tuple[float, float] = (1.5, 1.5)
    hard: tuple[float, float] = (1.0, -1.5)
    negative: tuple[float, float] = (-0.5, 0.0)
    easy_share: float = 0.5
    least_propensity: float = 0.1
    most_propensity: float = 0.7
    steepness: float = 1.5

    @property
    def label_freq(self) -> float:
        """Share of the positives that are labeled: the mean propensity, exact for a Gaussian."""
        spread = np.sqrt(1 + self.steepness**2)
        easy, hard = (norm.cdf(self.steepness * center[1] / spread) for center in (self.easy, self.hard))
        mean = self.easy_share * easy + (1 - self.easy_share) * hard
        return float(self.least_propensity + (self.most_propensity - self.least_propensity) * mean)

    @property
    def alpha(self) -> float:
        """Share of all instances that are labeled."""
        return self.prior * self.label_freq

    def posterior(self, X: np.ndarray) -> np.ndarray:
        """p(y=1|x)."""
        positive = self.easy_share * _density(X, self.easy) + (1 - self.easy_share) * _density(X, self.hard)
        joint = self.prior * positive
        return np.asarray(joint / (joint + (1 - self.prior) * _density(X, self.negative)))

    def propensity(self, X: np.ndarray) -> np.ndarray:
        """p(o=1|x, y=1).

        Implements: Eq. (6).
        """
        rise = self.most_propensity - self.least_propensity
        return np.asarray(self.least_propensity + rise * norm.cdf(self.steepness * X[:, 1]))

    def labeling_prob(self, X: np.ndarray) -> np.ndarray:
        """p(o=1|x), the propensity times the posterior.

        Implements: Eq. (98).
        """
        return np.asarray(self.propensity(X) * self.posterior(X))

    def density_ratio(self, X: np.ndarray) -> np.ndarray:
        """p(x|o=1) / p(x)."""
        return np.asarray(self.labeling_prob(X) / self.alpha)

    def linear_margins(self, direction: Any) -> tuple[tuple[float, float, float], ...]:
        """Share, mean and deviation of each Gaussian part of s(x^p) - s(x^n), for the score s(x) = direction . x."""
        direction = np.asarray(direction, dtype=np.float64)
        deviation = float(np.sqrt(2) * np.linalg.norm(direction))
        shares = (self.easy_share, self.easy), (1 - self.easy_share, self.hard)
        return tuple(
            (share, float(direction @ (np.array(center) - self.negative)), deviation) for share, center in shares
        )

    def linear_auc(self, direction: Any) -> float:
        """AUC of the score s(x) = direction . x."""
        return float(sum(share * norm.cdf(mean / std) for share, mean, std in self.linear_margins(direction)))


@dataclass(frozen=True)
class ToyDraw:
    """A sample of the law, with everything that is known about each instance.

    Attributes
    ----------
    X : array of shape (n, 2)
    y, labeled : arrays of shape (n,)
        True class; 1 labeled, 0 unlabeled.
    confidence : array of shape (n,)
        True posterior where labeled, NaN elsewhere.
    labeling_prob : array of shape (n,)
        True probability of being labeled; in a two-sample draw the true density ratio.
    law : ToyLaw
    """

    X: np.ndarray
    y: np.ndarray
    labeled: np.ndarray
    confidence: np.ndarray
    labeling_prob: np.ndarray
    law: ToyLaw


def draw(n: int, law: ToyLaw | None = None, random_state: Any = None) -> ToyDraw:
    """Draw n instances and label some of the positives: the one-sample scenario.

    Implements: Eq. (8).
    """
    law = ToyLaw() if law is None else law
    rng = check_random_state(random_state)
    X, y = _draw_classes(n, law, rng)
    labeled = ((rng.uniform(size=n) < law.propensity(X)) & (y == 1)).astype(int)
    confidence = np.where(labeled == 1, law.posterior(X), np.nan)
    return ToyDraw(X, y, labeled, confidence, law.labeling_prob(X), law)


def draw_two_samples(n_labeled: int, n_unlabeled: int, law: ToyLaw | None = None, random_state: Any = None) -> ToyDraw:
    """Draw labeled instances and, apart from them, a sample of everything: the two-sample scenario.

    Implements: Eq. (103).
    """
    law = ToyLaw() if law is None else law
    rng = check_random_state(random_state)
    parts: list[np.ndarray] = []
    while sum(map(len, parts)) < n_labeled:
        pool = draw(max(1000, int(2 * n_labeled / law.alpha)), law, rng)
        parts.append(pool.X[pool.labeled == 1])
    everything, classes = _draw_classes(n_unlabeled, law, rng)
    X = np.concatenate([np.concatenate(parts)[:n_labeled], everything])
    labeled = np.repeat([1, 0], [n_labeled, n_unlabeled])
    confidence = np.where(labeled == 1, law.posterior(X), np.nan)
    y = np.concatenate([np.ones(n_labeled, dtype=int), classes])
    return ToyDraw(X, y, labeled, confidence, law.density_ratio(X), law)


@dataset("toy", table_name="Toy", network="mlp", source="drawn from the law of this module", licence="none needed")
def load_toy() -> RawData:
    """40,000 instances of the toy law; both Gaussian groups of positives, the easy one favored."""
    X, groups = _draw_groups(40_000, ToyLaw(), np.random.RandomState(0))
    return RawData(X.astype(np.float32), (groups != _NEGATIVE).astype(int), groups, groups == _EASY)


def _draw_classes(n: int, law: ToyLaw, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    X, groups = _draw_groups(n, law, rng)
    return X, (groups != _NEGATIVE).astype(int)


def _draw_groups(n: int, law: ToyLaw, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    positive = rng.uniform(size=n) < law.prior
    easy = rng.uniform(size=n) < law.easy_share
    groups = np.where(positive, np.where(easy, _EASY, _HARD), _NEGATIVE)
    return np.array([law.easy, law.hard, law.negative])[groups] + rng.normal(size=(n, 2)), groups


def _density(X: np.ndarray, center: tuple[float, float]) -> np.ndarray:
    return np.asarray(norm.pdf(X[:, 0] - center[0]) * norm.pdf(X[:, 1] - center[1]))
