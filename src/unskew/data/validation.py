"""The one door for users' arrays: what is checked here is not checked again further in.

Every message has three parts: what must hold, what was found (value, count, first row), what to do.
"""

import math
import sys
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from unskew._support.parameters import check_value, one_of
from unskew.data.rows import Rows
from unskew.errors import TooFewLabeled

SCENARIOS = ("one-sample", "two-sample")
ENCODE = "Encode such columns first, or leave them out; in a data frame that is given to `fit` they are encoded."


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a string that is not one of the choices, and name the one that was probably meant."""
    check_value(name, value, one_of(*choices))


def check_features(estimator: Any, X: Any, y: Any = None, *, reset: bool) -> Any:
    """Features as a float32 array or CSR matrix, every entry finite; with `y`, the pair of both.

    Data frames leave their column names on the estimator, as scikit-learn does. Missing numbers stay where the
    estimator says that it `takes_missing` ones.
    """
    if isinstance(X, Rows):
        return _check_source(estimator, X, y, reset=reset)
    X, y = plain_array(X), plain_array(y)
    _refuse_dates(X)
    if y is not None:
        require_all_labels(y)
    images = getattr(X, "ndim", 2) == 4
    options: dict[str, Any] = {"accept_sparse": "csr", "ensure_2d": not images, "allow_nd": images, "reset": reset}
    if reset:
        options["y"] = y
    try:
        checked = validate_data(estimator, X, **options, ensure_all_finite=False)
        features, labels = checked if reset else (checked, None)
        if features.dtype == object:  # a frame of mixed columns
            features = features.astype(np.float64)
    except (TypeError, ValueError) as error:
        if "could not convert string to float" in str(error) or "NAType" in str(error):
            raise ValueError(f"{_first_text(X)} {ENCODE}") from error
        if "float() argument" in str(error):  # scikit-learn's checks want this type and these words
            raise TypeError(f"{_first_text(X)} {ENCODE} ({error})") from error
        raise
    _refuse_dates(features)
    if 0 in features.shape[1:]:
        raise ValueError(
            "images must have at least one channel, row and column of pixels, but X has the shape "
            f"{tuple(features.shape)} (n, channels, height, width). Leave out empty images."
        )
    names = getattr(estimator, "feature_names_in_", None)
    missing, fitted = bool(getattr(estimator, "takes_missing", False)), not reset
    _require_finite(features, names, missing=missing, fitted=fitted)
    narrow = features.astype(np.float32, copy=False)
    if narrow is not features:
        _require_finite(narrow, names, "too large for float32 (above 3.4e38)", missing=missing, fitted=fitted)
    return (narrow, labels) if reset else narrow


def _check_source(estimator: Any, X: Rows, y: Any, *, reset: bool) -> Any:
    """Rows that are read when they are needed are checked when they are read; here only their columns."""
    columns = getattr(X, "columns", None)  # rows that a schema encodes have none, as its arrays have none
    names = np.array(() if columns is None else columns, dtype=object)
    if reset:
        estimator.n_features_in_ = math.prod(X.shape)
        if columns is not None:
            estimator.feature_names_in_ = names
        return X, one_label_per_row(y, len(X))
    expected = getattr(estimator, "feature_names_in_", None)
    if expected is not None and list(expected) != list(names):
        raise ValueError(
            f"X must have the columns of the training data, {list(expected)}, in that order, but it has {list(names)}."
        )
    return X


def require_all_labels(y: Any) -> None:
    """Refuse missing labels, which many tables have where nothing is known."""
    entries = np.asarray(y)
    missing = _missing(entries)
    if entries.ndim and missing.any():
        first = tuple(np.argwhere(missing)[0])
        # The first sentence is scikit-learn's own, for those who search for it.
        raise ValueError(
            "Input y contains NaN. y must be 1 where an instance is labeled positive and 0 where it is unlabeled, but "
            f"{int(missing.sum())} of {len(entries)} entries are missing (first: {entries[first]} at row {first[0]}). "
            "If missing means unlabeled, write 0: y.fillna(0) in pandas, y.fill_null(0) in polars."
        )


def _missing(entries: np.ndarray) -> np.ndarray:
    """Which entries are NaN, None, NA or NaT."""
    if entries.dtype == object:
        return np.array([_is_missing(each) for each in entries.flat], dtype=bool).reshape(entries.shape)
    return np.asarray(entries != entries)  # only NaN and NaT differ from themselves


def _is_missing(value: object) -> bool:
    absent = value is None or type(value).__name__ in ("NAType", "NaTType")
    return absent or (isinstance(value, float | np.floating) and math.isnan(value))


def require_two_labeled(labeled: np.ndarray, what: str) -> None:
    """Refuse a single labeled instance: nothing can be held out and no pair of labeled ones exists."""
    if labeled.sum() < 2:
        raise TooFewLabeled(
            f"{what} needs at least two labeled instances (class 1), but only one of {len(labeled)} is labeled (row "
            f"{int(np.flatnonzero(labeled)[0])}). Label more positives; aim for at least five."
        )


def require_two_of_each(labeled: np.ndarray, what: str) -> None:
    """Refuse a single labeled or a single unlabeled instance."""
    require_two_labeled(labeled, what)
    if (~labeled).sum() < 2:
        raise ValueError(
            f"{what} needs at least two unlabeled instances (class 0), but only one of {len(labeled)} is unlabeled "
            f"(row {int(np.flatnonzero(~labeled)[0])}). Add instances whose class is unknown."
        )


def require_room_for_labeled(prior: float, labeled_share: float, advice: str, name: str = "prior") -> None:
    """Refuse a prior below the share of labeled instances, which in the one-sample scenario are all positive."""
    if prior < labeled_share:
        raise ValueError(
            f"{name} must be at least the share of labeled instances, {labeled_share:.4g}, because these are among the "
            f"positives, but it is {prior:.4g}. {advice}"
        )


def one_label_per_row(y: Any, n_rows: int, name: str = "y") -> np.ndarray:
    """Labels as an array, of which there must be as many as rows."""
    labels = np.asarray(plain_array(y))
    if labels.shape != (n_rows,):
        raise ValueError(
            f"{name} must have one label per row, {n_rows:,}, but it has the shape {labels.shape}. Pass the labels of "
            "the same rows in the same order."
        )
    return labels


def check_confidence(confidence: Any, labeled: np.ndarray, *, some_counts: bool = True) -> np.ndarray:
    """Confidence of the labeled instances, in [0, 1] and with `some_counts` not all zero; others are not read."""
    entries = np.asarray(plain_array(confidence))
    if entries.ndim != 1 or len(entries) != len(labeled):
        raise ValueError(
            f"confidence must have one entry per row, {len(labeled)} in all, but its shape is {entries.shape}. Entries "
            "of unlabeled rows are not read and may be NaN."
        )
    rows = np.flatnonzero(labeled)
    values = _as_numbers(
        entries[rows], rows, "confidence", "labeled row", "Map words to numbers in [0, 1] that keep their order."
    )
    bad = np.flatnonzero(~((values >= 0) & (values <= 1)))  # written so that NaN counts as bad
    if bad.size:
        found = "missing" if np.isnan(values[bad[0]]) else f"{values[bad[0]]:g}"
        raise ValueError(
            f"confidence must lie in [0, 1] on every labeled row, but {bad.size} of {values.size} do not (first: "
            f"{found} at row {rows[bad[0]]}). Scores on another scale may be mapped into [0, 1] by any strictly "
            "increasing function: the best ranking stays the same (Prop. 4.1)."
        )
    if some_counts and not values.any():
        raise ValueError(
            f"confidence must be above zero for some labeled row, but all {values.size} are 0. A confidence of 0 says "
            "that the instance is certainly not positive."
        )
    return values


def require_finite_scores(scores: np.ndarray) -> np.ndarray:
    """Refuse scores that are not finite, which finite features give only near the limits of float32."""
    bad = np.flatnonzero(~np.isfinite(scores))
    if bad.size:
        raise ValueError(
            f"features must be small enough for scores to be finite, but {bad.size} of {len(scores)} scores are not "
            f"(first: {scores[bad[0]]} at row {bad[0]}). Look for values such as -3.4e38 that stand for missing ones, "
            "and scale columns of large values."
        )
    return scores


def check_sample_weight(sample_weight: Any, positive: np.ndarray) -> np.ndarray:
    """Weights of rows with known classes: finite, not negative, and above zero for some row of either class."""
    n_rows = len(positive)
    entries = np.asarray(plain_array(sample_weight))
    if entries.shape not in ((n_rows,), (n_rows, 1)):
        raise ValueError(
            f"sample_weight must have one entry per row, {n_rows} in all, but its shape is {entries.shape}. Pass a "
            "weight for each row, or None for equal ones."
        )
    weight = _as_numbers(entries.ravel(), np.arange(n_rows), "sample_weight", "row", "Pass numbers, or None.")
    bad = np.flatnonzero(~((weight >= 0) & np.isfinite(weight)))  # written so that NaN counts as bad
    if bad.size:
        raise ValueError(
            f"sample_weight must be finite and not negative, but {bad.size} of {n_rows} entries are not (first: "
            f"{weight[bad[0]]:g} at row {bad[0]}). Give rows that should not count the weight 0."
        )
    for number, rows in enumerate((~positive, positive)):
        if not weight[rows].any():
            raise ValueError(
                f"sample_weight must be above zero for some row of each class, but all {int(rows.sum())} of class "
                f"{number} are 0. The AUC compares the two classes: give both some weight."
            )
    return weight


def _as_numbers(values: np.ndarray, rows: np.ndarray, name: str, where: str, advice: str) -> np.ndarray:
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    numbers = np.empty(len(values))
    for position, value in enumerate(values.tolist()):  # objects and text only: mixed types have no faster way
        try:
            numbers[position] = np.nan if _is_missing(value) else float(value)
        except (TypeError, ValueError):
            raise ValueError(
                f"{name} must be a number on every {where}, but it is {value!r} at row {rows[position]}. {advice}"
            ) from None
    return numbers


def count_rows(X: Any) -> int:
    """Rows of an array, a sparse matrix, a frame or a list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def part_of(X: Any, index: np.ndarray | list[int], axis: int = 0) -> Any:
    """Rows (axis 0) or columns (axis 1) of an array, a sparse matrix, a frame; rows of a list."""
    if not hasattr(X, "shape"):
        return [X[each] for each in index]
    where = index if axis == 0 else (slice(None), index)
    return X.iloc[where] if hasattr(X, "iloc") else X[where]


