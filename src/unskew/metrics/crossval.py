"""How good a method is on the PU data that it learns from: each score is by a model that did not see the row."""

import warnings
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.stats import rankdata
from sklearn import get_config
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import column_or_1d, has_fit_parameter

from unskew._support.parameters import set_seeds
from unskew._support.progress import Step, progress_bar
from unskew.data.frames import needs_schema
from unskew.data.labels import check_labels
from unskew.data.rows import Rows
from unskew.data.validation import check_confidence, count_rows, part_of, plain_array
from unskew.errors import LowReliabilityWarning, TooFewLabeled
from unskew.learning.density_ratio import ratio_from_odds
from unskew.metrics._tables import complete_features, output_of
from unskew.metrics.estimates import RankingEstimate, estimate_ranking
from unskew.metrics.reliability import check_given_prior, warn_of
from unskew.posterior import fit_posterior
from unskew.workers import Pool, connected

FOREST: dict[str, Any] = {"n_estimators": 300, "min_samples_leaf": 10}
"""Labeling model, fitted anew on each fold. Forests shrink towards the mean, which inverse weights need (decision 7).
"""
LARGEST_TREE_SAMPLE = 20_000
"""Rows that each tree of the forest is grown on, at most: more would take long and change little."""


@dataclass(frozen=True)
class OutOfFold:
    """Predictions for each row by models that were not trained on it.

    Attributes
    ----------
    score : array of shape (n,)
        Rank of the score within its fold, in (0, 1): scores of different models have different scales.
    labeling_prob : array of shape (n,)
        Labeling probability; the density ratio in the two-sample scenario.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(400, random_state=0)
    >>> ranker = unskew.make("conf-reg")
    >>> found = unskew.metrics.out_of_fold(ranker, data.X, data.labeled, data.confidence, n_folds=2, random_state=0)
    >>> found.score.shape, found.labeling_prob.shape
    ((400,), (400,))
    """

    score: np.ndarray
    labeling_prob: np.ndarray


def out_of_fold(
    estimator: Any,
    X: Any,
    y: Any,
    confidence: Any,
    *,
    labeling: Any = None,
    labeling_prob: np.ndarray | None = None,
    n_folds: int = 5,
    random_state: Any = None,
    verbose: bool = False,
) -> OutOfFold:
    """Score every row, and estimate its labeling probability, by models fitted on the other folds.

    The estimates of this package no longer use it; it is for weights of one's own (`sar_auc`).

    Parameters
    ----------
    estimator : ranker
        Fitted anew on each fold.
    X, y, confidence
        As for its `fit`; X in memory.
    labeling : classifier, optional
        Estimates the labeling probability; by default a random forest. It is not the ranker's own, so that two rankers
        are judged by the same weights.
    labeling_prob : array of shape (n,), optional
        What an earlier call estimated with the same data, folds and state, for another ranker; it is not estimated
        again.
    n_folds : int
        At most half the number of labeled instances, so that each fold is left with two.
    random_state : int, RandomState or None
        Shuffles the folds and seeds the classifier; the same state gives every ranker the same folds.
    verbose : bool
        Show a progress bar, on a terminal.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(400, random_state=0)
    >>> ranker = unskew.make("conf-reg")
    >>> found = unskew.metrics.out_of_fold(ranker, data.X, data.labeled, data.confidence, n_folds=2, random_state=0)
    >>> found.score.shape, found.labeling_prob.shape
    ((400,), (400,))
    """
    if not hasattr(estimator, "labeling_prob"):
        raise TypeError(
            f"estimator must be a ranker of this package, but it is a {type(estimator).__name__}. Transform X first, "
            "and pass the ranker alone."
        )
    X, y = _read_for_folds(X, y, n_folds, estimator.pos_label)
    confidence = _full_confidence(confidence, y, n_folds)
    if labeling_prob is not None and np.shape(labeling_prob) != y.shape:
        raise ValueError(
            f"labeling_prob must have one entry per row, {len(y)} in all, but its shape is {np.shape(labeling_prob)}. "
            "Pass what out_of_fold returned for the same rows, or None."
        )
    rng = check_random_state(random_state)
    table = _for_forest(X) if labeling is None else _flat_images(X)
    labeling = default_labeling(len(y)) if labeling is None else clone(labeling)
    set_seeds(labeling, rng, replace=True)
    score, divisor = np.empty(len(y)), np.empty(len(y)) if labeling_prob is None else labeling_prob
    with progress_bar(f"cross-validating {estimator.name}", n_folds, shown=verbose) as step:
        for inside, outside in _folds(y, n_folds, rng):
            seen, new = part_of(X, inside), part_of(X, outside)
            score[outside] = _rank_in_fold(estimator, (seen, y[inside], confidence[inside]), new)
            if labeling_prob is None:
                labeling.fit(part_of(table, inside), y[inside])
                prob = labeling.predict_proba(part_of(table, outside))[:, 1]
                alpha = float(np.mean(y[inside] == 1))
                divisor[outside] = prob if estimator.scenario == "one-sample" else ratio_from_odds(prob, alpha)
            step()
    return OutOfFold(score, divisor)


