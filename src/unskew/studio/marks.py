"""Rows that people have checked: positive, with how sure they are, or not positive."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mark:
    """What was found when a row was checked; the confidence may be missing where it is not positive."""

    positive: bool
    confidence: float | None = None

    def __post_init__(self) -> None:
        if self.confidence is not None and not 0 <= self.confidence <= 1:
            raise ValueError(
                f"the confidence must lie between 0 and 1, where 1 is certain, but it is {self.confidence:g}. Change "
                "it."
            )


Marks = dict[int, Mark]
"""Marks by the number of the row in the table, from 1."""


@dataclass(frozen=True)
class MarksRecord:
    """Marks as they are kept: JSON has no numbers as keys."""

    rows: dict[str, Mark]

    @classmethod
    def of(cls, marks: Marks) -> "MarksRecord":
        """Record of marks."""
        return cls({str(row): mark for row, mark in sorted(marks.items())})

    def marks(self) -> Marks:
        """What was recorded."""
        return {int(row): mark for row, mark in self.rows.items()}


def parse_mark(answer: str, confidence: str) -> Mark | None:
    """Mark from the fields of a form; None takes a mark back."""
    if answer == "clear":
        return None
    if answer not in ("positive", "negative"):
        raise ValueError(f"a row is marked as positive or negative, but {answer[:40]!r} was sent. Reload the page.")
    text = confidence.strip()
    try:
        value = float(text) if text else None
    except ValueError:
        raise ValueError(f"the confidence must be a number from 0 to 1, but it is {text[:40]!r}. Change it.") from None
    return Mark(answer == "positive", value)


def counts(marks: Marks) -> dict[str, Any]:
    """How many rows were checked, and how many of them are positive."""
    n_positive = sum(each.positive for each in marks.values())
    return {"checked": len(marks), "positive": n_positive, "negative": len(marks) - n_positive}
