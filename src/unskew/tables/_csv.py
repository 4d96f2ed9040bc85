"""CSV files as frames of text, in constant memory.

A block of lines without quotes, each with as many fields as the header, goes to polars, which is quick. Any other block
goes through Python's csv module, which knows the line of an error. Both give the same frames.
"""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import polars as pl

from unskew._support.text import listed, shown
from unskew.errors import TableError
from unskew.tables._text_blocks import LONGEST_LINE, TextFile, naming_damaged_text_file, open_text
from unskew.tables._values import check_names

ROWS_AT_ONCE = 1 << 16
LINES_LOOKED_AT = 200
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}


@dataclass(frozen=True)
class CsvTable:
    """A CSV file whose delimiter and column names are known; `notes` says what a user should know about it."""

    text: TextFile
    columns: tuple[str, ...]
    delimiter: str
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        check_names(self.path, self.columns)

    n_rows = None  # only reading the whole file would give it

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self.text.path

    def frames(self, columns: list[str]) -> Iterator[pl.DataFrame]:
        """Rows from first to last, in frames of any size; every column is text, blank fields are null."""
        with naming_damaged_text_file(self.path):
            blocks = self.text.blocks()
            _, header_lines, rest = _split_header(self.path, next(blocks).decode(), self.delimiter)
            for frame in _Parser(self, chain([rest.encode()] if rest else [], blocks), header_lines).frames():
                yield frame[columns]  # `select` would take the name "*" for all columns

    def no_rows(self, columns: list[str]) -> pl.DataFrame:
        """What `frames` would give for these columns, without a row."""
        return pl.DataFrame(schema=dict.fromkeys(columns, pl.String()))


def open_csv(path: Path, delimiter: str | None = None) -> CsvTable:
    """Find encoding, delimiter (unless it is given) and column names of a CSV file."""
    text = open_text(path)
    sample = next(text.blocks(), b"").decode()
    if not sample.strip():
        raise TableError(f"{path}: a table must have a header and rows, but the file is empty. Export it again.")
    delimiter = delimiter or _find_delimiter(sample)
    header, _, _ = _split_header(path, sample, delimiter)
    names = _column_names(path, header, delimiter)
    notes = [
        f"{path}: column {position} has no name in the header; it is called {shown(name)}."
        for position, (name, field) in enumerate(zip(names, header, strict=True), start=1)
        if not field.strip()
    ]
    if text.encoding in ("cp1252", "latin-1"):  # which fit any file
        notes.append(f"{path}: not UTF-8, read as {text.encoding}. If letters look wrong, save the file as UTF-8.")
    return CsvTable(text, tuple(names), delimiter, tuple(notes))


def _find_delimiter(sample: str) -> str:
    """The delimiter by which most of the first lines have as many fields as the very first, and more than one."""

    def worth(delimiter: str) -> tuple[float, int]:
        lengths: list[int] = []
        with _long_fields(), suppress(csv.Error):  # the parser will name the line
            for record in islice(csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter), LINES_LOOKED_AT):
                lengths += [len(record)] if any(record) else []
        if not lengths or lengths[0] == 1:
            return 0.0, 0
        return lengths.count(lengths[0]) / len(lengths), lengths[0]

    return max(DELIMITERS, key=worth)


def _split_header(path: Path, text: str, delimiter: str) -> tuple[list[str], int, str]:
    """First record that is not blank, the number of lines up to its end, and the text after it."""
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    with _long_fields():
        record: list[str] = []
        while not any(field.strip() for field in record):
            record = _next_record(path, reader, 0)
    return record, reader.line_num, lines.read()


_limit_lock = Lock()


@contextmanager
def _long_fields() -> Iterator[None]:
    """Let the csv module read fields as long as lines may be.

    Its own limit of 131,072 characters belongs to the whole process. So it is put back, never left changed while a
    generator waits, and changed by one thread at a time.
    """
    with _limit_lock:
        before = csv.field_size_limit(LONGEST_LINE)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def _next_record(path: Path, reader: Any, lines_before: int) -> list[str]:
    line = lines_before + reader.line_num + 1
    try:
        record: list[str] = next(reader)
    except StopIteration:
        raise TableError(
            f"{path}: the first line must hold the names of the columns, but all lines are blank. Add a header."
        ) from None
    except csv.Error as error:
        if "field limit" in str(error):
            raise TableError(
                f"{path}: fields must be shorter than {LONGEST_LINE >> 20} MiB, but the record that starts at line "
                f"{line} has a longer one, most likely because a quote is not closed. Fix that line, or export the "
                "file again."
            ) from None
        raise TableError(
            f"{path}: quotes must enclose whole fields and be doubled inside them, but this does not hold in the "
            f"record that starts at line {line} ({error}). Fix that line, or export the file again."
        ) from None
    return record


