"""Image data sets and their groups of classes (App. E.1)."""

import gzip
import zlib
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits as sklearn_digits

from unskew.datasets._source import locate
from unskew.records import RawData

_DIGIT_POSITIVES, _DIGIT_FAVORED = (1, 3, 5, 7, 9), (1, 3, 5)
_IDX_MAGIC = {2049: 1, 2051: 3}


def load_digits() -> RawData:
    """scikit-learn's 8 x 8 digits, as vectors in [0, 1]; odd is positive. They come with scikit-learn."""
    bunch = sklearn_digits()
    return _grouped(bunch.data / 16, bunch.target, _DIGIT_POSITIVES, _DIGIT_FAVORED)


def load_mnist() -> RawData:
    """MNIST, 28 x 28 grey images as vectors in [0, 1]; odd is positive."""
    return _load_idx("mnist", "yann.lecun.com/exdb/mnist", _DIGIT_POSITIVES, _DIGIT_FAVORED)


def load_fmnist() -> RawData:
    """Fashion-MNIST, 28 x 28 grey images as vectors in [0, 1]; what is not an upper garment is positive."""
    return _load_idx("fashion-mnist", "github.com/zalandoresearch/fashion-mnist", (1, 5, 7, 8, 9), (1, 5, 7))


def _load_idx(folder: str, source: str, positive: tuple[int, ...], favored: tuple[int, ...]) -> RawData:
    files = {
        kind: [read_idx(locate(f"{folder}/{part}-{kind}-ubyte.gz", source)) for part in ("train", "t10k")]
        for kind in ("images-idx3", "labels-idx1")
    }
    images, labels = (np.concatenate(files[kind]) for kind in ("images-idx3", "labels-idx1"))
    if len(images) != len(labels) or labels.max() > 9:
        raise ValueError(
            f"{folder} must have one label from 0 to 9 per image, but there are {len(images)} images and {len(labels)} "
            f"labels up to {labels.max()}. Get the files again from {source}."
        )
    return _grouped(images.reshape(len(images), -1) / np.float32(255), labels, positive, favored)


def _grouped(X: np.ndarray, classes: np.ndarray, positive: tuple[int, ...], favored: tuple[int, ...]) -> RawData:
    return RawData(X.astype(np.float32), np.isin(classes, positive).astype(int), classes.astype(int), favored)


def read_idx(path: Path) -> np.ndarray:
    """Array of an idx file, gzip-compressed or not; a damaged one is told by name."""
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path} is damaged: {error}. Get it again.") from error
    n_dims = _IDX_MAGIC.get(int.from_bytes(content[:4], "big"), 0)
    header = 4 + 4 * n_dims
    shape = np.frombuffer(content[4:header], ">u4") if n_dims and len(content) >= header else np.array([-1])
    if len(content) - header != int(np.prod(shape, dtype=np.int64)):
        raise ValueError(
            f"{path} is no whole idx file: it begins with {content[:4]!r} and has {len(content)} bytes where its "
            f"header says {header + int(np.prod(shape, dtype=np.int64)) if n_dims else 'nothing'}. Get it again."
        )
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)
