r"""The trainer of trees, beside that of networks: any risk, minimized by gradient boosting with LightGBM.

In each round a tree is grown on the slopes of the risk with respect to the scores of all rows, which are one batch. The
curvature is the absolute slope: risks over pairs are not convex, the true curvature of a row is often below zero, and
trees grown on what is left of it hardly grow. Slopes are scaled so that those of the labeled rows are 1 in the mean
where all scores are equal. For the AUC risk with the sigmoid, whose slope is 1/4 there, that is the risk times
:math:`4 N^p / (1 - \alpha)`, with weights of mean 1. So a labeled row counts against the penalty on leaves about as
in a logistic regression, whatever the risk and the number of rows.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from scipy.special import logit

from unskew._support.progress import progress_bar
from unskew.data.records import Epoch, PUData, ScoredBatch
from unskew.data.rows import Rows, SparseRows
from unskew.errors import MissingExtra
from unskew.learning.batches import columns_of
from unskew.learning.boosted_trees import MARKED, NO_MEMBERS, BoostedTrees, Tree, joined_trees
from unskew.learning.threads import one_thread
from unskew.learning.trainer import Risk, Trained, Trainer, require_finite
from unskew.learning.tree_pace import LABELING_LEAVES, SMALL_LEAVES
from unskew.objectives.pairs import SlopesOf, rounded_scores

LEAST_IN_LEAF = 20
"""Rows of a leaf, at least; a twentieth of all where these are few."""
MOST_IN_VAIN = 20
"""Rounds in a row that find nothing to split before boosting ends."""
LEAST_CURVATURE = 1e-6
"""Of a row: where all slopes of a leaf vanish, its value is 0 and not 0 / 0."""
PAIRS, LIKELIHOOD, SQUARES = "pairs", "likelihood", "squares"
"""Kinds of risks, by what is known of their curvature."""
LABELING_HASTE = 2
"""The labeling model is fitted once for each fold: in so many times fewer rounds, at so many times the rate."""
IN_BINS = {"max_bin": 255, "feature_pre_filter": False, "verbosity": -1, "num_threads": 1}
GROWING = {
    **{"objective": "none", "metric": "none", "lambda_l2": 5.0, "min_sum_hessian_in_leaf": 1e-3},
    **{"extra_trees": True, "deterministic": True, "force_col_wise": True, **IN_BINS},
}
"""Settings of LightGBM. One thread: the same rows give the same trees on any machine, and ensembles share the cores.

It counts the rows of a leaf by their curvature: without a least sum of it, rounding errors of bins that are empty look
like rows, and it ends in "Check failed: (best_split_info.left_count) > (0)"."""


def lightgbm() -> Any:
    """Return the package, which is an extra and takes a while to import."""
    try:
        import lightgbm
    except ImportError as error:
        raise MissingExtra(
            "network='trees' needs LightGBM, which is not installed. Install it: pip install 'unskew[trees]'"
        ) from error
    return lightgbm


Groups = tuple[tuple[int, ...], ...]
"""Columns of zeros and ones that mark the categories of one and the same column of the user's table."""


class Columns:
    """Columns as LightGBM gets them: those that mark the categories of one column are folded into one column of codes.

    Attributes
    ----------
    plain : array of int
        Columns that stay as they are; they come first.
    first : array of int
        For each column of LightGBM the column of the table, or the first of those that are folded into it.
    marks : dict
        For each column of LightGBM that holds codes the columns that are folded into it: code k is the k-th of them.
    """

    def __init__(self, n_features: int, groups: Groups) -> None:
        folded = {feature for group in groups for feature in group}
        self.plain = np.array([each for each in range(n_features) if each not in folded], dtype=np.int64)
        self.marks = {len(self.plain) + place: np.array(group) for place, group in enumerate(groups)}
        self.first = np.concatenate([self.plain, [group[0] for group in groups]]).astype(np.int32)

    def fold(self, table: np.ndarray) -> np.ndarray:
        """Table with codes; a row that has none of the categories has no code."""
        codes = []
        for group in self.marks.values():
            marked = table[:, group] > MARKED
            codes.append(np.where(marked.any(axis=1), marked.argmax(axis=1), np.nan))
        return np.column_stack([table[:, self.plain], *codes]).astype(np.float32)


