"""How far the rows of a file differ from those that a model was fitted on, counted while they are scored."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import chi2, fisher_exact

from unskew._support.text import number_in_words, percent, shown
from unskew.checks.summary import BinShares, TableSummary
from unskew.tables import Column, Schema, Tally, code_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

FALSE_ALARM = 0.01
"""Bound on the chance that any column of a file of the same law is said to have moved."""
TESTS = 3
LEAST_MOVED, LEAST_MISSING = 0.1, 0.05
"""Share of rows that must have moved, or have or lack a value, to be worth a word, however certain it is."""
LEAST_ROWS = 20
"""Fewer rows are not compared."""
LEAST_EXPECTED = 5
MOST_NAMED = 3
ADVICE = (
    "Scores are less reliable where rows differ from all that the model has seen; label some such rows and fit again."
)


@dataclass(frozen=True)
class Moved:
    """A column whose values are others than in training, or the score.

    Attributes
    ----------
    column : str
    size : float
        Share of the rows that would need another value to look as in training, from 0 to 1.
    text : str
        What changed most, in words.
    """

    column: str
    size: float
    text: str


@dataclass(frozen=True)
class Drift:
    """How far the rows of a file are from those of training.

    Attributes
    ----------
    n_rows : int
    moved : tuple of Moved
        Columns that moved beyond chance, the farthest first.
    score : Moved or None
        The same for the score of the model.
    flagged, probability : float or None
        Share of the rows that the model flags, and mean probability of being positive.
    flagged_in_training, probability_in_training : float or None
    highest_score : float or None
        None where there are no rows.
    """

    n_rows: int
    moved: tuple[Moved, ...]
    score: Moved | None
    flagged: float | None
    probability: float | None
    flagged_in_training: float | None
    probability_in_training: float | None
    highest_score: float | None

    @property
    def size(self) -> float:
        """How far the column that moved most has moved, from 0 to 1; 0 where none did."""
        return max((each.size for each in (*self.moved, *([] if self.score is None else [self.score]))), default=0.0)

    def notes(self) -> list[str]:
        """What a user should know; empty where nothing moved."""
        if not self.moved and self.score is None:
            return []
        parts = [f"{shown(each.column)} ({each.text})" for each in self.moved[:MOST_NAMED]]
        more = len(self.moved) - len(parts)
        if more > 0:
            parts.append(f"{more:,} more {'column' if more == 1 else 'columns'}")
        found = [f"the rows differ from those of training: {_and(parts)}. {ADVICE}"] if parts else []
        if self.score is not None:
            found.append(f"the scores differ from those of training: {self._about_scores()}.")
        return found

    def _about_scores(self) -> str:
        parts = []
        if self.flagged is not None and self.flagged_in_training is not None:
            parts.append(
                f"{percent(self.flagged)} of the rows are flagged, in training {percent(self.flagged_in_training)}"
            )
        if self.probability is not None and self.probability_in_training is not None:
            now, then = percent(self.probability), percent(self.probability_in_training)
            parts.append(f"the mean probability is {now}, in training {then}")
        return "; ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "moved": [asdict(each) for each in self.moved], "size": self.size}


def _and(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


class DriftTally(Tally):
    """Counts what `Tally` does, and the rows in each bin of a summary; in memory that does not grow with the rows."""

    def __init__(self, summary: TableSummary | None) -> None:
        super().__init__()
        self.summary = summary
        self._shares = {} if summary is None else {each.name: each for each in summary.columns}
        self._counts: dict[str, np.ndarray] = {}
        self._n_rows = self._n_flagged = 0
        self._probability: float | None = None
        self._highest: float | None = None

    def count(self, column: Column, values: pl.Series, unknown: np.ndarray | None, first_row: int) -> None:
        """Count values of one column in one batch."""
        super().count(column, values, unknown, first_row)
        if column.name in self._shares:
            self._add(f"column {column.name}", self._shares[column.name], code_numbers(column, values))

    def count_scores(self, score: np.ndarray, probability: np.ndarray | None, threshold: float) -> None:
        """Count the results of one batch."""
        self._n_rows += len(score)
        if len(score):
            self._highest = max(float(score.max()), -np.inf if self._highest is None else self._highest)
        self._n_flagged += int(np.count_nonzero(score >= threshold))
        if probability is not None:
            self._probability = (self._probability or 0.0) + float(probability.sum())
        if self.summary is not None and self.summary.score is not None:
            self._add("score", self.summary.score, score)

    def _add(self, key: str, shares: BinShares, numbers: np.ndarray) -> None:
        count = shares.count(numbers)
        self._counts[key] = self._counts[key] + count if key in self._counts else count

    def to_json(self) -> dict[str, Any]:
        """What was counted, as plain data that `add` takes."""
        counts = {key: each.tolist() for key, each in self._counts.items()}
        about = {"rows": self._n_rows, "flagged": self._n_flagged, "highest": self._highest}
        return {
            **about,
            "probability": self._probability,
            "counts": counts,
            "unknown": self.unknown,
            "missing": self.missing,
        }

    def add(self, other: Mapping[str, Any], rows_before: int = 0) -> None:
        """Take in what another tally of the same summary counted, in rows that follow so many others."""
        self._n_rows += other["rows"]
        self._n_flagged += other["flagged"]
        if other["highest"] is not None:
            self._highest = max(other["highest"], -np.inf if self._highest is None else self._highest)
        if other["probability"] is not None:
            self._probability = (self._probability or 0.0) + other["probability"]
        for key, count in other["counts"].items():
            self._counts[key] = self._counts.get(key, 0) + np.array(count)
        for name, (count, row, value) in other["unknown"].items():
            known, *first = self.unknown.get(name, (0, row + rows_before, value))
            self.unknown[name] = (known + count, *first)
        for name, (count, row) in other["missing"].items():
            known, *first = self.missing.get(name, (0, row + rows_before))
            self.missing[name] = (known + count, *first)

    def drift(self, schema: Schema) -> Drift:
        """What moved, over all batches so far."""
        summary = self.summary
        flagged = self._n_flagged / self._n_rows if self._n_rows else None
        probability = None if self._probability is None or not self._n_rows else self._probability / self._n_rows
        if summary is None:
            return Drift(self._n_rows, (), None, flagged, probability, None, None, self._highest)
        level = FALSE_ALARM / (TESTS * (len(summary.columns) + 1))
        moved: list[Moved] = []
        for column, shares in zip(schema.columns, summary.columns, strict=True):
            count = self._counts.get(f"column {column.name}")
            found = None if count is None else compared(shares, count, summary.n_rows, level, _words_of(column))
            moved += [] if found is None else [found]
        moved.sort(key=lambda each: -each.size)
        score = None
        if summary.score is not None and "score" in self._counts:
            words = partial(number_in_words, spread=1.0)
            score = compared(summary.score, self._counts["score"], summary.n_rows, level, words)
        about = flagged, probability, summary.flagged, summary.probability, self._highest
        return Drift(self._n_rows, tuple(moved), score, *about)


def _words_of(column: Column) -> Callable[[float], str]:
    """Words for an edge between bins, or for a category by its number."""
    if column.kind == "categorical":
        return lambda number: shown(column.categories[int(number)])
    return lambda number: column.in_words(number if column.kind == "date" else float(f"{number:.3g}"))


def compared(
    shares: BinShares, count: np.ndarray, n_before: int, level: float, in_words: Callable[[float], str]
) -> Moved | None:
    """Whether counts in bins differ from shares of `n_before` rows beyond chance and by enough to matter.

    The values that are there are compared apart from how often there is none.
    """
    if count.sum() < LEAST_ROWS:
        return None
    found = []
    missing = float(count[-1] / count.sum())
    if abs(missing - shares.missing) >= LEAST_MISSING and _chance_of_missing(shares.missing, count, n_before) < level:
        text = f"missing on {percent(missing)} of the rows, in training on {percent(shares.missing)}"
        found.append(Moved(shares.name, abs(missing - shares.missing), text))
    now, before = count[:-1], np.array([*shares.shares, 0.0]) * n_before
    if now.sum() >= LEAST_ROWS and before.sum() >= LEAST_ROWS:
        of = "of the rows" if not (missing or shares.missing) else "of the rows with a value"
        found += _other_values(shares, before, now, level, in_words, of)
    return max(found, key=lambda each: each.size, default=None)


def _other_values(
    shares: BinShares, before: np.ndarray, now: np.ndarray, level: float, in_words: Callable[[float], str], of: str
) -> list[Moved]:
    n_before, n_now = before.sum(), now.sum()
    old, new = before / n_before, now / n_now
    rise = np.cumsum(new - old)[: len(shares.edges)]
    shift = float(np.abs(rise).max(initial=0.0))
    size = max(_total_variation(old, new, n_before, n_now), shift)
    likely = np.sqrt(np.log(2 / level) / 2 * (1 / n_now + 1 / n_before))
    if size < LEAST_MOVED or not (shift > likely or _chance(before, now) < level):
        return []
    return [Moved(shares.name, float(size), _what_changed(shares, old, new, rise, in_words, of))]


def _total_variation(before: np.ndarray, now: np.ndarray, n_before: float, n: float) -> float:
    """Half the sum of differences, less what chance alone would make of it."""
    together = (n * now + n_before * before) / (n + n_before)
    by_chance = np.sqrt(2 / np.pi * together * (1 - together) * (1 / n + 1 / n_before))
    return float(max(0.0, 0.5 * (np.abs(now - before) - by_chance).sum()))


def _chance(before: np.ndarray, now: np.ndarray) -> float:
    """Chance of counts that differ as much, by Pearson's statistic; bins that expect few rows are one."""
    tables = np.array([now, before])
    share = tables.sum(axis=0) / tables.sum()
    few = share * tables.sum(axis=1).min() < LEAST_EXPECTED
    table = np.column_stack([tables[:, ~few], tables[:, few].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2:
        return 1.0
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return float(chi2.sf(((table - expected) ** 2 / expected).sum(), table.shape[1] - 1))


def _chance_of_missing(before: float, count: np.ndarray, n_before: int) -> float:
    old, new, n = round(before * n_before), int(count[-1]), int(count.sum())
    return float(fisher_exact([[new, n - new], [old, n_before - old]])[1])


def _what_changed(
    shares: BinShares, old: np.ndarray, new: np.ndarray, rise: np.ndarray, in_words: Callable[[float], str], of: str
) -> str:
    """The largest change of one share, in words."""
    if shares.bins:
        place = int(np.abs(new - old).argmax())
        if place == len(new) - 1:
            return f"{percent(new[-1])} {of} have a value that training did not have"
        members = [number for number, each in enumerate(shares.bins) if each == place]
        words = in_words(members[0]) if len(members) == 1 else "rare values"
        return f"{words} on {percent(new[place])} {of}, in training on {percent(old[place])}"
    place = int(np.abs(rise).argmax())
    higher = rise[place] <= 0
    now, then = (each[place + 1 : -1].sum() if higher else each[: place + 1].sum() for each in (new, old))
    if shares.kind == "boolean":
        now, then, words = (now, then, "true") if higher else (1 - now, 1 - then, "true")
    elif shares.kind == "date":
        words = f"{'later than' if higher else 'before'} {in_words(shares.edges[place])}"
    else:
        words = f"{'above' if higher else 'below'} {in_words(shares.edges[place])}"
    return f"{words} on {percent(now)} {of}, in training on {percent(then)}"
