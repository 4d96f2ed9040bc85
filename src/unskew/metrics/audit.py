"""Share of positives, AUC, precision and recall from a few rows checked by hand, whatever the model is.

The rows are drawn with known probabilities, more of them where they decide. The model's probabilities make intervals
shorter where they explain the classes of the checked rows, and are not used where they do not: intervals rest on the
draw alone. Derivation: docs/audit.md.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit
from scipy.stats import t as student
from sklearn.utils import check_random_state
from sklearn.utils.validation import column_or_1d

from unskew.data.validation import plain_array
from unskew.metrics._audit_design import AuditSample, draw_sample
from unskew.metrics._audit_intervals import (
    FOR_AUC,
    FOR_RECALL,
    Cells,
    Ends,
    Moments,
    contradiction,
    interval,
    shares_under,
)
from unskew.metrics._display import audit_html
from unskew.metrics._tables import finite_scores, probabilities_of_rows

LEAST_ROWS = 10
NOT_KNOWN: Ends = (float("nan"), float("nan"), float("nan"))
USUAL_SHARE = 0.1
"""Share of rows above the cut where neither a threshold nor probabilities are known."""


@dataclass(frozen=True)
class AuditEstimate:
    """What rows checked by hand say about a ranking of the whole table; each number with the ends of its interval.

    Attributes
    ----------
    n_rows, n_checked, n_positive : int
        Rows of the table, checked ones, positives among these.
    prior : float
        Share of positives in the table.
    auc : float
        Share of pairs that the score has in the right order; NaN if only one class was found.
    n_top : int
        Rows above the cut.
    threshold : float
        Score at the cut; rows with this score are above it.
    precision : float
        Share of positives above the cut; NaN if no row is there.
    recall : float
        Share of all positives that is above the cut; NaN if no positive was found.
    mean_probability : float
        Mean of the model's probabilities; NaN without them.
    intercept, slope : float
        Of the log odds of the classes by those of the model's probabilities: 0 and 1 if they are calibrated; NaN if
        they cannot be estimated.
    calibration : str
        One sentence about the probabilities.
    level : float
        Nominal coverage of all intervals.

    Examples
    --------
    >>> [name for name in AuditEstimate.__annotations__ if name.startswith("auc")]
    ['auc', 'auc_low', 'auc_high']
    """

    n_rows: int
    n_checked: int
    n_positive: int
    prior: float
    prior_low: float
    prior_high: float
    auc: float
    auc_low: float
    auc_high: float
    n_top: int
    threshold: float
    precision: float
    precision_low: float
    precision_high: float
    recall: float
    recall_low: float
    recall_high: float
    mean_probability: float
    intercept: float
    intercept_low: float
    intercept_high: float
    slope: float
    slope_low: float
    slope_high: float
    calibration: str
    level: float

    def _repr_html_(self) -> str:
        return audit_html(self)


def audit_sample(
    score: Any,
    n: int,
    random_state: int | np.random.RandomState | None = 0,
    *,
    probability: Any = None,
    threshold: float | None = None,
) -> AuditSample:
    """Draw rows to check by hand, with known probabilities, more of them where they decide.

    Parameters
    ----------
    score : array of shape (n_rows,)
        Higher for more likely positive.
    n : int
        Rows to check, from 10 up to all.
    random_state : int, RandomState or None
        Which rows are drawn; the strata do not depend on it.
    probability : array of shape (n_rows,), optional
        The model's probabilities; their mean places the cut if there is no `threshold`.
    threshold : float, optional
        Score at the cut whose precision and recall are of interest.

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
    checked = finite_scores(score)
    if not LEAST_ROWS <= n <= len(checked):
        raise ValueError(
            f"n must be from {LEAST_ROWS} to the number of rows, {len(checked)}, but it is {n}. Give another number."
        )
    if threshold is None and probability is not None:
        threshold = _cut_by(checked, probabilities_of_rows(probability, checked))
    share = USUAL_SHARE if threshold is None else float(np.mean(checked >= threshold))
    share = float(np.clip(share, 1 / len(checked), 1 - 1 / len(checked)))
    return draw_sample(checked, int(n), share, threshold, check_random_state(random_state))


