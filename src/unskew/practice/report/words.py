"""Numbers as people read them, and the HTML that carries their exact value."""

import math
from html import escape

from unskew.metrics.diagnostics import percent

__all__ = ["auc_text", "beside", "cases", "exact", "interval", "percent", "plural", "short"]

NOT_KNOWN = "not known"


def plural(count: int, noun: str) -> str:
    """A count with its noun.

    Examples
    --------
    >>> plural(1, "row"), plural(12345, "row")
    ('1 row', '12,345 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def short(value: float | None) -> str:
    """A number of any size with three digits or so.

    Examples
    --------
    >>> short(0.12345), short(12345.6), short(-0.00001), short(2)
    ('0.123', '12,346', '-1e-05', '2')
    """
    if value is None or not math.isfinite(value):
        return NOT_KNOWN
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def beside(value: float, spread: float) -> str:
    """A number with as many decimals as differences of the size of `spread` need.

    Examples
    --------
    >>> beside(0.000484, 1.2), beside(1.2502, 1.2), beside(54321.9, 800.0), beside(-0.0001, 1.0)
    ('0.00', '1.25', '54,322', '0.00')
    """
    decimals = min(9, max(0, 2 - math.floor(math.log10(spread)))) if spread > 0 else 3
    text = f"{value:,.{decimals}f}"
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text


def auc_text(value: float | None) -> str:
    """An AUC with three decimals."""
    return NOT_KNOWN if value is None or not math.isfinite(value) else f"{value:.3f}"


def interval(low: float | None, high: float | None) -> str:
    """Both ends of an interval of AUCs."""
    return f"{auc_text(low)} to {auc_text(high)}"


def cases(auc: float) -> str:
    """An AUC as cases out of a hundred.

    Examples
    --------
    >>> cases(0.934), cases(0.9988), cases(1.0)
    ('93 of 100', '99.9 of 100', 'all')
    """
    if auc >= 0.9995:
        return "all"
    return f"{100 * auc:.0f} of 100" if auc < 0.995 else f"{100 * auc:.1f} of 100"


def exact(text: str, value: float | None, name: str = "") -> str:
    """Text whose exact value programs can read."""
    identity = f' id="{escape(name)}"' if name else ""
    content = "" if value is None else f' data-value="{value!r}"'
    return f"<span{identity}{content}>{escape(text)}</span>"
