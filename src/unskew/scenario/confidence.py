"""Where an experiment's confidence comes from, how it is transformed, and noise (Sec. 5.1, App. F.7, F.8, F.10)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from unskew.data.records import PUData
from unskew.data.rows import as_rows
from unskew.learning.scoring import score_rows
from unskew.learning.trainer import Trainer
from unskew.objectives.weights import CLIP
from unskew.rankers.labeling import LabelingNetwork, labeling_risk

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
    """Add Gaussian noise and clip to [least, 1]; NaN stays NaN."""
    return np.asarray(np.clip(values + deviation * rng.standard_normal(values.shape), least, 1))


class NoisyLabeling:
    """A fitted labeling network with Gaussian noise of this deviation on its probabilities, drawn anew at each call."""

    def __init__(self, network: LabelingNetwork, deviation: float, rng: np.random.RandomState) -> None:
        self.network, self.deviation, self.rng = network, deviation, rng

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of being unlabeled and labeled, shape (n, 2), the latter within [0.01, 1]."""
        images = np.asarray(X).reshape(len(X), *self.network.input_shape)
        exact = self.network.predict_proba(images)[:, 1]
        labeled = noisy(exact, self.deviation, self.rng, least=CLIP)
        return np.column_stack([1 - labeled, labeled])
