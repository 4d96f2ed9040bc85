r"""The labeling probability :math:`\hat u(x)`, an estimate of :math:`p(o=1|x)` (Algorithm 1, line 2).

By default a network trained to tell labeled from unlabeled, the "non-traditional classifier" (NTC) of Elkan and Noto
(2008). Any scikit-learn classifier may take its place, fitted already or not, and either may be cross-fitted. In the
two-sample scenario the density ratio is estimated instead, from the odds of these or directly (`unskew.ULSIF`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
import torch
from scipy.special import logit
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn
from torch.nn.functional import softplus

from unskew._support.parameters import set_seeds
from unskew.data.frames import names_inside
from unskew.data.records import Epoch, PUData, ScoredBatch
from unskew.data.rows import ReshapedRows, Rows, as_rows, as_table
from unskew.data.validation import check_features
from unskew.errors import TooFewLabeled
from unskew.learning.density_ratio import ratio_from_odds
from unskew.learning.networks import TREES, NetworkChoice
from unskew.learning.scoring import score_rows
from unskew.learning.trainer import Trainer
from unskew.rankers._labeling_folds import folds_of_trees, training_of, with_rounds_of_others


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
        tiny = np.finfo(np.float64).eps
        return np.asarray(logit(np.clip(self.prob_at(X, rows), tiny, 1 - tiny)))


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

    def __sklearn_tags__(self) -> Any:
        """Tags of any estimator, which scikit-learn's check of X looks for (`clone` is to copy it, not to unfit it)."""
        return BaseEstimator().__sklearn_tags__()


@dataclass(frozen=True)
class _FittedEstimator(LabelingModel):
    """A user's own estimator, which takes tables as scikit-learn does."""

    estimator: Any

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
        return _n_features(self.folds[0])

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


def _n_features(labeling: Any) -> int | None:
    """Numbers in a row that a labeling model was fitted on; None if it does not say."""
    if isinstance(labeling, LabelingNetwork):
        return prod(labeling.input_shape)
    return getattr(labeling, "n_features_in_", None)


def estimate_at(labeling: Any, X: Rows, rows: np.ndarray | None, scenario: str, alpha: float) -> np.ndarray:
    """What a weight divides by: the labeling probability, or in the two-sample scenario the density ratio."""
    model = as_model(labeling)
    return model.prob_at(X, rows) if scenario == "one-sample" else model.ratio_at(X, rows, alpha)


def fit_labeling(
    labeling: Any,
    data: PUData,
    held_out: PUData,
    trainer: Trainer,
    rng: np.random.RandomState,
    crossfit: int = 0,
    scenario: str = "one-sample",
    *,
    feature_names: Sequence[str] | None = None,
) -> tuple[Any, PUData, PUData]:
    """Fit the labeling model on `data`; returns it, and both records with its estimates for their labeled instances.

    With None for `labeling` the default network is trained, which keeps the epoch with the lowest risk on `held_out`. A
    fitted one is used as it is, and a ranker lends its own. With `crossfit` k >= 2 each labeled instance of `data` gets
    the estimate of a model that did not see it; `held_out` and new instances get the mean over the k models. Trees,
    which fit what they see too well, always are cross-fitted, and choose their rounds without `held_out`. The model
    keeps the names of the columns: it may choose columns by them, and it is not lent where they are others.
    """
    names = None if feature_names is None else tuple(feature_names)
    labeling = _checked(labeling, names, data.X, scenario)

    own_trainer, grows = trainer.for_labeling(), labeling is None and trainer.network == TREES
    crossfit = folds_of_trees(crossfit, data) if grows else crossfit

    def fit(part: PUData, title: str, left_out: PUData | None = None) -> Any:
        """Train a network, or fit a copy of the estimator, on this part of the data."""
        if labeling is None:
            folds = grows and left_out is not None  # all rounds, of which the folds choose together
            with_rest = replace(own_trainer, keep="last", patience=None) if folds else own_trainer
            judge = left_out if folds and left_out is not None else held_out
            trained = with_rest.minimize(labeling_risk, part, judge, rng, title)
            training = trained.history, trained.best_epoch, part.alpha
            return LabelingNetwork(trained.network, trainer.network, part.X.shape, trainer.device, *training, names)
        model = clone(labeling)
        set_seeds(model, rng)
        rows = np.concatenate([part.labeled_rows, part.unlabeled_rows])
        return model.fit(as_table(part.X, rows, names), np.repeat([1, 0], [part.n_labeled, part.n_unlabeled]))

    if not crossfit:
        model = labeling if _is_fitted(labeling) else fit(data, "labeling")
        inside = estimate_at(model, data.X, data.labeled_rows, scenario, data.alpha)
    elif _is_fitted(labeling):
        raise ValueError(
            f"crossfit={crossfit} fits the labeling model anew for each fold, but the given one is fitted already. "
            "Pass an unfitted one, or crossfit=0."
        )
    else:
        settle = with_rounds_of_others if grows else list[Any]
        model, inside = _cross_fit(fit, settle, data, rng, crossfit, scenario)
        model = replace(model, **training_of(model.folds)) if grows else model
    outside = estimate_at(model, held_out.X, held_out.labeled_rows, scenario, data.alpha)
    if scenario == "one-sample":
        return model, replace(data, labeling_prob=inside), replace(held_out, labeling_prob=outside)
    return model, replace(data, density_ratio=inside), replace(held_out, density_ratio=outside)


