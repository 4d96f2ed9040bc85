"""Tables for notebooks: HTML whose colors are those of the notebook, so that it is readable light and dark."""

import re
from collections.abc import Sequence
from html import escape

from unskew._support.text import Table, visible

LINE = "1px solid color-mix(in srgb, currentColor 25%, transparent)"
NUMBER = re.compile(r"[-+]?[\d.,]+(e[-+]?\d+)?( %)?( (\(|to |± |of ).*)?")
"""What is not broken into lines: a number, maybe with its interval."""


def html_table(title: str, table: Table, note: str = "") -> str:
    """A table under its title; `note` stands below. All text is escaped.

    Examples
    --------
    >>> html_table("A <b>", Table(("what", "value"), [("AUC", "0.9")])).count("&lt;b&gt;")
    1
    """
    header = "".join(_cell("th", each, weight=600) for each in table.header)
    rows = "".join(f"<tr>{_row(each)}</tr>" for each in table.rows)
    below = f'<p style="margin:.4em 0;max-width:50em;opacity:.8">{_text(note)}</p>' if note else ""
    return (
        '<div style="overflow-x:auto;color:inherit">'
        f'<p style="margin:.4em 0;font-weight:600">{_text(title)}</p>'
        '<table style="border-collapse:collapse;margin:0;font-variant-numeric:tabular-nums;color:inherit">'
        f"<thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table>{below}</div>"
    )


def _row(cells: Sequence[str]) -> str:
    return _cell("th", cells[0]) + "".join(_cell("td", each) for each in cells[1:])


def _cell(tag: str, text: str, weight: int = 400) -> str:
    wrap = "nowrap" if NUMBER.fullmatch(text) else "normal"
    place = f"text-align:left;vertical-align:top;padding:.25em 1em .25em 0;white-space:{wrap}"
    return f'<{tag} style="{place};font-weight:{weight};background:none;border-bottom:{LINE}">{_text(text)}</{tag}>'


def _text(text: str) -> str:
    return escape(visible(text))
