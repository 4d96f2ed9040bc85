"""The charts of a model's page, from its evidence."""

from dataclasses import replace

import numpy as np
from markupsafe import Markup

from unskew._support.text import commas, plural, short
from unskew.metrics.cuts import BestCut
from unskew.metrics.evidence import Evidence, Histogram, ThresholdCurve, TrainingHistory
from unskew.practice.report.svg import PLACES, Axis, Plot, log_axis, nice_axis, unit_axis

MOST_EPOCHS = 300


def gain_chart(curve: ThresholdCurve, chosen: int) -> Markup:
    """Share of all positives that is found by the share of rows that is reviewed, with a mark at the chosen cut."""
    plot = Plot(unit_axis("rows reviewed"), unit_axis("positives found"))
    points = list(zip(curve.flagged, curve.tpr, strict=True))
    marks = [
        plot.area(points, "first"),
        plot.line([(0, 0), (1, 1)], "chance"),
        plot.line(points, "first"),
        plot.dot(*points[chosen], "chosen"),
    ]
    label = "Share of all positives found, estimated without negatives, by the share of rows that is reviewed"
    return plot.svg(marks, label, f' id="gain" data-across="flagged" data-up="tpr"{PLACES}')


def roc_chart(curve: ThresholdCurve, chosen: int) -> Markup:
    """ROC curve with a mark at the chosen threshold."""
    plot = Plot(unit_axis("false positive rate"), unit_axis("recall (true positive rate)"))
    points = list(zip(curve.fpr, curve.tpr, strict=True))
    marks = [
        plot.area(points, "first"),
        plot.line([(0, 0), (1, 1)], "chance"),
        plot.line(points, "first"),
        plot.dot(*points[chosen], "chosen"),
    ]
    label = "ROC curve estimated without negatives: recall over false positive rate"
    return plot.svg(marks, label, f' id="roc" data-across="fpr" data-up="tpr"{PLACES}')


def precision_chart(curve: ThresholdCurve, chosen: int, prior: float, first: int) -> Markup:
    """Precision over recall from the `first` threshold on, with a mark at the chosen one."""
    plot = Plot(unit_axis("recall"), unit_axis("precision"))
    points = list(zip(curve.tpr, curve.precision, strict=True))
    marks = [
        plot.line([(0, prior), (1, prior)], "chance"),
        plot.line(points[first:], "first"),
        plot.dot(*points[chosen], "chosen"),
    ]
    label = "Precision over recall, estimated without negatives"
    return plot.svg(marks, label, f' id="precision-recall" data-across="tpr" data-up="precision"{PLACES}')


def profit_chart(cut: BestCut, *, with_points: bool = True) -> Markup:
    """Profit by the rows that are reviewed, its interval as a band, with a mark at the best cut and at the capacity."""
    curve = cut.curve
    largest = max(map(abs, curve.profit))
    unit, words = (1, "") if largest < 10_000 else (1000, ", in thousands") if largest < 1e6 else (1e6, ", in millions")
    ends = [
        [(n, each / unit) for n, each in zip(curve.n, values, strict=True) if each is not None]
        for values in (curve.profit_low, curve.profit_high)
    ]
    points = [(n, each / unit) for n, each in zip(curve.n, curve.profit, strict=True)]
    values = [0.0 if cut.costs.cost_miss is None else points[0][1], *(each for _, each in sum([points, *ends], []))]
    across = replace(nice_axis(0, max(1, curve.n[-1]), "rows reviewed"), text=commas)
    up = nice_axis(min(values), max(values), f"profit{words}")
    plot = Plot(across, replace(up, text="{:,.12g}".format))
    marks = [plot.band(ends[0], ends[1], "first")] if all(ends) else []
    if up.low <= 0 <= up.high:
        marks.append(plot.line([(0, 0), (across.high, 0)], "chance"))
    limit = cut.costs.capacity
    if limit is not None and limit < curve.n[-1]:
        marks.append(plot.line([(limit, up.low), (limit, up.high)], "chance"))
    if with_points:
        marks += [plot.line(points, "first"), plot.dot(cut.n, cut.profit / unit, "chosen")]
    label = f"Profit by rows reviewed; the most is earned at {commas(cut.n)} rows"
    return plot.svg(marks, label, ' id="profit"')


def weight_chart(evidence: Evidence) -> Markup:
    """How the weights of the labeled rows are spread, on a logarithmic axis."""
    weights = np.array(evidence.weights)
    positive = weights[weights > 0]
    low, high = positive.min() / 1.05, positive.max() * 1.05
    edges = np.geomspace(low, high, 21)
    share = np.histogram(positive, edges)[0] / len(weights)
    across = log_axis(low, high, "weight of a labeled row")
    return _bar_chart(share, edges, across, "share of labeled rows", "Histogram of the weights", is_share=True)


def histogram_chart(histogram: Histogram, title: str) -> Markup:
    """Counts of labeled rows over a value between 0 and (mostly) 1."""
    edges = np.array(histogram.edges)
    across = nice_axis(0, edges[-1], title)
    return _bar_chart(np.array(histogram.counts), edges, across, "labeled rows", f"Histogram: {title}", is_share=False)


def _bar_chart(
    height: np.ndarray, edges: np.ndarray, across: Axis, title: str, label: str, *, is_share: bool
) -> Markup:
    up = nice_axis(0, float(height.max()), title, count=4)
    if is_share:
        up = replace(up, text=lambda value: f"{100 * value:.3g} %")
    plot = Plot(across, up)
    bars = []
    for start, end, each in zip(edges[:-1], edges[1:], height, strict=True):
        amount = f"{100 * each:.1f} % of the labeled rows" if is_share else plural(int(each), "labeled row")
        bars.append(plot.bar(start, end, float(each), f"{short(start)} to {short(end)}: {amount}"))
    return plot.svg(bars, label)


def training_chart(training: TrainingHistory, label: str) -> Markup:
    """Training and validation risk by epoch, counted from 1, and the epoch that was kept."""
    rows = [row for row in training.history if row.train_risk is not None or row.validation_risk is not None]
    step = max(1, -(-len(rows) // MOST_EPOCHS))
    shown = [row for place, row in enumerate(rows) if place % step == 0 or row.epoch == training.best_epoch]
    train = [(row.epoch + 1, row.train_risk) for row in shown if row.train_risk is not None]
    held_out = [(row.epoch + 1, row.validation_risk) for row in shown if row.validation_risk is not None]
    risks = [risk for _, risk in train + held_out]
    epochs = [row.epoch + 1 for row in shown]
    plot = Plot(nice_axis(min(epochs), max(epochs), "epoch"), nice_axis(min(risks), max(risks), "risk"))
    best = [point for point in held_out if point[0] == training.best_epoch + 1]
    marks = [plot.line(train, "second"), plot.line(held_out, "first"), *(plot.dot(*point, "kept") for point in best)]
    return plot.svg(marks, label)
