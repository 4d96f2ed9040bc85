"""Results of a plan by data set, column, prior and seed: our rows, and the numbers printed in the paper."""

import csv
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from unskew.paper.plans import HUMAN, PLANS, SIX, Plan, Setting
from unskew.paper.store import Row
from unskew.paper.summary._records import STAND_INS, method_title
from unskew.paper.summary._statistics import Mean, Run, mean_of

FULL = "full"
"""Variant of a training time that includes the labeling network."""
_SAME_TABLE = {"table1-std": "table1"}

Key = tuple[str, str, str]
"""Data set, method and variant; variants that are numbers are written as by ``format(value, "g")``."""


@dataclass(frozen=True)
class Published:
    """A number of the paper, with its standard deviation where one is given."""

    value: float
    std: float | None


@cache
def published(plan: str) -> Mapping[Key, Published]:
    """The paper's numbers for a plan; empty where the paper has only a picture.

    Examples
    --------
    >>> published("table1")["mnist", "conf-auc", ""]
    Published(value=0.8979, std=0.0158)
    >>> len(published("prior"))
    0
    """
    source = files("unskew.paper") / "numbers" / f"{_SAME_TABLE.get(plan, plan)}.csv"
    if not source.is_file():
        return {}
    rows = csv.DictReader(source.read_text(encoding="utf-8").splitlines())
    return {
        (row["dataset"], row["method"], variant_key(row["variant"])): Published(
            float(row["value"]), float(row["std"]) if row["std"] else None
        )
        for row in rows
    }


def variant_key(variant: str | float) -> str:
    """A variant as it is written in keys.

    Examples
    --------
    >>> variant_key("0.0"), variant_key(0.01), variant_key("full")
    ('0', '0.01', 'full')
    """
    try:
        return format(float(variant), "g")
    except ValueError:
        return str(variant)


def published_for(plan: Plan, dataset: str, method: str, variant: str) -> Published | None:
    """The paper's number on a data set, or on the one that it stands in for."""
    return published(plan.name).get((STAND_INS.get(dataset, dataset), method, variant))


def is_the_papers(plan: Plan) -> bool:
    """Whether the plan's priors, epochs and scenario are those of the paper, so that means can be compared."""
    original = PLANS.get(plan.name)
    return original is not None and plan == replace(
        original,
        datasets=plan.datasets,
        methods=plan.methods,
        extra=plan.extra,
        seeds=plan.seeds,
        first_seed=plan.first_seed,
    )


@dataclass(frozen=True)
class PlanColumn:
    """A method, in one of the variants of a plan."""

    title: str
    method: str
    variant: str = ""  # as in the keys of the paper's numbers; empty without variants
    changes: Mapping[str, Any] = field(default_factory=dict)  # fields of a setting that make the variant


def columns_of(plan: Plan) -> list[PlanColumn]:
    """Columns of a plan's table; methods without variants, to compare with, come last."""
    changes = plan.changes()
    plain = plan.extra if changes else (*plan.methods, *plan.extra)
    varied = []
    for method in plan.methods:
        start = "" if len(plan.methods) == 1 else f"{method_title(method)}, "
        keys = [(_key_of_change(plan, change), change) for change in changes]
        varied += [PlanColumn(start + key, method, key, change) for key, change in keys]
    return varied + [PlanColumn(method_title(method), method) for method in dict.fromkeys(plain)]


def _key_of_change(plan: Plan, change: Mapping[str, Any]) -> str:
    """The changed value, with the name of its field where the plan changes several."""
    ((name, value),) = change.items()
    return variant_key(value) if len(plan.variants) == 1 else f"{name}={variant_key(value)}"


class Runs:
    """The rows of a plan among all rows."""

    def __init__(self, plan: Plan, rows: Iterable[Row]) -> None:
        self.plan = plan
        self._rows = {Setting.of_row(row): row for row in rows}

    def of(self, dataset: str, column: PlanColumn) -> dict[Run, Row]:
        """Rows of a data set and column by prior and seed."""
        wanted = {
            (prior, seed): self.plan.setting(dataset, column.method, prior, seed, column.changes)
            for prior in self.plan.priors
            for seed in self.plan.seed_numbers
        }
        return {run: self._rows[setting] for run, setting in wanted.items() if setting in self._rows}

    def aucs(self, dataset: str, column: PlanColumn) -> dict[Run, float]:
        """Test AUC of each of these rows."""
        return {run: float(row["auc"]) for run, row in self.of(dataset, column).items()}

    def datasets(self) -> list[str]:
        """Data sets of the plan that have rows."""
        columns = columns_of(self.plan)
        return [name for name in self.plan.datasets if any(self.of(name, column) for column in columns)]

    def count(self) -> int:
        """How many of the plan's settings have a row."""
        return len(self._rows.keys() & set(self.plan.settings()))


