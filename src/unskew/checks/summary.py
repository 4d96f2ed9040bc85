"""What a model keeps of the table it was fitted on, so that other rows can be compared with it: shares of bins alone.

No number of a row is kept: bins of numbers begin at places that are rounded, and rare categories share one bin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew._support.json_records import build
from unskew.checks._columns import Checked, Values

if TYPE_CHECKING:
    from unskew.rankers import Ranker
    from unskew.tables import Schema

N_BINS = 16
STEPS = 50
"""Edges are rounded to so many steps for each standard deviation."""
LEAST_IN_BIN = 10
"""Rows of a category that has a bin of its own."""
MOST_SCORED = 20_000


@dataclass(frozen=True)
class BinShares:
    """How the values of a column, or scores, fall into bins.

    Attributes
    ----------
    edges : tuple of float
        Where bins of numbers begin, but for the first; empty for categories.
    bins : tuple of int
        Bin of each category of the schema; empty for numbers.
    shares : tuple of float
        Shares of all rows, those without a value among them.
    missing : float
        Share of rows without a value.
    """

    name: str
    kind: str
    edges: tuple[float, ...]
    bins: tuple[int, ...]
    shares: tuple[float, ...]
    missing: float = 0.0

    def __post_init__(self) -> None:
        n_bins = len(self.shares)
        rules = {
            "edges that rise": all(low < high for low, high in zip(self.edges, self.edges[1:], strict=False)),
            "one bin more than edges": bool(self.bins) or n_bins == len(self.edges) + 1,
            "bins that it has shares of": all(0 <= each < n_bins for each in self.bins),
            "shares between 0 and 1": all(0 <= each <= 1 for each in (*self.shares, self.missing)),
        }
        for rule, holds in rules.items():
            if not holds:
                raise ValueError(f"the summary of {self.name!r} must have {rule}, but it does not.")

    def count(self, numbers: np.ndarray) -> np.ndarray:
        """Rows in each bin, then those with a category that is not known, then those without a value.

        Numbers are NaN where missing; of categories, their numbers in the schema, and infinite where not known.
        """
        n_bins = len(self.shares)
        if self.bins:
            place = np.array([*self.bins, n_bins, n_bins + 1])
            code = np.where(np.isnan(numbers), len(self.bins) + 1, np.minimum(numbers, len(self.bins)))
            return np.bincount(place[code.astype(np.int64)], minlength=n_bins + 2)
        bins = np.searchsorted(np.array(self.edges), numbers, "right")
        return np.bincount(np.where(np.isnan(numbers), n_bins + 1, bins), minlength=n_bins + 2)


@dataclass(frozen=True)
class TableSummary:
    """Bins of all columns and of the scores of a model.

    Attributes
    ----------
    n_rows : int
        Rows that the shares were counted on.
    columns : tuple of BinShares
    score : BinShares or None
    flagged, probability : float or None
        Share of the rows that the model flags, and mean of their probability; None where a model gives none.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> checked = unskew.checks.Checked.of(data.X, data.labeled, data.confidence, None)
    >>> ranker = unskew.make("conf-reg").fit(data.X, data.labeled, confidence=data.confidence)
    >>> summary = TableSummary.of(checked, ranker)
    >>> summary.n_rows, summary.score is None
    (300, False)
    """

    n_rows: int
    columns: tuple[BinShares, ...]
    score: BinShares | None = None
    flagged: float | None = None
    probability: float | None = None

    def __post_init__(self) -> None:
        if self.n_rows < 1:
            raise ValueError(f"a summary must be of at least one row, but it is of {self.n_rows}.")

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any], schema: Schema) -> TableSummary:
        """The summary that `to_json` wrote; ValueError if it is anything else, or of another table."""
        built: TableSummary = build(cls, content, "summary")
        if tuple(each.name for each in built.columns) != schema.names:
            raise ValueError("the summary must have the columns of the table, but it has others.")
        for each, column in zip(built.columns, schema.columns, strict=True):
            if len(each.bins) != len(column.categories):
                raise ValueError(f"the summary of {each.name!r} must have a bin for each category, but it has not.")
        return built

    @classmethod
    def of(cls, checked: Checked, ranker: Ranker) -> TableSummary:
        """Summary of the rows that a model was fitted on."""
        weight = np.where(
            checked.labeled,
            checked.n_labeled / max(1, checked.labeled.sum()),
            checked.n_unlabeled / max(1, (~checked.labeled).sum()),
        )
        columns = tuple(_summarized(column, weight) for column in checked.columns())
        rows = _some(len(weight))
        features = checked.features
        X = features.table(rows) if hasattr(features, "table") else features[rows]
        score = np.asarray(ranker.decision_function(X), dtype=np.float64)
        found = ranker.predict_proba(X)[:, 1] if hasattr(ranker, "predict_proba") else None
        return cls(
            n_rows=len(weight),
            columns=columns,
            score=_summarized(Values("score", "numeric", score, str), weight[rows]),
            flagged=float(np.average(score >= ranker.threshold_, weights=weight[rows])),
            probability=None if found is None else float(np.average(found, weights=weight[rows])),
        )


def _some(n_rows: int) -> np.ndarray:
    if n_rows <= MOST_SCORED:
        return np.arange(n_rows)
    return np.sort(np.random.RandomState(0).choice(n_rows, MOST_SCORED, replace=False))


def _summarized(column: Values, weight: np.ndarray) -> BinShares:
    numbers = column.numbers
    missing = np.isnan(numbers)
    total, gone = float(weight.sum()), float(weight[missing].sum())
    if column.kind == "categorical":
        known = numbers[~missing].astype(np.int64)
        count = np.bincount(known, minlength=column.n_categories)
        rare = count < LEAST_IN_BIN
        bins = np.where(rare, np.count_nonzero(~rare), np.cumsum(~rare) - 1)
        held = np.bincount(bins[known], weight[~missing], minlength=int(np.count_nonzero(~rare)) + 1)
        return BinShares(column.name, column.kind, (), tuple(bins.tolist()), _shares(held, total), gone / total)
    edges = np.array(_edges(numbers[~missing]))
    held = np.bincount(np.searchsorted(edges, numbers[~missing], "right"), weight[~missing], minlength=len(edges) + 1)
    return BinShares(column.name, column.kind, tuple(edges.tolist()), (), _shares(held, total), gone / total)


def _shares(held: np.ndarray, total: float) -> tuple[float, ...]:
    return tuple(np.minimum(held / total, 1.0).tolist())


def _edges(known: np.ndarray) -> list[float]:
    """Where bins begin: between different values where these are few, else at rounded quantiles and both ends."""
    if not len(known):
        return []
    some = np.unique(known[:1000])
    distinct = np.unique(known) if len(some) <= N_BINS else some
    if len(distinct) <= N_BINS:
        gap = float(np.diff(distinct).min()) if len(distinct) > 1 else 1.0
        inner = 0.5 * distinct[1:] + 0.5 * distinct[:-1]
        return _rising([distinct[0] - gap / 2, *inner, distinct[-1] + gap / 2])
    with np.errstate(over="ignore"):  # numbers so large have no bins
        step = float(known.std()) / STEPS
    if not np.isfinite(step) or step <= 0:
        return []
    quantiles = np.quantile(known, np.linspace(0, 1, N_BINS + 1), method="lower")
    repeated = np.unique(quantiles[1:][np.diff(quantiles) == 0])
    around = np.concatenate([_rounded(repeated, step) - step / 2, _rounded(repeated, step) + step / 2])
    ends = np.array([np.floor(known.min() / step) * step - step, np.ceil(known.max() / step) * step + step])
    inner = _rounded(np.setdiff1d(quantiles[1:-1], repeated), step) + step / 2
    return _rising(np.concatenate([ends, inner, around]))


def _rounded(values: np.ndarray, step: float) -> np.ndarray:
    return np.round(values / step) * step


def _rising(edges: Any) -> list[float]:
    found: list[float] = np.unique(np.asarray(edges, dtype=np.float64)).tolist()
    return [each for each in found if np.isfinite(each)]
