"""Memory that was freed, but that allocators keep for later: given back to the system.

A table of gigabytes is read in small parts, each of which is freed soon. Without this the process would stay as large
as the parts were together with what they left behind, on top of which comes the memory of the fit.
"""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.abc import MetaPathFinder
from typing import Any

OF_POLARS = "_RJEM_MALLOC_CONF"
"""Environment variable that the allocator of polars reads when polars is imported."""
AT_ONCE = "dirty_decay_ms:0,muzzy_decay_ms:0"
M_MMAP_THRESHOLD = -3  # as in malloc.h
LARGE = 4 << 20
"""Bytes of an array that has pages of its own, which go back to the system with it."""


def keep_little() -> None:
    """Let the allocators of this process keep little of what is freed.

    For programs, not for a library: it holds for the whole process. polars follows if it has not been imported.
    """
    if "polars" not in sys.modules:
        # What the user set comes last, and so counts.
        os.environ[OF_POLARS] = ",".join(filter(None, (AT_ONCE, os.environ.get(OF_POLARS))))
    set_option = getattr(_c_library(), "mallopt", None)
    if set_option is not None:  # else the threshold grows to 32 MB, and arrays below leave gaps behind
        set_option(M_MMAP_THRESHOLD, LARGE)


@contextmanager
def without_module(name: str) -> Iterator[None]:
    """Inside the block a module that is not loaded yet counts as not installed.

    For programs: scikit-learn loads pandas wherever it is installed, 40 MB, and uses it for data frames alone.
    """
    finder = _NotInstalled(name)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _NotInstalled(MetaPathFinder):
    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(self, name: str, *_: Any) -> None:
        """Find nothing, and keep others from finding this module; see `importlib.abc.MetaPathFinder`."""
        if name == self._name:
            raise ModuleNotFoundError(f"No module named {name!r}, because this program does without it", name=name)


def give_back() -> None:
    """Give pages that hold nothing any more back to the system, where the C library can."""
    trim = getattr(_c_library(), "malloc_trim", None)
    if trim is not None:
        trim(0)


@cache
def _c_library() -> Any:
    """The C library; None where there is no glibc, because options of others mean something else."""
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "gnu_get_libc_version") else None
