"""How messages name files, columns, rows and values."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unskew.errors import closest_name

StrPath = str | os.PathLike[str]
LONGEST_VALUE = 60


@dataclass(frozen=True)
class Table:
    """Header and rows of text; the first column names the row."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


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
    text = text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"
    return '"' + text.replace("\r", "\\r").replace("\n", "\\n") + '"'


def start(path: StrPath | None) -> str:
    """File at the start of a message; nothing if it is not known."""
    return "" if path is None else f"{os.fspath(path)}: "


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