def _column_names(path: Path, header: list[str], delimiter: str) -> list[str]:
    """Names without spaces around them; a column without a name is called by its number."""
    names = [field.strip() for field in header]
    if _looks_like_data(names):
        raise TableError(
            f"{path}: the first line must hold the names of the columns, but it holds numbers ({listed(names, 3)}). "
            "Add a line with names on top."
        )
    names = [name or f"column {position}" for position, name in enumerate(names, start=1)]
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if name in seen:
            raise TableError(
                f"{path}: the names of columns must differ, but columns {seen[name]} and {position} are both called "
                f"{shown(name)} (fields are separated by {DELIMITERS[delimiter]}). Rename one; if the file has no "
                "header, add one."
            )
        seen[name] = position
    return names


def _looks_like_data(names: list[str]) -> bool:
    """All numbers and not all whole: names such as 0, 1, 2 are what pandas writes for an array."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return False
    return not all(number.is_integer() for number in numbers)


class _Parser:
    """Turns blocks of lines into frames and knows the line it is at."""

    def __init__(self, table: CsvTable, blocks: Iterator[bytes], line: int) -> None:
        self._table, self._blocks, self._line = table, blocks, line
        self._schema = dict.fromkeys(table.columns, pl.String())
        self._take_up(b"")

    def frames(self) -> Iterator[pl.DataFrame]:
        for block in self._blocks:
            frame = self._quick(block)
            if frame is None:
                yield from self._careful(block)
            else:
                self._line += frame.height
                yield frame

    def _quick(self, block: bytes) -> pl.DataFrame | None:
        """Frame of a block that needs no care; None if it does."""
        if b'"' in block or block.startswith((b" ", b"\t")):  # polars 1 strips spaces where a file begins
            return None
        block = block.replace(b"\r\n", b"\n") if b"\n" in block else block.replace(b"\r", b"\n")
        if b"\r" in block:
            return None
        codes = np.frombuffer(block, dtype=np.uint8)
        ends = np.flatnonzero(codes == ord("\n"))
        delimiters = np.flatnonzero(codes == ord(self._table.delimiter))
        per_line = np.diff(np.searchsorted(delimiters, ends), prepend=0)
        blank_line = np.diff(ends, prepend=-1) == 1
        if (per_line != len(self._schema) - 1).any() or blank_line.any():
            return None
        frame = pl.read_csv(
            block, has_header=False, schema=self._schema, separator=self._table.delimiter, quote_char=None
        )
        return frame if frame.height == len(ends) else None

    def _careful(self, block: bytes) -> Iterator[pl.DataFrame]:
        """Frames of a block, record by record; a record may reach into the next block."""
        self._take_up(block)
        reader = csv.reader(self._lines(), delimiter=self._table.delimiter, strict=True)
        while records := self._next_records(reader):
            columns = zip(self._schema, zip(*records, strict=True), strict=True)
            data = {name: [field or None for field in column] for name, column in columns}
            yield pl.DataFrame(data, schema=self._schema)
        self._line += reader.line_num

    def _next_records(self, reader: Any) -> list[list[str]]:
        """As many records as a frame takes; none at the end of the block."""
        records: list[list[str]] = []
        with _long_fields():
            while len(records) < ROWS_AT_ONCE and self._open.tell() < self._open_length:
                record = _next_record(self._table.path, reader, self._line)
                if not record or (len(record) == 1 < len(self._schema) and not record[0].strip()):
                    continue  # a blank line
                self._require_fields(record, self._line + reader.line_num)
                records.append(record)
        return records

    def _take_up(self, block: bytes) -> None:
        text = block.decode()
        self._open, self._open_length = io.StringIO(text, newline=""), len(text)

    def _lines(self) -> Iterator[str]:
        """Lines of the block taken up, and of the next ones when a record goes on there."""
        while True:
            yield from self._open
            block = next(self._blocks, None)
            if block is None:
                return
            self._take_up(block)

    def _require_fields(self, record: list[str], line: int) -> None:
        expected = len(self._schema)
        if len(record) != expected:
            raise TableError(
                f"{self._table.path}: every line must have as many fields as the header, {expected}, but line {line} "
                f"has {len(record)} (it starts with {shown(record[0])}; fields are separated by "
                f"{DELIMITERS[self._table.delimiter]}). Fix that line; a field that holds the separator must be in "
                "double quotes."
            )
