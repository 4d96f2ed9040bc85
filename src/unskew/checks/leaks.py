"""Columns that give away the labels, the true classes or the confidence, so that a model would learn to copy them.

What sets a leak apart from a strong column is that labels are only some of the positives. Among the rows that a strong
column points at there are unlabeled positives as well, so that these rows are not all labeled; and a strong column
misses some of the labeled rows. A column that tells labeled rows from all others, both ways, was made from the labels.
Shares are exact bounds, so that a few labeled rows do not look like a rule by chance.
"""

import re
import shlex
from collections.abc import Iterator

import numpy as np
from scipy.stats import hypergeom, rankdata

from unskew._support.text import percent, shown
from unskew.checks._bins import LABELED_PER_BIN, Bins, at_least, at_most, bins_of
from unskew.checks._columns import Checked, Values
from unskew.metrics.diagnostics import NOTE, WARNING, Finding

PURE, CAUGHT = 0.95, 0.9
"""Share of the rows with some values that are labeled, and share of the labeled rows with them, that no honest column
reaches."""
LEAST_PURE = 0.7
"""What the first of these must be for certain."""
MOST_EXCEPTIONS, MOST_EXCEPTIONS_BOUND = 0.01, 0.13
"""Share of labeled rows without a value that the others have, and its upper bound; 22 labeled rows reach it."""
RARE, RARE_IF_TWO, RARE_BY_NAME = 0.1, 0.45, 0.6
"""Share of the unlabeled rows with the value of the labeled ones, at most: of many values, of two, of two in a column
whose name is like that of the label."""
RARE_WITH_EXCEPTIONS = 0.2
RARE_FEW_LABELS, RARE_FEW_LABELS_IF_TWO = 0.1, 0.05
LEAST_FEW_LABELS = 10
SAME_ORDER, LEAST_SAME_ORDER = 0.99, 0.95
"""Rank correlation with the confidence, and what it must be for certain."""
LEAST_WITH_CONFIDENCE = 8
LEAST_LEVELS = 5
"""Different numbers that a rounded confidence must have to be recognized."""
MOST_SHOWN = 3
CHANCE = 0.01
"""Bound on the chance of any finding in a table whose columns have nothing to do with the labels."""
TRUTH_WORDS = {"truth", "true", "target", "outcome", "actual", "confirmed", "verified", "gold", "groundtruth"}
EMPTY_WORDS = {"is", "known", "label", "labeled", "labelled", "flag", "flagged", "y", "of", "the", "has", "was", "type"}


def find_leaks(checked: Checked, label: str | None = None) -> list[Finding]:
    """One warning for each column that gives away labels, true classes or confidence."""
    return [finding for column in checked.columns() for finding in leaks_of(column, checked, label)]


def leaks_of(column: Values, checked: Checked, label: str | None = None) -> list[Finding]:
    """The worst that can be said of a column; empty if nothing is wrong with it."""
    if checked.n_labeled < 2 or not checked.n_unlabeled:
        return []
    bins = bins_of(column, checked.labeled)
    for sentence, level, advice in _reasons(column, bins, checked, label):
        return [Finding(level, "leak", f"Column {shown(column.name)} {sentence}", advice, (column.name,))]
    return []


Reason = tuple[str, str, str]
"""What was found, how bad it is, what to do."""


def _reasons(column: Values, bins: Bins, checked: Checked, label: str | None) -> Iterator[Reason]:
    counts = _Counts(bins, checked)
    for found in (_gives_labels_away(column, bins, counts), _marks_labels(column, bins, counts, label)):
        if found is not None:
            yield found
    found = None if checked.confidence is None else _follows_confidence(column, bins, checked)
    if found is not None:
        yield found


class _Counts:
    """Labeled and other rows in each bin; of others those of the whole table, if only some were drawn."""

    def __init__(self, bins: Bins, checked: Checked) -> None:
        self.labeled, self.others = bins.count(checked.labeled), bins.count(~checked.labeled)
        self.n_labeled, self.n_others = int(self.labeled.sum()), int(self.others.sum())
        self.scale = (checked.n_unlabeled / self.n_others) / (checked.n_labeled / self.n_labeled)
        self.n_columns = checked.n_columns


