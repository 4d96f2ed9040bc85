"""Which method for this table? All of them, by cross-validation on the biased labels alone."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unskew.errors import NoEstimateWarning, TooFewLabeled
from unskew.metrics import OutOfFold, auc, out_of_fold, sar_auc
from unskew.metrics.paired import PairedDifference, paired_difference
from unskew.rankers import method_card, methods
from unskew.report.comparison_page import Compared, recommend
from unskew.weights import CLIP
from unskew.workflow.data import LabeledTable
from unskew.workflow.fitting import Training, folds_for

NEAR = 0.02
"""A recommendation within so much of the best true AUC counts as right."""
RESAMPLES = 200
PREFERRED = "conf-auc"
"""Recommended where these data cannot tell it from the best."""


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
    """

    compared: tuple[Compared, ...]
    recommended: str
    reason: str
    right: str | None
    right_share: float | None


def compare_table(
    table: LabeledTable,
    training: Training,
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
    training : Training
    names : sequence of str
        Methods; all, if empty.
    n_folds : int, optional
        At most half the number of labeled rows.
    truth : int array of shape (n,), optional
        True classes, to see how good the recommendation is; no method sees them.
    verbose : bool
        Show progress bars, on a terminal.
    """
    assert table.confidence is not None
    names = tuple(dict.fromkeys(names)) or methods()
    folds = folds_for(table.y) if n_folds is None else n_folds
    if folds < 2:
        raise TooFewLabeled(
            "to compare by cross-validation there must be at least 2 folds, with 2 labeled rows in each, but there are "
            f"{folds} folds and {int(table.y.sum())} labeled rows. Ask for more --folds, or label more."
        )
    honest: dict[str, OutOfFold] = {}
    seconds: dict[str, float] = {}
    for name in names:
        # The same folds and the same forest for all: what it says of each row is asked once.
        known = next((each.labeling_prob for each in honest.values()), None)
        start = time.perf_counter()
        honest[name] = out_of_fold(
            training.ranker(len(table.y), name),
            table.X,
            table.y,
            table.confidence,
            labeling_prob=known,
            n_folds=folds,
            random_state=training.seed,
            verbose=verbose,
        )
        seconds[name] = time.perf_counter() - start
    return judge(table, honest, seconds, truth)


def judge(
    table: LabeledTable, honest: dict[str, OutOfFold], seconds: dict[str, float], truth: np.ndarray | None
) -> Comparison:
    """Rank methods by what models that did not see a row said of it."""
    estimates = {
        name: sar_auc(table.y, each.score, table.confidence, each.labeling_prob, clip=CLIP)
        for name, each in honest.items()
    }
    order = sorted(honest, key=lambda name: -estimates[name].unclipped)
    chosen = choose({name: each.unclipped for name, each in estimates.items()}, honest, table.y, table.confidence)
    compared = []
    for name in order:
        low = high = None
        if name != chosen:
            _, low, high = _difference(honest[name], honest[chosen], table.y, table.confidence)
        compared.append(
            Compared(
                name=name,
                table_name=method_card(name).table_name,
                auc=estimates[name].auc,
                low=estimates[name].low,
                high=estimates[name].high,
                prior=estimates[name].prior,
                seconds=seconds[name],
                true_auc=None if truth is None else float(auc(truth, honest[name].score)),
                difference_low=low,
                difference_high=high,
            )
        )
    recommended, reason = recommend(compared)
    if truth is None:
        return Comparison(tuple(compared), recommended, reason, None, None)
    share = _right_share(table, honest, truth)
    return Comparison(tuple(compared), recommended, reason, _how_right(compared, recommended, share), share)


def choose(
    estimates: dict[str, float], honest: dict[str, OutOfFold], y: np.ndarray, confidence: np.ndarray | None
) -> str:
    """The highest estimate; but the paper's method, if the data cannot tell it from that one.

    Estimates of few labels are close together, and the highest of many is often so by chance. The method whose ranking
    is right under the weakest assumption then is the better bet.
    """
    best = max(estimates, key=lambda name: estimates[name])
    if best == PREFERRED or PREFERRED not in honest or not np.isfinite(estimates[best]):
        return best
    return PREFERRED if _difference(honest[PREFERRED], honest[best], y, confidence).high >= 0 else best


def _difference(first: OutOfFold, second: OutOfFold, y: np.ndarray, confidence: np.ndarray | None) -> PairedDifference:
    return paired_difference(y, first.score, second.score, confidence, second.labeling_prob, CLIP)


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
        f"{text} In {share:.0%} of {RESAMPLES} resampled tables the recommendation would have been within {NEAR:g} of "
        "the best."
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
        parts = table.y[rows], table.confidence[rows]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoEstimateWarning)  # told once, for the table itself
            estimates = {
                name: sar_auc(parts[0], each.score[rows], parts[1], each.labeling_prob[rows], clip=CLIP).unclipped
                for name, each in honest.items()
            }
        true = {name: float(auc(truth[rows], each.score[rows])) for name, each in honest.items()}
        if np.isfinite(list(estimates.values())).all():
            sample = {name: OutOfFold(each.score[rows], each.labeling_prob[rows]) for name, each in honest.items()}
            chosen = choose(estimates, sample, *parts)
            right.append(true[chosen] >= max(true.values()) - NEAR)
    return float(np.mean(right)) if right else None
