"""The command line. A command does no work of its own, and nothing heavy is loaded before one is chosen."""

import io
import signal
import sys
from types import FrameType
from typing import NoReturn

from unskew._support.memory import without_module
from unskew._support.notes import failure
from unskew.cli._app import app, warn

# isort: off
# Commands are listed by `unskew --help` in this order, which is that of the work.
from unskew.cli import _trying, _fitting, _scoring, _judging, _checking, _watching, _studio, _about, _experiments  # noqa: F401
# isort: on

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line; whatever goes wrong is reported in one message.

    Exit code 2: the request or the data are wrong. Exit code 1: a run failed (training diverged, memory or disk full).
    """
    signal.signal(signal.SIGTERM, _leave)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a name that a terminal cannot show is no reason to fail
    try:
        with without_module("pandas"):
            app()
    except Exception as error:
        found = failure(error)
        if found is None:
            raise
        warn(f"error: {found[0]}")
        sys.exit(found[1])


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    """End with the signal's own exit code, but by an exception, so that half-written files are removed."""
    raise SystemExit(128 + number)
