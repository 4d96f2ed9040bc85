"""Which method suits a table: all are cross-validated, using only the biased labels."""

import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np

from unskew._support.notebook import html_table
from unskew._support.progress import progress_bar
from unskew._support.text import plural
from unskew.errors import TooFewLabeled
from unskew.metrics import auc, compare_rankings, estimate_ranking
from unskew.metrics.crossval import out_of_fold_score
from unskew.metrics.estimates import findings_instead_of_warnings, findings_of
from unskew.metrics.recommend import Compared, choose, explain
from unskew.metrics.reliability import shows_points
from unskew.metrics.sar import PairedDifference
from unskew.posterior import Posterior, fit_posterior
from unskew.practice.fit import ABOUT_PARTS, LEAST_IN_FOLD, TrainingOptions, folds_for, rows_to_judge, warn_once
from unskew.practice.labeled_table import LabeledTable
from unskew.rankers import Ranker, method_card, methods
from unskew.workers import connected

LEVEL = 0.95
"""Share of tables in which the intervals of all differences from the recommended method hold together."""
QUICK_SECONDS = 45.0
"""After so long a quick comparison begins no other method, nor one that is likely to end later than that."""
QUICK_ROWS, QUICK_LABELED, QUICK_NUMBERS, QUICK_FOLDS = 5_000, 300, 2_000_000, 2
"""Unlabeled and labeled rows that it takes at most, numbers in the unlabeled ones, and folds."""


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

    def _repr_html_(self) -> str:
        from unskew.practice.terminal import about_compared_table, comparison_table

        return html_table(self.reason, comparison_table(self), about_compared_table(self))


def compare_table(
    table: LabeledTable,
    training: TrainingOptions,
    names: Sequence[str] = (),
    n_folds: int | None = None,
    *,
    n_jobs: int = 1,
    workers: str | None = None,
    quick: bool = False,
) -> Comparison:
    """Cross-validate methods (by default all) on the same folds, and judge them by one posterior.

    The table must have a confidence. No method sees its true classes, which show how good the recommendation is. Each
    fold is computed on one thread, `n_jobs` of them at a time, or by `workers` on Ray. A `quick` comparison takes some
    rows and two folds (unless told otherwise), and leaves out methods for which there is no time; its messages say so.
    """
    names = tuple(dict.fromkeys(names)) or methods()
    findings = [each.message for each in table.findings]
    table, messages = _rows_to_compare(table, training.seed, quick=quick)
    n_folds = check_folds(table, QUICK_FOLDS if quick and n_folds is None else n_folds)
    data = table.matrix, table.y, table.confidence
    rankers = {name: training.ranker(name) for name in names}
    names = tuple(sorted(names, key=lambda name: _effort(rankers[name]))) if quick else names
    scores: dict[str, np.ndarray] = {}
    seconds: dict[str, float] = {}
    with (
        nullcontext() if workers is None else connected(workers) as pool,
        warn_once(ABOUT_PARTS),
        progress_bar("comparing", len(names) * n_folds, shown=True) as step,
    ):
        for name in names:
            if quick and sum(seconds.values()) + _expected(rankers[name], seconds) > QUICK_SECONDS:
                step(n=n_folds)
                continue
            step(f"{name}, {plural(n_folds, 'fold')}", 0)
            start, done = time.perf_counter(), iter(range(2, n_folds + 1))
            scores[name] = out_of_fold_score(
                rankers[name],
                *data,
                n_folds=n_folds,
                random_state=training.seed,
                n_jobs=n_jobs,
                workers=pool,
                step=lambda name=name, done=done: step(f"{name}, fold {next(done, n_folds)} of {n_folds}"),
            )
            seconds[name] = time.perf_counter() - start
    if len(scores) < len(names):
        left_out = ", ".join(name for name in names if name not in scores)
        messages.append(f"There was no time for {left_out}. Leave --quick out, or name methods with --methods.")
    found = judge(scores, fit_posterior(*data), seconds, table.truth)
    return replace(found, messages=(*findings, *messages, *found.messages))


def _rows_to_compare(table: LabeledTable, seed: int, *, quick: bool) -> tuple[LabeledTable, list[str]]:
    """The rows that methods are compared on, in memory, and what a user should know of them."""
    n_rows, rng = len(table.y), np.random.RandomState(seed)
    if quick:
        others = max(QUICK_LABELED, min(QUICK_ROWS, QUICK_NUMBERS // len(table.schema.feature_names)))
        kinds = [(np.flatnonzero(table.y == kind), most) for kind, most in ((1, QUICK_LABELED), (0, others))]
        rows = np.sort(np.concatenate([rng.permutation(each)[:most] for each, most in kinds]))
        n_labeled = int(table.y[rows].sum())
        note = f"A quick comparison is rough: {len(rows):,} of {n_rows:,} rows ({n_labeled:,} labeled) and few folds."
        if len(rows) < n_rows:
            note += " The share of positives is that of these rows, and what wins with few rows may not with all."
    elif not table.in_memory:
        rows = rows_to_judge(table.y, np.ones(n_rows, dtype=bool), rng)
        note = f"The table is larger than memory: methods are compared on {len(rows):,} of {n_rows:,} rows."
    else:
        return table, []
    return (table.some_rows(rows) if len(rows) < n_rows else table), [note]


def _effort(ranker: Ranker) -> tuple[bool, bool]:
    """Order in which methods are tried where time is short: closed forms, single networks, and what combines others."""
    return ranker.ensemble > 1, ranker.trains_networks


def _expected(ranker: Ranker, seconds: Mapping[str, float]) -> float:
    """Time that a method is likely to take: as the slowest so far, or as all together if it combines others."""
    return (sum if ranker.ensemble > 1 else max)(seconds.values()) if seconds else 0.0


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
        messages=tuple(each.message for each in findings),
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
