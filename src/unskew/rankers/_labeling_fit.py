"""Fitting the labeling model, with or without cross-fitting, or taking the one that was lent."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from unskew._support.parameters import set_seeds
from unskew.data.frames import names_inside
from unskew.data.records import PUData
from unskew.data.rows import Rows, as_table
from unskew.errors import TooFewLabeled
from unskew.learning.networks import TREES
from unskew.learning.trainer import Trainer
from unskew.rankers._labeling_folds import folds_of_trees, training_of, with_rounds_of_others
from unskew.rankers.labeling import (
    CrossFittedLabeling,
    CrossFittedRatio,
    LabelingNetwork,
    as_model,
    estimate_at,
    labeling_risk,
    mean_labeling,
    n_features_of,
)


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
    if (found := n_features_of(labeling)) not in (None, prod(X.shape)):
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
