"""Rank by how likely positive, from biased positive-unlabeled data with confidence and no negatives.

Names are loaded when they are first used, so that ``import unskew`` is quick and does not load torch.
"""

from importlib import import_module
from typing import Any

from unskew._version import __version__

_SUBMODULES = (
    "datasets",
    "density_ratio",
    "errors",
    "metrics",
    "pu_risk",
    "records",
    "risk",
    "scenario",
    "surrogates",
    "theory",
    "weights",
)
_HOMES = {
    "make": "rankers",
    "methods": "rankers",
    "method_card": "rankers",
    "method_cards": "rankers",
    "load": "rankers",
    "register": "rankers",
    "RiskRanker": "rankers",
    "LabelingRanker": "rankers",
    "fit_each": "comparison",
    "ULSIF": "density_ratio",
    "ParquetRows": "parquet",
}

__all__ = ["__version__", *_SUBMODULES, *_HOMES]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"unskew.{name}")
    if name in _HOMES:
        return getattr(import_module(f"unskew.{_HOMES[name]}"), name)
    if name[:1].isupper():  # the class of a method; a new method needs no line here
        for kind in import_module("unskew.rankers").ranker_classes():
            if kind.__name__ == name:
                return kind
    raise AttributeError(f"module 'unskew' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
