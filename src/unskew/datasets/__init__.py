"""Data sets by name, and the toy law whose truth is known."""

from collections.abc import Callable

from unskew.datasets import toy
from unskew.datasets.images import load_digits, load_fmnist, load_mnist
from unskew.errors import closest_name
from unskew.records import RawData

_LOADERS: dict[str, Callable[[], RawData]] = {"digits": load_digits, "mnist": load_mnist, "fmnist": load_fmnist}

__all__ = ["load", "names", "toy"]


def names() -> tuple[str, ...]:
    """Names that `load` knows.

    Examples
    --------
    >>> "digits" in names()
    True
    """
    return tuple(_LOADERS)


def load(name: str) -> RawData:
    """Features `X`, true class `y` (0/1) and original `classes` of a data set.

    Examples
    --------
    >>> load("digits").X.shape
    (1797, 64)
    """
    if name not in _LOADERS:
        raise ValueError(f"there is no data set {name!r}, only {', '.join(names())}.{closest_name(name, names())}")
    return _LOADERS[name]()
