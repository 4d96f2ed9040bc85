"""What workers do: score a part, rank a range of scores, write a file. Each may be killed, and is then done again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unskew.checks.drift import DriftTally
from unskew.distributed.parts import Part, Waiting
from unskew.practice.model import TableModel
from unskew.practice.score import PROBABILITY, RANK, ROW, SCORE, harmless, results_of
from unskew.tables import TableWriter

if TYPE_CHECKING:
    import polars as pl

ROWS_AT_ONCE = 1 << 16
SAMPLED = 1024
"""Scores of a part by which the ranges of scores are chosen."""


@dataclass(frozen=True)
class ScorePart:
    """Score one part with a model, into the folder where results wait."""

    model: str
    part: Part
    waiting: str


@dataclass(frozen=True)
class CountRanges:
    """Count the scores of a part in ranges between these edges."""

    part: int
    edges: np.ndarray
    waiting: str


@dataclass(frozen=True)
class RankRange:
    """Rank the scores of one range.

    Attributes
    ----------
    number : int
        Of the range.
    before : int
        Rows with scores above the range.
    begins, ends : array of int
        Where the range begins and ends in the sorted keys of each part.
    """

    number: int
    before: int
    begins: np.ndarray
    ends: np.ndarray
    waiting: str


@dataclass(frozen=True)
class WriteFile:
    """Write the results of one file.

    Attributes
    ----------
    number : int
        Of the file.
    parts : tuple of Part
    places : tuple of array of shape (n_ranges, 2)
        For each part where its ranks begin and end in those of each range.
    """

    number: int
    parts: tuple[Part, ...]
    places: tuple[np.ndarray, ...]
    out: str
    ids: tuple[str, ...]
    raw: bool
    has_probability: bool
    waiting: str


def score_part(task: ScorePart) -> None:
    """Scores of a part, its keys in order (which rise where scores fall), and a record of what was counted."""
    waiting, part = Waiting(Path(task.waiting)), task.part
    if waiting.record("scores", part.number) is not None:
        return
    from unskew.learning.threads import one_thread  # which loads torch

    model = _model(task.model)
    tally, row, found = DriftTally(model.summary), part.first_row, []
    with one_thread():
        for frame in part.frames(model.schema.names):
            found.append(results_of(model, frame, Path(part.path), row, tally))
            row += len(frame)
    results = np.concatenate(found)
    keys = np.sort(-results[:, 0])
    waiting.save("results", part.number, [results])
    waiting.save("keys", part.number, [keys])
    sample = keys[np.linspace(0, len(keys) - 1, min(SAMPLED, len(keys))).astype(int)]
    about = {"rows": len(keys), "sample": sample.tolist(), "tally": tally.to_json()}
    waiting.finish("scores", part.number, about)


@lru_cache(1)
def _model(path: str) -> TableModel:
    return TableModel.load(path, to_score=True)


def count_ranges(task: CountRanges) -> np.ndarray:
    """Where each range ends in the keys of a part."""
    keys = Waiting(Path(task.waiting)).array("keys", task.part)
    return np.append(np.searchsorted(keys, task.edges, "left"), len(keys))


def rank_range(task: RankRange) -> None:
    """Ranks of the keys of one range, those of one part after those of another; what is equal has the same rank."""
    waiting = Waiting(Path(task.waiting))
    if waiting.record("ranks", task.number) is not None:
        return

    def pieces() -> Iterator[np.ndarray]:
        for part, (begin, end) in enumerate(zip(task.begins, task.ends, strict=True)):
            yield waiting.array("keys", part)[begin:end]

    # Of equal keys only the number is held: a model may give millions of rows one score.
    counted = [np.unique(each, return_counts=True) for each in pieces()]
    keys, place = np.unique(np.concatenate([each for each, _ in counted]), return_inverse=True)
    counts = np.bincount(place, np.concatenate([each for _, each in counted]), len(keys)).astype(np.int64)
    ranks = 1 + task.before + np.cumsum(counts) - counts
    waiting.save("ranks", task.number, (ranks[np.searchsorted(keys, each)] for each in pieces()))
    waiting.finish("ranks", task.number, {})


def write_file(task: WriteFile) -> None:
    """Write rank, score and probability of the rows of a file, in its order."""
    waiting = Waiting(Path(task.waiting))
    if waiting.record("file", task.number) is not None:
        return
    formulas, is_first = Counter[str](), True
    with TableWriter(task.out) as writer:
        for part, places in zip(task.parts, task.places, strict=True):
            for left, right in _lines(task, part, places, waiting):
                if not task.raw:
                    left, found = harmless(left, is_first=is_first)
                    formulas += found
                writer.write(left.hstack(right))
                is_first = False
    waiting.finish("file", task.number, {"formulas": formulas})


def _lines(
    task: WriteFile, part: Part, places: np.ndarray, waiting: Waiting
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """What names each row of a part, and what was found."""
    import polars as pl

    results = waiting.array("results", part.number).reshape(-1, 1 + task.has_probability)
    ranks = _ranks(results[:, 0], places, waiting)
    done = 0
    for left in part.frames(task.ids) if task.ids else _row_numbers(part.first_row, len(ranks)):
        rows = slice(done, done + len(left))
        done += len(left)
        numbers = {RANK: ranks[rows], **dict(zip((SCORE, PROBABILITY), results[rows].T, strict=False))}
        yield left, pl.DataFrame(numbers)


def _ranks(score: np.ndarray, places: np.ndarray, waiting: Waiting) -> np.ndarray:
    """The rank of each row of a part, from those of its keys in order."""
    ranks = np.empty(len(score), dtype=np.int64)
    in_order = [waiting.array("ranks", number, np.int64)[begin:end] for number, (begin, end) in enumerate(places)]
    ranks[np.argsort(-score, kind="stable")] = np.concatenate(in_order)
    return ranks


def _row_numbers(first: int, count: int) -> Iterator[pl.DataFrame]:
    import polars as pl

    for start in range(0, max(count, 1), ROWS_AT_ONCE):
        yield pl.DataFrame({ROW: np.arange(first + start, first + min(start + ROWS_AT_ONCE, count))})
