"""An audit in two steps: a list of rows to check by hand, and what the checked list says about a model."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unskew._support.text import listed, plural, rows_of, shown
from unskew.errors import TableError
from unskew.metrics import AuditEstimate, AuditSample, audit_estimate, audit_sample
from unskew.metrics.evidence import plain
from unskew.practice.labeled_table import read_by_schema
from unskew.practice.model import TableModel
from unskew.practice.origin import digest_of
from unskew.tables import (
    TableWriter,
    blank_rows,
    check_ending,
    is_parquet,
    read_labels,
    read_table,
    require_column,
    without_formulas,
)

ANSWER, ROW, ORIGIN = "positive", "row", "audit"
"""Columns of the list: to be filled in; row number from 1; which draw it is, from which model and table."""
ORIGIN_FORM = re.compile(r"rows=(\d+) seed=(\d+) model=([0-9a-f]{16}) data=([0-9a-f]{16})")


@dataclass(frozen=True)
class Scored:
    """Rows of a file with what a model says about them.

    Attributes
    ----------
    probability : array of shape (n,), or None
        None if the model gives no probabilities.
    notes : tuple of str
        What a user should know of the file.
    """

    frame: Any
    score: np.ndarray
    probability: np.ndarray | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Audit:
    """What a checked list says, and what a user should know of the file."""

    estimate: AuditEstimate
    messages: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain data; what is not a number is null."""
        content: dict[str, Any] = plain(asdict(self))
        return content


def write_audit(
    model: TableModel, path: Path, ids: Sequence[str], n: int, out: Path, *, seed: int = 0
) -> tuple[int, list[str]]:
    """Draw rows of a file and write the list to check: id columns, an empty answer, row numbers, where it comes from.

    The order is random and no score is written, so that whoever checks the rows does not know what the model thinks.
    Returns how many rows were drawn, and what a user should know.
    """
    import polars as pl

    ids = list(dict.fromkeys(ids))
    check_ending(out)
    _check_ids(ids)
    scored = score_rows(model, path, ids)
    sample = _draw(model, scored, path, n, seed)
    frame, formulas = scored.frame.select(ids)[sample.rows], Counter[str]()
    if not is_parquet(out):
        frame, formulas = without_formulas(frame)
    chosen = f"rows={n} seed={seed} model={digest_of(_file_of(model))} data={digest_of(path)}"
    with TableWriter(out) as writer:
        empty = pl.Series(ANSWER, [None] * n, dtype=pl.String)
        writer.write(frame.with_columns(empty, pl.Series(ROW, sample.rows + 1), pl.lit(chosen).alias(ORIGIN)))
    notes = list(scored.notes)
    if formulas:
        notes.append(
            f"a ' was put before {plural(formulas.total(), 'cell')} of {listed(sorted(formulas))} so that no "
            "spreadsheet runs formulas from the data."
        )
    return n, notes


def read_audit(model: TableModel, path: Path, checked: Path, *, level: float = 0.95) -> Audit:
    """Read a list that was filled in, and estimate how good the model is on the whole file."""
    frame = read_table(checked)
    for name in (ANSWER, ROW, ORIGIN):
        require_column(name, frame.columns, checked, why="Use the list that `unskew audit` wrote.")
    n, seed = _origin(frame, model, path, checked)
    scored = score_rows(model, path, [])
    sample = _draw(model, scored, path, n, seed)
    truth = _answers(frame, sample, checked)
    found = audit_estimate(scored.score, scored.probability, sample, truth, level=level)
    return Audit(found, scored.notes)


def score_rows(model: TableModel, path: Path, ids: Sequence[str]) -> Scored:
    """Read a file whole: id columns, scores and probabilities of its rows."""
    frame, X, notes, on_values = read_by_schema(model.schema, path, ids, model.source.aside)
    score = np.asarray(model.ranker.decision_function(X), dtype=np.float64)
    return Scored(frame, score, probabilities(model, X), (*notes, *on_values))


