"""Self-contained HTML pages: no script, no font, no picture from anywhere else."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib import resources

from unskew._support.text import Table

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
"""Tells the browser what the page promises: nothing is fetched from anywhere."""


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
    """A page of sections, without scripts, as HTML text."""
    body = "".join(_section(each) for each in sections)
    return render_document(
        title, f'<h1>{escape(title)}</h1><p>{escape(lead)}</p>{body}<p class="soft">{escape(footer)}</p>'
    )


def render_document(title: str, body: str, scripts: str = "") -> str:
    """Any page in the house style; `body` and `scripts` are HTML already."""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>{asset('page.css')}</style></head>\n"
        f"<body><main>{_unbroken(body)}</main>{scripts}</body></html>\n"
    )


def _unbroken(body: str) -> str:
    """Keep numbers and their per cent sign on one line."""
    return re.sub(r"(\d) %", "\\1\N{NO-BREAK SPACE}%", body)


@cache
def asset(name: str) -> str:
    """Text of a file that goes into every page."""
    return resources.files("unskew.practice.report").joinpath(name).read_text("utf-8")


def render_table(table: Table, caption: str = "", kind: str = "") -> str:
    """A table in a box of its own that scrolls where it is too wide."""
    header = "".join(f'<th scope="col">{escape(each)}</th>' for each in table.header)
    rows = "".join(
        "<tr>" + "".join(_cell(cell, is_first=place == 0) for place, cell in enumerate(row)) + "</tr>"
        for row in table.rows
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    label = escape(caption or f"Table: {', '.join(table.header)}")
    kind = f' class="{kind}"' if kind else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table{kind}>{title}'
        f"<thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table></div>\n"
    )


def _section(section: Section) -> str:
    paragraphs = "".join(f"<p>{escape(each)}</p>" for each in section.paragraphs)
    parts = "".join(render_table(each) if isinstance(each, Table) else _picture(each) for each in section.parts)
    return f"<section><h2>{escape(section.title)}</h2>{paragraphs}{parts}</section>\n"


def _cell(text: str, *, is_first: bool) -> str:
    return f'<th scope="row">{escape(text)}</th>' if is_first else f"<td>{escape(text)}</td>"


def _picture(picture: Picture) -> str:
    return f"<figure>{picture.svg}<figcaption>{escape(picture.caption)}</figcaption></figure>\n"
