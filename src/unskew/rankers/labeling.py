r"""The labeling probability :math:`\hat u(x)`, an estimate of :math:`p(o=1|x)` (Algorithm 1, line 2).

By default a network trained to tell labeled from unlabeled, the "non-traditional classifier" (NTC) of Elkan and Noto
(2008). Any scikit-learn classifier may take its place, fitted already or not, and either may be cross-fitted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
import torch
from scipy import sparse
from scipy.special import logit
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn
from torch.nn.functional import softplus

from unskew._support.seeds import set_seeds
from unskew.data.records import Epoch, PUData, ScoredBatch
from unskew.data.rows import DenseRows, ReshapedRows, Rows, SparseRows, as_rows
from unskew.data.validation import check_features
from unskew.errors import TooFewLabeled
from unskew.learning.density_ratio import ratio_from_odds
from unskew.learning.networks import NetworkChoice
from unskew.learning.scoring import score_rows
from unskew.learning.trainer import Trainer


def labeling_risk(batch: ScoredBatch) -> Tensor:
    r"""Cross entropy of being labeled, given the score as its logit.

    .. math:: \hat\alpha \hat E_l[\log(1 + e^{-g(x)})] + (1 - \hat\alpha) \hat E_u[\log(1 + e^{g(x)})]
    """
    labeled, unlabeled = softplus(-batch.labeled).mean(), softplus(batch.unlabeled).mean()
    return batch.alpha * labeled + (1 - batch.alpha) * unlabeled


def can_be_labeling(value: Any) -> bool:
    """Whether something is None, or has what a labeling model or the ranker that lends one has."""
    return value is None or any(hasattr(value, each) for each in ("predict_proba", "density_ratio", "labeling_prob"))


@dataclass(frozen=True)
class _Unfitted:
    """A labeling model still to be fitted, on columns of these names: a classifier, or if None a network."""

    model: Any
    feature_names: tuple[str, ...] | None


@dataclass(frozen=True)
class LabelingNetwork:
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
        if self.feature_names is not None and len(self.feature_names) != prod(self.input_shape):
            raise ValueError(
                f"a labeling network must have one feature name per feature, {prod(self.input_shape)}, but it got "
                f"{len(self.feature_names)}. Leave them out where columns have no names."
            )

    @property
    def feature_names_in_(self) -> np.ndarray | None:
        """Names of the columns it was trained on, as scikit-learn's estimators have them; None if they had none."""
        return None if self.feature_names is None else np.array(self.feature_names, dtype=object)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of being unlabeled and labeled, shape (n, 2), before any clipping."""
        rows = as_rows(check_features(self, X, reset=False))
        if rows.shape != tuple(self.input_shape):
            raise ValueError(
                f"X must have rows of shape {tuple(self.input_shape)}, as the labeling network was trained on, but "
                f"they have shape {rows.shape}. Give X the same features in the same order."
            )
        labeled = labeling_prob_at(self, rows)
        return np.column_stack([1 - labeled, labeled])

    def logit_at(self, X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
        """Logits of the labeling probability at these rows, which may be of another shape than its own.

        A table may be lent the network of images, and images that of a table, as long as rows have as many numbers.
        """
        own = X if X.shape == self.input_shape else ReshapedRows(X, self.input_shape)
        return score_rows(self.network, own, rows, self.device).double().numpy()

    def __sklearn_tags__(self) -> Any:
        """Tags of any estimator, which scikit-learn's check of X asks for (`clone` is to copy it, not to unfit it)."""
        return BaseEstimator().__sklearn_tags__()


@dataclass(frozen=True)
class _CrossFitted:
    """The models of k folds, fitted on the same columns."""

    folds: tuple[Any, ...]

    @property
    def feature_names_in_(self) -> np.ndarray | None:
        """Names of the columns that the folds were fitted on, if they know them."""
        return getattr(self.folds[0], "feature_names_in_", None)