def _cross_fit(
    fit: Callable[[PUData, str, PUData], Any],
    settle: Callable[[list[Any]], list[Any]],
    data: PUData,
    rng: np.random.RandomState,
    crossfit: int,
    scenario: str,
) -> tuple[CrossFittedLabeling | CrossFittedRatio, np.ndarray]:
    """The models of all folds, and for each labeled instance the estimate of the one that did not see it."""
    if data.n_labeled < 2 * crossfit:
        raise TooFewLabeled(
            f"crossfit={crossfit} needs at least {2 * crossfit} labeled instances for training, but there are "
            f"{data.n_labeled}. Lower crossfit, or set it to 0."
        )
    labeled_fold = rng.permutation(np.arange(data.n_labeled) % crossfit)
    unlabeled_fold = rng.permutation(np.arange(data.n_unlabeled) % crossfit)

    def part(labeled: np.ndarray, unlabeled: np.ndarray) -> PUData:
        rows = data.labeled_rows[labeled], data.unlabeled_rows[unlabeled]
        return replace(data, labeled_rows=rows[0], unlabeled_rows=rows[1], confidence=None)

    inside = np.empty(data.n_labeled)
    rests = [part(labeled_fold != fold, unlabeled_fold != fold) for fold in range(crossfit)]
    others = [part(labeled_fold == fold, unlabeled_fold == fold) for fold in range(crossfit)]
    titles = [f"labeling, fold {fold + 1} of {crossfit}" for fold in range(crossfit)]
    models = settle([fit(*each) for each in zip(rests, titles, others, strict=True)])
    for fold, (model, rest, left_out) in enumerate(zip(models, rests, others, strict=True)):
        estimate = estimate_at(model, data.X, left_out.labeled_rows, scenario, rest.labeled_share)
        inside[labeled_fold == fold] = estimate
    return mean_labeling(models), inside


def _checked(labeling: Any, names: tuple[str, ...] | None, X: Rows, scenario: str) -> Any:
    """Labeling model as it was passed, or as a ranker lends it, if it suits these columns and the scenario."""
    lent = names_inside(labeling)
    if lent is not None and names is not None and tuple(lent) != names:
        raise ValueError(
            f"the lent labeling model was fitted on the columns {list(lent)}, but X has {list(names)}. Give X the same "
            "columns in the same order."
        )
    labeling = getattr(labeling, "labeling_", labeling)
    if labeling is None:
        return None
    if hasattr(labeling, "labeling_prob"):  # a ranker, from which no labeling_ could be taken
        raise ValueError(
            f"a ranker that lends its labeling model must have one, but this {type(labeling).__name__} is not fitted "
            "(clone, and with it every search, unfits it), or was fitted without one because it was given the prior. "
            "Pass the fitted ranker's labeling_: a network stays fitted, a classifier does inside "
            "sklearn.frozen.FrozenEstimator."
        )
    if (found := _n_features(labeling)) not in (None, prod(X.shape)):
        raise ValueError(
            f"the lent labeling model was fitted on {found} features, but X has {prod(X.shape)}. Fit it on the same "
            "features."
        )
    if scenario == "one-sample" and hasattr(labeling, "density_ratio"):
        as_model(labeling).prob_at(X)  # raises: it has none
    return labeling


def _is_fitted(labeling: Any) -> bool:
    if not hasattr(labeling, "fit"):  # our own, or a user's object that only predicts
        return labeling is not None
    try:
        check_is_fitted(labeling)
    except NotFittedError:
        return False
    return True
