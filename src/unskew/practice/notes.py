"""Warnings of the library in the words of the command line, each kind once."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from unskew.data.holdout import LEAST_LABELED
from unskew.errors import ConfidenceMissingWarning, NoEstimateWarning, NoHoldOutWarning

Words = Mapping[type[Warning], str]

OF_PARTS: Words = {
    NoHoldOutWarning: (
        "in each part of the cross-validation too few rows are labeled to hold some out, so that the rows trained on "
        "also choose when to stop, and the estimates are rougher for it. Label more rows."
    ),
    NoEstimateWarning: (
        "in parts of the cross-validation confidence and labeling probability say something impossible of the share of "
        "positives, and methods that train with it take the nearest possible one. Check that the confidence is a "
        "probability."
    ),
}
"""What is told of models that are fitted on parts of a table."""


def of_a_fit(method: str, n_labeled: int, n_unlabeled: int) -> Words:
    """What is told of a model that is fitted on a whole table."""
    return {
        NoHoldOutWarning: (
            f"to hold rows out, at least {2 * LEAST_LABELED} must be labeled and 2 not, but {n_labeled:,} and "
            f"{n_unlabeled:,} are, so that the rows trained on also choose when to stop. Give other rows with "
            "--validation FILE, or label more."
        ),
        NoEstimateWarning: (
            f"{method} trains with the share of positives, but confidence and labeling probability say something "
            "impossible of it, and the nearest possible one was taken. Give --prior, or check that the confidence is a "
            "probability."
        ),
        ConfidenceMissingWarning: (
            f"{method} learns from the confidence of the labels, but none was given, and every labeled row counts as "
            "certain. Give --confidence COLUMN."
        ),
    }


@contextmanager
def told_once(words: Words) -> Iterator[None]:
    """Say warnings of these kinds once, when the block has ended and in these words; others pass as they are."""
    with warnings.catch_warnings(record=True) as caught:
        for kind in words:
            warnings.simplefilter("always", kind)
        yield
    for kind, text in words.items():
        if any(issubclass(each.category, kind) for each in caught):
            warnings.warn(text, kind, stacklevel=4)
    for each in caught:
        if not issubclass(each.category, tuple(words)):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
