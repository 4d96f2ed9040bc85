"""CIFAR-10's binary batches, unpacked in a folder or inside the published archive."""

import gzip
import tarfile
import zlib
from pathlib import Path, PurePosixPath

import numpy as np

_TRAIN = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
_TEST = "test_batch.bin"
# A record is the label and the red, green and blue planes of 32 x 32 pixels.
_SHAPE = (3, 32, 32)
_RECORD = 1 + 3 * 32 * 32


def read_cifar(path: Path) -> tuple[tuple[np.ndarray, np.ndarray] | None, tuple[np.ndarray, np.ndarray] | None]:
    """Images as bytes of shape (n, 3, 32, 32) and labels of the test batch and of the training batches that are there.

    None stands for a part that is not there; not all training batches need be.
    """
    contents = _folder_contents(path) if path.is_dir() else _archive_contents(path)
    batches = {name: _decode(content, f"{path}: {name}") for name, content in contents.items()}
    if not batches:
        raise ValueError(f"{path} must hold {_TEST} or {_TRAIN[0]} to {_TRAIN[-1]}, but none of them is there.")
    train = [batches[name] for name in _TRAIN if name in batches]
    joined = tuple(np.concatenate(part) for part in zip(*train, strict=True)) if train else None
    return batches.get(_TEST), joined  # type: ignore[return-value]


def _folder_contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in (_TEST, *_TRAIN) if (folder / name).is_file()}


def _archive_contents(path: Path) -> dict[str, bytes]:
    """Bytes of the batches, read without unpacking anything to disk."""
    contents = {}
    try:
        with gzip.open(path) as file, tarfile.open(fileobj=file) as archive:
            for member in archive:
                name = PurePosixPath(member.name).name
                batch = archive.extractfile(member) if name in (_TEST, *_TRAIN) else None
                if batch is not None:
                    contents[name] = batch.read()
            while file.read(1 << 20):  # the checksum lies behind the last byte
                pass
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is no whole tar archive: {error}. Get it again.") from error
    return contents


def _decode(content: bytes, name: str) -> tuple[np.ndarray, np.ndarray]:
    if not content or len(content) % _RECORD:
        raise ValueError(
            f"{name} must hold records of {_RECORD} bytes (CIFAR-10's binary version), but it has {len(content)} "
            "bytes. Get it again."
        )
    records = np.frombuffer(content, np.uint8).reshape(-1, _RECORD)
    labels = records[:, 0]
    if labels.max() > 9:
        row = int(np.argmax(labels > 9))
        raise ValueError(
            f"{name} must have labels from 0 to 9, but record {row} has {labels[row]}. Get it again (CIFAR-100 has "
            "another layout)."
        )
    return records[:, 1:].reshape(-1, *_SHAPE), labels