def plain_array(values: Any) -> Any:
    """Torch tensors of any kind as dense numpy arrays; everything else as it is."""
    torch = sys.modules.get("torch")  # whoever has a tensor has imported it
    if torch is None or not isinstance(values, torch.Tensor):
        return values
    values = values.detach()
    if values.layout != torch.strided:
        values = values.to_dense()
    if values.dtype.is_floating_point and values.dtype.itemsize < 4:  # numpy has no bfloat16
        values = values.float()
    return values.numpy(force=True)


def _refuse_dates(X: Any) -> None:
    """Refuse dates and durations: numpy silently counts their units, those of a missing one too."""
    columns = zip(getattr(X, "columns", ()), getattr(X, "dtypes", ()), strict=False)
    found = [f"column {str(name)!r} holds" for name, dtype in columns if _is_date(dtype)]
    if _is_date(getattr(X, "dtype", None)):
        found = ["it holds"]
    if found:
        raise ValueError(f"Input X must be numeric, but {found[0]} dates or durations. {ENCODE}")


def _is_date(dtype: Any) -> bool:
    """Whether a type of numpy or pandas (which have a kind) or of polars is one of dates, times or durations."""
    is_temporal = getattr(dtype, "is_temporal", None)
    return getattr(dtype, "kind", None) in ("m", "M") or (is_temporal is not None and bool(is_temporal()))


