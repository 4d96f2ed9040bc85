"""What a summary consists of: tables of text, panels of pictures, notes; and what data sets and methods are called."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from unskew import datasets
from unskew.paper.baselines import BASELINES
from unskew.paper.plans import Plan

MISSING = "–"
STAND_INS = {"diabetes-2015": "diabetes", "blood-2015": "blood"}
"""Data sets that are used where the files of the paper's data sets are missing, with the names of these."""


@dataclass(frozen=True)
class Entry:
    """Text in a table, bold or not, with a mark that a note explains."""

    text: str = MISSING
    bold: bool = False
    mark: str = ""


Line = tuple[Entry, ...]


@dataclass(frozen=True)
class ResultTable:
    """A header, and for each data set a group of lines."""

    header: tuple[str, ...]
    groups: tuple[tuple[Line, ...], ...]


@dataclass(frozen=True)
class MethodCurve:
    """Means with standard errors over an axis; a flat one does not depend on it and has a single point."""

    method: str
    label: str
    x: Sequence[float]
    mean: Sequence[float]
    error: Sequence[float]
    flat: bool = False


@dataclass(frozen=True)
class CurvePanel:
    """All curves of one data set."""

    title: str
    curves: tuple[MethodCurve, ...]
    ticks: tuple[float, ...]
    axis: str
    log: bool


@dataclass(frozen=True)
class WeightPanel:
    """Weights of labeled instances of one data set."""

    title: str
    weights: tuple[float, ...]


Panels = tuple[CurvePanel, ...] | tuple[WeightPanel, ...]
"""Of the picture; empty where the plan has none."""


class Parts(NamedTuple):
    """Tables, panels of the picture, and notes: how to read them, and what is missing in them."""

    tables: tuple[ResultTable, ...]
    panels: Panels
    notes: list[str]


@dataclass(frozen=True)
class Summary:
    """The rows of a plan as tables, pictures and notes."""

    plan: Plan
    tables: tuple[ResultTable, ...]
    panels: Panels
    notes: tuple[str, ...]
    runs: int  # settings that have a row
    planned: int  # settings that the plan has


def dataset_title(name: str) -> str:
    """Name of a data set in tables.

    Examples
    --------
    >>> dataset_title("diabetes-2015"), dataset_title("cifar10-h")
    ('Diabetes-2015', 'Cifar10-H')
    """
    try:
        return datasets.describe(name).table_name
    except ValueError:  # a user's own, which is not registered in this process
        return "-".join(part.capitalize() for part in name.split("-"))


def method_title(name: str) -> str:
    """Name of a method in tables; its own name if it is not registered in this process.

    Examples
    --------
    >>> method_title("conf-auc"), method_title("lightgbm"), method_title("my-method")
    ('Ours', 'LightGBM', 'my-method')
    """
    from unskew.rankers import method_card

    if name in BASELINES:
        return BASELINES[name].table_name
    try:
        return method_card(name).table_name
    except ValueError:
        return name
