"""What unequal weights are worth."""

import numpy as np


def effective_sample_size(weight: np.ndarray) -> float:
    """Equally weighted rows that these are worth, (sum w)^2 / sum w^2 (Kish)."""
    return float(weight.sum() ** 2 / np.sum(weight**2))
