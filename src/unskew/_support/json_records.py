"""Records from plain JSON, by the types that they declare: nothing else gets in, not even from a crafted file."""

import json
import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from reprlib import repr as short
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

_PLAIN = {bool: "true or false", int: "a whole number", float: "a finite number", str: "a text"}


def read_json(content: bytes) -> Any:
    """The value of a JSON text, which has to be strict: no NaN, no infinity, no repeated key, numbers of 64 bits.

    Examples
    --------
    >>> read_json(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    ValueError: a JSON object must hold each key once, but it holds 'a' twice.
    """
    try:
        hooks: dict[str, Any] = {
            "parse_constant": _finite_number,
            "parse_float": _finite_number,
            "parse_int": _whole_number,
        }
        return json.loads(content.decode(), object_pairs_hook=_without_repeats, **hooks)
    except RecursionError:
        raise ValueError("JSON must not be nested deeper than Python can read, but it is.") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for place, key in enumerate(keys) if key in keys[:place])
        raise ValueError(f"a JSON object must hold each key once, but it holds {short(repeated)} twice.")
    return content


def _finite_number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"numbers in JSON must be finite, but one is {text[:20]}.")
    return value


def _whole_number(text: str) -> int:
    if len(text) > 20 or not -(2**63) <= int(text) < 2**64:
        raise ValueError(f"whole numbers in JSON must fit into 64 bits, but one is {text[:20]}...")
    return int(text)


def build(kind: Any, value: Any, place: str) -> Any:
    """The value as what the type says: a data class, a named tuple, a tuple, a mapping, a number, a text, or None.

    Raises
    ------
    ValueError
        That names the place, what must be there, and what is.

    Examples
    --------
    >>> build(tuple[float, ...], [1, 2.5], "weights")
    (1.0, 2.5)
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin in (Union, types.UnionType):
        (wanted,) = (each for each in inner if each is not type(None))
        return None if value is None else build(wanted, value, place)
    if origin is Literal:
        if value not in inner:
            raise ValueError(f"{place} must be one of {', '.join(map(repr, inner))}, but it is {short(value)}.")
        return value
    if is_dataclass(kind):
        return _build_record(kind, value, place)
    if origin is dict:
        items = _expect_kind(value, Mapping, "an object", place).items()
        return {key: build(inner[1], each, f"{place}.{key:.60}") for key, each in items}
    if origin is tuple:
        items = _expect_kind(value, list, "a list", place)
        return tuple(build(inner[0], each, f"{place}[{number}]") for number, each in enumerate(items))
    if hasattr(kind, "_fields"):
        items = _expect_kind(value, list, "a list", place)
        hints = get_type_hints(kind)
        if len(items) != len(hints):
            raise ValueError(f"{place} must have {len(hints)} entries, but it has {len(items)}.")
        return kind(*(build(hints[name], each, f"{place}.{name}") for name, each in zip(hints, items, strict=True)))
    return _build_plain(kind, value, place)


def _build_record(kind: Any, value: Any, place: str) -> Any:
    content = _expect_kind(value, Mapping, "an object", place)
    # What has a default came later: files from before do not have it.
    missing = [each.name for each in fields(kind) if each.name not in content and each.default is MISSING]
    if missing:
        raise ValueError(f"{place} must hold {', '.join(missing)}, but it does not.")
    hints = get_type_hints(kind)
    present = [each.name for each in fields(kind) if each.name in content]
    return kind(**{name: build(hints[name], content[name], f"{place}.{name}") for name in present})


def _build_plain(kind: Any, value: Any, place: str) -> Any:
    accepted = (int, float) if kind is float else kind
    if isinstance(value, bool) and kind is not bool:  # which Python counts among the whole numbers
        accepted = ()
    number = _expect_kind(value, accepted, _PLAIN[kind], place)
    if kind is float and not math.isfinite(number):
        raise ValueError(f"{place} must be a finite number, but it is {number!r}.")
    return float(number) if kind is float else number


def _expect_kind(value: Any, kind: Any, name: str, place: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{place} must be {name}, but it is {short(value)}.")
    return value
