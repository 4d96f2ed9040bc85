"""What y may be, and which of its two values says that a row is labeled: the one home of both.

Numbers and truth values have an order: the larger value is labeled, as in scikit-learn. Words have none that means
anything, so that `pos_label` has to say which one is labeled.
"""

from decimal import Decimal
from numbers import Integral, Number, Real
from typing import Any, NamedTuple, NoReturn

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from unskew._support.text import listed, shown
from unskew.data.validation import plain_array, require_all_labels
from unskew.errors import TooFewLabeled

MUST = "y must have two values, one where an instance is labeled positive and another where it is unlabeled"


class Labels(NamedTuple):
    """Which rows are labeled, and the two values that said so.

    Attributes
    ----------
    labeled : bool array of shape (n,)
    classes : array of shape (2,)
        The value of unlabeled rows, and then that of labeled ones, of the type that they were given in.
    """

    labeled: np.ndarray
    classes: np.ndarray


def check_labels(y: Any, pos_label: Any = None) -> np.ndarray:
    """Labels as a boolean array, True where labeled; at least one of each kind."""
    return read_labels(y, pos_label).labeled


def read_labels(y: Any, pos_label: Any = None) -> Labels:
    """Labels of any coding: two numbers, of which the larger is labeled, truth values, or with `pos_label` words."""
    entries = np.asarray(plain_array(y))
    require_all_labels(entries)
    values = _of_one_type(entries)
    different = np.unique(values)
    if len(different) > 2:
        _refuse_more_than_two(values, different)
    if pos_label is None and values.dtype.kind in "UO":
        words = listed([str(each) for each in different])
        raise ValueError(
            f"{MUST}. Numbers say it by their size, but y holds words ({words}), and nothing says which one means "
            f"labeled. Pass pos_label={str(different[-1])!r} to the ranker, if that is the one, or y == "
            f"{str(different[-1])!r} instead of y."
        )
    positive = [each for each in different.tolist() if pos_label is None or each == pos_label]
    _require_some_labeled(different, len(values), pos_label, positive)
    if len(different) < 2:
        _refuse_all_labeled(len(values))
    (other,) = (each for each in different.tolist() if each != positive[-1])
    return Labels(values == positive[-1], np.array([other, positive[-1]], dtype=values.dtype))


def labeled_by(y: Any, classes: np.ndarray, name: str = "y") -> np.ndarray:
    """Which entries are the second of two classes that are known already; all must be one of the two."""
    entries = np.asarray(plain_array(y))
    require_all_labels(entries)
    values, known = _of_one_type(entries), classes.tolist()
    strange = ~np.isin(values, [each for each in np.unique(values).tolist() if each in known])
    if strange.any():
        row = int(np.flatnonzero(strange)[0])
        raise ValueError(
            f"{name} must hold the values that the labels had in training, {known[0]!r} and {known[1]!r}, but "
            f"{int(strange.sum())} of {len(values)} entries are something else (first: {values.tolist()[row]!r} at row "
            f"{row}). Write them as in training."
        )
    return np.isin(values, [each for each in np.unique(values).tolist() if each == known[1]])


def require_both_kinds(labeled: np.ndarray) -> None:
    """Refuse rows that are all labeled, or of which none is."""
    if labeled.all():
        _refuse_all_labeled(len(labeled))
    if not labeled.any():
        _refuse_none_labeled(len(labeled))


def zero_or_one(y: np.ndarray) -> np.ndarray:
    """Which entries are the number 0 or 1: text is neither, and nothing that is missing."""
    if y.dtype == object:
        found = [isinstance(each, Number | np.bool_) and each in (0, 1) for each in y.flat]
        return np.array(found, dtype=bool).reshape(y.shape)
    return np.isin(y, (0, 1)) if y.dtype.kind in "biuf" else np.zeros(y.shape, dtype=bool)


def _of_one_type(entries: np.ndarray) -> np.ndarray:
    """Entries as truth values, numbers or words; a mixture of these, and anything else, is refused."""
    kind = entries.dtype.kind
    if kind in "biu" or (kind == "f" and np.isfinite(entries).all()):
        return entries
    if kind in "UT":
        return entries.astype(str)
    objects = entries.astype(object)
    are_words = [isinstance(each, str) for each in objects.flat]
    if all(are_words):
        return objects
    for place, (each, is_word) in enumerate(zip(objects.flat, are_words, strict=True)):
        fits = isinstance(each, Real | Decimal | np.bool_) and np.isfinite(float(each))
        if is_word or not fits:
            count = sum(are_words) if is_word else 1
            raise ValueError(
                f"{MUST}: two finite numbers, True and False, or two words, but not both numbers and words. "
                f"{count} of {objects.size} entries {'are words' if is_word else 'is no finite number'} (first: "
                f"{each!r} at row {place}). Write all of them alike."
            )
    if all(isinstance(each, bool | np.bool_) for each in objects.flat):
        return objects.astype(bool)
    return objects.astype(np.int64 if all(isinstance(each, Integral) for each in objects.flat) else np.float64)


def _refuse_more_than_two(values: np.ndarray, different: np.ndarray) -> NoReturn:
    check_classification_targets(values)
    first = {each: int(np.argmax(values == each)) for each in different.tolist()}
    third, row = sorted(first.items(), key=lambda item: item[1])[2]
    found = ", ".join(shown(each) for each in different[:5].tolist()) + (", ..." if len(different) > 5 else "")
    # The first two sentences are scikit-learn's own, for those who search for them.
    raise ValueError(
        f"Only binary classification is supported. The type of the target is {type_of_target(values)}. {MUST}, but it "
        f"has {len(different)}: {found} (the third, {third!r}, first at row {row}). Give all unlabeled instances, "
        "known negatives among them, the same value."
    )


def _require_some_labeled(different: np.ndarray, n_rows: int, pos_label: Any, positive: list[Any]) -> None:
    """Refuse labels without a labeled row; a single value that is not above 0 marks none."""
    if pos_label is not None and not positive:
        found = " and ".join(repr(each) for each in different.tolist())
        raise TooFewLabeled(
            f"y must have labeled instances, whose entry is pos_label, {pos_label!r}, but all {n_rows} entries are "
            f"{found}. Give pos_label the value that means labeled."
        )
    if pos_label is None and len(different) == 1 and different.tolist()[0] <= 0:
        _refuse_none_labeled(n_rows, different.tolist()[0])


def _refuse_none_labeled(n_rows: int, value: Any = 0) -> NoReturn:
    raise TooFewLabeled(
        f"y must have labeled instances (class 1), but all {n_rows} entries are {value!r}. Mark the known positives "
        "with 1."
    )


def _refuse_all_labeled(n_rows: int) -> NoReturn:
    raise ValueError(
        f"y must have unlabeled instances (class 0), but all are labeled (n_samples={n_rows}). Add instances whose "
        "class is unknown: ranking needs something to rank the labeled ones against."
    )
