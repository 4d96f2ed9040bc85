"""Files of a summary."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from unskew._support.files import write_atomically
from unskew.errors import MissingExtra
from unskew.paper.summary.figures import pictures
from unskew.paper.summary.latex import to_latex
from unskew.paper.summary.markdown import to_markdown
from unskew.paper.summary.records import Summary


@dataclass(frozen=True)
class Written:
    """Files that were written, and what could not be; an empty message means that nothing is missing."""

    files: tuple[Path, ...]
    message: str = ""

    def __iter__(self) -> Iterator[Path]:
        return iter(self.files)


def write(summary: Summary, folder: Path) -> Written:
    """Write PLAN.md, PLAN.tex and, where the plan has a picture, PLAN.png and PLAN.svg; the folder is made."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn, message = {}, ""
    try:
        drawn = pictures(summary)
    except MissingExtra as error:
        message = f"The tables are written; {error}"
    name = summary.plan.name
    contents = {
        ".md": to_markdown(summary, picture=f"{name}.png" if drawn else "").encode(),
        ".tex": to_latex(summary).encode(),
        **drawn,
    }
    for suffix, content in contents.items():
        write_atomically(folder / f"{name}{suffix}", content)
    return Written(tuple(folder / f"{name}{suffix}" for suffix in contents), message)
