"""Results of the benchmarks as rows in CSV files, and the machine that they come from."""

import csv
import io
import os
import platform
import re
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from unskew._support.files import write_atomically

Row = dict[str, object]
Rows = list[Row]

MACHINE = "machine.csv"
PACKAGES = "unskew", "torch", "numpy", "scikit-learn", "pyarrow", "lightgbm", "libauc", "pulearn", "ray"


def add_out(parser: ArgumentParser) -> None:
    """Give a script the option that all of them have."""
    parser.add_argument("--out", type=Path, help="Write the rows of the result to this CSV file.")


def save_rows(rows: Iterable[Mapping[str, object]], path: Path | None) -> None:
    """Write a table, in which what a row does not have stays empty; and what it was measured on beside it.

    `machine.csv` in the same folder has one row for each table, because tables may come from different machines.
    Without a path nothing is written.
    """
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(rows, path)
    save_machine(path)


def save_machine(path: Path) -> None:
    """Write beside a table what it was measured on."""
    machines = path.with_name(MACHINE)
    known = read_rows(machines) if machines.exists() else []
    others = [each for each in known if each["file"] != path.name]
    _write(sorted([*others, {"file": path.name, **machine()}], key=lambda each: str(each["file"])), machines)


def with_other_processors(rows: Iterable[Row], path: Path | None) -> Rows:
    """Rows with the name of this processor, behind those that the table has from other ones.

    For ratios that differ from one kind of processor to the next: what was measured on the others stays to be seen.
    """
    known = read_rows(path) if path is not None and path.exists() else []
    here = _processor()
    return [*(dict(each) for each in known if each["processor"] != here), *({"processor": here, **row} for row in rows)]


@contextmanager
def continued(path: Path, header: list[str]) -> Iterator[tuple[list[dict[str, str]], Callable[[Row], None]]]:
    """Rows that a study has made already, and a function that appends one more: an interrupted study goes on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    known = read_rows(path) if path.exists() else []
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, header, lineterminator="\n")
        if file.tell() == 0:  # a file may hold its header alone
            writer.writeheader()

        def append(row: Row) -> None:
            text = {name: f"{each:.6g}" if isinstance(each, float) else str(each) for name, each in row.items()}
            writer.writerow(text)
            file.flush()
            known.append(text)

        yield known, append


def read_rows(path: Path) -> list[dict[str, str]]:
    """Rows of a table, as text."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def machine() -> dict[str, str]:
    """Kind of this machine, and the versions of what ran on it."""
    kind = {"processor": _processor(), "cores": str(os.cpu_count()), "python": platform.python_version()}
    return kind | {name: _version(name) for name in PACKAGES}


def _write(rows: Iterable[Mapping[str, object]], path: Path) -> None:
    rows = list(rows)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({column: _entry(value) for column, value in row.items()} for row in rows)
    write_atomically(path, text.getvalue().encode())


def _entry(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.5g}" if isinstance(value, float) else value


def _processor() -> str:
    cpus = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.*)", cpus.read_text()) if cpus.exists() else []
    return names[0].strip() if names else platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
