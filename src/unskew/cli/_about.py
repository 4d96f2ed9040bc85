"""Commands to look around: demo, example, methods, datasets."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from unskew.cli._app import Seed, app, say, show


@app.command(short_help="Train on toy data and on digits, and write a page about it.")
def demo(
    out: Annotated[Path, Option(help="Folder for the page and its picture.")] = Path("demo"),
    seed: Seed = 0,
) -> None:
    """Train on toy data and on scikit-learn's digits, and write a page about it.

    Example: unskew demo --out demo
    """
    from unskew.practice.demo import run_demo

    say(f"Page: {run_demo(out, seed=seed, show=show)}")


@app.command(short_help="Write a table to try the other commands on.")
def example(
    name: Annotated[
        str,
        Argument(
            help="claims (made-up insurance claims), payments (made-up, with drift), digits (images as a table) or "
            "screening (a real health survey, whose file you must have: `unskew datasets diabetes-2015`)."
        ),
    ] = "claims",
    out: Annotated[Path, Option(help="Folder for the files.")] = Path(),
    seed: Seed = 0,
) -> None:
    """Write a table to try the other commands on: NAME.csv to fit on, new_NAME.csv to score.

    NAME_answers.csv has what a check of any of their rows by hand would find.

    Example: unskew example claims
    """
    from unskew.errors import closest_name
    from unskew.practice.examples import EXAMPLES, write_example

    if name not in EXAMPLES:
        raise ValueError(f"there is no example {name!r}, only {', '.join(EXAMPLES)}.{closest_name(name, EXAMPLES)}")
    for path in write_example(name, out, seed=seed):
        say(f"Written: {path}")


@app.command(short_help="List the methods with what they assume and need.")
def methods(
    name: Annotated[str | None, Argument(help="Show everything about this method.")] = None,
    as_json: Annotated[bool, Option("--json", help="Print the cards as JSON.")] = False,
) -> None:
    """List the methods with what they assume and need.

    Examples: unskew methods; unskew methods pusb; unskew methods --json
    """
    from unskew.practice.terminal import card_text, cards_table
    from unskew.rankers import method_card, method_cards

    cards = method_cards() if name is None else (method_card(name),)
    if as_json:
        say(json.dumps([asdict(card) for card in cards], indent=2))
    elif name is None:
        show(cards_table(cards), "Methods")
    else:
        say(card_text(cards[0]))


@app.command(short_help="List the data sets and their missing files.")
def datasets(
    names: Annotated[list[str] | None, Argument(metavar="NAME", help="Show only these, file by file.")] = None,
    as_json: Annotated[bool, Option("--json", help="Print the descriptions as JSON.")] = False,
) -> None:
    """List the data sets, their missing files and their sources. Downloads nothing.

    Examples: unskew datasets; unskew datasets mnist cifar10-h; unskew datasets --json
    """
    from unskew.datasets import data_home, describe
    from unskew.datasets import names as all_names
    from unskew.practice.terminal import dataset_text, datasets_table

    found = [describe(name) for name in names or all_names()]
    if as_json:
        say(json.dumps([{**asdict(each), "present": each.present} for each in found], indent=2))
    elif names:
        say("\n\n".join(dataset_text(each) for each in found))
    else:
        show(datasets_table(found), f"Data sets, looked up in {data_home()}")
