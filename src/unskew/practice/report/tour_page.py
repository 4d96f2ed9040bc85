"""The page of the tour: each story's table and pictures."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup
from sklearn.metrics import precision_recall_curve, roc_curve

from unskew._support.pictures import BLUE, DARK, GREY, ORANGE, as_png, as_svg, new_figure
from unskew._version import __version__
from unskew.data.records import Epoch
from unskew.metrics.reliability import check_reliability
from unskew.objectives.weights import inverse_labeling_weight
from unskew.practice.report.page import render

if TYPE_CHECKING:
    from unskew.practice.tour import StoryResult

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


def tour_page(results: Sequence["StoryResult"], seed: int) -> str:
    """One self-contained HTML page."""
    stories = [(each, check_reliability(each.reliability), list(_pictures(each))) for each in results]
    return render("tour.html", stories=stories, version=__version__, seed=seed)


def overview(result: "StoryResult") -> bytes:
    """The story in three panels, as PNG: labels as they came, as they count, and how well that ranks."""
    with new_figure(3) as (figure, axes):
        _draw_bias(axes[:2], result)
        _draw_aucs(axes[2], result)
        axes[2].set_title("and how well each method ranks")
    return as_png(figure)


def _pictures(result: "StoryResult") -> Iterator[tuple[Markup, str]]:
    """Each picture of a story with its caption."""
    if result.story.split.train.X.shape[1] == 2:
        with new_figure(2) as (figure, axes):
            _draw_bias(axes, result)
        yield figure_as_svg(figure), "Each blue disc is a labeled instance; its area is what it counts."
    with new_figure(3) as (figure, axes):
        _draw_aucs(axes[0], result)
        _draw_curves(axes[1], axes[2], result)
    curves = "curves of conf-auc, estimated in the same way, beside the true ones on test data."
    if not result.shows_points:
        curves = "true curves of conf-auc on test data; estimated ones would mean nothing here."
    yield (
        figure_as_svg(figure),
        "Left: AUC of each method, cross-validated on the biased labels alone, beside the true AUC on test data. "
        f"Middle and right: {curves}",
    )
    ntc, proposed = result.rankers["ntc"], result.proposed
    with new_figure(3) as (figure, axes):
        _draw_history(axes[0], "labeling probability", ntc.history_, ntc.best_epoch_)
        _draw_history(axes[1], proposed.name, proposed.history_, proposed.best_epoch_)
        draw_weights(axes[2], _weight_of_labeled(result))
    yield (
        figure_as_svg(figure),
        "Left and middle: risks by epoch of the labeling probability and of conf-auc. Right: weights of the labeled "
        f"instances (best epoch of conf-auc: {proposed.best_epoch_ + 1}).",
    )


def figure_as_svg(figure: Any) -> Markup:
    """The figure without the style sheet that matplotlib adds: the page has those rules, and allows no other sheet."""
    return Markup(re.sub(r"<style.*?</style>", "", as_svg(figure), flags=re.DOTALL))


def _weight_of_labeled(result: "StoryResult") -> np.ndarray:
    train = result.story.split.train
    labeled = train.y == 1
    return inverse_labeling_weight(train.confidence[labeled], result.proposed.labeling_prob(train.X[labeled]))


def _draw_bias(axes: Any, result: "StoryResult") -> None:
    """Labeled instances among the others in the plane: all alike, and as large as they count."""
    train, weight = result.story.split.train, _weight_of_labeled(result)
    labeled = train.y == 1
    sizes = {
        "Labels as they came ...": np.ones(len(weight)),
        "... as they count after weighting ...": weight / weight.mean(),
    }
    for panel, (title, size) in zip(axes, sizes.items(), strict=True):
        panel.scatter(*train.X[~labeled].T, s=2, color=GREY, linewidths=0, rasterized=True)
        panel.scatter(*train.X[labeled].T, s=14 * size, color=BLUE, alpha=0.55, linewidths=0)
        panel.set(title=title, xticks=[], yticks=[])
    for color, label in ((BLUE, "labeled"), (GREY, "unlabeled")):
        axes[0].plot([], [], "o", color=color, label=label)
    axes[0].legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=2)


def _draw_curves(roc_axes: Any, precision_axes: Any, result: "StoryResult") -> None:
    """Curves of conf-auc, estimated out-of-fold, against those of its test rows at the story's prior."""
    y, prior = result.story.split.test_y, result.story.prior
    score = result.proposed.decision_function(result.story.split.test_X)
    fpr, tpr, _ = roc_curve(y, score)
    share = np.where(y == 1, prior / np.mean(y), (1 - prior) / np.mean(y == 0))
    precision, recall, _ = precision_recall_curve(y, score, sample_weight=share)
    roc_axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
    roc_axes.plot(fpr, tpr, color=ORANGE, label="true")
    precision_axes.plot(recall, precision, color=ORANGE, label="true")
    if result.shows_points:
        estimated = result.estimated[result.proposed.name].curves()
        roc_axes.plot(estimated.fpr, estimated.tpr, color=BLUE, label="estimated without negatives")
        precision_axes.plot(estimated.tpr, estimated.precision, color=BLUE, label="estimated without negatives")
    roc_axes.set(xlabel="false positive rate", ylabel="true positive rate")
    roc_axes.legend(loc="lower right")
    precision_axes.set(xlabel="recall", ylabel="precision", ylim=(0, 1.05))
    precision_axes.legend(loc="lower left")


