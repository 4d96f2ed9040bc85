"""Checks of a table before anything is learned from it, in the words of a report.

`check_table` finds columns that give away labels or confidence (`leaks`), labels and confidence that depend on the time
or on a source (`sources`), and cases that are both labeled and unlabeled (`duplicates`). `TableSummary` is what a model
keeps of its table, so that rows to score can be compared with it (`drift`).
"""

from unskew.checks._columns import Checked
from unskew.checks.sources import find_uneven_labels
from unskew.checks.summary import TableSummary
from unskew.checks.table import check_rows, check_table

__all__ = ["Checked", "TableSummary", "check_rows", "check_table", "find_uneven_labels"]
