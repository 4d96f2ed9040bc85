"""Laws of (x, y, o) with finitely many x: every expectation of the paper is a sum, every sample can be enumerated."""

from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from scipy.special import expit
from scipy.stats import multinomial


@dataclass(frozen=True)
class FiniteLaw:
    """p(x), eta(x) and e(x) at each point; everything else follows from its definition, not from the paper's lemmas."""

    mass: np.ndarray
    posterior: np.ndarray
    propensity: np.ndarray

    @property
    def prior(self):
        return float(self.mass @ self.posterior)

    @property
    def labeling_prob(self):
        return self.propensity * self.posterior

    @property
    def alpha(self):
        return float(self.mass @ self.labeling_prob)

    @property
    def label_freq(self):
        return float(self.positive @ self.propensity)

    @property
    def positive(self):
        return self.mass * self.posterior / self.prior

    @property
    def negative(self):
        return self.mass * (1 - self.posterior) / (1 - self.prior)

    @property
    def labeled(self):
        return self.mass * self.labeling_prob / self.alpha

    @property
    def unlabeled(self):
        return self.mass * (1 - self.labeling_prob) / (1 - self.alpha)

    def rewritten_risk(self, losses, confidence=None, estimate=None):
        """Eq. (15) with any confidence and labeling probability in place of the true ones, which are the default."""
        confidence = self.posterior if confidence is None else confidence
        estimate = self.labeling_prob if estimate is None else estimate
        # Points that are never labeled have no weight, because the mean is over labeled ones.
        weight = np.divide(confidence, estimate, out=np.zeros(len(self.mass)), where=self.labeling_prob > 0)
        bracket = pair_mean(self.labeled * weight, losses, self.mass)
        return self.label_freq / (1 - self.prior) * bracket - self.prior / (2 * (1 - self.prior))


def risk_by_double_loop(score, mass, posterior, labeling_prob, estimate):
    """R(s; u-hat) of App. B.2, summed over every pair of points of a finite law."""
    prior, alpha = float(mass @ posterior), float(mass @ labeling_prob)
    label_freq = alpha / prior
    labeled_mass = mass * labeling_prob / alpha
    total = 0.0
    for n in range(len(mass)):
        for m in range(len(mass)):
            loss = 1 / (1 + np.exp(score[n] - score[m]))
            total += labeled_mass[n] * mass[m] * posterior[n] / estimate[n] * loss
    return label_freq / (1 - prior) * total - prior / (2 * (1 - prior))


def random_law(seed, size, *, with_zero=False):
    """Draw a law; `with_zero` makes its first point one that is never positive, and so never labeled."""
    rng = np.random.RandomState(seed)
    posterior = rng.uniform(0.05, 0.95, size)
    if with_zero:
        posterior[0] = 0
    return FiniteLaw(rng.dirichlet(np.full(size, 3.0)), posterior, rng.uniform(0.1, 1, size))


def laws_to_rank():
    """Laws of five points, some with a posterior of zero, one with a tie."""
    yield from (random_law(seed, 5, with_zero=seed % 2 == 0) for seed in range(6))
    tied = random_law(0, 5)
    yield FiniteLaw(tied.mass, np.array([0.0, 0.3, 0.7, 0.7, 1.0]), tied.propensity)


def sigmoid_loss(score):
    """sigma(-(s_n - s_m)) in row n, column m; scores may be stacked along leading axes."""
    return expit(score[..., None, :] - score[..., :, None])


def zero_one_loss(score):
    return 0.5 - 0.5 * np.sign(score[..., :, None] - score[..., None, :])


def pair_mean(first, losses, second):
    """Sum over n and m of first_n losses_nm second_m."""
    return np.einsum("n,...nm,m->...", first, losses, second)


def all_rankings(size):
    """Scores of every ranking of `size` points, those with ties among them (and some of them more than once)."""
    return np.array(list(product(range(size), repeat=size)), dtype=float)


def is_lowest(risk):
    return risk <= risk.min() + 1e-12


def puts_above(scores):
    """True at [k, i, j] where ranking k puts point i above point j."""
    return scores[:, :, None] > scores[:, None, :]


