"""From a labeled table to a model with an honest estimate of how good it is."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np
from sklearn.base import clone

from unskew.checks import Checked, TableSummary, find_uneven_labels
from unskew.data.holdout import LEAST_LABELED as LEAST_TO_HOLD_OUT
from unskew.data.validation import require_room_for_labeled
from unskew.errors import ConfidenceMissingWarning, NoEstimateWarning, NoHoldOutWarning, SomeRowsWarning
from unskew.learning.pace import AUTO
from unskew.metrics.crossval import out_of_fold_score, prior_without_given
from unskew.metrics.diagnostics import Unit
from unskew.metrics.evidence import Evidence
from unskew.metrics.gather import gather_evidence
from unskew.posterior import fit_posterior
from unskew.practice.labeled_table import MOST_JUDGED, LabeledTable
from unskew.practice.model import USUAL_METHOD, Source, TableModel
from unskew.rankers import Ranker, make, method_card
from unskew.tables import Schema

FOLDS = 5
LEAST_IN_FOLD = 2
"""Labeled rows, and others, in each fold."""
LEAST_LABELED = 2 * LEAST_IN_FOLD
"""Labeled rows without which nothing can be cross-validated."""

ABOUT_PARTS: Mapping[type[Warning], str] = {
    NoHoldOutWarning: (
        "in each part of the cross-validation, too few rows are labeled to hold some out. The rows used for training "
        "also decide when to stop, which makes the estimates rougher. Label more rows."
    ),
    NoEstimateWarning: (
        "in some parts of the cross-validation, confidence and labeling probability imply an impossible share of "
        "positives. Methods that train with it use the nearest possible one. Check that the confidence is a "
        "probability."
    ),
}
"""Warnings about models that are fitted on parts of a table."""


@dataclass(frozen=True)
class TrainingOptions:
    """How a ranker is trained from a table; the defaults suit a few hundred rows as well as millions.

    Attributes
    ----------
    epochs : int or None
        At most so many; None chooses by the number of rows and labels.
    prior : float or None
        Share of positives, where it is known.
    """

    method: str = USUAL_METHOD
    seed: int = 0
    epochs: int | None = None
    prior: float | None = None

    def check(self, *, has_confidence: bool, names: Sequence[str] = ()) -> None:
        """Refuse what cannot be carried out, before any file is read."""
        if self.epochs is not None and self.epochs < 1:
            raise ValueError(f"--epochs must be at least 1, but it is {self.epochs}.")
        if self.prior is not None and not 0 < self.prior < 1:
            raise ValueError(
                f"--prior must lie between 0 and 1, because it is a share of the rows, but it is {self.prior:g}. Leave "
                "it out if it is not known."
            )
        for name in names or (self.method,):
            if "prior" in method_card(name).needs and self.prior is None and not has_confidence:
                raise ValueError(
                    f"{name} must know the share of positives, or estimate it from the confidence, but neither was "
                    "given. Give --prior SHARE or --confidence COLUMN."
                )
            self.ranker(name).check_request(np.ones(1) if has_confidence else None)

    def ranker(self, method: str | None = None, **options: Any) -> Ranker:
        """An unfitted ranker."""
        return make(
            self.method if method is None else method,
            max_epochs=AUTO if self.epochs is None else self.epochs,
            prior=self.prior,
            random_state=self.seed,
            **options,
        )


def folds_for(y: np.ndarray) -> int:
    """Folds that leave two labeled rows, and two others, in each; below two there is nothing to cross-validate."""
    n_labeled = int(np.sum(y))
    return min(FOLDS, n_labeled // LEAST_IN_FOLD, (len(y) - n_labeled) // LEAST_IN_FOLD)


def fit_table(
    table: LabeledTable,
    training: TrainingOptions,
    *,
    validation: LabeledTable | None = None,
    estimate: bool = True,
    n_jobs: int = 1,
) -> TableModel:
    """Fit on all rows, and with `estimate` judge by rows that were left out of fits, in `n_jobs` processes.

    The rows of `validation` choose the epoch, or are more rows to learn from where hold-outs rotate, as in `auto`.
    Without them some rows of the table are held out.
    """
    ranker = training.ranker(verbose=True, n_jobs=None if n_jobs == 1 else n_jobs)
    if validation is not None and not table.in_memory and (ranker.ensemble > 1 or not ranker.holds_out):
        raise ValueError(
            f"{training.method} learns from the rows of --validation, too, which must then be in memory with the "
            f"others, but {table.path} is larger than memory. Leave --validation out, or choose a method that trains "
            "once, such as conf-auc (--method)."
        )
    held_out = None if validation is None else (validation.X, validation.y, validation.confidence)
    if training.prior is not None:
        advice = "Give a larger one, or leave it out."
        require_room_for_labeled(training.prior, float(np.mean(table.y)), advice, f"{table.path}: --prior")
    with warn_once(_about_a_fit(training.method, int(table.y.sum()), int((table.y == 0).sum()))):
        ranker.fit(table.X, table.y, confidence=table.confidence, validation=held_out)
    return judged(table, ranker, source_of(table, validation), training.seed, n_jobs if estimate else None)


def judged(table: LabeledTable, ranker: Ranker, source: Source, seed: int, n_jobs: int | None) -> TableModel:
    """A fitted ranker as the model of a table, with an estimate of how good it is unless `n_jobs` is None."""
    evidence = None if n_jobs is None else _evidence_of_fit(table, ranker, seed, n_jobs)
    if evidence is not None:
        evidence = replace(evidence, findings=(*table.findings, *evidence.findings))
    kept = None if evidence is None else evidence.to_json()
    return TableModel(ranker, table.schema, source, kept, summary=TableSummary.of(table.checked, ranker))


def source_of(table: LabeledTable, validation: LabeledTable | None = None) -> Source:
    """The origin of what is made from a table today."""
    return Source(
        file=table.path.name,
        label=table.label,
        confidence=table.confidence_column,
        excluded=tuple(table.excluded),
        n_rows=len(table.y),
        n_labeled=int(table.y.sum()),
        made=date.today().isoformat(),
        validation_file=None if validation is None else validation.path.name,
        n_validation_rows=None if validation is None else len(validation.y),
    )


def why_no_estimate(source: Source) -> str:
    """Why there is no estimate of how good a model is: the reason that holds for the model of this source."""
    n_unlabeled = source.n_rows - source.n_labeled
    if source.confidence is None:
        return "no confidence column was given (--confidence)"
    if min(source.n_labeled, n_unlabeled) < LEAST_LABELED:
        return (
            f"an estimate needs at least {LEAST_LABELED} labeled and {LEAST_LABELED} unlabeled rows, but there are "
            f"{source.n_labeled:,} and {n_unlabeled:,}"
        )
    return "the model was fitted with --no-estimate"


def _evidence_of_fit(table: LabeledTable, ranker: Ranker, seed: int, n_jobs: int) -> Evidence | None:
    if table.confidence is None or folds_for(table.y) < 2:
        return None
    own = getattr(ranker, "out_of_fold_score_", np.full(len(table.y), np.nan))[: len(table.y)]
    if not table.in_memory:
        rows = rows_to_judge(table.y, np.isfinite(own), np.random.RandomState(seed))
        warnings.warn(
            f"the estimates rest on {len(rows):,} of {len(table.y):,} rows, chosen at random, because the table is "
            "larger than memory.",
            SomeRowsWarning,
            stacklevel=3,
        )
        table, own = table.some_rows(rows), own[rows]
    assert table.confidence is not None
    X = table.matrix
    data = X, table.y, table.confidence
    score = own if np.isfinite(own).all() else _cross_validated(ranker, data, seed, n_jobs)
    posterior = fit_posterior(*data, scenario=ranker.scenario, prior=ranker.prior)
    free = None if ranker.prior is None else prior_without_given(*data, scenario=ranker.scenario)
    # A method that trains without a labeling probability has no weights: those of the posterior are shown.
    weighs = hasattr(ranker, "labeling_")
    checked = Checked.of(table.X, table.y, table.confidence, table.schema)
    uneven = find_uneven_labels(checked, posterior.predict)
    evidence = gather_evidence(
        y=table.y,
        score=score,
        confidence=table.confidence,
        posterior=posterior,
        labeling_prob=ranker.labeling_prob(X) if weighs else posterior.prob * posterior.propensity,
        clip=ranker.clip,
        scenario=ranker.scenario,
        X=X,
        feature_names=table.schema.feature_names,
        feature_columns=table.schema.feature_columns,
        feature_units=feature_units(table.schema),
        ranker=ranker,
        prior_without_given=free,
    )
    return replace(evidence, findings=(*uneven, *evidence.findings))


def _cross_validated(ranker: Ranker, data: tuple[Any, np.ndarray, np.ndarray], seed: int, n_jobs: int) -> np.ndarray:
    """Score of each row by a model that did not learn from it.

    An ensemble has such scores already, by its rotating hold-outs; other models are fitted anew.
    """
    quiet = clone(ranker).set_params(verbose=False)
    with warn_once(ABOUT_PARTS):
        return out_of_fold_score(
            quiet, *data, n_folds=folds_for(data[1]), random_state=seed, verbose=True, n_jobs=n_jobs
        )


def rows_to_judge(y: np.ndarray, has_score: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Some rows of a table larger than memory, with the same share of labeled ones as in all of it.

    Where the model has scores of rows that it did not learn from, the rows are some of these.
    """
    usable = has_score if (has_score & (y == 1)).any() and (has_score & (y == 0)).any() else np.ones(len(y), dtype=bool)
    kinds = [(np.flatnonzero(usable & (y == kind)), int(np.sum(y == kind))) for kind in (1, 0)]
    share = min(1.0, MOST_JUDGED / len(y), *(len(rows) / total for rows, total in kinds))
    chosen = [rng.choice(rows, max(LEAST_LABELED, int(share * total)), replace=False) for rows, total in kinds]
    return np.sort(np.concatenate(chosen))


