"""A visitor of the studio: in this process, or over the network as a browser would be."""

import contextlib
import io
import os
import re
import subprocess
import sys
import threading
import time
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import polars as pl

from made_up_claims import write_claims
from unskew.studio.server import listen, server_of
from unskew.studio.site import Site
from unskew.studio.store import Store
from unskew.studio.tasks import Tasks
from unskew.studio.work import work_on

TOKEN = "token-of-the-address"
PATIENCE = 180.0


class AtOnce(Tasks):
    """Does tasks in this process, as soon as they are started: without the seconds that loading torch takes."""

    def _launch(self, folder: Path) -> None:
        work_on(folder)


def make_site(folder: Path, most_upload: int = 1 << 20, tasks: Tasks | None = None) -> Site:
    """A studio of this folder, which starts no server."""
    return Site(Store(folder).open(), tasks or Tasks(), TOKEN, most_upload)


class Visitor:
    """Someone who opened the address; sends forms as our pages do."""

    def __init__(self, client: httpx.Client, token: str = TOKEN) -> None:
        self.client = client
        self.base = str(client.base_url).rstrip("/")
        self.get(f"/?token={token}")
        self.form_token = re.search(r'name="form_token" value="(\w+)"', self.get("/").text)[1]

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.client.get(path, **more)

    def post(self, path: str, fields: dict[str, Any] | None = None, **more: Any) -> httpx.Response:
        data = {"form_token": self.form_token, **(fields or {})}
        headers = {"Origin": self.base, **more.pop("headers", {})}
        return self.client.post(path, data=data, headers=headers, **more)

    def upload(self, name: str, content: bytes) -> httpx.Response:
        return self.post("/tables", files={"file": (name, content)})

    def add(self, name: str = "claims.csv", content: bytes | None = None) -> str:
        """Add a table; gives its address."""
        answer = self.upload(name, write_claims() if content is None else content)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"].removesuffix("/columns")


@contextlib.contextmanager
def studio_thread(folder: Path, most_upload: int = 1 << 20, tasks: Tasks | None = None):
    """A studio in a thread of this process; gives a client that knows no token."""
    site, listening = make_site(folder, most_upload, tasks), listen(0)
    port = listening.getsockname()[1]
    server = server_of(site, port)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join()
        site.store.close()


@contextlib.contextmanager
def visiting(folder: Path, most_upload: int = 1 << 20, tasks: Tasks | None = None):
    """Someone who opened the address of a studio in a thread of this process."""
    with studio_thread(folder, most_upload, tasks) as client:
        yield Visitor(client)


@contextlib.contextmanager
def serving(folder: Path, *options: str):
    """A studio in a process of its own; gives its process and the address that it printed."""
    command = [sys.executable, "-m", "unskew", "studio", "--folder", str(folder), "--no-open", *options]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        line = process.stdout.readline()
        assert "token=" in line, process.stderr.read()
        yield process, line.split()[-1]
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()
        process.stderr.close()


def text_of(page):
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page.text))).replace("\N{NO-BREAK SPACE}", " ")


def wait_for(visitor, place):
    """Wait until a task has ended; gives its state and the page that the task leads to."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = visitor.get(f"{place}/progress").json()
        if found["state"] != "running":
            return found["state"], visitor.client.get(place, follow_redirects=True)
        time.sleep(0.1)
    raise TimeoutError(found)


def train(visitor, table, method="conf-reg", revision=0):
    """Train with the columns as they were guessed, without the truth; gives the address of the task."""
    answer = visitor.post(f"{table}/columns", {"revision": revision, "then": "train", **columns_form(method)})
    assert answer.status_code == 303, text_of(answer)
    return answer.headers["location"]


def columns_form(method):
    """Fields of the page of the columns, as `train` sends them."""
    return {"method": method, **{f"use-{place}": use for place, use in enumerate(USES)}}


USES = ["name", "automatic", "categorical", "automatic", "label", "confidence", "unused"]


def mark(visitor, table, row, answer, confidence=""):
    fields = {"row": row, "answer": answer, "confidence": confidence}
    return visitor.post(f"{table}/marks", fields, headers={"Accept": "application/json"})


def listed(visitor, table, **query):
    """Rows of the list as the CSV file has them."""
    return pl.read_csv(io.BytesIO(visitor.get(f"{table}/list.csv", params=query).content))
