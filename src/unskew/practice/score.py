"""Score a file row by row, in memory that does not grow with its columns, and write the ranked list."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from unskew._support.progress import progress_bar
from unskew._support.text import no_column
from unskew.errors import TableError
from unskew.practice.model import TableModel
from unskew.tables import TableWriter, Tally, check_columns, check_ending, check_types, open_table, read_batches


@dataclass(frozen=True)
class Ranked:
    """What became of a file: rows scored, where the list is, and what a user should know."""

    n_rows: int
    path: Path
    messages: tuple[str, ...]


def score_file(model: TableModel, path: Path, out: Path, ids: Sequence[str] = (), *, verbose: bool = True) -> Ranked:
    """Write the id columns with `score` and `rank` (1 is the most likely positive) to `out`, in the order of the file.

    Parameters
    ----------
    model : TableModel
    path, out : Path
        CSV or Parquet, by suffix; a file without rows gives a list without rows.
    ids : sequence of str
        Columns to keep.
    verbose : bool
        Show a progress bar, on a terminal.
    """
    ids = list(dict.fromkeys(ids))
    check_ending(out)
    table = open_table(path)
    _check_ids(ids, table, out)
    messages = [*table.notes, *check_columns(model.schema, table.columns, path, ignore=[*ids, *model.source.aside])]
    tally = Tally()
    score = _score(model, table, tally, verbose)
    _write(table, out, ids, score)
    return Ranked(len(score), out, (*messages, *tally.sentences()))


def _check_ids(ids: Sequence[str], table: Any, out: Path) -> None:
    """Refuse columns that are not there, or that the result cannot hold."""
    for name in ids:
        if name in ("score", "rank"):
            raise TableError(
                f"the id columns must not be called {name!r}, which is a column of the result. Rename it in the file."
            )
        if name not in table.columns:
            raise TableError(no_column(table.path, name, list(table.columns)))
    check_types(out, table.no_rows(ids))


def _score(model: TableModel, table: Any, tally: Tally, verbose: bool) -> np.ndarray:
    scores = [np.empty(0)]
    done = 0
    # To count the rows of a CSV file is to read it: only for a bar that somebody sees.
    total = table.count_rows() if verbose and sys.stderr.isatty() else 0
    with progress_bar("scoring", total, shown=verbose) as step:
        for frame in read_batches(table, model.schema.names, may_be_empty=True):
            if frame.is_empty():
                break
            X = model.encoder.transform(frame, path=table.path, first_row=1 + done, tally=tally)
            try:
                scores.append(model.ranker.decision_function(X))
            except ValueError as error:  # scores beyond what float32 can hold
                raise TableError(f"{table.path}: {error}") from None
            done += len(frame)
            step(n=len(frame))
    return np.concatenate(scores)


def _write(table: Any, out: Path, ids: Sequence[str], score: np.ndarray) -> None:
    import polars as pl

    rank = rankdata(-score, method="min").astype(np.int64)
    place = 0
    with TableWriter(out) as writer:
        numbers = pl.DataFrame({"row": np.arange(1, len(score) + 1)})
        for frame in read_batches(table, ids, may_be_empty=True) if ids else [numbers]:
            here = slice(place, place + len(frame))
            place += len(frame)
            writer.write(frame.with_columns(pl.Series("score", score[here]), pl.Series("rank", rank[here])))
