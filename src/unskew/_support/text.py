"""Words for people: numbers as they are read, and how messages name files, columns, rows and values."""

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unskew.errors import closest_name

if TYPE_CHECKING:
    import numpy as np

StrPath = str | os.PathLike[str]
LONGEST_VALUE = 60
NOT_KNOWN = "not known"

# Control characters, marks that turn the direction of writing, line separators, and halves of a character (bytes of a
# file name that are not text): a terminal would obey them, or show something other than what is there.
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True)
class Table:
    """Header and rows of text; the first column names the row."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def visible(text: str, keep: str = "") -> str:
    r"""Text from outside with every character escaped that a terminal would obey instead of showing it.

    Characters in `keep` stay: line breaks and tabs of a whole message are our own.

    Examples
    --------
    >>> print(visible("a\x1b[2J\u202eb\n"))
    a\x1b[2J\u202eb\n
    """
    return _UNSEEN.sub(lambda found: found[0] if found[0] in keep else ascii(found[0])[1:-1], text)


def shown(value: object) -> str:
    """Value in double quotes if it is text, shortened if it is long.

    Examples
    --------
    >>> print(shown("high"), shown(1.5), shown(None))
    "high" 1.5 nothing
    """
    if value is None:
        return "nothing"
    if isinstance(value, float):
        return f"{value:.15g}"
    text = str(value)
    if not isinstance(value, str):
        return text
    return '"' + visible(text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…") + '"'


def start(path: StrPath | None) -> str:
    """File at the start of a message; nothing if it is not known."""
    return "" if path is None else f"{visible(os.fspath(path))}: "


def rows_of(count: int, total: int, one: str, more: str) -> str:
    """Count of rows among all with its verb.

    Examples
    --------
    >>> rows_of(1, 1200, "is", "are")
    '1 row of 1,200 is'
    """
    return f"{plural(count, 'row')} of {total:,} {one if count == 1 else more}"


def offending(bad: "np.ndarray", series: Any, first_row: int, one: str, more: str) -> str:
    """How many rows of a column offend and by what, with the first of them; `bad` marks them.

    Examples
    --------
    >>> import numpy as np
    >>> offending(np.array([False, True]), ["1", "?"], 1, "is not a number", "are not numbers")
    '1 row of 2 is not a number (first: "?" at row 2)'
    """
    first = int(bad.argmax())
    found = rows_of(int(bad.sum()), len(series), one, more)
    return f"{found} (first: {shown(series[first])} at row {first_row + first:,})"


def listed(names: list[str], most: int = 8) -> str:
    """Names in double quotes, the first few of them."""
    more = len(names) - most
    return ", ".join(shown(name) for name in names[:most]) + (f" and {more:,} more" if more > 0 else "")


def no_column(path: StrPath | None, name: str, known: list[str]) -> str:
    """Sentence that a column is not there, with what is."""
    hint = closest_name(name, known).replace("'", '"')
    return f"{start(path)}there must be a column {shown(name)}, but there is none.{hint} There are: {listed(known)}."


def plural(count: int, noun: str) -> str:
    """A count with its noun.

    Examples
    --------
    >>> plural(1, "row"), plural(12345, "row")
    ('1 row', '12,345 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(share: float) -> str:
    """A share as people read it.

    Examples
    --------
    >>> percent(0.4561), percent(0.0999), percent(0.0123), percent(0.00217), percent(0)
    ('46 %', '10 %', '1.2 %', '0.22 %', '0 %')
    """
    value = 100 * share
    digits = 0 if value >= 9.95 or value == 0 else 1 if value >= 0.995 else 2
    return f"{value:.{digits}f} %"


def chosen_percent(share: float) -> str:
    """A share that somebody chose, without digits that say nothing.

    Examples
    --------
    >>> chosen_percent(0.01), chosen_percent(0.025)
    ('1 %', '2.5 %')
    """
    return f"{100 * share:.3g} %"


def likely(probability: float) -> str:
    """A probability of one row, which is never quite 0 or 1.

    Examples
    --------
    >>> likely(0.873), likely(0.9991), likely(0.0004)
    ('87 %', 'over 99 %', 'under 1 %')
    """
    if probability > 0.99:
        return "over 99 %"
    return percent(probability) if probability >= 0.01 else "under 1 %"


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


def number_in_words(value: float, spread: float) -> str:
    """A number of a table: whole ones with commas, others with as many decimals as numbers of such a spread need.

    Small ones keep two, however large the others are: an amount of 0.36 is not 0.

    Examples
    --------
    >>> number_in_words(1250.0, 300.0), number_in_words(3.14159, 1.0), number_in_words(12.5, 0.0)
    ('1,250', '3.14', '12.5')
    >>> number_in_words(1250.25, 300.0), number_in_words(0.361, 300.0)
    ('1,250', '0.36')
    """
    if not math.isfinite(value):
        return "missing" if math.isnan(value) else str(value)
    if value == round(value) and abs(value) < 1e15:
        return f"{value:,.0f}"
    large = abs(value) >= 1e15 or not 0 < spread < 1e15
    return f"{value:.6g}" if large else beside(value, min(spread, 1.0) if abs(value) < 10 else spread)


def auc_text(value: float | None) -> str:
    """An AUC with three decimals."""
    return NOT_KNOWN if value is None or not math.isfinite(value) else f"{value:.3f}"


def interval(low: float | None, high: float | None) -> str:
    """Both ends of an interval of AUCs."""
    return f"{auc_text(low)} to {auc_text(high)}"


def ranged(
    value: float, low: float | None, high: float | None, words: Callable[[float], str], *, with_point: bool = True
) -> str:
    """An estimate with its interval, or the interval alone; the value alone where there is no interval.

    Examples
    --------
    >>> ranged(0.5, 0.4, 0.62, percent), ranged(0.5, 0.4, 0.62, percent, with_point=False)
    ('50 % (40 % to 62 %)', '40 % to 62 %')
    """
    if low is None or high is None:
        return words(value)
    ends = f"{words(low)} to {words(high)}"
    return f"{words(value)} ({ends})" if with_point else ends


def times(value: float) -> str:
    """A lift with one decimal."""
    return f"{value:.1f}"


def commas(number: float) -> str:
    """A whole number with commas between its thousands."""
    return f"{number:,.0f}"


def roughly(number: float) -> str:
    """An estimated amount, rounded to the two digits that can be known of it.

    Examples
    --------
    >>> roughly(4912.3), roughly(-14378), roughly(95.4), roughly(0.534), roughly(-0.0)
    ('4,900', '-14,000', '95', '0.53', '0')
    """
    if number == 0:
        return "0"
    digits = 1 - math.floor(math.log10(abs(number)))
    rounded = round(number, digits)
    return f"{rounded:,.0f}" if abs(rounded) >= 10 else f"{rounded:.2g}"


def duration(seconds: float) -> str:
    """A time with its unit.

    Examples
    --------
    >>> duration(1.234), duration(41.2), duration(200)
    ('1.2 s', '41 s', '3 min')
    """
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


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
