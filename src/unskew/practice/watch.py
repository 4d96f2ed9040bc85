"""Score every file that arrives in a folder, each once, whatever happens meanwhile.

A file is scored into a hidden folder first. Then come, in this order: what is to be done is written down (`STEP`), the
list gets its name, the log gets its line, and what was written down is removed. Whoever is killed in between leaves
what the next one needs to finish: before the first of these nothing has happened, and from then on nothing is scored
again (decision 41).
"""

import json
import os
import shutil
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout

from unskew._support.files import make_folder, write_atomically
from unskew._support.json_records import read_json
from unskew.errors import TableError
from unskew.practice.list_options import ListOptions
from unskew.practice.model import TableModel
from unskew.practice.score import score_file
from unskew.tables import READABLE_ENDINGS, WRITABLE_ENDINGS

LOG, HIDDEN, STEP, LOCK = "watch.jsonl", ".unskew-watch", "step.json", ".unskew-watch.lock"
SETTLED = 2.0
"""Seconds for which a file must stay as it is to be taken for complete."""
HIDDEN_NAMES = ".", "_", "~"
"""How the names of files begin that are not complete, or not for everybody."""


class Stamp(NamedTuple):
    """What tells one content of a file from another."""

    size: int
    modified_ns: int


Record = Mapping[str, Any]
"""One line of the log: a file with what was found, or with an error."""


@dataclass(frozen=True)
class WatchOptions:
    """How a folder is watched.

    Attributes
    ----------
    every : float
        Seconds between two looks.
    once : bool
        Whether to stop when all complete files have been scored.
    """

    every: float = 10.0
    once: bool = False
    settled: float = SETTLED

    def check(self) -> None:
        """Refuse what cannot be, in the words of the command line."""
        if not 0 < self.every <= 86_400:
            raise ValueError(f"--every must be above 0 and at most 86400 seconds, one day, but it is {self.every:g}.")


def watch_folder(
    model: TableModel,
    folder: Path,
    out: Path | None = None,
    options: ListOptions | None = None,
    how: WatchOptions | None = None,
) -> Iterator[Record]:
    """Score the files of a folder as they arrive; gives each line of the log when it has been written.

    Lists have the names of the files and are put into `out`, by default the folder ``scored`` inside. A file whose size
    or time changes later is a new one. One that cannot be read is not tried again until it changes.
    """
    options, how = options or ListOptions(), how or WatchOptions()
    out = folder / "scored" if out is None else out
    how.check()
    options.check(model)
    check_folders(folder, out)
    make_folder(out)
    with _alone_in(folder, out):
        journal = Journal(out)
        yield from journal.recover()
        arrivals = Arrivals(folder, how.settled, journal.known)
        while True:
            waiting = arrivals.look()
            if waiting:
                time.sleep(how.settled if how.once else min(how.settled, how.every))
                arrivals.look()
            for name, stamp in arrivals.complete():
                record = _score_one(model, folder / name, stamp, journal, options)
                if record is not None:
                    yield record
            if how.once:
                return
            time.sleep(how.every)


def check_folders(folder: Path, out: Path) -> None:
    """Refuse a folder that does not exist, and one for lists that would be scored themselves."""
    if not folder.is_dir():
        what = "a file" if folder.exists() else "nothing"
        raise NotADirectoryError(
            f"{folder} must be a folder that files arrive in, but there is {what}. Check the path."
        )
    if out.exists() and out.resolve() == folder.resolve():
        raise FileExistsError(
            f"{out} must be another folder than the one that is watched, because lists would be scored, too. Choose "
            "another one with --out."
        )


@contextmanager
def _alone_in(folder: Path, out: Path) -> Iterator[None]:
    """Keep others away from both folders while the block runs; the system ends a lock when its process ends."""
    with ExitStack() as stack:
        for place in dict.fromkeys((folder.resolve(), out.resolve())):
            if place == folder.resolve() and not os.access(place, os.W_OK):
                continue  # then the lock of the other folder has to do
            try:
                stack.enter_context(FileLock(place / LOCK).acquire(timeout=0))
            except Timeout:
                raise FileExistsError(
                    f"{place} must be watched by one process alone, but another one is at it. Stop that one, or choose "
                    "another folder."
                ) from None
        yield


@dataclass
class Arrivals:
    """Which files of a folder are complete and have not been dealt with."""

    folder: Path
    settled: float
    known: dict[str, Stamp]
    _seen: dict[str, tuple[Stamp, float]] = field(default_factory=dict)

    def look(self) -> bool:
        """Look at all files; returns whether some are new and may still grow."""
        now, seen = time.monotonic(), {}
        for name, stamp in self._stamps():
            if self.known.get(name) != stamp:
                before = self._seen.get(name)
                seen[name] = before if before is not None and before[0] == stamp else (stamp, now)
        self._seen = seen
        return any(now - since < self.settled for _, since in seen.values())

    def _stamps(self) -> Iterator[tuple[str, Stamp]]:
        """Files that are there, with names that are not hidden and endings of tables."""
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    name, stamp = entry.name, stamp_of(entry)
                    if stamp and name.lower().endswith(READABLE_ENDINGS) and not name.startswith(HIDDEN_NAMES):
                        yield name, stamp
        except OSError as error:
            raise NotADirectoryError(
                f"{self.folder} must stay a folder that can be read while it is watched, but it cannot be read any "
                f"more: {error.strerror}. Nothing is lost: start again when it is back."
            ) from None

    def complete(self) -> list[tuple[str, Stamp]]:
        """Files that have not changed for long enough, the oldest first."""
        now = time.monotonic()
        found = [(name, stamp) for name, (stamp, since) in self._seen.items() if now - since >= self.settled]
        return sorted(found, key=lambda each: (each[1].modified_ns, each[0]))