class BinnedRows:
    """Rows of a record, sorted into bins once for all trees that are grown on them or on a part of them."""

    def __init__(self, data: PUData, groups: Groups = ()) -> None:
        self.X, self.rows, self.groups = data.X, _rows_of(data), groups
        self.whole: Any = None

    def part(self, data: PUData) -> Any:
        """Data set with the rows of another record, labeled ones first; None if some are not among these."""
        if data.X is not self.X:
            return None
        self.whole = self.whole or dataset_of(self.X, self.rows, groups=self.groups)
        place = np.full(len(self.X), -1)
        place[self.rows] = np.arange(len(self.rows))
        index = place[_rows_of(data)]
        if len(index) == len(self.rows) and (index == np.arange(len(index))).all():
            return self.whole
        ascending = len(index) and index[0] >= 0 and (np.diff(index) > 0).all()
        return self.whole.subset(index.tolist()).construct() if ascending else None


@dataclass(frozen=True)
class TreeTrainer(Trainer):
    """How trees are boosted, whatever their risk. `max_epochs` counts rounds, and `batch_size` has no effect.

    Attributes
    ----------
    leaves : int
        Of a tree.
    kind : {"pairs", "likelihood", "squares"}
        Of the risk. "likelihood" is the cross entropy of being labeled: its curvature is known, and scores begin at the
        logit of the share of labeled rows. The curvature of "squares" is the same at all scores.
    binned : BinnedRows or None
        Rows that may be trained on more than once.
    groups : tuple of tuples of int
        Columns that mark the categories of one column of the user's table, which trees split by sets of them.
    """

    leaves: int = SMALL_LEAVES
    kind: str = PAIRS
    binned: BinnedRows | None = None
    groups: Groups = ()

    def for_labeling(self) -> "TreeTrainer":
        """Trainer of the labeling model, which is fitted once for each fold."""
        rounds, rate = math.ceil(self.max_epochs / LABELING_HASTE), LABELING_HASTE * self.learning_rate
        return replace(self, max_epochs=rounds, learning_rate=rate, leaves=LABELING_LEAVES, kind=LIKELIHOOD)

    def for_squares(self) -> "TreeTrainer":
        """Trainer for a sum of squared errors."""
        return replace(self, kind=SQUARES)

    def minimize(
        self,
        risk: Risk,
        data: PUData,
        held_out: PUData,
        rng: np.random.RandomState,
        title: str = "training",
        *,
        start: Trained | None = None,
    ) -> Trained:
        """Boost trees on `data`; keep the rounds up to the lowest risk on `held_out`, or all, as `keep` says."""
        if start is not None:
            raise ValueError(
                "trees are grown from the first to the last in one go, but this method goes on from trees of before. "
                "Use another network, such as 'mlp'."
            )
        with one_thread(), rounded_scores():
            return self._boost(risk, data, held_out, title, int(rng.randint(2**31 - 1)))

    def _boost(self, risk: Risk, data: PUData, held_out: PUData, title: str, seed: int) -> Trained:
        train = self.binned.part(data) if self.binned else None
        train = train or dataset_of(data.X, _rows_of(data), groups=self.groups)
        base = _start_of(risk, data, self.kind)
        slopes, outside = _Slopes(risk, data, base, self.kind), _Outside(risk, held_out, base)
        booster = lightgbm().Booster({**self._settings(data), "seed": seed}, train)
        booster.add_valid(dataset_of(held_out.X, _rows_of(held_out), like=train, groups=self.groups), "held out")
        history: list[Epoch] = []
        lowest, best, in_vain = math.inf, 0, 0
        with progress_bar(title, self.max_epochs, shown=self.verbose) as step:
            while len(history) < self.max_epochs and in_vain < MOST_IN_VAIN:
                # A drawn threshold may split nothing off; then there is no tree, and the next ones may do better.
                in_vain = in_vain + 1 if booster.update(fobj=slopes) else 0
                if in_vain and (history or in_vain < MOST_IN_VAIN):
                    continue
                booster.eval_valid(feval=outside)
                history.append(Epoch(len(history), slopes.value, outside.value))
                require_finite(history[-1], self.learning_rate)
                if self.keep == "last" or outside.value < lowest:
                    lowest, best = outside.value, len(history) - 1
                step(f"validation risk {outside.value:.4g}")
                if self.patience is not None and len(history) - 1 - best >= self.patience:
                    break
        width = math.prod(data.X.shape)
        columns = Columns(width, self.groups) if self.groups else None
        trees = list(trees_of(booster.model_to_string(), columns))[: best + 1]
        network = BoostedTrees(width, joined_trees(trees, base))
        return Trained(network.eval(), history, best, None)

    def _settings(self, data: PUData) -> dict[str, Any]:
        least = max(1, min(LEAST_IN_LEAF, (data.n_labeled + data.n_unlabeled) // LEAST_IN_LEAF))
        own = {"num_leaves": self.leaves, "learning_rate": self.learning_rate, "min_data_in_leaf": least}
        return {**GROWING, **own}


def _start_of(risk: Risk, data: PUData, kind: str) -> float:
    """Score that all rows begin with: the best one, where that is known; of pairs only differences count.

    Without it trees could not begin: where all rows are off by the same, the penalty on leaves favors no split.
    """
    if kind == LIKELIHOOD:
        return float(logit(data.alpha))
    if kind == PAIRS:
        return 0.0
    zero = np.zeros(data.n_labeled + data.n_unlabeled)
    slopes = _Slopes(risk, data, 0.0, kind)
    at_zero, at_one = (float(slopes.at(each)[1].sum(dtype=np.float64)) for each in (zero, zero + 1))
    return at_zero / (at_zero - at_one)


class _Slopes:
    """Slopes and curvature of a risk at the scores of all rows, as LightGBM asks for them; `value` is the risk."""

    def __init__(self, risk: Risk, data: PUData, base: float, kind: str) -> None:
        self.slopes, self.base, self.kind = SlopesOf(risk), base, kind
        self.batch_of = _batches_of(data)
        self.sizes, self.alpha = (data.n_labeled, data.n_unlabeled), data.alpha
        self.factor = 0.0
        self.curvature: np.ndarray | None = None  # where it is constant
        self.value = math.nan

    def __call__(self, score: np.ndarray, _dataset: Any) -> tuple[np.ndarray, np.ndarray]:
        self.value, slope = self.at(score)
        if self.kind == LIKELIHOOD:
            return self._with_exact_curvature(slope)
        if self.kind == SQUARES:
            return self._with_constant_curvature(score, slope)
        if not self.factor:
            self.factor = _factor_for(slope[: self.sizes[0]])
        slope *= np.float32(self.factor)  # in place, as below: a round of few rows is over in a few such passes
        curvature = np.abs(slope)
        return slope, np.maximum(curvature, np.float32(LEAST_CURVATURE), out=curvature)

    def at(self, score: np.ndarray) -> tuple[float, np.ndarray]:
        """The risk and its slopes."""
        with torch.inference_mode():
            value, slope = self.slopes(_as_tensor(score, self.base), self.batch_of)
        return float(value), slope.numpy()

    def _with_constant_curvature(self, score: np.ndarray, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Squares: the curvature is how much slopes rise with the scores; that of labeled rows is 1 in the mean."""
        if self.curvature is None:
            rise = self.at(score + 1)[1] - slope
            self.factor = _factor_for(rise[: self.sizes[0]])
            self.curvature = np.maximum(rise * np.float32(self.factor), np.float32(LEAST_CURVATURE))
        return slope * np.float32(self.factor), self.curvature

    def _with_exact_curvature(self, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Cross entropy: a row's share of the risk times p - o, so that the curvature is its share times p (1 - p)."""
        n_rows, shares = sum(self.sizes), (self.alpha, 1 - self.alpha)
        share = [np.float32(n_rows * each / size) for each, size in zip(shares, self.sizes, strict=True)]
        share_of_each = np.repeat(np.array(share, dtype=np.float32), self.sizes)
        slope = slope * np.float32(n_rows)
        wrong = np.abs(slope)
        return slope, np.maximum(wrong * (1 - wrong / share_of_each), np.float32(LEAST_CURVATURE))


class _Outside:
    """Risk of the rows held out, as LightGBM asks for it."""

    def __init__(self, risk: Risk, data: PUData, base: float) -> None:
        self.risk, self.base, self.batch_of = risk, base, _batches_of(data)
        self.value = math.nan

    def __call__(self, score: np.ndarray, _dataset: Any) -> tuple[str, float, bool]:
        with torch.inference_mode():
            self.value = float(self.risk(self.batch_of(_as_tensor(score, self.base))))
        return "risk", self.value, False


def _factor_for(slope_of_labeled: np.ndarray) -> float:
    """What brings the slopes of labeled rows to 1 in the mean; see the top of this file."""
    mean = float(np.abs(slope_of_labeled).mean())
    return 1 / mean if mean > 0 and math.isfinite(1 / mean) else 4.0 * len(slope_of_labeled)


def _batches_of(data: PUData) -> Any:
    """What makes one batch of the scores of all rows of a record."""
    columns, n_labeled, alpha = columns_of(data, "cpu"), data.n_labeled, data.alpha
    return lambda score: ScoredBatch(score[:n_labeled], score[n_labeled:], alpha, *columns)


def _as_tensor(score: np.ndarray, base: float) -> torch.Tensor:
    return torch.from_numpy(np.add(score, base).astype(np.float32) if base else score.astype(np.float32))


def _rows_of(data: PUData) -> np.ndarray:
    return np.concatenate([data.labeled_rows, data.unlabeled_rows])


def dataset_of(X: Rows, rows: np.ndarray, like: Any = None, groups: Groups = ()) -> Any:
    """Rows as a data set of LightGBM, all in memory; in the bins of another one where that is given."""
    width = math.prod(X.shape)
    table = X.matrix[rows] if isinstance(X, SparseRows) else X.take(rows).reshape(len(rows), width)
    codes: list[int] = []
    if groups:
        columns = Columns(width, groups)
        table, codes = columns.fold(table), list(columns.marks)
    label = np.zeros(len(rows), dtype=np.float32)  # not looked at, but there must be one
    request = {"reference": like, "params": IN_BINS, "categorical_feature": codes}
    return lightgbm().Dataset(table, label, **request).construct()


def trees_of(text: str, columns: Columns | None = None) -> Iterator[Tree]:
    """Trees of LightGBM's text, those without any split left out: in our own form of boosting these add nothing.

    `columns` says what its columns are made of; None if they are the features themselves.
    """
    for section in text.partition("\nend of trees")[0].split("\nTree=")[1:]:
        entries = dict(line.split("=", 1) for line in section.splitlines() if "=" in line)
        if int(entries["num_leaves"]) > 1:
            yield _tree_of({name: entries[name].split() for name in (*TEXT, *SETS) if name in entries}, columns)


TEXT: dict[str, type] = {
    **{"split_feature": np.int32, "threshold": np.float64, "decision_type": np.int64},
    **{"left_child": np.int32, "right_child": np.int32, "leaf_value": np.float64},
}
SETS = "cat_boundaries", "cat_threshold"
"""Entries of a tree in LightGBM's text; the last ones only where it asks for sets of categories."""
CATEGORICAL, DEFAULT_LEFT, MISSING_IS_NAN = 1, 2, 8
"""Bits of `decision_type`."""
ZERO = np.float32(1e-35)


def _tree_of(entries: dict[str, list[str]], columns: Columns | None) -> Tree:
    found: dict[str, np.ndarray] = {}
    found |= {name: np.array(entries[name], dtype=np.float64).astype(kind) for name, kind in TEXT.items()}
    kind, threshold, feature = found["decision_type"], found["threshold"], found["split_feature"]
    is_set = (kind & CATEGORICAL) > 0
    # Where no value was missing in training, LightGBM takes a missing one for 0.
    missing_left = np.where(kind & MISSING_IS_NAN, (kind & DEFAULT_LEFT) > 0, threshold >= 0) & ~is_set
    sets = [_set_of(entries, int(threshold[node])) for node in np.flatnonzero(is_set)]
    if columns is not None:
        sets = [columns.marks[of][codes] for of, codes in zip(feature[is_set], sets, strict=True)]
        feature = columns.first[feature]
    n_members = np.zeros(len(kind), dtype=np.int32)
    n_members[is_set] = [len(each) for each in sets]
    member = np.concatenate([NO_MEMBERS, *sets]).astype(np.int32)
    threshold = np.where(is_set, 0, rounded_down(threshold)).astype(np.float32)
    children = found["left_child"], found["right_child"]
    return Tree(feature, threshold, missing_left, *children, found["leaf_value"], n_members, member)


def _set_of(entries: dict[str, list[str]], number: int) -> np.ndarray:
    """Codes of the categories in a set: the bits of some words of 32."""
    begin, end = (int(each) for each in entries["cat_boundaries"][number : number + 2])
    words = np.array(entries["cat_threshold"][begin:end], dtype=np.uint64).astype("<u4")
    return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))


def rounded_down(threshold: np.ndarray) -> np.ndarray:
    """Largest float32 that is not above: the same numbers in float32 are above it as are above the float64.

    What is not farther from 0 than `ZERO` LightGBM takes for 0 when it scores, its own threshold below 0 included.
    """
    ends = np.finfo(np.float32)
    near = np.clip(threshold, -ends.max, ends.max).astype(np.float32)
    with np.errstate(over="ignore"):  # the lowest number has none below, and is not above anything
        below = np.nextafter(near, np.float32(-np.inf))
    return np.asarray(np.where((near > threshold) & (near > -ends.max) | (near == -ZERO), below, near))
