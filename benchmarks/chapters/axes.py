"""What the pictures share."""

from collections.abc import Sequence
from typing import Any

from unskew._support.pictures import GREY


def log_log(axes: Any, x_label: str, y_label: str) -> None:
    """Name and scale both axes."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(color=GREY, linewidth=0.4, alpha=0.6)


def key_below(figure: Any, panels: Sequence[Any]) -> None:
    """One key for all panels, which may miss some lines each."""
    named = {name: line for axes in panels for line, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    if named:
        figure.legend(named.values(), named, loc="outside lower center", ncols=3)
