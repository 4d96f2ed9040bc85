"""Columns of a SAS transport file (version 5), in which the CDC publishes its surveys (SAS technical paper TS-140).

pandas would read hundreds of columns to keep thirty, with many times the memory; the format is small.
"""

import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

_CARD = 80
_HEADER = b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!"
_MEMBER = b"HEADER RECORD*******MEMBER  HEADER RECORD!!!!!!!"
_VARIABLES = b"HEADER RECORD*******NAMESTR HEADER RECORD!!!!!!!"
_ROWS = b"HEADER RECORD*******OBS     HEADER RECORD!!!!!!!"
_BLOCK_BYTES = 1 << 26
# A missing number is a full stop, an underscore or a letter, and zeros.
_MISSING = np.frombuffer(b"._ABCDEFGHIJKLMNOPQRSTUVWXYZ", np.uint8)


class _XptVariable(NamedTuple):
    name: str
    is_number: bool
    length: int
    position: int


def read_xpt(path: Path, columns: Collection[str]) -> dict[str, np.ndarray]:
    """Those of the columns that the file has: numbers as float64 with NaN for missing, texts as bytes.

    `path` is the file itself or a zip archive that holds it and nothing else.
    """
    with _opened_xpt(path) as file:
        variables = _read_header(file, path)
        wanted = [each for each in variables if each.name in columns]
        width = max(each.position + each.length for each in variables)
        blocks = [[_xpt_column(rows, each) for each in wanted] for rows in _row_blocks(file, width, path)]
    if not blocks:
        raise ValueError(f"{path} must have rows after its header, but it has none. Get it again.")
    joined = [np.concatenate(parts) for parts in zip(*blocks, strict=True)]
    return {each.name: values for each, values in zip(wanted, joined, strict=True)}


@contextmanager
def _opened_xpt(path: Path) -> Iterator[IO[bytes]]:
    if path.suffix.lower() != ".zip":
        with path.open("rb") as file:
            yield file
        return
    try:
        with zipfile.ZipFile(path) as archive:
            # The CDC's own archives have a space after the name.
            members = [name for name in archive.namelist() if name.strip().lower().endswith(".xpt")]
            if len(members) != 1:
                raise ValueError(
                    f"{path} must hold one .XPT file, but it holds {archive.namelist()[:5]}. Get it again."
                )
            with archive.open(members[0]) as file:
                yield file
    except (zipfile.BadZipFile, EOFError, zlib.error, OSError, RuntimeError) as error:
        raise ValueError(f"{path} must be a complete zip archive, but it is not: {error}. Get it again.") from error


def _read_header(file: IO[bytes], path: Path) -> list[_XptVariable]:
    """Variables of the first table, by name and place in a row; `file` is left at the first row."""
    cards = [file.read(_CARD) for _ in range(8)]
    if not (cards[0].startswith(_HEADER) and cards[3].startswith(_MEMBER) and cards[7].startswith(_VARIABLES)):
        raise ValueError(
            f"{path} must be a SAS transport file of version 5, but it begins with {cards[0][:48]!r}. Get it again."
        )
    try:
        size, count = int(cards[3][74:78]), int(cards[7][54:58])
    except ValueError as error:
        raise ValueError(f"{path} has a damaged header: {error}. Get it again.") from error
    described = file.read(-(-count * size // _CARD) * _CARD)
    if not count or size < 88 or len(described) < count * size or not file.read(_CARD).startswith(_ROWS):
        raise ValueError(f"{path} must describe its {count} columns before its rows, but it does not. Get it again.")
    variables = [_xpt_variable(described[start : start + size]) for start in range(0, count * size, size)]
    if any(each.length < 1 or (each.is_number and not 2 <= each.length <= 8) for each in variables):
        raise ValueError(f"{path} must have numbers of 2 to 8 bytes, but its header says otherwise. Get it again.")
    return variables


def _xpt_variable(record: bytes) -> _XptVariable:
    kind, length, position = (int.from_bytes(record[start:stop], "big") for start, stop in ((0, 2), (4, 6), (84, 88)))
    return _XptVariable(record[8:16].decode("ascii", "replace").strip().upper(), kind == 1, length, position)


def _row_blocks(file: IO[bytes], width: int, path: Path) -> Iterator[np.ndarray]:
    """Rows as bytes of shape (n, width), many at a time; blanks fill the file up to whole cards."""
    rest = b""
    while content := file.read(_BLOCK_BYTES):
        rest += content
        # The last card may be blanks, and is kept until the end of the file is seen.
        whole = max(0, (len(rest) - _CARD) // width)
        if whole:
            yield _xpt_rows(rest, whole, width)
            rest = rest[whole * width :]
    whole = len(rest) // width
    left = rest[whole * width :]
    if left.strip(b" "):
        raise ValueError(
            f"{path} must end with a whole row of {width} bytes, but {len(left)} bytes are left over: it was cut off. "
            "Get it again."
        )
    rows = _xpt_rows(rest, whole, width)
    filled = np.flatnonzero((rows != ord(" ")).any(axis=1))
    if len(filled):
        yield rows[: filled[-1] + 1]


def _xpt_rows(content: bytes, n: int, width: int) -> np.ndarray:
    return np.frombuffer(content, np.uint8, count=n * width).reshape(n, width)


def _xpt_column(rows: np.ndarray, variable: _XptVariable) -> np.ndarray:
    cells = np.ascontiguousarray(rows[:, variable.position : variable.position + variable.length])
    return _ibm_numbers(cells) if variable.is_number else np.char.strip(cells.view(f"S{variable.length}")[:, 0])


def _ibm_numbers(cells: np.ndarray) -> np.ndarray:
    """IBM's hexadecimal floating point: sign, exponent of 16 in 7 bits, fraction; cut off on the right if shorter."""
    padded = np.zeros((len(cells), 8), dtype=np.uint8)
    padded[:, : cells.shape[1]] = cells
    bits = padded.view(">u8")[:, 0].astype(np.uint64)
    fraction = (bits & np.uint64((1 << 56) - 1)).astype(np.float64)
    exponent = ((bits >> np.uint64(56)) & np.uint64(0x7F)).astype(np.int64)
    values = np.ldexp(fraction, 4 * (exponent - 64) - 56)
    values[bits >> np.uint64(63) == 1] *= -1
    values[(fraction == 0) & np.isin(padded[:, 0], _MISSING)] = np.nan
    return values
