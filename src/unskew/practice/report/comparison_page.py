"""The page of a comparison: which method to use, why, and how sure that is."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from unskew._support.text import percent, ranged
from unskew.metrics.reliability import NOT_SEEN_FROM_INSIDE
from unskew.practice.report.page import render, scale_marks
from unskew.practice.report.story import comparison_story, reliability_in_words, steps_after_comparison

if TYPE_CHECKING:
    from unskew.practice.compare import Comparison

TITLES = {
    "found": "What was found",
    "answer": "Which method, and how sure is that?",
    "next": "What to do next",
    "ranking": "How good is each?",
    "appendix": "Appendix: the details",
}
"""Sections in the order of the page."""


def comparison_page(
    file: str,
    data_facts: Sequence[tuple[str, str]],
    result: "Comparison",
    counts: tuple[int, int] | None = None,
    fit_command: str = "",
) -> str:
    """One self-contained HTML page about a file.

    `counts` are its rows and the labeled ones among them; `fit_command` trains the recommended method on it.
    """
    shown = [value for each in result.compared for value in (each.low, each.auc, each.true_auc) if value is not None]
    start = min(0.9, math.floor(10 * min(shown)) / 10)
    with_point = result.shows_points
    drawn = [
        (each, scale_marks(start, each.low, each.high, each.auc if with_point else None, each.true_auc))
        for each in result.compared
    ]
    content: dict[str, Any] = asdict(result)
    return render(
        "comparison.html",
        **content,
        file=file,
        titles=TITLES,
        parts=list(TITLES.items()),
        story=comparison_story(file, counts, result.compared, result.recommended, with_points=with_point),
        sure=reliability_in_words(result.reliability),
        steps=steps_after_comparison(file, result.recommended, fit_command),
        data_facts=data_facts,
        drawn=drawn,
        start=start,
        points=with_point,
        share=ranged(result.prior, result.prior_low, result.prior_high, percent, with_point=with_point),
        not_seen=NOT_SEEN_FROM_INSIDE,
        with_truth=any(each.true_auc is not None for each in result.compared),
        content=content,
    )
