"""The package's own exceptions and warnings, and the hint for a mistyped name."""

import difflib
from collections.abc import Iterable


class TooFewLabeled(ValueError):
    """Fewer labeled instances than the computation needs."""


class DataMissing(FileNotFoundError):
    """A file of a data set is missing."""


class ModelFileError(ValueError):
    """A model file is damaged, of another kind, or of a version this library does not read."""


class TableError(ValueError):
    """A table, one of its columns or one of its values cannot be used."""


class TrainingDiverged(ArithmeticError):
    """A risk became infinite or not a number during training."""


class MissingExtra(ImportError):
    """An optional dependency is needed but not installed."""


class NotExportable(ValueError):
    """A model rests on something that cannot be written in another library's format."""


class ConfidenceMissingWarning(UserWarning):
    """A method that uses confidence was fitted without it."""


class NoHoldOutWarning(UserWarning):
    """There are too few instances to hold some out for choosing the epoch."""


class UnscaledWarning(UserWarning):
    """A column is so much larger than 1 that a network hardly learns from the others."""


class NoEstimateWarning(UserWarning):
    """The data contradict themselves, so that nothing can be estimated from them."""


class LowReliabilityWarning(UserWarning):
    """The confidence can hardly be predicted from the rows, so that single values of an estimate mean little."""


class GivenPriorWarning(UserWarning):
    """The share of positives that was given contradicts what confidence and rows say."""


class SomeRowsWarning(UserWarning):
    """An estimate rests on some of the rows, because a table is larger than memory."""


class TakesLongWarning(UserWarning):
    """What was requested takes minutes, and there is a way to do with less."""


class LabelingNotSavedWarning(UserWarning):
    """A model file was written without its labeling model, which is not a network of this package."""


def closest_name(given: object, known: Iterable[str]) -> str:
    """Hint at the known name that `given` is probably meant to be, after a space; empty if none is close.

    Examples
    --------
    >>> closest_name("sigmod", ["sigmoid", "ramp"])
    " Did you mean 'sigmoid'?"
    """
    matches = difflib.get_close_matches(str(given), list(known), n=1, cutoff=0.6)
    return f" Did you mean {matches[0]!r}?" if matches else ""
