"""Rows of results found by what they are: data set, column of a table, prior and seed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from unskew.paper.plans import HUMAN, PLANS, SIX, Plan, Setting
from unskew.paper.store import Row
from unskew.paper.summary.names import STAND_INS, method_title
from unskew.paper.summary.paper import variant_key
from unskew.paper.summary.statistics import Run


@dataclass(frozen=True)
class Column:
    """A method, in one of the variants of a plan.

    Attributes
    ----------
    title : str
    method : str
    variant : str
        As in the keys of the paper's numbers; empty without variants.
    changes : mapping of str to a value
        Fields of a setting that make the variant.
    """

    title: str
    method: str
    variant: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict)


def columns_of(plan: Plan) -> list[Column]:
    """Columns of a plan's table, those to compare with last."""
    changes = [(name, value) for name, values in plan.variants.items() for value in values]
    plain = plan.extra if changes else (*plan.methods, *plan.extra)
    varied = [_varied(plan, method, *change) for method in plan.methods for change in changes]
    return varied + [Column(method_title(method), method) for method in dict.fromkeys(plain)]


def _varied(plan: Plan, method: str, name: str, value: float) -> Column:
    title = variant_key(value) if len(plan.methods) == 1 else f"{method_title(method)}, {variant_key(value)}"
    return Column(title, method, variant_key(value), {name: value})


class Runs:
    """Rows of a plan; others are left aside.

    Parameters
    ----------
    plan : Plan
    rows : iterable of dict
    """

    def __init__(self, plan: Plan, rows: Iterable[Row]) -> None:
        self.plan = plan
        self._rows = {Setting.of_row(row): row for row in rows}

    def rows(self, dataset: str, column: Column) -> dict[Run, Row]:
        """Rows of a data set and column by prior and seed."""
        plan, changes = self.plan, {**self.plan.base, **column.changes}
        wanted = {
            (prior, seed): Setting(
                dataset,
                column.method,
                prior,
                plan.label_freq_at(prior),
                seed,
                **changes,
                max_epochs=plan.max_epochs,
            )
            for prior in plan.priors
            for seed in range(plan.seeds)
        }
        return {run: self._rows[setting] for run, setting in wanted.items() if setting in self._rows}

    def values(self, dataset: str, column: Column, name: str = "auc") -> dict[Run, float]:
        """A number of each of these rows."""
        return {run: float(row[name]) for run, row in self.rows(dataset, column).items()}

    def datasets(self) -> list[str]:
        """Data sets of the plan that have rows."""
        columns = columns_of(self.plan)
        return [name for name in self.plan.datasets if any(self.rows(name, column) for column in columns)]

    def count(self) -> int:
        """How many of the plan's settings have a row."""
        return len(self._rows.keys() & set(self.plan.settings()))


def on_datasets_of(plan: Plan, rows: Iterable[Row]) -> Plan:
    """The plan on the data sets that its rows are about, stand-ins and a user's own included.

    Plans share settings: a row of one may be a single entry of another. A data set belongs to a plan where it has rows
    for more than half of the columns and priors.
    """
    rows = list(rows)
    candidates = _candidates(plan, sorted({row["dataset"] for row in rows}))
    wide = replace(plan, datasets=tuple(candidates))
    runs, columns = Runs(wide, rows), columns_of(wide)
    filled = {name: sum(len({run[0] for run in runs.rows(name, each)}) for each in columns) for name in candidates}
    half = len(columns) * len(plan.priors) / 2
    return replace(plan, datasets=tuple(name for name in candidates if filled[name] > half))


def with_all_rows(plan: Plan, rows: Iterable[Row]) -> Plan:
    """The plan widened to what its rows are about, so that a part that was run last does not hide the others.

    Runs of other numbers of epochs are other experiments: they stay aside.
    """
    rows = [row for row in rows if row["max_epochs"] == plan.max_epochs]
    original = PLANS.get(plan.name, plan)
    methods = [*plan.methods, *_varied_methods(plan, rows, beside=original.extra)]
    beside = {*plan.extra, *(row["method"] for row in rows)} - {*methods}
    known = [each for name in (*original.datasets, *SIX) for each in (name, *_stand_ins(name))]
    return replace(
        plan,
        datasets=_in_order([*plan.datasets, *(row["dataset"] for row in rows)], known),
        methods=_in_order(methods, original.methods),
        extra=_in_order(beside, original.extra),
        priors=tuple(sorted({*plan.priors, *(row["prior"] for row in rows)})),
        seeds=max([plan.seeds, *(row["seed"] + 1 for row in rows)]),
    )


def _varied_methods(plan: Plan, rows: list[Row], beside: tuple[str, ...]) -> list[str]:
    """Methods of the rows, but for those that stand beside the variants of a plan and were run without any."""
    neutral = {name: getattr(Setting, name) for name in plan.variants}
    return [
        row["method"]
        for row in rows
        if row["method"] not in beside or any(row[name] != value for name, value in neutral.items())
    ]


def _in_order(found: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """What was found, each once, in the order that is known; the rest after it."""
    each_once = dict.fromkeys(found)
    return tuple(dict.fromkeys([*(name for name in known if name in each_once), *each_once]))


def _candidates(plan: Plan, found: list[str]) -> list[str]:
    """The plan's data sets and their stand-ins first; those with confidence from annotators stay in a table apart."""
    if set(plan.datasets) <= set(HUMAN):
        return list(plan.datasets)
    known = [*plan.datasets, *(name for name in SIX if name not in plan.datasets)]
    ordered = dict.fromkeys([*(each for name in known for each in (name, *_stand_ins(name))), *found])
    return [name for name in ordered if name not in HUMAN]


def _stand_ins(name: str) -> list[str]:
    return [own for own, of in STAND_INS.items() if of == name]