def default_labeling(n_rows: int) -> Any:
    """An unfitted forest for a table of so many rows."""
    from sklearn.ensemble import RandomForestClassifier  # takes 20 MB, and few fits need it

    sample = LARGEST_TREE_SAMPLE if n_rows > 2 * LARGEST_TREE_SAMPLE else None
    return RandomForestClassifier(**FOREST, max_samples=sample)


def out_of_fold_labeling(X: Any, y: Any, *, n_folds: int = 5, random_state: Any = None) -> np.ndarray:
    """Labeling probability of every row by forests fitted on the other folds, for rows that a ranker scored anew.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(400, random_state=0)
    >>> unskew.metrics.out_of_fold_labeling(data.X, data.labeled, n_folds=2, random_state=0).shape
    (400,)
    """
    X, y = _read_for_folds(X, y, n_folds)
    rng = check_random_state(random_state)
    forest = default_labeling(len(y)).set_params(random_state=int(rng.randint(2**31 - 1)))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=rng)
    return np.asarray(cross_val_predict(forest, _for_forest(X), y, cv=folds, method="predict_proba")[:, 1])


def out_of_fold_score(
    estimator: Any,
    X: Any,
    y: Any,
    confidence: Any,
    *,
    n_folds: int = 5,
    random_state: Any = None,
    verbose: bool = False,
    n_jobs: int | None = None,
    workers: str | Pool | None = None,
    step: Step | None = None,
) -> np.ndarray:
    """Rank of each row's score within its fold, in (0, 1), by a model fitted on the other folds.

    Parameters as in `cross_val_sar_auc`; the same state gives every estimator the same folds. `step` is called after
    each fold, for a progress bar of one's own. With `n_jobs` each fold is computed on one thread, by as many processes,
    so that the result does not depend on how many there are.
    """
    final = _last_step(estimator)
    X, y = _read_for_folds(X, y, n_folds, getattr(final, "pos_label", None))
    confidence, score = _full_confidence(confidence, y, n_folds), np.empty(len(y))
    title = f"cross-validating {getattr(final, 'name', type(final).__name__)}"
    folds = list(_folds(y, n_folds, check_random_state(random_state)))
    requests = (
        (estimator, (part_of(X, inside), y[inside], confidence[inside]), part_of(X, outside))
        for inside, outside in folds
    )
    with (
        progress_bar(title, n_folds, shown=verbose and step is None) as own_step,
        closing(_in_processes(requests, n_jobs) if workers is None else _on_workers(requests, workers)) as found,
    ):
        for fold, ranks in found:
            score[folds[fold][1]] = ranks
            (step or own_step)()
    return score


Request = tuple[Any, tuple[Any, np.ndarray, np.ndarray], Any]
"""An estimator, what it learns from (rows, labels, confidence), and the rows that it is to score."""


def _in_processes(requests: Iterable[Request], n_jobs: int | None) -> Generator[tuple[int, np.ndarray], None, None]:
    rank = _rank_in_fold if n_jobs is None else _rank_on_one_thread
    # Without a number of jobs in this process: an estimator may hold a generator that goes on from fold to fold.
    pool = Parallel(n_jobs=1 if n_jobs is None else n_jobs, return_as="generator", pre_dispatch="n_jobs")
    yield from enumerate(pool(delayed(rank)(*each) for each in requests))


