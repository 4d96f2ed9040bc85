"""Rows to label next as a list for people, and the table with what they found."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew._support.progress import progress_bar
from unskew._support.text import listed, plural, shown
from unskew.errors import TableError
from unskew.metrics.estimates import findings_instead_of_warnings
from unskew.metrics.suggestions import MOST_ROWS, note_on_reliability, suggest
from unskew.practice.model import TableModel
from unskew.practice.origin import digest_of
from unskew.practice.reasons import RowSample
from unskew.tables import (
    TableWriter,
    Tally,
    blank_rows,
    check_ending,
    is_parquet,
    open_table,
    read_batches,
    read_confidence,
    read_labels,
    read_table,
    require_column,
    without_formulas,
)

if TYPE_CHECKING:
    import polars as pl

ANSWERS = POSITIVE, CONFIDENCE = "positive", "confidence"
"""Columns of the list to fill in."""
WHY, ROW, ORIGIN = "why", "row", "table"
"""Why a row is on the list; its number in the table, from 1; by what the table is recognized."""
YES = {"yes": "yes", "no": "yes", "y": "y", "n": "y", "true": "true", "false": "true", "t": "t", "f": "t"}
"""How a label is spelled in a column of text that has one of these words; else it is 1."""
FEATURE = "feature "
"""Before the numbers of features, while rows are drawn."""
OF_TABLE = "of table: "


def write_suggestions(
    model: TableModel, path: Path, ids: Sequence[str], n: int, out: Path, *, seed: int = 0
) -> tuple[int, list[str]]:
    """Choose rows of a file to label next and write the list: id columns, empty answers, why, and the row number.

    The most useful row comes first, so that a list of which only the beginning is filled in is worth most. Rows that
    the file has a label for are left out. The file is read in constant memory; of more than 20,000 rows, so many are
    drawn and chosen from. Returns how many rows were written, and what a user should know.
    """
    import polars as pl

    ids = list(dict.fromkeys(ids))
    check_ending(out)
    _check_ids(ids)
    drawn = _draw(model, path, ids, seed)
    labeled = np.zeros(len(drawn.frame), dtype=int) if drawn.labeled is None else drawn.labeled
    n_free = int(len(labeled) - labeled.sum())
    if not 1 <= n <= n_free:
        raise TableError(
            f"{path}: --rows must be from 1 to the number of rows without a label, {n_free:,}"
            f"{' of those that were looked at' * (drawn.n_rows > len(labeled))}, but it is {n:,}. Give another number."
        )
    with findings_instead_of_warnings():
        found = suggest(model.ranker, drawn.X, n, labeled=model.ranker.classes_[labeled], random_state=seed)
    frame, formulas = (
        drawn.frame.select(pl.col(OF_TABLE + name).alias(name) for name in ids)[found.rows],
        Counter[str](),
    )
    if not is_parquet(out):
        frame, formulas = without_formulas(frame)
    with TableWriter(out) as writer:
        blanks = [pl.Series(name, [None] * n, dtype=pl.String) for name in ANSWERS]
        why = pl.Series(WHY, list(found.reasons))
        origin = pl.lit(digest_of(path)).alias(ORIGIN)
        writer.write(frame.with_columns(*blanks, why, drawn.frame[ROW][found.rows], origin))
    notes = [*drawn.notes, *([note] if (note := note_on_reliability(model.ranker)) else [])]
    if drawn.n_rows > len(labeled):
        notes.append(f"the list was chosen from {len(labeled):,} rows, drawn at random from {drawn.n_rows:,}.")
    if formulas:
        notes.append(
            f"a ' was put before {plural(formulas.total(), 'cell')} of {listed(sorted(formulas))} so that no "
            "spreadsheet runs formulas from the data."
        )
    return n, notes


@dataclass(frozen=True)
class FilledIn:
    """What a list that was filled in added to a table.

    Attributes
    ----------
    n_labeled, n_positive : int
        New labels, and those of them that were found positive.
    again : str
        The command that fits the table again as the model was fitted.
    notes : tuple of str
        What a user should know.
    """

    n_labeled: int
    n_positive: int
    again: str
    notes: tuple[str, ...]


def fill_in(model: TableModel, path: Path, checked: Path, out: Path) -> FilledIn:
    """Write the table again, in constant memory, with the labels of a list that was filled in.

    A row with a confidence becomes a labeled row, whether it was found positive or not: the confidence is what the
    model learns from. A negative row without one stays unlabeled, and so does a row that nobody has looked at.
    """
    label, confidence = model.source.label, model.source.confidence
    if confidence is None:
        raise TableError(
            f"{model.path}: the model must have been fitted with a confidence column, which new labels go into, but it "
            "was not. Fit it with --confidence."
        )
    check_ending(out)
    table = open_table(path)
    answers = _read_answers(path, checked)
    n_rows = 0
    with TableWriter(out) as writer, progress_bar("writing", table.n_rows, shown=True) as step:
        for frame in read_batches(table, None):
            if not n_rows:
                yes = _spelling(frame, label)
            writer.write(_with_labels(frame, 1 + n_rows, answers, (label, confidence), yes))
            n_rows += len(frame)
            step(n=len(frame))
    again = model.source.fit_command(str(out), model.ranker.name)
    return FilledIn(len(answers.rows), answers.n_positive, again, (*table.notes, *answers.notes))


@dataclass(frozen=True)
class _Answers:
    """Rows of a table that get a label, in order, and their confidence."""

    rows: np.ndarray
    confidence: np.ndarray
    n_positive: int
    notes: tuple[str, ...]


def _read_answers(path: Path, checked: Path) -> _Answers:
    import polars as pl

    frame = read_table(checked)
    for name in (*ANSWERS, ROW, ORIGIN):
        require_column(name, frame.columns, checked, why="Use the list that `unskew suggest` wrote.")
    made_from = frame[ORIGIN].cast(pl.String).str.strip_chars().unique().to_list()
    if made_from != [digest_of(path)]:
        raise TableError(
            f"{checked}: the list must come from the table {path}, as its column {shown(ORIGIN)} says, but it comes "
            "from another one, or the table was changed since. Pass the same table, or make a new list."
        )
    rows = _row_numbers(frame, checked)
    has_confidence, has_answer = (~blank_rows(frame, name) for name in (CONFIDENCE, POSITIVE))
    values = read_confidence(frame, CONFIDENCE, has_confidence.astype(int), path=checked, some_counts=False)
    positive = read_labels(frame, POSITIVE, blank_is_unlabeled=True, path=checked) == 1
    _require_confidence(rows, positive & ~has_confidence, checked)
    if not has_confidence.any():
        raise TableError(
            f"{checked}: the list must have rows with a confidence, but the column {shown(CONFIDENCE)} is blank in all "
            f"{len(frame):,}. Fill it in for the rows that you checked."
        )
    left = int((has_answer & ~has_confidence).sum())
    notes = []
    if left:
        notes.append(
            f"{plural(left, 'row')} that {'is' if left == 1 else 'are'} not positive and without a confidence "
            f"{'stays' if left == 1 else 'stay'} unlabeled. With a confidence, a low one, they would teach more."
        )
    order = np.argsort(rows[has_confidence])
    kept = rows[has_confidence][order], values[has_confidence][order]
    return _Answers(*kept, int((positive & has_confidence).sum()), tuple(notes))


def _row_numbers(frame: "pl.DataFrame", checked: Path) -> np.ndarray:
    """Rows of the table, from 1, that the list is about."""
    import polars as pl

    numbers = frame[ROW].cast(pl.String).str.strip_chars().cast(pl.Int64, strict=False)
    wrong = [str(each) for each in frame[ROW].filter((numbers < 1).fill_null(True))]
    twice = [str(each) for each, count in Counter(numbers.to_list()).items() if count > 1]
    for found, what in ((wrong, "are no row numbers"), (twice, "are there twice")):
        if found:
            raise TableError(
                f"{checked}: column {shown(ROW)} must hold the number of a row, each once, but {listed(found, 5)} "
                f"{what}. Restore it as `unskew suggest` wrote it."
            )
    return np.asarray(numbers.to_numpy())


def _require_confidence(rows: np.ndarray, without: np.ndarray, checked: Path) -> None:
    if without.any():
        where = ", ".join(f"{each:,}" for each in rows[without][:10].tolist())
        raise TableError(
            f"{checked}: a positive row must have a confidence, because the model learns from it, but "
            f"{plural(int(without.sum()), 'row')} {'has' if without.sum() == 1 else 'have'} none (rows of the table: "
            f"{where}). Give it as your other labels have it."
        )


def _spelling(frame: "pl.DataFrame", label: str) -> str:
    """How a label is spelled in a column of text, by the first row that says anything."""
    if label not in frame.columns:
        return "1"
    said = frame[label].filter(~blank_rows(frame, label))
    return YES.get(str(said[0]).strip().lower(), "1") if len(said) else "1"


def _with_labels(
    frame: "pl.DataFrame", first: int, answers: _Answers, names: tuple[str, str], yes: str
) -> "pl.DataFrame":
    """Rows of the table, of which `first` is the number of the first, with the new labels and their confidence."""
    import polars as pl

    label, confidence = names
    begin, end = np.searchsorted(answers.rows, [first, first + len(frame)])
    places = answers.rows[begin:end] - first
    if label not in frame.columns:
        frame = frame.with_columns(pl.Series(label, np.zeros(len(frame), dtype=np.int64)))
    if confidence not in frame.columns:
        frame = frame.with_columns(pl.Series(confidence, [None] * len(frame), dtype=pl.Float64))
    labels, values = frame[label], frame[confidence]
    if isinstance(labels.dtype, pl.Categorical | pl.Enum):
        labels = labels.cast(pl.String)
    if not isinstance(values.dtype, pl.String):
        values = values.cast(pl.Float64)
    given: list[Any] = answers.confidence[begin:end].tolist()
    if isinstance(values.dtype, pl.String):
        given = [f"{each:.12g}" for each in given]
    said = yes if isinstance(labels.dtype, pl.String) else pl.Series([1]).cast(labels.dtype)[0]
    return frame.with_columns(
        labels.scatter(places, [said] * len(places)).alias(label), values.scatter(places, given).alias(confidence)
    )


@dataclass(frozen=True)
class _Drawn:
    """Rows of a file to choose from.

    Attributes
    ----------
    frame : data frame of polars
        Id columns, under names that no other column has, and row numbers from 1.
    X : array of shape (n, n_features)
    labeled : int array of shape (n,), or None
        None if the file has no label column.
    n_rows : int
        Rows of the file.
    """

    frame: "pl.DataFrame"
    X: np.ndarray
    labeled: np.ndarray | None
    n_rows: int
    notes: tuple[str, ...]


def _draw(model: TableModel, path: Path, ids: Sequence[str], seed: int) -> _Drawn:
    """Read a file once, and keep some of its rows."""
    import polars as pl

    table, tally, schema = open_table(path), Tally(), model.schema
    notes = [*table.notes, *schema.check_columns(table.columns, path, ignore=[*ids, *model.source.aside])]
    for name in ids:
        require_column(name, table.columns, path)
    label = model.source.label if model.source.label in table.columns else None
    kept = [*ids, *([] if label is None else [label])]
    sample, n_rows = RowSample(seed, MOST_ROWS), 0
    names = [f"{FEATURE}{number}" for number in range(len(schema.feature_names))]
    with progress_bar("reading", table.n_rows, shown=True) as step:
        for frame in read_batches(table, list(dict.fromkeys([*schema.names, *kept]))):
            X = schema.transform(frame, path=path, first_row=1 + n_rows, tally=tally)
            own = {OF_TABLE + name: frame[name] for name in kept}
            numbers = pl.Series(ROW, np.arange(1 + n_rows, 1 + n_rows + len(frame)))
            sample.add(pl.DataFrame({**own, ROW: numbers}).hstack(pl.DataFrame(X, schema=names)))
            n_rows += len(frame)
            step(n=len(frame))
    rows = sample.rows()
    labeled = None
    if label is not None:
        column = rows.select(pl.col(OF_TABLE + label).alias(label))
        labeled = read_labels(column, label, blank_is_unlabeled=True, path=path)
    X = rows.select(names).to_numpy()
    return _Drawn(rows.drop(names), X, labeled, n_rows, (*notes, *tally.sentences()))


def _check_ids(ids: Sequence[str]) -> None:
    if not ids:
        raise TableError("the list must name its rows, but there is no id column. Pass --id COLUMN.")
    for name in ids:
        if name in (*ANSWERS, WHY, ROW, ORIGIN):
            raise TableError(
                f"the id columns must not be called {name!r}, which is a column of the list. Rename it in the file."
            )
