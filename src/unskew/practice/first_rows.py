"""The rows of a file that people should look at first, with the reasons for their scores, for a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from unskew.practice.list_options import ListOptions
from unskew.practice.model import TableModel
from unskew.practice.reasons import reason_names
from unskew.practice.score import PROBABILITY, RANK, ROW, score_file
from unskew.tables import open_table

N_ROWS, N_REASONS = 20, 3


@dataclass(frozen=True)
class FirstRow:
    """A row at the top of a ranking.

    Attributes
    ----------
    names : tuple of (column, value)
        What people know the row by, in words: its number in the file, or id columns.
    probability : float or None
        Of being positive; None where the model was fitted without confidence.
    reasons : tuple of str
        Such as "amount = 1,250 (raises)", the largest first.
    """

    rank: int
    names: tuple[tuple[str, str], ...]
    probability: float | None
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class FirstRows:
    """The first rows of a file.

    Attributes
    ----------
    file : str
        Name of the file.
    n_ranked : int
        How many rows were ranked: all, or those that the label column does not mark.
    skipped : bool
        Whether rows that are labeled already were left out.
    rows : tuple of FirstRow
    notes : tuple of str
        What a user should know about how the file was read.
    """

    file: str
    n_ranked: int
    skipped: bool
    rows: tuple[FirstRow, ...]
    notes: tuple[str, ...] = ()


def first_rows(model: TableModel, path: Path, ids: Sequence[str] = (), n: int = N_ROWS) -> FirstRows:
    """The `n` rows of a file with the highest scores, without those that are labeled there."""
    if n < 1:
        raise ValueError(f"--rows must be 1 or more, the number of rows to show, but it is {n}.")
    skip = bool(model.source.label) and model.source.label in open_table(path).columns
    n_reasons = min(N_REASONS, len(model.schema.names))
    options = ListOptions(ids=ids, top=n, reasons=n_reasons, raw=True, skip_labeled=skip)
    with TemporaryDirectory() as folder:
        out = Path(folder) / "first.parquet"
        found = score_file(model, path, out, options)
        rows = _rows_of(out, ids or [ROW], n_reasons)
    return FirstRows(path.name, found.n_rows, skip, rows, found.notes)


def _rows_of(path: Path, ids: Sequence[str], n_reasons: int) -> tuple[FirstRow, ...]:
    import polars as pl

    found = pl.read_parquet(path)
    return tuple(
        FirstRow(
            rank=row[RANK],
            names=tuple((name, _in_words(row[name], is_number=name == ROW)) for name in ids),
            probability=row.get(PROBABILITY),
            reasons=tuple(row[name] for name in reason_names(n_reasons) if row[name] is not None),
        )
        for row in found.iter_rows(named=True)
    )


def _in_words(value: Any, *, is_number: bool) -> str:
    """An id as it is; the number of a row with commas."""
    if value is None:
        return "missing"
    return f"{value:,}" if is_number else str(value)
