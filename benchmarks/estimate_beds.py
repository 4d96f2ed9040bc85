"""Test beds of the estimates without negatives: tables with known classes, labeled with a bias.

`OPEN` beds are there to build and tune with. `SEEN` beds judged an earlier frozen form of the posterior; since then
they are open, too. `JUDGED` beds were written down after the last change, and no estimate on any of them was looked at
before. `PROBABILITY_LAWS` judge the probabilities alone (`probabilities.py`): written down before the reliability that
stands beside them was frozen, and run once after that. Each bed is a function of a random state that returns a `Draw`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unskew
from unskew.datasets.toy import ToyLaw, draw, draw_two_samples
from unskew.practice.examples import claims as claims_law

Random = np.random.RandomState
Change = Callable[[np.ndarray, Random], np.ndarray]
Source = Callable[[], tuple[np.ndarray, np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Draw:
    """What a user has, X, labels and confidence, and what nobody has: the true class and, where known, eta.

    `given` is the confidence that any row would be given, before it is rounded or gets noise.
    """

    X: np.ndarray
    truth: np.ndarray
    labeled: np.ndarray
    confidence: np.ndarray
    posterior: np.ndarray | None = None
    scenario: str = "one-sample"
    given: np.ndarray | None = None


Bed = Callable[[Random], Draw]


def exact(confidence: np.ndarray, _rng: Random) -> np.ndarray:
    return confidence


def levels(count: int) -> Change:
    """Confidence as the middle of one of so many equal intervals."""
    return lambda confidence, rng: (np.minimum(np.floor(confidence * count), count - 1) + 0.5) / count


def noise(deviation: float) -> Change:
    return lambda confidence, rng: np.clip(confidence + deviation * rng.standard_normal(len(confidence)), 0, 1)


def votes(count: int) -> Change:
    return lambda confidence, rng: rng.binomial(count, confidence) / count


def labeled_by_law(X: np.ndarray, eta: np.ndarray, propensity: np.ndarray, rng: Random, change: Change = exact) -> Draw:
    truth = (rng.uniform(size=len(X)) < eta).astype(int)
    labeled = ((rng.uniform(size=len(X)) < propensity) & (truth == 1)).astype(int)
    return Draw(X, truth, labeled, np.where(labeled == 1, change(eta, rng), np.nan), eta, given=eta)


def toy(n: int, change: Change = exact, law: ToyLaw | None = None) -> Bed:
    def bed(rng: Random) -> Draw:
        drawn = draw(n, law, rng)
        eta = drawn.law.posterior(drawn.X)
        confidence = np.where(drawn.labeled == 1, change(eta, rng), np.nan)
        return Draw(drawn.X, drawn.y, drawn.labeled, confidence, eta, given=eta)

    return bed


def toy_two_samples(n_labeled: int, n_unlabeled: int) -> Bed:
    def bed(rng: Random) -> Draw:
        drawn = draw_two_samples(n_labeled, n_unlabeled, random_state=rng)
        eta = drawn.law.posterior(drawn.X)
        return Draw(drawn.X, drawn.y, drawn.labeled, drawn.confidence, eta, "two-sample")

    return bed


def linear(n: int, change: Change = exact) -> Bed:
    slope = np.array([1.2, -0.8, 0.6, 0.4, 0, 0, 0, 0, 0, 0])
    labeled_slope = np.array([0, 0.8, 0, -0.5, 0.7, 0, 0, 0, 0, 0])

    def bed(rng: Random) -> Draw:
        X = rng.normal(size=(n, 10))
        return labeled_by_law(X, expit(X @ slope - 2.2), expit(X @ labeled_slope - 0.8), rng, change)

    return bed


def claims(n: int) -> Bed:
    """The law of the example table, whose kinds of fraud are labeled with different frequencies."""

    def bed(rng: Random) -> Draw:
        kinds = rng.choice(list(claims_law.SHARES), size=n, p=list(claims_law.SHARES.values()))
        laws = claims_law.LOG_AMOUNT, claims_law.LOG_DAYS
        amount, days = (np.array([rng.normal(*law[kind]) for kind in kinds]) for law in laws)
        earlier = np.array([rng.poisson(claims_law.EARLIER_CLAIMS[kind]) for kind in kinds])
        channel = np.array([rng.choice(3, p=claims_law.CHANNEL_SHARES[kind]) for kind in kinds])
        eta = claims_law.probability_of_fraud(amount, days, earlier, channel)
        columns = [np.exp(amount), np.exp(days), earlier, *(channel == each for each in range(3))]
        X = np.column_stack([*columns, rng.randint(0, 4, n), rng.randint(0, 360, n)]).astype(float)
        labeled = (rng.uniform(size=n) < [claims_law.CAUGHT[kind] for kind in kinds]).astype(int)
        return Draw(X, (kinds != "honest").astype(int), labeled, np.where(labeled == 1, eta, np.nan), eta)

    return bed


@cache
def table(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    raw = unskew.datasets.load(name)
    return raw.X, raw.y, raw.favored


@cache
def components(name: str, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Images as principal components."""
    raw = unskew.datasets.load(name)
    return PCA(count, random_state=0).fit_transform(raw.X.reshape(len(raw.X), -1)), raw.y, raw.favored


