"""What a summary consists of: tables of text, panels of pictures, notes."""

from collections.abc import Sequence
from dataclasses import dataclass

from unskew.paper.plans import Plan

MISSING = "–"


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
class Curve:
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
    curves: tuple[Curve, ...]
    ticks: tuple[float, ...]
    axis: str
    log: bool


@dataclass(frozen=True)
class WeightPanel:
    """Weights of labeled instances of one data set."""

    title: str
    weights: tuple[float, ...]


@dataclass(frozen=True)
class Summary:
    """What a plan's rows say.

    Attributes
    ----------
    plan : Plan
    tables : tuple of ResultTable
    panels : tuple of CurvePanel or of WeightPanel
        Of the picture; empty where the plan has none.
    notes : tuple of str
        How to read the tables, and what is missing in them.
    runs, planned : int
        Settings that have a row, and settings that the plan has.
    """

    plan: Plan
    tables: tuple[ResultTable, ...]
    panels: tuple[CurvePanel, ...] | tuple[WeightPanel, ...]
    notes: tuple[str, ...]
    runs: int
    planned: int
