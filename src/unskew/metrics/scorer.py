"""The AUC estimated without negatives as a scorer for scikit-learn's searches and cross-validation."""

from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest

from unskew.data.validation import SCENARIOS, check_choice, check_labels, plain_array, require_two_of_each
from unskew.learning.density_ratio import ratio_from_odds
from unskew.metrics._sample import check_clip
from unskew.metrics._tables import output_of, table_of_numbers
from unskew.metrics.crossval import out_of_fold_labeling
from unskew.metrics.sar import sar_auc
from unskew.objectives.weights import CLIP

MOST_FOLDS = 5
NO_RATIO = "labeling must be None in the two-sample scenario, which needs density ratios, but it gives probabilities."
MOST_KEPT = 20
"""Results of forests that are kept: more than the usual number of folds."""


@dataclass(frozen=True)
class SarScorer:
    """Callable ``scorer(estimator, X, y, confidence=...)`` that returns the estimated AUC of `estimator` on PU data.

    The estimate is not clipped to [0, 1], so that candidates beyond can still be compared.

    It requests `confidence`, so that ``GridSearchCV(...).fit(X, y, confidence=r)`` routes it here once metadata routing
    is on. Make one with `make_sar_scorer`.
    """

    scenario: str | None
    labeling: Any
    clip: float

    def __call__(self, estimator: Any, X: Any, y: Any, confidence: Any = None) -> float:
        """Estimate the AUC of the estimator's scores on these rows."""
        if confidence is None:
            raise ValueError(
                "the SAR scorer needs confidence, but none reached it. Turn metadata routing on with "
                "sklearn.set_config(enable_metadata_routing=True) and pass confidence to the search or to "
                "cross_val_score(..., params={'confidence': ...})."
            )
        labeled = check_labels(y)
        require_two_of_each(labeled, "an AUC without negatives")
        final, transformed = _unwrapped(estimator, X)
        scenario = self._scenario_of(final)
        prob = self._labeling_prob(X, transformed, labeled, scenario)
        score = output_of(estimator, "decision_function", X)
        return sar_auc(y, score, confidence, prob, scenario, clip=self.clip).unclipped

    def get_metadata_routing(self) -> MetadataRequest:
        """Metadata that the scorer requests: `confidence`."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="confidence", alias=True)
        return request

    def _scenario_of(self, final: Any) -> str:
        own = getattr(final, "scenario", None)
        if self.scenario is None:
            return "one-sample" if own is None else str(own)
        if own is not None and own != self.scenario:
            raise ValueError(
                f"the scorer and what it scores must have the same scenario, but the scorer's is {self.scenario!r} and "
                f"that of {type(final).__name__} is {own!r}. Leave out scenario= of the scorer."
            )
        return self.scenario

    def _labeling_prob(self, X: Any, transformed: Any, labeled: np.ndarray, scenario: str) -> np.ndarray:
        """Labeling probability of each row, or density ratio: the same whatever estimator is scored."""
        if self.labeling is not None:
            if scenario == "two-sample":
                raise ValueError(NO_RATIO)
            return output_of(self.labeling, "labeling_prob", X)
        # What a candidate makes of the table would give each candidate a forest, and so weights, of its own.
        features = table_of_numbers(X)
        prob = _forest_prob(transformed if features is None else features, labeled.astype(int))
        return prob if scenario == "one-sample" else ratio_from_odds(prob, float(labeled.mean()))


def _unwrapped(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The estimator inside searches and pipelines, and the features that reach it."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif isinstance(estimator, Pipeline):
            X, estimator = estimator[:-1].transform(X) if len(estimator) > 1 else X, estimator[-1]
        else:
            return estimator, X


_forest_probs: dict[str, np.ndarray] = {}


def _forest_prob(features: Any, labeled: np.ndarray) -> np.ndarray:
    """Labeling probability of rows by forests that did not see them.

    A search scores the same rows once for each candidate, so the last results are kept.
    """
    features = plain_array(features)
    key = joblib.hash((features, labeled))
    prob = _forest_probs.get(key)
    if prob is None:
        n_folds = max(2, min(MOST_FOLDS, int(labeled.sum()) // 2))
        prob = out_of_fold_labeling(features, labeled, n_folds=n_folds, random_state=0)
        if len(_forest_probs) >= MOST_KEPT:
            _forest_probs.pop(next(iter(_forest_probs)), None)
        _forest_probs[key] = prob
    return prob


def make_sar_scorer(*, scenario: str | None = None, labeling: Any = None, clip: float = CLIP) -> SarScorer:
    """Scorer for GridSearchCV and cross_val_score that needs no negatives.

    It takes everything that has a `decision_function` or `predict_proba`: other classifiers are scored by the same
    weights as rankers. One search cannot hold both, because scikit-learn passes `confidence` on to the `fit` of every
    candidate, and refuses those that do not take it; ``cross_val_score`` of each with the same folds compares them.

    Parameters
    ----------
    scenario : {"one-sample", "two-sample"}, optional
        As in `sar_auc`; that of the scored ranker by default.
    labeling : fitted classifier of labeled against unlabeled, or fitted ranker, optional
        Gives the labeling probability of the scored rows. If None, a random forest estimates it from these rows, each
        by trees that did not see it; words are numbered, dates counted. Either way it is the same for every candidate:
        with labeling models of their own, candidates would be ordered by the errors of these (decision 7). Only where
        X is not a table (texts, for instance) does the forest get what the candidate's own transformers make of it.
    clip : float in [0, 1)
        As in `sar_auc`.

    Examples
    --------
    >>> make_sar_scorer()
    SarScorer(scenario=None, labeling=None, clip=0.01)
    """
    if scenario is not None:
        check_choice("scenario", scenario, SCENARIOS)
    if labeling is not None and not (hasattr(labeling, "predict_proba") or hasattr(labeling, "labeling_prob")):
        raise TypeError(
            "labeling must be a fitted classifier of labeled against unlabeled, or a fitted ranker, but it is "
            f"{labeling!r}."
        )
    if labeling is not None and scenario == "two-sample":
        raise ValueError(NO_RATIO)
    check_clip(clip)
    return SarScorer(scenario, labeling, clip)
