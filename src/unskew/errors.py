"""The package's own exceptions and warnings, and the hint for a mistyped name."""

import difflib
from collections.abc import Iterable


class TooFewLabeled(ValueError):
    """Fewer labeled instances than the computation needs.

    Examples
    --------
    >>> from unskew import errors
    >>> issubclass(errors.TooFewLabeled, ValueError)
    True
    """


class DataMissing(FileNotFoundError):
    """A file of a data set is missing.

    Examples
    --------
    >>> from unskew import errors
    >>> issubclass(errors.DataMissing, FileNotFoundError)
    True
    """


class ModelFileError(ValueError):
    """A model file is damaged, of another kind, or of a version this library does not read.

    Examples
    --------
    >>> from unskew import errors
    >>> issubclass(errors.ModelFileError, ValueError)
    True
    """


class TableError(ValueError):
    """A table, one of its columns or one of its values cannot be used.

    Examples
    --------
    >>> from unskew import errors
    >>> issubclass(errors.TableError, ValueError)
    True
    """


class TrainingDiverged(ArithmeticError):
    """A risk became infinite or not a number during training.

    Examples
    --------
    >>> from unskew import errors
    >>> issubclass(errors.TrainingDiverged, ArithmeticError)
    True
    """


class MissingExtra(ImportError):
    """An optional dependency is needed but not installed.

    Examples
    --------
    >>> from unskew import errors
    >>> issubclass(errors.MissingExtra, ImportError)
    True
    """


class NotExportable(ValueError):
    """A model rests on something that cannot be written in another library's format.

    Examples
    --------
    >>> from unskew import errors
    >>> issubclass(errors.NotExportable, ValueError)
    True
    """


class ConfidenceMissingWarning(UserWarning):
    """A method that uses confidence was fitted without it.

    Examples
    --------
    >>> import warnings
    >>> from unskew import errors
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", errors.ConfidenceMissingWarning)
    ...     warnings.warn("not shown", errors.ConfidenceMissingWarning, stacklevel=1)
    """


class NoHoldOutWarning(UserWarning):
    """There are too few instances to hold some out for choosing the epoch.

    Examples
    --------
    >>> import warnings
    >>> from unskew import errors
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", errors.NoHoldOutWarning)
    ...     warnings.warn("not shown", errors.NoHoldOutWarning, stacklevel=1)
    """


class UnscaledWarning(UserWarning):
    """A column is so much larger than 1 that a network hardly learns from the others.

    Examples
    --------
    >>> import warnings
    >>> from unskew import errors
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", errors.UnscaledWarning)
    ...     warnings.warn("not shown", errors.UnscaledWarning, stacklevel=1)
    """


class NoEstimateWarning(UserWarning):
    """The data contradict themselves, so that nothing can be estimated from them.

    Examples
    --------
    >>> import warnings
    >>> from unskew import errors
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", errors.NoEstimateWarning)
    ...     warnings.warn("not shown", errors.NoEstimateWarning, stacklevel=1)
    """


class LowReliabilityWarning(UserWarning):
    """The confidence can hardly be predicted from the rows, so that single values of an estimate mean little.

    Examples
    --------
    >>> import warnings
    >>> from unskew import errors
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", errors.LowReliabilityWarning)
    ...     warnings.warn("not shown", errors.LowReliabilityWarning, stacklevel=1)
    """


class GivenPriorWarning(UserWarning):
    """The share of positives that was given contradicts what confidence and rows say.

    Examples
    --------
    >>> import warnings
    >>> from unskew import errors
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", errors.GivenPriorWarning)
    ...     warnings.warn("not shown", errors.GivenPriorWarning, stacklevel=1)
    """


class SomeRowsWarning(UserWarning):
    """An estimate rests on some of the rows, because a table is larger than memory.

    Examples
    --------
    >>> import warnings
    >>> from unskew import errors
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", errors.SomeRowsWarning)
    ...     warnings.warn("not shown", errors.SomeRowsWarning, stacklevel=1)
    """


class TakesLongWarning(UserWarning):
    """What was requested takes minutes, and there is a way to do with less.

    Examples
    --------
    >>> import warnings
    >>> from unskew import errors
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", errors.TakesLongWarning)
    ...     warnings.warn("not shown", errors.TakesLongWarning, stacklevel=1)
    """


class LabelingNotSavedWarning(UserWarning):
    """A model file was written without its labeling model, which is not a network of this package.

    Examples
    --------
    >>> import warnings
    >>> from unskew import errors
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", errors.LabelingNotSavedWarning)
    ...     warnings.warn("not shown", errors.LabelingNotSavedWarning, stacklevel=1)
    """


def closest_name(given: object, known: Iterable[str]) -> str:
    """Hint at the known name that `given` is probably meant to be, after a space; empty if none is close.

    Examples
    --------
    >>> closest_name("sigmod", ["sigmoid", "ramp"])
    " Did you mean 'sigmoid'?"
    """
    matches = difflib.get_close_matches(str(given), list(known), n=1, cutoff=0.6)
    return f" Did you mean {matches[0]!r}?" if matches else ""
