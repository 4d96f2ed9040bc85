"""Where confidence comes from in an experiment, and what may happen to it on the way (Sec. 5.1, App. F.7 and F.8)."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from unskew.data.records import PUData
from unskew.data.rows import as_rows
from unskew.learning.scoring import score_rows
from unskew.learning.trainer import Trainer
from unskew.rankers.labeling import labeling_risk

CONFIDENCE_EPOCHS = 30
"""Epochs of the classifier (App. E.3)."""


def classifier_confidence(
    X: np.ndarray, y: np.ndarray, new_X: np.ndarray, trainer: Trainer, rng: np.random.RandomState
) -> np.ndarray:
    """p(y=1|x) at `new_X` by a network trained to tell the true classes of `X` apart.

    Logistic regression on the network's score, trained for all of the trainer's epochs: the paper names no validation
    data for it (decision 8). True classes take the place of labels in the record, so that the one loop trains it.
    """
    data = PUData(as_rows(X), np.flatnonzero(y == 1), np.flatnonzero(y == 0))
    network = replace(trainer, keep="last").minimize(labeling_risk, data, data, rng, "confidence").network
    return np.asarray(torch.sigmoid(score_rows(network, as_rows(new_X)).double()).numpy())


def power(confidence: np.ndarray, k: float) -> np.ndarray:
    """h(r) = r^k, strictly increasing for k > 0."""
    return np.asarray(confidence**k)


def odds_power(confidence: np.ndarray, k: float) -> np.ndarray:
    """h(r) = r^k / (r^k + (1 - r)^k): the odds to the power k."""
    positive, negative = confidence**k, (1 - confidence) ** k
    return np.asarray(positive / (positive + negative))


TRANSFORMS: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {"power": power, "odds": odds_power}
"""Strictly increasing functions of confidence by name; with k = 1 each is the identity."""


def noisy(values: np.ndarray, deviation: float, rng: np.random.RandomState, *, least: float = 0.0) -> np.ndarray:
    """Add Gaussian noise and clip to [least, 1]; what is NaN stays so."""
    return np.asarray(np.clip(values + deviation * rng.standard_normal(values.shape), least, 1))
