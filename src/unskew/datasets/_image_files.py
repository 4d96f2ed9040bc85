"""Readers of published image files: idx (MNIST), CIFAR-10's batches, SVHN's .mat files, and counts of annotators.

Each returns what is in the file, or says which file is damaged and how.
"""

import gzip
import io
import math
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from tokenize import TokenError

import numpy as np

from unskew.datasets._raw_data import read_csv

Images = tuple[np.ndarray, np.ndarray]
"""Pixels as bytes, and labels from 0 to 9."""

_N_CLASSES = 10
_IDX_DIMENSIONS = {2049: 1, 2051: 3}
_CIFAR_TRAIN = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
_CIFAR_TEST = "test_batch.bin"
_CIFAR_NAMES = (_CIFAR_TEST, *_CIFAR_TRAIN)
_CIFAR_RECORD = 1 + 3 * 32 * 32  # the label and the red, green and blue planes
_READ_MAT = """
import sys, numpy, scipy.io
arrays = scipy.io.loadmat(sys.argv[1], variable_names=("X", "y"))
numpy.savez(sys.stdout.buffer, **{name: arrays[name] for name in ("X", "y") if name in arrays})
"""


def read_idx_images(images_path: Path, labels_path: Path) -> Images:
    """Images of shape (n, 28, 28)."""
    images, labels = read_idx(images_path), read_idx(labels_path)
    if images.shape[1:] != (28, 28):
        raise ValueError(
            f"{images_path} must hold images of 28 x 28 pixels, but the shape of its array is {images.shape}. Get it "
            "again."
        )
    if labels.ndim != 1 or len(labels) != len(images) or not len(labels) or labels.max() > 9:
        highest = f" up to {labels.max()}" if labels.size else ""
        raise ValueError(
            f"{labels_path} must hold one label from 0 to 9 per image of {images_path.name}, but there are "
            f"{len(images)} images and {labels.size} labels{highest}. Get both again."
        )
    return images, labels


def read_idx(path: Path) -> np.ndarray:
    """Array of an idx file, compressed by gzip or not."""
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path} is damaged: {error}. Get it again.") from error
    n_dims = _IDX_DIMENSIONS.get(int.from_bytes(content[:4], "big"), 0)
    header = 4 + 4 * n_dims
    shape = tuple(int.from_bytes(content[start : start + 4], "big") for start in range(4, header, 4))
    if not n_dims or len(content) != header + math.prod(shape):
        expected = f"{header + math.prod(shape)} bytes by its header" if n_dims else "a header that is not there"
        raise ValueError(
            f"{path} must be a complete idx file, but it begins with {content[:4]!r} and has {len(content)} bytes "
            f"instead of {expected}. Get it again."
        )
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


def read_cifar(path: Path) -> tuple[Images | None, Images | None]:
    """Images of shape (n, 3, 32, 32) of the test batch and of the training batches, from a folder or the archive.

    None stands for a part that is missing; some of the training batches are enough.
    """
    if path.is_dir():
        contents = {name: (path / name).read_bytes() for name in _CIFAR_NAMES if (path / name).is_file()}
    else:
        contents = _archive_contents(path)
    batches = {name: _cifar_batch(content, f"{path}: {name}") for name, content in contents.items()}
    if not batches:
        expected = f"{_CIFAR_TEST} or {_CIFAR_TRAIN[0]} to {_CIFAR_TRAIN[-1]}"
        raise ValueError(f"{path} must hold {expected}, but it has none of them. Get it again.")
    train = [batches[name] for name in _CIFAR_TRAIN if name in batches]
    pixels, labels = zip(*train, strict=True) if train else ((), ())
    return batches.get(_CIFAR_TEST), (np.concatenate(pixels), np.concatenate(labels)) if train else None


def _archive_contents(path: Path) -> dict[str, bytes]:
    """Bytes of the batches; nothing is unpacked to disk."""
    contents = {}
    try:
        with gzip.open(path) as file, tarfile.open(fileobj=file) as archive:
            for member in archive:
                name = PurePosixPath(member.name).name
                batch = archive.extractfile(member) if name in _CIFAR_NAMES else None
                if batch is not None:
                    contents[name] = batch.read()
            while file.read(1 << 20):  # gzip's checksum is at the end of the file
                pass
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} must be a complete tar archive, but it is not: {error}. Get it again.") from error
    return contents


