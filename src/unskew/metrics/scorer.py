"""The AUC estimated without negatives as a scorer for scikit-learn's searches and cross-validation."""

from dataclasses import dataclass, field
from typing import Any

import joblib
import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest

from unskew.data.labels import check_labels
from unskew.data.validation import (
    SCENARIOS,
    check_choice,
    check_confidence,
    plain_array,
    require_two_of_each,
)
from unskew.errors import TooFewLabeled
from unskew.metrics._sample import check_clip
from unskew.metrics._tables import complete_features, is_table, output_of
from unskew.metrics.estimates import plug_in_auc
from unskew.metrics.reliability import WARN_BELOW, check_reliability, warn_of
from unskew.metrics.sar import sar_auc
from unskew.objectives.weights import CLIP
from unskew.posterior import LEAST_LABELED, fit_posterior

NO_RATIO = "labeling must be None in the two-sample scenario, which needs density ratios, but it gives probabilities."
MOST_KEPT = 20
"""Sets of rows whose probabilities are kept: more than the usual number of folds."""


@dataclass(frozen=True)
class SarScorer:
    """Callable ``scorer(estimator, X, y, confidence=...)`` that returns the estimated AUC of `estimator` on PU data.

    Warns once where the confidence can hardly be predicted from the rows (`LowReliabilityWarning`).

    It requests `confidence`, so that ``GridSearchCV(...).fit(X, y, confidence=r)`` routes it here once metadata routing
    is on. Make one with `make_sar_scorer`.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(500, random_state=0)
    >>> ranker = unskew.make("conf-reg").fit(data.X, data.labeled, confidence=data.confidence)
    >>> scorer = unskew.metrics.make_sar_scorer()
    >>> bool(scorer(ranker, data.X, data.labeled, confidence=data.confidence) > 0.7)
    True
    """

    scenario: str | None
    labeling: Any
    clip: float
    _told: set[str] = field(default_factory=set, repr=False, compare=False)

    def __call__(self, estimator: Any, X: Any, y: Any, confidence: Any = None) -> float:
        """Estimate the AUC of the estimator's scores on these rows."""
        if confidence is None:
            raise ValueError(
                "the SAR scorer needs confidence, but none reached it. Turn metadata routing on with "
                "sklearn.set_config(enable_metadata_routing=True) and pass confidence to the search or to "
                "cross_val_score(..., params={'confidence': ...})."
            )
        final, transformed = _unwrapped(estimator, X)
        labeled = check_labels(y, getattr(final, "pos_label", None))
        require_two_of_each(labeled, "an AUC without negatives")
        if self.labeling is None and min(labeled.sum(), (~labeled).sum()) < LEAST_LABELED:
            raise TooFewLabeled(
                f"the SAR scorer needs at least {LEAST_LABELED} labeled and {LEAST_LABELED} unlabeled rows, but there "
                f"are {labeled.sum()} and {(~labeled).sum()}. Use fewer folds, or label more."
            )
        scenario = self._scenario_of(final)
        score = output_of(estimator, "decision_function", X)
        if self.labeling is not None:
            if scenario == "two-sample":
                raise ValueError(NO_RATIO)
            prob = output_of(self.labeling, "labeling_prob", X)
            return sar_auc(labeled, score, confidence, prob, scenario, clip=self.clip).unclipped
        # What a candidate makes of the table would give each candidate a posterior of its own.
        known = _posterior_of(X if is_table(X) else transformed, labeled, confidence, scenario)
        self._warn_once(known)
        everything = slice(None) if scenario == "one-sample" else ~labeled
        return plug_in_auc(score[everything].astype(np.float64), known.prob)

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

    def _warn_once(self, known: "_Judgement") -> None:
        """A search calls a scorer for every fold and candidate; the first low reliability is enough."""
        if known.reliability < WARN_BELOW and "reliability" not in self._told:
            self._told.add("reliability")
            warn_of(check_reliability(known.reliability, varies=known.confidence_varies), stacklevel=4)


def _unwrapped(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The estimator inside searches and pipelines, and the features that reach it."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif isinstance(estimator, Pipeline):
            X, estimator = estimator[:-1].transform(X) if len(estimator) > 1 else X, estimator[-1]
        else:
            return estimator, X


@dataclass(frozen=True)
class _Judgement:
    """What is kept of a posterior: the probabilities of the rows that stand for all, and its reliability."""

    prob: np.ndarray
    reliability: float
    confidence_varies: bool


_judgements: dict[str, _Judgement] = {}


def _posterior_of(X: Any, labeled: np.ndarray, confidence: Any, scenario: str) -> _Judgement:
    """How likely each row is positive, whatever estimator is scored.

    A search scores the same rows once for each candidate, so the last results are kept.
    """
    sure, X = check_confidence(confidence, labeled), plain_array(X)
    key = joblib.hash((X, labeled, sure, scenario))
    known = _judgements.get(key)
    if known is None:
        full = np.full(len(labeled), np.nan)
        full[labeled] = sure
        posterior = fit_posterior(complete_features(X), labeled, full, scenario=scenario)
        prob = posterior.prob[posterior.everything]
        known = _Judgement(prob, posterior.reliability, posterior.confidence_varies)
        if len(_judgements) >= MOST_KEPT:
            _judgements.pop(next(iter(_judgements)), None)
        _judgements[key] = known
    return known


def make_sar_scorer(*, scenario: str | None = None, labeling: Any = None, clip: float = CLIP) -> SarScorer:
    """Scorer for GridSearchCV and cross_val_score that needs no negatives.

    The score is the AUC of Eq. (P8): each row counts as a positive as far as a posterior, learned from the confidence,
    says that it is one (`unskew.posterior`). The posterior is the same for every candidate, and fitted once per set of
    rows. The scorer takes everything that has a `decision_function` or `predict_proba`; other classifiers are judged
    like rankers. One search cannot hold both, because scikit-learn passes `confidence` on to the `fit` of every
    candidate, and refuses those that do not take it; ``cross_val_score`` of each with the same folds compares them.

    Parameters
    ----------
    scenario : {"one-sample", "two-sample"}, optional
        As in `sar_auc`; that of the scored ranker by default.
    labeling : fitted classifier of labeled against unlabeled, or fitted ranker, optional
        Gives the labeling probability of the scored rows, where it is known or learned elsewhere: the score is then
        the unclipped estimate of `sar_auc`. If None, a posterior is learned from the scored rows; words, dates and
        missing values are encoded as rankers encode them. Only where X is not a table (texts, for instance) does it
        learn from what the candidate's own transformers make of it.
    clip : float in [0, 1)
        As in `sar_auc`, for `labeling`.

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
