"""Rows of results as the paper's tables and figures, beside the paper's own numbers."""

from unskew.experiments.summary.build import summarize
from unskew.experiments.summary.figures import draw
from unskew.experiments.summary.latex import to_latex
from unskew.experiments.summary.markdown import to_markdown
from unskew.experiments.summary.paper import published
from unskew.experiments.summary.records import Summary
from unskew.experiments.summary.runs import on_datasets_of, with_all_rows
from unskew.experiments.summary.writing import Written, write

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
