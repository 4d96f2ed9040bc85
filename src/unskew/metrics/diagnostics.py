"""What the fitted weights say: effective sample size, tail, positivity, calibration, and what labels over-represent."""

from unskew.metrics.checks import LEVELS, NO_NEGATIVES, Finding, diagnose
from unskew.metrics.pareto import ParetoTail, pareto_tail
from unskew.metrics.shifts import Shift, Unit, over_representation

__all__ = [
    "LEVELS",
    "NO_NEGATIVES",
    "Finding",
    "ParetoTail",
    "Shift",
    "Unit",
    "diagnose",
    "over_representation",
    "pareto_tail",
]