TREES = HistGradientBoostingClassifier(max_iter=150, learning_rate=0.05, max_leaf_nodes=15, l2_regularization=1.0)
LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=500))


def real(
    source: Source, n: int, prior: float, n_labeled: int, model: object, change: Change = exact, n_other: int = 10_000
) -> Bed:
    """Rows with known classes; a classifier of other rows gives the confidence, nine labels of ten are favored rows."""

    def bed(rng: Random) -> Draw:
        X, y, favored = source()
        positive, negative = (rng.permutation(np.flatnonzero(y == each)) for each in (1, 0))
        n_positive, n_other_positive = round(prior * n), round(prior * n_other)
        last = n - n_positive + n_other - n_other_positive
        assert len(positive) >= n_positive + n_other_positive
        assert len(negative) >= last
        rows = rng.permutation(np.r_[positive[:n_positive], negative[: n - n_positive]])
        other = np.r_[positive[n_positive : n_positive + n_other_positive], negative[n - n_positive : last]]
        chosen = clone(model)
        if "random_state" in chosen.get_params():
            chosen.set_params(random_state=int(rng.randint(2**31 - 1)))
        eta = chosen.fit(X[other], y[other]).predict_proba(X[rows])[:, 1]
        truth, is_favored = y[rows], favored[rows]
        labels = unskew.scenario.select_favored(np.flatnonzero(truth == 1), is_favored[truth == 1], n_labeled, rng)
        labeled = np.isin(np.arange(n), labels).astype(int)
        confidence = np.where(labeled == 1, change(eta, rng), np.nan)
        return Draw(X[rows].astype(float), truth, labeled, confidence, given=eta)

    return bed


def rings(n: int) -> Bed:
    """Positive far from the center, labeled on one side of it."""

    def bed(rng: Random) -> Draw:
        X = rng.normal(size=(n, 3))
        radius, angle = np.hypot(X[:, 0], X[:, 1]), np.arctan2(X[:, 1], X[:, 0])
        return labeled_by_law(X, expit(4 * (radius - 2.1)), 0.08 + 0.5 * expit(3 * np.cos(angle)), rng)

    return bed


def heavy_tails(n: int) -> Bed:
    """An interaction of columns with Student's distribution, behind a probit."""

    def bed(rng: Random) -> Draw:
        X = rng.standard_t(3, size=(n, 6))
        held = np.clip(X, -4, 4)
        eta = norm.cdf(0.3 * held[:, 0] * held[:, 1] + 0.7 * held[:, 2] - 1.6)
        return labeled_by_law(X, eta, expit(0.8 * held[:, 3] - 0.6), rng)

    return bed


def groups(n: int, change: Change = exact) -> Bed:
    """Three groups of positives in 20 dimensions, of which one is labeled often."""
    centers = Random(20).normal(size=(3, 20))
    centers *= 2.6 / np.linalg.norm(centers, axis=1, keepdims=True)
    shares, propensities = np.array([0.06, 0.05, 0.04, 0.85]), np.array([0.6, 0.2, 0.1, 0.0])

    def bed(rng: Random) -> Draw:
        group = rng.choice(4, size=n, p=shares)
        X = rng.normal(size=(n, 20)) + np.vstack([centers, np.zeros(20)])[group]
        joint = shares[:3] * np.exp(X @ centers.T - (centers**2).sum(1) / 2)
        eta = joint.sum(1) / (joint.sum(1) + shares[3])
        labeled = (rng.uniform(size=n) < propensities[group]).astype(int)
        return Draw(X, (group < 3).astype(int), labeled, np.where(labeled == 1, change(eta, rng), np.nan), eta)

    return bed


