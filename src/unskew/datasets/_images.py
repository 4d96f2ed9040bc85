"""Image data sets and their groups of classes (App. E.1), two of them with confidence from annotators (App. E.2).

The annotated images are the test parts of CIFAR-10 and Fashion-MNIST. Their training parts follow without confidence,
for the test part of an experiment: the annotated images alone have too few negatives for all of its parts.
"""

from pathlib import Path

import numpy as np

from unskew.data.records import RawData, Sizes
from unskew.datasets._files import PublishedFile
from unskew.datasets._image_files import (
    Images,
    annotator_confidence,
    read_cifar,
    read_counts,
    read_idx_images,
    read_svhn,
)
from unskew.datasets._raw_data import by_class
from unskew.datasets._registry import dataset

_DIGIT_POSITIVES, _DIGIT_FAVORED = (1, 3, 5, 7, 9), (1, 3, 5)
_ANNOTATED_SIZES = Sizes(train=3000)  # fewer than in the main experiments, because fewer are annotated
_GITHUB = "https://raw.githubusercontent.com"


def _idx_files(
    folder: str, address: str, *, train: tuple[str, str], test: tuple[str, str]
) -> tuple[PublishedFile, ...]:
    """Images and labels of both parts, by their MD5 checksums."""
    names = [f"{part}-{kind}-ubyte" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")]
    return tuple(
        PublishedFile(f"{folder}/{name}.gz", f"{address}{name}.gz", f"md5:{checksum}", unpacked=f"{folder}/{name}")
        for name, checksum in zip(names, train + test, strict=True)
    )


_MNIST_FILES = _idx_files(
    "mnist",
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    train=("f68b3c2dcbeaaa9fbdd348bbdeb94873", "d53e105ee54ea40749a09fcbcd1e9432"),
    test=("9fb629c4189551a2d022fa330f9573f3", "ec29112dd5afa0611ce80d1b7f02629c"),
)
_FMNIST_FILES = _idx_files(
    "fashion-mnist",
    f"{_GITHUB}/zalandoresearch/fashion-mnist/master/data/fashion/",
    train=("8d4fb7e6c68d591d4c3dfef9ec88bf0d", "25c81989df183df01b3e8a0aad5dffbe"),
    test=("bef4ecab320f06d8554ea6380940ec79", "bb300cfdad3c16e7a12a480ee83cd310"),
)
_SVHN_FILES = tuple(
    PublishedFile(f"svhn/{name}", f"https://ufldl.stanford.edu/housenumbers/{name}", f"md5:{checksum}")
    for name, checksum in {
        "train_32x32.mat": "e26dedcc434d2e4c54c9b2d4a06d8373",
        "test_32x32.mat": "eb5a983be6a315427106f1b164d9cef3",
    }.items()
)
_CIFAR10_FILE = PublishedFile(
    "cifar-10-binary.tar.gz",
    "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    "md5:c32a1d4ab5d03f1284b67883e8d87530",
    unpacked="cifar-10-batches-bin",
)
# The commit in an address is git's own digest of what is downloaded.
_CIFAR10H_FILE = PublishedFile(
    "cifar10h/cifar10h-counts.npy",
    f"{_GITHUB}/jcpeterson/cifar-10h/597cbc5f07266c9405b830ee4a53463539124c4f/data/cifar10h-counts.npy",
)
_FMNISTH_FILE = PublishedFile(
    "fashion-mnist-h/fmh_counts.csv",
    f"{_GITHUB}/takashiishida/irreducible/18e120d239fd5db9889e88ce66f87222d3531472/data/fmh_counts.csv",
    "sha256:bec7efff5d6f901a6224758d71caadb436dbd8de1284b0be7089d193be94ddbc",
)


@dataset(
    "digits",
    table_name="Digits",
    network="mlp",
    source="scikit-learn, from the UCI collection of handwritten digits",
    licence="CC BY 4.0 (UCI)",
    # Too few for the paper's sizes; with the paper's batches and rate, networks would hardly be trained.
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
    files=_MNIST_FILES,
)
def load_mnist(*paths: Path) -> RawData:
    """MNIST, 28 x 28 grey handwritten digits as vectors in [0, 1]; odd is positive."""
    return by_class(*_joined(_idx_parts(paths)), _DIGIT_POSITIVES, _DIGIT_FAVORED)


@dataset(
    "fmnist",
    table_name="Fmnist",
    network="mlp",
    source="Zalando Research, github.com/zalandoresearch/fashion-mnist",
    licence="MIT",
    files=_FMNIST_FILES,
)
def load_fmnist(*paths: Path) -> RawData:
    """Fashion-MNIST, 28 x 28 grey images as vectors in [0, 1]; what is not an upper garment is positive."""
    return by_class(*_joined(_idx_parts(paths)), (1, 5, 7, 8, 9), (1, 5, 7))


@dataset(
    "svhn",
    table_name="Svhn",
    network="cnn",
    source="Street View House Numbers, cropped digits, ufldl.stanford.edu/housenumbers",
    licence="for non-commercial use",
    files=_SVHN_FILES,
)
def load_svhn(*paths: Path) -> RawData:
    """SVHN, 32 x 32 color digits of house numbers, pixels in [0, 1]; odd is positive."""
    return by_class(*_joined([read_svhn(path) for path in paths]), _DIGIT_POSITIVES, _DIGIT_FAVORED)


@dataset(
    "cifar10",
    table_name="Cifar10",
    network="cnn",
    source="Krizhevsky, www.cs.toronto.edu/~kriz/cifar.html",
    licence="none stated",
    files=(_CIFAR10_FILE,),
)
def load_cifar10(path: Path) -> RawData:
    """CIFAR-10, 32 x 32 color images, pixels in [0, 1]; vehicles are positive, animals negative."""
    test, train = read_cifar(path)
    return by_class(*_joined([part for part in (train, test) if part is not None]), (0, 1, 8, 9), (0, 1))


@dataset(
    "cifar10-h",
    table_name="Cifar10-H",
    network="cnn",
    source="Peterson et al. (2019), github.com/jcpeterson/cifar-10h, and CIFAR-10",
    licence="CC BY-NC-SA 4.0 (annotations)",
    files=(_CIFAR10_FILE, _CIFAR10H_FILE),
    sizes=_ANNOTATED_SIZES,
)
def load_cifar10_h(images_path: Path, counts_path: Path) -> RawData:
    """CIFAR-10 with about 50 annotators per test image; what lives or drives on land is positive."""
    test, train = read_cifar(images_path)
    if test is None or train is None:
        missing = "test_batch.bin" if test is None else "data_batch_1.bin to data_batch_5.bin"
        raise ValueError(
            f"{images_path} must hold the test batch, which is annotated, and training batches, but {missing} is "
            "missing. Put it there, or use the published archive."
        )
    return _annotated(test, train, counts_path, (1, 3, 4, 5, 7, 9), (1, 3, 4))


@dataset(
    "fmnist-h",
    table_name="Fmnist-H",
    network="mlp",
    source="Ishida et al. (2023), github.com/takashiishida/irreducible, and Fashion-MNIST",
    licence="GPL-3.0 (repository of the annotations)",
    files=(*_FMNIST_FILES, _FMNISTH_FILE),
    sizes=_ANNOTATED_SIZES,
)
def load_fmnist_h(*paths: Path) -> RawData:
    """Fashion-MNIST with about 67 annotators per test image; what is casual is positive."""
    train, test = _idx_parts(paths[:4])
    return _annotated(test, train, paths[4], (0, 1, 2, 6, 7), (0, 1, 2))


def _idx_parts(paths: tuple[Path, ...]) -> list[Images]:
    """Training and test part, images as vectors."""
    parts = (read_idx_images(images, labels) for images, labels in zip(paths[::2], paths[1::2], strict=True))
    return [(images.reshape(len(images), -1), labels) for images, labels in parts]


def _annotated(
    test: Images, train: Images, counts_path: Path, positive: tuple[int, ...], favored: tuple[int, ...]
) -> RawData:
    """Annotated images first, then those without confidence."""
    share = annotator_confidence(read_counts(counts_path), test[1], positive, counts_path)
    confidence = np.concatenate([share, np.full(len(train[1]), np.nan)])
    return by_class(*_joined([test, train]), positive, favored, confidence)


def _joined(parts: list[Images]) -> Images:
    """Pixels in [0, 1] as float32, without a copy that is larger than the result, and labels."""
    first, _ = parts[0]
    X = np.empty((sum(len(labels) for _, labels in parts), *first.shape[1:]), dtype=np.float32)
    start = 0
    for pixels, _ in parts:
        np.divide(pixels, np.float32(255), out=X[start : start + len(pixels)], dtype=np.float32)
        start += len(pixels)
    return X, np.concatenate([labels for _, labels in parts])
