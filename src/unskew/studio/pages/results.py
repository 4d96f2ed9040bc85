"""Tasks while they run, and what came out of training: the result, the report, the model file."""

from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response

from unskew._support.text import duration
from unskew.studio.forms import Form
from unskew.studio.security import policy_of
from unskew.studio.site import Site, address, can_be_added, see
from unskew.studio.store import NotThere, Table
from unskew.studio.tasks import Task

TITLES = {
    "train": "Training",
    "suggest": "Choosing rows to label",
    "draw": "Drawing rows for an audit",
    "judge": "Estimating from the checked rows",
}


def table_start(site: Site, request: Request) -> Response:
    """Where to go on with a table."""
    table = site.table(request)
    if running := site.tasks.running(table):
        return see(address(table, f"tasks/{running.number}"))
    return see(address(table, "result" if site.model(table) else "columns"))


def task_page(site: Site, request: Request) -> Response:
    """A task that runs, or why it did not end well; one that is done shows its result."""
    table = site.table(request)
    task = site.tasks.get(table, request.path_params["number"])
    state, what = site.tasks.state(task), task.job.what
    if state == "done":
        if what == "train":
            return see(address(table, "result", model=task.number))
        page = "suggest" if what == "suggest" else "audit"
        return see(address(table, page, model=task.job.model))
    return site.table_page(
        "task.html", table, task=task, title=TITLES[what], state=state, progress=task.progress(), end=task.end
    )


def progress(site: Site, request: Request) -> Response:
    """How far a task has come, for the script of the page."""
    table = site.table(request)
    task = site.tasks.get(table, request.path_params["number"])
    return JSONResponse({"state": site.tasks.state(task), **task.progress()})


def stop(site: Site, request: Request, _form: Form) -> Response:
    """Stop a task."""
    table = site.table(request)
    task = site.tasks.get(table, request.path_params["number"])
    site.tasks.stop(task)
    return see(address(table, f"tasks/{task.number}"))


def result(site: Site, request: Request) -> Response:
    """What came out of training."""
    table = site.table(request)
    model = site.need_model(request, table)
    return site.table_page(
        "result.html",
        table,
        model=model,
        result=model.result(),
        told_before=model.progress()["messages"],
        seconds=duration(model.end.seconds if model.end else 0.0),
        others=[_line(site, each) for each in site.tasks.of(table) if each.job.what == "train"],
        n_added=can_be_added(table.marks),
    )


def _line(site: Site, task: Task) -> dict[str, Any]:
    """A training in the list of all of a table."""
    return {"task": task, "job": task.job, "state": site.tasks.state(task)}


def report(site: Site, request: Request) -> Response:
    """The page that `unskew report` writes, under its own rules for its own style and script."""
    text = _file_of(site, request, "report.html").read_text("utf-8")
    return HTMLResponse(text, headers={"Content-Security-Policy": policy_of(text)})


def model_file(site: Site, request: Request) -> Response:
    """The model file, for the commands."""
    table = site.table(request)
    name = f"{table.path.name.partition('.')[0]}.unskew"
    return FileResponse(_file_of(site, request, "model.unskew"), filename=name, media_type="application/octet-stream")


def _file_of(site: Site, request: Request, name: str) -> Any:
    table: Table = site.table(request)
    path = site.tasks.get(table, request.path_params["number"]).folder / name
    if not path.exists():
        raise NotThere("this task has no such file: it was stopped, or is still running.")
    return path