def steps(n: int) -> Bed:
    """A posterior with five values, as of a small tree."""

    def bed(rng: Random) -> Draw:
        X = rng.uniform(size=(n, 5))
        right, left = np.where(X[:, 1] > 0.6, 0.9, 0.35), np.where(X[:, 3] > 0.5, 0.7, 0.15)
        eta = np.where(X[:, 0] > 0.7, right, np.where(X[:, 2] > 0.8, left, 0.02))
        return labeled_by_law(X, eta, 0.1 + 0.6 * ((X[:, 4] > 0.5) & (X[:, 1] > 0.3)), rng)

    return bed


def steep_two_samples(n_labeled: int, n_unlabeled: int) -> Bed:
    """Exponential columns, labeled and unlabeled rows collected apart from each other."""

    def everything(n: int, rng: Random) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X = rng.exponential(size=(n, 4))
        eta = expit(1.5 * X[:, 0] - X[:, 1] + 0.5 * X[:, 2] ** 1.5 - 3)
        return X, eta, (rng.uniform(size=n) < eta).astype(int)

    def bed(rng: Random) -> Draw:
        pool, pool_eta, pool_truth = everything(40 * n_labeled, rng)
        caught = rng.uniform(size=len(pool)) < 0.1 + 0.6 * np.exp(-pool[:, 3])
        chosen = np.flatnonzero(caught & (pool_truth == 1))[:n_labeled]
        X, eta, truth = everything(n_unlabeled, rng)
        labeled = np.repeat([1, 0], [len(chosen), n_unlabeled])
        eta = np.r_[pool_eta[chosen], eta]
        rows, classes = np.r_[pool[chosen], X], np.r_[pool_truth[chosen], truth]
        return Draw(rows, classes, labeled, np.where(labeled == 1, eta, np.nan), eta, "two-sample")

    return bed


def counts(n: int, change: Change = exact) -> Bed:
    """Counts and a category, with labels mostly where the first count is high."""

    def bed(rng: Random) -> Draw:
        rates = np.array([3.0, 1.0, 0.5])
        events, kind = rng.poisson(rates, size=(n, 3)), rng.choice(4, size=n, p=[0.4, 0.3, 0.2, 0.1])
        eta = expit(0.9 * np.sqrt(events[:, 0]) + 0.8 * events[:, 1] - 1.1 * (kind == 0) + 0.9 * (kind == 3) - 4.2)
        X = np.column_stack([events, kind[:, None] == np.arange(4)]).astype(float)
        return labeled_by_law(X, eta, expit(0.7 * events[:, 0] - 2.6), rng, change)

    return bed


def many_columns(n: int, change: Change = exact) -> Bed:
    """Fifty correlated columns, each of which matters a little."""
    mixing = Random(50).normal(size=(50, 50)) / np.sqrt(50)
    slope = Random(51).normal(size=50)

    def bed(rng: Random) -> Draw:
        X = rng.normal(size=(n, 50)) @ mixing + 0.5 * rng.normal(size=(n, 50))
        linear = X @ slope / np.linalg.norm(slope)
        return labeled_by_law(X, expit(2.2 * linear - 2.6), expit(1.2 * X[:, 0] - 0.9), rng, change)

    return bed


def squares(n: int) -> Bed:
    """A posterior with two humps, of which one is hardly labeled."""

    def bed(rng: Random) -> Draw:
        X = rng.uniform(-1, 1, size=(n, 4))
        first, second = (np.exp(-np.sum((X[:, :2] - each) ** 2, axis=1) / 0.12) for each in (0.5, -0.5))
        eta = np.clip(0.02 + 0.9 * first + 0.75 * second, 0, 0.97)
        return labeled_by_law(X, eta, 0.08 + 0.45 * (X[:, 0] > 0), rng)

    return bed


