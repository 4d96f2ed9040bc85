"""From the name of a plan to its rows: a request is understood and checked before anything runs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from unskew._support.text import Table
from unskew.datasets import describe, fetch
from unskew.errors import DataMissing, MissingExtra, closest_name
from unskew.paper.baselines import BASELINES, check_installed
from unskew.paper.own_files import import_files
from unskew.paper.plans import PLANS, Plan
from unskew.paper.runner import PlanOutcome, Say, run_plan


@dataclass(frozen=True)
class Request:
    """Which part of a plan to run, in how many processes (`jobs`) or by which workers, and the folder of its rows.

    What is None or empty is as in the plan. `seeds` counts from `first_seed`, `epochs` is a maximum. `imports` are
    Python files that register methods or data sets; without `methods`, their methods are added to the plan's.
    """

    plan: str
    datasets: Sequence[str] = ()
    methods: Sequence[str] = ()
    priors: Sequence[float] = ()
    seeds: int | None = None
    epochs: int | None = None
    jobs: int = 1
    folder: Path = Path("results")
    imports: Sequence[Path] = ()
    first_seed: int | None = None
    workers: str | None = None


def reproduce(request: Request, say: Say) -> tuple[Plan, PlanOutcome]:
    """Run a request; returns the plan that was run and how it ended.

    `say` gets messages for the user before the runs begin: missing data sets and packages, number of runs.
    """
    plan = wanted_plan(request, say)
    imports = request.imports
    return plan, run_plan(plan, request.folder, jobs=request.jobs, workers=request.workers, imports=imports, say=say)


def wanted_plan(request: Request, say: Say) -> Plan:
    """The plan of a request, checked, on data sets whose files exist."""
    imported = import_files(request.imports)
    plan = plan_named(request.plan)
    _check_numbers(request)
    _check_methods(request.methods, imported)
    datasets = request.datasets or plan.datasets
    present = [_present_dataset(name, say, may_be_missing=not request.datasets) for name in datasets]
    found = list(dict.fromkeys(name for name in present if name is not None))
    if not found:
        raise DataMissing(
            f"{plan.name} needs at least one of its data sets, but the files of all are missing "
            f"({', '.join(datasets)}). `unskew datasets` lists the files and where to get them; --dataset digits needs "
            "no files."
        )
    if imported and not request.methods and plan.show == "weights":
        say(f"{', '.join(imported)} is left out: {plan.name} shows only the weights of the paper's method")
    elif not request.methods:
        installed = [name for name in plan.methods if _is_installed(name, say)]
        plan = replace(plan, methods=tuple(dict.fromkeys((*installed, *imported))))
    return plan.only(
        datasets=found,
        methods=request.methods,
        priors=request.priors,
        seeds=request.seeds,
        first_seed=request.first_seed,
        max_epochs=request.epochs,
    )


def plan_named(name: str) -> Plan:
    """The plan of that name."""
    if name not in PLANS:
        raise ValueError(f"there is no plan {name!r}, only {', '.join(PLANS)}.{closest_name(name, PLANS)}")
    return PLANS[name]


def plans_table() -> Table:
    """All plans with their sizes."""
    lines = []
    for plan in PLANS.values():
        settings = plan.settings()
        draws = {setting.split for setting in settings}
        names = ", ".join(plan.datasets)
        lines.append((plan.name, plan.source or "-", plan.title, names, str(len(settings)), str(len(draws))))
    return Table(("plan", "in the paper", "what", "data sets", "runs", "draws"), tuple(lines))


def _check_numbers(request: Request) -> None:
    for name in ("seeds", "epochs", "jobs"):
        value = getattr(request, name)
        if value is not None and value < 1:
            raise ValueError(f"--{name} must be at least 1, but it is {value}.")
    if request.first_seed is not None and request.first_seed < 0:
        raise ValueError(f"--first-seed must be at least 0, but it is {request.first_seed}.")
    for prior in request.priors:
        if not 0 < prior < 1:
            raise ValueError(f"--prior must lie between 0 and 1, but it is {prior:g}.")


def _check_methods(wanted: Sequence[str], imported: Sequence[str]) -> None:
    from unskew.rankers import method_card

    for name in imported:
        if name in BASELINES:
            raise ValueError(
                f"a method of your own must not be called {name!r}, as a baseline is. Choose another name."
            )
    for name in wanted:
        (check_installed if name in BASELINES else method_card)(name)  # raises if it is not there


def _is_installed(method: str, say: Say) -> bool:
    """Whether a method can be run here; `say` gets a message where the package of a baseline is missing."""
    try:
        if method in BASELINES:
            check_installed(method)
    except MissingExtra as error:
        say(f"{method} is left out: {error}")
        return False
    return True


def _present_dataset(name: str, say: Say, *, may_be_missing: bool) -> str | None:
    """The data set, or its stand-in where only that has its files; None if neither has, and `may_be_missing`."""
    try:
        fetch(name)
    except DataMissing as error:
        stand_in = describe(name).stand_in
        if stand_in is not None and describe(stand_in).present:
            say(f"{name} is missing; {stand_in} is used instead, under its own name")
            return stand_in
        if not may_be_missing:
            raise
        say(f"{name} is left out: {error}")
        return None
    return name
