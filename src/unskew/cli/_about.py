"""Commands that tell what there is: demo, methods, datasets."""

import json
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from unskew.cli._app import app, check_seed
from unskew.cli._show import show


@app.command(short_help="Train on toy data and on digits, and leave a page to look at.")
def demo(
    out: Annotated[Path, Option(help="Folder for the page and its picture.")] = Path("demo"),
    seed: Annotated[int, Option(help="Seed of every draw.")] = 0,
) -> None:
    """Train on the toy law and on scikit-learn's digits, and leave a page to look at.

    Example: unskew demo --out demo
    """
    from unskew.practice.demo import run_demo

    check_seed(seed)
    page = run_demo(out, seed=seed, show=show)
    typer.echo(f"The page with pictures: {page}")


@app.command(short_help="Write a table to try the other commands on.")
def example(
    name: Annotated[str, Argument(help="claims (made-up insurance claims) or digits (images as a table).")] = "claims",
    out: Annotated[Path, Option(help="Folder for the two files.")] = Path(),
    seed: Annotated[int, Option(help="Seed of every draw.")] = 0,
) -> None:
    """Write a table to try the other commands on: NAME.csv to fit on, new_NAME.csv to score.

    Example: unskew example claims
    """
    from unskew.errors import closest_name
    from unskew.practice.example_tables import NAMES, write_example

    if name not in NAMES:
        raise ValueError(f"there is no example {name!r}, only {', '.join(NAMES)}.{closest_name(name, NAMES)}")
    check_seed(seed)
    for path in write_example(name, out, seed=seed):
        typer.echo(f"written: {path}")


@app.command(short_help="List the methods with what they assume and need.")
def methods(
    name: Annotated[str | None, Argument(help="One method, to read all that is known of it.")] = None,
    as_json: Annotated[bool, Option("--json", help="Print the cards as JSON.")] = False,
) -> None:
    """List the methods with what they assume and need.

    Examples: unskew methods; unskew methods pusb; unskew methods --json
    """
    from dataclasses import asdict

    from unskew.practice.terminal import card_text, cards_table
    from unskew.rankers import method_card, method_cards

    cards = method_cards() if name is None else (method_card(name),)
    if as_json:
        typer.echo(json.dumps([asdict(card) for card in cards], indent=2))
    elif name is None:
        show(cards_table(cards), "Methods")
    else:
        typer.echo(card_text(cards[0]))


@app.command(short_help="List the data sets: what is there, what is missing.")
def datasets(
    names: Annotated[list[str] | None, Argument(metavar="NAME", help="Only these, file by file.")] = None,
    as_json: Annotated[bool, Option("--json", help="Print the descriptions as JSON.")] = False,
) -> None:
    """List the data sets: what is there, what is missing, where it comes from. Downloads nothing.

    Examples: unskew datasets; unskew datasets mnist cifar10-h; unskew datasets --json
    """
    from dataclasses import asdict

    from unskew.datasets import data_home, describe
    from unskew.datasets import names as all_names
    from unskew.practice.terminal import dataset_text, datasets_table

    found = [describe(name) for name in names or all_names()]
    if as_json:
        typer.echo(json.dumps([{**asdict(each), "present": each.present} for each in found], indent=2))
    elif names:
        typer.echo("\n\n".join(dataset_text(each) for each in found))
    else:
        show(datasets_table(found), f"Data sets, looked up in {data_home()}")