def audit_estimate(
    score: Any,
    probability: Any,
    rows: AuditSample,
    truth: Any,
    *,
    threshold: float | None = None,
    level: float = 0.95,
) -> AuditEstimate:
    r"""Estimate share of positives, AUC, precision and recall at the cut, and judge the probabilities.

    .. math::
        \widehat{AUC} = \frac{\hat W - \hat P^2 / 2}{\hat P (N - \hat P)}, \qquad
        W = \sum_i r_i y_i, \quad P = \sum_i y_i, \quad r_i = \#\{s_j < s_i\} + \tfrac12 \#\{s_j = s_i\}

    Implements: Eq. (A6).

    Parameters
    ----------
    score : array of shape (n_rows,)
        The scores that the rows were drawn with.
    probability : array of shape (n_rows,), in [0, 1], or None
        The model's probabilities of being positive, of all rows; they may be wrong. None if there are none.
    rows : AuditSample
        From `audit_sample`.
    truth : array of shape (n,)
        Classes of the drawn rows, 1 or 0, in the order of `rows.rows`.
    threshold : float, optional
        Score at the cut; by default that of the draw, else the cut with as many rows above it as the probabilities
        expect positives.
    level : float in (0, 1)
        Coverage of the intervals.

    Examples
    --------
    >>> import numpy as np
    >>> import unskew
    >>> rng = np.random.default_rng(0)
    >>> probability = rng.beta(1, 4, 1000)
    >>> truth = (rng.uniform(size=1000) < probability).astype(int)
    >>> rows = unskew.metrics.audit_sample(probability, 100, random_state=0)
    >>> found = unskew.metrics.audit_estimate(probability, probability, rows, truth[rows.rows])
    >>> bool(found.prior_low < truth.mean() < found.prior_high)
    True
    """
    checked, classes = finite_scores(score), _classes(truth, rows)
    _check_draw(checked, rows, level)
    prob = None if probability is None else probabilities_of_rows(probability, checked)
    cut = _threshold(checked, prob, rows, threshold)
    cells = _cells(checked, prob, rows, classes, cut, level)
    prior, n_top = _prior(cells), int(cells.top.sum())
    mean, intercept, slope, sentence = _calibration(cells, prior)
    counts = len(checked), len(classes), int(classes.sum())
    return AuditEstimate(
        *counts, *prior, *_auc(cells), n_top, cut, *_precision(cells), *_recall(cells),
        mean, *intercept, *slope, sentence, level,
    )  # fmt: skip


def _classes(truth: Any, rows: AuditSample) -> np.ndarray:
    classes: np.ndarray = np.asarray(column_or_1d(plain_array(truth)), dtype=np.float64)
    if len(classes) != len(rows.rows):
        raise ValueError(
            f"truth must have one class for each of the {len(rows.rows)} drawn rows, but it has {len(classes)}. Rows "
            "that were hard to judge are not a random part: check them, too."
        )
    wrong = ~np.isin(classes, (0, 1))
    if wrong.any():
        place = int(wrong.argmax())
        raise ValueError(f"truth must be 0 or 1, but it is {classes[place]} at place {place}. Check that row again.")
    return classes


