"""The command line. A command does no work of its own, and nothing heavy is loaded before one is chosen."""

import errno
import io
import signal
import sys
from types import FrameType
from typing import NoReturn

import typer

from unskew.cli import _about, _experiments, _practice  # noqa: F401
from unskew.cli._app import app

__all__ = ["app", "main"]


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def main() -> None:
    """Run the command line; what goes wrong is told in one message.

    Exit code 2: the request or the data are wrong. Exit code 1: a run failed (training diverged, memory or disk full).
    """
    from unskew.errors import MissingExtra

    signal.signal(signal.SIGTERM, _leave)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a name that a terminal cannot show is no reason to fail
    try:
        app()
    except (ArithmeticError, MemoryError) as error:
        _end(str(error) or "there is not enough memory.", 1)
    except OSError as error:
        reasons = error.errno, getattr(error.__cause__, "errno", None)
        _end(str(error), 1 if any(reason in FULL for reason in reasons) else 2)
    except (ValueError, MissingExtra) as error:
        _end(str(error), 2)


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    """End by the signal's own exit code, but as an exception, so that half-written files are cleared away."""
    raise SystemExit(128 + number)


def _end(message: str, code: int) -> None:
    typer.echo(f"error: {message}", err=True)
    sys.exit(code)
