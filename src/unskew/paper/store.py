"""Rows of results on disk: one JSON object a line, appended as runs finish and never rewritten."""

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from unskew._support.files import write_atomically
from unskew._support.json_records import build
from unskew.paper.own_files import current_rows
from unskew.paper.plans import PLANS, Setting

Row = dict[str, Any]


class Store:
    """The rows of one plan, in ``FOLDER/PLAN.jsonl``; the folder is made if it does not exist."""

    def __init__(self, folder: Path, plan: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.path = folder, folder / f"{plan}.jsonl"

    def rows(self) -> list[Row]:
        """All rows; a last line that a killed run left unfinished does not count."""
        return list(_read_results(self.path))

    def finished(self) -> dict[Setting, Row]:
        """Last row of each setting that has one; rows of files that were edited since do not count."""
        return {Setting.of_row(row): row for row in current_rows(self.rows())}

    def count(self) -> int:
        """Number of rows on disk."""
        return _content_of_results(self.path).count(b"\n")

    def append(self, row: Row) -> None:
        """Add a row; when this returns it is on disk."""
        line = json.dumps(row, allow_nan=False) + "\n"
        # A single write at the end of a file is never mixed with that of another process.
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            content = line.encode()
            if os.write(handle, content) < len(content):  # the next run removes the half line
                raise OSError(errno.ENOSPC, f"{self.path} cannot be written: the disk is full. Free some space.")
            os.fsync(handle)
        finally:
            os.close(handle)

    def adopt(self, wanted: list[Setting]) -> int:
        """Copy rows of these settings that another plan in the same folder has; returns how many."""
        missing = set(wanted) - self.finished().keys()
        adopted = 0
        for other in (self.folder / f"{plan}.jsonl" for plan in PLANS):
            for row in current_rows(_read_results(other)) if other != self.path else ():
                if (setting := Setting.of_row(row)) in missing:
                    missing.remove(setting)
                    self.append(row)
                    adopted += 1
        return adopted

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep a second run of the plan out of the folder while the block runs, and remove a half-written line.

        The operating system holds the lock and releases it when the process ends, however that ends.
        """
        try:
            held = FileLock(self.folder / f".{self.path.name}.lock").acquire(timeout=0)
        except Timeout:
            raise ValueError(
                f"another run is writing to {self.path}. Wait until it ends, or choose another folder with --out."
            ) from None
        with held:
            content = _content_of_results(self.path)
            if content and not content.endswith(b"\n"):
                write_atomically(self.path, content[: content.rfind(b"\n") + 1])
            yield


def _read_results(path: Path) -> Iterator[Row]:
    """Rows of a file, each with the defaults of the fields that a setting got later."""
    for number, line in enumerate(_content_of_results(path).split(b"\n")[:-1], start=1):
        try:
            row = json.loads(line)
            yield {**vars(build(Setting, row, "the row")), **row}
        except ValueError as error:
            raise ValueError(
                f"{path} must have one JSON object with the fields of a setting in each line, but line {number} does "
                f"not: {error} Remove that line, or choose another folder with --out."
            ) from error


def _content_of_results(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""
