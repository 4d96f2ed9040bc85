"""Pieces of HTML that pages are put together from."""

from collections.abc import Sequence
from html import escape


def section(name: str, title: str, content: str) -> str:
    """A part of the page under a heading of its own; `content` is HTML already."""
    return f'<section aria-labelledby="{name}"><h2 id="{name}">{escape(title)}</h2>{content}</section>'


def figure(title: str, svg: str, below: str = "") -> str:
    """A chart of our own with its title; both follow light and dark."""
    return f'<figure class="drawn"><h3>{escape(title)}</h3>{svg}{below}</figure>'


def key(*entries: tuple[str, str]) -> str:
    """What the lines and marks of a chart are: pairs of style and text."""
    items = "".join(f'<li class="{kind}">{escape(text)}</li>' for kind, text in entries)
    return f'<ul class="key">{items}</ul>'


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Names and values, one under another."""
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(str(value))}</dd>" for name, value in pairs)
    return f'<dl class="facts">{rows}</dl>'
