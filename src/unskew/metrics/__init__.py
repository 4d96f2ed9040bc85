"""How good a ranking is: with the true class, and without one negative label."""

from unskew.metrics._audit_design import AuditSample
from unskew.metrics.audit import AuditEstimate, audit_estimate, audit_sample
from unskew.metrics.crossval import OutOfFold, cross_val_sar_auc, out_of_fold, out_of_fold_labeling
from unskew.metrics.cuts import BestCut, Costs, Earned, ProfitCurve, best_cut, best_cut_of_list
from unskew.metrics.estimates import RankingEstimate, TopRows, compare_rankings, estimate_ranking
from unskew.metrics.sar import PairedDifference, SarAUC, SarCurves, paired_difference, sar_auc, sar_curves
from unskew.metrics.scorer import SarScorer, make_sar_scorer
from unskew.metrics.suggestions import Suggestions, suggest
from unskew.objectives.auc import auc

__all__ = [
    "best_cut_of_list",
    "best_cut",
    "ProfitCurve",
    "Earned",
    "Costs",
    "BestCut",
    "AuditEstimate",
    "AuditSample",
    "OutOfFold",
    "PairedDifference",
    "RankingEstimate",
    "SarAUC",
    "SarCurves",
    "SarScorer",
    "Suggestions",
    "TopRows",
    "auc",
    "audit_estimate",
    "audit_sample",
    "compare_rankings",
    "cross_val_sar_auc",
    "estimate_ranking",
    "make_sar_scorer",
    "out_of_fold",
    "out_of_fold_labeling",
    "paired_difference",
    "sar_auc",
    "sar_curves",
    "suggest",
]
