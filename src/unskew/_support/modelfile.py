"""The model file: a checksum, a JSON header and arrays, in one file that holds data only.

Layout: 8 bytes of signature; 32 bytes of SHA-256 over all that follows; 4 bytes of format version; 8 bytes of header
length; the header as JSON; the arrays as safetensors. Signature, checksum and version stay where they are in every
future format, so that any version of the library can tell damage from age.
"""

import hashlib
import json
import math
import os
import stat
import struct
from dataclasses import dataclass
from io import BufferedReader
from typing import Any, NamedTuple

import numpy as np
from safetensors.numpy import save as save_arrays

from unskew._support.files import write_atomically
from unskew._support.json_records import build, read_json
from unskew._support.text import StrPath
from unskew.errors import ModelFileError

SIGNATURE = b"\x93UNSKEW\n"
FORMAT_VERSION = 1
LARGEST_HEADER = 64 * 2**20
"""Bytes of JSON that are read at most: a file that says more was made wrong."""
ALIGNMENT = 64
"""Bytes, as torch aligns its own arrays: where an array begins decides how it is summed, to the last bit."""

_FIXED = struct.Struct("<8s32s")
_SIZES = struct.Struct("<IQ")
_LENGTH = struct.Struct("<Q")
_TYPES = {"BOOL": "?", "U8": "u1", "I8": "i1"} | {
    f"{kind.upper()}{8 * size}": f"<{kind}{size}" for kind in "uif" for size in (2, 4, 8)
}
"""Numpy's name of each type of safetensors."""


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds: a JSON-able header and named arrays."""

    header: dict[str, Any]
    arrays: dict[str, np.ndarray]


def write_model_file(path: StrPath, model: ModelFile) -> None:
    """Write the file whole or not at all."""
    header = json.dumps(model.header, allow_nan=False).encode()
    if len(header) > LARGEST_HEADER:
        raise ValueError(
            f"the description of a model must take at most {LARGEST_HEADER:,} bytes, but this one takes "
            f"{len(header):,}. Leave out columns with very many categories."
        )
    body = _SIZES.pack(FORMAT_VERSION, len(header)) + header + save_arrays(model.arrays)
    write_atomically(path, _FIXED.pack(SIGNATURE, hashlib.sha256(body).digest()) + body)


def read_model_file(path: StrPath) -> ModelFile:
    """Read the file; damage, another kind of file and a newer format each get their own message.

    Nothing is read before its size is checked against the file's, so that memory stays near the size of the file.
    """
    # A pipe that nobody writes to must be opened, too, instead of waiting for one who does.
    no_wait = getattr(os, "O_NONBLOCK", 0)
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | no_wait)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError(f"{path} must be a regular file, but it is a device or a pipe. Give a model file.")
        version = _read_version(file, path, status.st_size)
        if version != FORMAT_VERSION:
            raise ModelFileError(
                f"{path} has model file format {version}, but this version of unskew reads format {FORMAT_VERSION}. "
                "Load it with the version of unskew that wrote it, or a newer one."
            )
        try:
            header = build(dict[str, Any], _read_json(file, status.st_size), "the header")
            arrays = _read_arrays(file, status.st_size)
        except ValueError as error:
            raise ModelFileError(
                f"{path} must hold a JSON header and arrays of numpy's types, but it cannot be read although its "
                f"checksum is right: {str(error).rstrip('.')}. Save the model again."
            ) from None
    return ModelFile(header, arrays)


def _read_version(file: BufferedReader, path: StrPath, size: int) -> int:
    """Version of the format of a whole file; the header comes next."""
    begin = file.read(_FIXED.size)
    if not begin.startswith(SIGNATURE[: len(begin)]):
        raise ModelFileError(
            f"{path} is not an unskew model file, or its first bytes are damaged: it begins with {begin[:8]!r}. Give "
            "the file that `unskew fit` or save() wrote."
        )
    if size < _FIXED.size + _SIZES.size:
        raise ModelFileError(f"{path} is damaged: it ends after {size} bytes. Save the model again.")
    _, checksum = _FIXED.unpack(begin)
    if hashlib.file_digest(file, "sha256").digest() != checksum:
        raise ModelFileError(
            f"{path} is damaged: its checksum does not match its {size} bytes. Copy it again from an undamaged file, "
            "or save the model again."
        )
    file.seek(_FIXED.size)
    (version,) = struct.unpack("<I", file.read(4))
    return int(version)


def _read_json(file: BufferedReader, size: int) -> Any:
    """The JSON that comes next, after its length; the file ends at `size`."""
    begin = file.read(_LENGTH.size)
    length = _LENGTH.unpack(begin)[0] if len(begin) == _LENGTH.size else -1
    if not 0 <= length <= min(LARGEST_HEADER, size - file.tell()):
        raise ValueError(f"its JSON must end within the file and take at most {LARGEST_HEADER} bytes.")
    return read_json(file.read(length))


class _Offsets(NamedTuple):
    begin: int
    end: int


@dataclass(frozen=True)
class _Entry:
    """What safetensors says of an array."""

    dtype: str
    shape: tuple[int, ...]
    data_offsets: _Offsets

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * np.dtype(_TYPES[self.dtype]).itemsize


def _read_arrays(file: BufferedReader, size: int) -> dict[str, np.ndarray]:
    """Arrays in the layout of safetensors, which is read here because its library takes whole files only."""
    entries: dict[str, _Entry] = build(dict[str, _Entry], _read_json(file, size), "arrays")
    start = expected = file.tell()
    for name, entry in sorted(entries.items(), key=lambda item: item[1].data_offsets):
        if entry.dtype not in _TYPES:
            raise ValueError(f"array {name:.60} must be of numpy's types, but its type is {entry.dtype:.20}.")
        begin, end = (start + each for each in entry.data_offsets)
        if min(entry.shape, default=0) < 0 or begin != expected or end != begin + entry.n_bytes:
            raise ValueError(f"array {name:.60} must lie behind the one before and have the size of its shape.")
        expected = end
    if expected != size:
        raise ValueError(f"its arrays must end where the file does, at {size}, but they end at {expected}.")
    return {name: _read_array(file, start, entry) for name, entry in entries.items()}


def _read_array(file: BufferedReader, start: int, entry: _Entry) -> np.ndarray:
    memory = np.empty(entry.n_bytes + ALIGNMENT, dtype=np.uint8)
    aligned = memory[-memory.ctypes.data % ALIGNMENT :][: entry.n_bytes]
    file.seek(start + entry.data_offsets.begin)
    if file.readinto(aligned) != entry.n_bytes:  # type: ignore[arg-type]  # any array of bytes will do
        raise ValueError("it became shorter while it was read.")
    return aligned.view(_TYPES[entry.dtype]).reshape(entry.shape)
