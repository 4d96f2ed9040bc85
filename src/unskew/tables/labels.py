"""Columns with a meaning of their own: labels, confidence, true classes; whole, or a part of the rows at a time."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from unskew._support.text import StrPath, plural, rows_of, shown, start
from unskew.errors import TableError
from unskew.tables._values import clean, has_separators, require_column, to_booleans, to_numbers

SPELLINGS = "1/0, true/false, yes/no, y/n or t/f"


def read_labels(
    frame: pl.DataFrame, column: str, *, blank_is_unlabeled: bool = False, path: StrPath | None = None
) -> np.ndarray:
    """Labels as int8: 1 where labeled positive, 0 where unlabeled, as in `SPELLINGS`, in any case.

    A blank field (or NA and the like) is an error, unless `blank_is_unlabeled`.
    """
    require_column(column, frame.columns, path)
    labels = label_column(column, blank_is_unlabeled=blank_is_unlabeled, path=path)
    labels.take_in(frame[column])
    return labels.values()


def label_column(name: str, *, blank_is_unlabeled: bool = False, path: StrPath | None = None) -> "TwoClasses":
    """Labels, to be read a part at a time; see `read_labels`."""
    way_out = "" if blank_is_unlabeled else "If blank means unlabeled, add --blank-is-unlabeled."
    return TwoClasses(name, "label", way_out, path)


def truth_column(name: str, *, path: StrPath | None = None) -> "TwoClasses":
    """True classes, to be read a part at a time; see `read_truth`."""
    return TwoClasses(name, "truth", "Leave out rows whose class is unknown.", path)


def blank_rows(frame: pl.DataFrame, column: str) -> np.ndarray:
    """Which rows say nothing in a column: nothing at all, spaces, or a word such as NA."""
    return np.asarray(clean(frame[column]).is_null().to_numpy())


def require_both_kinds(
    labels: np.ndarray, column: str, *, least_unlabeled: int = 1, path: StrPath | None = None
) -> None:
    """Refuse a label column with fewer than two labeled rows, or fewer unlabeled rows than `least_unlabeled`."""
    n_labeled = int(np.count_nonzero(labels))
    n_unlabeled = len(labels) - n_labeled
    name, total = f"{start(path)}the label column {shown(column)}", plural(len(labels), "row")
    if n_labeled < 2:
        found = "none is" if n_labeled == 0 else f"only row {int(np.argmax(labels)) + 1:,} is"
        raise TableError(
            f"{name} must mark at least two rows as labeled, but of {total} {found}. Mark the known positives with 1; "
            "aim for at least five."
        )
    if n_unlabeled < least_unlabeled:
        least = "rows" if least_unlabeled == 1 else f"at least {least_unlabeled} rows"
        found = (
            f"all {len(labels):,} are labeled"
            if n_unlabeled == 0
            else f"of {total} only {n_unlabeled} {'is' if n_unlabeled == 1 else 'are'}"
        )
        raise TableError(
            f"{name} must leave {least} unlabeled, but {found}. Add rows whose class is unknown: ranking needs "
            "something to rank the labeled ones against."
        )


def read_truth(frame: pl.DataFrame, column: str, *, path: StrPath | None = None) -> np.ndarray:
    """True classes as int8, 1 positive and 0 negative, spelled as labels are; every row has one, and both occur."""
    require_column(column, frame.columns, path)
    classes = truth_column(column, path=path)
    classes.take_in(frame[column])
    return both_classes(classes)


def both_classes(column: "TwoClasses") -> np.ndarray:
    """What a column of true classes says, which must be both."""
    truth, path = column.values(), column.path
    if truth.min() == truth.max():
        found = "the only row is" if len(truth) == 1 else f"all {len(truth):,} rows are"
        raise TableError(
            f"{start(path)}the truth column {shown(column.name)} must hold both classes, but {found} {truth[0]}. An "
            "AUC needs positives and negatives: add rows of the other class."
        )
    return truth


def read_confidence(
    frame: pl.DataFrame,
    column: str,
    labels: np.ndarray,
    *,
    path: StrPath | None = None,
    some_counts: bool = True,
) -> np.ndarray:
    """Confidence as float64 in [0, 1], NaN where `labels` is 0; values of unlabeled rows are not looked at.

    With `some_counts` not all may be 0.
    """
    require_column(column, frame.columns, path)
    confidence = ConfidenceColumn(column, path, some_counts)
    confidence.take_in(frame[column], np.asarray(labels) == 1)
    return confidence.values()


@dataclass
class Offense:
    """Rows that a column must not have: how many, and the first of them with its value."""

    count: int = 0
    row: int = 0
    value: object = None

    def note(self, bad: np.ndarray, series: pl.Series, n_before: int) -> None:
        """Count rows of one part of the table, of which `n_before` came before it."""
        if not bad.any():
            return
        if not self.count:
            first = int(bad.argmax())
            self.row, self.value = n_before + first + 1, series[first]
        self.count += int(bad.sum())


@dataclass
class TwoClasses:
    """A column of ones and zeros in any spelling, read a part at a time; blanks count as 0 where `if_blank` is empty.

    Otherwise a blank is an error that ends with the sentence `if_blank`.
    """

    name: str
    role: str
    if_blank: str
    path: StrPath | None = None
    n_rows: int = 0
    _parts: list[np.ndarray] = field(default_factory=list)
    _strange: Offense = field(default_factory=Offense)
    _blank: Offense = field(default_factory=Offense)

    def take_in(self, series: pl.Series) -> np.ndarray:
        """Read the next rows; returns their classes. What is wrong with them, `values` says."""
        cleaned = clean(series)
        truth, blank = to_booleans(cleaned), cleaned.is_null().to_numpy()
        self._strange.note(~blank & truth.is_null().to_numpy(), series, self.n_rows)
        self._blank.note(blank, series, self.n_rows)
        self.n_rows += len(series)
        self._parts.append(truth.fill_null(False).to_numpy().astype(np.int8))
        return self._parts[-1]

    def values(self) -> np.ndarray:
        """Classes of all rows as int8."""
        must = f"{start(self.path)}the {self.role} column {shown(self.name)} must say {SPELLINGS}"
        if self._strange.count:
            found = rows_of(self._strange.count, self.n_rows, "says something else", "say something else")
            first = f"(first: {shown(self._strange.value)} at row {self._strange.row:,})"
            raise TableError(f"{must}, but {found} {first}. Write 1 and 0, or give another column.")
        if self.if_blank and self._blank.count:
            found = rows_of(self._blank.count, self.n_rows, "is", "are")
            raise TableError(
                f"{must} in every row, but {found} blank (first: row {self._blank.row:,}). {self.if_blank}"
            )
        return np.concatenate([np.empty(0, dtype=np.int8), *self._parts])


@dataclass
class ConfidenceColumn:
    """A column with the confidence of labeled rows, read a part at a time."""

    name: str
    path: StrPath | None = None
    some_counts: bool = True
    _n_rows: int = 0
    _n_labeled: int = 0
    _parts: list[np.ndarray] = field(default_factory=list)
    _missing: Offense = field(default_factory=Offense)
    _words: Offense = field(default_factory=Offense)
    _outside: Offense = field(default_factory=Offense)
    _separated: bool = True

    def take_in(self, series: pl.Series, labeled: np.ndarray) -> None:
        """Read the next rows, of which some are labeled. What is wrong with these, `values` says."""
        cleaned = clean(series)
        values, present = to_numbers(cleaned).to_numpy(), cleaned.is_not_null().to_numpy()
        numbers = ~np.isnan(values)
        within = (values >= 0) & (values <= 1)
        self._missing.note(labeled & ~present, series, self._n_rows)
        self._words.note(labeled & present & ~numbers, series, self._n_rows)
        self._outside.note(labeled & numbers & ~within, series, self._n_rows)
        if self._words.count and self._separated and labeled.any():
            self._separated = has_separators(cleaned.filter(pl.Series(labeled)))
        self._n_rows += len(series)
        self._n_labeled += int(labeled.sum())
        self._parts.append(np.where(labeled, values, np.nan))

    def values(self) -> np.ndarray:
        """Confidence of all rows as float64 in [0, 1], NaN where unlabeled."""
        name = f"{start(self.path)}the confidence column {shown(self.name)}"
        way_out = "Fill it in, or mark these rows as unlabeled."
        self._refuse(self._missing, "have a value", ("has none", "have none"), way_out)
        map_words = "Map words to numbers in [0, 1] that keep their order (high: 0.9)."
        if self._words.count and self._separated:
            map_words = "They look like numbers with separators, a decimal comma or a unit: write them as 0.95."
        self._refuse(self._words, "be a number", ("is not", "are not"), map_words)
        self._refuse(
            self._outside,
            "lie in [0, 1]",
            ("does not", "do not"),
            "Map another scale into [0, 1] by any strictly increasing function (percent: divide by 100); the best "
            "ranking stays the same.",
        )
        values = np.concatenate([np.empty(0), *self._parts])
        if self.some_counts and self._n_labeled and not np.nan_to_num(values).any():
            raise TableError(
                f"{name} must be above 0 on some labeled row, but all {self._n_labeled:,} are 0. A confidence of 0 "
                "says that the row is certainly not positive: give the column with the true confidence."
            )
        return values

    def _refuse(self, bad: Offense, must: str, found_is: tuple[str, str], way_out: str) -> None:
        if not bad.count:
            return
        value = "nothing" if bad is self._missing else shown(bad.value)
        raise TableError(
            f"{start(self.path)}the confidence column {shown(self.name)} must {must} on every labeled row, but "
            f"{bad.count:,} of {self._n_labeled:,} {found_is[int(bad.count > 1)]} (first: {value} at row {bad.row:,}). "
            f"{way_out}"
        )
