"""Pictures by matplotlib, in the house style: SVG text that goes into a page or PNG bytes that go into a file."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from unskew.errors import MissingExtra

BLUE, ORANGE, GREY, DARK = "#2a6fbb", "#d9822b", "#b8bec6", "#30363d"
_COMMON: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "legend.frameon": False,
    "svg.hashsalt": "unskew",  # the same picture gives the same file
}
_STYLE: dict[Any, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#8b949e",
    "axes.titlelocation": "left",
}


def as_svg(figure: Any) -> str:
    """The figure as an SVG element, without the XML prologue."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def as_png(figure: Any) -> bytes:
    """The figure as a PNG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150, bbox_inches="tight")
    return buffer.getvalue()


@contextmanager
def styled(style: dict[Any, Any]) -> Iterator[None]:
    """What all pictures have in common and this style while the block runs; nothing global is left changed."""
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtra("pictures need matplotlib. Install it with: pip install 'unskew[plots]'") from error
    with matplotlib.rc_context(_COMMON | style):
        yield


@contextmanager
def new_figure(n_panels: int, *, panel: tuple[float, float] = (3.6, 3.0)) -> Iterator[tuple[Any, Sequence[Any]]]:
    """A figure with panels side by side, in the house style."""
    with styled(_STYLE):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(panel[0] * n_panels, panel[1]), layout="constrained")
        yield figure, np.atleast_1d(figure.subplots(1, n_panels)).tolist()
