"""The AUC estimated without negatives as a scorer for scikit-learn's searches and cross-validation."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest

from unskew.metrics.sar import sar_auc
from unskew.validation import SCENARIOS, check_choice
from unskew.weights import CLIP


@dataclass(frozen=True)
class SarScorer:
    """Callable ``scorer(estimator, X, y, confidence=...)`` that returns the estimated AUC of `estimator` on PU data.

    The estimate is not clipped to [0, 1], so that candidates beyond are still told apart.

    It asks for `confidence` itself, so that ``GridSearchCV(...).fit(X, y, confidence=r)`` routes it here once metadata
    routing is on. Make one with `make_sar_scorer`.
    """

    scenario: str
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
        prob = self._labeling_prob(estimator, X)
        score = estimator.decision_function(X)
        return sar_auc(y, score, confidence, prob, self.scenario, clip=self.clip).unclipped

    def get_metadata_routing(self) -> MetadataRequest:
        """Metadata that the scorer asks for: `confidence`."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="confidence", alias=True)
        return request

    def _labeling_prob(self, estimator: Any, X: Any) -> np.ndarray:
        if self.labeling is not None:
            return np.asarray(self.labeling.predict_proba(X)[:, 1])
        if isinstance(estimator, Pipeline):
            X, estimator = estimator[:-1].transform(X) if len(estimator) > 1 else X, estimator[-1]
        if not hasattr(estimator, "labeling_prob") or not hasattr(estimator, "labeling_"):
            raise ValueError(
                f"{type(estimator).__name__} does not estimate a labeling probability (a ranker that knows the prior "
                "may do without). Give the scorer a fitted one: make_sar_scorer(labeling=...)."
            )
        return np.asarray(estimator.labeling_prob(X))


def make_sar_scorer(*, scenario: str = "one-sample", labeling: Any = None, clip: float = CLIP) -> SarScorer:
    """Scorer for GridSearchCV and cross_val_score that needs no negatives.

    Parameters
    ----------
    scenario : {"one-sample", "two-sample"}
        As in `sar_auc`.
    labeling : fitted classifier of labeled against unlabeled, optional
        Gives the labeling probability of the scored rows, the same for every candidate. If None, each fitted estimator
        gives its own, which did not see the rows that it is scored on.
    clip : float in (0, 1)
        As in `sar_auc`.

    Examples
    --------
    >>> make_sar_scorer()
    SarScorer(scenario='one-sample', labeling=None, clip=0.01)
    """
    check_choice("scenario", scenario, SCENARIOS)
    if labeling is not None and scenario == "two-sample":
        raise ValueError("a lent labeling model gives probabilities; the two-sample scorer needs labeling=None.")
    return SarScorer(scenario, labeling, clip)
