"""What `unskew.explain` returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from unskew._support.notebook import html_table
from unskew._support.text import Table, plural
from unskew.errors import MissingExtra
from unskew.explaining._values import Values

MOST_SHOWN = 10
"""Columns that a notebook shows."""
SURE = 2.0
"""Standard errors below which a sampled contribution is no reason."""


class Reason(NamedTuple):
    """A column that moved the score of a row.

    Attributes
    ----------
    column : str
    value : str or None
        What the row holds there, in words; None for a column of several features without a schema.
    contribution, error : float
        How far it moved the score from that of the background, and the standard error of that.
    """

    column: str
    value: str | None
    contribution: float
    error: float

    def __str__(self) -> str:
        return f"{self.column}{'' if self.value is None else f' = {self.value}'} ({_signed(self.contribution)})"


class Importance(NamedTuple):
    """A column with the mean of its absolute contributions, and the standard error of that mean."""

    column: str
    value: float
    error: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """What each column of the table adds to the score of each row.

    Attributes
    ----------
    contributions : array of shape (n, n_columns)
        Those of a row add up to its score less `base`.
    error : array of shape (n, n_columns)
        Standard errors of the contributions, by the orders that were sampled; 0 where they are exact.
    columns : tuple of str
        Names of the columns.
    base : float
        Mean score of the background.
    score : array of shape (n,)
    exact : bool
        Whether nothing was sampled.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> ranker = unskew.make("conf-reg").fit(data.X, data.labeled, confidence=data.confidence)
    >>> found = unskew.explain(ranker, data.X[:5], columns=["amount", "age"])
    >>> found.columns, found.contributions.shape, found.exact
    (('amount', 'age'), (5, 2), True)
    """

    contributions: np.ndarray
    error: np.ndarray
    columns: tuple[str, ...]
    base: float
    score: np.ndarray
    exact: bool
    _values: Values = field(repr=False)
    _index: Any = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.score)

    def importances(self) -> list[Importance]:
        """Mean absolute contribution of each column, the largest first.

        The error counts that the rows are a sample of rows, and that orders were sampled, which all rows share.
        """
        size = np.abs(self.contributions)
        of_rows = size.std(axis=0) / np.sqrt(len(size))
        error = np.hypot(of_rows, self.error.mean(axis=0)).tolist()
        means = size.mean(axis=0).tolist()
        order = sorted(range(len(self.columns)), key=lambda place: -means[place])
        return [Importance(self.columns[place], means[place], error[place]) for place in order]

    def reasons(self, row: int, n: int = 3) -> list[Reason]:
        """The columns that moved the score of a row most, in either direction, the largest first.

        Fewer than n where the others do nothing, or so little that it cannot be told from the sampling.
        """
        if not -len(self) <= row < len(self):
            raise IndexError(f"row must be from 0 to {len(self) - 1}, one of those explained, but it is {row}.")
        if n < 1:
            raise ValueError(f"n must be 1 or more, the number of reasons, but it is {n}.")
        row %= len(self)
        moved, error = self.contributions[row], self.error[row]
        order = np.argsort(-np.abs(moved), kind="stable")
        clear = [int(each) for each in order if moved[each] != 0 and abs(moved[each]) >= SURE * error[each]][:n]
        names = [self.columns[each] for each in clear]
        values = self._values.in_words(row, names) if names else []
        rows = zip(names, values, moved[clear].tolist(), error[clear].tolist(), strict=True)
        return [Reason(*each) for each in rows]

    def to_frame(self) -> Any:
        """Contributions as a data frame with the names of the columns: of pandas, with the index of X, or of polars."""
        try:
            import pandas as pd
        except ImportError:
            try:
                import polars as pl
            except ImportError as error:
                raise MissingExtra(
                    "a data frame needs pandas or polars, but neither is installed. Use `contributions` and `columns`."
                ) from error
            return pl.DataFrame(self.contributions, schema=list(self.columns))
        return pd.DataFrame(self.contributions, columns=list(self.columns), index=self._index)

    def _repr_html_(self) -> str:
        found = self.importances()
        rows = [(each.column, f"{each.value:.3g} ± {each.error:.1g}") for each in found[:MOST_SHOWN]]
        more = f" {len(found) - len(rows):,} more columns moved them less." if len(found) > len(rows) else ""
        kind = "exact" if self.exact else "partly sampled"
        note = f"Contributions are {kind}. With the mean score, {self.base:.3g}, they add up to the score.{more}"
        title = f"What moved the scores of {plural(len(self), 'row')}"
        return html_table(title, Table(("column", "mean size of its contribution"), rows), note)

    def __repr__(self) -> str:
        most = ", ".join(f"{each.column} ({each.value:.2g})" for each in self.importances()[:3])
        kind = "exact" if self.exact else "partly sampled"
        return (
            f"<Explanation of {len(self):,} rows by {len(self.columns):,} columns, {kind}; base {self.base:.3g}; "
            f"largest: {most}>"
        )


def _signed(number: float) -> str:
    return f"{number:+,.0f}" if abs(number) >= 100 else f"{number:+.2g}"
