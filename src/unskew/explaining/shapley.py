"""The way in: a fitted ranker and rows become an `Explanation`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from unskew._support.progress import progress_bar
from unskew.data.frames import encode, is_frame, names_inside
from unskew.data.rows import Rows, as_rows
from unskew.data.validation import require_finite_scores
from unskew.explaining._additive import Additive
from unskew.explaining._columns import Columns
from unskew.explaining._parts import Exact, parts_of, split
from unskew.explaining._sampled import Sampled
from unskew.explaining._trees import SumOfTrees
from unskew.explaining._values import Values, ValuesOfFrame, ValuesOfRows
from unskew.explaining.explanation import Explanation
from unskew.rankers import Ranker

MOST_BACKGROUND, FEW_BACKGROUND = 1000, 32
"""Rows of X that are the background if none is given: where many cost nothing, and where each costs."""
BLOCK_ROWS, SLOW_BLOCK_ROWS = 16_384, 256


def explain(
    est: Any,
    X: Any,
    *,
    background: Any = None,
    columns: Sequence[str] | None = None,
    n_orders: int = 4,
    random_state: Any = 0,
    verbose: bool = False,
) -> Explanation:
    r"""What each column of the table adds to the score of each row: Shapley values against a background.

    A coalition S of columns has the value :math:`v_x(S) = \frac1B \sum_b s(x_S, b_{\bar S})`, the mean score where the
    columns in S are those of the row and the others those of a background row. A column gets the mean of what it adds
    to the coalition of those before it, over all orders of the columns. So contributions and base add up to the score.

    They are exact for `network="linear"`, "kernel" and "trees", for `conf-gp`, `conf-reg` and `ntc-linear`, and for
    any ranker with up to three columns. Other networks, and `pg`, are sampled, with a standard error for each
    contribution. An ensemble, or `auto`, is taken apart into its members. `docs/explanations.md` says how to read them.

    Parameters
    ----------
    est : fitted ranker
        Of this library, or one with its table (``unskew.practice.model.TableModel``), as the command line writes it.
    X : data frame, array, sparse matrix or rows of files
        Rows to explain, as for `decision_function`.
    background : like X, optional
        Rows to compare with, each of which counts the same. None takes them from X, evenly along the score: up to 1000
        for linear functions and trees, up to 32 for all else, whose time grows with them.
    columns : sequence of str, optional
        For each feature of an array the column that it was made from: features of one column move together. A data
        frame with words, dates or missing values needs none: its columns are known.
    n_orders : int, default=4
        Orders of the columns that are tried with each background row, where contributions are sampled: an even number,
        4 or more. Errors fall with the root of it.
    random_state : int, RandomState or None, default=0
        Seed of these orders. They are the same for all rows, so that a row's contributions depend on it and on the
        background alone.
    verbose : bool, default=False
        Show a progress bar, on a terminal.

    Returns
    -------
    explanation : Explanation

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(400, random_state=0)
    >>> ranker = unskew.make("ntc-linear").fit(data.X, data.labeled)
    >>> found = unskew.explain(ranker, data.X, columns=["amount", "age"])
    >>> found.exact, bool(abs(found.contributions.sum(axis=1) + found.base - found.score).max() < 1e-6)
    (True, True)
    >>> [each.column for each in found.importances()]
    ['amount', 'age']
    """
    if isinstance(n_orders, bool) or not isinstance(n_orders, int | np.integer) or n_orders < 4 or n_orders % 2:
        raise ValueError(
            f"n_orders must be an even number, 4 or more, because two pairs show the error, but it is {n_orders!r}."
        )
    table = _table_of(est, columns)
    rows = table.read(X)
    score = require_finite_scores(table.ranker.scores_at(rows))
    exact, function = split(parts_of(table.ranker), len(table.columns))
    costly = _is_costly(exact, function)
    if background is None:
        sample = rows.take(_along_the_score(score, FEW_BACKGROUND if costly else MOST_BACKGROUND))
    else:
        given = table.read(background)
        sample = given.take(np.arange(len(given)))
    base = float(table.ranker.scores_at(as_rows(sample)).mean())
    rng = check_random_state(random_state)
    sampled = None if function is None else Sampled.of(function, sample, table.columns, int(n_orders), rng)
    found, error = _contributions(exact, sampled, rows, sample, table.columns, costly=costly, verbose=verbose)
    is_exact = sampled is None or sampled.takes_all
    index = getattr(X, "index", None) if is_frame(X) else None
    return Explanation(found, error, table.columns.names, base, score, is_exact, table.values(X, rows, sample), index)


def background_rows(est: Any, X: Any) -> np.ndarray:
    """Numbers of the rows of X that `explain` compares with if there is no background; of a single row, this row.

    Who explains a table block by block chooses them once, from rows of the whole table.
    """
    table = _table_of(est, None)
    score = require_finite_scores(table.ranker.scores_at(table.read(X)))
    if len(score) == 1:
        return np.zeros(1, dtype=np.int64)
    exact, function = split(parts_of(table.ranker), len(table.columns))
    return _along_the_score(score, FEW_BACKGROUND if _is_costly(exact, function) else MOST_BACKGROUND)


def _is_costly(exact: Sequence[Exact], function: Any) -> bool:
    """Whether the time of an explanation grows with the rows of the background."""
    return function is not None or not all(isinstance(each, Additive | SumOfTrees) for each in exact)


class _Table(NamedTuple):
    """A ranker and the columns of its table."""

    ranker: Ranker
    schema: Any
    columns: Columns

    def read(self, X: Any) -> Rows:
        """Features of rows of the table."""
        rows = self.ranker.read_features(X) if self.schema is None else as_rows(encode(self.schema, X))
        if not len(rows):
            raise ValueError(
                "X and background must have rows, but one of them has none. Leave background out, or fill it."
            )
        return rows

    def values(self, X: Any, rows: Rows, sample: np.ndarray) -> Values:
        """What the rows hold, in words."""
        if self.schema is not None:
            return ValuesOfFrame(self.schema, X)
        return ValuesOfRows(rows, self.columns, np.nanstd(sample.astype(np.float64), axis=0))


def _table_of(est: Any, columns: Sequence[str] | None) -> _Table:
    ranker, schema = est, getattr(est, "schema_", None)
    if isinstance(getattr(est, "ranker", None), Ranker):  # a model with its table, which this folder does not know
        ranker, schema = est.ranker, est.schema
    if not isinstance(ranker, Ranker):
        raise TypeError(
            f"explain takes a fitted ranker of this library, but it got a {type(est).__name__}. Of a pipeline, explain "
            "its last step: unskew.explain(pipeline[-1], pipeline[:-1].transform(X))."
        )
    check_is_fitted(ranker)
    if len(ranker.input_shape_) > 1:
        raise ValueError(
            "explain takes tables, whose columns mean something each, but this model was fitted on images of shape "
            f"{ranker.input_shape_}, of which no pixel does. Fit on features of the images to explain it by these."
        )
    return _Table(ranker, schema, Columns.from_names(_column_of_each_feature(ranker, schema, columns)))


def _column_of_each_feature(ranker: Ranker, schema: Any, columns: Sequence[str] | None) -> list[str]:
    n_features = ranker.input_shape_[0]
    if schema is not None:
        if columns is not None:
            raise ValueError(
                "columns must be left out for a model of a data frame with words, dates or missing values, whose "
                f"columns are known, but {len(columns)} were given."
            )
        return list(schema.feature_columns)
    if columns is None:
        names = names_inside(ranker)
        return [f"x{number}" for number in range(n_features)] if names is None else [str(name) for name in names]
    if len(columns) != n_features:
        raise ValueError(
            f"columns must name the column of each of the {n_features} features, but it has {len(columns)} names."
        )
    return [str(name) for name in columns]


def _along_the_score(score: np.ndarray, most: int) -> np.ndarray:
    """Up to so many rows, evenly spread along the scores, so that their mean score is nearly that of all."""
    if len(score) < 2:
        raise ValueError(
            "an explanation compares rows with others, so X must have two rows or more if there is no background, but "
            "it has one. Pass background=..., such as some of the rows of training."
        )
    n = min(most, len(score))
    place = ((np.arange(n) + 0.5) * len(score) / n).astype(int)
    return np.asarray(np.argsort(score, kind="stable")[place])


def _contributions(
    exact: Sequence[Exact],
    sampled: Sampled | None,
    rows: Rows,
    sample: np.ndarray,
    columns: Columns,
    *,
    costly: bool,
    verbose: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Contributions by all parts together, and their errors."""
    ways = [part.against(sample, columns) for part in exact]
    found, error = (np.zeros((len(rows), len(columns))) for _ in range(2))
    size = SLOW_BLOCK_ROWS if costly else BLOCK_ROWS
    with progress_bar("explaining", len(rows), shown=verbose) as step:
        for begin in range(0, len(rows), size):
            block = np.arange(begin, min(begin + size, len(rows)))
            X = rows.take(block)
            for way in ways:
                found[block] += way(X)
            if sampled is not None:
                by_sampling, error[block] = sampled.contributions(X)
                found[block] += by_sampling
            step(n=len(block))
    return found, error
