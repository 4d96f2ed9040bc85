"""Rank cases by how likely they are to be positive, from biased positive-unlabeled data with confidence.

Names are loaded when they are first used, so that ``import unskew`` is quick and does not load torch.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from unskew._version import __version__ as __version__

if TYPE_CHECKING:  # for type checkers and editors, which do not call __getattr__; a test holds it to the names below
    from unskew import checks as checks
    from unskew import datasets as datasets
    from unskew import distributed as distributed
    from unskew import errors as errors
    from unskew import metrics as metrics
    from unskew import posterior as posterior
    from unskew import scenario as scenario
    from unskew.checks import check_table as check_table
    from unskew.data import records as records
    from unskew.data.parquet import ParquetRows as ParquetRows
    from unskew.explaining import Explanation as Explanation
    from unskew.explaining import explain as explain
    from unskew.learning import density_ratio as density_ratio
    from unskew.learning.density_ratio import ULSIF as ULSIF
    from unskew.metrics import diagnostics as diagnostics
    from unskew.metrics.suggestions import Suggestions as Suggestions
    from unskew.metrics.suggestions import suggest as suggest
    from unskew.objectives import auc_risk as risk  # noqa: F401
    from unskew.objectives import pu_risk as pu_risk
    from unskew.objectives import surrogates as surrogates
    from unskew.objectives import theory as theory
    from unskew.objectives import weights as weights
    from unskew.rankers import LabelingRanker as LabelingRanker
    from unskew.rankers import RiskRanker as RiskRanker
    from unskew.rankers import load as load
    from unskew.rankers import make as make
    from unskew.rankers import method_card as method_card
    from unskew.rankers import method_cards as method_cards
    from unskew.rankers import methods as methods
    from unskew.rankers import register as register
    from unskew.rankers.all_on_same_data import fit_each as fit_each

# The one table of public names: each with the module that is its home, or that holds it. Classes of methods are not
# listed, because each is found in its own file.
_MODULES = {
    "checks": "checks",
    "datasets": "datasets",
    "density_ratio": "learning.density_ratio",
    "diagnostics": "metrics.diagnostics",
    "distributed": "distributed",
    "errors": "errors",
    "metrics": "metrics",
    "posterior": "posterior",
    "pu_risk": "objectives.pu_risk",
    "records": "data.records",
    "risk": "objectives.auc_risk",
    "scenario": "scenario",
    "surrogates": "objectives.surrogates",
    "theory": "objectives.theory",
    "weights": "objectives.weights",
}
_NAMES = {
    "make": "rankers",
    "methods": "rankers",
    "method_card": "rankers",
    "method_cards": "rankers",
    "load": "rankers",
    "register": "rankers",
    "RiskRanker": "rankers",
    "LabelingRanker": "rankers",
    "fit_each": "rankers.all_on_same_data",
    "check_table": "checks",
    "explain": "explaining",
    "Explanation": "explaining",
    "suggest": "metrics.suggestions",
    "Suggestions": "metrics.suggestions",
    "ULSIF": "learning.density_ratio",
    "ParquetRows": "data.parquet",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"unskew.{_MODULES[name]}")
    if name in _NAMES:
        return getattr(import_module(f"unskew.{_NAMES[name]}"), name)
    if name == "__all__":
        return ["__version__", *_MODULES, *_NAMES, *_method_classes()]
    if name[:1].isupper() and name in (classes := _method_classes()):
        return classes[name]
    raise AttributeError(f"module 'unskew' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__getattr__("__all__"))


def _method_classes() -> dict[str, Any]:
    """Classes of all methods by name, also of those from outside the package."""
    return {kind.__name__: kind for kind in import_module("unskew.rankers").ranker_classes()}


class _PublicModules(MetaPathFinder, Loader):
    """Lets ``import unskew.risk`` find the module in its folder."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.rpartition(".")
        return ModuleSpec(fullname, self) if package == __name__ and name in _MODULES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(f"unskew.{_MODULES[spec.name.rpartition('.')[2]]}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state  # it was executed already, under its own name


sys.meta_path.append(_PublicModules())
