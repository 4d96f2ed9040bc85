"""Small charts as SVG text: colors come from the page's style, so that they follow light and dark, and text is text."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from markupsafe import Markup

WIDTH, HEIGHT = 420, 300
LEFT, RIGHT, TOP, BOTTOM = 70, 24, 14, 48
PLACES = f' data-left="{LEFT}" data-right="{WIDTH - RIGHT}" data-top="{TOP}" data-bottom="{HEIGHT - BOTTOM}"'
"""Where 0 and 1 lie, for the script that moves a mark."""


@dataclass(frozen=True)
class Axis:
    """A range of values, its title, and how its ticks are written."""

    low: float
    high: float
    title: str
    ticks: Sequence[float]
    text: Callable[[float], str] = "{:g}".format
    log: bool = False

    def share(self, value: float) -> float:
        """Where a value lies between the ends, 0 to 1."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def unit_axis(title: str) -> Axis:
    """Shares from 0 to 1, written as per cent."""
    return Axis(0, 1, title, (0, 0.2, 0.4, 0.6, 0.8, 1), lambda value: f"{100 * value:.0f} %")


def nice_axis(low: float, high: float, title: str, *, count: int = 5) -> Axis:
    """A linear axis with round ticks that reaches a little beyond the values.

    Examples
    --------
    >>> nice_axis(0, 47, "rows").ticks
    (0.0, 10.0, 20.0, 30.0, 40.0, 50.0)
    """
    if not high > low:
        low, high = low - 0.5, high + 0.5
    raw = (high - low) / count
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * unit for factor in (1, 2, 2.5, 5, 10) if factor * unit >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(number * step, 12) for number in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], title, ticks)


def log_axis(low: float, high: float, title: str) -> Axis:
    """A logarithmic axis with ticks at 1, 2 and 5 times powers of ten (at the powers alone over many)."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1, 2, 5) if math.log10(high / low) < 2.5 else (1,)
    ticks = [factor * 10.0**power for power in powers for factor in factors]
    inside = [each for each in ticks if low <= each <= high]
    if len(inside) < 2:  # within a factor of two or so any axis is almost linear
        inside = [each for each in nice_axis(low, high, title, count=4).ticks if low <= each <= high]
    return Axis(low, high, title, inside, log=True)


@dataclass(frozen=True)
class Plot:
    """Two axes; marks are placed by value and drawn inside."""

    x: Axis
    y: Axis

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Place of a point of values in the picture."""
        across, up = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
        return LEFT + across * self.x.share(x), TOP + up * (1 - self.y.share(y))

    def line(self, points: Sequence[tuple[float, float]], kind: str) -> str:
        """A line through points."""
        return f'<polyline class="line {kind}" points="{self._places(points)}"/>'

    def area(self, points: Sequence[tuple[float, float]], kind: str) -> str:
        """The area between a line and the bottom."""
        ends = (points[-1][0], self.y.low), (points[0][0], self.y.low)
        return f'<polygon class="area {kind}" points="{self._places((*points, *ends))}"/>'

    def band(self, low: Sequence[tuple[float, float]], high: Sequence[tuple[float, float]], kind: str) -> str:
        """The area between two lines."""
        return f'<polygon class="area {kind}" points="{self._places((*low, *reversed(high)))}"/>'

    def _places(self, points: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in (self.at(*point) for point in points))

    def bar(self, start: float, end: float, height: float, title: str) -> str:
        """A bar of a histogram, with a title that shows when one points at it."""
        (left, top), (right, bottom) = self.at(start, height), self.at(end, self.y.low)
        return (
            f'<rect class="bar" x="{left + 0.5:.1f}" y="{top:.1f}" width="{max(right - left - 1, 1):.1f}" '
            f'height="{max(bottom - top, 0):.1f}"><title>{escape(title)}</title></rect>'
        )

    def dot(self, x: float, y: float, kind: str) -> str:
        """A round mark."""
        left, top = self.at(x, y)
        return f'<circle class="dot {kind}" cx="{left:.1f}" cy="{top:.1f}" r="6"/>'

    def svg(self, marks: Sequence[str], label: str, attributes: str = "") -> Markup:
        """The whole picture; `label` says what it shows to those who do not see it."""
        return Markup(
            f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}"{attributes}>'
            f"{self._across()}{self._up()}{''.join(marks)}</svg>"
        )

    def _across(self) -> str:
        bottom = HEIGHT - BOTTOM
        parts = [f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{bottom}" y2="{bottom}"/>']
        for tick in self.x.ticks:
            place, text = self.at(tick, self.y.low)[0], escape(self.x.text(tick))
            parts.append(f'<text x="{place:.1f}" y="{bottom + 18}" text-anchor="middle">{text}</text>')
        middle, title = (LEFT + WIDTH - RIGHT) / 2, escape(self.x.title)
        parts.append(f'<text class="title" x="{middle:.0f}" y="{HEIGHT - 8}" text-anchor="middle">{title}</text>')
        return "".join(parts)

    def _up(self) -> str:
        parts = []
        for tick in self.y.ticks:
            place, text = self.at(self.x.low, tick)[1], escape(self.y.text(tick))
            parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{place:.1f}" y2="{place:.1f}"/>')
            parts.append(f'<text x="{LEFT - 7}" y="{place + 4:.1f}" text-anchor="end">{text}</text>')
        middle, title = (TOP + HEIGHT - BOTTOM) / 2, escape(self.y.title)
        parts.append(
            f'<text class="title" x="14" y="{middle:.0f}" text-anchor="middle" '
            f'transform="rotate(-90 14 {middle:.0f})">{title}</text>'
        )
        return "".join(parts)
