"""Where an experiment's confidence comes from, and what becomes of it (Sec. 5.1, App. F.7, F.8, F.10, and beyond)."""

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
COMPONENTS = 50
"""Principal components of images that boosted trees see."""
_WIDE = 256
"""Rows with more columns than this are taken for images: tables of experiments have a few dozen."""


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


def trees_confidence(X: np.ndarray, y: np.ndarray, new_X: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """p(y=1|x) at `new_X` by boosted trees that tell the true classes of `X` apart.

    Not in the paper: a confidence of another kind than what networks learn, with jumps and no extrapolation. Of images,
    the trees see principal components, because thousands of pixels would take minutes.
    """
    from sklearn.decomposition import PCA
    from sklearn.ensemble import HistGradientBoostingClassifier

    seed = int(rng.randint(2**31 - 1))
    columns, new_columns = X.reshape(len(X), -1), new_X.reshape(len(new_X), -1)
    if columns.shape[1] > _WIDE:
        n_components = min(COMPONENTS, len(columns))
        components = PCA(n_components, svd_solver="randomized", random_state=seed).fit(columns)
        columns, new_columns = components.transform(columns), components.transform(new_columns)
    trees = HistGradientBoostingClassifier(
        max_iter=150,
        learning_rate=0.05,
        max_leaf_nodes=15,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=seed,
    )
    return np.asarray(trees.fit(columns, y).predict_proba(new_columns)[:, 1])


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


def in_levels(confidence: np.ndarray, levels: int) -> np.ndarray:
    """The middle of that of so many equal intervals which the confidence lies in; NaN stays NaN.

    Examples
    --------
    >>> in_levels(np.array([0.0, 0.3, 1.0]), 4).tolist()
    [0.125, 0.375, 0.875]
    """
    return np.asarray((np.minimum(np.floor(confidence * levels), levels - 1) + 0.5) / levels)


def share_of_votes(confidence: np.ndarray, votes: int, rng: np.random.RandomState) -> np.ndarray:
    """Share of so many people who say positive, each with the confidence as probability; NaN stays NaN.

    Everybody's draw is the same whatever the confidence is, and every row has one, labeled or not.
    """
    says_positive = rng.uniform(size=(*confidence.shape, votes)) < confidence[..., None]
    return np.where(np.isnan(confidence), np.nan, says_positive.mean(axis=-1))


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
