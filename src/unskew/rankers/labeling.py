r"""The labeling probability :math:`\hat u(x)`, an estimate of :math:`p(o=1|x)` (Algorithm 1, line 2).

By default a network trained to tell labeled from unlabeled, the "non-traditional classifier" (NTC) of Elkan and Noto
(2008). Any scikit-learn classifier may take its place, fitted already or not, and either may be cross-fitted. In the
two-sample scenario the density ratio is estimated instead, from the odds of these or directly (`unskew.ULSIF`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import torch
from scipy.special import logit
from sklearn.base import BaseEstimator
from torch import Tensor, nn
from torch.nn.functional import softplus

from unskew.data.records import Epoch, ScoredBatch
from unskew.data.rows import ReshapedRows, Rows, as_rows, as_table
from unskew.data.validation import check_features
from unskew.errors import NotExportable
from unskew.exporting import Graph, network_in
from unskew.learning.density_ratio import ratio_from_odds
from unskew.learning.networks import TREES, NetworkChoice
from unskew.learning.scoring import score_rows

TINY = float(np.finfo(np.float64).eps)
"""How far a probability is kept from 0 and 1, so that its logit is a number."""


def labeling_risk(batch: ScoredBatch) -> Tensor:
    r"""Cross entropy of being labeled, given the score as its logit.

    .. math:: \hat\alpha \hat E_l[\log(1 + e^{-g(x)})] + (1 - \hat\alpha) \hat E_u[\log(1 + e^{g(x)})]
    """
    labeled, unlabeled = softplus(-batch.labeled).mean(), softplus(batch.unlabeled).mean()
    return batch.alpha * labeled + (1 - batch.alpha) * unlabeled


def can_be_labeling(value: Any) -> bool:
    """Whether something is None, or has what a labeling model or the ranker that lends one has."""
    return value is None or any(hasattr(value, each) for each in ("predict_proba", "density_ratio", "labeling_prob"))


class LabelingModel(ABC):
    """A fitted model of being labeled, as rankers see it: four kinds, of which a ratio gives no probability.

    `as_model` finds the kind of what a user passed. `history` and `best_epoch` are those of a network's training.
    """

    history: Sequence[Epoch] = ()
    best_epoch: int = 0

    @abstractmethod
    def prob_at(self, X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
        """Labeling probability at these rows (all, if None), before clipping."""

    def ratio_at(self, X: Rows, rows: np.ndarray | None, alpha: float) -> np.ndarray:
        """Density ratio at these rows; `alpha` is the share of labeled instances that the model was fitted with."""
        return ratio_from_odds(self.prob_at(X, rows), alpha)

    def logit_at(self, X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
        """Logit of the labeling probability at these rows; for a ratio its logarithm, the same but for a constant."""
        return np.asarray(logit(np.clip(self.prob_at(X, rows), TINY, 1 - TINY)))

    def logit_in(self, graph: Graph, rows: str) -> str:
        """Add the logit to a graph; returns its name."""
        raise NotExportable(
            f"a labeling model that is written as ONNX must be a network or trees of this package, but it is a "
            f"{self._kind}. Fit with labeling=None, or use a method whose score does not rest on it, such as "
            "'conf-auc'."
        )

    @property
    def _kind(self) -> str:
        return type(self).__name__


@dataclass(frozen=True)
class LabelingNetwork(LabelingModel):
    """A trained network whose score is the logit of the labeling probability."""

    network: nn.Module
    kind: NetworkChoice
    input_shape: tuple[int, ...]
    device: str = "cpu"
    history: list[Epoch] = field(default_factory=list)
    best_epoch: int = 0
    alpha: float | None = None  # share of labeled instances that it was trained with
    feature_names: tuple[str, ...] | None = None  # where it was trained on columns that have names

    def __post_init__(self) -> None:
        n_features = prod(self.input_shape)
        if self.feature_names is not None and len(self.feature_names) != n_features:
            raise ValueError(
                f"a labeling network must have one feature name per feature, {n_features}, but it got "
                f"{len(self.feature_names)}. Leave them out where columns have no names."
            )

    @property
    def feature_names_in_(self) -> np.ndarray | None:
        """Names of the columns it was trained on, as scikit-learn's estimators have them; None if they had none."""
        return None if self.feature_names is None else np.array(self.feature_names, dtype=object)

    @property
    def takes_missing(self) -> bool:
        """Whether rows may have missing values."""
        return self.kind == TREES

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of being unlabeled and labeled, shape (n, 2), before any clipping."""
        labeled = self.prob_at(read_rows(self, X, self.input_shape))
        return np.column_stack([1 - labeled, labeled])

    def prob_at(self, X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
        """Labeling probability at these rows."""
        return np.asarray(torch.sigmoid(torch.from_numpy(self.logit_at(X, rows))).numpy())

    def ratio_at(self, X: Rows, rows: np.ndarray | None, alpha: float) -> np.ndarray:
        """Density ratio at these rows; the network knows its share of labeled instances itself."""
        return super().ratio_at(X, rows, alpha if self.alpha is None else self.alpha)

    def logit_at(self, X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
        """Score of the network: probabilities that round to 1 would lose the order.

        A table may be lent the network of images, and images that of a table, as long as rows have as many numbers.
        """
        own = X if X.shape == self.input_shape else ReshapedRows(X, self.input_shape)
        return score_rows(self.network, own, rows, self.device).double().numpy()

    def logit_in(self, graph: Graph, rows: str) -> str:
        """Score of the network as nodes of a graph."""
        return network_in(graph, self.network, graph.in_shape(rows, self.input_shape))

    def __sklearn_tags__(self) -> Any:
        """Tags of any estimator, which scikit-learn's check of X looks for (`clone` is to copy it, not to unfit it)."""
        return BaseEstimator().__sklearn_tags__()


