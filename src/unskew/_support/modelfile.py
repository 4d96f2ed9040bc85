"""The model file: a checksum, a JSON header and arrays, in one file that holds data only.

Layout: 8 bytes of signature; 32 bytes of SHA-256 over all that follows; 4 bytes of format version; 8 bytes of header
length; the header as JSON; the arrays as safetensors. Signature, checksum and version stay where they are in every
future format, so that any version of the library can tell damage from age.
"""

import hashlib
import json
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from unskew._support.files import write_atomically
from unskew.errors import ModelFileError

SIGNATURE = b"\x93UNSKEW\n"
FORMAT_VERSION = 1
_FIXED = struct.Struct("<8s32s")
_SIZES = struct.Struct("<IQ")


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds: a JSON-able header and named arrays."""

    header: dict[str, Any]
    arrays: dict[str, np.ndarray]


def write_model_file(path: str | os.PathLike[str], model: ModelFile) -> None:
    """Write the file whole or not at all."""
    header = json.dumps(model.header, allow_nan=False).encode()
    body = _SIZES.pack(FORMAT_VERSION, len(header)) + header + save_arrays(model.arrays)
    write_atomically(path, _FIXED.pack(SIGNATURE, hashlib.sha256(body).digest()) + body)


def read_model_file(path: str | os.PathLike[str]) -> ModelFile:
    """Read the file; damage, another kind of file and a newer format are each told as what they are."""
    content = Path(path).read_bytes()
    if len(content) < _FIXED.size + _SIZES.size and SIGNATURE.startswith(content[:8]):
        raise ModelFileError(f"{path} is damaged: it ends after {len(content)} bytes. Save the model again.")
    if not content.startswith(SIGNATURE):
        raise ModelFileError(
            f"{path} is no model file of unskew, or its first bytes are damaged: it begins with {content[:8]!r}. "
            "Give the file that save() wrote."
        )
    _, checksum = _FIXED.unpack_from(content)
    body = content[_FIXED.size :]
    if hashlib.sha256(body).digest() != checksum:
        raise ModelFileError(
            f"{path} is damaged: its checksum does not match its {len(content)} bytes. Copy it again from where it is "
            "whole, or save the model again."
        )
    version, header_length = _SIZES.unpack_from(body)
    if version != FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has model file format {version}, and this version of unskew reads format {FORMAT_VERSION}. Load "
            "it with the version of unskew that wrote it, or a newer one."
        )
    header_end = _SIZES.size + header_length
    try:
        header, arrays = json.loads(body[_SIZES.size : header_end]), load_arrays(body[header_end:])
    except (ValueError, LookupError, TypeError, RecursionError, SafetensorError) as error:
        # A type of numbers that numpy does not have (BF16, F8) is told by its name alone, as a KeyError.
        raise ModelFileError(
            f"{path} must hold a JSON header and arrays of numpy's types, but it cannot be read although its checksum "
            f"is right ({type(error).__name__}: {error}). Save the model again."
        ) from error
    if not isinstance(header, dict):
        raise ModelFileError(f"{path} must say in its header what it holds, but that is a {type(header).__name__}.")
    return ModelFile(header, arrays)
