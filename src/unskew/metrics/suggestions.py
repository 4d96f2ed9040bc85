"""Which rows to label next, and why."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from unskew._support.text import percent
from unskew.data.labels import labeled_by
from unskew.data.validation import one_label_per_row
from unskew.errors import LowReliabilityWarning
from unskew.metrics._display import suggestions_html
from unskew.metrics._label_design import choose_rows, share_of_likes
from unskew.metrics.estimates import auc_and_slope
from unskew.metrics.reliability import check_reliability, shows_points
from unskew.objectives.joint_likelihood import flattening
from unskew.posterior import PosteriorModel

MOST_ROWS = 20_000
"""Rows that suggestions are chosen from and for, at most: a random sample of a larger table."""
LEAST_LIKELY = 0.5
"""Probability, relative to the mean, below which a row is not suggested: what a confidence near 0 says is a matter of
votes and rounding, and a list of rows that all turn out negative is one that nobody finishes."""
RARELY = 0.5
"""Share of the usual propensity below which positives count as rarely labeled."""
GAP, ESTIMATE = "gap", "estimate"


@dataclass(frozen=True)
class Suggestions:
    """Rows to label next, the most useful first.

    Attributes
    ----------
    rows : int array of shape (n,)
        Row numbers, from 0.
    kinds : tuple of str
        "gap" where positives are rarely labeled, so that the labels hardly show such rows; "estimate" for others, of
        which the probabilities of many rows, and so share of positives and AUC, depend.
    reasons : tuple of str
        The same as a sentence each.
    left : array of shape (n,)
        What the model expects to be left of the variances of the AUC and of the share of positives once this row and
        those before it are labeled: the mean of the two, relative to now. Only errors of its own coefficients count.
    n_considered : int
        Rows that they were chosen from.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> ranker = unskew.make("conf-reg").fit(data.X, data.labeled, confidence=data.confidence)
    >>> found = unskew.suggest(ranker, data.X, 5, labeled=data.labeled)
    >>> len(found.rows), len(found.reasons)
    (5, 5)
    """

    rows: np.ndarray
    kinds: tuple[str, ...]
    reasons: tuple[str, ...]
    left: np.ndarray
    n_considered: int

    def _repr_html_(self) -> str:
        return suggestions_html(self)


def suggest(
    est: Any, X: Any, n: int = 50, *, labeled: Any = None, random_state: int | np.random.RandomState | None = 0
) -> Suggestions:
    """Say which rows to label next so that ranking and estimates get better, each with its reason.

    A label is a row with a confidence, whether it turns out positive or not: fit again with y = 1 and that confidence
    on every row that was checked. `docs/suggestions.md` derives the choice and says what it brings. Warns where the
    confidence can hardly be predicted from the row.

    Parameters
    ----------
    est : fitted ranker
        Of any method, with probabilities: fitted with confidence.
    X : as for `predict_proba`
        Rows to choose from and to be right about: those that it was fitted to, or new ones.
    n : int, default=50
        How many rows.
    labeled : array of shape (n_rows,), optional
        Labels of the rows, as `y` of `fit`; those that are labeled are not suggested.
    random_state : int, RandomState or None, default=0
        Which rows are looked at where there are more than 20,000.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(600, random_state=0)
    >>> ranker = unskew.make("conf-gp").fit(data.X, data.labeled, confidence=data.confidence)
    >>> found = suggest(ranker, data.X, 5, labeled=data.labeled)
    >>> len(found.rows), bool(data.labeled[found.rows].any())
    (5, False)
    """
    model = _model_with_errors(est)
    if note := note_on_reliability(est):
        warnings.warn(note, LowReliabilityWarning, stacklevel=2)
    rows = est.read_features(X)
    is_labeled = np.zeros(len(rows), dtype=bool)
    if labeled is not None:
        is_labeled = labeled_by(one_label_per_row(labeled, len(rows), "labeled"), est.classes_, "labeled")
    n_free = int(len(rows) - is_labeled.sum())
    if not 1 <= n <= n_free:
        raise ValueError(
            f"n must be from 1 to the number of rows without a label, {n_free:,}, but it is {n:,}. Give another number."
        )
    looked_at = _rows_to_look_at(is_labeled, n, check_random_state(random_state))
    table = model.table_of(rows.take(looked_at))
    score, free = est.scores_at(rows, looked_at), ~is_labeled[looked_at]
    found = _suggest(model, table, score, free, n, is_prior_known=est.prior is not None)
    return Suggestions(looked_at[found.rows], found.kinds, found.reasons, found.left, found.n_considered)


def note_on_reliability(est: Any) -> str:
    """What to know where the confidence hardly follows from the row; empty where it does."""
    if shows_points(est.reliability_):
        return ""
    return (
        f"{check_reliability(est.reliability_).text} So it is hardly known what the model is unsure of: label some "
        "rows that are drawn at random, too."
    )


def _model_with_errors(est: Any) -> PosteriorModel:
    """The posterior of a ranker, which must know how far it may be off."""
    if not hasattr(est, "read_features"):
        raise TypeError(
            f"est must be a ranker of this package, but it is a {type(est).__name__}. Transform X first, and pass the "
            "ranker alone."
        )
    check_is_fitted(est)
    model: PosteriorModel | None = getattr(est, "posterior_", None)
    if model is None:
        raise ValueError(
            "which rows to label follows from the model's probabilities, but this model has none: it was fitted "
            "without confidence, or with probability=False. Fit it with confidence."
        )
    if model.errors is None:
        raise ValueError(
            "which rows to label follows from how far the model's probabilities may be off, but this model comes from "
            "a file of an earlier version, which does not say. Fit it again."
        )
    return model


def _rows_to_look_at(is_labeled: np.ndarray, n: int, rng: np.random.RandomState) -> np.ndarray:
    """All rows, or a sample of so many that n unlabeled ones are among them."""
    if len(is_labeled) <= MOST_ROWS:
        return np.arange(len(is_labeled))
    drawn = rng.choice(len(is_labeled), MOST_ROWS, replace=False)
    if (missing := n - int((~is_labeled[drawn]).sum())) > 0:
        others = np.setdiff1d(np.flatnonzero(~is_labeled), drawn)
        drawn = np.concatenate([drawn, rng.choice(others, missing, replace=False)])
    return np.sort(drawn)


def _suggest(
    model: PosteriorModel, table: np.ndarray, score: np.ndarray, free: np.ndarray, n: int, *, is_prior_known: bool
) -> Suggestions:
    assert model.errors is not None
    columns, covariance = model.columns(table), model.errors.covariance
    f, kappa = columns @ model.coefficients[:, 0], float(flattening(model.unseen[0]))
    prob = expit(kappa * f + model.offset[0])
    steepness = kappa * prob * (1 - prob)
    slopes = columns.T @ _slopes_by_row(score, prob, steepness, is_prior_known=is_prior_known)
    found = choose_rows(columns, covariance, slopes, model.variance_of_confidence(f), _likely_rows(prob, free, n), n)
    propensity = model.propensity_and_deviation(table)[0]
    usual = float(prob @ propensity / prob.sum())
    own, alike = propensity[found.rows], share_of_likes(columns, covariance, found.rows)
    kinds = tuple(GAP if each else ESTIMATE for each in own < RARELY * usual)  # for two samples it is NaN: no gaps
    facts = zip(kinds, own.tolist(), alike.tolist(), strict=True)
    reasons = tuple(_reason(kind, each, usual, share) for kind, each, share in facts)
    return Suggestions(found.rows, kinds, reasons, found.left, len(table))


def _slopes_by_row(score: np.ndarray, prob: np.ndarray, steepness: np.ndarray, *, is_prior_known: bool) -> np.ndarray:
    """Derivatives of AUC and share of positives by the f of each row; a known share stays, and only the AUC counts."""
    of_auc = steepness * auc_and_slope(score, prob)[1]
    if is_prior_known:  # the offset moves against f, so that the mean is held
        return np.asarray(of_auc - of_auc.sum() / steepness.sum() * steepness)[:, None]
    return np.column_stack([of_auc, steepness / len(prob)])


def _likely_rows(prob: np.ndarray, free: np.ndarray, n: int) -> np.ndarray:
    """Unlabeled rows that are likely enough to be positive; the likeliest ones if there are too few."""
    likely = np.flatnonzero(free & (prob >= LEAST_LIKELY * prob.mean()))
    if len(likely) >= n:
        return likely
    candidates = np.flatnonzero(free)
    return np.asarray(np.sort(candidates[np.argsort(-prob[candidates], kind="stable")[:n]]))


def _reason(kind: str, propensity: float, usual: float, alike: float) -> str:
    """In the words of somebody who has never heard of a propensity, and without the probability, which would lead."""
    if kind == GAP:
        return (
            f"Positives like it are rarely labeled: about {percent(propensity)} of them, against {percent(usual)} of "
            f"all. Its label tells most about the {percent(alike)} of rows that are like it."
        )
    return f"The model is unsure about rows like it, {percent(alike)} of all, and the estimates depend on them."
