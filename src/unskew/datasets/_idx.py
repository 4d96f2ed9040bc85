"""Images and labels in the idx format of MNIST."""

import gzip
import math
import zlib
from pathlib import Path

import numpy as np

_IDX_MAGIC = {2049: 1, 2051: 3}


def read_idx_images(images_path: Path, labels_path: Path, side: int = 28) -> tuple[np.ndarray, np.ndarray]:
    """Images as bytes of shape (n, side, side), and their labels from 0 to 9."""
    images, labels = read_idx(images_path), read_idx(labels_path)
    if images.shape[1:] != (side, side):
        raise ValueError(
            f"{images_path} must hold images of {side} x {side} pixels, but its array has the shape {images.shape}. "
            "Get it again."
        )
    if labels.ndim != 1 or len(labels) != len(images) or not len(labels) or labels.max() > 9:
        highest = f" up to {labels.max()}" if labels.size else ""
        raise ValueError(
            f"{labels_path} must hold one label from 0 to 9 per image of {images_path.name}, but there are "
            f"{len(images)} images and {labels.size} labels{highest}. Get both again."
        )
    return images, labels


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
    shape = tuple(int.from_bytes(content[start : start + 4], "big") for start in range(4, header, 4))
    if not n_dims or len(content) != header + math.prod(shape):
        raise ValueError(
            f"{path} is no whole idx file: it begins with {content[:4]!r} and has {len(content)} bytes where its "
            f"header says {header + math.prod(shape) if n_dims else 'nothing'}. Get it again."
        )
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)
