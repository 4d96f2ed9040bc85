"""Tables of methods in columns, for each data set and kind of confidence: means, and differences from two of them."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from unskew.paper.baselines import BASELINES
from unskew.paper.summary._records import Entry, Line, Parts, ResultTable, dataset_title, method_title
from unskew.paper.summary._results import PlanColumn, Runs, variant_key
from unskew.paper.summary._statistics import (
    Mean,
    Run,
    mark_of,
    mean_of,
    most_seeds,
    paired_difference,
    partial_notes,
    standing,
)

_REFERENCES = ("conf-auc", "logistic")
"""Methods that each of the others is compared with."""
_NEUTRAL = {"power": 1.0}
_TITLES = {
    "power": "r^{}",
    "confidence_noise": "noise {}",
    "levels": "{} levels",
    "votes": "{} votes",
    "source": "from {}",
    "selection": "labels by {}",
}

Values = Mapping[str, Mapping[Run, float]]
"""Test AUCs by method, prior and seed."""


def beyond_parts(runs: Runs) -> Parts:
    """Means, and paired differences from each reference."""
    compared = [name for name in _REFERENCES if name in runs.plan.methods and len(runs.plan.methods) > 1]
    tables = (_table_of_means(runs), *(_table_of_differences(runs, name) for name in compared))
    return Parts(tables, (), _notes(runs, compared))


def change_title(change: Mapping[str, Any]) -> str:
    """A variant in words.

    Examples
    --------
    >>> change_title({"power": 1.0}), change_title({"power": 0.25}), change_title({"levels": 4})
    ('as it is', 'r^0.25', '4 levels')
    """
    ((name, value),) = change.items()
    if _NEUTRAL.get(name) == value:
        return "as it is"
    return _TITLES.get(name, f"{name} {{}}").format(variant_key(value))


def _variants(runs: Runs, dataset: str) -> dict[str, Values]:
    """Results of each variant by its title; without those that are the same runs as an earlier one.

    Baselines see no confidence, so that their runs belong to every kind of it: alone they are not results of one.
    """
    plan, found, seen = runs.plan, {}, set()
    for change in plan.changes():
        settings = tuple(plan.setting(dataset, method, 0.5, 0, change) for method in plan.methods)
        if settings not in seen:
            columns = [PlanColumn(method, method, changes=change) for method in plan.methods]
            found[change_title(change)] = {each.method: runs.aucs(dataset, each) for each in columns}
        seen.add(settings)
    own = [name for name in plan.methods if name not in BASELINES] or plan.methods
    return {title: values for title, values in found.items() if any(values[name] for name in own)}


def _table(runs: Runs, first: str, methods: list[str], entries_of: Callable[[Values, int], list[Entry]]) -> ResultTable:
    """A line for each data set and variant, with what `entries_of` makes of its results."""
    header = first, "confidence", "priors × seeds", *(method_title(each) for each in methods)
    groups = []
    for dataset in runs.datasets():
        lines: list[Line] = []
        for title, values in _variants(runs, dataset).items():
            seeds = most_seeds(_means(runs, values).values())
            times = f"{len(runs.plan.priors)} × {seeds}"
            start = Entry(dataset_title(dataset)), Entry(title), Entry(times)
            lines.append((*start, *entries_of(values, seeds)))
        groups.append(tuple(lines))
    return ResultTable(header, tuple(groups))


def _means(runs: Runs, values: Values) -> dict[str, Mean | None]:
    return {method: mean_of(each, runs.plan.priors) for method, each in values.items()}


def _table_of_means(runs: Runs) -> ResultTable:
    def entries(values: Values, seeds: int) -> list[Entry]:
        bold = standing(list(values.values()), runs.plan.priors).bold
        means = _means(runs, values).values()
        return [
            Entry(f"{mean.value:.4f}", is_bold, mark_of(mean, seeds)) if mean else Entry()
            for mean, is_bold in zip(means, bold, strict=True)
        ]

    return _table(runs, "Test AUC", [*runs.plan.methods], entries)


def _table_of_differences(runs: Runs, reference: str) -> ResultTable:
    others = [method for method in runs.plan.methods if method != reference]

    def entries(values: Values, seeds: int) -> list[Entry]:
        return [_difference_entry(runs, values[method], values[reference], seeds) for method in others]

    return _table(runs, f"minus {method_title(reference)}", others, entries)


def _difference_entry(runs: Runs, ours: Mapping[Run, float], other: Mapping[Run, float], seeds: int) -> Entry:
    found = paired_difference(ours, other, runs.plan.priors)
    if found is None:
        return Entry()
    error = "" if math.isnan(found.error) else f" ± {found.error:.4f}"
    return Entry(f"{found.mean.value:+.4f}{error}", mark=mark_of(found.mean, seeds))


def _notes(runs: Runs, compared: list[str]) -> list[str]:
    plan = runs.plan
    priors = ", ".join(format(prior, "g") for prior in plan.priors)
    notes = [
        f"Test AUC as a mean over seeds and then over the priors {priors}. Bold: the best of the line, and those that "
        "do not differ from it at the 5 % level by a paired t-test over the runs (prior and seed) that both have.",
    ]
    if compared:
        notes.append(
            "Tables that begin with minus: the mean difference from that method over the runs that both have ± its "
            "standard error, from the spread of the differences within priors."
        )
    if baselines := [method_title(name) for name in plan.methods if name in BASELINES]:
        notes.append(
            f"Baselines ({', '.join(baselines)}) tell labeled from unlabeled rows, of the training and the validation "
            "part together. They see no confidence: their means differ only where other rows are labeled."
        )
    lines = {
        f"{dataset_title(dataset)}, {title}": {
            method_title(method): mean for method, mean in _means(runs, values).items()
        }
        for dataset in runs.datasets()
        for title, values in _variants(runs, dataset).items()
    }
    return notes + partial_notes(lines)
