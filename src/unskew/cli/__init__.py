"""The command line. A command does no work of its own, and nothing heavy is loaded before one is chosen."""

import errno
import io
import re
import signal
import sys
from types import FrameType
from typing import NoReturn

from unskew._support.memory import without_module
from unskew.cli._app import app, warn

# isort: off
# Commands are listed by `unskew --help` in this order, which is that of the work.
from unskew.cli import _trying, _fitting, _scoring, _judging, _checking, _watching, _about, _experiments  # noqa: F401
# isort: on

__all__ = ["app", "main"]

RAN_OUT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENOMEM)
OUT_OF_MEMORY = re.compile("can't allocate memory|out of memory", re.IGNORECASE)
TRIED = re.compile(r"tried to allocate [\d.]+ \w+", re.IGNORECASE)


def main() -> None:
    """Run the command line; whatever goes wrong is reported in one message.

    Exit code 2: the request or the data are wrong. Exit code 1: a run failed (training diverged, memory or disk full).
    """
    from unskew.errors import MissingExtra

    signal.signal(signal.SIGTERM, _leave)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a name that a terminal cannot show is no reason to fail
    try:
        with without_module("pandas"):
            app()
    except (MemoryError, RuntimeError) as error:
        # torch reports memory that ran out by an error of another kind
        if not (isinstance(error, MemoryError) or OUT_OF_MEMORY.search(str(error))):
            raise
        tried = TRIED.search(str(error)) or [str(error) or "no more could be allocated"]
        _end(f"there is not enough memory ({tried[0]}). Use fewer rows or columns, or a machine with more memory.", 1)
    except ArithmeticError as error:
        _end(str(error), 1)
    except OSError as error:
        reasons = error.errno, getattr(error.__cause__, "errno", None)
        _end(str(error), 1 if any(reason in RAN_OUT for reason in reasons) else 2)
    except (ValueError, MissingExtra) as error:
        _end(str(error), 2)


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    """End with the signal's own exit code, but by an exception, so that half-written files are removed."""
    raise SystemExit(128 + number)


def _end(message: str, code: int) -> None:
    warn(f"error: {message}")
    sys.exit(code)