def stamp_of(entry: "os.DirEntry[str] | Path") -> Stamp | None:
    """Size and time of a file; None if it is not one, or is gone."""
    try:
        if not entry.is_file():
            return None
        about = entry.stat()
    except OSError:
        return None
    return Stamp(about.st_size, about.st_mtime_ns)


class Journal:
    """The log of a folder, and the steps that keep log and lists in agreement."""

    def __init__(self, out: Path) -> None:
        self.out, self.hidden, self.log = out, out / HIDDEN, out / LOG
        self.known: dict[str, Stamp] = {}
        self._owners: dict[str, str] = {}
        self._last = b""

    def recover(self) -> list[Record]:
        """Finish what a killed process began, and learn what is done; returns the line that was missing, if any."""
        self._read_log()
        finished = []
        step = self.hidden / STEP
        if step.exists():
            line = step.read_bytes()
            if line != self._last:
                finished.append(self._finish(line))
        shutil.rmtree(self.hidden, ignore_errors=True)
        self.hidden.mkdir(exist_ok=True)
        return finished

    def scratch(self, name: str) -> Path:
        """Where a list is written until it is complete."""
        return self.hidden / f"list of {name}"

    def owner(self, result: str) -> str | None:
        """File that a list belongs to."""
        return self._owners.get(result)

    def commit(self, record: Record) -> Record:
        """Give the list its name, and the log its line: both, or after a crash both by the next process."""
        line = json.dumps(record, allow_nan=False).encode() + b"\n"
        if record.get("result") is not None:
            write_atomically(self.hidden / STEP, line)
        written = self._finish(line)
        (self.hidden / STEP).unlink(missing_ok=True)
        return written

    def _finish(self, line: bytes) -> Record:
        record: Record = json.loads(line)
        if record.get("result") is not None:
            scratch = self.scratch(record["result"])
            if scratch.exists():
                os.replace(scratch, self.out / record["result"])
        with open(self.log, "ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._note(record)
        return record

    def _note(self, record: Record) -> None:
        self.known[record["file"]] = Stamp(record["size"], record["modified_ns"])
        if record.get("result") is not None:
            self._owners[record["result"]] = record["file"]

    def _read_log(self) -> None:
        content = self.log.read_bytes() if self.log.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        if whole != content:  # half a line, of a process that was killed
            write_atomically(self.log, whole)
        for number, line in enumerate(whole.splitlines(keepends=True), start=1):
            try:
                self._note(read_json(line))
            except (ValueError, KeyError, TypeError, AttributeError):
                raise ValueError(
                    f"{self.log} must have one JSON object with file, size and modified_ns in each line, but line "
                    f"{number:,} is something else. Remove that line, or choose another folder with --out."
                ) from None
            self._last = line


def _score_one(model: TableModel, path: Path, stamp: Stamp, journal: Journal, options: ListOptions) -> Record | None:
    """Score a file and write its line; None if it changed meanwhile, so that it is to be looked at again."""
    start = time.perf_counter()
    result = result_name(path.name)
    scratch = journal.scratch(result)
    about: dict[str, Any] = {
        "file": path.name,
        **stamp._asdict(),
        "model": "" if model.path is None else model.path.name,
    }
    try:
        other = journal.owner(result)
        if other not in (None, path.name):
            raise TableError(
                f"{path}: its list must have a name of its own, but {other} has one of that name. Rename it."
            )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = score_file(model, path, scratch, options)
        notes = [*found.notes, *(str(each.message) for each in caught)]
        about |= {"result": result, **found.to_json(), "notes": notes}
    except (ValueError, ArithmeticError) as error:  # of the file; what concerns the folder is an OSError
        about |= {"result": None, "error": str(error)}
    if stamp_of(path) != stamp:
        scratch.unlink(missing_ok=True)
        return None
    about |= {"at": datetime.now(UTC).isoformat(timespec="seconds"), "seconds": round(time.perf_counter() - start, 3)}
    return journal.commit(about)


def result_name(name: str) -> str:
    """Name of the list of a file: its own, if a list can be written in its format.

    Examples
    --------
    >>> result_name("jan.csv"), result_name("jan.parquet"), result_name("jan.txt")
    ('jan.csv', 'jan.parquet', 'jan.txt.csv')
    """
    return name if name.lower().endswith(WRITABLE_ENDINGS) else f"{name}.csv"
