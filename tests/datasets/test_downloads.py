"""Downloads, from a server that each test starts on this machine; nothing else is ever asked."""

import hashlib
import sys
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from unskew import datasets
from unskew.datasets import _download
from unskew.datasets._registry import _entries
from unskew.errors import DataMissing

CONTENT = np.random.RandomState(0).bytes(300_000)
MD5 = f"md5:{hashlib.md5(CONTENT).hexdigest()}"


class Handler(BaseHTTPRequestHandler):
    """Serves one file, with ranges or without, and may hang up in the middle of it."""

    def __init__(self, *arguments, server_state, **named):
        self.state = server_state
        super().__init__(*arguments, **named)

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.state["asked"].append(self.headers.get("Range"))
        error = self.state.pop("error", 404 if self.path != "/rows.bin" else None)
        if error:
            self.send_error(error)
            return
        content = self.state["content"]
        start = int(self.headers.get("Range", "bytes=0-")[6:-1]) if self.state["ranges"] else 0
        if start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        stop = self.state.pop("hang_up_after", len(content))
        self.wfile.write(content[start : start + stop])


@pytest.fixture
def server(monkeypatch):
    """A server on this machine; what it is asked for is in `asked`."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    state = {"asked": [], "content": CONTENT, "ranges": True}
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
    monkeypatch.setattr(_download, "_BLOCK", 50_000)
    return tmp_path / "unskew"


def register(server, checksum=MD5, name="rows.bin"):
    file = datasets.PublishedFile(f"far/{name}", server["address"] + name, checksum)

    @datasets.dataset("far", files=(file,))
    def read(path):
        rows = np.frombuffer(path.read_bytes(), np.uint8)[:, None]
        return datasets.by_class(rows, rows[:, 0] % 2, positive=(1,), favored=(1,))


def folder_content(cache):
    return sorted(path.name for path in (cache / "far").iterdir())


@pytest.mark.parametrize("checksum", [MD5, None])
def test_a_missing_file_is_downloaded_once(server, cache, checksum, capfd):
    register(server, checksum)
    assert not datasets.describe("far").present
    assert datasets.load("far").X.shape == (300_000, 1)
    assert datasets.fetch("far") == (cache / "far" / "rows.bin",)
    assert (cache / "far" / "rows.bin").read_bytes() == CONTENT
    assert folder_content(cache) == ["rows.bin"]
    assert len(server["asked"]) == 1
    assert datasets.describe("far").present
    assert capfd.readouterr() == ("", "")  # no terminal, no bar


def test_nothing_is_downloaded_into_the_users_own_folder(server, cache, tmp_path, monkeypatch):
    register(server)
    monkeypatch.setenv("UNSKEW_DATA", str(tmp_path / "mine"))
    for ask in (datasets.load, datasets.fetch):
        with pytest.raises(DataMissing, match=r"far/rows.bin is wanted.*UNSKEW_DATA is set, so nothing is downloaded"):
            ask("far")
    assert not server["asked"]
    assert not (tmp_path / "mine").exists()


def test_an_interrupted_download_goes_on_where_it_stopped(server, cache):
    register(server)
    server["hang_up_after"] = 120_000
    with pytest.raises(DataMissing, match=r"rows.bin is wanted, .* its download failed .*put it there"):
        datasets.fetch("far")
    assert folder_content(cache) == ["rows.bin.part"]
    kept = (cache / "far" / "rows.bin.part").stat().st_size
    assert 0 < kept <= 120_000
    datasets.fetch("far")
    assert server["asked"] == [None, f"bytes={kept}-"]
    assert (cache / "far" / "rows.bin").read_bytes() == CONTENT
    assert folder_content(cache) == ["rows.bin"]


def test_a_server_in_trouble_does_not_cost_what_is_there(server, cache):
    register(server)
    (cache / "far").mkdir(parents=True)
    (cache / "far" / "rows.bin.part").write_bytes(CONTENT[:1000])
    server["error"] = 503
    with pytest.raises(DataMissing, match=r"its download failed \(503"):
        datasets.fetch("far")
    datasets.fetch("far")
    assert server["asked"] == ["bytes=1000-", "bytes=1000-"]
    assert (cache / "far" / "rows.bin").read_bytes() == CONTENT


def test_a_server_without_ranges_sends_everything_again(server, cache):
    register(server)
    server.update(ranges=False, hang_up_after=120_000)
    with pytest.raises(DataMissing, match="its download failed"):
        datasets.fetch("far")
    datasets.fetch("far")
    assert (cache / "far" / "rows.bin").read_bytes() == CONTENT


def test_a_part_that_is_longer_than_the_file_is_begun_anew(server, cache):
    register(server)
    (cache / "far").mkdir(parents=True)
    (cache / "far" / "rows.bin.part").write_bytes(CONTENT + b"more")
    datasets.fetch("far")
    assert server["asked"] == ["bytes=300004-", None]
    assert (cache / "far" / "rows.bin").read_bytes() == CONTENT


def test_a_file_with_another_checksum_is_told_and_removed(server, cache):
    register(server)
    server["content"] = CONTENT[:-1] + bytes([CONTENT[-1] ^ 1])
    with pytest.raises(
        DataMissing, match=r"rows.bin.* was removed, because it is not what was published: .*md5"
    ) as info:
        datasets.fetch("far")
    assert MD5.removeprefix("md5:") in str(info.value)
    assert folder_content(cache) == []
    server["content"] = CONTENT
    datasets.fetch("far")  # the wrong bytes are not gone on from
    assert (cache / "far" / "rows.bin").read_bytes() == CONTENT


def test_a_part_of_another_file_is_noticed_by_the_checksum(server, cache):
    register(server)
    (cache / "far").mkdir(parents=True)
    (cache / "far" / "rows.bin.part").write_bytes(b"of another file")
    with pytest.raises(DataMissing, match="was removed"):
        datasets.fetch("far")
    datasets.fetch("far")
    assert (cache / "far" / "rows.bin").read_bytes() == CONTENT


def test_an_address_that_has_nothing_is_told(server, cache):
    register(server, name="moved.bin")
    with pytest.raises(
        DataMissing, match=r"far/moved.bin is wanted, .* its download failed \(404 .*published at http://127"
    ):
        datasets.load("far")
    assert folder_content(cache) == []


def test_a_server_that_is_not_there_is_told(cache):
    register({"address": "http://127.0.0.1:9/"})
    with pytest.raises(DataMissing, match=r"far/rows.bin is wanted, .* its download failed"):
        datasets.load("far")


def test_without_pooch_the_error_says_what_to_install(server, cache, monkeypatch):
    register(server)
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DataMissing, match=r"far/rows.bin is wanted, .*pip install 'unskew\[data\]'.*put it there"):
        datasets.load("far")
    assert not server["asked"]


def test_two_at_once_download_once(server, cache):
    register(server)
    threads = [threading.Thread(target=datasets.fetch, args=("far",)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server["asked"]) == 1
    assert (cache / "far" / "rows.bin").read_bytes() == CONTENT


def test_addresses_and_checksums_of_the_papers_sets():
    told = {file.address: file.checksum for name in datasets.names() for file in datasets.describe(name).files}
    with_checksum = [address for address, checksum in told.items() if checksum]
    assert len(with_checksum) == 11  # four of MNIST, four of Fashion-MNIST, two of SVHN, one of CIFAR-10
    assert all(len(told[address]) == len("md5:") + 32 for address in with_checksum)
    assert told["https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"] == "md5:c32a1d4ab5d03f1284b67883e8d87530"
