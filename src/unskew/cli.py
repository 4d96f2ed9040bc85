"""The command line. A command does no work of its own, and nothing heavy is loaded before one is chosen."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from unskew._version import __version__

if TYPE_CHECKING:
    from unskew.report.page import Table

app = typer.Typer(
    help="Rank by how likely positive, from biased positive-unlabeled data with confidence and no negatives.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"unskew {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    out: Annotated[Path, Option(help="Folder for the page and its picture.")] = Path("demo"),
    seed: Annotated[int, Option(help="Seed of every draw.")] = 0,
) -> None:
    """Train on the toy law and on scikit-learn's digits, and leave a page to look at.

    Example: unskew demo --out demo
    """
    from unskew.demo import run_demo

    page = run_demo(out, seed=seed, show=_show)
    typer.echo(f"The page with pictures: {page}")


@app.command()
def methods(
    name: Annotated[str | None, Argument(help="One method, to read all that is known of it.")] = None,
    as_json: Annotated[bool, Option("--json", help="Print the cards as JSON.")] = False,
) -> None:
    """List the methods with what they assume and need.

    Examples: unskew methods; unskew methods pusb; unskew methods --json
    """
    from dataclasses import asdict

    from unskew.rankers import method_card, method_cards
    from unskew.report.cards import card_text, cards_table

    cards = method_cards() if name is None else (method_card(name),)
    if as_json:
        typer.echo(json.dumps([asdict(card) for card in cards], indent=2))
    elif name is None:
        _show(cards_table(cards), "Methods")
    else:
        typer.echo(card_text(cards[0]))


def _show(table: "Table", title: str) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable

    shown = RichTable(*table.header, title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for row in table.rows:
        shown.add_row(*row)
    # Off a terminal rich would fold the table to 80 columns; a log keeps whole lines.
    Console(width=None if sys.stdout.isatty() else 140).print(shown)


def main() -> None:
    """Run the command line; what is wrong with a request or its data is told in one message, with exit code 2."""
    from unskew.errors import MissingExtra

    try:
        app()
    except (OSError, ValueError, MissingExtra) as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
