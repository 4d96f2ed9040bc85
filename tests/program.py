"""The program in this process: as a new process would run it, without the seconds that loading torch takes."""

import contextlib
import io
import os
import signal
import sys
from types import SimpleNamespace

from unskew import cli


def run_program(*arguments, cwd=None):
    """Run ``unskew`` with these arguments; gives `returncode`, `stdout` and `stderr`, as `subprocess.run` does."""
    out, err = io.StringIO(), io.StringIO()
    before, handler, code = sys.argv, signal.getsignal(signal.SIGTERM), 0
    sys.argv = ["unskew", *(os.fspath(each) if isinstance(each, os.PathLike) else str(each) for each in arguments)]
    folder = contextlib.nullcontext() if cwd is None else contextlib.chdir(cwd)
    try:
        with folder, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            cli.main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = before
        signal.signal(signal.SIGTERM, handler)
    return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())