def _gives_labels_away(column: Values, bins: Bins, counts: _Counts) -> Reason | None:
    """Whether some values are those of labeled rows and of nobody else."""
    # A value that one row alone has says nothing.
    some = np.flatnonzero(counts.labeled >= (1 if bins.values is None else 2))
    share = counts.labeled[some] / (counts.labeled[some] + counts.scale * counts.others[some])
    order = some[np.argsort(-share, kind="stable")]
    own, others = np.cumsum(counts.labeled[order]), np.cumsum(counts.others[order])
    pure = np.flatnonzero(own >= PURE * (own + counts.scale * others))
    if not len(pure):
        return None
    last = pure[-1]
    n_own, n_others = int(own[last]), int(others[last])
    # Where most rows are labeled, most rows with any value are.
    certain = at_least(n_own, n_own + counts.scale * n_others)
    apart = n_own / counts.n_labeled - n_others / counts.n_others
    if n_own < CAUGHT * counts.n_labeled or certain < LEAST_PURE or apart < CAUGHT - (1 - PURE):
        return None
    n_all = counts.n_labeled + counts.n_others
    chance = hypergeom.sf(n_own - 1, n_all, counts.n_labeled, n_own + n_others)
    if chance * bins.n_bins * counts.n_columns > CHANCE:
        return None
    words = _in_words(column, bins, order[: last + 1])
    text = (
        f"gives the labels away: {words} is found on {_of(n_own, counts.n_labeled)} labeled rows and on "
        f"{_others(n_others, counts)} others."
    )
    return text, WARNING, _advice(column, "was filled in or changed when a row was labeled")


def _marks_labels(column: Values, bins: Bins, counts: _Counts, label: str | None) -> Reason | None:
    """Whether all labeled rows have one of two values, or a rare one, and few others do: a true class, for one."""
    for which, most, most_if_few in _candidates(column, bins, counts, label):
        own, others = int(counts.labeled[which].sum()), int(counts.others[which].sum())
        exceptions = counts.n_labeled - own
        rare = at_most(others, counts.n_others)
        if exceptions > MOST_EXCEPTIONS * counts.n_labeled or rare > (RARE_WITH_EXCEPTIONS if exceptions else most):
            continue
        level = WARNING
        if at_most(exceptions, counts.n_labeled) > MOST_EXCEPTIONS_BOUND:
            if counts.n_labeled < LEAST_FEW_LABELS or rare > most_if_few:
                continue
            level = NOTE
        words = _in_words(column, bins, which)
        text = (
            f"marks the labeled rows: {words} is found on {_of(own, counts.n_labeled)} labeled rows, but only on "
            f"{_others(others, counts)} others."
        )
        return text, level, _advice(column, "holds the true class, or was filled in when a row was labeled")
    return None


def _candidates(
    column: Values, bins: Bins, counts: _Counts, label: str | None
) -> Iterator[tuple[np.ndarray, float, float]]:
    """Bins that all labeled rows may be in, and the share of the others in them, at most; less if few are labeled."""
    every, everything = counts.labeled + counts.others, np.arange(bins.n_bins)
    present = everything[:-1][every[:-1] > 0]
    two = RARE_BY_NAME if _named_like_the_label(column.name, label) else RARE_IF_TWO
    if every[-1]:
        yield present, RARE_IF_TWO, RARE_FEW_LABELS
        yield everything[-1:], RARE_IF_TWO, RARE_FEW_LABELS
    if len(present) == 2:
        yield present[:1], two, RARE_FEW_LABELS_IF_TWO
        yield present[1:], two, RARE_FEW_LABELS_IF_TWO
        return
    if bins.values is not None and len(present):
        yield present[counts.labeled[present].argmax()][None], RARE, RARE_FEW_LABELS_IF_TWO
    usual = int(every.argmax())
    if column.kind == "numeric" and bins.n_bins > 3 and 2 * every[usual] >= every.sum() and _is_one_value(bins, usual):
        yield np.delete(everything, usual), RARE, RARE_FEW_LABELS


def _is_one_value(bins: Bins, which: int) -> bool:
    if bins.values is not None or which in (0, bins.missing, bins.missing - 1):
        return bins.values is not None or which == bins.missing
    return bool(bins.edges[which] <= np.nextafter(bins.edges[which - 1], np.inf))


