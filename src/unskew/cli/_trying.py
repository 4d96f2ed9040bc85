"""Commands to try the library on data of its own: demo, example."""

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
