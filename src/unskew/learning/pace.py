"""How long and how fast networks are trained, by the size of the data, where the user does not say."""

from math import ceil, sqrt
from typing import NamedTuple

AUTO = "auto"
"""Value of a parameter that is to be chosen by the size of the data."""
LEARNING_RATE = 3e-4
LARGE_ROWS, LARGE_RATE = 50_000, 1e-3
"""Rows for training from which on the rate is higher, at least this; decision 36."""
STEPS, AT_LABELED = 400, 100
"""Steps of training, and the number of labels for which they are right."""
STEPS_PER_EPOCH, LEAST_BATCH, LARGEST_BATCH = 8, 64, 1024
LEAST_EPOCHS, MOST_EPOCHS = 3, 200
"""Of fewer epochs hardly one could be chosen; more do not pay."""


class Pace(NamedTuple):
    """Parameters of training that depend on the size of the data."""

    max_epochs: int
    batch_size: int
    learning_rate: float


def pace_for(n_rows: int, n_labeled: int, drive: float = 1.0, batch_size: int | None = None) -> Pace:
    """Pace that suits data of so many rows, of which so many are labeled; `drive` multiplies the learning rate.

    With a `batch_size` that was asked for, as many epochs make the same number of steps.

    Training longer, or faster, teaches a network the few labels by heart, and the few that are held out do not always
    show it: what counts is about the learning rate times the number of steps. It is that of the paper's experiments,
    0.1 with some 100 labels, and grows with the square root of the labels. Small tables have small batches, so that an
    epoch is a part of the training that can be chosen; decision 31 has what was tried. In large tables a network has
    more to learn from the unlabeled rows, and many rows held out show when it has learned enough: the rate is higher.

    Examples
    --------
    >>> pace_for(5000, 100)
    Pace(max_epochs=50, batch_size=625, learning_rate=0.0003)
    >>> pace_for(1_000_000, 10_000)
    Pace(max_epochs=4, batch_size=1024, learning_rate=0.001)
    """
    if batch_size is None:
        batch_size = min(max(n_rows // STEPS_PER_EPOCH, LEAST_BATCH), LARGEST_BATCH)
    steps = STEPS * sqrt(max(1.0, n_labeled / AT_LABELED))
    epochs = round(steps / ceil(n_rows / batch_size))
    rate = max(drive * LEARNING_RATE, LARGE_RATE if n_rows >= LARGE_ROWS else 0.0)
    return Pace(min(max(epochs, LEAST_EPOCHS), MOST_EPOCHS), batch_size, rate)