def probabilities(model: TableModel, X: np.ndarray) -> np.ndarray | None:
    """Probability of being positive of each row; None if the model cannot say, as without confidence."""
    predict = getattr(model.ranker, "predict_proba", None)
    return None if predict is None else np.asarray(predict(X)[:, 1], dtype=np.float64)


def _draw(model: TableModel, scored: Scored, path: Path, n: int, seed: int) -> AuditSample:
    if not 10 <= n <= len(scored.score):
        raise TableError(
            f"{path}: --rows must be from 10 to the number of rows, {len(scored.score):,}, but it is {n:,}. Give "
            "another number."
        )
    return audit_sample(scored.score, n, seed, threshold=float(model.ranker.threshold_))


def _check_ids(ids: Sequence[str]) -> None:
    if not ids:
        raise TableError("the list must name its rows, but there is no id column. Pass --id COLUMN.")
    for name in ids:
        if name in (ANSWER, ROW, ORIGIN):
            raise TableError(
                f"the id columns must not be called {name!r}, which is a column of the list. Rename it in the file."
            )


def _origin(frame: Any, model: TableModel, path: Path, checked: Path) -> tuple[int, int]:
    """Size and seed of the draw, if model and table are still those that the list was made from."""
    said = frame[ORIGIN].unique().to_list()
    form = ORIGIN_FORM.fullmatch(str(said[0]).strip()) if len(said) == 1 else None
    if form is None:
        raise TableError(
            f"{checked}: column {shown(ORIGIN)} must say in every row where the list comes from, as it was written, "
            f"but it says {listed([str(each) for each in said], 3)}. Restore the list that `unskew audit` wrote."
        )
    made_from = {"model": (_file_of(model), form[3]), "table": (path, form[4])}
    for kind, (file, digest) in made_from.items():
        if digest_of(file) != digest:
            raise TableError(
                f"{checked}: the {kind} must be the one that the list was made from, but {file} is another one, or was "
                f"changed since. Pass the same {kind}, or draw a new list."
            )
    return int(form[1]), int(form[2])


def _answers(frame: Any, sample: AuditSample, checked: Path) -> np.ndarray:
    """Classes in the order of the draw, whatever the order of the list."""
    import polars as pl

    numbers = frame[ROW].cast(pl.String).str.strip_chars().cast(pl.Int64, strict=False)
    drawn = set((sample.rows + 1).tolist())
    strange = [str(each) for each in frame[ROW].filter(~numbers.is_in(sorted(drawn)).fill_null(False))]
    twice = [str(each) for each, count in Counter(numbers.to_list()).items() if count > 1]
    missing = [str(each) for each in sorted(drawn - set(numbers.to_list()))]
    for found, what in ((strange, "were not drawn"), (twice, "are there twice"), (missing, "are missing")):
        if found:
            raise TableError(
                f"{checked}: the list must hold each of the {len(drawn):,} drawn rows once, but rows "
                f"{listed(found, 5)} {what}. Restore the list that `unskew audit` wrote: rows that are left out are "
                "not a random part of it."
            )
    _refuse_blanks(frame, checked)
    classes = read_labels(frame, ANSWER, path=checked)
    place = {number: index for index, number in enumerate(numbers.to_list())}
    return np.array([classes[place[row + 1]] for row in sample.rows.tolist()])


def _refuse_blanks(frame: Any, checked: Path) -> None:
    blank = blank_rows(frame, ANSWER)
    if blank.any():
        where = [str(each) for each, empty in zip(frame[ROW].to_list(), blank, strict=True) if empty]
        raise TableError(
            f"{checked}: column {shown(ANSWER)} must say 1 or 0 in every row, but "
            f"{rows_of(len(where), len(blank), 'is', 'are')} blank (rows of the table: {', '.join(where[:10])}"
            f"{', …' if len(where) > 10 else ''}). Check them, too: rows that are hard to judge are not a random part."
        )


def _file_of(model: TableModel) -> Path:
    if model.path is None:
        raise ValueError("an audit needs a model file, but this model was not read from one. Save it, and load it.")
    return model.path
