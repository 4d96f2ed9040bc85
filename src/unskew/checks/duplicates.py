"""Rows that are labeled and unlabeled at once: the same values in all columns that are used."""

from typing import Any

import numpy as np

from unskew._support.text import percent, plural
from unskew.checks._bins import at_least, at_most
from unskew.checks._columns import dense
from unskew.data.rows import Rows
from unskew.metrics.diagnostics import NOTE, Finding

ROWS_AT_ONCE = 1 << 16
LEAST_TWINS, LEAST_SHARE = 3, 0.01
"""Labeled rows with an unlabeled twin, in number and share, that are worth a note."""
TIMES_USUAL = 3
"""How many times more often than unlabeled rows have twins among themselves."""
MOST_SHOWN = 3


def find_twins(X: Any, y: np.ndarray, first_row: int = 1) -> list[Finding]:
    """A note if rows stand in the table twice, labeled and unlabeled.

    Where rows have twins anyway, because a table has few columns with few values, nothing is said.
    """
    digests = _digests(X, len(y))
    labeled = y == 1
    own, others = digests[labeled], np.sort(digests[~labeled])
    if not len(own) or not len(others):
        return []
    place = np.minimum(np.searchsorted(others, own), len(others) - 1)
    has_twin = others[place] == own
    n_twins = int(has_twin.sum())
    if n_twins < LEAST_TWINS or n_twins < LEAST_SHARE * len(own):
        return []
    repeated = others[1:] == others[:-1]
    usual = int(np.count_nonzero(np.append(repeated, False) | np.append(False, repeated)))
    among_labeled = len(own) - len(np.unique(own))
    usual_share = max(at_most(usual, len(others)), at_least(among_labeled, len(own)))
    if at_least(n_twins, len(own)) < TIMES_USUAL * usual_share:
        return []
    return [_finding(digests, labeled, own[has_twin], n_twins, first_row)]


def _finding(digests: np.ndarray, labeled: np.ndarray, twins: np.ndarray, n_twins: int, first_row: int) -> Finding:
    chosen = np.unique(twins)
    rows = np.flatnonzero(np.isin(digests, chosen))
    n_unlabeled = int(np.count_nonzero(~labeled[rows]))
    pairs = []
    for digest in digests[rows[labeled[rows]]][:MOST_SHOWN]:
        same = rows[digests[rows] == digest]
        pairs.append(f"{first_row + same[labeled[same]][0]:,} and {first_row + same[~labeled[same]][0]:,}")
    text = (
        f"{plural(n_twins, 'labeled row')} ({percent(n_twins / labeled.sum())}) and "
        f"{plural(n_unlabeled, 'unlabeled row')} have the same values in all columns that are used (rows "
        f"{'; '.join(pairs)})."
    )
    advice = (
        "If they are the same cases, remove the unlabeled ones: the same case cannot be labeled and unlabeled, and "
        "estimates take it for a case that the model has not seen."
    )
    return Finding(NOTE, "twins", text, advice)


def _digests(X: Any, n_rows: int) -> np.ndarray:
    """64 bits of each row, a block of rows at a time."""
    in_compact_form = hasattr(X, "part") and X.in_memory
    if isinstance(X, Rows):
        X.walk()
    parts = []
    for start in range(0, n_rows, ROWS_AT_ONCE):
        index = np.arange(start, min(start + ROWS_AT_ONCE, n_rows))
        if in_compact_form:
            block = X.part(index)
            parts.append(_mixed([block.numbers, block.codes], len(index)))
            continue
        parts.append(_mixed([X.take(index) if isinstance(X, Rows) else dense(X[index])], len(index)))
    return np.concatenate([np.empty(0, dtype=np.uint64), *parts])


def _mixed(arrays: list[np.ndarray], n_rows: int) -> np.ndarray:
    """One number for each row that depends on all its values, and on their order."""
    digest = np.zeros(n_rows, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for array in arrays:
            for column in array.reshape(n_rows, -1).T:
                bits = np.ascontiguousarray(column + 0.0 if column.dtype.kind == "f" else column)  # 0 for -0
                bits = bits.astype(np.float64).view(np.uint64)
                digest = (digest ^ bits) * np.uint64(0x9E3779B97F4A7C15)
                digest ^= digest >> np.uint64(29)
    return digest
