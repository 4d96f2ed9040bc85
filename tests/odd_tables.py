"""Odd but lawful CSV files, made from a seed: quoting, encodings, names, types and missing values as people have them.

`odd_table(seed)` gives a table with a label, a confidence and an identifier column; `write` puts it into a file whose
dialect depends on the same seed. `another(seed)` has the same columns and other rows, for scoring. `damaged(content,
seed)` breaks a file in one place.
"""

import gzip
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

Cells = list[str]
WORDS = [
    "red",
    "blue",
    "Grün",
    "a,b",
    "x;y",
    "tab\there",
    'say "so"',
    "line\nbreak",
    "O'Neil",
    '5" pipe',
    " padded ",
    "été",
]
WIDE_WORDS = ["日本", "😀", "ñandú", "Ωmega", "\u200bzero width", "e\u0301"]
MISSING = ["", "", "NA", "nan", "NULL", " ", "?"]
NAMES = [
    "age",
    "Größe",
    "a b",
    "x,y",
    'quo"te',
    "sem;i",
    "percent %",
    "0",
    "UPPER",
    "new\nline",
    "select",
    "dotted.name",
]
LABELS = [
    ("1", "0"),
    ("1.0", "0.0"),
    ("true", "false"),
    ("TRUE", "False"),
    ("yes", "no"),
    (" Y", "n "),
    ("t", "f"),
    ("1", ""),
]
ENCODINGS = ["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"]


@dataclass(frozen=True)
class Dialect:
    delimiter: str
    line_end: str
    encoding: str
    quoting: str
    blank_lines: bool
    last_line_end: bool
    compressed: bool


@dataclass(frozen=True)
class OddTable:
    """A table as it should be read: blank cells are empty strings here and null in a frame."""

    seed: int
    names: tuple[str, ...]
    makers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    dialect: Dialect
    labels: tuple[int, ...]
    blank_is_unlabeled: bool

    id_column = "row id"
    label_column = "known"
    confidence_column = "risk"

    @property
    def roles(self) -> list[str]:
        return [self.id_column, self.label_column, self.confidence_column]

    def content(self) -> bytes:
        text = "".join(self._lines())
        if not self.dialect.last_line_end:
            text = text[: len(text) - len(self.dialect.line_end)]
        encoding = self.dialect.encoding
        content = b"\xfe\xff" + text.encode(encoding) if encoding == "utf-16-be" else text.encode(encoding)
        return gzip.compress(content, mtime=0) if self.dialect.compressed else content

    def write(self, folder: Path, name: str = "odd.csv") -> Path:
        path = folder / name
        path.write_bytes(self.content())
        return path

    def another(self, seed: int, n_rows: int | None = None) -> "OddTable":
        """Other rows of the same columns, in a file of another dialect."""
        rng = np.random.default_rng([seed, self.seed])
        return _fill(rng, replace(self, seed=seed), n_rows)

    def _lines(self) -> list[str]:
        rng, end = np.random.default_rng(self.seed), self.dialect.line_end
        lines = []
        for cells in (self.names, *self.rows):
            lines.append(self.dialect.delimiter.join(_quoted(cell, self.dialect, rng) for cell in cells) + end)
            if self.dialect.blank_lines and rng.random() < 0.1:
                lines.append(end)
        return lines


def odd_table(seed: int, n_rows: int | None = None) -> OddTable:
    """Table of 12 to 60 rows unless a number is given; at least three are labeled and at least three are not."""
    rng = np.random.default_rng(seed)
    makers = [str(rng.choice(list(MAKERS))) for _ in range(int(rng.integers(1, 8)))]
    if rng.random() < 0.9:
        makers.append("floats")  # else it may be that no feature is left, which is a lawful error
    names = [str(name) for name in rng.choice(NAMES, len(makers), replace=False)]
    roles = [(name, "") for name in (OddTable.id_column, OddTable.label_column, OddTable.confidence_column)]
    columns = [*zip(names, makers, strict=True), *roles]
    order = rng.permutation(len(columns))
    columns = [columns[position] for position in order]
    empty = OddTable(
        seed,
        tuple(name for name, _ in columns),
        tuple(maker for _, maker in columns),
        (),
        Dialect(",", "\n", "utf-8", "minimal", False, True, False),
        (),
        False,
    )
    return _fill(rng, empty, n_rows)


