"""One file per method, found by looking: a new file in this folder is a new method; `register` adds others."""

import importlib
import inspect
import os
import pkgutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from torch import nn

from unskew._support.modelfile import ModelFile, read_model_file
from unskew.errors import ModelFileError, closest_name
from unskew.rankers._base import Ranker
from unskew.rankers._by_labeling import LabelingRanker
from unskew.rankers._by_risk import RiskRanker
from unskew.rankers._card import MethodCard, card_of
from unskew.rankers._shared import fit_share, require_team
from unskew.rankers._state import ranker_of

__all__ = [
    "LabelingRanker",
    "MethodCard",
    "Ranker",
    "RiskRanker",
    "fit_share",
    "load",
    "make",
    "method_card",
    "method_cards",
    "methods",
    "ranker_class",
    "ranker_classes",
    "register",
    "require_joins_team",
]

_registered: dict[str, type[Ranker]] = {}


@cache
def _own_rankers() -> dict[str, type[Ranker]]:
    found = []
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            members = vars(importlib.import_module(f"{__name__}.{module.name}")).values()
            found += [each for each in members if inspect.isclass(each) and issubclass(each, Ranker)]
    concrete = {each for each in found if not inspect.isabstract(each)}
    return {each.name: each for each in sorted(concrete, key=lambda each: each.position)}


def _rankers() -> dict[str, type[Ranker]]:
    return {**_own_rankers(), **_registered}


def register(kind: type[Ranker]) -> type[Ranker]:
    """Add a method from outside the package; a class decorator.

    From then on `methods`, `make`, `load` and every comparison in this process know it, after the package's own. The
    class derives from `RiskRanker` (learns by a risk) or `LabelingRanker` (turns the labeling probability into a
    score); `examples/new_method.py` is a complete one.

    Examples
    --------
    A method that derives its score from the labeling probability::

        @unskew.register
        @dataclass(kw_only=True, eq=False, repr=False)
        class Plain(unskew.LabelingRanker):
            name: ClassVar[str] = "plain"
            ...

    >>> import unskew
    >>> unskew.register(unskew.ConfidenceAUC)
    Traceback (most recent call last):
    ValueError: the name 'conf-auc' is taken by ConfidenceAUC. Choose another.
    """
    if not (inspect.isclass(kind) and issubclass(kind, Ranker)):
        raise TypeError(f"register takes a class derived from RiskRanker or LabelingRanker, but it got {kind!r}.")
    if inspect.isabstract(kind):
        missing = ", ".join(sorted(kind.__abstractmethods__))
        raise TypeError(f"a method must be complete, but {kind.__name__} does not define {missing}.")
    wanted = {"name": str, "table_name": str, "assumption": str, "needs": tuple, "scenarios": tuple}
    for name, of_type in wanted.items():
        if not isinstance(found := getattr(kind, name, None), of_type):
            raise TypeError(f"{kind.__name__}.{name} must be a {of_type.__name__}, but it is {found!r}. Set it.")
    if kind.name in _own_rankers():
        raise ValueError(f"the name {kind.name!r} is taken by {_own_rankers()[kind.name].__name__}. Choose another.")
    _registered[kind.name] = kind
    return kind


def method_card(name: str) -> MethodCard:
    """All that is known of the method of that name, as data.

    Examples
    --------
    >>> card = method_card("nnpu")
    >>> card.assumption, card.needs, card.scenarios
    ('SCAR', ('prior',), ('one-sample', 'two-sample'))
    """
    return card_of(ranker_class(name))


def method_cards() -> tuple[MethodCard, ...]:
    """Cards of all methods, in the paper's order.

    Examples
    --------
    >>> cards = method_cards()
    >>> cards[0].name, cards[0].needs
    ('conf-auc', ('confidence',))
    """
    return tuple(card_of(kind) for kind in ranker_classes())


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


def require_joins_team(ranker: Ranker) -> None:
    """Refuse a ranker that workers which hold the rows together cannot learn."""
    require_team(ranker, [kind.name for kind in ranker_classes() if kind.joins_team])


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

    Examples
    --------
    >>> import tempfile
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> ranker = unskew.make("conf-reg").fit(data.X, data.labeled, confidence=data.confidence)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ranker.save(f"{folder}/model.unskew")
    ...     again = unskew.load(f"{folder}/model.unskew")
    >>> bool((again.decision_function(data.X) == ranker.decision_function(data.X)).all())
    True
    """
    return ranker_in(read_model_file(path), path, network)


def ranker_in(
    model: ModelFile, path: str | os.PathLike[str], network: Callable[..., nn.Module] | None = None
) -> Ranker:
    """The fitted ranker of a model file that was read already; `path` is for messages."""
    name, version = model.header.get("method"), model.header.get("library_version")
    if name not in methods():
        raise ModelFileError(
            f"{path} holds a model of the method {name!r}, written by unskew {version}, which this version does not "
            f"have (only {', '.join(methods())}). If unskew.register added it, import its module first."
        )
    return ranker_of(model, ranker_class(name), Path(path), network, ranker_class)