@dataclass(frozen=True)
class _FittedEstimator(LabelingModel):
    """A user's own estimator, which takes tables as scikit-learn does."""

    estimator: Any

    @property
    def _kind(self) -> str:
        return type(self.estimator).__name__

    def table(self, X: Rows, rows: np.ndarray | None) -> Any:
        """Rows in the form in which it was fitted."""
        return as_table(X, rows, getattr(self.estimator, "feature_names_in_", None))


@dataclass(frozen=True)
class _Classifier(_FittedEstimator):
    """Any classifier with `predict_proba`."""

    def prob_at(self, X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
        classes = list(getattr(self.estimator, "classes_", (0, 1)))
        if len(classes) != 2 or 1 not in classes:
            raise ValueError(
                "the labeling classifier must know the classes 0 (unlabeled) and 1 (labeled), but its classes are "
                f"{classes}. Fit it on the same y as the ranker."
            )
        both = self.estimator.predict_proba(self.table(X, rows))
        return np.asarray(both[:, classes.index(1)], dtype=np.float64)


@dataclass(frozen=True)
class _DensityRatio(_FittedEstimator):
    """Any estimator with `density_ratio`, for the two-sample scenario: it knows no probability."""

    def prob_at(self, X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
        raise ValueError(
            f"{type(self.estimator).__name__} estimates a density ratio, which only scenario='two-sample' uses. For "
            "one-sample data pass a classifier, or labeling=None."
        )

    def ratio_at(self, X: Rows, rows: np.ndarray | None, alpha: float) -> np.ndarray:
        return np.asarray(self.estimator.density_ratio(self.table(X, rows)))

    def logit_at(self, X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
        return np.asarray(np.log(np.maximum(self.ratio_at(X, rows, 0.0), np.finfo(np.float64).tiny)))


@dataclass(frozen=True)
class _Folds:
    """The models of k folds, fitted on the same columns."""

    folds: tuple[Any, ...]

    @property
    def feature_names_in_(self) -> np.ndarray | None:
        """Names of the columns that the folds were fitted on, if they know them."""
        return getattr(self.folds[0], "feature_names_in_", None)

    @property
    def n_features_in_(self) -> int | None:
        """Numbers in a row that the folds were fitted on, if they know it."""
        return n_features_of(self.folds[0])

    @property
    def takes_missing(self) -> bool:
        """Whether rows may have missing values."""
        return all(getattr(fold, "takes_missing", False) for fold in self.folds)

    def _mean(self, estimate: Callable[[Any], np.ndarray]) -> np.ndarray:
        return np.asarray(np.mean([estimate(fold) for fold in self.folds], axis=0))


@dataclass(frozen=True)
class CrossFittedLabeling(_Folds, LabelingModel):
    """The models of k folds; a new instance gets the mean of their estimates."""

    history: Sequence[Epoch] = ()
    best_epoch: int = 0

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of being unlabeled and labeled, shape (n, 2), before any clipping."""
        return self._mean(lambda fold: fold.predict_proba(X))

    def prob_at(self, X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
        """Mean labeling probability at these rows."""
        return self._mean(lambda fold: as_model(fold).prob_at(X, rows))

    def ratio_at(self, X: Rows, rows: np.ndarray | None, alpha: float) -> np.ndarray:
        """Mean density ratio at these rows."""
        return self._mean(lambda fold: as_model(fold).ratio_at(X, rows, alpha))

    def logit_in(self, graph: Graph, rows: str) -> str:
        """Logit of the mean probability as nodes of a graph."""
        probs = [graph.probability_of(as_model(fold).logit_in(graph, rows)) for fold in self.folds]
        mean = graph.weighted_sum(probs, [1 / len(probs)] * len(probs))
        return graph.logit_of(mean, TINY)


@dataclass(frozen=True)
class CrossFittedRatio(_Folds):
    """The density ratios of k folds, which give no probability; a new instance gets their mean."""

    def density_ratio(self, X: Any) -> np.ndarray:
        """Estimated ratio at each row."""
        return self._mean(lambda fold: fold.density_ratio(X))


def mean_labeling(models: Sequence[Any]) -> CrossFittedLabeling | CrossFittedRatio:
    """Fitted labeling models as one, whose estimate is the mean of theirs."""
    kind = CrossFittedRatio if hasattr(models[0], "density_ratio") else CrossFittedLabeling
    return kind(tuple(models))


def as_model(labeling: Any) -> LabelingModel:
    """Fitted labeling model of any kind, as rankers see it."""
    if isinstance(labeling, LabelingModel):
        return labeling
    return _DensityRatio(labeling) if hasattr(labeling, "density_ratio") else _Classifier(labeling)


def read_rows(estimator: Any, X: Any, shape: tuple[int, ...]) -> Rows:
    """Features of a user's X, as the fitted estimator checks them, in rows of the shape that it was trained on."""
    rows = as_rows(check_features(estimator, X, reset=False))
    if rows.shape != shape:
        raise ValueError(
            f"X must have rows of shape {shape}, as in training, but they have shape {rows.shape}. Give X the same "
            "features in the same order."
        )
    return rows


def n_features_of(labeling: Any) -> int | None:
    """Numbers in a row that a labeling model was fitted on; None if it does not say."""
    if isinstance(labeling, LabelingNetwork):
        return prod(labeling.input_shape)
    return getattr(labeling, "n_features_in_", None)


def estimate_at(labeling: Any, X: Rows, rows: np.ndarray | None, scenario: str, alpha: float) -> np.ndarray:
    """What a weight divides by: the labeling probability, or in the two-sample scenario the density ratio."""
    model = as_model(labeling)
    return model.prob_at(X, rows) if scenario == "one-sample" else model.ratio_at(X, rows, alpha)
