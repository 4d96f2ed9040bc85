"""The start page: add a table, take an example, go on with a table that is there."""

import tempfile
from contextlib import suppress
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from unskew._support.text import shown
from unskew.errors import closest_name
from unskew.studio.choices import CONFIDENCE, LABEL, NAME, UNUSED
from unskew.studio.forms import Form
from unskew.studio.site import Site, address, see
from unskew.studio.store import NotThere
from unskew.tables import READABLE_ENDINGS

EXAMPLES = {
    "claims": (
        "Made-up insurance claims, some of them fraud",
        {LABEL: ["known_fraud"], CONFIDENCE: ["risk"], NAME: ["claim_id"], UNUSED: ["fraud"]},
    ),
    "payments": (
        "Made-up card payments, some of them fraud",
        {LABEL: ["noticed"], CONFIDENCE: ["risk"], NAME: ["payment_id"], UNUSED: ["fraud"]},
    ),
    "digits": (
        "Pictures of digits as a table; positive are the odd ones",
        {LABEL: ["known"], CONFIDENCE: ["confidence"], NAME: ["image"], UNUSED: ["odd"]},
    ),
}
"""Examples that need no download: what they are, and what their columns are used for."""


def start(site: Site, _request: Request) -> Response:
    """The start page."""
    return start_page(site)


def start_page(site: Site, error: str = "", status: int = 200) -> Response:
    """The start page, with what went wrong."""
    tables = []
    for table in site.store.tables():
        with suppress(NotThere):  # another tab may be deleting it
            tables.append((table, table.about, site.tasks.running(table), site.model(table)))
    return site.render(
        "start.html",
        status=status,
        error=error,
        tables=tables,
        examples={name: text for name, (text, _) in EXAMPLES.items()},
        endings=",".join(READABLE_ENDINGS),
        most_upload=site.most_upload,
    )


def add_file(site: Site, file: Path, name: str) -> Response:
    """Add a file that was uploaded."""
    try:
        table = site.store.add(file, name)
    except ValueError as error:
        return start_page(site, str(error), 422)
    finally:
        file.unlink(missing_ok=True)
    return see(address(table, "columns"))


def add_example(site: Site, _request: Request, form: Form) -> Response:
    """Write an example into the folder, as a table whose columns are known."""
    from unskew.practice.examples import write_example

    name = form["name"]
    if name not in EXAMPLES:
        raise ValueError(f"there is no example {shown(name)}.{closest_name(name, EXAMPLES)} Choose one of the page.")
    with tempfile.TemporaryDirectory(dir=site.store.uploads) as folder:
        first = write_example(name, Path(folder))[0]
        table = site.store.add(first, first.name, EXAMPLES[name][1])
    return see(address(table, "columns"))


def delete(site: Site, request: Request, _form: Form) -> Response:
    """Forget a table with its models."""
    table = site.table(request)
    if running := site.tasks.running(table):
        site.tasks.stop(running)
    site.store.delete(table)
    return see("/")