def sorts(scores, posterior):
    """Which rankings put every point above all points of smaller posterior."""
    return (puts_above(scores) | ~(posterior[:, None] > posterior[None, :])).all(axis=(1, 2))


def all_counts(total, mass):
    """How often each point may occur among `total` draws, one row per possibility, and the probability of each.

    Possibilities below 1e-15 are left out: whoever sums probabilities sees by how much they fall short of one.
    """
    size = len(mass)
    bars = np.array(list(combinations(range(total + size - 1), size - 1)))  # stars and bars
    edges = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), total + size - 1)])
    counts = np.diff(edges, axis=1) - 1
    probability = multinomial.pmf(counts, total, mass)
    kept = probability > 1e-15
    return counts[kept].astype(float), probability[kept]


def estimated_terms(kernel, labeled, unlabeled):
    """Eqs. (60) and (61) for counts of each point, `kernel` being h_sv: shapes (A, 1) and (A, B)."""
    n_labeled, n_unlabeled = labeled[0].sum(), unlabeled[0].sum()
    pairs = np.einsum("an,nm,am->a", labeled, kernel, labeled) - labeled @ np.diag(kernel)  # without n = m
    labeled_pairs = pairs[:, None] / (n_labeled * (n_labeled - 1))
    return labeled_pairs, labeled @ kernel @ unlabeled.T / (n_labeled * n_unlabeled)


def flat_labeling(n_labeled, n_unlabeled):
    """Candidates and law on which Eq. (82) says something for large samples: no labeling probability is small."""
    law = FiniteLaw(np.array([0.4, 0.6]), np.array([1.0, 0.2]), np.array([0.2, 1.0]))
    scores = np.array([[0.0, low] for low in (-5, -1, 0, 1, 5)])
    estimates, confidence = [law.labeling_prob, np.array([0.2, 0.205])], law.posterior - np.array([0.01, 0])
    return law, scores, estimates, confidence, n_labeled, n_unlabeled


def small_and_random(seed):
    """Candidates, law and samples so small that Eq. (82) is far above 1 and holds for no other reason."""
    law, rng = random_law(seed, 3), np.random.RandomState(seed)
    wrong = np.clip(law.labeling_prob + rng.uniform(-0.02, 0.02, 3), 0.01, 1)
    return law, rng.normal(scale=3, size=(3, 3)), [law.labeling_prob, wrong], 0.97 * law.posterior, 12, 24


def worst_deviations(law, scores, estimates, confidence, n_labeled, n_unlabeled):
    """Over all candidates, the left sides of Eqs. (66), (78) and (82), the last less its optimization error.

    One entry per possible sample, with the probabilities of all.
    """
    labeled, labeled_prob = all_counts(n_labeled, law.labeled)
    unlabeled, unlabeled_prob = all_counts(n_unlabeled, law.unlabeled)
    factor, alpha, alpha_hat = law.label_freq / (1 - law.prior), law.alpha, n_labeled / (n_labeled + n_unlabeled)
    exact = law.rewritten_risk(sigmoid_loss(scores))
    of_bracket, of_risk, excess = np.zeros((3, len(labeled), len(unlabeled)))
    for estimate in estimates:
        risks = []  # Eq. (17) without its constant
        for score in scores:
            kernel = (confidence / estimate)[:, None] * sigmoid_loss(score)
            labeled_pairs, mixed_pairs = estimated_terms(kernel, labeled, unlabeled)
            mean = pair_mean(law.labeled, kernel, law.mass)
            np.maximum(of_bracket, abs(alpha * labeled_pairs + (1 - alpha) * mixed_pairs - mean), out=of_bracket)
            risks.append(factor * (alpha_hat * labeled_pairs + (1 - alpha_hat) * mixed_pairs))
            np.maximum(of_risk, abs(risks[-1] - factor * mean), out=of_risk)
        lowest = np.min(risks, axis=0)
        for risk, true_risk in zip(risks, exact, strict=True):  # each score is what an imperfect training may return
            np.maximum(excess, true_risk - exact.min() - (risk - lowest), out=excess)
    return of_bracket, of_risk, excess, np.outer(labeled_prob, unlabeled_prob)
