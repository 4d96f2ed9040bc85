"""Text files as blocks of whole lines in UTF-8, whatever encoding and compression they have."""

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from unskew.errors import TableError

BLOCK = 4 << 20
LONGEST_LINE = 16 * BLOCK
CONTROL_BYTES = bytes(set(range(1, 32)) - set(b"\t\n\v\f\r"))
NOT_IN_WINDOWS = b"\x81\x8d\x8f\x90\x9d"
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class TextFile:
    """A text file whose encoding is known."""

    path: Path
    encoding: str

    def blocks(self) -> Iterator[bytes]:
        r"""Blocks of UTF-8 that end where a line ends, be it by \n, \r\n or \r."""
        rest = b""
        for chunk in self._utf8_chunks():
            chunk = rest + chunk
            # Not after a return that comes last: the newline that belongs to it may be the next byte.
            cut = max(chunk.rfind(b"\n"), chunk.rfind(b"\r", 0, -1)) + 1
            if cut:
                yield chunk[:cut]
            rest = chunk[cut:]
            if len(rest) > LONGEST_LINE:
                raise TableError(
                    f"{self.path}: lines must be shorter than {LONGEST_LINE >> 20} MiB, but one is not. Export the "
                    "table as CSV, one line for each row."
                )
        if rest:
            yield rest if rest.endswith(b"\r") else rest + b"\n"

    def _utf8_chunks(self) -> Iterator[bytes]:
        chunks = _chunks_of_text(self.path)
        if self.encoding == "utf-8":
            yield next(chunks, b"").removeprefix(codecs.BOM_UTF8)
            yield from chunks
        else:
            decoder = codecs.getincrementaldecoder(self.encoding)()
            yield from (decoder.decode(chunk).encode() for chunk in chunks)


def open_text(path: Path) -> TextFile:
    """Find the encoding from the whole file: UTF-16 if its mark comes first, UTF-8 if that fits, else an 8-bit one."""
    with naming_damaged_text_file(path):
        with _open_bytes(path) as file:
            utf16 = file.read(2) in UTF16_MARKS
        return TextFile(path, _check_utf16(path) if utf16 else _eight_bit_or_utf8(path))


@contextmanager
def naming_damaged_text_file(path: Path) -> Iterator[None]:
    """Name the file in the error if its compression is damaged."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise TableError(
            f"{path}: a compressed file must be whole, but it cannot be unpacked ({error}). Compress or copy it again."
        ) from None


def _open_bytes(path: Path) -> BinaryIO:
    with open(path, "rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
    return io.BufferedReader(gzip.GzipFile(path)) if compressed else open(path, "rb")


def _chunks_of_text(path: Path) -> Iterator[bytes]:
    with _open_bytes(path) as file:
        yield from iter(lambda: file.read(BLOCK), b"")


def _check_utf16(path: Path) -> str:
    decoder = codecs.getincrementaldecoder("utf-16")()
    try:
        for chunk in _chunks_of_text(path):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise TableError(
            f"{path}: the file must be UTF-16 as its first bytes say, but it cannot be decoded ({error.reason}). Save "
            "it as CSV in UTF-8."
        ) from None
    return "utf-16"


def _eight_bit_or_utf8(path: Path) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")()
    utf8, control, windows = True, False, True
    for chunk in _chunks_of_text(path):
        if b"\0" in chunk:
            raise TableError(
                f"{path}: a table must be text (CSV) or Parquet, but the file holds zero bytes: it is a binary file, "
                "or UTF-16 without the mark at its start. Save it as CSV in UTF-8."
            )
        utf8 = utf8 and _decodes_as(decoder, chunk)
        control = control or len(chunk.translate(None, CONTROL_BYTES)) < len(chunk)
        windows = windows and len(chunk.translate(None, NOT_IN_WINDOWS)) == len(chunk)
    if utf8 and _decodes_as(decoder, b"", final=True):
        return "utf-8"
    if control:
        raise TableError(
            f"{path}: a table must be text (CSV) or Parquet, but the file is not UTF-8 and holds control characters, "
            "as binary files do. Save it as CSV in UTF-8."
        )
    return "cp1252" if windows else "latin-1"


def _decodes_as(decoder: codecs.IncrementalDecoder, chunk: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError:
        return False
    return True
