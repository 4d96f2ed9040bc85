"""The command that reproduces the paper."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from unskew.cli._app import app, say, show, warn
from unskew.cli._workers import AtWorkers, check_workers

if TYPE_CHECKING:
    from unskew.paper.plans import Plan


@app.command(short_help="Run a table or figure of the paper.")
def reproduce(
    plan: Annotated[str | None, Argument(help="A table or figure of the paper; --list shows them.")] = None,
    dataset: Annotated[list[str] | None, Option(help="Only this data set; may be repeated.")] = None,
    method: Annotated[list[str] | None, Option(help="Only this method; may be repeated.")] = None,
    prior: Annotated[list[float] | None, Option(help="Only this share of positives; may be repeated.")] = None,
    seeds: Annotated[int | None, Option(help="Only so many seeds.")] = None,
    first_seed: Annotated[
        int | None,
        Option(
            help="Seeds from this one on, for draws that nobody has used yet; by default from that of the plan. The "
            "tables show no runs of earlier seeds."
        ),
    ] = None,
    epochs: Annotated[
        int | None,
        Option(
            help="Maximum number of epochs, for a quick look; below 30, also for the classifier that provides the "
            "confidence. The tables show only runs with the same limit."
        ),
    ] = None,
    jobs: Annotated[int, Option(help="Number of processes, with one thread each.")] = 1,
    workers: AtWorkers = None,
    out: Annotated[Path, Option(help="Folder for the results and the tables.")] = Path("results"),
    imports: Annotated[
        list[Path] | None,
        Option(
            "--import",
            help="Python file that registers a method or data set; may be repeated. Without --method, its methods run "
            "after those of the plan. If the file has changed, its runs are repeated.",
        ),
    ] = None,
    list_plans: Annotated[bool, Option("--list", help="List the plans with their sizes.")] = False,
) -> None:
    """Run a table or figure of the paper; finished runs are kept and not repeated.

    The tables show all runs of the plan in the folder, including those of earlier calls; of seeds, those that follow
    each other from the first one on.

    Examples: unskew reproduce --list; unskew reproduce table1 --dataset digits --seeds 2 --jobs 2
    """
    from unskew.paper.reproduce import Request, plans_table
    from unskew.paper.reproduce import reproduce as run

    if list_plans:
        show(plans_table(), "Plans")
        return
    if plan is None:
        raise ValueError("the name of a plan must be given, but there is none. `unskew reproduce --list` shows them.")
    check_workers(workers, jobs)
    files = [path.resolve() for path in imports or ()]
    part = Request(plan, dataset or (), method or (), prior or (), seeds, epochs, jobs, out, files, first_seed, workers)
    done, outcome = run(part, warn)
    _summarize(done, out)
    for message in outcome.failed:
        warn(f"failed: {message}")
    if outcome.failed:
        raise typer.Exit(1)


def _summarize(plan: "Plan", folder: Path) -> None:
    """Write the tables and pictures of all rows of a plan into their folder, and print the table."""
    from unskew.paper.store import Store
    from unskew.paper.summary import summarize, to_markdown, with_all_rows, write

    rows = list(Store(folder, plan.name).finished().values())
    summary = summarize(with_all_rows(plan, rows), rows)
    say(to_markdown(summary))
    written = write(summary, folder)
    for line in (*(f"written: {path}" for path in written.files), written.message):
        if line:
            warn(line)
