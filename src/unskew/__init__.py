"""Rank by how likely positive, from biased positive-unlabeled data with confidence and no negatives.

Names are loaded when they are first used, so that ``import unskew`` is quick and does not load torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unskew._version import __version__

if TYPE_CHECKING:  # for type checkers and editors, which do not call __getattr__; a test holds it to the names below
    from unskew import datasets as datasets
    from unskew import density_ratio as density_ratio
    from unskew import errors as errors
    from unskew import metrics as metrics
    from unskew import pu_risk as pu_risk
    from unskew import records as records
    from unskew import risk as risk
    from unskew import scenario as scenario
    from unskew import surrogates as surrogates
    from unskew import theory as theory
    from unskew import weights as weights
    from unskew.comparison import fit_each as fit_each
    from unskew.density_ratio import ULSIF as ULSIF
    from unskew.parquet import ParquetRows as ParquetRows
    from unskew.rankers import LabelingRanker as LabelingRanker
    from unskew.rankers import RiskRanker as RiskRanker
    from unskew.rankers import load as load
    from unskew.rankers import make as make
    from unskew.rankers import method_card as method_card
    from unskew.rankers import method_cards as method_cards
    from unskew.rankers import methods as methods
    from unskew.rankers import register as register
    from unskew.rankers.conf_auc import ConfidenceAUC as ConfidenceAUC
    from unskew.rankers.lbe import LabelingBiasEstimation as LabelingBiasEstimation
    from unskew.rankers.nnpu import NonNegativePU as NonNegativePU
    from unskew.rankers.no_conf import UnconfidentAUC as UnconfidentAUC
    from unskew.rankers.npu import NoisyPU as NoisyPU
    from unskew.rankers.ntc import NonTraditional as NonTraditional
    from unskew.rankers.pconf import PositiveConfidence as PositiveConfidence
    from unskew.rankers.pg import ProbabilisticGap as ProbabilisticGap
    from unskew.rankers.puauc import PositiveUnlabeledAUC as PositiveUnlabeledAUC
    from unskew.rankers.pusb import SelectionBiasPU as SelectionBiasPU
    from unskew.rankers.sar_em import SelectedAtRandomEM as SelectedAtRandomEM

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
_METHODS = (  # their classes
    "ConfidenceAUC",
    "LabelingBiasEstimation",
    "NoisyPU",
    "NonNegativePU",
    "NonTraditional",
    "PositiveConfidence",
    "PositiveUnlabeledAUC",
    "ProbabilisticGap",
    "SelectedAtRandomEM",
    "SelectionBiasPU",
    "UnconfidentAUC",
)

__all__ = ["__version__", *_SUBMODULES, *_HOMES, *_METHODS]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"unskew.{name}")
    if name in _HOMES:
        return getattr(import_module(f"unskew.{_HOMES[name]}"), name)
    if name[:1].isupper():  # the class of a method, also of one from outside the package
        for kind in import_module("unskew.rankers").ranker_classes():
            if kind.__name__ == name:
                return kind
    raise AttributeError(f"module 'unskew' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
