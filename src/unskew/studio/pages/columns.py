"""What each column is taken for, and what it is to be used for; from here training starts."""

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from unskew.studio.choices import KINDS, METHODS, USES, Choices
from unskew.studio.forms import Form
from unskew.studio.site import Site, address, can_be_added, job_to_train, see
from unskew.studio.store import Outdated, Table, without_folder
from unskew.studio.tasks import Task


def columns(site: Site, request: Request) -> Response:
    """Columns of a table with the choices that are kept."""
    table = site.table(request)
    return columns_page(site, table, table.choices, saved=request.query_params.get("saved") == "1")


def columns_page(
    site: Site, table: Table, choices: Choices, *, error: str = "", status: int = 200, saved: bool = False
) -> Response:
    """The page with these choices, and with what is wrong with them."""
    return site.table_page(
        "columns.html",
        table,
        status=status,
        choices=choices,
        uses=USES,
        kinds={**KINDS, "left out": "left out"},
        methods=METHODS,
        error=error,
        saved=saved,
        n_added=can_be_added(table.marks) if _model_for(site, table, choices) else 0,
    )


def save(site: Site, request: Request, form: Form) -> Response:
    """Keep choices, and train with them if that was the button."""
    table = site.table(request)
    before = table.choices
    uses = tuple(form[f"use-{place}"] for place in range(len(before.columns)))
    method, blank = form["method"], form["blank"] == "1"
    try:
        revision = form.number("revision", "the revision of the choices")
        choices = table.choose(uses, method, blank_is_unlabeled=blank, revision=revision)
        if form["then"] != "train":
            return see(address(table, "columns", saved=1))
        choices.check()
        task = _train(site, table, choices)
    except Outdated as error:
        return columns_page(site, table, table.choices, error=str(error), status=409)
    except ValueError as error:
        now = table.choices
        shown = now if now.revision != before.revision else _as_sent(before, uses, method, blank)
        message = without_folder(str(error), table.path.parent)
        return columns_page(site, table, shown, error=message, status=422)
    return see(address(table, f"tasks/{task.number}"))


def _train(site: Site, table: Table, choices: Choices) -> Task:
    """Begin to train, with the rows that were checked if there is a model of the same labels."""
    job, model, marks = job_to_train(table, choices), _model_for(site, table, choices), table.marks
    if model is None or not can_be_added(marks):
        return site.tasks.start(table, job)
    job = replace(job, model=model.number, n_marks=can_be_added(marks))
    return site.tasks.start(table, job, {"marks.json": site.marks_file(table)})


def _model_for(site: Site, table: Table, choices: Choices) -> Task | None:
    """A model with the same columns of labels and confidence, which checked rows can be added to."""
    model = site.model(table)
    if model is None or choices.confidence is None:
        return None
    same = (model.job.label, model.job.confidence) == (choices.label, choices.confidence)
    return model if same else None


def _as_sent(choices: Choices, uses: tuple[str, ...], method: str, blank: bool) -> Choices:
    """What was sent and could not be kept, as far as it can be shown."""
    if not set(uses) <= set(USES):
        return choices
    return replace(choices, uses=uses, method=method, blank_is_unlabeled=blank)
