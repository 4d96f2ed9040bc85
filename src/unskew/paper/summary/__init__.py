"""Rows of results as the paper's tables and figures, beside the paper's own numbers."""

from unskew.paper.summary.build import summarize
from unskew.paper.summary.figures import draw
from unskew.paper.summary.latex import to_latex
from unskew.paper.summary.markdown import to_markdown
from unskew.paper.summary.paper import published
from unskew.paper.summary.records import Summary
from unskew.paper.summary.runs import on_datasets_of, with_all_rows
from unskew.paper.summary.writing import Written, write

__all__ = [
    "Summary",
    "Written",
    "draw",
    "on_datasets_of",
    "published",
    "summarize",
    "to_latex",
    "to_markdown",
    "with_all_rows",
    "write",
]