def durations_two_samples(n_labeled: int, n_unlabeled: int, change: Change = exact) -> Bed:
    """Log-normal columns; labeled and unlabeled rows collected apart from each other."""

    def everything(n: int, rng: Random) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        normal = rng.normal(size=(n, 5))
        eta = expit(1.3 * normal[:, 0] + 0.9 * normal[:, 1] * normal[:, 2] - 2.0)
        return np.exp(normal), eta, (rng.uniform(size=n) < eta).astype(int)

    def bed(rng: Random) -> Draw:
        pool, pool_eta, pool_truth = everything(60 * n_labeled, rng)
        caught = rng.uniform(size=len(pool)) < 0.05 + 0.5 * (pool[:, 3] > 1)
        chosen = np.flatnonzero(caught & (pool_truth == 1))[:n_labeled]
        X, eta, truth = everything(n_unlabeled, rng)
        labeled = np.repeat([1, 0], [len(chosen), n_unlabeled])
        eta = np.r_[pool_eta[chosen], eta]
        confidence = np.where(labeled == 1, change(eta, rng), np.nan)
        return Draw(np.r_[pool[chosen], X], np.r_[pool_truth[chosen], truth], labeled, confidence, eta, "two-sample")

    return bed


def hidden(n: int, deviation: float, change: Change) -> Bed:
    """Half of what makes a row positive is in no column, but whoever gives the confidence knows it."""

    def bed(rng: Random) -> Draw:
        X = rng.normal(size=(n, 3))
        eta = expit(1.5 * X[:, 0] + deviation * rng.normal(size=n) - 1)
        return replace(labeled_by_law(X, eta, expit(0.8 * X[:, 1] - 1.5), rng, change), posterior=None)

    return bed


def hidden_group(n: int, change: Change) -> Bed:
    """Positives of two kinds, of which no column tells which is which; one is rarer and milder."""

    def bed(rng: Random) -> Draw:
        X, mild = rng.uniform(-2, 2, size=(n, 5)), rng.uniform(size=n) < 0.35
        eta = norm.cdf(0.7 * X[:, 0] + 0.5 * np.abs(X[:, 1]) - np.where(mild, 2.2, 1.0))
        return replace(labeled_by_law(X, eta, 0.05 + 0.3 * (X[:, 2] > 0), rng, change), posterior=None)

    return bed


def swings(n: int, change: Change = exact) -> Bed:
    """A posterior that goes up and down along one column."""

    def bed(rng: Random) -> Draw:
        X = rng.uniform(-2, 2, size=(n, 4))
        eta = expit(2.2 * np.sin(2 * X[:, 0]) + X[:, 1] - 2.3)
        return labeled_by_law(X, eta, expit(1.2 * X[:, 2] - 1.2), rng, change)

    return bed


def hinges(n: int, change: Change = exact) -> Bed:
    """Lognormal columns that count only above a bound, and a category that labelers look at."""

    def bed(rng: Random) -> Draw:
        normal, kind = rng.normal(size=(n, 4)), rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
        eta = expit(1.6 * np.maximum(normal[:, 0], 0) + 1.2 * np.maximum(normal[:, 1] - 0.5, 0) + 0.7 * kind - 3)
        X = np.column_stack([np.exp(normal), kind[:, None] == np.arange(3)]).astype(float)
        return labeled_by_law(X, eta, np.array([0.5, 0.2, 0.1])[kind], rng, change)

    return bed


def mixture_two_samples(n_labeled: int, n_unlabeled: int, change: Change = exact) -> Bed:
    """Two clouds of positives among negatives in eight columns; labeled and unlabeled rows collected apart."""
    centers = np.zeros((2, 8))
    centers[0, 0], centers[1, 1] = 2.0, 2.4
    shares = np.array([0.12, 0.08, 0.8])

    def everything(n: int, rng: Random) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        group = rng.choice(3, size=n, p=shares)
        X = rng.normal(size=(n, 8)) + np.vstack([centers, np.zeros(8)])[group]
        joint = shares[:2] * np.exp(X @ centers.T - (centers**2).sum(1) / 2)
        return X, joint.sum(1) / (joint.sum(1) + shares[2]), group

    def bed(rng: Random) -> Draw:
        pool, pool_eta, pool_group = everything(40 * n_labeled, rng)
        caught = rng.uniform(size=len(pool)) < np.array([0.7, 0.25, 0.0])[pool_group]
        chosen = np.flatnonzero(caught)[:n_labeled]
        X, eta, group = everything(n_unlabeled, rng)
        labeled = np.repeat([1, 0], [len(chosen), n_unlabeled])
        eta, truth = np.r_[pool_eta[chosen], eta], np.r_[np.ones(len(chosen), int), (group < 2).astype(int)]
        confidence = np.where(labeled == 1, change(eta, rng), np.nan)
        return Draw(np.r_[pool[chosen], X], truth, labeled, confidence, eta, "two-sample")

    return bed


