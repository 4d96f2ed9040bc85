"""Explanations: rows per second by kind of model, and trees beside LightGBM's own."""

from chapters.text import TextRow, count, number, short, table


def explanation_section(rows: list[TextRow]) -> str:
    """The table, and what the ratio is of."""
    if not rows:
        return ""
    lines = [
        [
            row["what"],
            count(row["rows"]),
            f"{float(row['rows_per_second']):,.0f}",
            short(number([row], "over_lightgbm")),
        ]
        for row in rows
    ]
    return (
        "## Explanations\n\n"
        "`python benchmarks/explain.py`. Rows per second of processor time, of `unskew.explain` in one thread, 10 "
        "columns, against 1000 background rows for linear functions and trees and 32 for all else. The last column is "
        "the time over that of LightGBM's own contributions (`pred_contrib`) to the same trees and rows: above 1 ours "
        "take longer. These follow the rows of training down each tree instead of comparing with a background.\n\n"
        + table(["model", "rows", "rows per second", "time over LightGBM's"], lines)
    )