def _require_finite(X: Any, names: np.ndarray | None, what: str | None = None, *, missing: bool, fitted: bool) -> None:
    """Refuse what is infinite and, without `missing`, what is NaN; `fitted` says that X is to be scored."""
    entries = X.data if sparse.issparse(X) else X
    if entries.dtype.kind != "f" or np.isfinite(entries.sum(dtype=np.float64)):
        return  # a finite sum has no infinite or missing part; the other way round does not hold
    bad = np.isinf(entries) if missing else ~np.isfinite(entries)
    if not bad.any():
        return
    place = tuple(int(each) for each in np.argwhere(bad)[0])
    value = entries[place]
    if sparse.issparse(X):
        coordinates = X.tocoo()  # whose entries are in the same order
        place = int(coordinates.row[place[0]]), int(coordinates.col[place[0]])
    column = repr(str(names[place[1]])) if names is not None else place[1] if len(place) == 2 else place[1:]
    found = what or ("NaN" if np.isnan(value) else f"infinity ({value})")
    raise ValueError(
        f"Input X must be finite, but it contains {found}: {int(bad.sum())} entries, the first in column "
        f"{column}, row {place[0]}. {_way_out(bool(np.isnan(value)), names is not None, fitted)}"
    )


def _way_out(is_missing: bool, is_frame: bool, fitted: bool) -> str:
    """What to do about an entry that is not finite."""
    if not is_missing:
        return "Clip infinite values, or mark them as missing."
    frame = "a data frame, in which a column of its own marks missing values"
    impute = "Impute missing values first: put sklearn.impute.SimpleImputer before, in a pipeline"
    if not fitted:
        return f"{impute}, or pass {frame}."
    return f"{impute}, or fit on {frame}{', with some missing already then' if is_frame else ''}."


def _first_text(X: Any) -> str:
    """Name the first entry of a table that is text, or anything else that is not a number."""
    columns = list(getattr(X, "columns", []))
    entries = np.asarray(X, dtype=object)
    entries = entries if entries.ndim > 1 else entries.reshape(-1, 1)
    for place in np.ndindex(*entries.shape):
        if entries[place] is None:
            continue  # numpy reads it as NaN
        try:
            float(entries[place])
        except (TypeError, ValueError):
            row, column = place[0], place[1] if len(place) == 2 else place[1:]
            name = repr(str(columns[place[1]])) if columns else str(column)
            return f"Input X must be numeric, but it is {entries[place]!r} in column {name}, row {row}."
    raise AssertionError("only called when some entry is not a number")