def kinks(n: int, change: Change = exact) -> Bed:
    """A slope that changes where another column has its median, and two columns that mean nothing."""

    def bed(rng: Random) -> Draw:
        X = rng.normal(size=(n, 6))
        slope = np.where(X[:, 1] > 0, 2.0, 0.5)
        eta = expit(slope * X[:, 0] + 0.6 * X[:, 2] - 0.4 * np.abs(X[:, 3]) - 1.8)
        return labeled_by_law(X, eta, expit(0.9 * X[:, 2] + 0.5 * X[:, 4] - 1.1), rng, change)

    return bed


def saddle(n: int, change: Change = exact) -> Bed:
    """Positive at both ends of one column and in the middle of another."""

    def bed(rng: Random) -> Draw:
        X = rng.normal(size=(n, 4))
        eta = norm.cdf(0.5 * X[:, 0] ** 2 - 0.5 * X[:, 1] ** 2 + 0.4 * X[:, 2] - 1.2)
        return labeled_by_law(X, eta, 0.1 + 0.4 * (X[:, 0] > 0), rng, change)

    return bed


def waiting_times(n: int, change: Change = exact) -> Bed:
    """Gamma columns of very different units, of which the ratio matters."""

    def bed(rng: Random) -> Draw:
        X = rng.gamma(2.0, size=(n, 4)) * np.array([1.0, 60.0, 3600.0, 0.01])
        ratio = np.log(X[:, 0]) - np.log(X[:, 1] / 60)
        eta = expit(1.4 * ratio + 0.5 * X[:, 2] / 3600 - 3.0)
        return labeled_by_law(X, eta, expit(1.0 - 60 * X[:, 3]), rng, change)

    return bed


def shell_two_samples(n_labeled: int, n_unlabeled: int) -> Bed:
    """Positive at a certain distance from the center; labeled and unlabeled rows collected apart."""

    def everything(n: int, rng: Random) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X = rng.normal(size=(n, 3))
        eta = expit(3 * (np.linalg.norm(X, axis=1) - 2.2))
        return X, eta, (rng.uniform(size=n) < eta).astype(int)

    def bed(rng: Random) -> Draw:
        pool, pool_eta, pool_truth = everything(40 * n_labeled, rng)
        caught = rng.uniform(size=len(pool)) < expit(1.5 * pool[:, 0] - 1)
        chosen = np.flatnonzero(caught & (pool_truth == 1))[:n_labeled]
        X, eta, truth = everything(n_unlabeled, rng)
        labeled = np.repeat([1, 0], [len(chosen), n_unlabeled])
        eta = np.r_[pool_eta[chosen], eta]
        rows, classes = np.r_[pool[chosen], X], np.r_[pool_truth[chosen], truth]
        return Draw(rows, classes, labeled, np.where(labeled == 1, eta, np.nan), eta, "two-sample")

    return bed


def hidden_switch(n: int, change: Change) -> Bed:
    """A switch that no column shows makes one row in four likely positive."""

    def bed(rng: Random) -> Draw:
        X, on = rng.normal(size=(n, 4)), rng.uniform(size=n) < 0.25
        eta = expit(1.2 * X[:, 0] - 0.8 * X[:, 1] + 1.5 * on - 2)
        return replace(labeled_by_law(X, eta, expit(0.6 * X[:, 2] - 1.4), rng, change), posterior=None)

    return bed


Sample = Callable[[int, Random], tuple[np.ndarray, np.ndarray]]


