"""What people chose for a table: what each column is used for, and how to train."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from unskew._support.text import listed, shown
from unskew.errors import TableError

LABEL, CONFIDENCE, NAME, AUTOMATIC, UNUSED = "label", "confidence", "name", "automatic", "unused"
KINDS = {"numeric": "number", "boolean": "yes or no", "categorical": "category", "date": "date"}
"""Kinds of columns in the words of the page."""
USES = {
    LABEL: "the label: known positives",
    CONFIDENCE: "confidence of the labels",
    NAME: "name of the row",
    AUTOMATIC: "learn from it",
    **{kind: f"learn from it, as {words}" for kind, words in KINDS.items()},
    UNUSED: "do not use it",
}
METHODS = {
    "auto": "Thorough: combines several methods (recommended)",
    "conf-reg": "Quick: one regression on the confidence, in seconds",
    "conf-auc": "The method of the paper, a neural network",
    "ntc": "Without confidence: labeled rows against the others",
}


@dataclass(frozen=True)
class ColumnSeen:
    """A column as it is shown.

    Attributes
    ----------
    kind, note : str
        What it is taken for, in the words of the schema, and what it holds.
    examples : tuple of str
        Some of its values.
    """

    name: str
    kind: str
    note: str
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Choices:
    """Choices for one table.

    Attributes
    ----------
    columns : tuple of ColumnSeen
        In the order of the file.
    uses : tuple of str
        What each column is used for, one of `USES`.
    method : str
    blank_is_unlabeled : bool
        Whether a blank label means that a row is not labeled.
    revision : int
        Grows with each change, so that a page that shows older choices cannot overwrite newer ones.
    """

    columns: tuple[ColumnSeen, ...]
    uses: tuple[str, ...]
    method: str = "auto"
    blank_is_unlabeled: bool = False
    revision: int = 0

    def __post_init__(self) -> None:
        if len(self.uses) != len(self.columns) or not set(self.uses) <= set(USES):
            raise ValueError(f"each of {len(self.columns)} columns must have a use out of {listed(list(USES))}.")

    @property
    def label(self) -> str | None:
        """Name of the label column, if one was chosen."""
        return next(iter(self.used_as(LABEL)), None)

    @property
    def confidence(self) -> str | None:
        """Name of the confidence column, if one was chosen."""
        return next(iter(self.used_as(CONFIDENCE)), None)

    @property
    def names(self) -> list[str]:
        """Columns that name a row to people."""
        return self.used_as(NAME)

    @property
    def excluded(self) -> list[str]:
        """Columns that the model does not learn from."""
        return self.used_as(NAME, UNUSED)

    @property
    def kinds(self) -> dict[str, str]:
        """Kinds that were chosen for columns."""
        pairs = zip(self.columns, self.uses, strict=True)
        return {column.name: use for column, use in pairs if use in KINDS}

    def used_as(self, *uses: str) -> list[str]:
        """Names of the columns with one of these uses."""
        return [column.name for column, use in zip(self.columns, self.uses, strict=True) if use in uses]

    def check(self) -> None:
        """Refuse choices that nothing can be trained with, in words for people who see the page."""
        for use, must in ((LABEL, "exactly one"), (CONFIDENCE, "at most one")):
            names = self.used_as(use)
            if len(names) > 1:
                raise TableError(
                    f"{must} column can be {USES[use]}, but {listed(names)} are. Change the use of the others."
                )
        if self.label is None:
            raise TableError(
                f"one column must be {USES[LABEL]}, but none is. Choose it in the column “use it as”: it says yes or 1 "
                "for the rows that are known to be positive."
            )
        if self.method not in METHODS:
            raise TableError(f"there is no method {shown(self.method)} in the studio, only {listed(list(METHODS))}.")

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def chosen_uses(columns: Sequence[ColumnSeen], chosen: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Uses of columns where those of some are known, as ``{use: names}``; the others are learned from."""
    known = {name: use for use, names in chosen.items() for name in names}
    return tuple(known.get(each.name, AUTOMATIC) for each in columns)