def feature_units(schema: Schema) -> list[Unit]:
    """How each feature reads in the table itself: numbers and dates were standardized, the rest are shares."""
    units = []
    for column in schema.columns:
        units += [Unit("share")] * len(column.categories)
        if column.varies:
            kind = {"boolean": "share", "date": "date"}.get(column.kind, "number")
            unit = Unit(kind) if kind == "share" else Unit(kind, column.mean, column.std)
            units.append(replace(unit, absent=len(units) + 1) if column.n_missing else unit)
        if column.n_missing:
            units.append(Unit("share"))
    return units


@contextmanager
def warn_once(words: Mapping[type[Warning], str]) -> Iterator[None]:
    """Replace warnings of these kinds by one each, in these words, when the block has ended; others stay."""
    with warnings.catch_warnings(record=True) as caught:
        for kind in words:
            warnings.simplefilter("always", kind)
        yield
    for kind, text in words.items():
        if any(issubclass(each.category, kind) for each in caught):
            warnings.warn(text, kind, stacklevel=4)
    for each in caught:
        if not issubclass(each.category, tuple(words)):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


def _about_a_fit(method: str, n_labeled: int, n_unlabeled: int) -> Mapping[type[Warning], str]:
    """Warnings about a model that is fitted on a whole table, in terms of the command line."""
    return {
        NoHoldOutWarning: (
            f"to hold rows out, at least {2 * LEAST_TO_HOLD_OUT} rows must be labeled and 2 unlabeled, but there are "
            f"{n_labeled:,} and {n_unlabeled:,}. The rows used for training also decide when to stop. Give other rows "
            "with --validation FILE, or label more."
        ),
        NoEstimateWarning: (
            f"{method} trains with the share of positives, but confidence and labeling probability imply an impossible "
            "one, and the nearest possible one was used. Give --prior, or check that the confidence is a probability."
        ),
        ConfidenceMissingWarning: (
            f"{method} learns from the confidence of the labels, but none was given, so every labeled row counts as "
            "certain. Give --confidence COLUMN."
        ),
    }
