"""Labels, or their confidence, that depend on the time or on who gave them.

That labels prefer some kinds of positives is what this library is for, and no fault. But a time or a source that gave
no labels at all says nothing about its rows, and a confidence whose scale differs between sources is no probability.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from scipy.stats import chi2

from unskew._support.text import plural, shown
from unskew.checks._columns import Checked, Values
from unskew.metrics.diagnostics import NOTE, Finding

TIME_WORDS = {"date", "day", "month", "year", "week", "quarter", "time", "timestamp", "created", "updated"}
SOURCE_WORDS = {
    *("source", "annotator", "reviewer", "labeler", "labeller", "rater", "analyst", "expert", "site", "clinic"),
    *("hospital", "office", "branch", "team", "center", "centre", "batch", "system", "provider", "vendor", "campaign"),
}
CHANCE = 0.01
MOST_PERIODS, LABELED_PER_PERIOD = 8, 30
MOST_GROUPS = 50
LEAST_EXPECTED = 10.0
"""Labeled rows that a part would have, if labels were given evenly, for their lack to mean anything."""
TOO_FEW, TOO_FEW_OF_ANY_GROUP = 0.33, 0.1
"""Share of these that it has at most, for certain: of a time or a source, and of any other column."""
APART, APART_OF_ANY_GROUP = 0.4, 0.8
"""Distance between distributions of confidence, for certain, of the same."""
LEAST_IN_GROUP = 8
MOST_NUMBERS, LEAST_PREDICTED, MOST_ASKED = 500_000, 2_000, 20
"""Numbers in the rows that are asked about, rows at least, and columns at most."""
ROW_ORDER = "the order of the rows"


@dataclass(frozen=True)
class Groups:
    """Rows by time, source or category.

    Attributes
    ----------
    title : str
        What they are groups of, in words.
    codes : int array of shape (n,)
        Group of each row; -1 for none.
    names : list of str
    special : bool
        Whether groups are times or sources, for which no other reason than labeling is to be expected.
    """

    title: str
    codes: np.ndarray
    names: list[str]
    special: bool
    columns: tuple[str, ...]


def find_uneven_confidence(checked: Checked) -> list[Finding]:
    """A note for each column between whose groups the confidence is on different scales."""
    if checked.confidence is None or not checked.labeled.any():
        return []
    found = []
    for groups in _all_groups(checked):
        own = checked.labeled & (groups.codes >= 0)
        finding = _uneven_confidence(groups, groups.codes[own], checked.confidence[own], checked.n_columns)
        found += [] if finding is None else [finding]
    return found


def find_uneven_labels(checked: Checked, predict: Callable[[np.ndarray], np.ndarray]) -> list[Finding]:
    """A note for each column that has a group with hardly any labels, though there are likely positives.

    `predict` gives the probability of being positive for rows of features. Where a group has no labels, what is learned
    takes its rows for negatives, too. So each row is asked about as if it belonged to the group of a labeled row.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> checked = unskew.checks.Checked.of(data.X, data.labeled, data.confidence, None)
    >>> posterior = unskew.posterior.fit_posterior(data.X, data.labeled, data.confidence)
    >>> find_uneven_labels(checked, posterior.predict)
    []
    """
    found = []
    rng = np.random.RandomState(0)
    limit = max(LEAST_PREDICTED, MOST_NUMBERS // max(1, checked.n_features))
    n_rows = len(checked.rows)
    rows = np.arange(n_rows) if n_rows <= limit else np.sort(rng.choice(n_rows, limit, replace=False))
    X, labeled = checked.dense(rows), checked.labeled[rows]
    if not labeled.any():
        return []
    weight = np.where(labeled, 1.0, checked.n_unlabeled / max(1, (~checked.labeled).sum()))
    for groups in islice(_all_groups(checked), MOST_ASKED):
        asked, own = X, checked.features_of(groups.columns)
        if len(own):
            asked = X.copy()
            asked[:, own] = X[rng.choice(np.flatnonzero(labeled), len(X))][:, own]
        part = replace(groups, codes=groups.codes[rows])
        finding = _uneven_labels(part, labeled, predict(asked) * weight, checked.n_columns)
        found += [] if finding is None else [finding]
    return found


def _all_groups(checked: Checked) -> Iterator[Groups]:
    n_periods = int(np.clip(checked.labeled.sum() // LABELED_PER_PERIOD, 2, MOST_PERIODS))
    for column in checked.columns():
        groups = _groups_of(column, n_periods)
        if groups is not None:
            yield groups
    labeled = checked.labeled
    in_order = bool(np.diff(np.flatnonzero(labeled)).max(initial=1) == 1)
    if len(labeled) and not (in_order and (labeled[0] or labeled[-1])):  # a table sorted by its labels says nothing
        numbers = checked.rows.astype(np.float64)
        order = Values(ROW_ORDER, "date", numbers, lambda row: f"row {row + 1:,.0f}")
        yield _periods(order, ROW_ORDER, (), n_periods)


def _groups_of(column: Values, n_periods: int) -> Groups | None:
    words = set(re.split(r"[^a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", column.name).lower()))
    known = column.numbers[~np.isnan(column.numbers)]
    if not len(known):
        return None
    title = f"column {shown(column.name)}"
    if column.kind == "date" or (column.kind == "numeric" and words & TIME_WORDS):
        return _periods(column, title, (column.name,), n_periods)
    is_source = bool(words & SOURCE_WORDS)
    if column.kind != "categorical" and not is_source:
        return None
    values = np.unique(known)
    if not 2 <= len(values) <= MOST_GROUPS:
        return None
    codes = np.where(np.isnan(column.numbers), -1, np.searchsorted(values, column.numbers))
    names = [column.in_words(float(each)) for each in values]
    return Groups(title, codes.astype(np.int64), names, is_source, (column.name,))


def _periods(column: Values, title: str, columns: tuple[str, ...], n_periods: int) -> Groups:
    """Parts of about as many rows each, in the order of the time."""
    missing = np.isnan(column.numbers)
    known = column.numbers[~missing]
    begins = np.unique(np.quantile(known, np.linspace(0, 1, n_periods + 1)[:-1], method="lower"))
    codes = np.where(missing, -1, np.searchsorted(begins, column.numbers, "right") - 1)
    names = []
    for place in range(len(begins)):
        own = column.numbers[codes == place]
        names.append(f"{column.in_words(float(own.min()))} to {column.in_words(float(own.max()))}" if len(own) else "")
    return Groups(title, codes.astype(np.int64), names, True, columns)


def _uneven_labels(groups: Groups, labeled: np.ndarray, positives: np.ndarray, n_columns: int) -> Finding | None:
    inside = groups.codes >= 0
    n_groups = len(groups.names)
    own = np.bincount(groups.codes[inside & labeled], minlength=n_groups)
    likely = np.bincount(groups.codes[inside], positives[inside], minlength=n_groups)
    if n_groups < 2 or not likely.sum() > 0:
        return None
    expected = own.sum() * likely / likely.sum()
    level = CHANCE / (n_groups * (n_columns + 1))
    at_most = chi2.ppf(1 - level, 2 * (own + 1)) / 2  # exact for Poisson counts
    limit = TOO_FEW if groups.special else TOO_FEW_OF_ANY_GROUP
    empty = np.flatnonzero((expected >= LEAST_EXPECTED) & (at_most < limit * expected))
    if not len(empty):
        return None
    worst = int(empty[np.argmax(expected[empty] - own[empty])])
    others = f" ({len(empty) - 1} other parts have as few)" if len(empty) > 2 else ""
    text = (
        f"Labels are missing in a part of {groups.title}: {groups.names[worst]} has "
        f"{plural(int(own[worst]), 'labeled row')}, where about {expected[worst]:,.0f} would be expected from what is "
        f"likely positive there{others}."
    )
    advice = (
        "If nobody looked at these rows, that they have no label says nothing: fit on the rows that labels could have "
        "been given to."
    )
    return Finding(NOTE, "uneven-labels", text, advice, groups.columns)


def _uneven_confidence(groups: Groups, codes: np.ndarray, confidence: np.ndarray, n_columns: int) -> Finding | None:
    count = np.bincount(codes, minlength=len(groups.names))
    large = np.flatnonzero((count >= LEAST_IN_GROUP) & (len(codes) - count >= LEAST_IN_GROUP))
    limit = APART if groups.special else APART_OF_ANY_GROUP
    level = CHANCE / (max(1, len(large)) * (n_columns + 1))
    values = np.unique(confidence)
    worst: tuple[float, int] | None = None
    for group in large.tolist():
        inside = codes == group
        parts = confidence[inside], confidence[~inside]
        own, other = (np.searchsorted(np.sort(part), values, "right") / len(part) for part in parts)
        apart = float(np.abs(own - other).max())
        certain = apart - np.sqrt(np.log(2 / level) / 2 * (1 / count[group] + 1 / (len(codes) - count[group])))
        if certain >= limit and (worst is None or certain > worst[0]):
            worst = certain, group
    if worst is None:
        return None
    inside = codes == worst[1]
    text = (
        f"The confidence depends on {groups.title}: its median is {np.median(confidence[inside]):.2f} for the labeled "
        f"rows of {groups.names[worst[1]]} and {np.median(confidence[~inside]):.2f} for all other labeled rows."
    )
    advice = (
        "If the cases do not differ as much, the scales do: bring them to one scale, since all estimates take the "
        "confidence for a probability."
    )
    return Finding(NOTE, "uneven-confidence", text, advice, groups.columns)
