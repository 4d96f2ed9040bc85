"""The page of the demo and its picture: who was labeled, who is found, and how near the estimates come."""

from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from unskew._support.pictures import BLUE, GREY, ORANGE, as_png, new_figure
from unskew._version import __version__
from unskew.practice.examples.biopsies import COLUMNS
from unskew.practice.report.page import render
from unskew.practice.report.tour_page import figure_as_svg

if TYPE_CHECKING:
    from unskew.practice.demo import DemoResult

COLORS = {"logistic regression": GREY, "auto": BLUE}
CAPTION = (
    "Left: radius of the nuclei of all malignant cases, and of those that the clinic knows. Middle: malignant cases "
    "that nobody knew, found by the number of rows reviewed. Right: AUC estimated from the labels alone with its "
    "interval, beside the true one."
)


def demo_page(result: "DemoResult", seed: int) -> str:
    """One self-contained HTML page."""
    return render(
        "demo.html",
        result=result,
        comparison=result.comparison(),
        picture=demo_picture(result),
        caption=CAPTION,
        version=__version__,
        seed=seed,
    )


def demo_picture(result: "DemoResult", *, as_file: bool = False) -> Any:
    """The result in three panels, as SVG for a page or as the bytes of a PNG file."""
    with new_figure(3) as (figure, (labeled, found, judged)):
        _draw_labeled(labeled, result)
        _draw_found(found, result)
        _draw_aucs(judged, result)
    return as_png(figure) if as_file else Markup(figure_as_svg(figure))


def _draw_labeled(axes: Any, result: "DemoResult") -> None:
    """Which malignant cases are known."""
    features = result.table.schema.feature_names
    column = features.index(COLUMNS[0])
    (radius,) = (each for each in result.table.schema.columns if each.name == COLUMNS[0])
    values = radius.mean + radius.std * np.asarray(result.table.matrix)[:, column]
    cases = values[result.truth == 1]
    bins = np.linspace(cases.min(), cases.max(), 16)
    axes.hist(cases, bins=bins, color=GREY, label="all malignant cases")
    axes.margins(y=0.3)  # room for the legend
    axes.hist(values[result.table.y == 1], bins=bins, color=ORANGE, label="those the clinic knows")
    axes.set(title="The clinic knows the large ones", xlabel="radius of the nuclei", ylabel="cases")
    axes.legend(loc="upper right")


def _draw_found(axes: Any, result: "DemoResult") -> None:
    """Share of the hidden cases that the first rows hold, by the truth."""
    for name in result.judged:
        score, truth = result.hidden(name)
        found = np.cumsum(truth[np.argsort(-score, kind="stable")]) / truth.sum()
        axes.plot(np.arange(len(found) + 1), np.r_[0, found], color=COLORS[name], label=name, linewidth=2)
    axes.plot([0, len(truth)], [0, 1], color=GREY, linewidth=0.8, linestyle=":", label="in any order")
    axes.set(title="Who finds the others?", xlabel="rows reviewed", ylabel="share of hidden cases found")
    axes.legend(loc="lower right")


def _draw_aucs(axes: Any, result: "DemoResult") -> None:
    """Estimates with their intervals, and the truth."""
    for place, each in enumerate(result.judged.values()):
        axes.plot([each.estimate.low, each.estimate.high], [place, place], color=BLUE, linewidth=4, alpha=0.35)
        (point,) = axes.plot(each.estimate.auc, place, "o", color=BLUE)
        (truth,) = axes.plot(each.true_auc, place, "D", color=ORANGE)
    point.set_label("estimated without negatives")
    truth.set_label("true")
    axes.set_yticks(range(len(result.judged)), [name.replace(" ", "\n") for name in result.judged])
    axes.set(title="Was the estimate right?", xlabel="AUC", ylim=(len(result.judged) - 0.4, -0.6))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
