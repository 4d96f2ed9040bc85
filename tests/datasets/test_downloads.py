"""Downloads, from a server that each test starts on this machine; no other address is used."""

import hashlib
import logging
import sys
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from filelock import FileLock

from unskew import datasets
from unskew.datasets import _files
from unskew.datasets._registry import _entries
from unskew.errors import DataMissing

CONTENT = np.random.RandomState(0).bytes(300_000)
MD5 = f"md5:{hashlib.md5(CONTENT).hexdigest()}"


class Handler(BaseHTTPRequestHandler):
    """Serves one file, and may answer with an error or hang up in the middle of it."""

    def __init__(self, *arguments, server_state, **named):
        self.state = server_state
        super().__init__(*arguments, **named)

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.state["requests"] += 1
        error = self.state["errors"].pop(0) if self.state["errors"] else None
        if error or self.path != "/rows.bin":
            self.send_error(error or 404)
            return
        content = self.state["content"]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: self.state.pop("hang_up_after", len(content))])


@pytest.fixture
def server(monkeypatch):
    """A server on this machine, which counts requests."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    state = {"requests": 0, "errors": [], "content": CONTENT}
    running = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, server_state=state))
    thread = threading.Thread(target=running.serve_forever, args=(0.01,))
    thread.start()
    state["address"] = f"http://127.0.0.1:{running.server_port}/"
    yield state
    running.shutdown()
    thread.join()
    running.server_close()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder, and no folder of the user's own."""
    monkeypatch.delenv("UNSKEW_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("unskew.datasets._registry._entries", dict(_entries))
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # between two attempts
    monkeypatch.setattr(_files, "_MEGABYTE", 50_000)
    return tmp_path / "unskew"


def register(server, checksum=MD5, name="rows.bin"):
    file = datasets.PublishedFile(f"far/{name}", server["address"] + name, checksum)

    @datasets.dataset("far", files=(file,))
    def read(path):
        rows = np.frombuffer(path.read_bytes(), np.uint8)[:, None]
        return datasets.by_class(rows, rows[:, 0] % 2, positive=(1,), favored=(1,))


def folder_content(cache):
    return sorted(path.name for path in (cache / "far").iterdir() if path.suffix != ".lock")


@pytest.mark.parametrize("checksum", [MD5, None])
def test_a_missing_file_is_downloaded_once(server, cache, checksum, capfd):
    register(server, checksum)
    assert not datasets.describe("far").present
    assert datasets.load("far").X.shape == (300_000, 1)
    assert datasets.fetch("far") == (cache / "far" / "rows.bin",)
    assert (cache / "far" / "rows.bin").read_bytes() == CONTENT
    assert folder_content(cache) == ["rows.bin"]
    assert server["requests"] == 1
    assert datasets.describe("far").present
    assert capfd.readouterr() == ("", "")  # no terminal, no bar


def test_a_terminal_shows_how_much_is_there(server, cache, monkeypatch):
    steps = []

    class Bar:
        def __init__(self, title, total, shown):
            steps.append((title, total, shown))

        def __enter__(self):
            return lambda note="", n=1: steps.append(n)

        def __exit__(self, *_):
            steps.append("closed")

    monkeypatch.setattr(_files, "progress_bar", Bar)
    register(server)
    datasets.fetch("far")
    assert steps == [("rows.bin (MB)", 6, True), *[1] * 6, "closed"]


def test_nothing_is_downloaded_into_the_users_own_folder(server, cache, tmp_path, monkeypatch):
    register(server)
    monkeypatch.setenv("UNSKEW_DATA", str(tmp_path / "mine"))
    for get in (datasets.load, datasets.fetch):
        with pytest.raises(DataMissing, match=r"far/rows.bin is needed.*UNSKEW_DATA is set, so nothing is downloaded"):
            get("far")
    assert not server["requests"]
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize("checksum", [MD5, None])
def test_an_interrupted_transfer_is_tried_again(server, cache, checksum):
    register(server, checksum)
    server["hang_up_after"] = 120_000
    datasets.fetch("far")
    assert server["requests"] == 2
    assert (cache / "far" / "rows.bin").read_bytes() == CONTENT


def test_a_server_in_trouble_is_tried_again_and_then_reported(server, cache):
    register(server)
    server["errors"] = [503, 503]
    datasets.fetch("far")
    assert server["requests"] == 3
    (cache / "far" / "rows.bin").unlink()
    server["errors"] = [503] * 3
    with pytest.raises(DataMissing, match=r"rows.bin is needed, .* its download failed \(503 .*put it there"):
        datasets.fetch("far")
    assert folder_content(cache) == []


def test_a_file_with_another_checksum_is_removed(server, cache):
    register(server)
    server["content"] = CONTENT[:-1] + bytes([CONTENT[-1] ^ 1])
    with pytest.raises(
        DataMissing, match=r"rows.bin.* was removed, because it is not the published file: .*MD5"
    ) as info:
        datasets.fetch("far")
    assert MD5.removeprefix("md5:") in str(info.value)
    assert folder_content(cache) == []
    server["content"] = CONTENT
    datasets.fetch("far")
    assert (cache / "far" / "rows.bin").read_bytes() == CONTENT


def test_an_address_that_has_nothing_is_reported(server, cache):
    register(server, name="moved.bin")
    with pytest.raises(DataMissing, match=r"far/moved.bin is needed, .* failed \(404 .*Get it from http://127"):
        datasets.load("far")
    assert folder_content(cache) == []


def test_a_server_that_does_not_answer_is_reported(cache):
    register({"address": "http://127.0.0.1:9/"})
    with pytest.raises(DataMissing, match=r"far/rows.bin is needed, .* its download failed"):
        datasets.load("far")


def test_without_pooch_the_error_says_what_to_install(server, cache, monkeypatch):
    register(server)
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DataMissing, match=r"far/rows.bin is needed, .*pip install 'unskew\[data\]'.*put it there"):
        datasets.load("far")
    assert not server["requests"]


