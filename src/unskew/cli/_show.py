"""Tables on a terminal, or in a log."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unskew._support.text import Table

LONGEST_NAME = 20
"""Names of rows that leave room for the other columns on any terminal."""


def show(table: "Table", title: str) -> None:
    """Print a table with its title."""
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table as RichTable

    shown = RichTable(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD)
    for place, name in enumerate(table.header):
        # On a narrow terminal what names the row stays whole, and the rest takes more lines; nothing is cut off.
        longest = max((len(row[place]) for row in table.rows), default=0)
        shown.add_column(escape(name), no_wrap=place == 0 and longest <= LONGEST_NAME, overflow="fold")
    for row in table.rows:
        shown.add_row(*map(escape, row))  # brackets in a name are no markup
    # Off a terminal rich would fold the table to 80 columns; a log keeps whole lines.
    Console(width=None if sys.stdout.isatty() else 140).print(shown)
