"""Work that takes a while, in a process of its own: it can be stopped, and goes on when a tab is closed.

A task is a folder: `job.json` says what to do, `progress.jsonl` what has been done, `end.json` how it ended, and the
rest is what came out. While it runs, its process holds a lock, which the system drops in whatever way the process ends:
so a server that was started anew knows which tasks still run.
"""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout

from unskew._support.json_records import read_json
from unskew.studio.store import NotThere, Table, read_record, write_record

State = Literal["running", "done", "failed", "stopped"]
What = Literal["train", "suggest", "draw", "judge"]
JOB, PROGRESS, END, ALIVE, PROCESS = "job.json", "progress.jsonl", "end.json", ".alive", "process"
TIME_TO_BEGIN, TIME_TO_END = 30.0, 5.0
"""Seconds that a process may take until it holds its lock, and until it has ended after it was asked to."""
STOPPED = "Stopped on request. Nothing of it was kept."


@dataclass(frozen=True)
class Job:
    """What to do.

    Attributes
    ----------
    what : str
        "train", or with the model of the task `model`: "suggest" rows to label, "draw" rows for an audit, "judge" by
        the rows that the task `drawn` drew.
    table : str
        Path of the table.
    rows : int
        How many rows to suggest or draw.
    marked : tuple of int
        Rows that need no suggestion, because they were checked.
    n_unlabeled : int
        Rows of the table without a label.
    began : float
        When it was started, in seconds since 1970.
    """

    what: What
    table: str
    began: float
    label: str = ""
    confidence: str | None = None
    names: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    kinds: dict[str, str] = field(default_factory=dict)
    method: str = "auto"
    blank_is_unlabeled: bool = False
    n_marks: int = 0
    model: int | None = None
    drawn: int | None = None
    rows: int = 0
    marked: tuple[int, ...] = ()
    n_unlabeled: int = 0


@dataclass(frozen=True)
class End:
    """How a task ended; `message` says why, if it failed."""

    state: State
    seconds: float
    message: str = ""


@dataclass(frozen=True)
class Task:
    """A task of a table."""

    folder: Path

    @property
    def number(self) -> int:
        """What it is called in addresses."""
        return int(self.folder.name)

    @property
    def job(self) -> Job:
        """What to do."""
        return read_record(Job, self.folder / JOB)

    @property
    def end(self) -> End | None:
        """How it ended, if it has."""
        try:
            return read_record(End, self.folder / END)
        except NotThere:
            return None

    def result(self) -> Any:
        """What a task that is done says of itself."""
        return read_json((self.folder / "result.json").read_bytes())

    def progress(self) -> dict[str, Any]:
        """How far it has come: title, done and total of the bar, and the messages so far."""
        bar: dict[str, Any] = {"title": "starting", "done": 0, "total": None, "note": ""}
        messages = []
        for line in self._lines():
            if "message" in line:
                messages.append(line)
            else:
                bar = line
        return {**bar, "messages": messages}

    def _lines(self) -> list[dict[str, Any]]:
        with suppress(FileNotFoundError):
            whole = (self.folder / PROGRESS).read_bytes().rpartition(b"\n")[0]  # the last line may be half written
            return [json.loads(line) for line in whole.splitlines()]
        return []


class Tasks:
    """Tasks of all tables, and the processes of this server."""

    def __init__(self) -> None:
        self._processes: dict[Path, subprocess.Popen[bytes]] = {}

    def of(self, table: Table) -> list[Task]:
        """Tasks of a table, the newest first."""
        folder = table.folder / "tasks"
        found = [Task(each) for each in folder.iterdir() if each.name.isdecimal()] if folder.is_dir() else []
        return sorted((each for each in found if (each.folder / JOB).exists()), key=lambda each: -each.number)

    def get(self, table: Table, number: int) -> Task:
        """The task with this number."""
        task = Task(table.folder / "tasks" / str(number))
        if not (task.folder / JOB).exists():
            raise NotThere("there is no such task; it may have been deleted.")
        return task

    def running(self, table: Table) -> Task | None:
        """The task that runs now, if one does; there is one at a time for each table."""
        return next((each for each in self.of(table) if self.state(each) == "running"), None)

    def start(self, table: Table, job: Job, files: dict[str, bytes] | None = None) -> Task:
        """Begin a task, unless one of this table runs; `files` are laid into its folder first."""
        with table.lock():
            return self._start(table, job, files or {})

    def _start(self, table: Table, job: Job, files: dict[str, bytes]) -> Task:
        if running := self.running(table):
            raise BlockingIOError(
                f"one task at a time can run for a table, but task {running.number} is running. Wait for it, or stop "
                "it."
            )
        number = 1 + max((each.number for each in self.of(table)), default=0)
        folder = table.folder / "tasks" / str(number)
        folder.mkdir(parents=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
        write_record(folder / JOB, job)
        self._launch(folder)
        return Task(folder)

    def _launch(self, folder: Path) -> None:
        command = [sys.executable, "-m", "unskew.studio.work", str(folder)]
        with open(folder / "output.txt", "wb") as output:
            # In a session of its own: Ctrl-C on the terminal of the server is not for it.
            self._processes[folder] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )

    def state(self, task: Task) -> State:
        """Whether a task runs, or how it ended; one whose process is gone without a word has failed."""
        process = self._processes.get(task.folder)
        if end := task.end:
            if process is not None and process.poll() is not None:
                self._processes.pop(task.folder, None)
            return end.state
        if process is not None:
            alive = process.poll() is None
        else:
            alive = _is_locked(task.folder) or time.time() - task.job.began < TIME_TO_BEGIN
        if alive:
            return "running"
        if task.end is None:  # it may have ended since we looked
            self._finish(task, "failed", "It ended before it was done: the machine or its memory may have given out.")
        return self.state(task)

    def stop(self, task: Task) -> None:
        """End a task, in a few seconds at most, whatever it is doing."""
        if self.state(task) != "running":
            return
        process = self._processes.get(task.folder)
        number = process.pid if process is not None else _process_number(task.folder)
        if number is not None:
            _end_process(number, process, task.folder)
        self._finish(task, "stopped", STOPPED)

    def stop_all(self) -> None:
        """End all tasks that this server started."""
        for folder, process in list(self._processes.items()):
            self.stop(Task(folder))
            with suppress(subprocess.TimeoutExpired):
                process.wait(TIME_TO_END)  # it may have said that it is done, and not be gone yet

    def _finish(self, task: Task, state: State, message: str) -> None:
        if task.end is None:
            write_record(task.folder / END, End(state, max(0.0, time.time() - task.job.began), message))


def _is_locked(folder: Path) -> bool:
    """Whether a process works on this task."""
    lock = FileLock(folder / ALIVE)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    return False


def _process_number(folder: Path) -> int | None:
    """Number of the process that works on a task; one that holds no lock is gone, and its number is another's."""
    if not _is_locked(folder):
        return None
    with suppress(OSError, ValueError):
        return int((folder / PROCESS).read_text())
    return None


def _end_process(number: int, process: "subprocess.Popen[bytes] | None", folder: Path) -> None:
    """Ask a process to end, and end it if it does not."""
    with suppress(ProcessLookupError):
        os.kill(number, signal.SIGTERM)
    until = time.monotonic() + TIME_TO_END
    while time.monotonic() < until:
        if process.poll() is not None if process is not None else not _is_locked(folder):
            return
        time.sleep(0.05)
    with suppress(ProcessLookupError):
        os.kill(number, getattr(signal, "SIGKILL", signal.SIGTERM))
    if process is not None:
        process.wait()
