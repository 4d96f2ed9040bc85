"""One self-contained HTML page: no script, no font, no picture from anywhere else."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_CSS = """
:root { color-scheme: light dark; --text: #1f2328; --soft: #59636e; --page: #f6f8fa; --card: #ffffff; --line: #d1d9e0; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --soft: #9198a1; --page: #0d1117; --card: #151b23; --line: #3d444d; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 70rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; margin: 0.5rem 0; } h2 { font-size: 1.25rem; margin: 2.2rem 0 0.4rem; }
p { max-width: 48rem; } .soft { color: var(--soft); }
figure { margin: 1rem 0; padding: 0.8rem; background: #ffffff; border: 1px solid var(--line); border-radius: 8px; }
figure svg { display: block; width: 100%; height: auto; }
figcaption { color: #59636e; font-size: 0.9rem; margin-top: 0.5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; background: var(--card); border: 1px solid var(--line); }
th, td { padding: 0.4rem 0.8rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
code { font-size: 0.9em; }
"""


@dataclass(frozen=True)
class Table:
    """Header and rows of text; the first column names the row."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Picture:
    """An SVG element and what it shows."""

    svg: str
    caption: str


@dataclass(frozen=True)
class Section:
    """A heading with paragraphs, then tables and pictures in order."""

    title: str
    paragraphs: Sequence[str]
    parts: Sequence[Table | Picture]


def render_page(title: str, lead: str, sections: Sequence[Section], footer: str) -> str:
    """The page as HTML text."""
    body = "".join(_section(each) for each in sections)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>{_CSS}</style></head>\n"
        f'<body><main><h1>{escape(title)}</h1><p>{escape(lead)}</p>{body}<p class="soft">{escape(footer)}</p></main>'
        "</body></html>\n"
    )


def _section(section: Section) -> str:
    paragraphs = "".join(f"<p>{escape(each)}</p>" for each in section.paragraphs)
    parts = "".join(_table(each) if isinstance(each, Table) else _picture(each) for each in section.parts)
    return f"<section><h2>{escape(section.title)}</h2>{paragraphs}{parts}</section>\n"


def _table(table: Table) -> str:
    header = "".join(f"<th>{escape(each)}</th>" for each in table.header)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    return f'<div class="scroll"><table><thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table></div>\n'


def _picture(picture: Picture) -> str:
    return f"<figure>{picture.svg}<figcaption>{escape(picture.caption)}</figcaption></figure>\n"
