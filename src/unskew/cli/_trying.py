"""Commands to try the library on data of its own: demo, tour, example."""

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
