"""Tasks that train: from a table to a model, its report, and the ranked list."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from unskew._support.files import write_atomically
from unskew._support.text import Table
from unskew.metrics.reliability import NOT_SEEN_FROM_INSIDE
from unskew.practice.first_rows import N_REASONS, N_ROWS, first_rows
from unskew.practice.fit import TrainingOptions, fit_table, why_no_estimate
from unskew.practice.labeled_table import read_labeled
from unskew.practice.list_options import ListOptions
from unskew.practice.model import TableModel
from unskew.practice.origin import digest_of
from unskew.practice.reasons import reason_names
from unskew.practice.report.story import story
from unskew.practice.results import model_html, model_json
from unskew.practice.score import RESULTS, score_file
from unskew.practice.suggest import CONFIDENCE, ORIGIN, POSITIVE, ROW, fill_in
from unskew.practice.terminal import estimates_table, parts_table, top_table
from unskew.studio.lists import LIST, REASONS_FOR, write_rows
from unskew.studio.marks import Marks, MarksRecord
from unskew.studio.store import check_name, read_record
from unskew.studio.tasks import Job
from unskew.studio.work import Teller
from unskew.tables import WRITABLE_ENDINGS, TableWriter

MODEL, REPORT, NUMBERS = "model.unskew", "report.html", "numbers.json"


def train(folder: Path, job: Job, teller: Teller) -> dict[str, Any]:
    """Fit, as `unskew fit` does; make the page of `unskew report` and the list of `unskew score`."""
    options = TrainingOptions(method=job.method)
    options.check(has_confidence=job.confidence is not None)
    path = Path(job.table)
    if job.model is not None:
        path = _with_marks(folder, job, teller)
    teller.step("reading the table")
    table = read_labeled(
        path,
        job.label,
        job.confidence,
        exclude=job.excluded,
        blank_is_unlabeled=job.blank_is_unlabeled,
        kinds=job.kinds,
    )
    for note in table.notes:
        teller.message("note", note)
    for finding in table.findings:
        teller.message(finding.level, finding.message)
    model = fit_table(table, options)
    teller.step("writing the model")
    model.save(folder / MODEL)
    model = replace(model, path=folder / MODEL)
    teller.step("choosing the rows to look at first")
    names = [each for each in job.names if each not in (*RESULTS, *reason_names(N_REASONS))]
    first = first_rows(model, path, names, N_ROWS)
    write_atomically(folder / REPORT, model_html(model, first).encode())
    write_atomically(folder / NUMBERS, json.dumps(model_json(model), indent=2, allow_nan=False).encode())
    notes = _list(folder, model, path, teller)
    where = str(path.relative_to(folder.parent.parent))  # the folder of the studio may be moved
    return _result(model, names, where, [teller.plain(each) for each in notes], teller)


def _with_marks(folder: Path, job: Job, teller: Teller) -> Path:
    """The table with the labels that people gave rows, as `unskew suggest --checked` writes it."""
    import polars as pl

    teller.step("adding the checked rows to the labels")
    path, marks = Path(job.table), marks_of(folder)
    model = TableModel.load(folder.parent / str(job.model) / MODEL)
    checked = folder / "checked.parquet"
    with TableWriter(checked) as writer:
        writer.write(
            pl.DataFrame(
                {
                    ROW: list(marks),
                    POSITIVE: [int(each.positive) for each in marks.values()],
                    CONFIDENCE: [each.confidence for each in marks.values()],
                    ORIGIN: [digest_of(path)] * len(marks),
                },
                schema_overrides={CONFIDENCE: pl.Float64},
            )
        )
    name = path.name if path.name.lower().endswith(WRITABLE_ENDINGS) else f"{path.name}.csv"
    out = folder / "data" / check_name(name)
    out.parent.mkdir()
    for note in fill_in(model, path, checked, out).notes:
        teller.message("note", note)
    return out


def marks_of(folder: Path) -> Marks:
    """Marks as they were when a task began."""
    return read_record(MarksRecord, folder / "marks.json").marks()


def _list(folder: Path, model: TableModel, path: Path, teller: Teller) -> list[str]:
    """Rank all rows, and explain the first."""
    found = score_file(model, path, folder / "scored.parquet", ListOptions())
    n_reasons = min(N_REASONS, len(model.schema.names))
    options = ListOptions(top=REASONS_FOR, reasons=n_reasons)
    score_file(model, path, folder / "explained.parquet", options)
    teller.step("writing the list")
    write_rows(folder / LIST, path, model.source.label, folder / "scored.parquet", folder / "explained.parquet")
    for name in ("scored.parquet", "explained.parquet"):
        (folder / name).unlink()
    return list(found.notes)


def _result(model: TableModel, names: list[str], path: str, notes: list[str], teller: Teller) -> dict[str, Any]:
    """What the page of a task shows: the words of the report, and the tables of the command line."""
    evidence, source = model.evidence, model.source
    told = [] if evidence is None else story(source.file, source.label, evidence, evidence.top)
    tables = {}
    if evidence is not None:
        points = evidence.estimate.shows_points
        tables["Estimated without negatives"] = estimates_table(model)
        tables["What the top of the ranking holds"] = top_table(evidence.top, with_points=points)
    if model.parts:
        tables["Methods that were combined"] = parts_table(model)
    findings = () if evidence is None else evidence.findings
    return {
        "path": path,
        "story": [each.striptags() for each in told],
        "why_no_estimate": "" if evidence is not None else teller.plain(why_no_estimate(source)),
        "tables": {title: _plain(each) for title, each in tables.items()},
        "findings": [
            {"level": each.level, "message": teller.plain(each.message)} for each in findings if each.level != "good"
        ],
        "not_seen": NOT_SEEN_FROM_INSIDE if evidence is not None else "",
        "notes": notes,
        "n_rows": source.n_rows,
        "n_labeled": source.n_labeled,
        "names": names,
        "label": source.label,
        "confidence": source.confidence,
        "shows_points": evidence is None or evidence.estimate.shows_points,
    }


def _plain(table: Table) -> dict[str, Any]:
    return {"header": list(table.header), "rows": [list(each) for each in table.rows]}
