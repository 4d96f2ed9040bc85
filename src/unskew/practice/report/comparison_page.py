"""The page of a comparison: which method to use, why, and how sure that is."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from unskew.metrics.recommend import Compared
from unskew.practice.report.page import render, scale_marks


def comparison_page(
    file: str,
    data_facts: Sequence[tuple[str, str]],
    compared: Sequence[Compared],
    recommended: str,
    reason: str,
    right: str | None = None,
) -> str:
    """One self-contained HTML page about a file; `right` says how good the recommendation was, if that is known."""
    ordered = sorted(compared, key=lambda each: math.inf if each.auc is None else -each.auc)
    shown = [value for each in ordered if each.auc is not None for value in (each.low, each.auc, each.true_auc)]
    start = min(0.9, math.floor(10 * min((each for each in shown if each is not None), default=0.0)) / 10)
    drawn = [
        (each, None if each.auc is None else scale_marks(start, each.low, each.high, each.auc, each.true_auc))
        for each in ordered
    ]
    answer: dict[str, Any] = {"recommended": recommended, "reason": reason, "right": right}
    return render(
        "comparison.html",
        **answer,
        file=file,
        data_facts=data_facts,
        drawn=drawn,
        start=start,
        with_truth=any(each.true_auc is not None for each in ordered),
        content={**answer, "compared": [asdict(each) for each in ordered]},
    )