def collected_apart(
    everything: Sample, propensity: Callable[[np.ndarray], np.ndarray], sizes: tuple[int, int], change: Change = exact
) -> Bed:
    """Two samples of a law that gives rows and their eta: so many labeled positives, and so many of all rows."""

    def bed(rng: Random) -> Draw:
        n_labeled, n_unlabeled = sizes
        pool, pool_eta = everything(80 * n_labeled, rng)
        caught = rng.uniform(size=len(pool)) < pool_eta * propensity(pool)
        chosen = np.flatnonzero(caught)[:n_labeled]
        X, eta = everything(n_unlabeled, rng)
        truth = np.r_[np.ones(len(chosen), int), (rng.uniform(size=n_unlabeled) < eta).astype(int)]
        labeled = np.repeat([1, 0], [len(chosen), n_unlabeled])
        eta = np.r_[pool_eta[chosen], eta]
        confidence = np.where(labeled == 1, change(eta, rng), np.nan)
        return Draw(np.r_[pool[chosen], X], truth, labeled, confidence, eta, "two-sample")

    return bed


def plateaus(n: int, change: Change = exact) -> Bed:
    """Two plateaus with a ramp between them, and never near 0 or 1."""

    def bed(rng: Random) -> Draw:
        X = rng.uniform(size=(n, 3))
        eta = 0.06 + 0.8 * np.clip(2.5 * (0.6 * X[:, 0] + 0.4 * X[:, 1]) - 1.2, 0, 1)
        return labeled_by_law(X, eta, 0.05 + 0.5 * X[:, 2] ** 2, rng, change)

    return bed


def spiral(n: int, change: Change = exact) -> Bed:
    """An arm that winds once around the center, labeled mostly far out, and two columns that mean nothing."""

    def bed(rng: Random) -> Draw:
        X = rng.normal(size=(n, 4))
        radius, angle = np.hypot(X[:, 0], X[:, 1]), np.arctan2(X[:, 1], X[:, 0])
        eta = expit(2.5 * np.cos(angle - 1.5 * radius) - 1.5)
        return labeled_by_law(X, eta, expit(2 * radius - 3.5), rng, change)

    return bed


def covariances(n: int, change: Change = exact) -> Bed:
    """Positives have the same mean as the others but vary more, in correlated columns."""
    mixing = Random(60).normal(size=(5, 5)) / np.sqrt(5)
    spread = np.array([1.8, 1.5, 1.3, 1.0, 1.0])

    def bed(rng: Random) -> Draw:
        truth = (rng.uniform(size=n) < 0.3).astype(int)
        Z = rng.normal(size=(n, 5)) * np.where(truth[:, None] == 1, spread, 1.0)
        eta = expit(logit(0.3) + 0.5 * np.sum(Z**2 * (1 - spread**-2.0), axis=1) - np.log(spread).sum())
        labeled = (truth == 1) & (rng.uniform(size=n) < expit(1.5 * Z[:, 4]))
        return Draw(Z @ mixing, truth, labeled.astype(int), np.where(labeled, change(eta, rng), np.nan), eta)

    return bed


def hours(n: int, change: Change = exact) -> Bed:
    """A time of day that counts in a circle, rows mostly by day, labels mostly in office hours."""

    def bed(rng: Random) -> Draw:
        hour, Z = (13 + 5 * rng.normal(size=n)) % 24, rng.normal(size=(n, 2))
        eta = expit(1.6 * np.cos(2 * np.pi * (hour - 21) / 24) + 0.9 * Z[:, 0] - 1.4)
        office = expit(2 * (hour - 8)) * expit(2 * (18 - hour))
        return labeled_by_law(np.column_stack([hour, Z]), eta, 0.06 + 0.4 * office, rng, change)

    return bed


def questionnaire(n: int, change: Change = exact) -> Bed:
    """Eight answers from 1 to 5 that hang together, and a sum of them that counts."""
    loads = np.array([1.0, 1.0, 0.8, 0.8, 0.5, 0.5, 0.2, 0.0])

    def bed(rng: Random) -> Draw:
        mood = rng.normal(size=(n, 1))
        X = np.clip(np.round(3 + 0.8 * mood + rng.normal(size=(n, 8))), 1, 5)
        eta = expit(0.8 * ((X - 3) @ loads) / 2 - 1.8)
        return labeled_by_law(X, eta, expit(0.7 * (X[:, 7] - 3) - 0.3), rng, change)

    return bed


def words(n: int, change: Change = exact) -> Bed:
    """Forty words that a text has or has not, of which six count."""
    frequency = Random(61).uniform(0.05, 0.4, size=40)
    slope = np.r_[2.0, 1.6, 1.2, 1.2, -1.5, -1.0, np.zeros(34)]

    def bed(rng: Random) -> Draw:
        X = (rng.uniform(size=(n, 40)) < frequency).astype(float)
        return labeled_by_law(X, expit(X @ slope - 2.2), 0.1 + 0.5 * X[:, 10], rng, change)

    return bed


