"""Biased positive-unlabeled data with confidence, made from data sets whose true classes are known (Sec. 5.1, E.1).

A draw takes disjoint parts of a data set, labels some of the positives with one of the paper's biases, and gives the
labeled ones a confidence. What a fit sees holds no true class; the test part does.
"""

import numpy as np
from scipy.special import expit

from unskew.data.records import Labeled, RawData, Sizes, Split
from unskew.learning.trainer import Trainer
from unskew.scenario.confidence import CONFIDENCE_EPOCHS, classifier_confidence, trees_confidence

__all__ = ["FAVORED_SHARE", "SOURCES", "Sizes", "draw_split", "labeled_counts", "select_confident", "select_favored"]

FAVORED_SHARE = 0.9
"""Share of the labeled positives that comes from the favored ones (App. E.1)."""
SOURCES = ("network", "trees")
"""What can give the confidence of data without annotators."""


def draw_split(
    raw: RawData,
    *,
    prior: float,
    label_freq: float,
    rng: np.random.RandomState,
    sizes: Sizes | None = None,
    trainer: Trainer | None = None,
    selection: str = "favored",
    source: str = "network",
) -> Split:
    """Draw disjoint parts, label some positives with the paper's bias, and give the labeled ones a confidence.

    Parameters
    ----------
    raw : RawData
        Where annotators gave the confidence, training and validation instances come from the annotated ones and test
        instances from the others. Otherwise a classifier gives the confidence.
    prior : float
        Share of positives in the training, validation and confidence parts.
    label_freq : float
        Share of the positives that get labeled, in the training and in the validation part.
    rng : RandomState
    sizes : Sizes, optional
    trainer : Trainer, optional
        Trains the classifier that gives the confidence; by default the MLP for 30 epochs.
    selection : {"favored", "confidence"}
        Whether labels prefer the favored positives (App. E.1) or the confident ones (App. F.4).
    source : {"network", "trees"}
        What gives the confidence where no annotators did: the paper's classifier, or boosted trees.

    Examples
    --------
    >>> import numpy as np
    >>> from unskew import datasets, scenario
    >>> from unskew.learning.trainer import Trainer
    >>> sizes = datasets.Sizes(train=200, validation=100, confidence=100, test=100)
    >>> split = scenario.draw_split(
    ...     datasets.load("digits"), prior=0.2, label_freq=0.4, rng=np.random.RandomState(0), sizes=sizes,
    ...     trainer=Trainer(max_epochs=2),
    ... )
    >>> split.train.X.shape, int(split.train.y.sum())
    ((200, 64), 16)
    """
    if source not in SOURCES:
        raise ValueError(f"source must be one of {', '.join(SOURCES)}, but it is {source!r}.")
    sizes = Sizes() if sizes is None else sizes
    trainer = Trainer(max_epochs=CONFIDENCE_EPOCHS) if trainer is None else trainer
    train, validation, test, confidence = _draw_parts(raw, prior, sizes, trainer if source == "network" else None, rng)
    parts = []
    for part in (train, validation):
        positive_rows = part[raw.y[part] == 1]
        n_labeled = round(label_freq * len(positive_rows))
        if selection == "favored":
            chosen = select_favored(positive_rows, raw.favored[positive_rows], n_labeled, rng)
        else:
            chosen = select_confident(positive_rows, confidence[positive_rows], n_labeled, rng)
        labeled = np.isin(part, chosen)
        parts.append(Labeled(raw.X[part], labeled.astype(int), np.where(labeled, confidence[part], np.nan)))
    return Split(parts[0], parts[1], raw.X[test], raw.y[test])


def labeled_counts(sizes: Sizes, prior: float, label_freq: float) -> tuple[int, int]:
    """How many instances of the training and of the validation part get labeled.

    Examples
    --------
    >>> labeled_counts(Sizes(), prior=0.05, label_freq=0.1)
    (25, 5)
    """
    train, validation = (round(label_freq * round(size * prior)) for size in (sizes.train, sizes.validation))
    return train, validation


