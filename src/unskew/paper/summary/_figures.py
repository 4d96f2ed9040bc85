"""Pictures of a summary, as the paper has them: a panel for each data set, one key for all."""

import math
from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np

from unskew._support.pictures import BLUE, DARK, as_png, as_svg, styled
from unskew.paper.summary._panels import BOUND
from unskew.paper.summary._records import CurvePanel, MethodCurve, Summary, WeightPanel

_STYLE: dict[Any, Any] = {
    "axes.grid": True,
    "grid.color": "#e3e6ea",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "xtick.direction": "in",
    "ytick.direction": "in",
    "legend.handlelength": 3.0,
}
# Shapes and dashes differ, too, for those who cannot see the colors. A method looks the same in every picture. PG is a
# large ring, because it ranks as NTC does and would hide it.
_LOOKS = {
    "conf-auc": ("#c0392b", "o", "-"),
    "no-conf": ("#2a6fbb", "s", "--"),
    "ntc": ("#5b6770", "^", "-."),
    "nnpu": ("#e0a100", "v", ":"),
    "puauc": ("#12876f", "D", "-"),
    "pusb": ("#8e44ad", "P", "--"),
    "pg": ("#2b2b2b", "o", ":"),
    "pconf": ("#d97fb0", "<", "-."),
    "npu": ("#56b4e9", ">", "-"),
    "lbe": ("#7f5539", "*", "--"),
}
_OTHER_LOOKS = (("#4f772d", "X", "-."), ("#b5651d", "h", "-"), ("#6c5ce7", "d", ":"))
_RING: dict[str, Any] = {"markerfacecolor": "none", "markersize": 8.5}
_PANEL = (3.1, 2.5)
_KEY_WIDTH, _KEY_HEIGHT = 1.15, 0.2  # inches of an entry of the key
_BINS = 40


def draw(summary: Summary) -> Any:
    """The picture as a matplotlib figure; None for a plan without a picture or without rows."""
    if not summary.panels:
        return None
    with styled(_STYLE):
        figure, axes = _figure_grid(summary.panels)
        for panel, each in zip(summary.panels, axes, strict=True):
            if isinstance(panel, CurvePanel):
                _draw_curves(each, panel)
            elif isinstance(panel, WeightPanel):
                _draw_weights(each, panel)
        _add_key(figure, axes[0])
    return figure


def pictures(summary: Summary) -> dict[str, bytes]:
    """Contents of the picture's files by suffix; empty for a plan without a picture."""
    figure = draw(summary)
    if figure is None:
        return {}
    with styled(_STYLE):
        return {".png": as_png(figure), ".svg": as_svg(figure).encode()}


def _figure_grid(panels: Sequence[CurvePanel | WeightPanel]) -> tuple[Any, Sequence[Any]]:
    from matplotlib.figure import Figure

    n = len(panels)
    columns = n if n <= 3 else 2 if n == 4 else 3
    rows = math.ceil(n / columns)
    width = _PANEL[0] * columns
    entries = len(panels[0].curves) if isinstance(panels[0], CurvePanel) else 0
    height = _PANEL[1] * rows + _KEY_HEIGHT * math.ceil(entries / _key_columns(entries, width))
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, [figure.add_subplot(rows, columns, place + 1) for place in range(n)]


def _key_columns(entries: int, width: float) -> int:
    """As many columns as fit, but no more than the entries need."""
    most = max(2, int(width / _KEY_WIDTH))
    return max(1, math.ceil(entries / max(1, math.ceil(entries / most))))


def _add_key(figure: Any, axes: Any) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        columns = _key_columns(len(labels), figure.get_figwidth())
        figure.legend(handles, labels, loc="outside lower center", ncols=columns)


def _draw_curves(axes: Any, panel: CurvePanel) -> None:
    others = cycle(_OTHER_LOOKS)
    for order, curve in enumerate(panel.curves):
        look = _LOOKS.get(curve.method) or next(others)
        _draw_curve(axes, curve, look, panel.ticks, 20 - order)  # the paper's own method is first and lies on top
    if panel.log:
        axes.set_xscale("log")
        axes.minorticks_off()
    axes.set_xticks(panel.ticks, [format(each, "g") for each in panel.ticks])
    axes.margins(x=0.08)
    axes.set_title(panel.title)
    axes.set_xlabel(panel.axis)
    axes.set_ylabel("test AUC")


def _draw_curve(axes: Any, curve: MethodCurve, look: tuple[str, str, str], ticks: Sequence[float], order: int) -> None:
    color, marker, dashes = look
    line = {"color": color, "linestyle": dashes, "label": curve.label, "zorder": order, "linewidth": 1.4}
    mean, error = np.asarray(curve.mean, float), np.asarray(curve.error, float)
    if curve.flat and len(mean):
        ends, one = [min(ticks), max(ticks)], np.ones(2)
        axes.plot(ends, mean * one, **line)
        axes.fill_between(ends, mean - error * one, mean + error * one, color=color, alpha=0.15, linewidth=0)
        return
    shape = {"marker": marker, "markersize": 4.5, **(_RING if curve.method == "pg" else {})}
    axes.plot(curve.x, mean, **line, **shape)
    axes.errorbar(curve.x, mean, error, fmt="none", ecolor=color, elinewidth=0.8, capsize=2, zorder=order)


def _draw_weights(axes: Any, panel: WeightPanel) -> None:
    axes.hist(panel.weights, bins=np.linspace(0, max(panel.weights) * 1.0001, _BINS + 1).tolist(), color=BLUE)
    # Large weights are few and their bars too low to see, so each gets a tick.
    large = [each for each in panel.weights if each >= BOUND]
    axes.plot(large, [0.02] * len(large), "|", color=DARK, transform=axes.get_xaxis_transform())
    axes.set_title(panel.title)
    axes.set_xlabel(f"weight (a tick for each above {BOUND:g})")
    axes.set_ylabel("labeled instances")
