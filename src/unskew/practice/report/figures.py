"""What the pictures of the demo draw."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from unskew._support.pictures import BLUE, DARK, GREY, ORANGE
from unskew.data.records import Epoch
from unskew.metrics import SarAUC, SarCurves

_CHARACTERS = 36
"""Digits that fit beside each other below one panel."""
_TICKS: tuple[tuple[tuple[float, ...], int], ...] = (
    ((1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8), 1),
    ((1, 1.5, 2, 3, 5, 7), 1),
    ((1, 2, 5), 1),
    ((1, 3), 1),
    ((1,), 1),
    ((1,), 2),
    ((1,), 3),
)
"""First digits of ticks on a log axis, and decades from one power of ten to the next; the closest first."""


def draw_aucs(axes: Any, true: Mapping[str, float], estimated: Mapping[str, SarAUC]) -> None:
    """True AUC of each method beside the estimate and its interval."""
    for place, name in enumerate(true):
        estimate = estimated[name]
        first = place == 0
        axes.plot([estimate.low, estimate.high], [place, place], color=BLUE, linewidth=4, alpha=0.35)
        axes.plot(estimate.auc, place, "o", color=BLUE, label="estimated without negatives" if first else None)
        axes.plot(true[name], place, "D", color=ORANGE, label="true" if first else None)
    axes.set_yticks(range(len(true)), list(true))
    axes.set_ylim(len(true) - 0.4, -0.6)
    axes.set_xlabel("AUC")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)


def draw_roc(axes: Any, estimated: SarCurves, true: tuple[np.ndarray, np.ndarray]) -> None:
    """ROC curve estimated without negatives, and the true one."""
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
    axes.plot(*true, color=ORANGE, label="true")
    axes.plot(estimated.fpr, estimated.tpr, color=BLUE, label="estimated without negatives")
    axes.set_xlabel("false positive rate")
    axes.set_ylabel("true positive rate")
    axes.legend(loc="lower right")


def draw_precision(axes: Any, estimated: SarCurves, true: tuple[np.ndarray, np.ndarray]) -> None:
    """Precision over recall estimated without negatives, and the true one."""
    axes.plot(*true, color=ORANGE, label="true")
    axes.plot(estimated.tpr, estimated.precision, color=BLUE, label="estimated without negatives")
    axes.set_xlabel("recall")
    axes.set_ylabel("precision")
    axes.set_ylim(0, 1.05)
    axes.legend(loc="lower left")


def draw_history(axes: Any, history: Sequence[Epoch], best_epoch: int) -> None:
    """Training and validation risk by epoch, and the epoch that was kept."""
    epochs = [row.epoch + 1 for row in history]  # people count from 1
    axes.plot(epochs, [row.train_risk for row in history], color=GREY, label="training")
    axes.plot(epochs, [row.validation_risk for row in history], color=BLUE, label="validation")
    axes.axvline(best_epoch + 1, color=DARK, linewidth=0.8, linestyle=":", label="kept")
    axes.set_xlabel("epoch")
    axes.set_ylabel("risk")
    axes.legend()


def draw_weights(axes: Any, weight: np.ndarray) -> None:
    """How the weights of the labeled instances are spread."""
    low, high = weight[weight > 0].min(), weight.max()
    axes.hist(weight, bins=np.geomspace(low * 0.99, high * 1.01, 25), color=BLUE)
    axes.set_xscale("log")
    ticks = plain_ticks(*axes.get_xlim())
    axes.set_xticks(list(ticks.values()), list(ticks))
    axes.minorticks_off()  # matplotlib would write 2 x 10^0, 3 x 10^0, ... over each other
    axes.set_xlabel("weight: confidence / labeling probability")
    axes.set_ylabel("labeled instances")


def plain_ticks(low: float, high: float) -> dict[str, float]:
    """Ticks of a log axis by their labels: as many round numbers as fit beside each other."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for digits, step in _TICKS:
        powers = range(first - first % step, last + 1, step)
        values = [digit * 10.0**power for power in powers for digit in digits]
        ticks = {_plain(value): value for value in values if low <= value <= high}
        if len(ticks) > 1 and _fit(ticks, math.log10(high / low)):
            return ticks
    return {_plain(value): value for value in (low, high)}  # so close that hardly a round number lies between


def _plain(value: float) -> str:
    return np.format_float_positional(value, precision=3, fractional=False, trim="-")


def _fit(ticks: Mapping[str, float], decades: float) -> bool:
    """Whether two digits would fit between any two neighbors; each label has its tick in the middle."""
    return all(
        (len(left) + len(right)) / 2 + 2 <= _CHARACTERS * math.log10(ticks[right] / ticks[left]) / decades
        for left, right in pairwise(ticks)
    )


def label_key(axes: Any) -> None:
    """Name the colors of `draw_labels` below the panel."""
    for color, label in ((BLUE, "labeled"), (GREY, "unlabeled")):
        axes.plot([], [], "o", color=color, label=label)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=2)


def draw_labels(axes: Any, X: np.ndarray, labeled: np.ndarray, size: np.ndarray, title: str) -> None:
    """Labeled instances among the others in the plane, as large as they count."""
    axes.scatter(*X[~labeled].T, s=2, color=GREY, linewidths=0, rasterized=True)
    axes.scatter(*X[labeled].T, s=14 * size, color=BLUE, alpha=0.55, linewidths=0)
    axes.set_title(title)
    axes.set_xticks([])
    axes.set_yticks([])
