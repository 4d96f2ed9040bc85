"""The process of a task: does what its folder says, with the code of the commands, and tells how far it has come.

Run as ``python -m unskew.studio.work FOLDER``.
"""

import json
import os
import re
import signal
import sys
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import IO, Any, NoReturn

from filelock import FileLock

from unskew._support.files import write_atomically
from unskew._support.notes import failure, warnings_as_notes
from unskew._support.progress import followed_by
from unskew.studio.store import read_record, without_folder, write_record
from unskew.studio.tasks import ALIVE, JOB, PROCESS, PROGRESS, STOPPED, End, Job

BETWEEN = 0.2
"""Seconds between two lines about the same bar."""
OUR_FAULT = "something went wrong that is a fault of unskew. The file output.txt of this task has the details."
_OPTIONS = re.compile(r" \(--[^)]*\)")
"""Hints such as " (--exclude age)", which say nothing to people without a terminal."""


class Teller:
    """Writes lines about how far a task has come."""

    def __init__(self, file: IO[str], folders: list[Path]) -> None:
        self._file, self._folders = file, folders
        self._title, self._time = "", 0.0

    def bar(self, title: str, done: int, total: int | None, note: str) -> None:
        """Tell how far a bar has come, unless that was told a moment ago."""
        now = time.monotonic()
        if title == self._title and now - self._time < BETWEEN and done != total:
            return
        self._title, self._time = title, now
        self._line({"title": title, "done": done, "total": total, "note": note})

    def step(self, title: str) -> None:
        """Tell what is being done, where nobody knows for how long."""
        self.bar(title, 0, None, "")

    def message(self, level: str, text: str) -> None:
        """Tell people something: a note, or a warning."""
        self._line({"level": level, "message": self.plain(text)})

    def plain(self, text: str) -> str:
        """A message in which files are named without their folders, and options are not named."""
        for folder in self._folders:
            text = without_folder(text, folder)
        return _OPTIONS.sub("", text)

    def _line(self, content: dict[str, Any]) -> None:
        self._file.write(json.dumps(content) + "\n")
        self._file.flush()


def work_on(folder: Path) -> None:
    """Do a task to its end, which is written to its folder in whatever way it comes."""
    with FileLock(folder / ALIVE), open(folder / PROGRESS, "a", encoding="utf-8") as file:
        write_atomically(folder / PROCESS, str(os.getpid()).encode())
        job, begin = read_record(Job, folder / JOB), time.time()
        teller = Teller(file, [Path(job.table).parent, folder, folder.parent.parent / "data"])
        end = End("done", 0.0)
        try:
            with followed_by(teller.bar), warnings_as_notes(lambda text: teller.message("note", text)):
                _do(folder, job, teller)
        except SystemExit:
            end = End("stopped", 0.0, STOPPED)
        except Exception as error:
            found = failure(error)
            if found is None:
                traceback.print_exc()
            end = End("failed", 0.0, teller.plain(OUR_FAULT if found is None else found[0]))
        write_record(folder / "end.json", End(end.state, time.time() - begin, end.message))


def _do(folder: Path, job: Job, teller: Teller) -> None:
    teller.step("loading what is needed")
    from unskew.studio import checking, training

    doing = {
        "train": training.train,
        "suggest": checking.suggest,
        "draw": checking.draw,
        "judge": checking.judge,
    }
    result = doing[job.what](folder, job, teller)
    write_atomically(folder / "result.json", json.dumps(result, allow_nan=False).encode())


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    """End by an exception, so that half-written files are removed."""
    raise SystemExit


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _leave)
    work_on(Path(sys.argv[1]))
