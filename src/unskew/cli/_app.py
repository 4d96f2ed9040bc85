"""The program that all commands belong to, and the one way from it to the terminal and to files of results."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option
from typer.core import TyperGroup

from unskew._support.files import write_atomically
from unskew._support.memory import keep_little
from unskew._support.notes import warnings_as_notes
from unskew._support.text import visible
from unskew._version import __version__

if TYPE_CHECKING:
    from unskew._support.text import Table
    from unskew.metrics.diagnostics import Finding

LONGEST_NAME = 20
"""Names of rows that leave room for the other columns on any terminal."""


@contextmanager
def _visible_usage() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message"):  # an error of the library that reads the command line
            error.message = visible(error.message)  # type: ignore[attr-defined]
        raise


class _Program(TyperGroup):
    """Refuses a wrong command line with the words that were typed, but without their control characters."""

    make_context = _visible_usage()(TyperGroup.make_context)
    invoke = _visible_usage()(TyperGroup.invoke)


app = typer.Typer(
    cls=_Program,
    help=(
        "Rank cases by how likely they are to be positive, from biased positive-unlabeled data with confidence and no "
        "negatives."
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its tables cut the names of options short on a terminal of 80 columns
)


def _check_seed(seed: int) -> int:
    """Refuse a seed that no generator takes."""
    if not 0 <= seed < 2**32:
        raise ValueError(f"--seed must be a whole number from 0 to {2**32 - 1}, but it is {seed}.")
    return seed


Seed = Annotated[int, Option(help="Random seed.", callback=_check_seed)]


def say(text: str) -> None:
    """Print text of one or more lines."""
    typer.echo(visible(text, keep="\n\t"))


def warn(text: str) -> None:
    """Print one line to standard error, such as a note or an error."""
    typer.echo(visible(text.replace("\n", " ")), err=True)


def show(table: "Table", title: str) -> None:
    """Print a table with its title."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    def cell(text: str) -> Text:
        return Text(visible(text))  # brackets in a name are not markup

    shown = RichTable(box=box.SIMPLE_HEAD)
    for place, name in enumerate(table.header):
        # On a narrow terminal the name of the row stays whole, and the rest takes more lines; nothing is cut off.
        longest = max((len(row[place]) for row in table.rows), default=0)
        shown.add_column(cell(name), no_wrap=place == 0 and longest <= LONGEST_NAME, overflow="fold")
    for row in table.rows:
        shown.add_row(*map(cell, row))
    # Without a terminal rich would fold the table to 80 columns; a log keeps whole lines.
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(cell(title), soft_wrap=True)  # as a title of the table it would be folded to the table's width
    console.print(shown)


def show_notes(messages: Iterable[str]) -> None:
    """Print notes, each on one line of standard error."""
    for message in messages:
        warn(f"note: {message}")


def show_findings(findings: "Iterable[Finding]") -> None:
    """Print what was noticed about a table, each on one line of standard error."""
    for finding in findings:
        warn(f"{finding.level}: {finding.message}")


def write_json(path: Path | None, content: Any) -> None:
    """Write what `--json` asks for, if it does."""
    if path is not None:
        write_atomically(path, json.dumps(content, indent=2, allow_nan=False).encode())


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"unskew {__version__}")
        raise typer.Exit


@app.callback()
def _program_options(
    context: typer.Context,
    version: Annotated[
        bool, Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    keep_little()
    context.with_resource(warnings_as_notes(lambda message: warn(f"note: {message}")))
