"""Score a file row by row, in memory that does not grow with its columns, and write the ranked list."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from unskew.errors import TableError
from unskew.tables import TableWriter, Tally, check_columns, open_table, read_batches
from unskew.workflow.model import TableModel


@dataclass(frozen=True)
class Ranked:
    """What became of a file: rows scored, where the list is, and what a user should know."""

    n_rows: int
    path: Path
    messages: tuple[str, ...]


def score_file(
    model: TableModel, path: Path, out: Path, ids: Sequence[str] = (), *, step: Callable[[int], None] = lambda _n: None
) -> Ranked:
    """Write the id columns with `score` and `rank` (1 is the most likely positive) to `out`, in the order of the file.

    Parameters
    ----------
    model : TableModel
    path, out : Path
        CSV or Parquet, by suffix.
    ids : sequence of str
        Columns to keep.
    step : callable
        Told how many rows have been scored since it was last called.
    """
    ids = list(dict.fromkeys(ids))
    _check_names(ids)
    table = open_table(path)
    messages = [*table.notes, *check_columns(model.schema, table.columns, path, ignore=[*ids, *model.source.aside])]
    tally = Tally()
    scores: list[np.ndarray] = []
    done = 0
    for frame in read_batches(table, model.schema.names):
        X = model.encoder.transform(frame, path=path, first_row=1 + done, tally=tally)
        scores.append(model.ranker.decision_function(X))
        done += len(frame)
        step(len(frame))
    if not scores:
        raise TableError(f"{path} must have rows to score, but it has a header only.")
    score = np.concatenate(scores)
    _write(table, out, ids, score)
    return Ranked(len(score), out, (*messages, *tally.sentences()))


def _check_names(ids: Sequence[str]) -> None:
    for name in ("score", "rank"):
        if name in ids:
            raise TableError(
                f"the id columns must not be called {name!r}, which is a column of the result. Rename it in the file."
            )


def _write(table: Any, out: Path, ids: Sequence[str], score: np.ndarray) -> None:
    import polars as pl

    rank = rankdata(-score, method="min").astype(np.int64)
    place = 0
    with TableWriter(out) as writer:
        for frame in read_batches(table, ids) if ids else [pl.DataFrame({"row": np.arange(1, len(score) + 1)})]:
            here = slice(place, place + len(frame))
            place += len(frame)
            writer.write(frame.with_columns(pl.Series("score", score[here]), pl.Series("rank", rank[here])))
