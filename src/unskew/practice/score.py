"""Score a file row by row and write the ranked list, in memory that does not grow with its rows."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew._support.files import scratch_folder
from unskew._support.progress import progress_bar
from unskew._support.text import listed, plural, shown
from unskew.checks.drift import Drift, DriftTally
from unskew.errors import TableError
from unskew.metrics.cuts import BestCut, Costs
from unskew.practice.cut import cut_json, cut_of_sorted
from unskew.practice.list_options import ListOptions
from unskew.practice.model import TableModel
from unskew.practice.reasons import ReasonColumns, RowSample, reason_names
from unskew.tables import (
    BestFirst,
    TableWriter,
    TwoClasses,
    append_floats,
    check_ending,
    check_types,
    is_parquet,
    label_column,
    open_table,
    read_batches,
    require_column,
    sorted_on_disk,
    without_formulas,
)

if TYPE_CHECKING:
    import polars as pl

ROW, RANK, SCORE, PROBABILITY = RESULTS = "row", "rank", "score", "probability"
ROWS_AT_ONCE = 1 << 16
OF_TABLE = "of table: "
"""Before the names of columns of the file, which may be those of results while rows are sorted."""


@dataclass(frozen=True)
class ScoredFile:
    """What there is to say of a list that was written.

    Attributes
    ----------
    n_rows, n_written : int
        Rows that were ranked, and those in the list.
    notes : tuple of str
        What a user should know about them.
    drift : Drift
        How far the rows are from those of training.
    cut : BestCut or None
        Where the list ends, if costs decide that.
    """

    n_rows: int
    n_written: int
    notes: tuple[str, ...]
    drift: Drift
    cut: BestCut | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        about = {"rows": self.n_rows, "written": self.n_written, "flagged": self.drift.flagged}
        top = {"mean_probability": self.drift.probability, "highest_score": self.drift.highest_score}
        cut = {} if self.cut is None else {"cut": cut_json(self.cut)}
        return {**about, **top, **cut, "drift": self.drift.to_json(), "notes": list(self.notes)}


def score_file(model: TableModel, path: Path, out: Path, options: ListOptions | None = None) -> ScoredFile:
    """Write the id columns with `rank` (1 is the most likely positive), `score` and `probability` to `out`.

    Rows are sorted by rank, those of equal scores in the order of the file. A model that was fitted without confidence
    has no probabilities. Files are CSV or Parquet, by suffix; one without rows gives a list without rows.
    """
    options = options or ListOptions()
    options.check(model)
    check_ending(out)
    table = open_table(path)
    ids = list(dict.fromkeys(options.ids))
    raw = options.raw or is_parquet(out)
    check_ids(ids, [*RESULTS[1:], *reason_names(options.reasons)], table, out, raw)
    notes = [*table.notes, *model.schema.check_columns(table.columns, path, ignore=[*ids, *model.source.aside])]
    wanted = list(dict.fromkeys([*ids, *(model.schema.names if options.reasons else ())]))
    with scratch_folder(out) as folder:
        known = None
        if options.skip_labeled:
            require_column(model.source.label, table.columns, path)
            known = label_column(model.source.label, blank_is_unlabeled=True, path=path)
        sample = RowSample() if options.reasons else None
        scoring = _Scoring(model, table, sample, known, options.top, options.costs)
        in_order = _as_in_the_file if options.keep_order else _best_first
        frames = in_order(scoring, wanted, folder)
        n_rows, formulas = _write_list(frames, scoring, options, ids, raw, out)
    notes += scoring.tally.sentences()
    if known is not None:
        notes.append(f"{plural(int(known.values().sum()), 'row')} left out that {shown(known.name)} marks already.")
    if formulas:
        notes.append(
            f"a ' was put before {plural(formulas.total(), 'cell')} of {listed(sorted(formulas))} so that no "
            "spreadsheet runs formulas from the data. Use --raw to leave cells as they are."
        )
    if options.reasons and scoring.n_read == 1:
        notes.append("there are no reasons, because a row is compared with others of its file, which has no others.")
    if scoring.cut is not None and scoring.cut.profit_low is None and scoring.n_rows:
        notes.append(
            "the number of rows to review has no intervals, because the model file does not say how far its "
            "probabilities may be off: it was fitted without estimates, or by an earlier version. Fit again."
        )
    drift = scoring.tally.drift(model.schema)
    return ScoredFile(scoring.n_rows, n_rows, (*notes, *drift.notes()), drift, scoring.cut)


def check_ids(ids: Sequence[str], results: Sequence[str], table: Any, out: Path, raw: bool) -> None:
    """Refuse columns that do not exist, or that the result cannot hold."""
    for name in ids:
        if name in results:
            raise TableError(
                f"the id columns must not be called {name!r}, which is a column of the result. Rename it in the file."
            )
        require_column(name, table.columns, table.path)
    no_rows = table.no_rows(ids)
    check_types(out, no_rows if raw else without_formulas(no_rows)[0])


@dataclass
class _Scoring:
    """One pass over a file that scores its rows."""

    model: TableModel
    table: Any
    sample: RowSample | None
    known: TwoClasses | None = None  # labels, where rows that are labeled are left out
    top: int | None = None
    costs: Costs | None = None
    cut: BestCut | None = None
    n_read: int = 0
    n_rows: int = 0  # without those left out

    @property
    def n_wanted(self) -> int:
        """Rows that are written, once all are scored."""
        if self.cut is not None:
            return self.cut.n
        return self.n_rows if self.top is None else min(self.top, self.n_rows)

    def find_cut(self, best: BestFirst) -> None:
        """If costs are known: how many of the rows to write."""
        if self.costs is not None:
            self.cut = cut_of_sorted(
                ((frame[SCORE].to_numpy(), frame[PROBABILITY].to_numpy()) for frame in best.frames()),
                self.n_rows,
                self.costs,
                self.model.evidence,
            )

    @cached_property
    def tally(self) -> DriftTally:
        """Counts values that were not in the training data, and how far all are from those."""
        return DriftTally(self.model.summary)

    @cached_property
    def results(self) -> list[str]:
        """Names of the columns that scoring gives."""
        return [SCORE, *([PROBABILITY] if hasattr(self.model.ranker, "predict_proba") else [])]

    def frames(self, wanted: Sequence[str]) -> "Iterator[pl.DataFrame]":
        """Row numbers, results and the wanted columns of the file; at least one frame, which may have no rows."""
        names = self.model.schema.names
        known = self.known
        columns = list(dict.fromkeys([*names, *wanted, *([] if known is None else [known.name])]))
        with progress_bar("scoring", self.table.n_rows, shown=True) as step:
            for frame in read_batches(self.table, columns, may_be_empty=True):
                numbers = self._score(frame)
                if self.sample is not None:
                    self.sample.add(frame.select(names))
                found = _beside(numbers, frame, wanted)
                if known is not None:
                    found = found.filter(known.take_in(frame[known.name]) == 0)
                self.n_rows += len(found)
                yield found
                step(n=len(frame))
        if known is not None:
            known.values()  # refuses what is no label, before anything is written

    def _score(self, frame: "pl.DataFrame") -> "pl.DataFrame":
        import polars as pl

        first, self.n_read = 1 + self.n_read, self.n_read + len(frame)
        found = results_of(self.model, frame, self.table.path, first, self.tally)
        return pl.DataFrame(
            {ROW: np.arange(first, first + len(frame)), **dict(zip(self.results, found.T, strict=True))}
        )


def results_of(model: TableModel, frame: "pl.DataFrame", path: Path, first_row: int, tally: DriftTally) -> np.ndarray:
    """Scores of the rows of a frame, and in a second column their probabilities, if the model has them."""
    has_probability = hasattr(model.ranker, "predict_proba")
    found = np.empty((len(frame), 1 + has_probability))
    if len(frame):
        X = model.schema.transform(frame, path=path, first_row=first_row, tally=tally)
        try:
            found[:, 0] = model.ranker.decision_function(X)
            if has_probability:
                found[:, 1] = model.ranker.predict_proba(X)[:, 1]
            tally.count_scores(found[:, 0], found[:, 1] if has_probability else None, model.ranker.threshold_)
        except ValueError as error:  # scores beyond what float32 can hold
            raise TableError(f"{path}: {error}") from None
    return found


def _beside(numbers: "pl.DataFrame", frame: "pl.DataFrame", wanted: Sequence[str]) -> "pl.DataFrame":
    """Results, and the wanted columns of the file under names that no result has."""
    return numbers.with_columns(*(frame[name].alias(OF_TABLE + name) for name in wanted))


def _best_first(scoring: _Scoring, wanted: Sequence[str], folder: Path) -> "Iterator[pl.DataFrame]":
    """Rows with their ranks, the best first."""
    import polars as pl

    best = BestFirst(folder, SCORE, scoring.top)
    for frame in scoring.frames(wanted):
        best.add(frame)
    scoring.find_cut(best)
    done, rank, last = 0, 0, np.nan
    for frame in _first_rows(best.frames(), scoring.n_wanted):
        score = frame[SCORE].to_numpy()
        is_new = np.concatenate([[last], score])[:-1] != score  # what is equal has the rank of the first of its kind
        ranks = np.maximum.accumulate(np.where(is_new, np.arange(1, 1 + len(score)) + done, rank))
        yield frame.with_columns(pl.Series(RANK, ranks, dtype=pl.Int64))
        if len(score):
            done, rank, last = done + len(score), ranks[-1], score[-1]


def _first_rows(frames: "Iterator[pl.DataFrame]", count: int) -> "Iterator[pl.DataFrame]":
    """The first rows of frames, in at least one frame."""
    for frame in frames:
        yield frame[:count]
        count -= min(count, len(frame))
        if not count:
            return


def _as_in_the_file(scoring: _Scoring, wanted: Sequence[str], folder: Path) -> "Iterator[pl.DataFrame]":
    """Rows with their ranks, in the order of the file, which is read a second time for the wanted columns."""
    import polars as pl

    results = scoring.results
    (folder / "in order").mkdir()
    to_cut = BestFirst(folder / "in order", SCORE)
    for frame in scoring.frames([]):
        append_floats(folder / "results", frame.select(results).to_numpy())
        append_floats(folder / "keys", -frame[SCORE].to_numpy())
        if scoring.costs is not None:
            to_cut.add(frame.select(results))
    scoring.find_cut(to_cut)
    in_order = sorted_on_disk(folder / "keys")
    found = _mapped(folder / "results", len(results))
    best = _Best(in_order, scoring.n_wanted)
    done = 0
    for frame in _once_more(scoring.table, wanted, len(found)):
        n_rows = len(frame)
        own = found[done : done + n_rows]
        key = -own[:, 0]
        numbers = pl.DataFrame(
            {
                ROW: np.arange(1 + done, 1 + done + n_rows),
                RANK: 1 + np.searchsorted(in_order, key, "left"),
                **{name: own[:, place] for place, name in enumerate(results)},
            }
        )
        done += n_rows
        yield _beside(numbers, frame, wanted).filter(best.among(key))


def _once_more(table: Any, wanted: Sequence[str], n_rows: int) -> "Iterator[pl.DataFrame]":
    """The wanted columns of the file; if there are none, frames of as many rows, whose columns nobody wants."""
    import polars as pl

    if wanted:
        yield from read_batches(table, wanted, may_be_empty=True)
        return
    for first in range(0, max(n_rows, 1), ROWS_AT_ONCE):
        yield pl.DataFrame({ROW: np.arange(first, min(first + ROWS_AT_ONCE, n_rows))})


class _Best:
    """Says which rows are among the `n_rows` best, one part of the file after another; of ties, the first are."""

    def __init__(self, in_order: np.ndarray, n_rows: int) -> None:
        self._last = in_order[n_rows - 1] if n_rows else -np.inf
        self._ties = n_rows - int(np.searchsorted(in_order, self._last, "left"))

    def among(self, key: np.ndarray) -> np.ndarray:
        """Whether each of the next rows is, by their keys, which rise where scores fall."""
        is_tie = key == self._last
        chosen = (key < self._last) | (is_tie & (np.cumsum(is_tie) <= self._ties))
        self._ties -= min(self._ties, int(is_tie.sum()))
        return np.asarray(chosen)


def _mapped(path: Path, width: int) -> np.ndarray:
    """Rows of floats in a file that stands for memory."""
    if not path.stat().st_size:
        return np.empty((0, width))
    return np.memmap(path, np.float64, "r").reshape(-1, width)


def _write_list(
    frames: "Iterator[pl.DataFrame]", scoring: _Scoring, options: ListOptions, ids: Sequence[str], raw: bool, out: Path
) -> tuple[int, Counter[str]]:
    """Write the list; returns its rows, and which columns had how many cells that look like formulas."""
    import polars as pl

    first = next(frames)  # by now everything is scored
    total = scoring.n_wanted
    reasons = None
    if scoring.sample is not None:
        reasons = ReasonColumns(scoring.model, options.reasons, scoring.sample.rows(), total)
    n_rows, formulas = 0, Counter[str]()
    with (
        TableWriter(out) as writer,
        progress_bar("explaining" if options.reasons else "writing", total, shown=True) as step,
    ):
        for frame in chain([first], frames):
            left = _of_table(frame, ids) if ids else frame.select(ROW)
            right = pl.DataFrame()
            if reasons is None:
                step(n=len(frame))
            else:
                right = reasons.of(_of_table(frame, scoring.model.schema.names), step)
            if not raw:
                (left, found), (right, more) = harmless(left, is_first=frame is first), without_formulas(right)
                formulas += found + more
            numbers = frame.select(RANK, *scoring.results)
            writer.write(left.hstack(numbers).hstack(right))
            n_rows += len(frame)
    return n_rows, formulas


def _of_table(frame: "pl.DataFrame", names: Sequence[str]) -> "pl.DataFrame":
    """Columns of the file under their own names."""
    import polars as pl

    return frame.select(pl.col(OF_TABLE + name).alias(name) for name in names)


def harmless(frame: "pl.DataFrame", *, is_first: bool) -> tuple["pl.DataFrame", Counter[str]]:
    """Cells and names without formulas, and how many were changed; the header is written once, and so counted."""
    changed, found = without_formulas(frame)
    if is_first:
        found.update(old for old, new in zip(frame.columns, changed.columns, strict=True) if old != new)
    return changed, found
