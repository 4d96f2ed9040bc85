"""Which method suits a table: all are cross-validated, using only the biased labels."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unskew.errors import TooFewLabeled
from unskew.metrics import auc, compare_rankings, estimate_ranking
from unskew.metrics.crossval import out_of_fold_score
from unskew.metrics.estimates import findings_instead_of_warnings, findings_of
from unskew.metrics.recommend import Compared, choose, explain
from unskew.metrics.reliability import shows_points
from unskew.metrics.sar import PairedDifference
from unskew.posterior import Posterior, fit_posterior
from unskew.practice.fit import ABOUT_PARTS, LEAST_IN_FOLD, TrainingOptions, folds_for, warn_once
from unskew.practice.labeled_table import LabeledTable
from unskew.rankers import method_card, methods

LEVEL = 0.95
"""Share of tables in which the intervals of all differences from the recommended method hold together."""


@dataclass(frozen=True)
class Comparison:
    """Methods by their estimated AUC, the best first.

    Attributes
    ----------
    prior, prior_low, prior_high, reliability : float
        Of the table, whatever method ranks it; see `unskew.metrics.RankingEstimate`.
    right : str or None
        Where the truth is known, how good the recommendation was.
    difference_level : float
        Level of the interval of each difference, corrected for the number of methods.
    messages : tuple of str
        What a user should know of the estimates.
    """

    compared: tuple[Compared, ...]
    recommended: str
    reason: str
    prior: float
    prior_low: float
    prior_high: float
    reliability: float
    right: str | None
    difference_level: float
    messages: tuple[str, ...]

    @property
    def shows_points(self) -> bool:
        """Whether single values are shown, or only their intervals."""
        return shows_points(self.reliability)


def compare_table(
    table: LabeledTable, training: TrainingOptions, names: Sequence[str] = (), n_folds: int | None = None
) -> Comparison:
    """Cross-validate methods (by default all) on the same folds, and judge them by one posterior.

    The table must have a confidence. No method sees its true classes, which show how good the recommendation is.
    """
    names = tuple(dict.fromkeys(names)) or methods()
    n_folds, data = check_folds(table, n_folds), (table.X, table.y, table.confidence)
    scores: dict[str, np.ndarray] = {}
    seconds: dict[str, float] = {}
    with warn_once(ABOUT_PARTS):
        for name in names:
            start = time.perf_counter()
            ranker = training.ranker(name)
            scores[name] = out_of_fold_score(ranker, *data, n_folds=n_folds, random_state=training.seed, verbose=True)
            seconds[name] = time.perf_counter() - start
    return judge(scores, fit_posterior(*data), seconds, table.truth)


def check_folds(table: LabeledTable, requested: int | None) -> int:
    """Parts for cross-validation: as many as requested, or as suit the table. Each needs two rows of either kind."""
    n_labeled, n_rows = int(table.y.sum()), len(table.y)
    most = min(n_labeled, n_rows - n_labeled) // LEAST_IN_FOLD
    each = f"each part must have at least {LEAST_IN_FOLD} labeled rows and {LEAST_IN_FOLD} others"
    if most < 2:
        raise TooFewLabeled(
            f"{table.path}: to compare by cross-validation, {each}, and there must be 2 parts, but of {n_rows:,} rows "
            f"{n_labeled:,} are labeled. Label more, or add rows."
        )
    if requested is not None and not 2 <= requested <= most:
        raise ValueError(
            f"--folds must lie between 2 and {most} for {table.path}, because {each} and {n_labeled:,} of {n_rows:,} "
            f"rows are labeled, but it is {requested}. Leave it out for {folds_for(table.y)}."
        )
    return folds_for(table.y) if requested is None else requested


def judge(
    scores: Mapping[str, np.ndarray],
    posterior: Posterior,
    seconds: Mapping[str, float],
    truth: np.ndarray | None = None,
) -> Comparison:
    """Rank methods by scores from models that were not trained on the row, and recommend one."""
    level = level_for(len(scores))

    def difference(first: str, second: str) -> PairedDifference:
        return compare_rankings(scores[first], scores[second], posterior, level=level)

    with findings_instead_of_warnings():  # the messages say so, once
        estimates = {name: estimate_ranking(score, posterior) for name, score in scores.items()}
        recommended = choose(estimates, difference)
        differences = {name: difference(name, recommended) for name in scores if name != recommended}
    compared = []
    for name in sorted(scores, key=lambda name: -estimates[name].auc):
        found, (_, low, high) = estimates[name], differences.get(name, (None, None, None))
        true = None if truth is None else float(auc(truth, scores[name]))
        numbers = found.auc, found.low, found.high, seconds[name], true
        compared.append(Compared(name, method_card(name).table_name, *numbers, low, high))
    found = estimates[recommended]
    findings = [each for each in findings_of(found, posterior) if each.level != "good"]
    return Comparison(
        compared=tuple(compared),
        recommended=recommended,
        reason=explain(compared, recommended, with_points=shows_points(posterior.reliability)),
        prior=found.prior,
        prior_low=found.prior_low,
        prior_high=found.prior_high,
        reliability=posterior.reliability,
        right=None if truth is None else _how_right(compared, recommended),
        difference_level=level,
        messages=tuple(f"{each.text} {each.advice}" for each in findings),
    )


def level_for(n_methods: int) -> float:
    """Level of the interval of one difference, so that all of them hold together (Bonferroni).

    Examples
    --------
    >>> [round(level_for(n), 3) for n in (1, 2, 11)]
    [0.95, 0.95, 0.995]
    """
    return 1 - (1 - LEVEL) / max(1, n_methods - 1)


def _how_right(compared: Sequence[Compared], recommended: str) -> str:
    true = {each.name: each.true_auc or 0.0 for each in compared}
    best = max(true, key=lambda name: true[name])
    return (
        f"By the true classes, {best} is the best with an AUC of {true[best]:.3f}, and the recommended {recommended} "
        f"has {true[recommended]:.3f}."
    )
