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
from unskew.learning.boosted_trees import BoostedTrees, Tree, joined_trees
from unskew.learning.threads import one_thread
from unskew.learning.trainer import Risk, Trained, Trainer, require_finite
from unskew.learning.tree_pace import LABELING_LEAVES, SMALL_LEAVES
from unskew.objectives.pairs import SlopesOf, rounded_scores

LEAST_IN_LEAF = 20
"""Rows of a leaf, at least; a twentieth of all where these are few."""
LEAST_CURVATURE = 1e-6
"""Of a row: where all slopes of a leaf vanish, its value is 0 and not 0 / 0."""
LABELING_HASTE = 2
"""The labeling model is fitted once for each fold: in so many times fewer rounds, at so many times the rate."""
IN_BINS = {"max_bin": 255, "feature_pre_filter": False, "verbosity": -1, "num_threads": 1}
GROWING = {
    **{"objective": "none", "metric": "none", "lambda_l2": 1.0, "min_sum_hessian_in_leaf": 1e-3},
    **{"deterministic": True, "force_col_wise": True, **IN_BINS},
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


class BinnedRows:
    """Rows of a record, sorted into bins once for all trees that are grown on them or on a part of them."""

    def __init__(self, data: PUData) -> None:
        self.X, self.rows = data.X, _rows_of(data)
        self.whole: Any = None

    def part(self, data: PUData) -> Any:
        """Data set with the rows of another record, labeled ones first; None if some are not among these."""
        if data.X is not self.X:
            return None
        self.whole = self.whole or dataset_of(self.X, self.rows)
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
    is_likelihood : bool
        Whether the risk is the cross entropy of being labeled: then its curvature is known, and scores begin at the
        logit of the share of labeled rows.
    binned : BinnedRows or None
        Rows that may be trained on more than once.
    """

    leaves: int = SMALL_LEAVES
    is_likelihood: bool = False
    binned: BinnedRows | None = None

    def for_labeling(self) -> "TreeTrainer":
        """Trainer of the labeling model, which is fitted once for each fold."""
        rounds, rate = math.ceil(self.max_epochs / LABELING_HASTE), LABELING_HASTE * self.learning_rate
        return replace(self, max_epochs=rounds, learning_rate=rate, leaves=LABELING_LEAVES, is_likelihood=True)

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
        """Boost trees on `data`; keep the rounds up to the lowest risk on `held_out`, or all, as `keep` says.

        Nothing is drawn: `rng` is there for networks.
        """
        if start is not None:
            raise ValueError(
                "trees are grown from the first to the last in one go, but this method goes on from trees of before. "
                "Use another network, such as 'mlp'."
            )
        with one_thread(), rounded_scores():
            return self._boost(risk, data, held_out, title)

    def _boost(self, risk: Risk, data: PUData, held_out: PUData, title: str) -> Trained:
        train = self.binned.part(data) if self.binned else None
        train = train or dataset_of(data.X, _rows_of(data))
        base = float(logit(data.alpha)) if self.is_likelihood else 0.0
        slopes, outside = _Slopes(risk, data, base, self.is_likelihood), _Outside(risk, held_out, base)
        booster = lightgbm().Booster(self._settings(data), train)
        booster.add_valid(dataset_of(held_out.X, _rows_of(held_out), like=train), "held out")
        history: list[Epoch] = []
        lowest, best = math.inf, 0
        with progress_bar(title, self.max_epochs, shown=self.verbose) as step:
            for number in range(self.max_epochs):
                is_finished = booster.update(fobj=slopes)
                booster.eval_valid(feval=outside)
                history.append(Epoch(number, slopes.value, outside.value))
                require_finite(history[-1], self.learning_rate)
                if self.keep == "last" or outside.value < lowest:
                    lowest, best = outside.value, number
                step(f"validation risk {outside.value:.4g}")
                if is_finished or (self.patience is not None and number - best >= self.patience):
                    break
        arrays = joined_trees(list(trees_of(booster.model_to_string(num_iteration=best + 1))), base)
        return Trained(BoostedTrees(math.prod(data.X.shape), arrays).eval(), history, best, None)

    def _settings(self, data: PUData) -> dict[str, Any]:
        least = max(1, min(LEAST_IN_LEAF, (data.n_labeled + data.n_unlabeled) // LEAST_IN_LEAF))
        own = {"num_leaves": self.leaves, "learning_rate": self.learning_rate, "min_data_in_leaf": least}
        return {**GROWING, **own}


class _Slopes:
    """Slopes and curvature of a risk at the scores of all rows, as LightGBM asks for them; `value` is the risk."""

    def __init__(self, risk: Risk, data: PUData, base: float, is_likelihood: bool) -> None:
        self.slopes, self.base, self.is_likelihood = SlopesOf(risk), base, is_likelihood
        self.batch_of = _batches_of(data)
        self.sizes, self.alpha = (data.n_labeled, data.n_unlabeled), data.alpha
        self.factor = 0.0
        self.value = math.nan

    def __call__(self, score: np.ndarray, _dataset: Any) -> tuple[np.ndarray, np.ndarray]:
        with torch.inference_mode():
            value, by_score = self.slopes(_as_tensor(score, self.base), self.batch_of)
        self.value, slope = float(value), by_score.numpy()
        if self.is_likelihood:
            return self._with_exact_curvature(slope)
        if not self.factor:
            self.factor = _factor_for(slope[: self.sizes[0]])
        slope = slope * np.float32(self.factor)
        return slope, np.maximum(np.abs(slope), np.float32(LEAST_CURVATURE))

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


def dataset_of(X: Rows, rows: np.ndarray, like: Any = None) -> Any:
    """Rows as a data set of LightGBM, all in memory; in the bins of another one where that is given."""
    width = math.prod(X.shape)
    table = X.matrix[rows] if isinstance(X, SparseRows) else X.take(rows).reshape(len(rows), width)
    label = np.zeros(len(rows), dtype=np.float32)  # not looked at, but there must be one
    return lightgbm().Dataset(table, label, reference=like, params=IN_BINS).construct()


def trees_of(text: str) -> Iterator[Tree]:
    """Trees of LightGBM's text, those without any split left out: in our own form of boosting these add nothing."""
    for section in text.partition("\nend of trees")[0].split("\nTree=")[1:]:
        entries = dict(line.split("=", 1) for line in section.splitlines() if "=" in line)
        if int(entries["num_leaves"]) > 1:
            yield _tree_of({name: entries[name].split() for name in TEXT})


TEXT: dict[str, type] = {
    **{"split_feature": np.int32, "threshold": np.float64, "decision_type": np.int64},
    **{"left_child": np.int32, "right_child": np.int32, "leaf_value": np.float64},
}
"""Entries of a tree in LightGBM's text."""
CATEGORICAL, DEFAULT_LEFT, MISSING_IS_NAN = 1, 2, 8
"""Bits of `decision_type`."""
ZERO = np.float32(1e-35)


def _tree_of(entries: dict[str, list[str]]) -> Tree:
    found: dict[str, np.ndarray] = {}
    found |= {name: np.array(entries[name], dtype=np.float64).astype(kind) for name, kind in TEXT.items()}
    kind, threshold = found["decision_type"], found["threshold"]
    assert not (kind & CATEGORICAL).any(), "no column is told to be one of categories"
    # Where no value was missing in training, LightGBM takes a missing one for 0.
    missing_left = np.where(kind & MISSING_IS_NAN, (kind & DEFAULT_LEFT) > 0, threshold >= 0)
    children = found["left_child"], found["right_child"]
    return Tree(found["split_feature"], rounded_down(threshold), missing_left, *children, found["leaf_value"])


def rounded_down(threshold: np.ndarray) -> np.ndarray:
    """Largest float32 that is not above: the same numbers in float32 are above it as are above the float64.

    What is not farther from 0 than `ZERO` LightGBM takes for 0 when it scores, its own threshold below 0 included.
    """
    ends = np.finfo(np.float32)
    near = np.clip(threshold, -ends.max, ends.max).astype(np.float32)
    with np.errstate(over="ignore"):  # the lowest number has none below, and is not above anything
        below = np.nextafter(near, np.float32(-np.inf))
    return np.asarray(np.where((near > threshold) & (near > -ends.max) | (near == -ZERO), below, near))
