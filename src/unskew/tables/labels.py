"""Columns with a meaning of their own: labels, confidence, true classes."""

import numpy as np
import polars as pl

from unskew._support.text import StrPath, offending, plural, rows_of, shown, start
from unskew.errors import TableError
from unskew.tables._values import clean, has_separators, require_column, to_booleans, to_numbers

SPELLINGS = "1/0, true/false, yes/no, y/n or t/f"


def read_labels(
    frame: pl.DataFrame, column: str, *, blank_is_unlabeled: bool = False, path: StrPath | None = None
) -> np.ndarray:
    """Labels as int8: 1 where labeled positive, 0 where unlabeled, as in `SPELLINGS`, in any case.

    A blank field (or NA and the like) is an error, unless `blank_is_unlabeled`.
    """
    way_out = "" if blank_is_unlabeled else "If blank means unlabeled, add --blank-is-unlabeled."
    return _read_binary(frame, column, "label", way_out, path)


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
    truth = _read_binary(frame, column, "truth", "Leave out rows whose class is unknown.", path)
    if truth.min() == truth.max():
        found = "the only row is" if len(truth) == 1 else f"all {len(truth):,} rows are"
        raise TableError(
            f"{start(path)}the truth column {shown(column)} must hold both classes, but {found} {truth[0]}. An "
            "AUC needs positives and negatives: add rows of the other class."
        )
    return truth


def read_confidence(frame: pl.DataFrame, column: str, labels: np.ndarray, *, path: StrPath | None = None) -> np.ndarray:
    """Confidence as float64 in [0, 1], NaN where `labels` is 0; values of unlabeled rows are not looked at."""
    require_column(column, frame.columns, path)
    series, labeled = frame[column], np.asarray(labels) == 1
    name = f"{start(path)}the confidence column {shown(column)}"
    cleaned = clean(series)
    values, present = to_numbers(cleaned).to_numpy(), cleaned.is_not_null().to_numpy()

    def require(good: np.ndarray, must: str, found_is: tuple[str, str], way_out: str) -> None:
        bad = labeled & ~good
        if bad.any():
            first = int(bad.argmax())
            found = shown(series[first]) if present[first] else "nothing"
            raise TableError(
                f"{name} must {must} on every labeled row, but {int(bad.sum()):,} of {int(labeled.sum()):,} "
                f"{found_is[int(bad.sum() > 1)]} (first: {found} at row {first + 1:,}). {way_out}"
            )

    require(present, "have a value", ("has none", "have none"), "Fill it in, or mark these rows as unlabeled.")
    numbers = ~np.isnan(values)
    map_words = "Map words to numbers in [0, 1] that keep their order (high: 0.9)."
    if not numbers[labeled].all() and has_separators(cleaned.filter(pl.Series(labeled))):
        map_words = "They look like numbers with separators, a decimal comma or a unit: write them as 0.95."
    require(numbers, "be a number", ("is not", "are not"), map_words)
    require(
        (values >= 0) & (values <= 1),
        "lie in [0, 1]",
        ("does not", "do not"),
        "Map another scale into [0, 1] by any strictly increasing function (percent: divide by 100); the best ranking "
        "stays the same.",
    )
    if labeled.any() and not values[labeled].any():
        raise TableError(
            f"{name} must be above 0 on some labeled row, but all {int(labeled.sum()):,} are 0. A confidence of 0 says "
            "that the row is certainly not positive: give the column with the true confidence."
        )
    return np.where(labeled, values, np.nan)


def _read_binary(frame: pl.DataFrame, column: str, role: str, if_blank: str, path: StrPath | None) -> np.ndarray:
    """Zeros and ones as int8; blank fields are zeros, or an error that ends with the sentence `if_blank`."""
    require_column(column, frame.columns, path)
    series = frame[column]
    cleaned = clean(series)
    truth, blank = to_booleans(cleaned), cleaned.is_null().to_numpy()
    strange = ~blank & truth.is_null().to_numpy()
    must = f"{start(path)}the {role} column {shown(column)} must say {SPELLINGS}"
    if strange.any():
        found = offending(strange, series, 1, "says something else", "say something else")
        raise TableError(f"{must}, but {found}. Write 1 and 0, or give another column.")
    if if_blank and blank.any():
        found = rows_of(int(blank.sum()), len(series), "is", "are")
        raise TableError(f"{must} in every row, but {found} blank (first: row {int(blank.argmax()) + 1:,}). {if_blank}")
    return truth.fill_null(False).to_numpy().astype(np.int8)
