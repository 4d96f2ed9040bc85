"""The .mat files of SVHN's cropped digits.

`scipy.io.loadmat` reads them, too, but damaged files can make it end the whole process. Two arrays of numbers are all
that is here, and MATLAB's format of versions 5 to 7 keeps them simply.
"""

import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np

_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}

Order = Literal["little", "big"]


def read_svhn(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Images as bytes of shape (n, 3, 32, 32), and digits from 0 to 9."""
    try:
        arrays = _arrays(path.read_bytes(), {b"X", b"y"})
    except (ValueError, zlib.error) as error:
        raise ValueError(
            f"{path} cannot be read as a MATLAB file of versions 5 to 7: {error}. Get it again."
        ) from error
    images, labels = (arrays.get(name, np.zeros(0)) for name in (b"X", b"y"))
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


def _arrays(content: bytes, names: set[bytes]) -> dict[bytes, np.ndarray]:
    """Arrays of numbers by name."""
    order: Order | None = {b"IM": "little", b"MI": "big"}.get(content[126:128])  # type: ignore[assignment]
    if order is None or content[124:126] not in (b"\x00\x01", b"\x01\x00"):
        raise ValueError(f"it begins with {content[:20]!r}")
    found = {}
    for kind, data in _elements(memoryview(content)[_HEADER:], order):
        if kind == _COMPRESSED:
            kind, data = next(_elements(memoryview(zlib.decompress(data)), order), (0, memoryview(b"")))
        if kind == _MATRIX:
            # Flags, dimensions, name, numbers; arrays of other things have more parts of another kind.
            parts = _elements(data, order)
            (_, _), (_, dimensions), (_, name) = (next(parts, (0, memoryview(b""))) for _ in range(3))
            if bytes(name) in names:
                found[bytes(name)] = _array(*next(parts, (0, memoryview(b""))), dimensions, order)
    return found


def _elements(content: memoryview, order: Order) -> Iterator[tuple[int, memoryview]]:
    """Kind and bytes of each part of a file or of an array."""
    start = 0
    while start < len(content):
        kind = int.from_bytes(content[start : start + 4], order)
        if kind >> 16:  # a short part keeps its size beside its kind
            kind, size = kind & 0xFFFF, kind >> 16
            begin, following = start + 4, start + 8
        else:
            size = int.from_bytes(content[start + 4 : start + 8], order)
            begin = start + 8
            following = begin + size + (0 if kind == _COMPRESSED else -size % 8)
        if begin + size > len(content):
            raise ValueError(f"it stops {begin + size - len(content)} bytes before the end of a part")
        yield kind, content[begin : begin + size]
        start = following


def _array(kind: int, data: memoryview, dimensions: memoryview, order: Order) -> np.ndarray:
    mark = "<" if order == "little" else ">"
    if kind not in _TYPES or len(dimensions) % 4:
        raise ValueError("an array holds something else than numbers")
    dtype = np.dtype(mark + _TYPES[kind])
    shape = tuple(int(each) for each in np.frombuffer(dimensions, f"{mark}i4"))
    if min(shape, default=-1) < 0 or math.prod(shape) * dtype.itemsize != len(data):
        raise ValueError(f"an array of shape {shape} has {len(data)} bytes")
    return np.frombuffer(data, dtype).reshape(shape, order="F")