@dataclass(frozen=True)
class CrossFittedLabeling(_CrossFitted):
    """The models of k folds; a new instance gets the mean of their probabilities."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of being unlabeled and labeled, shape (n, 2), before any clipping."""
        return np.asarray(np.mean([fold.predict_proba(X) for fold in self.folds], axis=0))

    def logit_at(self, X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
        """Logits of the labeling probability at these rows."""
        return _finite_logit(np.mean([labeling_prob_at(fold, X, rows) for fold in self.folds], axis=0))


@dataclass(frozen=True)
class CrossFittedRatio(_CrossFitted):
    """The density ratios of k folds, which give no probability; a new instance gets their mean."""

    def density_ratio(self, X: Any) -> np.ndarray:
        """Estimated ratio at each row."""
        return np.asarray(np.mean([fold.density_ratio(X) for fold in self.folds], axis=0))


def labeling_prob_at(labeling: Any, X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
    """Labeling probability at these rows (all, if None) by a network of ours or any classifier, before clipping."""
    if isinstance(labeling, LabelingNetwork):
        return np.asarray(torch.sigmoid(torch.from_numpy(labeling.logit_at(X, rows))).numpy())
    if isinstance(labeling, CrossFittedLabeling):
        return np.asarray(np.mean([labeling_prob_at(fold, X, rows) for fold in labeling.folds], axis=0))
    table = _as_table(X, rows, getattr(labeling, "feature_names_in_", None))
    return np.asarray(labeling.predict_proba(table)[:, _labeled_column(labeling)], dtype=np.float64)


def _density_ratio_at(labeling: Any, X: Rows, rows: np.ndarray | None) -> np.ndarray:
    return np.asarray(labeling.density_ratio(_as_table(X, rows, getattr(labeling, "feature_names_in_", None))))


def _labeled_column(classifier: Any) -> int:
    """Column of `predict_proba` that belongs to the labeled class, 1."""
    classes = list(getattr(classifier, "classes_", (0, 1)))
    if len(classes) != 2 or 1 not in classes:
        raise ValueError(
            "the labeling classifier must know the classes 0 (unlabeled) and 1 (labeled), but its classes are "
            f"{classes}. Fit it on the same y as the ranker."
        )
    return classes.index(1)


def _finite_logit(prob: np.ndarray) -> np.ndarray:
    tiny = np.finfo(np.float64).eps
    return np.asarray(logit(np.clip(prob, tiny, 1 - tiny)))


def labeling_logit_at(labeling: Any, X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
    """Logit of the labeling probability, straight from the network where there is one: probabilities would tie at 1."""
    if isinstance(labeling, LabelingNetwork | CrossFittedLabeling):
        return labeling.logit_at(X, rows)
    if hasattr(labeling, "density_ratio"):  # the logit up to a constant, which changes no order
        return np.asarray(np.log(np.maximum(_density_ratio_at(labeling, X, rows), np.finfo(np.float64).tiny)))
    return _finite_logit(labeling_prob_at(labeling, X, rows))


def estimate_at(labeling: Any, X: Rows, rows: np.ndarray | None, scenario: str, alpha: float) -> np.ndarray:
    """What a weight divides by: the labeling probability, or in the two-sample scenario the density ratio.

    `alpha` is the share of labeled instances that the model was fitted with; our own networks know it themselves.
    """
    if isinstance(labeling, CrossFittedLabeling):
        parts = [estimate_at(fold, X, rows, scenario, alpha) for fold in labeling.folds]
        return np.asarray(np.mean(parts, axis=0))
    if hasattr(labeling, "density_ratio"):
        return _density_ratio_at(labeling, X, rows)
    prob = labeling_prob_at(labeling, X, rows)
    own_alpha = getattr(labeling, "alpha", None) if isinstance(labeling, LabelingNetwork) else None
    return prob if scenario == "one-sample" else ratio_from_odds(prob, alpha if own_alpha is None else own_alpha)


def fit_labeling(
    labeling: Any,
    data: PUData,
    held_out: PUData,
    trainer: Trainer,
    rng: np.random.RandomState,
    *,
    crossfit: int = 0,
    scenario: str = "one-sample",
    feature_names: Sequence[str] | None = None,
) -> tuple[Any, PUData, PUData]:
    """Fit the labeling model on `data` and write its estimates into both records.

    Parameters
    ----------
    labeling : None, classifier, density ratio or a fitted one of these
        None trains the default network. A fitted one is used as it is. A ranker lends its own.
    data, held_out : PUData
        The network keeps the epoch with the lowest risk on `held_out`; a classifier does not see it.
    trainer : Trainer
        How the default network is trained.
    rng : RandomState
        Source of all randomness.
    crossfit : int
        0: estimates for `data` are in-sample, as in the paper. k >= 2: each labeled instance gets the estimate of a
        model that did not see it; `held_out` and new instances get the mean over the k models.
    scenario : "one-sample" or "two-sample"
        Which of the two quantities of `estimate_at` is wanted.
    feature_names : sequence of str, optional
        Names of the columns, which the model keeps: it may choose columns by them, and it is not lent to others.

    Returns
    -------
    model, data, held_out : the fitted model, and the records with `labeling_prob`
    """
    names = None if feature_names is None else tuple(feature_names)
    _require_same_columns(labeling, names)
    labeling = getattr(labeling, "labeling_", labeling)
    if labeling is not None:
        _require_labeling(labeling, data.X)
    if scenario == "one-sample" and hasattr(labeling, "density_ratio"):
        raise ValueError(
            f"{type(labeling).__name__} estimates a density ratio, which only scenario='two-sample' uses. For "
            "one-sample data pass a classifier, or labeling=None."
        )
    if _is_fitted(labeling):
        if crossfit:
            raise ValueError(
                f"crossfit={crossfit} fits the labeling model anew for each fold, but the given one is fitted already. "
                "Pass an unfitted one, or crossfit=0."
            )
        model = labeling
    elif crossfit:
        return _cross_fit(_Unfitted(labeling, names), data, held_out, trainer, rng, crossfit, scenario)
    else:
        model = _fit_one(_Unfitted(labeling, names), data, held_out, trainer, rng, "labeling")
    inside = estimate_at(model, data.X, data.labeled_rows, scenario, data.alpha)
    outside = estimate_at(model, held_out.X, held_out.labeled_rows, scenario, data.alpha)
    return model, replace(data, labeling_prob=inside), replace(held_out, labeling_prob=outside)


def _require_same_columns(labeling: Any, names: tuple[str, ...] | None) -> None:
    """Refuse a lent labeling model that was fitted on other columns, or on these in another order."""
    lent = getattr(labeling, "feature_names_in_", None)
    if lent is not None and names is not None and tuple(lent) != names:
        raise ValueError(
            f"the lent labeling model was fitted on the columns {list(lent)}, but X has {list(names)}. Give X the same "
            "columns in the same order."
        )


def _require_labeling(labeling: Any, X: Rows) -> None:
    """Refuse what cannot estimate a labeling probability, or was fitted on rows of another size."""
    if hasattr(labeling, "labeling_prob"):  # a ranker, from which no labeling_ could be taken
        raise ValueError(
            f"a ranker that lends its labeling model must have one, but this {type(labeling).__name__} is not fitted "
            "(clone, and with it every search, unfits it), or was fitted without one because it was given the prior. "
            "Pass the fitted ranker's labeling_: a network stays fitted, a classifier does inside "
            "sklearn.frozen.FrozenEstimator."
        )
    if not (hasattr(labeling, "predict_proba") or hasattr(labeling, "density_ratio")):
        raise ValueError(
            f"labeling must have predict_proba (or density_ratio), but {type(labeling).__name__} has neither. Pass a "
            "probabilistic classifier, a fitted ranker, or None."
        )
    n_features = prod(X.shape)
    one = labeling.folds[0] if isinstance(labeling, _CrossFitted) else labeling
    expected = getattr(one, "n_features_in_", n_features)
    if isinstance(one, LabelingNetwork):
        expected = prod(one.input_shape)
    if expected != n_features:
        raise ValueError(
            f"the lent labeling model was fitted on {expected} features, but X has {n_features}. Fit it on the same "
            "features."
        )


def _fit_one(
    labeling: _Unfitted, data: PUData, held_out: PUData, trainer: Trainer, rng: np.random.RandomState, title: str
) -> Any:
    if labeling.model is None:
        trained = trainer.minimize(labeling_risk, data, held_out, rng, title)
        return LabelingNetwork(
            trained.network,
            trainer.network,
            data.X.shape,
            trainer.device,
            trained.history,
            trained.best_epoch,
            data.alpha,
            labeling.feature_names,
        )
    model = clone(labeling.model)
    set_seeds(model, rng)
    rows = np.concatenate([data.labeled_rows, data.unlabeled_rows])
    return model.fit(
        _as_table(data.X, rows, labeling.feature_names), np.repeat([1, 0], [data.n_labeled, data.n_unlabeled])
    )


def _cross_fit(
    labeling: _Unfitted,
    data: PUData,
    held_out: PUData,
    trainer: Trainer,
    rng: np.random.RandomState,
    crossfit: int,
    scenario: str,
) -> tuple[CrossFittedLabeling | CrossFittedRatio, PUData, PUData]:
    if data.n_labeled < 2 * crossfit:
        raise TooFewLabeled(
            f"crossfit={crossfit} needs at least {2 * crossfit} labeled instances for training, but there are "
            f"{data.n_labeled}. Lower crossfit, or set it to 0."
        )
    labeled_fold = rng.permutation(np.arange(data.n_labeled) % crossfit)
    unlabeled_fold = rng.permutation(np.arange(data.n_unlabeled) % crossfit)
    inside = np.empty(data.n_labeled)
    models = []
    for fold in range(crossfit):
        rest = replace(
            data,
            labeled_rows=data.labeled_rows[labeled_fold != fold],
            unlabeled_rows=data.unlabeled_rows[unlabeled_fold != fold],
            confidence=None,
        )
        model = _fit_one(labeling, rest, held_out, trainer, rng, f"labeling, fold {fold + 1} of {crossfit}")
        left_out = labeled_fold == fold
        inside[left_out] = estimate_at(model, data.X, data.labeled_rows[left_out], scenario, rest.labeled_share)
        models.append(model)
    ratios = hasattr(models[0], "density_ratio")
    mean = CrossFittedRatio(tuple(models)) if ratios else CrossFittedLabeling(tuple(models))
    outside = estimate_at(mean, held_out.X, held_out.labeled_rows, scenario, data.alpha)
    return mean, replace(data, labeling_prob=inside), replace(held_out, labeling_prob=outside)


def _is_fitted(labeling: Any) -> bool:
    if labeling is None:
        return False
    if not hasattr(labeling, "fit"):  # our own, and whatever else a user has that only predicts
        return True
    try:
        check_is_fitted(labeling)
    except NotFittedError:
        return False
    return True


def _as_table(X: Rows, rows: np.ndarray | None, names: Sequence[str] | None = None) -> Any:
    """Rows as scikit-learn takes them: two-dimensional, with the column names the classifier was fitted with."""
    everything = slice(None) if rows is None else rows
    if isinstance(X, SparseRows):
        return sparse.csr_array(X.matrix[everything])
    if not isinstance(X, DenseRows):
        raise ValueError(
            "a scikit-learn classifier as labeling model needs all features in memory, but X is read from "
            f"{type(X).__name__} as needed. Pass labeling=None, or a smaller table as an array."
        )
    table = X.array[everything].reshape(-1, prod(X.shape))
    if names is None:
        return table
    return _data_frame(table, list(names))


def _data_frame(table: np.ndarray, names: list[str]) -> Any:
    """A frame of the library that is there: where columns have names, they came in one."""
    try:
        import pandas as pd
    except ImportError:
        import polars as pl

        return pl.DataFrame(table, schema=names)
    return pd.DataFrame(table, columns=names)
