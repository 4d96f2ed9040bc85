"""Records from plain JSON, by the types that they declare: nothing else gets in, not even from a hand-made file."""

import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def build(kind: Any, value: Any, place: str) -> Any:
    """The value as what the type says: a data class, a named tuple, a tuple, a number, a text, or None.

    Raises
    ------
    ValueError
        That names the place, what must be there, and what is.

    Examples
    --------
    >>> build(tuple[float, ...], [1, 2.5], "weights")
    (1.0, 2.5)
    """
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        (inner,) = (each for each in get_args(kind) if each is not type(None))
        return None if value is None else build(inner, value, place)
    if origin is Literal:
        return _expect_one_of(get_args(kind), value, place)
    if is_dataclass(kind):
        return _build_record(kind, value, place)
    if origin is tuple:
        items = _expect(value, list, "a list", place)
        return tuple(build(get_args(kind)[0], each, f"{place}[{number}]") for number, each in enumerate(items))
    if hasattr(kind, "_fields"):
        items = _expect(value, list, "a list", place)
        hints = get_type_hints(kind)
        if len(items) != len(hints):
            raise ValueError(f"{place} must have {len(hints)} entries, but it has {len(items)}.")
        return kind(*(build(hints[name], each, f"{place}.{name}") for name, each in zip(hints, items, strict=True)))
    return _build_plain(kind, value, place)


def _build_record(kind: Any, value: Any, place: str) -> Any:
    content = _expect(value, Mapping, "an object", place)
    # What has a default came later: files from before do not have it.
    missing = [each.name for each in fields(kind) if each.name not in content and each.default is MISSING]
    if missing:
        raise ValueError(f"{place} must hold {', '.join(missing)}, but it does not. It is of another version.")
    hints = get_type_hints(kind)
    present = [each.name for each in fields(kind) if each.name in content]
    return kind(**{name: build(hints[name], content[name], f"{place}.{name}") for name in present})


def _build_plain(kind: Any, value: Any, place: str) -> Any:
    if kind is float:
        number = _expect(value, int | float, "a number", place)
        if isinstance(number, bool) or not math.isfinite(number):
            raise ValueError(f"{place} must be a finite number, but it is {number!r}.")
        return float(number)
    if kind is int and isinstance(value, bool):
        raise ValueError(f"{place} must be a whole number, but it is {value!r}.")
    return _expect(value, kind, {int: "a whole number", str: "a text"}[kind], place)


def _expect_one_of(choices: tuple[Any, ...], value: Any, place: str) -> Any:
    if value not in choices:
        raise ValueError(f"{place} must be one of {', '.join(map(repr, choices))}, but it is {value!r:.60}.")
    return value


def _expect(value: Any, kind: Any, name: str, place: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{place} must be {name}, but it is {value!r:.60}.")
    return value
