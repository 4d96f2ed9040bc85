"""How good is a model on other rows: by the truth where it is known, and without negatives where it is not."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unskew.checks.drift import DriftTally
from unskew.errors import TooFewLabeled
from unskew.metrics import auc, estimate_ranking
from unskew.metrics.cuts import BestCut, Costs, cut_on_estimate
from unskew.metrics.estimates import findings_instead_of_warnings, findings_of
from unskew.metrics.evidence import Estimate, TopShare, plain
from unskew.metrics.gather import top_shares
from unskew.posterior import Posterior, fit_posterior
from unskew.practice.audit import probabilities
from unskew.practice.fit import LEAST_LABELED
from unskew.practice.labeled_table import read_by_schema
from unskew.practice.model import TableModel
from unskew.tables import read_confidence, read_labels, read_truth, require_both_kinds


@dataclass(frozen=True)
class Evaluation:
    """How good a model is on a file.

    Attributes
    ----------
    estimate : Estimate or None
        Estimated without negatives; None without confidence.
    top : tuple of TopShare
        What the top of the ranking holds; empty without confidence.
    covered : bool or None
        Whether the interval of the estimate has the true AUC in it.
    messages : tuple of str
        What a user should know of the file and of the estimate.
    cut : BestCut or None
        How many rows to review, if that was asked.
    """

    n_rows: int
    n_labeled: int
    estimate: Estimate | None
    top: tuple[TopShare, ...]
    true_auc: float | None
    covered: bool | None
    messages: tuple[str, ...]
    cut: BestCut | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain data; what is not a number is null."""
        content: dict[str, Any] = plain(asdict(self))
        return content if self.cut is not None else {name: each for name, each in content.items() if name != "cut"}


def evaluate_file(
    model: TableModel,
    path: Path,
    label: str,
    confidence: str | None = None,
    truth: str | None = None,
    *,
    blank_is_unlabeled: bool = False,
    costs: Costs | None = None,
) -> Evaluation:
    """Score a labeled file and judge the ranking.

    The posterior is learned from the file itself: labels may be given differently there (decision 24).
    """
    if confidence is None and truth is None:
        raise ValueError(
            "to judge a ranking, each label must have a confidence, or the true classes must be known, but neither was "
            "given. Pass --confidence COLUMN or --truth COLUMN."
        )
    if confidence is None and costs is not None:
        raise ValueError(
            "to say how many rows to review, each label must have a confidence, but none was given. Pass --confidence "
            "COLUMN, or leave --cost-review out."
        )
    roles = [name for name in (label, confidence, truth) if name is not None]
    tally = DriftTally(model.summary)
    frame, X, notes, on_values = read_by_schema(model.schema, path, roles, model.source.aside, tally)
    y = read_labels(frame, label, blank_is_unlabeled=blank_is_unlabeled, path=path)
    if confidence is not None:
        require_both_kinds(y, label, least_unlabeled=LEAST_LABELED, path=path)
    values = None if confidence is None else read_confidence(frame, confidence, y, path=path)
    known = None if truth is None else read_truth(frame, truth, path=path)
    score = model.ranker.decision_function(X)
    tally.count_scores(score, probabilities(model, X), model.ranker.threshold_)
    true = None if known is None else float(auc(known, score))
    estimate = covered = cut = None
    top: tuple[TopShare, ...] = ()
    messages = [*notes, *on_values, *tally.drift(model.schema).notes()]
    if values is not None:
        posterior = _posterior_of_file(X, y, values, model.ranker.scenario, path)
        with findings_instead_of_warnings():
            found = estimate_ranking(score, posterior)
        everything = posterior.everything
        estimate, top = Estimate.of(found), top_shares(found, int(everything.sum()), score[everything])
        messages += [each.message for each in findings_of(found, posterior) if each.level != "good"]
        cut = None if costs is None else cut_on_estimate(found, costs)
        if true is not None:
            covered = found.low <= true <= found.high
    return Evaluation(len(y), int(y.sum()), estimate, top, true, covered, tuple(messages), cut)


def _posterior_of_file(X: np.ndarray, y: np.ndarray, confidence: np.ndarray, scenario: str, path: Path) -> Posterior:
    if y.sum() < LEAST_LABELED:
        raise TooFewLabeled(
            f"{path}: to estimate without negatives, at least {LEAST_LABELED} rows must be labeled, but "
            f"{int(y.sum())} of {len(y)} are. Label more, or pass --truth alone."
        )
    return fit_posterior(X, y, confidence, scenario=scenario)
