"""Image data sets and their groups of classes (App. E.1)."""

from pathlib import Path

import numpy as np

from unskew.data.records import RawData, Sizes
from unskew.datasets._cifar import read_cifar
from unskew.datasets._groups import by_class
from unskew.datasets._idx import read_idx_images
from unskew.datasets._registry import dataset
from unskew.datasets._source import PublishedFile
from unskew.datasets._svhn import read_svhn

_DIGIT_POSITIVES, _DIGIT_FAVORED = (1, 3, 5, 7, 9), (1, 3, 5)


def _idx_files(folder: str, address: str, md5: dict[str, str]) -> tuple[PublishedFile, ...]:
    return tuple(
        PublishedFile(f"{folder}/{name}.gz", f"{address}{name}.gz", f"md5:{checksum}", unpacked=f"{folder}/{name}")
        for name, checksum in md5.items()
    )


MNIST_FILES = _idx_files(
    "mnist",
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    {
        "train-images-idx3-ubyte": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
        "train-labels-idx1-ubyte": "d53e105ee54ea40749a09fcbcd1e9432",
        "t10k-images-idx3-ubyte": "9fb629c4189551a2d022fa330f9573f3",
        "t10k-labels-idx1-ubyte": "ec29112dd5afa0611ce80d1b7f02629c",
    },
)
FMNIST_FILES = _idx_files(
    "fashion-mnist",
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    {
        "train-images-idx3-ubyte": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        "train-labels-idx1-ubyte": "25c81989df183df01b3e8a0aad5dffbe",
        "t10k-images-idx3-ubyte": "bef4ecab320f06d8554ea6380940ec79",
        "t10k-labels-idx1-ubyte": "bb300cfdad3c16e7a12a480ee83cd310",
    },
)
SVHN_FILES = tuple(
    PublishedFile(f"svhn/{name}", f"http://ufldl.stanford.edu/housenumbers/{name}", f"md5:{checksum}")
    for name, checksum in {
        "train_32x32.mat": "e26dedcc434d2e4c54c9b2d4a06d8373",
        "test_32x32.mat": "eb5a983be6a315427106f1b164d9cef3",
    }.items()
)
CIFAR10_FILE = PublishedFile(
    "cifar-10-binary.tar.gz",
    "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    "md5:c32a1d4ab5d03f1284b67883e8d87530",
    unpacked="cifar-10-batches-bin",
)


@dataset(
    "digits",
    table_name="Digits",
    network="mlp",
    source="scikit-learn, from the UCI collection of handwritten digits",
    licence="CC BY 4.0 (UCI)",
    # Too few for the paper's sizes; with the paper's batches and rate networks would hardly leave where they start.
    sizes=Sizes(train=300, validation=300, confidence=200, test=150),
    batch_size=64,
    learning_rate=1e-3,
)
def load_digits() -> RawData:
    """scikit-learn's 8 x 8 digits, as vectors in [0, 1]; odd is positive."""
    from sklearn.datasets import load_digits as sklearn_digits

    bunch = sklearn_digits()
    return by_class(bunch.data / 16, bunch.target, _DIGIT_POSITIVES, _DIGIT_FAVORED)


@dataset(
    "mnist",
    table_name="Mnist",
    network="mlp",
    source="LeCun, Cortes and Burges, yann.lecun.com/exdb/mnist",
    licence="CC BY-SA 3.0",
    files=MNIST_FILES,
)
def load_mnist(*paths: Path) -> RawData:
    """MNIST, 28 x 28 grey handwritten digits as vectors in [0, 1]; odd is positive."""
    return _load_idx(paths, _DIGIT_POSITIVES, _DIGIT_FAVORED)


@dataset(
    "fmnist",
    table_name="Fmnist",
    network="mlp",
    source="Zalando Research, github.com/zalandoresearch/fashion-mnist",
    licence="MIT",
    files=FMNIST_FILES,
)
def load_fmnist(*paths: Path) -> RawData:
    """Fashion-MNIST, 28 x 28 grey images as vectors in [0, 1]; what is not an upper garment is positive."""
    return _load_idx(paths, (1, 5, 7, 8, 9), (1, 5, 7))


@dataset(
    "svhn",
    table_name="Svhn",
    network="cnn",
    source="Street View House Numbers, cropped digits, ufldl.stanford.edu/housenumbers",
    licence="for non-commercial use",
    files=SVHN_FILES,
)
def load_svhn(*paths: Path) -> RawData:
    """SVHN, 32 x 32 color digits of house numbers, pixels in [0, 1]; odd is positive."""
    parts = [read_svhn(path) for path in paths]
    X = scaled_pixels([images for images, _ in parts])
    return by_class(X, np.concatenate([labels for _, labels in parts]), _DIGIT_POSITIVES, _DIGIT_FAVORED)


@dataset(
    "cifar10",
    table_name="Cifar10",
    network="cnn",
    source="Krizhevsky, www.cs.toronto.edu/~kriz/cifar.html",
    licence="none stated",
    files=(CIFAR10_FILE,),
)
def load_cifar10(path: Path) -> RawData:
    """CIFAR-10, 32 x 32 color images, pixels in [0, 1]; vehicles are positive, animals negative."""
    test, train = read_cifar(path)
    parts = [part for part in (train, test) if part is not None]
    X = scaled_pixels([images for images, _ in parts])
    return by_class(X, np.concatenate([labels for _, labels in parts]), (0, 1, 8, 9), (0, 1))


def scaled_pixels(parts: list[np.ndarray]) -> np.ndarray:
    """Bytes to float32 in [0, 1], without a copy that is larger than the result."""
    X = np.empty((sum(map(len, parts)), *parts[0].shape[1:]), dtype=np.float32)
    start = 0
    for part in parts:
        np.divide(part, np.float32(255), out=X[start : start + len(part)], dtype=np.float32)
        start += len(part)
    return X


def _load_idx(paths: tuple[Path, ...], positive: tuple[int, ...], favored: tuple[int, ...]) -> RawData:
    train, test = read_idx_images(paths[0], paths[1]), read_idx_images(paths[2], paths[3])
    X = scaled_pixels([train[0], test[0]])
    return by_class(X.reshape(len(X), -1), np.concatenate([train[1], test[1]]), positive, favored)
