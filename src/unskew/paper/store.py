"""Rows of results on disk: one JSON object a line, appended as runs finish and never rewritten."""

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unskew._support.files import write_atomically
from unskew.paper.own_files import current_rows
from unskew.paper.plans import PLANS
from unskew.paper.settings import Setting

Row = dict[str, Any]


class Store:
    """The rows of one plan, in ``FOLDER/PLAN.jsonl``.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    plan : str
    """

    def __init__(self, folder: Path, plan: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.path = folder, folder / f"{plan}.jsonl"

    def rows(self) -> list[Row]:
        """All rows. What a run that was killed wrote of its last line is not one of them."""
        return list(_read(self.path))

    def finished(self) -> dict[Setting, Row]:
        """Row of each setting that has one, the last if it has several; rows of files that were edited do not count."""
        return {Setting.of_row(row): row for row in current_rows(self.rows())}

    def append(self, row: Row) -> None:
        """Add a row; when this returns it is on disk."""
        line = json.dumps(row, allow_nan=False) + "\n"
        # One write at the end of the file is never mixed with that of another process.
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            content = line.encode()
            if os.write(handle, content) < len(content):  # half a line ends the run, and the next one takes it out
                raise OSError(errno.ENOSPC, f"{self.path} must be written to, but the disk is full. Make room.")
            os.fsync(handle)
        finally:
            os.close(handle)

    def adopt(self, wanted: list[Setting]) -> int:
        """Take over rows of these settings that another plan in the same folder has already; returns how many."""
        missing = set(wanted) - self.finished().keys()
        adopted = 0
        for other in (self.folder / f"{plan}.jsonl" for plan in PLANS):
            for row in current_rows(_read(other)) if other != self.path else ():
                if (setting := Setting.of_row(row)) in missing:
                    missing.remove(setting)
                    self.append(row)
                    adopted += 1
        return adopted

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep a second run of the plan in the same folder away while the block runs, and mend a half-written line.

        The lock is the operating system's: it ends with the process that holds it, however that ends.
        """
        with open(self.folder / f".{self.path.name}.lock", "w") as file:
            _lock(file.fileno(), self.path)
            _drop_half_line(self.path)
            yield


def _read(path: Path) -> Iterator[Row]:
    if not path.exists():
        return
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], start=1):
        try:
            row = json.loads(line)
            Setting.of_row(row)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{path} must have one JSON object with the fields of a setting in each line, but line {number} has "
                f"not ({error}). Remove that line, or take another folder with --out."
            ) from error
        yield row


def _drop_half_line(path: Path) -> None:
    """Cut off what a killed run wrote of its last line."""
    content = path.read_bytes() if path.exists() else b""
    if content and not content.endswith(b"\n"):
        write_atomically(path, content[: content.rfind(b"\n") + 1])


def _lock(handle: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows: nothing keeps a second run away
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValueError(
            f"another run writes to {path} at the moment. Wait for it to end, or take another folder with --out."
        ) from None
