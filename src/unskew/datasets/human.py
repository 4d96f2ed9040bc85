"""Image data sets whose confidence comes from human annotators (App. E.2).

The annotated images are the test parts of CIFAR-10 and Fashion-MNIST. Their training parts come along without
confidence, for the test part of an experiment: the annotated images alone have too few negatives for all of its parts.
"""

from pathlib import Path

import numpy as np

from unskew.data.records import RawData, Sizes
from unskew.datasets._cifar import read_cifar
from unskew.datasets._counts import annotator_confidence, read_counts
from unskew.datasets._groups import by_class
from unskew.datasets._idx import read_idx_images
from unskew.datasets._registry import dataset
from unskew.datasets._source import PublishedFile
from unskew.datasets.images import CIFAR10_FILE, FMNIST_FILES, scaled_pixels

Images = tuple[np.ndarray, np.ndarray]

SIZES = Sizes(train=3000)
"""Fewer for training than in the main experiments: fewer are annotated."""

CIFAR10H_FILE = PublishedFile(
    "cifar10h/cifar10h-counts.npy",
    "https://raw.githubusercontent.com/jcpeterson/cifar-10h/master/data/cifar10h-counts.npy",
)
FMNISTH_FILE = PublishedFile(
    "fashion-mnist-h/fmh_counts.csv",
    "https://raw.githubusercontent.com/takashiishida/irreducible/main/data/fmh_counts.csv",
)


@dataset(
    "cifar10-h",
    table_name="Cifar10-H",
    network="cnn",
    source="Peterson et al. (2019), github.com/jcpeterson/cifar-10h, and CIFAR-10",
    licence="CC BY-NC-SA 4.0 (annotations)",
    files=(CIFAR10_FILE, CIFAR10H_FILE),
    sizes=SIZES,
)
def load_cifar10_h(images_path: Path, counts_path: Path) -> RawData:
    """CIFAR-10 with about 50 annotators per test image; what lives or drives on land is positive."""
    test, train = read_cifar(images_path)
    if test is None or train is None:
        lacking = "test_batch.bin" if test is None else "data_batch_1.bin to data_batch_5.bin"
        raise ValueError(
            f"{images_path} must hold the test batch, which is annotated, and training batches, but {lacking} is not "
            "there. Put it there, or use the published archive."
        )
    return _annotated(test, train, counts_path, (1, 3, 4, 5, 7, 9), (1, 3, 4))


@dataset(
    "fmnist-h",
    table_name="Fmnist-H",
    network="mlp",
    source="Ishida et al. (2023), github.com/takashiishida/irreducible, and Fashion-MNIST",
    licence="GPL-3.0 (repository of the annotations)",
    files=(*FMNIST_FILES, FMNISTH_FILE),
    sizes=SIZES,
)
def load_fmnist_h(*paths: Path) -> RawData:
    """Fashion-MNIST with about 67 annotators per test image; what is casual is positive."""
    train, test = ((images.reshape(len(images), -1), labels) for images, labels in _train_and_test(paths[:4]))
    return _annotated(test, train, paths[4], (0, 1, 2, 6, 7), (0, 1, 2))


def _train_and_test(paths: tuple[Path, ...]) -> tuple[Images, Images]:
    return read_idx_images(paths[0], paths[1]), read_idx_images(paths[2], paths[3])


def _annotated(
    test: Images, train: Images, counts_path: Path, positive: tuple[int, ...], favored: tuple[int, ...]
) -> RawData:
    """Annotated images first, then those without confidence."""
    share = annotator_confidence(read_counts(counts_path), test[1], positive, counts_path)
    confidence = np.concatenate([share, np.full(len(train[1]), np.nan)])
    X = scaled_pixels([test[0], train[0]])
    return by_class(X, np.concatenate([test[1], train[1]]), positive, favored, confidence)
