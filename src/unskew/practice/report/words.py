"""HTML that carries the exact value of a number."""

from html import escape


def exact(text: str, value: float | None, name: str = "") -> str:
    """Text whose exact value programs can read."""
    identity = f' id="{escape(name)}"' if name else ""
    content = "" if value is None else f' data-value="{value!r}"'
    return f"<span{identity}{content}>{escape(text)}</span>"
