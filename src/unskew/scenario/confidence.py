"""Where confidence comes from in an experiment: a classifier trained on true classes of other instances (Sec. 5.1)."""

from dataclasses import replace

import numpy as np
import torch

from unskew.labeling import labeling_risk
from unskew.records import PUData
from unskew.rows import as_rows
from unskew.training import Trainer, score_rows

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
