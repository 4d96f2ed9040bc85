"""What a program says beside its results: warnings as notes, and errors as one message."""

import errno
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from unskew.errors import MissingExtra

RAN_OUT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENOMEM)
OUT_OF_MEMORY = re.compile("can't allocate memory|out of memory", re.IGNORECASE)
TRIED = re.compile(r"tried to allocate [\d.]+ \w+", re.IGNORECASE)


@contextmanager
def warnings_as_notes(tell: Callable[[str], None]) -> Iterator[None]:
    """Hand on warnings as text, without file names and code, and the package's own every time."""
    from unskew import errors

    def note(message: Warning | str, *_where: Any, **_more: Any) -> None:
        tell(str(message))

    with warnings.catch_warnings():
        for kind in vars(errors).values():
            if isinstance(kind, type) and issubclass(kind, UserWarning):
                warnings.simplefilter("always", kind)
        warnings.showwarning = note
        yield


def failure(error: Exception) -> tuple[str, int] | None:
    """What to tell people of an error, and the exit code; None if it is a fault of the program.

    Exit code 2: the request or the data are wrong. Exit code 1: a run failed (training diverged, memory or disk full).
    """
    if isinstance(error, MemoryError | RuntimeError):
        # torch reports memory that ran out by an error of another kind
        if not (isinstance(error, MemoryError) or OUT_OF_MEMORY.search(str(error))):
            return None
        tried = TRIED.search(str(error)) or [str(error) or "no more could be allocated"]
        return (
            f"there is not enough memory ({tried[0]}). Use fewer rows or columns, or a machine with more memory.",
            1,
        )
    if isinstance(error, ArithmeticError):
        return str(error), 1
    if isinstance(error, OSError):
        reasons = error.errno, getattr(error.__cause__, "errno", None)
        return str(error), 1 if any(reason in RAN_OUT for reason in reasons) else 2
    return (str(error), 2) if isinstance(error, ValueError | MissingExtra) else None
