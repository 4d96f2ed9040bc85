"""All checks of one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_consistent_length, column_or_1d

from unskew.checks._columns import Checked
from unskew.checks.duplicates import find_twins
from unskew.checks.leaks import find_leaks
from unskew.checks.sources import find_uneven_confidence, find_uneven_labels
from unskew.data.frames import is_frame, learn_schema, needs_schema
from unskew.data.validation import plain_array
from unskew.metrics.diagnostics import Finding

if TYPE_CHECKING:
    from unskew.tables import Schema


def check_table(
    X: Any, y: Any, confidence: Any = None, *, label: str | None = None, posterior: Any = None
) -> list[Finding]:
    """What is wrong with a table, before anything is learned from it; empty if nothing is.

    Columns that give away the labels, the true classes or the confidence; labels or confidence that depend on the time
    or on a source; the same case once labeled and once unlabeled.

    Parameters
    ----------
    X : data frame of pandas or polars, array or sparse matrix of shape (n, n_features)
        Only the columns that are to be learned from.
    y : array of shape (n,)
        1 labeled, 0 unlabeled.
    confidence : array of shape (n,), optional
        Read on labeled rows only.
    label : str, optional
        Name of the column that `y` comes from: columns with a similar name are looked at more closely.
    posterior : Posterior, optional
        Of `unskew.posterior.fit_posterior` for these rows (for a frame with words, for ``ranker.schema_.transform``
        of it): with it, times and sources are found that have likely positives, but hardly any labels.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(1000, random_state=0)
    >>> check_table(data.X, data.labeled, data.confidence)
    []
    >>> copied = np.column_stack([data.X, data.labeled])
    >>> print(check_table(copied, data.labeled)[0].text)
    Column "column 2" gives the labels away: 1 is found on all 75 labeled rows and on none of the others.
    """
    labels = np.asarray(column_or_1d(plain_array(y)) == 1).astype(np.int8)
    check_consistent_length(X, labels)
    sure = None if confidence is None else np.asarray(plain_array(confidence), dtype=np.float64)
    schema: Schema | None = None
    names: tuple[str, ...] = ()
    if is_frame(X) and needs_schema(X):
        schema, features = learn_schema(X)
    else:
        names = tuple(map(str, X.columns)) if is_frame(X) else ()
        features = X.tocsr() if sparse.issparse(X) else np.asarray(plain_array(X), dtype=np.float64)
    names = names or tuple(f"column {place}" for place in range(features.shape[1]))
    checked = Checked.of(features, labels, sure, schema, names)
    found = check_rows(checked, features, labels, label=label, first_row=0)
    return found if posterior is None else found + find_uneven_labels(checked, posterior.predict)


def check_rows(
    checked: Checked, X: Any, y: np.ndarray, *, label: str | None = None, first_row: int = 1
) -> list[Finding]:
    """The same for rows of a table that were chosen to be checked; cases that stand there twice are sought in all.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> checked = unskew.checks.Checked.of(data.X, data.labeled, data.confidence, None)
    >>> check_rows(checked, data.X, data.labeled)
    []
    """
    return [*find_leaks(checked, label), *find_uneven_confidence(checked), *find_twins(X, y, first_row)]
