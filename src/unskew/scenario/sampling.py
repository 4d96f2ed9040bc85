"""From a data set with true classes to what a fit may see, and a test part (Sec. 5.1, App. E.1)."""

from dataclasses import dataclass

import numpy as np

from unskew.records import Labeled, RawData, Split
from unskew.scenario.confidence import CONFIDENCE_EPOCHS, classifier_confidence
from unskew.scenario.selection import select_favored
from unskew.training import Trainer


@dataclass(frozen=True)
class Sizes:
    """Instances of each part; the paper's by default. The test part is half positive, the others have the prior."""

    train: int = 5000
    validation: int = 1000
    confidence: int = 10_000
    test: int = 5000


def draw_split(
    raw: RawData,
    *,
    prior: float,
    label_freq: float,
    rng: np.random.RandomState,
    sizes: Sizes | None = None,
    trainer: Trainer | None = None,
) -> Split:
    """Draw disjoint parts, label some positives with the paper's bias, and give the labeled ones a confidence.

    Parameters
    ----------
    raw : RawData
    prior : float
        Share of positives in the training, validation and confidence parts.
    label_freq : float
        Share of the positives of the training and validation parts that get labeled.
    rng : RandomState
    sizes : Sizes, optional
    trainer : Trainer, optional
        Trains the classifier that gives the confidence; by default the MLP for 30 epochs.
    """
    sizes = Sizes() if sizes is None else sizes
    trainer = Trainer(max_epochs=CONFIDENCE_EPOCHS) if trainer is None else trainer
    wanted = [(sizes.train, prior), (sizes.validation, prior), (sizes.confidence, prior), (sizes.test, 0.5)]
    train, validation, other, test = _disjoint_parts(raw.y, wanted, rng)
    seen = np.concatenate([train, validation])
    confidence = np.full(len(raw.y), np.nan)
    confidence[seen] = classifier_confidence(raw.X[other], raw.y[other], raw.X[seen], trainer, rng)
    return Split(
        train=_label(raw, train, confidence, label_freq, rng),
        validation=_label(raw, validation, confidence, label_freq, rng),
        test_X=raw.X[test],
        test_y=raw.y[test],
    )


def _label(
    raw: RawData, rows: np.ndarray, confidence: np.ndarray, label_freq: float, rng: np.random.RandomState
) -> Labeled:
    positive_rows = rows[raw.y[rows] == 1]
    favored = np.isin(raw.classes[positive_rows], raw.favored)
    chosen = select_favored(positive_rows, favored, round(label_freq * len(positive_rows)), rng)
    labeled = np.isin(rows, chosen)
    return Labeled(raw.X[rows], labeled.astype(int), np.where(labeled, confidence[rows], np.nan))


def _disjoint_parts(y: np.ndarray, wanted: list[tuple[int, float]], rng: np.random.RandomState) -> list[np.ndarray]:
    """Rows of parts with these sizes and shares of positives, no row in two of them, each part shuffled."""
    pools = {label: rng.permutation(np.flatnonzero(y == label)) for label in (0, 1)}
    counts = [{1: round(size * share), 0: size - round(size * share)} for size, share in wanted]
    for label, pool in pools.items():
        needed = sum(count[label] for count in counts)
        if needed > len(pool):
            raise ValueError(
                f"the parts need {needed} instances of class {label}, but the data set has {len(pool)}. Ask for "
                "smaller parts or another prior."
            )
    parts = []
    start = {0: 0, 1: 0}
    for count in counts:
        rows = [pools[label][start[label] : start[label] + count[label]] for label in (0, 1)]
        start = {label: start[label] + count[label] for label in (0, 1)}
        parts.append(rng.permutation(np.concatenate(rows)))
    return parts
