"""Reasons in words for the scores of rows of a file: the columns that moved each row most."""

from typing import Any

from unskew.explaining import Explanation, explain
from unskew.practice.model import TableModel


def reasons_in_words(model: TableModel, frame: Any, n: int = 3, *, background: Any = None) -> list[list[str]]:
    """For each row of a frame up to n reasons such as "amount = 1,250 (+0.8)", the largest first.

    Parameters
    ----------
    model : TableModel
    frame : data frame of polars, or of pandas
        Rows as they are in the file, with the columns that the model was trained with.
    n : int, default=3
    background : frame, optional
        Rows to compare with; those of `frame` if there is none. Who explains a file block by block, or the first rows
        of a list, passes the same rows each time, drawn from the whole file.
    """
    return words_of(explain(model, frame, background=background, verbose=True), n)


def words_of(explanation: Explanation, n: int) -> list[list[str]]:
    """Reasons of each row in words."""
    return [[str(reason) for reason in explanation.reasons(row, n)] for row in range(len(explanation))]