def test_several_at_once_download_once(server, cache):
    register(server)
    threads = [threading.Thread(target=datasets.fetch, args=("far",)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server["requests"] == 1
    assert (cache / "far" / "rows.bin").read_bytes() == CONTENT


def test_a_second_process_says_what_it_waits_for(server, cache, monkeypatch, caplog):
    register(server)
    monkeypatch.setattr(_files, "_QUIET_SECONDS", 0)
    (cache / "far").mkdir(parents=True)
    other = FileLock(cache / "far" / ".rows.bin.lock", thread_local=False)
    other.acquire()
    caplog.handler.emit = lambda record: (messages.append(record.getMessage()), other.release())
    messages = []
    with caplog.at_level(logging.WARNING):
        datasets.fetch("far")
    assert messages == [f"Another process is downloading {cache / 'far' / 'rows.bin'}; waiting for it."]
    assert (cache / "far" / "rows.bin").read_bytes() == CONTENT


UNKNOWN = {
    *(f"https://www.cdc.gov/brfss/annual_data/{year}/files/LLCP{year}XPT.zip" for year in (2015, 2017, 2019, 2021)),
    "https://raw.githubusercontent.com/jcpeterson/cifar-10h/597cbc5f07266c9405b830ee4a53463539124c4f/data/"
    "cifar10h-counts.npy",
}
"""Files whose checksum nobody publishes; docs/datasets.md says why."""


def test_addresses_and_checksums_of_the_papers_sets():
    checksums = {file.address: file.checksum for name in datasets.names() for file in datasets.describe(name).files}
    without = {address for address, checksum in checksums.items() if checksum is None}
    assert {address for address in without if "(" not in address} == UNKNOWN  # else a page and not a file
    lengths = {"md5": 32, "sha256": 64}
    for checksum in filter(None, checksums.values()):
        kind, _, digest = checksum.partition(":")
        assert len(digest) == lengths[kind]
    assert (
        checksums["https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"] == "md5:c32a1d4ab5d03f1284b67883e8d87530"
    )


@pytest.mark.parametrize("name", ["fmnist", "fmnist-h"])
def test_checksums_are_those_of_the_published_files(name, real_data):
    """Of those of the real files that are as published, bit for bit."""
    for file in datasets.describe(name).files:
        if not file.present:
            pytest.skip(f"the files of {name} are not among the real ones")
        kind, _, digest = file.checksum.partition(":")
        with open(file.path, "rb") as content:
            assert hashlib.file_digest(content, kind).hexdigest() == digest