def _follows_confidence(column: Values, bins: Bins, checked: Checked) -> Reason | None:
    """Whether the column is the confidence in other numbers, or in words."""
    assert checked.confidence is not None
    own = checked.labeled & ~np.isnan(column.numbers)
    n = int(own.sum())
    if n < LEAST_WITH_CONFIDENCE or 2 * n < checked.labeled.sum():
        return None
    confidence, numbers = checked.confidence[own], column.numbers[own]
    n_levels = len(np.unique(confidence))
    if n_levels < 3:
        return None
    advice = _advice(column, "was made from the confidence, or together with it")
    if column.kind != "categorical" and np.ptp(numbers) > 0:
        same = float(np.corrcoef(rankdata(numbers), rankdata(confidence))[0, 1])
        if _is_rounded(numbers, confidence) or _is_rounded(-numbers, confidence):
            text = "follows the confidence: on labeled rows it never goes the other way."
            return text, WARNING, advice
        least = float(np.tanh(np.arctanh(min(abs(same), 1 - 1e-9)) - 1.645 * 1.03 / np.sqrt(max(n - 3, 1))))
        if abs(same) >= SAME_ORDER and least >= LEAST_SAME_ORDER:
            way = "rises" if same > 0 else "falls"
            text = f"follows the confidence: on labeled rows it {way} with it (rank correlation {same:.3f})."
            return text, WARNING, advice
    if _sorts_confidence(bins.codes[own], confidence):
        text = "follows the confidence: each of its values stands for a range of it, and no two ranges overlap."
        return text, WARNING, advice
    return None


def _is_rounded(numbers: np.ndarray, confidence: np.ndarray) -> bool:
    """Whether numbers never fall while the confidence rises, though they have several values."""
    if len(np.unique(numbers)) < LEAST_LEVELS:
        return False
    ordered = numbers[np.lexsort((numbers, confidence))]
    return bool((np.diff(ordered) >= 0).all())


def _sorts_confidence(codes: np.ndarray, confidence: np.ndarray) -> bool:
    """Whether three values or more cut the confidence into ranges that do not overlap."""
    used, place, count = np.unique(codes, return_inverse=True, return_counts=True)
    if not 3 <= len(used) <= LABELED_PER_BIN or count.min() < 3:
        return False
    low, high = np.full(len(used), np.inf), np.full(len(used), -np.inf)
    np.minimum.at(low, place, confidence)
    np.maximum.at(high, place, confidence)
    order = np.argsort(low)
    return bool((high[order][:-1] < low[order][1:]).all())


def _named_like_the_label(name: str, label: str | None) -> bool:
    words = _words(name)
    return bool(words & TRUTH_WORDS) or bool(label and (words & _words(label)) - EMPTY_WORDS)


def _words(name: str) -> set[str]:
    apart = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).lower()
    return set(re.split(r"[^a-z0-9]+", apart)) - {""}


def _in_words(column: Values, bins: Bins, which: np.ndarray) -> str:
    """The values in some bins, for a sentence."""
    used = np.intersect1d(which, bins.used)
    present = [int(each) for each in used if each != bins.missing]
    words = ["no value"] if bins.missing in which else []
    if present and len(present) == np.count_nonzero(bins.used != bins.missing):
        words.append("a value")
    elif bins.values is not None:
        words += [column.in_words(float(bins.values[each])) for each in present[:MOST_SHOWN]]
        words += [f"one of {len(present) - MOST_SHOWN:,} other values"] if len(present) > MOST_SHOWN else []
    elif present:
        one_run = np.count_nonzero((bins.used >= present[0]) & (bins.used <= present[-1])) == len(present)
        words.append(_range_in_words(column, bins.edges, present[0], present[-1]) if one_run else "some of its values")
    return " or ".join(words)


def _range_in_words(column: Values, edges: np.ndarray, first: int, last: int) -> str:
    """The numbers from one bin to another; the first and the last bin have no end."""
    low = column.in_words(float(edges[first - 1])) if first else ""
    high = column.in_words(float(edges[last])) if last < len(edges) else ""
    if not low:
        return f"less than {high}"
    return f"from {low} to {high}" if high and high != low else low if high else f"{low} or more"


def _of(part: int, whole: int) -> str:
    return f"all {whole:,}" if part == whole else f"{part:,} of {whole:,}"


def _others(part: int, counts: _Counts) -> str:
    if not part:
        return "none of the"
    return f"{percent(part / counts.n_others)} of the"


def _advice(column: Values, origin: str) -> str:
    return (
        f"If it {origin}, a model learns nothing else, and all estimates are too good: leave it out (--exclude "
        f"{shlex.quote(column.name)})."
    )
