"""The ranked list: searched, sorted, downloaded; and marks on its rows."""

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from unskew.studio.forms import Form
from unskew.studio.lists import LIST, SHOW, as_csv, columns_of, part_of
from unskew.studio.lists import Request as Wanted
from unskew.studio.marks import counts, parse_mark
from unskew.studio.site import Site, address, can_be_added, see, wants_json
from unskew.studio.store import Table


def ranked(site: Site, request: Request) -> Response:
    """One page of the list."""
    table = site.table(request)
    model = site.need_model(request, table)
    wanted, path = _wanted(request), model.folder / LIST
    columns = columns_of(path)
    part = part_of(path, wanted, table.marks)
    query = {"model": model.number, "search": wanted.search, "show": wanted.show, "sort": wanted.sort}
    query |= {"down": "1" if wanted.down else ""}
    return site.table_page(
        "list.html",
        table,
        model=model,
        result=model.result(),
        part=part,
        wanted=wanted,
        show=SHOW,
        columns=columns,
        links={number: address(table, "list", **query, page=number) for number in _near(part.page, part.n_pages)},
        here=address(table, "list", **query, page=part.page),
        download=address(table, "list.csv", **query),
        n_added=can_be_added(table.marks),
    )


def download(site: Site, request: Request) -> Response:
    """The rows that are requested, all of them, as a CSV file."""
    table = site.table(request)
    model = site.need_model(request, table)
    rows = as_csv(model.folder / LIST, _wanted(request), table.marks, model.result()["names"])
    name = f"ranked_{table.path.name.partition('.')[0]}.csv"
    return StreamingResponse(rows, media_type="text/csv", headers={"Content-Disposition": _attachment(name)})


def mark(site: Site, request: Request, form: Form) -> Response:
    """Mark a row as checked, or take that back."""
    table = site.table(request)
    found = parse_mark(form["answer"], form["confidence"])
    if found is not None and found.positive and found.confidence is None and table.choices.confidence:
        raise ValueError(
            "a positive row must have a confidence, from 0 to 1, because the model learns from it, but there is none. "
            "Say how sure you are, as for your other labels."
        )
    marks = table.mark(form.number("row", "the row"), found)
    if wants_json(request):
        said = "" if found is None else "positive" if found.positive else "negative"
        return JSONResponse({**counts(marks), "answer": said, "can_be_added": can_be_added(marks)})
    return see(_back(table, form["back"]))


def _wanted(request: Request) -> Wanted:
    query = request.query_params
    page = query.get("page", "1")
    if not page.isdecimal() or len(page) > 9:
        raise ValueError("there is no such page of the list. Go back to the list, and choose again.")
    return Wanted(
        search=query.get("search", "").strip()[:200],
        show=query.get("show", "open"),
        sort=query.get("sort", "rank"),
        down=query.get("down") == "1",
        page=max(1, int(page)),
    )


def _near(page: int, n_pages: int) -> list[int]:
    """Pages to link to: the first, the last, and those around this one."""
    return [each for each in range(1, n_pages + 1) if each in (1, n_pages) or abs(each - page) <= 2]


def _back(table: Table, given: str) -> str:
    """The page that a form was on, if it is one about this table."""
    start = f"/tables/{table.key}/"
    own = given.startswith(start) and ".." not in given and "\\" not in given and given.isprintable()
    return given if own else f"{start}list"


def _attachment(name: str) -> str:
    return f"attachment; filename*=utf-8''{quote(name)}"