def products(n: int, change: Change = exact) -> Bed:
    """What counts is whether two columns have the same sign, and a third one a little."""

    def bed(rng: Random) -> Draw:
        X = rng.uniform(-1.5, 1.5, size=(n, 4))
        eta = expit(2.2 * X[:, 0] * X[:, 1] + 0.8 * X[:, 2] - 1.6)
        return labeled_by_law(X, eta, 0.05 + 0.35 * (X[:, 0] > 0), rng, change)

    return bed


def mild(n: int, change: Change = exact) -> Bed:
    """Nobody is surely positive or surely not."""

    def bed(rng: Random) -> Draw:
        X = rng.logistic(size=(n, 5))
        eta = expit(0.35 * X[:, 0] + 0.5 * np.sin(X[:, 1]) - 0.9)
        return labeled_by_law(X, eta, expit(0.5 * X[:, 2] - 1), rng, change)

    return bed


def far_values(n: int, change: Change = exact) -> Bed:
    """Cauchy columns, of which only the direction counts where they are large."""

    def bed(rng: Random) -> Draw:
        X = rng.standard_cauchy(size=(n, 3))
        eta = expit(1.6 * np.arctan(X[:, 0]) + 0.8 * np.arctan(X[:, 1] - X[:, 0]) - 1.6)
        return labeled_by_law(X, eta, 0.1 + 0.2 * (np.abs(X[:, 2]) > 1), rng, change)

    return bed


def larger_of_two(n: int, rng: Random) -> tuple[np.ndarray, np.ndarray]:
    """The larger one of two amounts counts."""
    Z = rng.normal(size=(n, 4))
    return np.exp(Z), expit(1.7 * np.maximum(Z[:, 0], Z[:, 1]) - 2.6)


def ramp_times_share(n: int, rng: Random) -> tuple[np.ndarray, np.ndarray]:
    """A soft bound in one column, above which another one counts."""
    X = rng.uniform(size=(n, 4))
    return X, 0.02 + 0.9 * norm.cdf(5 * (X[:, 0] - 0.55)) * X[:, 1]


def one_hill(n: int, rng: Random) -> tuple[np.ndarray, np.ndarray]:
    """One hill among rows that lie everywhere."""
    X = rng.uniform(-2, 2, size=(n, 3))
    return X, 0.01 + 0.9 * np.exp(-((X[:, 0] - 0.5) ** 2) / 0.8 - (X[:, 1] + 0.3) ** 2 / 1.5)


