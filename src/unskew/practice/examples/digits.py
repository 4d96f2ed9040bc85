"""scikit-learn's images of digits as 64 columns of ink. Odd digits are positive, and mostly 1, 3 and 5 are known."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from unskew.data.records import RawData

N_CONFIDENCE, N_TRAIN = 400, 700
"""Images for the classifier that gives the confidence of digits, and in the table to fit on."""
PRIOR, LABEL_FREQ = 0.3, 0.4


def digits_tables(rng: np.random.RandomState) -> tuple[list[str], list[str], list[str]]:
    """Lines of tables to fit on and to score, and of the answers; a classifier trained on a third part is confident."""
    from unskew.datasets import load
    from unskew.learning.trainer import Trainer  # loads torch, which the claims do not need
    from unskew.scenario.confidence import classifier_confidence

    raw = load("digits")
    order = rng.permutation(len(raw.y))
    for_confidence, others = order[:N_CONFIDENCE], _with_prior(order[N_CONFIDENCE:], raw.y, rng)
    trainer = Trainer(max_epochs=200, learning_rate=1e-3, batch_size=128)
    confidence = classifier_confidence(raw.X[for_confidence], raw.y[for_confidence], raw.X, trainer, rng)
    first = _digits(raw, others[:N_TRAIN], confidence, rng)
    answers = [f"D{row:04d},{confidence[row]:.4f},{raw.y[row]}" for row in others]
    return first, _digits(raw, others[N_TRAIN:], confidence, rng), ["image,confidence,odd", *answers]


def _with_prior(rows: np.ndarray, y: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """All negatives of these rows, and as many of the positives as the prior asks for, shuffled."""
    negative, positive = rows[y[rows] == 0], rows[y[rows] == 1]
    n_positive = round(len(negative) * PRIOR / (1 - PRIOR))
    return rng.permutation(np.concatenate([negative, positive[:n_positive]]))


def _digits(raw: "RawData", rows: np.ndarray, confidence: np.ndarray, rng: np.random.RandomState) -> list[str]:
    from unskew.scenario import select_favored

    positive = rows[raw.y[rows] == 1]
    chosen = select_favored(positive, raw.favored[positive], round(LABEL_FREQ * len(positive)), rng)
    known = np.isin(rows, chosen)
    lines = [",".join(["image", *(f"ink_{i}_{j}" for i in range(8) for j in range(8)), "known", "confidence", "odd"])]
    for row, is_known in zip(rows, known, strict=True):
        ink = [f"{value:g}" for value in 16 * raw.X[row]]
        sure = f"{confidence[row]:.4f}" if is_known else ""
        lines.append(",".join([f"D{row:04d}", *ink, str(int(is_known)), sure, str(raw.y[row])]))
    return lines
