"""Run the commands of docs/walkthrough.md and write what they print into the page.

    UNSKEW_DATA=FOLDER python docs/walkthrough_page.py

The page is its own source: a block of commands or of Python is run as it stands, and the block of text behind it, if
there is one, becomes what was printed. Each section with a table has a folder of its own. A test does the same and
compares.
"""

import contextlib
import importlib.metadata
import io
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import threadpoolctl
import torch

from unskew import cli
from unskew._support.files import write_atomically

PAGE = Path(__file__).parent / "walkthrough.md"
BLOCK = re.compile(r"```(console|python)\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.S)
SECTION = re.compile(r"(?m)^(?=## )")
MADE_WITH = re.compile(r"(?m)^Printed with .*$")
WIDTH = 120
"""Sentences are broken where a terminal would break them; tables, commands and rows of files are left as they are."""


def environment() -> str:
    """What the last digits of a trained number depend on, in a sentence; sums are made on one thread."""
    torch.set_num_threads(1)
    threadpoolctl.threadpool_limits(1)
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("torch", "numpy", "scikit-learn"))
    return f"Printed with {versions} on a processor with {torch.backends.cpu.get_cpu_capability()}."


def sections(text: str) -> list[str]:
    """The page in parts that can be run by themselves, the introduction first."""
    return SECTION.split(text)


def written_anew(section: str, folder: Path) -> str:
    """A section with what its blocks print when they are run in a folder."""
    names: dict[str, object] = {}

    def block(found: re.Match[str]) -> str:
        kind, code, shown = found.groups()
        printed = "".join(run(line, folder) for line in code.splitlines()) if kind == "console" else ""
        if kind == "python":
            printed = run_python(code, folder, names)
        output = f"\n```text\n{printed}```\n" if shown is not None else ""
        return f"```{kind}\n{code}```\n{output}"

    return BLOCK.sub(block, section)


def run(line: str, folder: Path) -> str:
    """What a command prints, of both kinds; `unskew` in this process, because loading it takes seconds."""
    name, *arguments = shlex.split(line)
    if name != "unskew":
        done = subprocess.run([name, *arguments], cwd=folder, capture_output=True, text=True, check=True)
        return done.stdout
    code: object = 0
    printed, before = io.StringIO(), sys.argv
    sys.argv = [name, *arguments]
    try:
        with contextlib.chdir(folder), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            cli.main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = before
    if code:
        raise RuntimeError(f"{line}\nends with exit code {code}:\n{printed.getvalue()}")
    return as_shown(printed.getvalue())


def run_python(code: str, folder: Path, names: dict[str, object]) -> str:
    """What Python prints."""
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        exec(compile(code, str(PAGE), "exec"), names)
    return as_shown(printed.getvalue())


def as_shown(printed: str) -> str:
    """Printed lines without blanks at their ends; sentences are broken."""
    lines: list[str] = []
    for line in printed.rstrip().splitlines():
        is_sentence = not line.startswith(" ") and "unskew " not in line  # a command stays on one line
        lines += textwrap.wrap(line, WIDTH, break_on_hyphens=False) if is_sentence else [line.rstrip()]
    return "".join(f"{line}\n" for line in lines)


def main() -> None:
    """Write the page anew."""
    made_with = environment()
    parts = []
    for section in sections(PAGE.read_text()):
        with tempfile.TemporaryDirectory() as folder:
            parts.append(written_anew(section, Path(folder)))
    write_atomically(PAGE, MADE_WITH.sub(made_with, "".join(parts)).encode())


if __name__ == "__main__":
    main()
