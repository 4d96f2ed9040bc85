"""How messages name files, columns, rows and values."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unskew.errors import closest_name

StrPath = str | os.PathLike[str]
LONGEST_VALUE = 60

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


def rows(count: int) -> str:
    """Count of rows with its noun."""
    return "1 row" if count == 1 else f"{count:,} rows"


def rows_of(count: int, total: int, one: str, more: str) -> str:
    """Count of rows among all with its verb.

    Examples
    --------
    >>> rows_of(1, 1200, "is", "are")
    '1 row of 1,200 is'
    """
    return f"{rows(count)} of {total:,} {one if count == 1 else more}"


def offending(bad: np.ndarray, series: Any, first_row: int, one: str, more: str) -> str:
    """How many rows of a column offend and by what, with the first of them; `bad` marks them.

    Examples
    --------
    >>> offending(np.array([False, True]), ["1", "?"], 1, "is none", "are none")
    '1 row of 2 is none (first: "?" at row 2)'
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