def _on_workers(requests: Iterable[Request], workers: str | Pool) -> Generator[tuple[int, np.ndarray], None, None]:
    with connected(workers) as pool:
        yield from pool.run(rank_request, requests)


def rank_request(request: Request) -> np.ndarray:
    """What a worker does: the ranks of one fold, on one thread."""
    return _rank_on_one_thread(*request)


def _rank_on_one_thread(*request: Any) -> np.ndarray:
    from unskew.learning.threads import one_thread  # which loads torch

    with one_thread():
        return _rank_in_fold(*request)


def _folds(y: np.ndarray, n_folds: int, rng: np.random.RandomState) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows inside and outside of each fold, which all hold about as many labeled rows."""
    folds: Iterator[tuple[np.ndarray, np.ndarray]] = StratifiedKFold(n_folds, shuffle=True, random_state=rng).split(
        np.zeros(len(y)), y
    )
    return folds


def cross_val_sar_auc(
    estimator: Any,
    X: Any,
    y: Any,
    confidence: Any,
    *,
    scenario: str | None = None,
    prior: float | None = None,
    level: float = 0.95,
    n_folds: int = 5,
    random_state: Any = None,
    verbose: bool = False,
    n_jobs: int | None = None,
    workers: str | Pool | None = None,
) -> RankingEstimate:
    """AUC, share of positives, precision and recall of a model, by cross-validation and without negatives.

    Each row is scored by a model that did not see it, and the scores are judged by a posterior that is learned from the
    confidence (`unskew.posterior`). The estimate is for models trained on (k - 1)/k of the data. Warns once where the
    reliability of the posterior is low (`LowReliabilityWarning`), and where a given prior contradicts the confidence
    (`GivenPriorWarning`).

    Parameters
    ----------
    estimator : ranker, scikit-learn classifier, or Pipeline that ends with one
        Fitted anew on each fold, all of its steps; a ranker gets the confidence, a classifier learns labeled against
        unlabeled.
    X, y, confidence
        As for the `fit` of a ranker; X in memory. It may have words, dates and missing values where the estimator
        takes them.
    scenario : {"one-sample", "two-sample"}, optional
        By default the ranker's, or "one-sample".
    prior : float in (0, 1), optional
        Share of positives, where it is known; by default the ranker's.
    level : float
        Coverage of the intervals.
    n_folds : int
        At most half the number of labeled instances, so that each fold is left with two.
    random_state : int, RandomState or None
        Shuffles the folds.
    verbose : bool
        Show a progress bar, on a terminal.
    n_jobs : int, optional
        Processes that share the folds, each of which is then computed on one thread: the result does not depend on how
        many there are.
    workers : str or Pool, optional
        Instead of `n_jobs`, workers on Ray: ``"ray:N"``, ``"ray://HOST:PORT"`` or what `unskew.distributed.connected`
        gives. The result is that of ``n_jobs=1``.

    Examples
    --------
    >>> import unskew
    >>> from sklearn.linear_model import LogisticRegression
    >>> data = unskew.datasets.toy.draw(1000, random_state=0)
    >>> found = cross_val_sar_auc(LogisticRegression(), data.X, data.labeled, data.confidence, random_state=0)
    >>> bool(found.low < unskew.metrics.auc(data.y, data.X[:, 0]) and found.at(0.1).precision > found.prior)
    True
    """
    final = _last_step(estimator)
    scenario = getattr(final, "scenario", "one-sample") if scenario is None else scenario
    prior = getattr(final, "prior", None) if prior is None else prior
    score = out_of_fold_score(
        estimator,
        X,
        y,
        confidence,
        n_folds=n_folds,
        random_state=random_state,
        verbose=verbose,
        n_jobs=n_jobs,
        workers=workers,
    )
    X, y = _read_for_folds(X, y, n_folds, getattr(final, "pos_label", None))
    data = complete_features(X), y, _full_confidence(confidence, y, n_folds)
    found = estimate_ranking(score, fit_posterior(*data, scenario=scenario, prior=prior), level=level)
    if prior is not None:
        warn_of(check_given_prior(prior, *prior_without_given(*data, scenario=scenario)))
    return found


def prior_without_given(X: Any, y: Any, confidence: Any, *, scenario: str = "one-sample") -> tuple[float, float]:
    """Interval of the share of positives from confidence and rows alone, to hold against one that was given."""
    posterior = fit_posterior(X, y, confidence, scenario=scenario)
    with warnings.catch_warnings(action="ignore", category=LowReliabilityWarning):  # told of the estimate itself
        found = estimate_ranking(np.zeros(len(posterior.prob)), posterior)  # no ranking matters to the share
    return found.prior_low, found.prior_high


def _last_step(estimator: Any) -> Any:
    """The ranker or classifier inside pipelines and searches."""
    if isinstance(estimator, Pipeline):
        return _last_step(estimator[-1])
    is_search = hasattr(estimator, "estimator") and hasattr(estimator, "refit")
    return _last_step(estimator.estimator) if is_search else estimator


def _rank_in_fold(estimator: Any, seen: tuple[Any, np.ndarray, np.ndarray], new: Any) -> np.ndarray:
    """Rank of the score of new rows, in (0, 1), by a copy of the estimator that was fitted on seen ones."""
    X, y, confidence = seen
    takes_confidence = has_fit_parameter(_last_step(estimator), "confidence")
    # Without metadata routing a pipeline wants the name of the step before that of what is passed to it.
    nested = isinstance(estimator, Pipeline) and not get_config()["enable_metadata_routing"]
    name = f"{estimator.steps[-1][0]}__confidence" if nested else "confidence"
    model = clone(estimator)
    final = _last_step(model)
    if getattr(final, "uses_labeling", False) and not final.needs_prior():
        final.set_params(probability=False)  # nothing but the score is wanted, and it does not depend on them
    if hasattr(final, "pos_label"):
        final.set_params(pos_label=None)  # labels have been read already
    model.fit(X, y, **({name: confidence} if takes_confidence else {}))
    return np.asarray(rankdata(output_of(model, "decision_function", new)) / (count_rows(new) + 1))


def _full_confidence(confidence: Any, y: np.ndarray, n_folds: int) -> np.ndarray:
    """Confidence of each row, NaN where unlabeled, if there are labels enough for all folds."""
    checked = check_confidence(confidence, y == 1)
    if y.sum() < 2 * n_folds:
        raise TooFewLabeled(
            f"{n_folds} folds need at least {2 * n_folds} labeled instances, but there are {y.sum()}. Lower n_folds."
        )
    full = np.full(len(y), np.nan)
    full[y == 1] = checked
    return full


def _read_for_folds(X: Any, y: Any, n_folds: Any, pos_label: Any = None) -> tuple[Any, np.ndarray]:
    """Rows that can be cut into folds, and their labels as 0 or 1."""
    if isinstance(X, Rows):
        raise ValueError(
            "cross-validation needs all features in memory, to cut them into folds, but X is a "
            f"{type(X).__name__}. Pass X.take(numpy.arange(len(X))) if that fits, or some of the rows."
        )
    X, labeled = plain_array(X), check_labels(column_or_1d(plain_array(y), warn=True), pos_label)
    X = X.tocsr() if sparse.issparse(X) else X  # not all sparse formats can be sliced
    if count_rows(X) != len(labeled):
        raise ValueError(
            f"X must have one row per label, but X has {count_rows(X)} rows and y has {len(labeled)} entries. Pass "
            "both of the same instances."
        )
    if not isinstance(n_folds, Integral) or isinstance(n_folds, bool) or n_folds < 2:
        raise ValueError(f"n_folds must be a whole number, 2 or more, but it is {n_folds!r}. The usual choice is 5.")
    return X, labeled.astype(int)


def _for_forest(X: Any) -> Any:
    """Numbers in rows; a mixed data frame is encoded for it."""
    return complete_features(X) if needs_schema(X) else _flat_images(X)


def _flat_images(X: Any) -> Any:
    """Images as rows of numbers, which is all that a classifier takes; tables as they are."""
    return X.reshape(len(X), -1) if getattr(X, "ndim", 2) > 2 else X
