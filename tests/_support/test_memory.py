"""Freed memory goes back to the system, and what the user set for an allocator counts."""

import os
import platform
import subprocess
import sys

import pytest

from unskew._support.memory import OF_POLARS, give_back, keep_little, without_module

ONLY_GLIBC = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries cannot be asked to")
HOLES = """
from pathlib import Path
from unskew._support.memory import give_back
held = lambda: int(Path("/proc/self/statm").read_text().split()[1])
parts = [bytes(60_000) + b"." for _ in range(2_000)]
kept = parts[::50]
parts.clear()
before = held()
give_back()
print((before - held()) * 4096)
"""


@ONLY_GLIBC
def test_pages_between_what_is_still_held_go_back() -> None:
    found = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True, check=True)
    assert int(found.stdout) > 50_000_000  # of 120 MB


def test_what_the_user_set_for_polars_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "polars", raising=False)
    monkeypatch.setenv(OF_POLARS, "dirty_decay_ms:7")
    monkeypatch.setattr("unskew._support.memory._c_library", lambda: None)
    keep_little()
    assert os.environ[OF_POLARS].endswith(",dirty_decay_ms:7")


def test_other_c_libraries_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unskew._support.memory._c_library", lambda: None)
    monkeypatch.setitem(sys.modules, "polars", sys)
    monkeypatch.delenv(OF_POLARS, raising=False)
    give_back()
    keep_little()
    assert OF_POLARS not in os.environ


def test_a_module_is_left_out_inside_the_block_alone(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_module_to_leave_out.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    with without_module("some_module_to_leave_out"):
        import json.tool  # noqa: F401  # others are found

        with pytest.raises(ModuleNotFoundError, match="some_module_to_leave_out"):
            import some_module_to_leave_out
    import some_module_to_leave_out  # noqa: F401