def select_favored(
    positive_rows: np.ndarray, favored: np.ndarray, n_labeled: int, rng: np.random.RandomState
) -> np.ndarray:
    """Choose rows to label: 90 % from the favored positives, the rest from the others.

    `favored` says for each of these rows whether labelers prefer it.

    Examples
    --------
    >>> import numpy as np
    >>> from unskew import scenario
    >>> rows, favored = np.arange(100), np.arange(100) < 50
    >>> chosen = scenario.select_favored(rows, favored, 20, np.random.RandomState(0))
    >>> int(favored[chosen].sum())
    18
    """
    n_favored = min(round(FAVORED_SHARE * n_labeled), int(favored.sum()))
    n_other = n_labeled - n_favored
    if n_other > int((~favored).sum()):
        raise ValueError(
            f"{n_labeled} rows must be labeled, {n_other} of them not favored, but there are only "
            f"{int((~favored).sum())} such positives. Lower the label frequency."
        )
    chosen = (
        rng.choice(positive_rows[favored], n_favored, replace=False),
        rng.choice(positive_rows[~favored], n_other, replace=False),
    )
    return np.concatenate(chosen)


def select_confident(
    positive_rows: np.ndarray, confidence: np.ndarray, n_labeled: int, rng: np.random.RandomState
) -> np.ndarray:
    r"""Choose rows to label, with probabilities that rise with the confidence r as :math:`\sigma(4r - 2)` (App. F.4).

    `confidence` is that of each of these rows.

    Examples
    --------
    >>> import numpy as np
    >>> from unskew import scenario
    >>> rows, confidence = np.arange(100), np.linspace(0, 1, 100)
    >>> chosen = scenario.select_confident(rows, confidence, 20, np.random.RandomState(0))
    >>> len(set(chosen)), bool(confidence[chosen].mean() > 0.5)
    (20, True)
    """
    if n_labeled > len(positive_rows):
        raise ValueError(
            f"{n_labeled} rows must be labeled, but there are only {len(positive_rows)} positives. Lower the label "
            "frequency."
        )
    weight = expit(4 * confidence - 2)
    return np.asarray(rng.choice(positive_rows, n_labeled, replace=False, p=weight / weight.sum()))


def _draw_parts(
    raw: RawData, prior: float, sizes: Sizes, trainer: Trainer | None, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows for training, validation and testing; confidence of every row, NaN where it is not known.

    Without a trainer, boosted trees give the confidence.
    """
    seen_by_fit, for_test = [(sizes.train, prior), (sizes.validation, prior)], (sizes.test, 0.5)
    if raw.confidence is not None:
        is_annotated = ~np.isnan(raw.confidence)
        train, validation = _disjoint_parts(raw.y, np.flatnonzero(is_annotated), seen_by_fit, rng)
        (test,) = _disjoint_parts(raw.y, np.flatnonzero(~is_annotated), [for_test], rng)
        return train, validation, test, raw.confidence
    wanted = [*seen_by_fit, (sizes.confidence, prior), for_test]
    train, validation, other, test = _disjoint_parts(raw.y, np.arange(len(raw.y)), wanted, rng)
    seen = np.concatenate([train, validation])
    confidence = np.full(len(raw.y), np.nan)
    known = raw.X[other], raw.y[other], raw.X[seen]
    confidence[seen] = trees_confidence(*known, rng) if trainer is None else classifier_confidence(*known, trainer, rng)
    return train, validation, test, confidence


def _disjoint_parts(
    y: np.ndarray, among: np.ndarray, wanted: list[tuple[int, float]], rng: np.random.RandomState
) -> list[np.ndarray]:
    """Rows of parts with these sizes and shares of positives, no row in two of them, each part shuffled."""
    n_positive = np.array([round(size * share) for size, share in wanted])
    by_class = []
    for label, counts in enumerate((np.array([size for size, _ in wanted]) - n_positive, n_positive)):
        pool = rng.permutation(among[y[among] == label])
        if counts.sum() > len(pool):
            raise ValueError(
                f"the parts need {counts.sum()} instances of class {label}, but there are {len(pool)}. Use smaller "
                "parts (sizes=Sizes(...); for an experiment, where its data set is registered) or another prior."
            )
        by_class.append(np.split(pool, np.cumsum(counts))[:-1])
    return [rng.permutation(np.concatenate(part)) for part in zip(*by_class, strict=True)]
