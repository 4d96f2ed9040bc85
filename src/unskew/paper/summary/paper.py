"""The paper's published numbers, as they are printed there; they come with the package."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from unskew.paper.plans import PLANS, Plan

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
    """The paper's numbers for a plan; empty where it has a picture only.

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
    """A variant as it stands in keys.

    Examples
    --------
    >>> variant_key("0.0"), variant_key(0.01), variant_key("full")
    ('0', '0.01', 'full')
    """
    try:
        return format(float(variant), "g")
    except ValueError:
        return str(variant)


def is_the_papers(plan: Plan) -> bool:
    """Whether the plan's priors, epochs and scenario are those of the paper, so that means can be compared."""
    original = PLANS.get(plan.name)
    return original is not None and plan == replace(
        original, datasets=plan.datasets, methods=plan.methods, extra=plan.extra, seeds=plan.seeds
    )