@cache
def breast_cancer() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Malignant cases are positive, and those with a large radius favored."""
    X, benign = load_breast_cancer(return_X_y=True)
    return X, 1 - benign, X[:, 0] > np.median(X[benign == 0, 0])


OPEN: dict[str, Bed] = {
    "toy": toy(1500),
    "toy-rare": toy(3000, law=ToyLaw(prior=0.05)),
    "toy-levels": toy(1500, levels(5)),
    "toy-votes": toy(1500, votes(5)),
    "toy-two-sample": toy_two_samples(100, 1500),
    "linear": linear(2000),
    "linear-noisy": linear(2000, noise(0.1)),
    "claims": claims(1500),
    "diabetes-trees": real(lambda: table("diabetes-2015"), 3000, 0.1, 60, TREES),
    "hidden-rounded": hidden(2000, 1.25, lambda confidence, rng: np.round(confidence, 1)),
    "hidden-noisy": hidden(2000, 1.25, noise(0.1)),
    "digits-pixels": real(lambda: table("digits"), 700, 0.25, 50, LOGISTIC, n_other=300),
}
SEEN: dict[str, Bed] = {
    "rings": rings(2000),
    "heavy-tails": heavy_tails(2000),
    "groups-noisy": groups(3000, noise(0.1)),
    "groups-few": groups(1000),
    "steps": steps(1500),
    "steep-two-sample": steep_two_samples(80, 1500),
    "blood-trees": real(lambda: table("blood-2015"), 4000, 0.15, 120, TREES),
    "blood-levels": real(lambda: table("blood-2015"), 4000, 0.1, 60, TREES, levels(3)),
    "mnist-components": real(lambda: components("mnist", 30), 4000, 0.1, 80, LOGISTIC),
    "fmnist-components": real(lambda: components("fmnist", 20), 3000, 0.2, 60, TREES, noise(0.05)),
    "counts-noisy": counts(2000, noise(0.1)),
    "counts-votes": counts(2500, votes(5)),
    "many-columns": many_columns(2500),
    "many-columns-levels": many_columns(2500, levels(3)),
    "squares": squares(1500),
    "durations-two-sample": durations_two_samples(120, 1500),
    "blood-rare": real(lambda: table("blood-2015"), 5000, 0.08, 80, TREES),
    "blood-noisy": real(lambda: table("blood-2015"), 3000, 0.2, 150, TREES, noise(0.1)),
    "cifar10-components": real(lambda: components("cifar10", 25), 4000, 0.15, 100, TREES, noise(0.05)),
    "svhn-components": real(lambda: components("svhn", 30), 4000, 0.2, 200, LOGISTIC),
    "breast-cancer": real(breast_cancer, 300, 0.3, 30, LOGISTIC, n_other=200),
    "hidden-group-votes": hidden_group(2500, votes(5)),
    "hidden-group-noisy": hidden_group(2500, noise(0.08)),
    "swings": swings(2000),
    "swings-levels": swings(2500, levels(3)),
    "hinges-noisy": hinges(2000, noise(0.1)),
    "mixture-two-sample": mixture_two_samples(90, 1500, noise(0.03)),
    "blood-few": real(lambda: table("blood-2015"), 3000, 0.2, 40, TREES),
    "blood-votes": real(lambda: table("blood-2015"), 4000, 0.12, 200, TREES, votes(5)),
    "diabetes-noisy": real(lambda: table("diabetes-2015"), 4000, 0.15, 150, TREES, noise(0.1)),
    "mnist-levels": real(lambda: components("mnist", 40), 4000, 0.15, 120, TREES, levels(3)),
    "cifar10-forty": real(lambda: components("cifar10", 40), 3000, 0.1, 90, LOGISTIC),
    "breast-cancer-levels": real(breast_cancer, 300, 0.3, 40, LOGISTIC, levels(4), n_other=200),
}
JUDGED: dict[str, Bed] = {
    "kinks": kinks(2000),
    "kinks-levels": kinks(2500, levels(3)),
    "saddle-noisy": saddle(2000, noise(0.1)),
    "waiting-times-votes": waiting_times(2500, votes(7)),
    "shell-two-sample": shell_two_samples(110, 1500),
    "hidden-switch-rounded": hidden_switch(2500, lambda confidence, rng: np.round(confidence, 1)),
    "blood-four-levels": real(lambda: table("blood-2015"), 4000, 0.15, 250, TREES, levels(4)),
    "diabetes-votes": real(lambda: table("diabetes-2015"), 3000, 0.1, 100, TREES, votes(5)),
    "fmnist-forty": real(lambda: components("fmnist", 40), 4000, 0.15, 80, LOGISTIC),
    "svhn-noisy": real(lambda: components("svhn", 25), 4000, 0.1, 120, TREES, noise(0.1)),
    "cifar10-levels": real(lambda: components("cifar10", 30), 4000, 0.2, 150, LOGISTIC, levels(3)),
    "digits-votes": real(lambda: table("digits"), 700, 0.2, 60, LOGISTIC, votes(5), n_other=300),
}
PROBABILITY_LAWS: dict[str, Bed] = {
    "plateaus": plateaus(1500),
    "spiral-noisy": spiral(2500, noise(0.05)),
    "covariances-levels": covariances(3000, levels(10)),
    "hours-votes": hours(2500, votes(9)),
    "hours": hours(2000),
    "questionnaire": questionnaire(3000),
    "words-few": words(700),
    "products-few": products(800),
    "mild": mild(2500),
    "far-values-noisy": far_values(2000, noise(0.04)),
    "larger-two-sample": collected_apart(larger_of_two, lambda X: 0.2 + 0.6 * (X[:, 2] > 1), (60, 1500), noise(0.03)),
    "ramp-two-sample": collected_apart(ramp_times_share, lambda X: 1 - 0.8 * X[:, 2], (200, 2000), levels(5)),
    "hill-two-sample": collected_apart(one_hill, lambda X: expit(-1.5 * X[:, 0]), (250, 2000)),
}
