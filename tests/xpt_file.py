"""Writes small SAS transport files (version 5), by the layout of SAS technical paper TS-140."""

import math
import struct

MISSING = None
_CARD = 80


def ibm_float(value, length=8):
    """IBM's hexadecimal floating point, cut off on the right; None is SAS's missing value."""
    if value is MISSING:
        return b"." + bytes(length - 1)
    if value == 0:
        return bytes(length)
    exponent = 64
    fraction = abs(value)
    while fraction >= 1:
        fraction, exponent = fraction / 16, exponent + 1
    while fraction < 1 / 16:
        fraction, exponent = fraction * 16, exponent - 1
    first = (0x80 if value < 0 else 0) | exponent
    return (bytes([first]) + math.floor(fraction * 2**56).to_bytes(7, "big"))[:length]


def write_xpt(path, columns, lengths=None):
    """`columns`: values by name, numbers (None is missing) or texts; `lengths`: bytes of a number, 8 if not given."""
    lengths = lengths or {}
    variables = []
    for name, values in columns.items():
        is_text = isinstance(values[0], str)
        variables.append((name, is_text, max(map(len, values)) if is_text else lengths.get(name, 8)))
    described, position = b"", 0
    for number, (name, is_text, length) in enumerate(variables, start=1):
        head = struct.pack(">hhhh", 2 if is_text else 1, 0, length, number)
        texts = name.encode().ljust(8) + b"a label".ljust(40) + b" " * 8
        described += head + texts + bytes(8) + b" " * 8 + bytes(4) + struct.pack(">i", position) + bytes(52)
        position += length
    content = _header("LIBRARY", 0) + _real_header("SAS", "SASLIB") + b"16FEB11:10:07:55".ljust(_CARD)
    content += b"HEADER RECORD*******MEMBER  HEADER RECORD!!!!!!!000000000000000001600000000140  "
    content += _header("DSCRPTR", 0) + _real_header("DATA", "SASDATA") + b"16FEB11:10:07:55".ljust(_CARD)
    content += _header("NAMESTR", len(variables)) + _filled(described) + _header("OBS", 0)
    rows = b""
    for row in zip(*columns.values(), strict=True):
        for value, (_, is_text, length) in zip(row, variables, strict=True):
            rows += value.encode().ljust(length) if is_text else ibm_float(value, length)
    path.write_bytes(content + _filled(rows))


def _header(name, count):
    return f"HEADER RECORD*******{name:8}HEADER RECORD!!!!!!!{count:010d}{0:020d}".encode().ljust(_CARD)


def _real_header(name, kind):
    return f"SAS     {name:8}{kind:8}9.1     LINUX".encode().ljust(64) + b"16FEB11:10:07:55"


def _filled(content):
    return content + b" " * (-len(content) % _CARD)
