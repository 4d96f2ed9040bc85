"""The package's own exceptions and warnings, and the hint that a mistyped name gets."""

import difflib
from collections.abc import Iterable


class TooFewLabeled(ValueError):
    """Fewer labeled instances than the computation needs."""


class DataMissing(FileNotFoundError):
    """A data set's file is not where it is looked for."""


class ModelFileError(ValueError):
    """A model file is damaged, of another kind, or of a version this library does not read."""


class TableError(ValueError):
    """A file of data, one of its columns or one of its values is not what a table must be."""


class TrainingDiverged(ArithmeticError):
    """A risk became infinite or not a number during training."""


class MissingExtra(ImportError):
    """An optional dependency is needed and not installed."""


class ConfidenceMissingWarning(UserWarning):
    """A method that uses confidence was fitted without."""


class NoHoldOutWarning(UserWarning):
    """Too few instances to hold some out for choosing the epoch."""


class NoEstimateWarning(UserWarning):
    """What the data say is impossible, so that nothing can be estimated from it."""


class LabelingNotSavedWarning(UserWarning):
    """A model file was written without its labeling model, which is no network of this package."""


def closest_name(given: object, known: Iterable[str]) -> str:
    """Hint at the known name that `given` is probably meant to be, with a space before it; empty if none is near.

    Examples
    --------
    >>> closest_name("sigmod", ["sigmoid", "ramp"])
    " Did you mean 'sigmoid'?"
    """
    matches = difflib.get_close_matches(str(given), list(known), n=1, cutoff=0.6)
    return f" Did you mean {matches[0]!r}?" if matches else ""
