"""Reasons in words for the scores of rows of a file: the columns that moved each row most."""

import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew._support.progress import Step
from unskew._support.text import duration
from unskew.errors import TakesLongWarning
from unskew.explaining import Explanation, Reason, background_rows, explain
from unskew.practice.model import TableModel

if TYPE_CHECKING:
    import polars as pl

SAMPLE_ROWS = 4096
"""Rows of a file from which those to compare with are chosen."""
FIRST_BLOCK, BLOCK_ROWS = 256, 2048
LONG, SEEN = 60.0, 1.0
"""Seconds after which a user wants to know how long it takes, and that say it well enough."""


def reasons_in_words(
    model: TableModel, frame: Any, n: int = 3, *, background: Any = None, verbose: bool = True
) -> list[list[str]]:
    """For each row of a frame up to n reasons such as "amount = 1,250 (raises)", the largest first.

    Parameters
    ----------
    model : TableModel
    frame : data frame of polars, or of pandas
        Rows as they are in the file, with the columns that the model was trained with.
    n : int, default=3
    background : frame, optional
        Rows to compare with; those of `frame` if there is none. Who explains a file block by block, or the first rows
        of a list, passes the same rows each time, drawn from the whole file.
    verbose : bool, default=True
        Show a progress bar, on a terminal.
    """
    return words_of(explain(model, frame, background=background, verbose=verbose), n)


def words_of(explanation: Explanation, n: int) -> list[list[str]]:
    """Reasons of each row in words."""
    return [[in_words(reason) for reason in explanation.reasons(row, n)] for row in range(len(explanation))]


def in_words(reason: Reason) -> str:
    """A reason for people who know the column, but not the unit of the score.

    Examples
    --------
    >>> in_words(Reason("amount", "1,250", 0.8, 0.0)), in_words(Reason("age", "missing", -0.1, 0.0))
    ('amount = 1,250 (raises)', 'age = missing (lowers)')
    """
    value = "" if reason.value is None else f" = {reason.value}"
    return f"{reason.column}{value} ({'raises' if reason.contribution > 0 else 'lowers'})"


def reason_names(n: int) -> list[str]:
    """Names of the columns that hold reasons, one each, so that a spreadsheet can filter and count them."""
    return [f"reason {number}" for number in range(1, n + 1)]


class RowSample:
    """Rows of a file, `most` of them drawn at random while it is read: all of a small one, in its order."""

    def __init__(self, seed: int = 0, most: int = SAMPLE_ROWS) -> None:
        self._most = most
        self._rng = np.random.default_rng(seed)
        self._keys = np.empty(0)
        self._rows: pl.DataFrame | None = None

    def add(self, frame: "pl.DataFrame") -> None:
        """Take in rows; those with the lowest random keys stay."""
        keys = self._rng.random(len(frame))
        together = frame if self._rows is None else self._rows.vstack(frame)
        self._keys = np.concatenate([self._keys, keys])
        lowest = np.sort(np.argsort(self._keys, kind="stable")[: self._most])
        self._keys, self._rows = self._keys[lowest], together[lowest]

    def rows(self) -> "pl.DataFrame":
        """What was drawn."""
        assert self._rows is not None
        return self._rows


class ReasonColumns:
    """Columns with the reasons of rows of one file, which are all compared with the same rows.

    Parameters
    ----------
    model : TableModel
    n : int
        How many columns.
    sample : frame
        Rows of the file, from which those to compare with are chosen.
    total : int
        How many rows will be explained, for a note if that takes long.
    """

    def __init__(self, model: TableModel, n: int, sample: "pl.DataFrame", total: int) -> None:
        self._model, self._n, self._total = model, n, total
        self._background = sample[background_rows(model, sample)] if len(sample) else sample
        self._done, self._seconds, self._is_said = 0, 0.0, False

    def of(self, frame: "pl.DataFrame", step: Step) -> "pl.DataFrame":
        """Reasons of these rows, null where there are fewer; `step` is called after each block."""
        import polars as pl

        reasons: list[list[str]] = []
        while len(reasons) < len(frame):
            block = frame.slice(len(reasons), BLOCK_ROWS if self._done else FIRST_BLOCK)
            begin = time.perf_counter()
            reasons += reasons_in_words(self._model, block, self._n, background=self._background, verbose=False)
            self._done, self._seconds = self._done + len(block), self._seconds + time.perf_counter() - begin
            step(n=len(block))
            self._say_if_long()
        filled = [[*each, *[None] * (self._n - len(each))] for each in reasons]
        return pl.DataFrame(filled, schema=dict.fromkeys(reason_names(self._n), pl.String), orient="row")

    def _say_if_long(self) -> None:
        if self._is_said or self._seconds < SEEN:
            return
        self._is_said = True
        expected = self._seconds / self._done * self._total
        if expected > LONG:
            warnings.warn(
                f"explaining {self._total:,} rows takes about {duration(expected)}. To explain only the best rows, use "
                "--top.",
                TakesLongWarning,
                stacklevel=2,
            )
