"""How well methods rank: trees, networks, and what combines them."""

from collections.abc import Iterator

from chapters.text import TextRow, table, where

PARTS_OF_TREES = "network", "trees"
"""Ways that `auto` with trees must keep up with, each alone."""


def trees_section(rows: list[TextRow]) -> str:
    """Mean AUC of each way on each table, and how far `auto` with trees is from the better of network and trees."""
    if not rows:
        return ""
    ways = list(dict.fromkeys(row["way"] for row in rows))
    lines = [_line(name, own, ways) for name, own in by_table(rows)]
    header = ["table", "draws", "labels", *ways, "auto, trees over the better of network and trees"]
    return (
        "## Boosted trees\n\n"
        "`python benchmarks/trees_auc.py`. Mean true test AUC on draws that were written down before any of them was "
        "run: two health surveys by the paper's protocol at priors of 0.1 and 0.2, and two laws with interactions. "
        "`network` and `trees` are `conf-auc`; `auto` with trees has boosted `conf-auc` and `conf-fit` beside its "
        "other methods.\n\n" + table(header, lines)
    )


def by_table(rows: list[TextRow]) -> Iterator[tuple[str, list[TextRow]]]:
    """Rows of each table, in the order in which they were made."""
    for name in dict.fromkeys(row["table"] for row in rows):
        yield name, where(rows, table=name)


def _line(name: str, rows: list[TextRow], ways: list[str]) -> list[str]:
    means = {way: mean(where(rows, way=way), "auc") for way in ways}
    gain = means["auto, trees"] - max(means[way] for way in PARTS_OF_TREES)
    draws, labels = len(where(rows, way=ways[0])), mean(rows, "labels")
    return [name, str(draws), f"{labels:.0f}", *(f"{each:.3f}" for each in means.values()), f"{gain:+.3f}"]


def mean(rows: list[TextRow], column: str) -> float:
    """Mean of a column."""
    return sum(float(row[column]) for row in rows) / len(rows)


def categories_section(rows: list[TextRow]) -> str:
    """Mean AUC by sets of categories and by single columns."""
    if not rows:
        return ""
    lines = []
    for name, of_table in by_table(rows):
        for method in dict.fromkeys(row["method"] for row in of_table):
            own = where(of_table, method=method)
            both = [mean(own, column) for column in ("sets", "columns")]
            labels = f"{mean(own, 'labels'):.0f}"
            lines.append([name, method, str(len(own)), labels, *(f"{each:.3f}" for each in both)])
    header = ["table", "method, with trees", "draws", "labels", "sets of categories", "a column for each"]
    return (
        "## Trees and categories\n\n"
        "`python benchmarks/trees_categories.py`. Mean true test AUC where trees split by sets of categories, as they "
        "do for a data frame, and where each category is a column of its own, on the same draws.\n\n"
        + table(header, lines)
    )
