"""The command line. A command does no work of its own, and nothing heavy is loaded before one is chosen."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from unskew._version import __version__

if TYPE_CHECKING:
    from unskew.experiments.plans import Plan
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


@app.command()
def datasets(
    names: Annotated[list[str] | None, Argument(metavar="[NAME]...", help="Only these, file by file.")] = None,
    as_json: Annotated[bool, Option("--json", help="Print the descriptions as JSON.")] = False,
) -> None:
    """List the data sets: what is there, what is missing, where it comes from. Downloads nothing.

    Examples: unskew datasets; unskew datasets mnist cifar10-h; unskew datasets --json
    """
    from dataclasses import asdict

    from unskew.datasets import data_home, describe
    from unskew.datasets import names as all_names
    from unskew.report.dataset_list import dataset_text, datasets_table

    found = [describe(name) for name in names or all_names()]
    if as_json:
        typer.echo(json.dumps([{**asdict(each), "present": each.present} for each in found], indent=2))
    elif names:
        typer.echo("\n\n".join(dataset_text(each) for each in found))
    else:
        _show(datasets_table(found), f"Data sets, looked up in {data_home()}")


@app.command()
def reproduce(
    plan: Annotated[str | None, Argument(help="A table or figure of the paper; --list names them.")] = None,
    dataset: Annotated[list[str] | None, Option(help="Only this data set; may be repeated.")] = None,
    method: Annotated[list[str] | None, Option(help="Only this method; may be repeated.")] = None,
    prior: Annotated[list[float] | None, Option(help="Only this share of positives; may be repeated.")] = None,
    seeds: Annotated[int | None, Option(help="Only the first N seeds.")] = None,
    epochs: Annotated[int | None, Option(help="At most so many epochs, for a quick look.")] = None,
    jobs: Annotated[int, Option(help="Processes, one thread each.")] = 1,
    out: Annotated[Path, Option(help="Folder for the rows of results and the tables.")] = Path("results"),
    imports: Annotated[
        list[Path] | None, Option("--import", help="Python file that registers a method or data set; may be repeated.")
    ] = None,
    list_plans: Annotated[bool, Option("--list", help="List the plans with their sizes.")] = False,
) -> None:
    """Run a table or figure of the paper; finished runs are kept and never run again.

    Examples: unskew reproduce --list; unskew reproduce table1 --dataset digits --seeds 2 --jobs 2
    """
    from unskew.experiments.reproduce import Request, plans_table
    from unskew.experiments.reproduce import reproduce as run

    if list_plans:
        _show(plans_table(), "Plans")
        return
    if plan is None:
        raise ValueError("the name of a plan must be given. `unskew reproduce --list` names them.")
    request = Request(
        plan,
        dataset or (),
        method or (),
        prior or (),
        seeds,
        epochs,
        jobs,
        out,
        [path.resolve() for path in imports or ()],
    )
    done, outcome = run(request, lambda text: typer.echo(text, err=True))
    _summarize(done, out)
    for message in outcome.failed:
        typer.echo(f"failed: {message}", err=True)
    if outcome.failed:
        raise typer.Exit(1)


def _summarize(plan: "Plan", folder: Path) -> None:
    """Write the tables and pictures of a plan beside its rows, and print the table."""
    from unskew.experiments.store import Store
    from unskew.experiments.summary import summarize, to_markdown, write

    summary = summarize(plan, Store(folder, plan.name).rows())
    typer.echo(to_markdown(summary))
    written = write(summary, folder)
    for line in (*(f"written: {path}" for path in written.files), written.message):
        if line:
            typer.echo(line, err=True)


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
