"""What all pages share: the folder, the tasks, the tokens, and how a page is made."""

import json
import time
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from unskew.practice.report.page import environment
from unskew.studio.choices import Choices
from unskew.studio.marks import Marks, MarksRecord, counts
from unskew.studio.security import FORM_TOKEN, form_token
from unskew.studio.store import Store, Table
from unskew.studio.tasks import Job, Task, Tasks, What

NOT_TRAINED = "there is no model of this table yet. Choose its columns, and train."


@dataclass(frozen=True)
class Site:
    """The studio as its pages see it.

    Attributes
    ----------
    token : str
        Who has it may see the pages.
    most_upload : int
        Bytes of the largest file that can be added.
    """

    store: Store
    tasks: Tasks
    token: str
    most_upload: int

    def table(self, request: Request) -> Table:
        """The table that an address is about."""
        return self.store.table(request.path_params["key"])

    def render(self, template: str, *, status: int = 200, **content: Any) -> HTMLResponse:
        """A page."""
        token = form_token(self.token)
        field = Markup('<input type="hidden" name="{}" value="{}">').format(FORM_TOKEN, token)
        text = environment("unskew.studio").get_template(template).render(content, form_field=field)
        return HTMLResponse(text, status)

    def table_page(self, template: str, table: Table, *, status: int = 200, **content: Any) -> HTMLResponse:
        """A page about a table, with the links to the others."""
        model = content.pop("model", None) or self.model(table)
        return self.render(
            template,
            status=status,
            **{
                "table": table,
                "about": table.about,
                "model": model,
                "running": self.tasks.running(table),
                "checked": counts(table.marks),
                **content,
            },
        )

    def model(self, table: Table, number: str = "") -> Task | None:
        """The model with this number, or the last one that was trained; None if there is none."""
        trained = [each for each in self.tasks.of(table) if each.job.what == "train" and self._is_done(each)]
        if number:
            return next((each for each in trained if str(each.number) == number), None)
        return next(iter(trained), None)

    def need_model(self, request: Request, table: Table, number: str | None = None) -> Task:
        """The model that an address or a form names, or the last one."""
        found = self.model(table, request.query_params.get("model", "") if number is None else number)
        if found is None:
            raise ValueError(NOT_TRAINED)
        return found

    def last(self, table: Table, what: What, model: Task) -> Task | None:
        """The last task of a kind that was done with a model."""
        found = (each for each in self.tasks.of(table) if each.job.what == what and each.job.model == model.number)
        return next((each for each in found if self._is_done(each)), None)

    def start_with(self, table: Table, model: Task, what: What, **more: Any) -> Task:
        """Begin a task with a model and its table."""
        result, job = model.result(), model.job
        path = table.folder / result["path"]
        files = more.pop("files", None)
        begun = Job(
            what, str(path), time.time(), names=job.names, model=model.number,
            n_unlabeled=result["n_rows"] - result["n_labeled"], **more,
        )  # fmt: skip
        return self.tasks.start(table, begun, files)

    def marks_file(self, table: Table) -> bytes:
        """Marks as they are now, for a task."""
        return json.dumps(asdict(MarksRecord.of(table.marks)), allow_nan=False).encode()

    def _is_done(self, task: Task) -> bool:
        return self.tasks.state(task) == "done"


def job_to_train(table: Table, choices: Choices) -> Job:
    """What to do to train with the choices of a table; the label must have been chosen."""
    return Job(
        "train",
        str(table.path),
        time.time(),
        label=choices.label or "",
        confidence=choices.confidence,
        names=tuple(choices.names),
        excluded=tuple(choices.excluded),
        kinds=choices.kinds,
        method=choices.method,
        blank_is_unlabeled=choices.blank_is_unlabeled,
    )


def can_be_added(marks: Marks) -> int:
    """How many checked rows become labels when a model is trained again: those with a confidence."""
    return sum(each.confidence is not None for each in marks.values())


def see(address: str) -> Response:
    """Show another page after a form was sent, so that to load it again sends nothing twice."""
    return RedirectResponse(address, 303)


def address(table: Table, place: str = "", /, **query: Any) -> str:
    """Address of a page about a table; what is empty is left out of the query."""
    given = {name: value for name, value in query.items() if value not in (None, "", False)}
    return f"/tables/{table.key}/{place}" + (f"?{urlencode(given)}" if given else "")


def wants_json(request: Request) -> bool:
    """Whether a script of ours asks, instead of the browser itself."""
    return "application/json" in request.headers.get("accept", "")
