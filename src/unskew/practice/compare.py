"""Which method suits a table: all are cross-validated, using only the biased labels."""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unskew._support.progress import progress_bar
from unskew.errors import NoEstimateWarning, TooFewLabeled
from unskew.metrics import OutOfFold, SarAUC, auc, out_of_fold, out_of_fold_labeling, sar_auc
from unskew.metrics.recommend import Compared, choose, explain
from unskew.metrics.sar import PairedDifference, paired_difference
from unskew.objectives.weights import CLIP
from unskew.practice.fit import ABOUT_PARTS, LEAST_IN_FOLD, TrainingOptions, folds_for, warn_once
from unskew.practice.labeled_table import LabeledTable
from unskew.rankers import method_card, methods

NEAR = 0.02
"""A recommendation this close to the best true AUC counts as right."""
RESAMPLES = 200
LEVEL = 0.95
"""Share of tables in which the intervals of all differences from the recommended method hold together."""


@dataclass(frozen=True)
class Comparison:
    """Methods by their estimated AUC, the best first.

    Attributes
    ----------
    right : str or None
        Where the truth is known, how good the recommendation was.
    right_share : float or None
        Share of resampled tables in which it would have been within 0.02 of the best.
    difference_level : float
        Level of the interval of each difference, corrected for the number of methods.
    """

    compared: tuple[Compared, ...]
    recommended: str
    reason: str
    right: str | None
    right_share: float | None
    difference_level: float


def compare_table(
    table: LabeledTable, training: TrainingOptions, names: Sequence[str] = (), n_folds: int | None = None
) -> Comparison:
    """Cross-validate methods (by default all) on the same folds, and judge them by the same labeling probability.

    The table must have a confidence. No method sees its true classes, which show how good the recommendation is.
    """
    names = tuple(dict.fromkeys(names)) or methods()
    # All methods share the folds and the forest that judges them; its time is not counted as any method's.
    shared: dict[str, Any] = {"n_folds": check_folds(table, n_folds), "random_state": training.seed}
    with progress_bar("estimating how likely rows are labeled", 1, shown=True) as step:
        shared["labeling_prob"] = out_of_fold_labeling(table.X, table.y, **shared)
        step()
    honest: dict[str, OutOfFold] = {}
    seconds: dict[str, float] = {}
    with warn_once(ABOUT_PARTS):
        for name in names:
            start = time.perf_counter()
            ranker = training.ranker(len(table.y), name)
            honest[name] = out_of_fold(ranker, table.X, table.y, table.confidence, **shared, verbose=True)
            seconds[name] = time.perf_counter() - start
    return judge(table, honest, seconds)


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


def judge(table: LabeledTable, honest: dict[str, OutOfFold], seconds: dict[str, float]) -> Comparison:
    """Rank methods by scores from models that were not trained on the row, and recommend one."""
    truth = table.truth
    # That no AUC can be estimated is said once, by the reason for the recommendation.
    with warnings.catch_warnings(action="ignore", category=NoEstimateWarning):
        estimates, difference = _estimates_of_methods(honest, table.y, table.confidence)
        recommended = choose(estimates, difference)
        differences = {name: difference(name, recommended) for name in honest if name != recommended}
        share = None if truth is None else _share_of_right_recommendations(table, honest, truth)
    compared = []
    for name in sorted(honest, key=lambda name: -estimates[name].unclipped):
        estimate, (_, low, high) = estimates[name], differences.get(name, (None, None, None))
        known = None if np.isnan(estimate.auc) else estimate.auc
        true = None if truth is None else float(auc(truth, honest[name].score))
        numbers = known, estimate.low, estimate.high, estimate.prior, seconds[name], true
        table_name = method_card(name).table_name
        compared.append(Compared(name, table_name, *numbers, difference_low=low, difference_high=high))
    reason = explain(compared, recommended)
    right = None if truth is None else _how_right(compared, recommended, share)
    return Comparison(tuple(compared), recommended, reason, right, share, level_for(len(honest)))


def level_for(n_methods: int) -> float:
    """Level of the interval of one difference, so that all of them hold together (Bonferroni).

    Examples
    --------
    >>> [round(level_for(n), 3) for n in (1, 2, 11)]
    [0.95, 0.95, 0.995]
    """
    return 1 - (1 - LEVEL) / max(1, n_methods - 1)


def _estimates_of_methods(
    honest: Mapping[str, OutOfFold], y: np.ndarray, confidence: np.ndarray | None
) -> tuple[dict[str, SarAUC], Callable[[str, str], PairedDifference]]:
    """AUC of each method, and a function that gives the AUC of one minus that of another, by their names."""

    def difference(first: str, second: str) -> PairedDifference:
        a, b, level = honest[first], honest[second], level_for(len(honest))
        return paired_difference(y, a.score, b.score, confidence, b.labeling_prob, CLIP, level=level)

    aucs = {name: sar_auc(y, each.score, confidence, each.labeling_prob, clip=CLIP) for name, each in honest.items()}
    return aucs, difference


def _how_right(compared: list[Compared], recommended: str, share: float | None) -> str:
    true = {each.name: each.true_auc or 0.0 for each in compared}
    best = max(true, key=lambda name: true[name])
    text = (
        f"By the true classes, {best} is the best with an AUC of {true[best]:.3f}, and the recommended {recommended} "
        f"has {true[recommended]:.3f}."
    )
    if share is not None:
        text += (
            f" In {100 * share:.0f} % of {RESAMPLES} resampled tables the recommendation would have been within "
            f"{NEAR:g} of the best."
        )
    return text


def _share_of_right_recommendations(
    table: LabeledTable, honest: dict[str, OutOfFold], truth: np.ndarray
) -> float | None:
    """Share of bootstrap samples of the rows in which the highest estimate is near the best true AUC."""
    assert table.confidence is not None
    rng = np.random.RandomState(0)
    right = []
    for _ in range(RESAMPLES):
        rows = rng.randint(len(truth), size=len(truth))
        if table.y[rows].sum() < 2 or len(set(truth[rows])) < 2:
            continue
        sample = {name: OutOfFold(each.score[rows], each.labeling_prob[rows]) for name, each in honest.items()}
        estimates, difference = _estimates_of_methods(sample, table.y[rows], table.confidence[rows])
        true = {name: float(auc(truth[rows], each.score)) for name, each in sample.items()}
        if all(np.isfinite(each.unclipped) for each in estimates.values()):
            right.append(true[choose(estimates, difference)] >= max(true.values()) - NEAR)
    return float(np.mean(right)) if right else None