def damaged(content: bytes, seed: int) -> bytes:
    """The same file with one thing wrong: cut off, a byte changed, put in or taken out, a line doubled in part."""
    rng = np.random.default_rng(seed)
    place = int(rng.integers(0, len(content)))
    byte = bytes([int(rng.choice([0, 10, 13, 34, 44, 59, 0x80, 0xFF, int(rng.integers(256))]))])
    ways: list[Callable[[], bytes]] = [
        lambda: content[:place],
        lambda: content[:place] + byte + content[place + 1 :],
        lambda: content[:place] + byte + content[place:],
        lambda: content[:place] + content[place + 1 :],
        lambda: content[:place] + content[place // 2 :],
        lambda: content[place:],
    ]
    return ways[int(rng.integers(len(ways)))]()


def _fill(rng: np.random.Generator, table: OddTable, n_rows: int | None) -> OddTable:
    n = int(rng.integers(12, 61)) if n_rows is None else n_rows
    dialect = _draw_dialect(rng)
    labels = np.zeros(n, dtype=int)
    labels[rng.permutation(n)[: int(rng.integers(3, max(4, n // 2)))]] = 1
    spelling = LABELS[int(rng.integers(len(LABELS)))]
    columns = []
    for name, maker in zip(table.names, table.makers, strict=True):
        if name == table.id_column:
            cells = [f"{'r' if table.seed % 2 else ''}{1000 + row}" for row in range(n)]
        elif name == table.label_column:
            cells = [spelling[0] if label else spelling[1] for label in labels]
        elif name == table.confidence_column:
            cells = [f"{rng.uniform(0.05, 1):.3g}" if label else str(rng.choice(["", "high", "7"])) for label in labels]
        else:
            cells = [_fits(cell, dialect) for cell in MAKERS[maker](rng, n)]
        columns.append(cells)
    rows = tuple(zip(*columns, strict=True))
    return replace(
        table, rows=rows, dialect=dialect, labels=tuple(labels.tolist()), blank_is_unlabeled=spelling[1] == ""
    )


def _draw_dialect(rng: np.random.Generator) -> Dialect:
    return Dialect(
        delimiter=str(rng.choice([",", ",", ";", "\t", "|"])),
        line_end=str(rng.choice(["\n", "\n", "\r\n", "\r"])),
        encoding=str(rng.choice(ENCODINGS)),
        quoting=str(rng.choice(["minimal", "minimal", "all", "some"])),
        blank_lines=bool(rng.random() < 0.2),
        last_line_end=bool(rng.random() < 0.8),
        compressed=bool(rng.random() < 0.1),
    )


def _fits(cell: str, dialect: Dialect) -> str:
    """Cell that the encoding can hold; line breaks inside cells only where lines end in another way."""
    if dialect.encoding == "cp1252":
        cell = cell.encode("cp1252", errors="ignore").decode("cp1252")
    return cell.replace("\n", " ") if dialect.line_end == "\r" else cell


def _quoted(cell: str, dialect: Dialect, rng: np.random.Generator) -> str:
    # A quote inside a field that does not begin with one needs no quoting, and often gets none.
    needs = any(mark in cell for mark in (dialect.delimiter, "\n", "\r")) or cell.startswith('"')
    wanted = dialect.quoting == "all" or (dialect.quoting == "some" and rng.random() < 0.3)
    return '"' + cell.replace('"', '""') + '"' if needs or wanted else cell


def _with_missing(rng: np.random.Generator, cells: Cells) -> Cells:
    share = float(rng.choice([0.0, 0.1, 0.6]))
    return [str(rng.choice(MISSING)) if rng.random() < share else cell for cell in cells]


def _floats(rng: np.random.Generator, n: int) -> Cells:
    form = str(rng.choice([".3f", ".17g", ".2e", "+.4f"]))
    scale = float(rng.choice([1e-12, 1.0, 1e6, 1e200]))
    return [format(scale * value, form) for value in rng.normal(size=n)]


def _words(rng: np.random.Generator, n: int) -> Cells:
    some = rng.choice(WORDS + WIDE_WORDS, int(rng.integers(1, 6)), replace=False)
    return [str(word) for word in rng.choice(some, n)]


def _sentences(rng: np.random.Generator, n: int) -> Cells:
    return [" ".join(rng.choice(WORDS + WIDE_WORDS, int(rng.integers(1, 9)))) for _ in range(n)]


def _days(rng: np.random.Generator, n: int) -> Cells:
    return [str(day) for day in np.datetime64("2020-01-01") + rng.integers(0, 2000, n)]


def _times(rng: np.random.Generator, n: int) -> Cells:
    zone = str(rng.choice(["", "Z", ".25+05:30", " -0800"]))
    return [
        f"{day}{rng.choice(['T', ' '])}{rng.integers(24):02d}:{rng.integers(60):02d}:07{zone}" for day in _days(rng, n)
    ]


def _days_turned_round(rng: np.random.Generator, n: int) -> Cells:
    return [f"{day[8:]}.{day[5:7]}.{day[:4]}" for day in _days(rng, n)]


def _one_word_late(rng: np.random.Generator, n: int) -> Cells:
    return [*_floats(rng, n - 1), "unknown"]


MAKERS: dict[str, Callable[[np.random.Generator, int], Cells]] = {
    "floats": lambda rng, n: _with_missing(rng, _floats(rng, n)),
    "whole numbers": lambda rng, n: _with_missing(rng, [str(value) for value in rng.integers(-5, 90, n)]),
    "large numbers": lambda rng, n: [str(value * 10**15) for value in rng.integers(10**6, 10**7, n).tolist()],
    "zeros and ones": lambda rng, n: _with_missing(rng, [str(value) for value in rng.integers(0, 2, n)]),
    "words": lambda rng, n: _with_missing(rng, _words(rng, n)),
    "sentences": lambda rng, n: _with_missing(rng, _sentences(rng, n)),
    "truth": lambda rng, n: _with_missing(rng, [str(word) for word in rng.choice(["Yes", "no", "TRUE", "f"], n)]),
    "days": lambda rng, n: _with_missing(rng, _days(rng, n)),
    "times": lambda rng, n: _with_missing(rng, _times(rng, n)),
    "days turned round": _days_turned_round,
    "uuids": lambda rng, n: [str(uuid.UUID(bytes=rng.bytes(16))) for _ in range(n)],
    "counter": lambda rng, n: [str(row) for row in range(n)],
    "codes": lambda rng, n: [f"{value:05d}" for value in rng.integers(0, 300, n)],
    "constant": lambda rng, n: ["same"] * n,
    "nothing": lambda rng, n: [str(rng.choice(MISSING)) for _ in range(n)],
    "decimal comma": lambda rng, n: _with_missing(
        rng, [f"{value:.2f}".replace(".", ",") for value in rng.normal(size=n)]
    ),
    "thousands": lambda rng, n: [f"{value:,}" for value in rng.integers(0, 10**7, n)],
    "one word late": _one_word_late,
}