def _cifar_batch(content: bytes, name: str) -> Images:
    if not content or len(content) % _CIFAR_RECORD:
        raise ValueError(
            f"{name} must hold records of {_CIFAR_RECORD} bytes (CIFAR-10's binary version), but it has {len(content)} "
            "bytes. Get it again."
        )
    records = np.frombuffer(content, np.uint8).reshape(-1, _CIFAR_RECORD)
    labels = records[:, 0]
    if labels.max() > 9:
        row = int(np.argmax(labels > 9))
        raise ValueError(
            f"{name} must have labels from 0 to 9, but record {row} has {labels[row]}. Get it again (CIFAR-100 has "
            "another layout)."
        )
    return records[:, 1:].reshape(-1, 3, 32, 32), labels


def read_svhn(path: Path) -> Images:
    """Images of shape (n, 3, 32, 32)."""
    arrays = _read_mat(path)
    images, labels = (arrays.get(name, np.zeros(0)) for name in ("X", "y"))
    if images.ndim != 4 or images.shape[:3] != (32, 32, 3) or images.dtype != np.uint8:
        raise ValueError(
            f"{path} must have an array X of shape (32, 32, 3, n) of bytes, but it has {images.shape} of "
            f"{images.dtype}. Get it again (the cropped digits, format 2)."
        )
    n = images.shape[3]
    labels = labels.ravel()
    if not n or len(labels) != n or not np.isin(labels, np.arange(1, 11)).all():
        found = f"{len(labels)} labels for {n} images" if len(labels) != n or not n else f"labels {np.unique(labels)}"
        raise ValueError(
            f"{path} must have one label y from 1 to 10 (10 stands for the digit 0) per image, but it has {found}. "
            "Get it again."
        )
    return images.transpose(3, 2, 0, 1), labels.astype(int) % 10


def _read_mat(path: Path) -> dict[str, np.ndarray]:
    """Arrays X and y, read by scipy in a process of its own: a damaged file can end the process that reads it."""
    done = subprocess.run([sys.executable, "-c", _READ_MAT, str(path)], capture_output=True, check=False)
    if done.returncode == 0:
        try:
            with np.load(io.BytesIO(done.stdout), allow_pickle=False) as arrays:
                return dict(arrays)
        except ValueError as error:  # an array of objects, whatever the file says they are
            reason = str(error)
    else:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        reason = lines[-1] if lines and done.returncode > 0 else "reading it ended scipy's process"
    raise ValueError(f"{path} cannot be read as a MATLAB file of versions 4 to 7: {reason}. Get it again.")


def read_counts(path: Path) -> np.ndarray:
    """How many annotators gave each class to each image, shape (n, 10), from .npy or from .csv without a header."""
    try:
        counts = np.load(path, allow_pickle=False) if path.suffix == ".npy" else read_csv(path, np.int64)
    except (ValueError, EOFError, OSError, SyntaxError, TokenError) as error:  # the header of .npy is Python
        raise ValueError(f"{path} cannot be read as a table of counts: {error}. Get it again.") from error
    if counts.ndim != 2 or counts.shape[1] != _N_CLASSES or not len(counts):
        raise ValueError(f"{path} must have {_N_CLASSES} columns, but its shape is {counts.shape}. Get it again.")
    bad = (counts < 0) | (counts != np.round(counts)) | (counts.sum(axis=1, keepdims=True) <= 0)
    if bad.any():
        row = int(np.argmax(bad.any(axis=1)))
        raise ValueError(
            f"{path} must hold whole numbers from 0 on, with a positive sum in every row, but row {row} is "
            f"{counts[row]}. Get it again (the counts, not the shares)."
        )
    return np.asarray(counts, dtype=np.int64)


def annotator_confidence(counts: np.ndarray, labels: np.ndarray, positive: Collection[int], path: Path) -> np.ndarray:
    """Share of the annotators that name a positive class; row i of the counts must belong to image i."""
    if len(counts) != len(labels):
        raise ValueError(
            f"{path} must have one row per image of the test part, but it has {len(counts)} rows and there are "
            f"{len(labels)} images. Get both again."
        )
    agreeing = float(np.mean(counts.argmax(axis=1) == labels))
    if agreeing < 0.5:  # it is 0.99 for CIFAR-10H and 0.82 for Fashion-MNIST-H; another order gives about 0.1
        raise ValueError(
            f"{path} must belong to the images of the test part, in their order, but most annotators name the true "
            f"class of only {agreeing:.0%} of the images. Get both again."
        )
    return np.asarray(counts[:, sorted(positive)].sum(axis=1) / counts.sum(axis=1))
