"""All that a report shows of a model, as one record that can be kept as JSON inside the model file."""

from unskew.metrics._gather import gather_evidence
from unskew.metrics.evidence_records import (
    SHARES,
    Estimate,
    Evidence,
    Histogram,
    Risk,
    ThresholdCurve,
    ThresholdRow,
    TrainingHistory,
    first_cut,
    threshold_table,
)

__all__ = [
    "SHARES",
    "ThresholdCurve",
    "Estimate",
    "Evidence",
    "Histogram",
    "Risk",
    "ThresholdRow",
    "TrainingHistory",
    "first_cut",
    "gather_evidence",
    "threshold_table",
]
