"""Estimates as notebooks show them: what a terminal shows, under a title, with what a reader has to know below."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from unskew._support.notebook import html_table
from unskew._support.text import Table, auc_text, commas, percent, plural, ranged, short, times
from unskew.metrics.reliability import check_reliability, shows_points

if TYPE_CHECKING:
    from unskew.metrics.audit import AuditEstimate
    from unskew.metrics.cuts import BestCut
    from unskew.metrics.estimates import RankingEstimate, TopRows
    from unskew.metrics.review_curve import ReviewCurve
    from unskew.metrics.sar import SarAUC
    from unskew.metrics.suggestions import Suggestions

MOST_ROWS = 10
"""Rows of a long table that a notebook shows."""
Words = Callable[[float], str]
WORDS_OF_TOP: dict[str, Words] = {"precision": percent, "recall": percent, "lift": times, "expected_positives": commas}


def _cell(found: object, name: str, words: Words, *, with_points: bool = True) -> str:
    """An estimate with its interval, in words; nothing where it is unknown."""
    value, low, high = (getattr(found, f"{name}{end}") for end in ("", "_low", "_high"))
    if value is None or math.isnan(value):
        return "unknown"
    if low == high:
        return words(value)
    return ranged(value, low, high, words, with_point=with_points)


def _level(level: float) -> str:
    return f"estimate ({100 * level:g} % interval)"


def ranking_html(found: RankingEstimate) -> str:
    """Of `RankingEstimate`; below a reliability of 0.3 the intervals alone, as everywhere."""
    points = shows_points(found.reliability)
    rows = [
        ("AUC", ranged(found.auc, found.low, found.high, auc_text, with_point=points)),
        ("share of positives", _cell(found, "prior", percent, with_points=points)),
    ]
    if points and not math.isnan(found.label_freq):
        rows.append(("share of these that is labeled", percent(found.label_freq)))
    rows.append(("reliability", f"{found.reliability:.2f} of 1"))
    return html_table(
        "Ranking, judged without negatives",
        Table(("what", _level(found.level)), rows),
        check_reliability(found.reliability).message,
    )


def sar_auc_html(found: SarAUC) -> str:
    """Of `SarAUC`."""
    rows = [
        ("AUC", ranged(found.auc, found.low, found.high, auc_text)),
        ("share of positives", percent(found.prior)),
        ("labels that the weighted ones are worth", short(found.effective_labeled)),
    ]
    return html_table("AUC by weights, without negatives", Table(("what", _level(found.level)), rows))


def top_html(found: TopRows) -> str:
    """Of `TopRows`."""
    rows = [(name.replace("_", " "), _cell(found, name, words)) for name, words in WORDS_OF_TOP.items()]
    rows.append(("lowest score among them", f"{found.threshold:.6g}"))
    return html_table(f"The {plural(found.n, 'row')} with the highest scores", Table(("what", "estimate"), rows))


def reviews_html(found: ReviewCurve) -> str:
    """Of `ReviewCurve`: some of its places."""
    last = len(found.n) - 1
    places = sorted({round(last * step / (MOST_ROWS - 1)) for step in range(MOST_ROWS)})
    rows = []
    for place in places:
        ends = found.positives_low[place], found.positives_high[place]
        rows.append((commas(found.n[place]), ranged(found.positives[place], *ends, commas)))
    return html_table("Positives by rows reviewed", Table(("rows", "positives among them"), rows))


def cut_html(found: BestCut) -> str:
    """Of `BestCut`."""
    rows = [
        ("rows to review", f"{found.n:,} ({percent(found.share)} of all)"),
        ("positives among them", _cell(found, "expected_positives", commas)),
        ("precision", _cell(found, "precision", percent)),
        ("recall", _cell(found, "recall", percent)),
        ("profit", _cell(found, "profit", short)),
        ("profit of reviewing nothing", _cell(found.nothing, "profit", short)),
        ("profit of reviewing everything", _cell(found.everything, "profit", short)),
    ]
    return html_table("How many rows to review", Table(("what", _level(found.level)), rows))


def audit_html(found: AuditEstimate) -> str:
    """Of `AuditEstimate`."""
    rows = [
        ("share of positives", _cell(found, "prior", percent)),
        ("AUC", _cell(found, "auc", auc_text)),
        (f"precision of the top {found.n_top:,}", _cell(found, "precision", percent)),
        (f"recall of the top {found.n_top:,}", _cell(found, "recall", percent)),
    ]
    title = f"Audit: {found.n_positive:,} of {plural(found.n_checked, 'checked row')} positive, {found.n_rows:,} in all"
    return html_table(title, Table(("what", _level(found.level)), rows), found.calibration)


def suggestions_html(found: Suggestions) -> str:
    """Of `Suggestions`: the first of them."""
    rows = [(str(row), reason) for row, reason in zip(found.rows[:MOST_ROWS], found.reasons, strict=False)]
    more = len(found.rows) - len(rows)
    note = f"and {more:,} more, chosen from {plural(found.n_considered, 'row')}" if more > 0 else ""
    return html_table("Rows to label next, the most useful first", Table(("row", "why"), rows), note)
