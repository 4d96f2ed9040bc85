"""How good a ranking is: with the true class, and without one negative label."""

from unskew.metrics.crossval import OutOfFold, cross_val_sar_auc, out_of_fold, out_of_fold_labeling
from unskew.metrics.paired import PairedDifference, paired_difference
from unskew.metrics.sar import SarAUC, SarCurves, sar_auc, sar_curves
from unskew.metrics.scorer import SarScorer, make_sar_scorer
from unskew.metrics.summary import RunSummary, mean_over_priors, not_worse_than_best, paired_t_test
from unskew.objectives.auc import auc

__all__ = [
    "OutOfFold",
    "PairedDifference",
    "RunSummary",
    "SarAUC",
    "SarCurves",
    "SarScorer",
    "auc",
    "cross_val_sar_auc",
    "make_sar_scorer",
    "mean_over_priors",
    "not_worse_than_best",
    "out_of_fold",
    "out_of_fold_labeling",
    "paired_difference",
    "paired_t_test",
    "sar_auc",
    "sar_curves",
]
