"""The ranked list as the studio keeps and shows it: all rows with all their columns, searched and sorted by polars."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from unskew.studio.looking import as_text
from unskew.studio.marks import Mark, Marks
from unskew.tables import TableWriter, read_labels, read_table, without_formulas

LIST = "list.parquet"
REASONS_FOR = 500
"""Rows whose reasons are found: explaining all rows of a large table takes long."""
ROW, RANK, SCORE, PROBABILITY, LABELED = "row", "rank", "score", "probability", "labeled"
REASON, OF_TABLE = "reason ", "of table: "
PER_PAGE = 50
SHOW = {
    "open": "not labeled, not checked yet",
    "unlabeled": "not labeled",
    "checked": "checked",
    "all": "all rows",
}


@dataclass(frozen=True)
class Request:
    """What part of the list is asked for.

    Attributes
    ----------
    search : str
        Only rows in which some value has these letters.
    show : str
        Which rows, one of `SHOW`.
    sort : str
        "rank", "row", or the place of a column of the table, from 0.
    down : bool
        Whether the largest come first.
    page : int
        From 1.
    """

    search: str = ""
    show: str = "unlabeled"
    sort: str = RANK
    down: bool = False
    page: int = 1

    def __post_init__(self) -> None:
        if self.show not in SHOW or self.page < 1 or not (self.sort in (RANK, ROW) or self.sort.isdecimal()):
            raise ValueError("there is no such list. Go back to the list, and choose again.")


@dataclass(frozen=True)
class ListedRow:
    """One row as it is shown."""

    row: int
    rank: int
    probability: float | None
    labeled: bool
    reasons: tuple[str, ...]
    values: Mapping[str, str]
    mark: Mark | None = None


@dataclass(frozen=True)
class Part:
    """A page of the list; `n_found` rows are as requested, out of `n_rows`."""

    rows: tuple[ListedRow, ...]
    n_found: int
    n_rows: int
    page: int
    n_pages: int


def write_rows(out: Path, table: Path, label: str, scored: Path, explained: Path) -> None:
    """Write the list: what scoring gave for each row, in the order of ranks, with the row as it is in the table."""
    frame = read_table(table)
    labeled = pl.Series(LABELED, read_labels(frame, label, blank_is_unlabeled=True, path=table) == 1)
    ranked = pl.read_parquet(scored)
    reasons = pl.read_parquet(explained)
    reasons = reasons.select(ROW, *(name for name in reasons.columns if name.startswith(REASON)))
    places = ranked[ROW] - 1
    shown = [as_text(frame[name]).alias(OF_TABLE + name) for name in frame.columns]
    columns = pl.DataFrame([labeled, *shown])[places]
    with TableWriter(out) as writer:
        writer.write(ranked.hstack(columns).join(reasons, on=ROW, how="left", maintain_order="left"))


def part_of(path: Path, request: Request, marks: Marks) -> Part:
    """The rows of one page."""
    frame = pl.scan_parquet(path)
    columns = frame.collect_schema().names()
    found = _sorted(_matching(frame, request, marks, columns), request, columns)
    numbers = found.select(ROW).collect()[ROW]
    n_pages = max(1, -(-len(numbers) // PER_PAGE))
    page = min(request.page, n_pages)
    here = numbers[(page - 1) * PER_PAGE : page * PER_PAGE]
    n_rows = int(frame.select(pl.len()).collect().item())
    return Part(rows_of(path, here.to_list(), marks), len(numbers), n_rows, page, n_pages)


def rows_of(path: Path, numbers: list[int], marks: Marks) -> tuple[ListedRow, ...]:
    """The rows with these numbers, in this order."""
    frame = pl.scan_parquet(path).filter(pl.col(ROW).is_in(numbers)).collect()
    by_number = {row[ROW]: row for row in frame.iter_rows(named=True)}
    return tuple(_listed(by_number[number], marks.get(number)) for number in numbers if number in by_number)


def columns_of(path: Path) -> list[str]:
    """Columns of the table that the list is about."""
    names = pl.scan_parquet(path).collect_schema().names()
    return [each.removeprefix(OF_TABLE) for each in names if each.startswith(OF_TABLE)]


def as_csv(path: Path, request: Request, marks: Marks, names: list[str]) -> Iterator[bytes]:
    """The rows that are requested as a CSV file, without cells that a spreadsheet would run as formulas."""
    frame = pl.scan_parquet(path)
    columns = frame.collect_schema().names()
    found = _sorted(_matching(frame, request, marks, columns), request, columns).collect()
    left = found.select(ROW, *(pl.col(OF_TABLE + name).alias(name) for name in names if name not in columns))
    numbers = found.select(name for name in (RANK, SCORE, PROBABILITY) if name in columns)
    reasons = found.select(name for name in columns if name.startswith(REASON))
    checked = pl.DataFrame(
        {
            "checked": [_answer(marks.get(row)) for row in found[ROW]],
            "confidence": [_confidence(marks.get(row)) for row in found[ROW]],
        },
        schema={"checked": pl.String, "confidence": pl.Float64},
    )
    free = [name for name in checked.columns if name not in names]
    whole = without_formulas(left.hstack(numbers).hstack(reasons).hstack(checked.select(free)))[0]
    yield whole.write_csv().encode()


def _matching(frame: pl.LazyFrame, request: Request, marks: Marks, columns: list[str]) -> pl.LazyFrame:
    if request.show in ("open", "unlabeled"):
        frame = frame.filter(~pl.col(LABELED))
    if request.show in ("open", "checked"):
        checked = pl.col(ROW).is_in(list(marks))
        frame = frame.filter(checked if request.show == "checked" else ~checked)
    if request.search:
        wanted = request.search.lower()
        texts = [pl.col(each) for each in columns if each.startswith((OF_TABLE, REASON))]
        frame = frame.filter(
            pl.any_horizontal(
                each.fill_null("").str.to_lowercase().str.contains(wanted, literal=True) for each in texts
            )
        )
    return frame


def _sorted(frame: pl.LazyFrame, request: Request, columns: list[str]) -> pl.LazyFrame:
    """Rows in order; text that holds numbers is sorted by these."""
    if request.sort in (RANK, ROW):
        return frame.sort(request.sort, descending=request.down, maintain_order=True)
    of_table = [each for each in columns if each.startswith(OF_TABLE)]
    if int(request.sort) >= len(of_table):
        raise ValueError("there is no such column. Go back to the list, and choose again.")
    column = pl.col(of_table[int(request.sort)])
    keys = [column.cast(pl.Float64, strict=False), column]
    return frame.sort(keys, descending=request.down, nulls_last=True, maintain_order=True)


def _listed(row: Mapping[str, Any], mark: Mark | None) -> ListedRow:
    reasons = (row[name] for name in row if name.startswith(REASON))
    values = {name.removeprefix(OF_TABLE): row[name] for name in row if name.startswith(OF_TABLE)}
    return ListedRow(
        row=row[ROW],
        rank=row[RANK],
        probability=row.get(PROBABILITY),
        labeled=row[LABELED],
        reasons=tuple(each for each in reasons if each is not None),
        values={name: "missing" if each is None else each for name, each in values.items()},
        mark=mark,
    )


def _answer(mark: Mark | None) -> str | None:
    return None if mark is None else "positive" if mark.positive else "negative"


def _confidence(mark: Mark | None) -> float | None:
    return None if mark is None else mark.confidence
