"""The folder of the studio: tables, what was chosen for them, marks and tasks. Nothing is kept anywhere else.

    FOLDER/uploads/                 files on their way in
    FOLDER/tables/KEY/table.json    name, rows, when it came
    FOLDER/tables/KEY/data/NAME     the table as it came; never changed
    FOLDER/tables/KEY/choices.json  marks.json
    FOLDER/tables/KEY/tasks/NUMBER/ see `tasks`

Every file is written under a temporary name and moved, a table appears by the move of its folder, and whoever changes
one holds its lock: what two tabs do at once happens one after the other.
"""

import json
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock, Timeout

from unskew._support.files import make_folder, write_atomically
from unskew._support.json_records import build, read_json
from unskew._support.text import shown
from unskew.studio.choices import Choices, chosen_uses
from unskew.studio.looking import guess_uses, look_at
from unskew.studio.marks import Mark, Marks, MarksRecord
from unskew.tables import READABLE_ENDINGS

KEY = re.compile(r"[0-9a-f]{12}")
LONGEST_NAME = 150
WORDS_IN_NAMES = re.compile(r"[^\x00-\x1f\x7f/\\:*?\"<>|]+")
NEW = ".new-"
Record = TypeVar("Record")


class NotThere(LookupError):
    """There is no such table or task."""


class Outdated(ValueError):
    """A page showed older choices than those that are kept now."""


@dataclass(frozen=True)
class About:
    """What is known of a table from the start."""

    name: str
    made: str
    n_rows: int
    notes: tuple[str, ...] = ()


def check_name(name: str) -> str:
    """A name for a file in the folder; anything that could lead out of it is refused."""
    if not WORDS_IN_NAMES.fullmatch(name) or name.startswith(".") or len(name.encode()) > LONGEST_NAME:
        raise ValueError(
            f"the name of a file must be plain, without folders, a dot in front or signs such as : and *, and of at "
            f"most {LONGEST_NAME} bytes, but it is {shown(name)}. Rename the file."
        )
    return name


class Table:
    """One table of the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def key(self) -> str:
        """What it is called in addresses."""
        return self.folder.name

    @property
    def about(self) -> About:
        """Name, rows, when it came."""
        return read_record(About, self.folder / "table.json")

    @property
    def path(self) -> Path:
        """The table as it came."""
        return self.folder / "data" / self.about.name

    @property
    def choices(self) -> Choices:
        """What was chosen last."""
        return read_record(Choices, self.folder / "choices.json")

    @property
    def marks(self) -> Marks:
        """Rows that were checked."""
        path = self.folder / "marks.json"
        return read_record(MarksRecord, path).marks() if path.exists() else {}

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Let nobody else change this table while the block runs."""
        if not self.folder.is_dir():
            raise NotThere("this table was deleted.")
        with FileLock(self.folder / ".lock"):
            yield

    def choose(self, uses: tuple[str, ...], method: str, *, blank_is_unlabeled: bool, revision: int) -> Choices:
        """Keep new choices, unless others were kept since `revision`; columns are read again if kinds were changed."""
        with self.lock():
            old = self.choices
            if old.revision != revision:
                raise Outdated(
                    "these choices were changed in another tab since this page was loaded. Below are the ones that are "
                    "kept; change what is still wrong, and save again."
                )
            new = replace(old, uses=uses, method=method, blank_is_unlabeled=blank_is_unlabeled, revision=1 + revision)
            if new.kinds != old.kinds:
                new = replace(new, columns=look_at(self.path, new.kinds)[1])
            write_record(self.folder / "choices.json", new)
            return new

    def mark(self, row: int, mark: Mark | None) -> Marks:
        """Keep what was found of one row; None forgets it."""
        if not 1 <= row <= self.about.n_rows:
            raise ValueError(f"the row must be from 1 to {self.about.n_rows:,}, but it is {row}. Reload the page.")
        with self.lock():
            marks = {number: each for number, each in self.marks.items() if number != row}
            if mark is not None:
                marks[row] = mark
            write_record(self.folder / "marks.json", MarksRecord.of(marks))
            return marks


