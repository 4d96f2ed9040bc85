"""Commands to look around: demo, tour, example, methods, datasets."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from unskew.cli._app import Seed, app, say, show


@app.command(short_help="Rank a real table, and compare the estimates with the truth.")
def demo(
    out: Annotated[Path, Option(help="Folder for the table, the model, the pages and the picture.")] = Path("demo"),
    seed: Seed = 0,
) -> None:
    """Rank biopsies of which a clinic knows some malignant ones, and compare the estimates with the truth.

    Takes some seconds, needs no network, and writes two pages.

    Example: unskew demo --out demo
    """
    from unskew.practice.demo import run_demo

    page, report = run_demo(out, seed=seed, say=say, show=show)
    say(f"Page: {page}\nReport: {report}")


@app.command(short_help="Train several methods on toy data and on digits, with a page of pictures.")
def tour(
    out: Annotated[Path, Option(help="Folder for the page and its picture.")] = Path("tour"),
    seed: Seed = 0,
) -> None:
    """Train several methods on toy data and on scikit-learn's digits, and write a page of pictures about it.

    Example: unskew tour --out tour
    """
    from unskew.practice.tour import run_tour

    say(f"Page: {run_tour(out, seed=seed, show=show)}")


@app.command(short_help="Write a table to try the other commands on.")
def example(
    name: Annotated[
        str,
        Argument(
            help="claims (made-up insurance claims), payments (made-up, with drift), digits (images as a table), "
            "biopsies (real, of breast lumps) or screening (a real health survey, whose file you must have: `unskew "
            "datasets diabetes-2015`)."
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
