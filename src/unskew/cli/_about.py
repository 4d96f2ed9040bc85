"""Commands that list what there is: methods, datasets."""

import json
from dataclasses import asdict
from typing import Annotated

from typer import Argument, Option

from unskew.cli._app import app, say, show


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
