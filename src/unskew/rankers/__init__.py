"""One file per method, found by looking: a new file in this folder is a new method."""

import importlib
import inspect
import os
import pkgutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from torch import nn

from unskew.errors import ModelFileError, closest_name
from unskew.modelfile import read_model_file
from unskew.rankers._base import Ranker
from unskew.rankers._state import ranker_of


@cache
def _rankers() -> dict[str, type[Ranker]]:
    found = []
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            members = vars(importlib.import_module(f"{__name__}.{module.name}")).values()
            found += [each for each in members if inspect.isclass(each) and issubclass(each, Ranker)]
    concrete = {each for each in found if not inspect.isabstract(each)}
    return {each.name: each for each in sorted(concrete, key=lambda each: each.position)}


def methods() -> tuple[str, ...]:
    """Names of all methods, in the paper's order.

    Examples
    --------
    >>> methods()[:3]
    ('conf-auc', 'no-conf', 'ntc')
    """
    return tuple(_rankers())


def ranker_classes() -> tuple[type[Ranker], ...]:
    """Classes of all methods, in the paper's order."""
    return tuple(_rankers().values())


def ranker_class(name: str) -> type[Ranker]:
    """Class of the method of that name."""
    if name not in _rankers():
        raise ValueError(f"there is no method {name!r}, only {', '.join(methods())}.{closest_name(name, methods())}")
    return _rankers()[name]


def make(name: str, **parameters: Any) -> Ranker:
    """Return an unfitted estimator of the method of that name.

    Examples
    --------
    >>> make("conf-auc", network="linear")
    ConfidenceAUC(network='linear')
    """
    kind = ranker_class(name)
    known = inspect.signature(kind).parameters
    for parameter in parameters:
        if parameter not in known:
            raise TypeError(
                f"{kind.__name__} has no parameter {parameter!r}, only {', '.join(known)}."
                f"{closest_name(parameter, known)}"
            )
    return kind(**parameters)


def load(path: str | os.PathLike[str], network: Callable[..., nn.Module] | None = None) -> Ranker:
    """Read a fitted ranker from the file that its `save` wrote; nothing in the file is executed.

    Parameters
    ----------
    path : path
        The model file.
    network : callable, optional
        What was passed as `network` when the model was fitted, if that was a callable.
    """
    model = read_model_file(path)
    name = model.header["method"]
    if name not in _rankers():
        raise ModelFileError(
            f"{path} holds a model of the method {name!r}, written by unskew {model.header['library_version']}, which "
            f"this version does not have (only {', '.join(methods())})."
        )
    return ranker_of(model, ranker_class(name), Path(path), network)
