"""A labeling probability that is wrong on purpose (App. F.10)."""

from typing import Any

import numpy as np

from unskew.objectives.weights import CLIP
from unskew.rankers.labeling import LabelingNetwork
from unskew.scenario.confidence import noisy


class NoisyLabeling:
    """A fitted labeling network whose probabilities carry Gaussian noise, drawn anew at each call.

    Parameters
    ----------
    network : LabelingNetwork
    deviation : float
        Standard deviation of the noise.
    rng : RandomState
    """

    def __init__(self, network: LabelingNetwork, deviation: float, rng: np.random.RandomState) -> None:
        self.network, self.deviation, self.rng = network, deviation, rng

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of being unlabeled and labeled, shape (n, 2), the latter within [0.01, 1]."""
        images = np.asarray(X).reshape(len(X), *self.network.input_shape)
        exact = self.network.predict_proba(images)[:, 1]
        labeled = noisy(exact, self.deviation, self.rng, least=CLIP)
        return np.column_stack([1 - labeled, labeled])