@dataclass(frozen=True)
class Results:
    """All columns of one data set: our AUCs by prior and seed, their means, and the paper's numbers."""

    dataset: str
    columns: list[PlanColumn]
    values: list[dict[Run, float]]
    means: list[Mean | None]
    paper: list[Published | None]
    comparable: bool  # whether these are the paper's data, priors and epochs


def results_of(runs: Runs) -> list[Results]:
    """Results of each data set that has rows."""
    plan, columns = runs.plan, columns_of(runs.plan)
    found = []
    for dataset in runs.datasets():
        values = [runs.aucs(dataset, column) for column in columns]
        means = [mean_of(each, plan.priors) for each in values]
        paper = [published_for(plan, dataset, each.method, each.variant) for each in columns]
        comparable = is_the_papers(plan) and dataset not in STAND_INS
        found.append(Results(dataset, columns, values, means, paper, comparable))
    return found


def plan_on_datasets_of(plan: Plan, rows: Iterable[Row]) -> Plan:
    """The plan on the data sets that its rows are about, including stand-ins and a user's own.

    Plans share settings, so a row of one may be a single entry of another. A data set belongs to a plan if it has rows
    for more than half of the columns and priors, or of a method that no other plan has.
    """
    rows = list(rows)
    candidates = [*plan.datasets]
    if not set(plan.datasets) <= set(HUMAN):  # annotated data sets have a table of their own
        found = dict.fromkeys([*_known_datasets(plan), *sorted({row["dataset"] for row in rows})])
        candidates = [name for name in found if name not in HUMAN or name in plan.datasets]
    wide = replace(plan, datasets=tuple(candidates))
    runs, columns = Runs(wide, rows), columns_of(wide)
    filled = {name: sum(len({run[0] for run in runs.of(name, each)}) for each in columns) for name in candidates}
    half = len(columns) * len(plan.priors) / 2
    elsewhere = {name for other in PLANS.values() if other.name != plan.name for name in (*other.methods, *other.extra)}
    own = [each for each in columns if each.method not in elsewhere]
    kept = [name for name in candidates if filled[name] > half or any(runs.of(name, each) for each in own)]
    return replace(plan, datasets=tuple(kept))


def with_all_rows(plan: Plan, rows: Iterable[Row]) -> Plan:
    """The plan extended to all of its rows, so that the part that was run last does not hide the others.

    Runs with another number of epochs are other experiments and do not count. Nor do seeds before the plan's first one
    and after a gap: to judge a method on seeds that nobody has used means to leave out those that were used.
    """
    rows = [row for row in rows if row["max_epochs"] == plan.max_epochs]
    seeds = _seeds_in_a_row(plan, {row["seed"] for row in rows})
    rows = [row for row in rows if row["seed"] in seeds]
    original = PLANS.get(plan.name, plan)
    neutral = {name: getattr(Setting, name) for name in plan.variants}
    methods = [*plan.methods]
    for row in rows:  # methods that are shown beside the variants count only if they were run with one
        if row["method"] not in original.extra or any(row[name] != value for name, value in neutral.items()):
            methods.append(row["method"])
    beside = {*plan.extra, *(row["method"] for row in rows)} - {*methods}
    return replace(
        plan,
        datasets=_in_order([*plan.datasets, *(row["dataset"] for row in rows)], _known_datasets(original)),
        methods=_in_order(methods, original.methods),
        extra=_in_order(beside, original.extra),
        priors=tuple(sorted({*plan.priors, *(row["prior"] for row in rows)})),
        seeds=len(seeds),
    )


def _seeds_in_a_row(plan: Plan, found: Collection[int]) -> range:
    """Seeds of the plan, and those found that continue them without a gap."""
    end = plan.seed_numbers.stop
    while end in found:
        end += 1
    return range(plan.first_seed, end)


def _in_order(found: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """Each name once: first the known ones in their order, then the others."""
    each_once = dict.fromkeys(found)
    return tuple(dict.fromkeys([*(name for name in known if name in each_once), *each_once]))


def _known_datasets(plan: Plan) -> list[str]:
    """The plan's data sets and the paper's six, each before the one that stands in for it."""
    stand_ins = {of: own for own, of in STAND_INS.items()}
    names = dict.fromkeys((*plan.datasets, *SIX))
    return [each for name in names for each in (name, stand_ins.get(name)) if each is not None]
