"""Which method suits a table: all are cross-validated, using only the biased labels."""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

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
    compared : tuple of Compared
    recommended, reason : str
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
    table: LabeledTable,
    training: TrainingOptions,
    names: Sequence[str] = (),
    *,
    n_folds: int | None = None,
    truth: np.ndarray | None = None,
    verbose: bool = True,
) -> Comparison:
    """Cross-validate methods on the same folds and judge them by the same labeling probability.

    Parameters
    ----------
    table : LabeledTable
        With confidence.
    training : TrainingOptions
    names : sequence of str
        Methods; all, if empty.
    n_folds : int, optional
        See `check_folds`.
    truth : int array of shape (n,), optional
        True classes, to see how good the recommendation is; no method sees them.
    verbose : bool
        Show progress bars, on a terminal.
    """
    names = tuple(dict.fromkeys(names)) or methods()
    folds = check_folds(table, n_folds)
    # All methods share the folds and the forest that judges them; its time is not counted as any method's.
    with progress_bar("estimating how likely rows are labeled", 1, shown=verbose) as step:
        labeling_prob = out_of_fold_labeling(table.X, table.y, n_folds=folds, random_state=training.seed)
        step()
    honest: dict[str, OutOfFold] = {}
    seconds: dict[str, float] = {}
    with warn_once(ABOUT_PARTS):
        for name in names:
            start = time.perf_counter()
            honest[name] = out_of_fold(
                training.ranker(len(table.y), name),
                table.X,
                table.y,
                table.confidence,
                labeling_prob=labeling_prob,
                n_folds=folds,
                random_state=training.seed,
                verbose=verbose,
            )
            seconds[name] = time.perf_counter() - start
    return judge(table, honest, seconds, truth)


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
    table: LabeledTable, honest: dict[str, OutOfFold], seconds: dict[str, float], truth: np.ndarray | None
) -> Comparison:
    """Rank methods by scores from models that were not trained on the row, and recommend one."""
    level = level_for(len(honest))
    with _impossible_kept_quiet():
        estimates = _estimates(honest, table.y, table.confidence)
        difference = _paired(honest, table.y, table.confidence, level)
        recommended = choose(estimates, difference)
        differences = {name: difference(name, recommended) for name in honest if name != recommended}
    compared = []
    for name in sorted(honest, key=lambda name: -estimates[name].unclipped):
        estimate, (_, low, high) = estimates[name], differences.get(name, (None, None, None))
        compared.append(
            Compared(
                name=name,
                table_name=method_card(name).table_name,
                auc=None if np.isnan(estimate.auc) else estimate.auc,
                low=estimate.low,
                high=estimate.high,
                prior=estimate.prior,
                seconds=seconds[name],
                true_auc=None if truth is None else float(auc(truth, honest[name].score)),
                difference_low=low,
                difference_high=high,
            )
        )
    share = None if truth is None else _right_share(table, honest, truth)
    right = None if truth is None else _how_right(compared, recommended, share)
    return Comparison(tuple(compared), recommended, explain(compared, recommended), right, share, level)


def level_for(n_methods: int) -> float:
    """Level of the interval of one difference, so that all of them hold together (Bonferroni).

    Examples
    --------
    >>> [round(level_for(n), 3) for n in (1, 2, 11)]
    [0.95, 0.95, 0.995]
    """
    return 1 - (1 - LEVEL) / max(1, n_methods - 1)


def _estimates(honest: Mapping[str, OutOfFold], y: np.ndarray, confidence: np.ndarray | None) -> dict[str, SarAUC]:
    return {name: sar_auc(y, each.score, confidence, each.labeling_prob, clip=CLIP) for name, each in honest.items()}


def _paired(
    honest: Mapping[str, OutOfFold], y: np.ndarray, confidence: np.ndarray | None, level: float
) -> Callable[[str, str], PairedDifference]:
    """AUC of one method minus that of another, by their names."""

    def difference(first: str, second: str) -> PairedDifference:
        scores, labeling_prob = (honest[first].score, honest[second].score), honest[second].labeling_prob
        return paired_difference(y, *scores, confidence, labeling_prob, CLIP, level=level)

    return difference


@contextmanager
def _impossible_kept_quiet() -> Iterator[None]:
    """Drop the warning that no AUC can be estimated: the reason for the recommendation says so, once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoEstimateWarning)
        yield


def _how_right(compared: list[Compared], recommended: str, share: float | None) -> str:
    true = {each.name: each.true_auc or 0.0 for each in compared}
    best = max(true, key=lambda name: true[name])
    text = (
        f"By the true classes, {best} is the best with an AUC of {true[best]:.3f}, and the recommended {recommended} "
        f"has {true[recommended]:.3f}."
    )
    if share is None:
        return text
    return (
        f"{text} In {100 * share:.0f} % of {RESAMPLES} resampled tables the recommendation would have been within "
        f"{NEAR:g} of the best."
    )


def _right_share(table: LabeledTable, honest: dict[str, OutOfFold], truth: np.ndarray) -> float | None:
    """Share of bootstrap samples of the rows in which the highest estimate is near the best true AUC."""
    assert table.confidence is not None
    rng = np.random.RandomState(0)
    right = []
    for _ in range(RESAMPLES):
        rows = rng.randint(len(truth), size=len(truth))
        if table.y[rows].sum() < 2 or len(set(truth[rows])) < 2:
            continue
        y, confidence = table.y[rows], table.confidence[rows]
        sample = {name: OutOfFold(each.score[rows], each.labeling_prob[rows]) for name, each in honest.items()}
        with _impossible_kept_quiet():
            estimates = _estimates(sample, y, confidence)
        true = {name: float(auc(truth[rows], each.score)) for name, each in sample.items()}
        if all(np.isfinite(each.unclipped) for each in estimates.values()):
            chosen = choose(estimates, _paired(sample, y, confidence, level_for(len(sample))))
            right.append(true[chosen] >= max(true.values()) - NEAR)
    return float(np.mean(right)) if right else None
