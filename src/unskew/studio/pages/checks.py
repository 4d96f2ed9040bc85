"""Rows to check: those to label next, those of an audit, and training again with what was found."""

import time
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from unskew.studio.forms import Form
from unskew.studio.lists import LIST, rows_of
from unskew.studio.site import Site, address, can_be_added, see
from unskew.studio.tasks import Task

N_SUGGESTED, N_DRAWN = 20, 100


def suggested(site: Site, request: Request) -> Response:
    """Rows to label next, with the reason for each."""
    table = site.table(request)
    model = site.need_model(request, table)
    task, marks = site.last(table, "suggest", model), table.marks
    found = {} if task is None else task.result()
    why = dict(zip(found.get("rows", []), found.get("why", []), strict=True))
    rows = rows_of(model.folder / LIST, list(why), marks)
    return site.table_page(
        "suggest.html",
        table,
        model=model,
        result=model.result(),
        found=found,
        rows=rows,
        why=why,
        n_rows=N_SUGGESTED,
        n_open=sum(each.mark is None for each in rows),
        here=address(table, "suggest", model=model.number),
        n_added=can_be_added(marks),
    )


def suggest(site: Site, request: Request, form: Form) -> Response:
    """Choose rows to label next."""
    table = site.table(request)
    model = site.need_model(request, table, form["model"])
    n_rows = form.number("rows", "the number of rows")
    return _see(site.start_with(table, model, "suggest", rows=n_rows, marked=tuple(table.marks)), table.key)


def audited(site: Site, request: Request) -> Response:
    """Rows that were drawn for an audit, and what it says once they have been checked."""
    table = site.table(request)
    model = site.need_model(request, table)
    drawn, marks = site.last(table, "draw", model), table.marks
    judged = site.last(table, "judge", model)
    if judged is not None and (drawn is None or judged.job.drawn != drawn.number):
        judged = None  # it is about an earlier draw
    found = {} if drawn is None else drawn.result()
    rows = rows_of(model.folder / LIST, found.get("rows", []), marks)
    result = model.result()
    return site.table_page(
        "audit.html",
        table,
        model=model,
        result=result,
        found=found,
        rows=rows,
        drawn=drawn,
        judged=None if judged is None else judged.result(),
        n_rows=min(N_DRAWN, result["n_rows"]),
        n_open=sum(each.mark is None for each in rows),
        here=address(table, "audit", model=model.number),
    )


def draw(site: Site, request: Request, form: Form) -> Response:
    """Draw rows for an audit."""
    table = site.table(request)
    model = site.need_model(request, table, form["model"])
    n_rows = form.number("rows", "the number of rows")
    return _see(site.start_with(table, model, "draw", rows=n_rows), table.key)


def judge(site: Site, request: Request, form: Form) -> Response:
    """Estimate from the rows of an audit how good the model is."""
    table = site.table(request)
    model = site.need_model(request, table, form["model"])
    drawn = site.last(table, "draw", model)
    if drawn is None:
        raise ValueError("rows must be drawn before an audit can say anything. Draw some.")
    missing = len(set(drawn.result()["rows"]) - set(table.marks))
    if missing:
        raise ValueError(
            f"every row that was drawn must be checked, but {missing:,} {'is' if missing == 1 else 'are'} not. Check "
            "them, too: rows that are hard to judge are not a random part."
        )
    files = {"marks.json": site.marks_file(table)}
    return _see(site.start_with(table, model, "judge", drawn=drawn.number, files=files), table.key)


def retrain(site: Site, request: Request, form: Form) -> Response:
    """Train once more as a model was, with the rows that were checked as more labels."""
    table = site.table(request)
    model = site.need_model(request, table, form["model"])
    marks = table.marks
    if model.job.confidence is None:
        raise ValueError(
            "a model must have been trained with a confidence column, which checked rows go into, but this one was "
            "not. Choose one on the page of the columns, and train again."
        )
    if not can_be_added(marks):
        raise ValueError(
            "some checked row must have a confidence, because the model learns from it, but none has. Mark rows as "
            "positive with how sure you are."
        )
    job = replace(model.job, table=str(table.path), began=time.time(), model=model.number, n_marks=can_be_added(marks))
    return _see(site.tasks.start(table, job, {"marks.json": site.marks_file(table)}), table.key)


def _see(task: Task, key: str) -> Response:
    return see(f"/tables/{key}/tasks/{task.number}")