class Store:
    """The folder; only one server at a time has it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        is_new = not folder.exists()
        for each in ("uploads", "tables"):
            make_folder(folder / each)
        if is_new:
            folder.chmod(0o700)  # what is in it is nobody else's business
        self._lock = FileLock(folder / ".lock")

    def open(self) -> "Store":
        """Take the folder for this process, and remove what a killed one left half done."""
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise BlockingIOError(
                f"{self.folder} must be used by one studio at a time, but another one is running. Use that one, end "
                "it, or choose another --folder."
            ) from None
        for each in (*self.uploads.iterdir(), *self.tables_folder.glob(f"{NEW}*")):
            remove(each)
        return self

    def close(self) -> None:
        """Let others have the folder."""
        self._lock.release()

    @property
    def uploads(self) -> Path:
        """Where files lie on their way in."""
        return self.folder / "uploads"

    @property
    def tables_folder(self) -> Path:
        """Where the tables are."""
        return self.folder / "tables"

    def tables(self) -> list[Table]:
        """All tables, the newest first, without those that are just being deleted."""
        found = [Table(each) for each in self.tables_folder.iterdir() if KEY.fullmatch(each.name)]
        made = {}
        for each in found:
            with suppress(NotThere):
                made[each.key] = each.about.made
        there = [each for each in found if each.key in made]
        return sorted(there, key=lambda each: (made[each.key], each.key), reverse=True)

    def table(self, key: str) -> Table:
        """The table with this key."""
        if not KEY.fullmatch(key) or not (self.tables_folder / key).is_dir():
            raise NotThere("there is no such table; it may have been deleted.")
        return Table(self.tables_folder / key)

    def add(self, file: Path, name: str, chosen: Mapping[str, Sequence[str]] | None = None) -> Table:
        """Move a file into the folder as a new table, if it is one; `chosen` are uses of columns, if they are known."""
        if not check_name(name).lower().endswith(READABLE_ENDINGS):
            raise ValueError(
                f"{name}: a table must be a CSV or Parquet file, whose name ends in {', '.join(READABLE_ENDINGS)}. "
                "Save it as one of these."
            )
        key = secrets.token_hex(6)
        folder = self.tables_folder / f"{NEW}{key}"
        (folder / "data").mkdir(parents=True)
        try:
            path = file.rename(folder / "data" / name)
            n_rows, columns, notes = look_at(path, {})
            uses = chosen_uses(columns, guess_uses(path, columns) if chosen is None else chosen)
            made = datetime.now().isoformat(timespec="seconds")
            about = About(name, made, n_rows, tuple(without_folder(each, path.parent) for each in notes))
            write_record(folder / "table.json", about)
            write_record(folder / "choices.json", Choices(columns, uses))
            return Table(folder.rename(self.tables_folder / key))
        except BaseException as error:
            remove(folder)
            if isinstance(error, ValueError):
                raise type(error)(without_folder(str(error), folder / "data")) from None
            raise

    def delete(self, table: Table) -> None:
        """Forget a table with all that was made of it."""
        with suppress(FileNotFoundError), table.lock():
            gone = self.tables_folder / f"{NEW}{table.key}"
            table.folder.rename(gone)
            remove(gone)


def without_folder(message: str, folder: Path) -> str:
    """A message about a file by its name alone: nobody who sees the page knows the folder."""
    return message.replace(f"{folder}/", "").replace(f"{folder}\\", "")


def remove(path: Path) -> None:
    """Remove a file or a folder, whatever is left of it."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def read_record(kind: Callable[..., Record], path: Path) -> Record:
    """A record that `write_record` kept."""
    try:
        record: Record = build(kind, read_json(path.read_bytes()), path.name)
    except FileNotFoundError:
        raise NotThere("this table or task was deleted.") from None
    return record


def write_record(path: Path, record: Any) -> None:
    """Keep a record, whole or not at all."""
    write_atomically(path, json.dumps(asdict(record), allow_nan=False).encode())
