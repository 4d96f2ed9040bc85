"""How many annotators gave which class to each image: .npy (CIFAR-10H) or .csv without a header (Fashion-MNIST-H)."""

from collections.abc import Collection
from pathlib import Path
from tokenize import TokenError

import numpy as np

from unskew.datasets._csv import read_csv

N_CLASSES = 10


def read_counts(path: Path) -> np.ndarray:
    """Counts of shape (n, 10)."""
    try:
        counts = np.load(path, allow_pickle=False) if path.suffix == ".npy" else read_csv(path, np.int64)
    except (ValueError, EOFError, OSError, SyntaxError, TokenError) as error:  # the header of .npy is Python
        raise ValueError(f"{path} cannot be read as a table of counts: {error}. Get it again.") from error
    if counts.ndim != 2 or counts.shape[1] != N_CLASSES or not len(counts):
        raise ValueError(f"{path} must have {N_CLASSES} columns, but its shape is {counts.shape}. Get it again.")
    bad = (counts < 0) | (counts != np.round(counts)) | (counts.sum(axis=1, keepdims=True) <= 0)
    if bad.any():
        row = int(np.argmax(bad.any(axis=1)))
        raise ValueError(
            f"{path} must hold whole counts from 0 on, some in every row, but row {row} is {counts[row]}. Get it again "
            "(the counts, not the shares)."
        )
    return np.asarray(counts, dtype=np.int64)


def annotator_confidence(counts: np.ndarray, labels: np.ndarray, positive: Collection[int], path: Path) -> np.ndarray:
    """Share of the annotators that name a positive class; counts and images must belong together, row by row."""
    if len(counts) != len(labels):
        raise ValueError(
            f"{path} must have one row per image of the test part, but it has {len(counts)} rows and there are "
            f"{len(labels)} images. Get both again."
        )
    agreeing = float(np.mean(counts.argmax(axis=1) == labels))
    if agreeing < 0.5:  # it is 0.99 for CIFAR-10H and 0.82 for Fashion-MNIST-H; another order gives about 0.1
        raise ValueError(
            f"{path} must belong to the images of the test part, in their order, but most annotators name the true "
            f"class of {agreeing:.0%} of the images only. Get both again."
        )
    return np.asarray(counts[:, sorted(positive)].sum(axis=1) / counts.sum(axis=1))
