"""How good is a model on other rows: by the truth where it is known, and without negatives where it is not."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unskew.errors import NoEstimateWarning, TooFewLabeled
from unskew.metrics import SarAUC, auc, out_of_fold_labeling, sar_auc
from unskew.metrics.diagnostics import NO_NEGATIVES
from unskew.metrics.evidence import plain
from unskew.practice.fit import LEAST_LABELED, folds_for, warn_once
from unskew.practice.labeled_table import read_by_schema
from unskew.practice.model import TableModel
from unskew.tables import read_confidence, read_labels, read_truth, require_both_kinds


@dataclass(frozen=True)
class Evaluation:
    """AUC of a model on a file.

    Attributes
    ----------
    estimate : SarAUC or None
        Estimated without negatives; None without confidence.
    covered : bool or None
        Whether the interval of the estimate has the true AUC in it.
    messages : tuple of str
        What a user should know of the file.
    """

    n_rows: int
    n_labeled: int
    estimate: SarAUC | None
    true_auc: float | None
    covered: bool | None
    messages: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain data; what is not a number is null."""
        content: dict[str, Any] = plain(asdict(self))
        return content


def evaluate_file(
    model: TableModel,
    path: Path,
    label: str,
    confidence: str | None = None,
    truth: str | None = None,
    *,
    blank_is_unlabeled: bool = False,
) -> Evaluation:
    """Score a labeled file and judge the ranking.

    The labeling probability is estimated on the file itself, out of folds: labels may be given differently there, and
    that of the model fits its training rows closer than new ones (decision 7). With too few labels it is the model's.
    """
    if confidence is None and truth is None:
        raise ValueError(
            "to judge a ranking, each label must have a confidence, or the true classes must be known, but neither was "
            "given. Pass --confidence COLUMN or --truth COLUMN."
        )
    roles = [name for name in (label, confidence, truth) if name is not None]
    frame, X, notes, on_values = read_by_schema(model.schema, path, roles, model.source.aside)
    y = read_labels(frame, label, blank_is_unlabeled=blank_is_unlabeled, path=path)
    if confidence is not None:
        require_both_kinds(y, label, least_unlabeled=2, path=path)
    values = None if confidence is None else read_confidence(frame, confidence, y, path=path)
    known = None if truth is None else read_truth(frame, truth, path=path)
    score = model.ranker.decision_function(X)
    true = None if known is None else float(auc(known, score))
    estimate = covered = None
    if values is not None:
        prob = _labeling_prob(model, X, y, path)
        with warn_once({NoEstimateWarning: f"the AUC cannot be estimated: {NO_NEGATIVES}."}):
            estimate = sar_auc(y, score, values, prob, model.ranker.scenario, clip=model.ranker.clip)
        if true is not None and not np.isnan(estimate.auc):
            covered = estimate.low <= true <= estimate.high
    return Evaluation(len(y), int(y.sum()), estimate, true, covered, (*notes, *on_values))


def _labeling_prob(model: TableModel, X: np.ndarray, y: np.ndarray, path: Path) -> np.ndarray:
    n_folds = folds_for(y)
    if n_folds > 1 and model.ranker.scenario == "one-sample":
        return out_of_fold_labeling(X, y, n_folds=n_folds, random_state=0)
    if not hasattr(model.ranker, "labeling_"):
        raise TooFewLabeled(
            f"{path}: to estimate how likely rows are labeled, at least {LEAST_LABELED} must be labeled, but "
            f"{int(y.sum())} of {len(y)} are, and the model, fitted with a known prior, has no estimate of its own. "
            "Label more, or pass --truth alone."
        )
    return np.asarray(model.ranker.labeling_prob(X))