def _draw_aucs(axes: Any, result: "StoryResult") -> None:
    """True AUC of each method beside the interval of the estimate, and the estimate where it means something."""
    true, estimated = result.true, "estimated without negatives"
    for place, name in enumerate(true):
        estimate = result.estimated[name]
        ends = axes.plot([estimate.low, estimate.high], [place, place], color=BLUE, linewidth=4, alpha=0.35)
        marks = axes.plot(estimate.auc, place, "o", color=BLUE) if result.shows_points else ends
        truth = axes.plot(true[name], place, "D", color=ORANGE)
        if place == 0:
            marks[0].set_label(estimated)
            truth[0].set_label("true")
    axes.set_yticks(range(len(true)), list(true))
    axes.set(xlabel="AUC", ylim=(len(true) - 0.4, -0.6))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)


def _draw_history(axes: Any, title: str, history: Sequence[Epoch], best_epoch: int) -> None:
    """Training and validation risk by epoch, and the epoch that was kept."""
    epochs = [row.epoch + 1 for row in history]  # people count from 1
    axes.plot(epochs, [row.train_risk for row in history], color=GREY, label="training")
    axes.plot(epochs, [row.validation_risk for row in history], color=BLUE, label="validation")
    axes.axvline(best_epoch + 1, color=DARK, linewidth=0.8, linestyle=":", label="kept")
    axes.set(title=title, xlabel="epoch", ylabel="risk")
    axes.legend()


def draw_weights(axes: Any, weight: np.ndarray) -> None:
    """How the weights of the labeled instances are spread."""
    low, high = weight[weight > 0].min(), weight.max()
    axes.hist(weight, bins=np.geomspace(low * 0.99, high * 1.01, 25), color=BLUE)
    axes.set_xscale("log")
    ticks = plain_ticks(*axes.get_xlim())
    axes.set_xticks(list(ticks.values()), list(ticks))
    axes.minorticks_off()  # matplotlib would write 2 x 10^0, 3 x 10^0, ... over each other
    axes.set(xlabel="weight: confidence / labeling probability", ylabel="labeled instances")


def plain_ticks(low: float, high: float) -> dict[str, float]:
    """Ticks of a log axis by their labels: as many round numbers as fit beside each other."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for digits, step in _TICKS:
        powers = range(first - first % step, last + 1, step)
        values = [digit * 10.0**power for power in powers for digit in digits]
        ticks = {_plain_tick(value): value for value in values if low <= value <= high}
        if len(ticks) > 1 and _labels_fit(ticks, math.log10(high / low)):
            return ticks
    return {_plain_tick(value): value for value in (low, high)}  # so close that hardly a round number lies between


def _plain_tick(value: float) -> str:
    return np.format_float_positional(value, precision=3, fractional=False, trim="-")


def _labels_fit(ticks: Mapping[str, float], decades: float) -> bool:
    """Whether two digits would fit between any two neighbors; each label has its tick in the middle."""
    return all(
        (len(left) + len(right)) / 2 + 2 <= _CHARACTERS * math.log10(ticks[right] / ticks[left]) / decades
        for left, right in pairwise(ticks)
    )
