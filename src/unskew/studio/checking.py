"""Tasks about rows that people check: which to label next, which to draw for an audit, and what the audit says."""

from pathlib import Path
from typing import Any

from unskew._support.text import Table
from unskew.practice import audit
from unskew.practice import suggest as suggesting
from unskew.practice.model import TableModel
from unskew.practice.terminal import audit_table
from unskew.studio.tasks import Job
from unskew.studio.training import MODEL, marks_of
from unskew.studio.work import Teller
from unskew.tables import TableWriter, open_table


def suggest(folder: Path, job: Job, teller: Teller) -> dict[str, Any]:
    """Rows to label next, as `unskew suggest` chooses them, without those that were checked already."""
    import polars as pl

    model, path = _model(folder, job), Path(job.table)
    teller.step("choosing rows")
    out = folder / "suggested.parquet"
    taken = (*suggesting.ANSWERS, suggesting.WHY, suggesting.ROW, suggesting.ORIGIN)
    # Checked rows that are not labeled would be suggested again: as many more are asked for.
    n_rows = min(job.rows + len(job.marked), job.n_unlabeled)
    _, notes = suggesting.write_suggestions(model, path, _names(job, path, taken), n_rows, out)
    found = pl.read_parquet(out).filter(~pl.col(suggesting.ROW).is_in(list(job.marked))).head(job.rows)
    return {
        "rows": found[suggesting.ROW].to_list(),
        "why": found[suggesting.WHY].to_list(),
        "notes": [teller.plain(each) for each in notes],
    }


def draw(folder: Path, job: Job, teller: Teller) -> dict[str, Any]:
    """Rows to check for an audit, as `unskew audit` draws them."""
    import polars as pl

    model, path = _model(folder, job), Path(job.table)
    teller.step("drawing rows")
    out = folder / "drawn.parquet"
    names = _names(job, path, (audit.ANSWER, audit.ROW, audit.ORIGIN))
    # Another draw has other rows: its number is the seed.
    _, notes = audit.write_audit(model, path, names, job.rows, out, seed=int(folder.name))
    return {"rows": pl.read_parquet(out)[audit.ROW].to_list(), "notes": [teller.plain(each) for each in notes]}


def judge(folder: Path, job: Job, teller: Teller) -> dict[str, Any]:
    """What an audit says whose rows have been checked, as `unskew audit --checked` finds it."""
    import polars as pl

    model, path, marks = _model(folder, job), Path(job.table), marks_of(folder)
    teller.step("estimating from the checked rows")
    drawn = pl.read_parquet(folder.parent / str(job.drawn) / "drawn.parquet")
    answers = [str(int(marks[row].positive)) if row in marks else None for row in drawn[audit.ROW]]
    checked = folder / "checked.parquet"
    with TableWriter(checked) as writer:
        writer.write(drawn.with_columns(pl.Series(audit.ANSWER, answers, dtype=pl.String)))
    found = audit.read_audit(model, path, checked)
    table: Table = audit_table(found.estimate)
    estimate = found.estimate
    return {
        "table": {"header": list(table.header), "rows": [list(each) for each in table.rows]},
        "calibration": estimate.calibration,
        "n_rows": estimate.n_rows,
        "n_checked": estimate.n_checked,
        "n_positive": estimate.n_positive,
        "notes": [teller.plain(each) for each in found.messages],
    }


def _model(folder: Path, job: Job) -> TableModel:
    return TableModel.load(folder.parent / str(job.model) / MODEL)


def _names(job: Job, path: Path, taken: tuple[str, ...]) -> list[str]:
    """Columns by which a list names its rows; some column, where nobody chose one: the studio goes by row numbers."""
    names = [each for each in job.names if each not in taken]
    return names or [each for each in open_table(path).columns if each not in taken][:1]
