"""How many rows to review: of a list that is sorted on disk, and in words for people."""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

import numpy as np

from unskew._support.text import Table, commas, percent, plural, ranged, roughly, short
from unskew.metrics.cuts import BestCut, Costs, Earned, curve_to_carry, cut_on, cut_on_evidence, places_to_stop
from unskew.metrics.evidence import Evidence, plain
from unskew.metrics.reliability import shows_points
from unskew.metrics.review_curve import Number, Steps, curve_of_list
from unskew.practice.fit import why_no_estimate
from unskew.practice.model import TableModel
from unskew.practice.report.charts import profit_chart

CUT_TITLE = "How many rows to review"


def cut_of_sorted(
    parts: Iterable[tuple[np.ndarray, np.ndarray]], n_rows: int, costs: Costs, like: Evidence | None
) -> BestCut:
    """The best cut of a list that comes in parts, scores with probabilities, the highest score first.

    In memory that does not grow with the rows: of the places that are behind, only those of the curve are kept.
    """
    kept, last = Steps.none().at(slice(0)), Steps.none()
    for score, prob in parts:
        if not len(score):
            continue
        more = last.next(score, prob)
        if score[0] != last.threshold[-1]:  # else the part before ended among equal scores
            kept = kept.joined(last)
        kept = kept.joined(more.at(slice(-1)))
        kept = kept.thin(places_to_stop(kept, costs), n_rows) if len(kept.n) else kept
        last = more.at(slice(-1, None))
    steps = kept.joined(last)
    curve, level = curve_to_carry(like)
    return cut_on(curve_of_list(steps.thin(places_to_stop(steps, costs)), curve, level), costs, level)


def cut_of_model(model: TableModel, costs: Costs) -> BestCut:
    """The best cut by what a model file keeps of its estimates."""
    if model.evidence is None:
        raise ValueError(
            "to say how many rows to review, a model file must hold estimates, but this one has none: "
            f"{why_no_estimate(model.source)}. Fit again, or leave --cost-review out."
        )
    return cut_on_evidence(model.evidence, costs)


def points_of(evidence: Evidence | None) -> bool:
    """Whether single values are shown beside their intervals."""
    return evidence is None or shows_points(evidence.estimate.reliability)


def cut_json(cut: BestCut) -> dict[str, Any]:
    """The record as plain data."""
    content: dict[str, Any] = plain(asdict(cut))
    return content


def cut_table(cut: BestCut, *, with_points: bool = True) -> Table:
    """The best cut and what else could be done, each with its interval."""

    def cell(name: str, words: Callable[[float], str]) -> str:
        value, low, high = (getattr(cut, f"{name}{end}") for end in ("", "_low", "_high"))
        return "" if value is None else ranged(value, low, high, words, with_point=with_points)

    rows = [
        ("rows to review", f"{cut.n:,} ({percent(cut.share)} of all)"),
        ("lowest score among them", "" if cut.threshold is None else f"{cut.threshold:.6g}"),
        ("positives among them", cell("expected_positives", commas)),
        ("precision", cell("precision", percent)),
        ("recall", cell("recall", percent)),
        ("profit", cell("profit", short)),
    ]
    others = {"of reviewing nothing": cut.nothing, f"of reviewing all {cut.everything.n:,} rows": cut.everything}
    if cut.at_capacity is not None and cut.unlimited is not None:
        if cut.at_capacity.n != cut.n:
            others[f"of as many as there is capacity for, {cut.at_capacity.n:,}"] = cut.at_capacity
        others[f"of the best {cut.unlimited.n:,} without that limit"] = cut.unlimited
    rows += [(f"profit {name}", _profit(each, short, with_points)) for name, each in others.items()]
    return Table(("what", "estimate"), [row for row in rows if row[1]])


def cut_sentence(cut: BestCut, *, with_points: bool = True) -> str:
    """What to do, and what comes of it."""
    limit = cut.costs.capacity
    if cut.n == 0:
        return _why_nothing(cut)
    rows = f"the {plural(cut.n, 'row')} with the highest {'score' if cut.n == 1 else 'scores'}"
    rows = f"all {plural(cut.n, 'row')}" if cut.n == cut.everything.n else rows
    found = cut.expected_positives, cut.expected_positives_low, cut.expected_positives_high
    noun = " positive" if commas(cut.expected_positives) == "1" and with_points else " positives"
    text = f"Review {rows}: {_about(*found, commas, with_points, noun)}"
    if cut.costs.gain_positive is not None:
        earned = cut.profit, cut.profit_low, cut.profit_high
        text += f", which earns {_about(*earned, roughly, with_points)}."
    else:
        text += f". Reviews and missed positives together cost {_about(*_lost(cut), roughly, with_points)}."
    if cut.unlimited is not None and limit is not None and cut.unlimited.n > cut.n:
        text += f" Without the limit of {plural(limit, 'row')}, it would be best to review {cut.unlimited.n:,}."
    return text


def cut_for_page(cut: BestCut, *, with_points: bool = True) -> dict[str, Any]:
    """What a page shows of the best cut.

    Returns
    -------
    dict with `n` (rows), `sentence` (text), `table` (`Table` of names and values in words) and `chart` (SVG: profit by
    the rows that are reviewed, with its interval as a band; its marks have the classes of the other charts, of which
    `area first` is the band, `line first` the profit, `dot chosen` the best cut, `line chance` the capacity and no
    profit).
    """
    return {
        "n": cut.n,
        "sentence": cut_sentence(cut, with_points=with_points),
        "table": cut_table(cut, with_points=with_points),
        "chart": profit_chart(cut, with_points=with_points),
    }


def _why_nothing(cut: BestCut) -> str:
    limit = cut.costs.capacity
    if limit is not None and cut.unlimited is not None and cut.unlimited.n and cut.first_tie > limit:
        return (
            f"Review nothing: {cut.first_tie:,} rows share the highest score, so none of them goes before the others, "
            f"and only {limit:,} can be reviewed."
        )
    needed = cut.costs.cost_review / cut.costs.worth
    if needed >= 1:
        return "Review nothing: a review costs as much as a positive is worth, or more."
    return (
        f"Review nothing: it would pay only where more than {percent(needed)} of the rows are positive, and by the "
        "estimates the top of the ranking is not."
    )


def _about(
    value: float, low: Number, high: Number, words: Callable[[float], str], with_point: bool, noun: str = ""
) -> str:
    """An estimate in a sentence, with its interval or by its interval alone."""
    if low is None or high is None:
        return f"about {words(value)}{noun}"
    if not with_point:
        return f"between {words(low)} and {words(high)}{noun}"
    return f"about {words(value)}{noun} ({words(low)} to {words(high)})"


def _profit(earned: Earned, words: Callable[[float], str], with_points: bool) -> str:
    if earned.profit_low == earned.profit_high:
        return words(earned.profit)
    return ranged(earned.profit, earned.profit_low, earned.profit_high, words, with_point=with_points)


def _lost(cut: BestCut) -> tuple[float, Number, Number]:
    """The profit with the other sign."""
    low, high = (None if each is None else -each for each in (cut.profit_high, cut.profit_low))
    return -cut.profit, low, high
