"""Rows as they are read, and how figures, tables and pictures are written in Markdown."""

from collections.abc import Iterable, Sequence

FOLDER = "benchmarks"  # of the pictures, beside the page
TextRow = dict[str, str]
Results = dict[str, list[TextRow]]


def where(rows: Iterable[TextRow], /, **entries: object) -> list[TextRow]:
    """Rows with these entries."""
    wanted = {column: str(value) for column, value in entries.items()}
    return [row for row in rows if all(row.get(column) == value for column, value in wanted.items())]


def number(rows: Sequence[TextRow], column: str) -> float | None:
    """Entry of the first row; None if there is no row, or nothing in it."""
    return float(rows[0][column]) if rows and rows[0].get(column) else None


def numbers(rows: Iterable[TextRow], column: str) -> list[float]:
    """All entries of a column that are there."""
    return [float(row[column]) for row in rows if row.get(column)]


def count(entry: str) -> str:
    """A whole number for people."""
    return f"{int(entry):,d}"


def short(value: float | None) -> str:
    """Three digits, or all before the point; a dash for nothing."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown; the first column names the row, the others are figures."""
    rule = "|".join(["---", *["---:"] * (len(header) - 1)])
    return "\n".join([f"| {' | '.join(header)} |", f"|{rule}|", *(f"| {' | '.join(row)} |" for row in rows)])


def picture(name: str, text: str) -> str:
    """Markdown of a picture."""
    return f"![{text}]({FOLDER}/{name}.png)"
