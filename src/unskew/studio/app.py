"""The studio put together: which address leads to which page, and what a page says when something is wrong."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from unskew._support.notes import failure
from unskew.studio.forms import Form, NotOurForm, read_form, read_upload
from unskew.studio.pages import checks, columns, ranking, results, start
from unskew.studio.security import Guard, TooLarge, form_token
from unskew.studio.site import Site, wants_json
from unskew.studio.store import NotThere, Outdated

ROOM_FOR_FORM = 64 << 10
"""Bytes of an upload besides the file."""
TABLE = "/tables/{key}"
SHOWN: dict[str, Callable[[Site, Request], Response]] = {
    "/": start.start,
    TABLE: results.table_start,
    TABLE + "/columns": columns.columns,
    TABLE + "/tasks/{number:int}": results.task_page,
    TABLE + "/tasks/{number:int}/progress": results.progress,
    TABLE + "/tasks/{number:int}/report": results.report,
    TABLE + "/tasks/{number:int}/model": results.model_file,
    TABLE + "/result": results.result,
    TABLE + "/list": ranking.ranked,
    TABLE + "/list.csv": ranking.download,
    TABLE + "/suggest": checks.suggested,
    TABLE + "/audit": checks.audited,
}
SENT: dict[str, Callable[[Site, Request, Form], Response]] = {
    "/examples": start.add_example,
    TABLE + "/delete": start.delete,
    TABLE + "/columns": columns.save,
    TABLE + "/tasks/{number:int}/stop": results.stop,
    TABLE + "/marks": ranking.mark,
    TABLE + "/suggest": checks.suggest,
    TABLE + "/draw": checks.draw,
    TABLE + "/judge": checks.judge,
    TABLE + "/retrain": checks.retrain,
}
STATUSES: dict[type[Exception], int] = {
    NotThere: 404,
    Outdated: 409,
    BlockingIOError: 409,
    NotOurForm: 403,
    TooLarge: 413,
}
STATIC = {
    "page.css": ("unskew.practice.report", "templates/page.css", "text/css"),
    "studio.css": ("unskew.studio", "static/studio.css", "text/css"),
    "studio.js": ("unskew.studio", "static/studio.js", "text/javascript"),
}


def make_app(site: Site, port: int) -> Guard:
    """The application for a server on this port of this machine."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(site.tasks.stop_all)

    routes = [
        *(Route(path, _shown(site, page)) for path, page in SHOWN.items()),
        *(Route(path, _sent(site, page), methods=["POST"]) for path, page in SENT.items()),
        Route("/tables", partial(_upload, site), methods=["POST"]),
        Route("/static/{name}", _static),
    ]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={Exception: partial(_failed, site)})
    for kind in (TooLarge, ValueError, LookupError, OSError, ArithmeticError, MemoryError, 404, 405):
        app.add_exception_handler(kind, partial(_failed, site))
    return Guard(app, site.token, port, {"/tables": site.most_upload + ROOM_FOR_FORM})


def _shown(site: Site, page: Callable[[Site, Request], Response]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(page, site, request)

    return endpoint


def _sent(site: Site, page: Callable[[Site, Request, Form], Response]) -> Callable[[Request], Awaitable[Response]]:
    """Nothing is changed before the token of the form was looked at."""

    async def endpoint(request: Request) -> Response:
        form = await read_form(request, form_token(site.token))
        return await run_in_threadpool(page, site, request, form)

    return endpoint


async def _upload(site: Site, request: Request) -> Response:
    file, name = await read_upload(request, site.store.uploads, form_token(site.token))
    return await run_in_threadpool(start.add_file, site, file, name)


async def _static(request: Request) -> Response:
    found = STATIC.get(request.path_params["name"])
    if found is None:
        raise NotThere("there is no such file.")
    package, path, kind = found
    content = resources.files(package).joinpath(*path.split("/")).read_bytes()
    return Response(content, media_type=kind)


async def _failed(site: Site, request: Request, error: Any) -> Response:
    """What went wrong, in words; as JSON for our scripts."""
    status, text = _status_and_text(error)
    if wants_json(request):
        return JSONResponse({"error": text}, status)
    key = request.path_params.get("key")
    return await run_in_threadpool(
        site.render, "message.html", status=status, text=text, back=f"/tables/{key}" if key and status != 404 else "/"
    )


def _status_and_text(error: Any) -> tuple[int, str]:
    kinds: list[tuple[Any, int]] = [
        (NotThere, 404),
        (Outdated, 409),
        (BlockingIOError, 409),
        (NotOurForm, 403),
        (TooLarge, 413),
    ]
    for kind, status in kinds:
        if isinstance(error, kind):
            return status, str(error)
    if isinstance(error, HTTPException):
        return error.status_code, "there is no such page."
    found = failure(error)
    if found is None:
        return 500, "something went wrong that is a fault of unskew. The terminal has the details."
    return 422 if found[1] == 2 else 507, found[0]
