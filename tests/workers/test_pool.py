"""Without Ray: what users are told when it is missing or does not answer, and that nothing loads it before."""

import pickle
import socket
import subprocess
import sys

import pytest

from unskew.workers import pool

NOT_LOADED = """
import sys
import unskew, unskew.distributed, unskew.workers, unskew.practice.compare, unskew.paper.runner, unskew.metrics.crossval
from typer.testing import CliRunner
from unskew.cli import app
assert CliRunner().invoke(app, ["score", "--help"]).exit_code == 0
unskew.distributed.score
assert not [name for name in sys.modules if name.split(".")[0] == "ray"]
"""


def test_nothing_loads_ray_unless_workers_are_named():
    subprocess.run([sys.executable, "-c", NOT_LOADED], check=True)


def test_without_ray_one_message_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"--workers needs Ray\. Install it: pip install 'unskew\[ray\]'"):
        pool.connected("ray:2").__enter__()


def test_where_nothing_answers_one_message_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", type(sys)("ray"))
    sys.modules["ray"].is_initialized = lambda: False
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(ConnectionError, match=rf"ray://127\.0\.0\.1:{port} must be the address .* cannot be reached: "):
        pool.connected(f"ray://127.0.0.1:{port}").__enter__()


def test_tasks_of_a_worker_are_found_by_name():
    """Nothing but the standard library is needed before the function's own module is imported."""
    assert pool.Process().work(pickle.dumps(len), "four") == 4
