"""Score a file row by row, in memory that does not grow with its columns, and write the ranked list."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from unskew._support.progress import progress_bar
from unskew._support.text import listed, plural
from unskew.errors import TableError
from unskew.practice.model import TableModel
from unskew.tables import (
    TableWriter,
    Tally,
    check_ending,
    check_types,
    is_parquet,
    open_table,
    read_batches,
    require_column,
    without_formulas,
)

RESULT_COLUMNS = "rank", "score", "probability"


def score_file(
    model: TableModel, path: Path, out: Path, ids: Sequence[str] = (), *, raw: bool = False
) -> tuple[int, list[str]]:
    """Write the id columns with `rank` (1 is the most likely positive), `score` and `probability` to `out`.

    Rows are in the order of the file. A model that was fitted without confidence has no probabilities.

    Files are CSV or Parquet, by suffix; one without rows gives a list without rows. With `raw`, cells of a CSV file
    stay as they are, even if a spreadsheet would run them as formulas. Returns the number of rows, and what a user
    should know about them.
    """
    ids = list(dict.fromkeys(ids))
    check_ending(out)
    table = open_table(path)
    raw = raw or is_parquet(out)
    _check_ids(ids, table, out, raw)
    notes = [*table.notes, *model.schema.check_columns(table.columns, path, ignore=[*ids, *model.source.aside])]
    tally = Tally()
    result = _score_blocks(model, table, tally)
    formulas = _write_ranked_list(table, out, ids, result, raw)
    notes += tally.sentences()
    if formulas:
        notes.append(
            f"a ' was put before {plural(formulas.total(), 'cell')} of {listed(sorted(formulas))} so that no "
            "spreadsheet runs formulas from the data. Use --raw to leave cells as they are."
        )
    return len(result["rank"]), notes


def _check_ids(ids: Sequence[str], table: Any, out: Path, raw: bool) -> None:
    """Refuse columns that do not exist, or that the result cannot hold."""
    for name in ids:
        if name in RESULT_COLUMNS:
            raise TableError(
                f"the id columns must not be called {name!r}, which is a column of the result. Rename it in the file."
            )
        require_column(name, table.columns, table.path)
    no_rows = table.no_rows(ids)
    check_types(out, no_rows if raw else without_formulas(no_rows)[0])


def _score_blocks(model: TableModel, table: Any, tally: Tally) -> dict[str, np.ndarray]:
    """Columns of the result, by their names."""
    scores, probs = [np.empty(0)], [np.empty(0)]
    has_probabilities = hasattr(model.ranker, "predict_proba")
    done = 0
    with progress_bar("scoring", table.n_rows, shown=True) as step:
        for frame in read_batches(table, model.schema.names, may_be_empty=True):
            if frame.is_empty():
                break
            X = model.schema.transform(frame, path=table.path, first_row=1 + done, tally=tally)
            try:
                scores.append(model.ranker.decision_function(X))
                if has_probabilities:
                    probs.append(model.ranker.predict_proba(X)[:, 1])
            except ValueError as error:  # scores beyond what float32 can hold
                raise TableError(f"{table.path}: {error}") from None
            done += len(frame)
            step(n=len(frame))
    score = np.concatenate(scores)
    result = {"rank": rankdata(-score, method="min").astype(np.int64), "score": score}
    return {**result, "probability": np.concatenate(probs)} if has_probabilities else result


def _write_ranked_list(
    table: Any, out: Path, ids: Sequence[str], result: dict[str, np.ndarray], raw: bool
) -> Counter[str]:
    """Write the list; the counts say which columns had cells that look like formulas."""
    import polars as pl

    place = 0
    formulas = Counter[str]()
    with TableWriter(out) as writer:
        numbers = pl.DataFrame({"row": np.arange(1, len(result["rank"]) + 1)})
        for frame in read_batches(table, ids, may_be_empty=True) if ids else [numbers]:
            if not raw:
                names = frame.columns
                frame, found = without_formulas(frame)
                if place == 0:  # the header is written once
                    found.update(old for old, new in zip(names, frame.columns, strict=True) if old != new)
                formulas += found
            here = slice(place, place + len(frame))
            place += len(frame)
            writer.write(frame.with_columns(*(pl.Series(name, values[here]) for name, values in result.items())))
    return formulas