def _check_draw(score: np.ndarray, rows: AuditSample, level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, but it is {level!r}.")
    same = len(score) == rows.n_rows and np.array_equal(rows.stratum_of(score)[rows.rows], rows.stratum)
    if not same:
        raise ValueError(
            f"score must be the one that the rows were drawn with, of {rows.n_rows} rows, but it is another one, of "
            f"{len(score)} rows. Score the same table with the same model, or draw again."
        )


def _cut_by(score: np.ndarray, prob: np.ndarray) -> float:
    """Lowest score of as many rows as there should be positives."""
    n_top = int(np.clip(round(float(prob.sum())), 1, len(score)))
    return float(np.partition(score, len(score) - n_top)[len(score) - n_top])


def _threshold(score: np.ndarray, prob: np.ndarray | None, rows: AuditSample, threshold: float | None) -> float:
    given = rows.threshold if threshold is None else threshold
    if given is not None:
        return float(given)
    if prob is not None:
        return _cut_by(score, prob)
    return float(np.quantile(score, 1 - USUAL_SHARE, method="higher"))


def _cells(
    score: np.ndarray, prob: np.ndarray | None, rows: AuditSample, classes: np.ndarray, cut: float, level: float
) -> Cells:
    """Strata, of which the one with the cut inside becomes two."""
    top = score >= cut
    names, cell = np.unique(2 * rows.stratum_of(score) + ~top, return_inverse=True)
    others = [np.flatnonzero((names // 2 == name // 2) & (names != name)) for name in names]
    mate = np.array([each[0] if len(each) else own for own, each in enumerate(others)])
    return Cells(cell, mate, rows.rows, classes, prob, score, top, level)


def _prior(cells: Cells) -> Ends:
    every = np.ones(len(cells.score))
    tuning = cells.tune(every)
    value = float(np.clip(cells.total(every, tuning.power) / len(every), 0, 1))
    one = np.ones(cells.count)

    def excess(prior: float) -> float:
        share = shares_under(cells, one, prior * len(every))
        return contradiction(cells, (value - prior) * len(every), share, Moments(one, one, one), tuning)

    return interval(value, excess)


def _precision(cells: Cells) -> Ends:
    n_top = int(cells.top.sum())
    if n_top == 0:
        return float("nan"), 0.0, 1.0
    above = cells.top.astype(float)
    tuning, inside = cells.tune(above), cells.mean(above)
    value = float(np.clip(cells.total(above, tuning.power) / n_top, 0, 1))

    def excess(precision: float) -> float:
        share = shares_under(cells, inside, precision * n_top)
        return contradiction(cells, (value - precision) * n_top, share, Moments(inside, inside, inside), tuning)

    return interval(value, excess)


def _recall(cells: Cells) -> Ends:
    every, above = np.ones(len(cells.score)), cells.top.astype(float)
    positives = cells.total(every)
    if positives <= 0:
        return float("nan"), 0.0, 1.0
    tuning, inside = cells.tune(above - cells.total(above) / positives), cells.mean(above)
    found, positives = cells.total(above, tuning.power), cells.total(every, tuning.power)
    value = float(np.clip(found / positives, 0, 1))

    def excess(recall: float) -> float:
        powers = [inside * (1 - recall) ** k + (1 - inside) * (-recall) ** k for k in (1, 2, 3)]
        share = shares_under(cells, powers[0], 0.0)
        return contradiction(cells, found - recall * positives, share, Moments(*powers), tuning, FOR_RECALL)

    return interval(value, excess)


def _auc(cells: Cells) -> Ends:
    """Eq. (A6), whose slope by the class of row i is r_i - P - AUC (N - 2 P), up to a factor."""
    n, rank, every = len(cells.score), cells.rank, np.ones(len(cells.score))
    positives = cells.total(every)
    if not 0 < positives < n:
        return float("nan"), 0.0, 1.0
    plain = _auc_of(cells.total(rank), positives, n)
    tuning = cells.tune(rank - positives - plain * (n - 2 * positives))
    tuned = cells.total(every, tuning.power)
    if not 0 < tuned < n:
        return float("nan"), 0.0, 1.0
    ranks, means = cells.total(rank, tuning.power), [cells.mean(rank**k) for k in (1, 2, 3)]

    def excess(auc: float) -> float:
        under = tuned
        for _ in range(3):  # the slope depends on the number of positives, and that on the slope
            at = under + auc * (n - 2 * under)
            first = means[0] - at
            share = shares_under(cells, first, under**2 * (auc - 0.5))
            under = float(cells.size @ share)
        second = means[1] - 2 * at * means[0] + at**2
        third = means[2] - 3 * at * means[1] + 3 * at**2 * means[0] - at**3
        gap = ranks - tuned**2 / 2 - auc * tuned * (n - tuned)
        return contradiction(cells, gap, share, Moments(first, second, third), tuning, FOR_AUC)

    return interval(float(np.clip(_auc_of(ranks, tuned, n), 0, 1)), excess)


def _auc_of(ranks: float, positives: float, n: int) -> float:
    return (ranks - positives**2 / 2) / (positives * (n - positives))


def _calibration(cells: Cells, prior: Ends) -> tuple[float, Ends, Ends, str]:
    """Mean probability, intercept and slope with their intervals, and a sentence about them."""
    if cells.probability is None:
        return NOT_KNOWN[0], NOT_KNOWN, NOT_KNOWN, "The model gives no probabilities, so there is nothing to judge."
    mean = float(cells.probability.mean())
    intercept, slope = _recalibration(cells)
    spread = student.ppf((1 + cells.level) / 2, len(cells.truth) - 1) * float(
        np.sqrt(np.sum(cells.probability * (1 - cells.probability))) / len(cells.probability)
    )
    sentence = _about_mean(mean, prior, spread) or _about_slope(slope) or "Nothing speaks against the probabilities."
    return mean, intercept, slope, sentence


def _about_mean(mean: float, prior: Ends, spread: float) -> str:
    """Nothing, or that the mean is off by more than the draw and the chance of the classes themselves explain."""
    low, high = (float(np.hypot(prior[0] - end, spread)) for end in prior[1:])
    if prior[0] - low <= mean <= prior[0] + high:
        return ""
    found = f"they expect {100 * mean:.1f} % positives, the audit finds {100 * prior[1]:.1f} to {100 * prior[2]:.1f} %"
    return f"The probabilities are too {'high' if mean > prior[2] else 'low'}: {found}."


def _about_slope(slope: Ends) -> str:
    if slope[2] < 1:
        return "The probabilities are too extreme: high ones are too high, and low ones too low."
    if slope[1] > 1:
        return "The probabilities are too cautious: high ones are too low, and low ones too high."
    return ""


def _recalibration(cells: Cells) -> tuple[Ends, Ends]:
    r"""Intercept and slope of the log odds, weighted by the design; NaN if too few rows of one class were found.

    .. math:: \sum_h \frac{N_h}{n_h} \sum_{i \in S_h} (y_i - \sigma(a + b l_i)) (1, l_i) = 0, \qquad
        l_i = \log\frac{m_i}{1 - m_i}

    Implements: Eq. (A7).
    """
    assert cells.probability is not None
    odds = logit(np.clip(cells.probability[cells.checked], 1e-4, 1 - 1e-4))
    positives = int(cells.truth.sum())
    few = min(positives, len(odds) - positives)
    if few < 5 or np.ptp(odds) < 1e-6:
        return NOT_KNOWN, NOT_KNOWN
    x = np.column_stack([np.ones(len(odds)), odds])
    weight = (cells.size / cells.n)[cells.cell[cells.checked]]
    weight = weight / weight.mean()
    line = np.array([0.0, 1.0])
    for _ in range(50):
        prob = expit(x @ line)
        curvature = (x * (weight * prob * (1 - prob))[:, None]).T @ x + 1e-3 * np.eye(2)
        change = np.linalg.solve(curvature, x.T @ (weight * (cells.truth - prob)) - 1e-3 * (line - [0, 1]))
        line = line + change / max(1.0, float(np.abs(change).max()))
        if np.abs(change).max() < 1e-8:
            break
    push = x * (weight * (cells.truth - expit(x @ line)))[:, None]
    inverse = np.linalg.inv(curvature)
    half = student.ppf((1 + cells.level) / 2, few - 1) * np.sqrt(np.diag(inverse @ (push.T @ push) @ inverse))
    ends = [(float(v), float(v - h), float(v + h)) for v, h in zip(line, half, strict=True)]
    return ends[0], ends[1]
