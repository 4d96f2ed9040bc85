"""The page of a comparison: which method to take, why, and how sure that is."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape

from unskew._support.text import auc_text, interval, percent
from unskew.metrics.diagnostics import NO_NEGATIVES
from unskew.practice.report.interactive import embedded_json
from unskew.practice.report.page import render_document
from unskew.practice.report.parts import facts, key, section
from unskew.practice.report.words import exact


@dataclass(frozen=True)
class Compared:
    """A method in a comparison.

    Attributes
    ----------
    name, table_name : str
    auc, low, high : float or None
        AUC estimated without negatives, with its interval; None or NaN where none can be told.
    prior : float or None
        Estimated share of positives.
    seconds : float or None
        What the cross-validation took.
    true_auc : float or None
        Where the true classes are known.
    difference_low, difference_high : float or None
        Paired interval of its AUC minus that of the recommended method; None for that itself. Wide enough that those of
        all methods hold together.
    """

    name: str
    table_name: str
    auc: float | None
    low: float | None
    high: float | None
    prior: float | None
    seconds: float | None
    true_auc: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None


def doubt(auc: float | None, low: float | None, high: float | None) -> str:
    """Why an estimate is too rough to call its method better than others, as a clause; empty where it is not.

    Examples
    --------
    >>> doubt(0.7, 0.013, 1.0), doubt(0.9, 0.85, 0.93)
    ('its interval, 0.013 to 1.000, contains 0.5, which is chance', '')
    """
    if _known(low, 0.0) <= 0.5 <= _known(high, 1.0):
        return f"its interval, {interval(low, high)}, contains 0.5, which is chance"
    if _known(auc, 0.5) in (0.0, 1.0):
        return "the estimate lies at the very end of what an AUC can be, where chance took it"
    return ""


def recommend(compared: Sequence[Compared]) -> tuple[str, str]:
    """The method that the others are compared with, or that of the highest estimate; and a reason.

    Where exactly one method has no difference, it is the one that the others were compared with.

    Examples
    --------
    >>> recommend([Compared("a", "A", 0.9, 0.85, 0.93, 0.2, 5.0), Compared("b", "B", 0.7, 0.6, 0.8, 0.2, 5.0)])[0]
    'a'
    """
    if not compared:
        raise ValueError("there must be a method to recommend, but none was compared.")
    best = max(compared, key=lambda each: (_known(each.auc, -math.inf), each.difference_low is None))
    if not math.isfinite(_known(best.auc, math.nan)):
        return best.name, (
            f"No method's AUC can be told: {NO_NEGATIVES}. None is better than another by these data; the first is "
            "named."
        )
    reason = f"{best.name} has the highest AUC estimated without negatives, {auc_text(best.auc)}"
    why = doubt(best.auc, best.low, best.high)
    reference = [each for each in compared if each.difference_low is None]
    chosen = reference[0] if len(reference) == 1 and (why or _may_be_as_good(best)) else best
    bet = f"{chosen.name} assumes the least of how labels were given, and is the better bet then."
    if why:
        what = "how good it is" if len(compared) == 1 else "which method is best"
        reason = f"{reason}, but {why}: the labels are too few to tell {what}."
        return chosen.name, reason if chosen is best else f"{reason} {bet}"
    if chosen is not best:
        return chosen.name, (
            f"{reason}, but these data cannot tell {chosen.name} ({auc_text(chosen.auc)}) from it. {bet}"
        )
    others = [each for each in compared if each is not best]
    if not others:
        return best.name, f"{reason}; nothing else was compared."
    rivals = [each for each in others if _may_be_as_good(each)]
    if not rivals:
        more = "the other method is" if len(others) == 1 else f"each of the {len(others)} others is"
        return best.name, f"{reason}, and {more} below it by more than chance explains."
    return best.name, f"{reason}. {_rival_sentence(best, rivals)}"


def comparison_page(
    title: str,
    data_facts: Sequence[tuple[str, str]],
    compared: Sequence[Compared],
    recommendation: tuple[str, str],
    right: str | None = None,
) -> str:
    """One self-contained HTML page.

    Parameters
    ----------
    title : str
    data_facts : sequence of (name, value)
    compared : sequence of Compared
    recommendation : tuple (name, reason)
        As `recommend` gives it.
    right : str, optional
        Where the truth is known, a sentence on how good the recommendation was.
    """
    ordered = sorted(compared, key=lambda each: -_known(each.auc, -math.inf))
    name, reason = recommendation
    truth = f'<p id="right">{escape(right)}</p>' if right else ""
    answer = (
        f'<section class="answer" aria-labelledby="answer"><h2 id="answer">Recommended method</h2>'
        f'<p class="big" id="recommended">{escape(name)}</p><p id="reason">{escape(reason)}</p>{truth}</section>'
    )
    header = f'<header><p class="brand">unskew · comparison of methods</p><h1>{escape(title)}</h1></header>'
    body = header + answer + _ranking_section(ordered, name) + _table_section(ordered, name)
    if data_facts:
        body += section("data", "Data and settings", facts(data_facts))
    body += "<footer>Made by unskew. This page is complete in itself: it loads nothing from anywhere.</footer>"
    rows = [{field: _or_none(value) for field, value in asdict(each).items()} for each in ordered]
    content = {"recommended": name, "reason": reason, "right": right, "compared": rows}
    return render_document(title, body, embedded_json(content, "comparison"))


def _known(value: float | None, otherwise: float) -> float:
    return otherwise if value is None or not math.isfinite(value) else value


def _or_none(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _may_be_as_good(each: Compared) -> bool:
    low, high = each.difference_low, each.difference_high
    return low is not None and high is not None and low <= 0 <= high


def _rival_sentence(best: Compared, rivals: Sequence[Compared]) -> str:
    """Name what chance cannot tell from the best, and the quickest of it where that saves much."""
    names = [each.name for each in rivals]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    sentence = f"These data cannot tell {listed} from it"
    quickest = min(rivals, key=lambda each: _known(each.seconds, math.inf))
    time, best_time = _known(quickest.seconds, math.inf), _known(best.seconds, 0.0)
    if time < best_time / 2:
        return f"{sentence}; {quickest.name} is quicker ({_time(time)} instead of {_time(best_time)})."
    return (
        f"{sentence}, so that choosing {'it' if len(names) == 1 else 'one of them'} would do no harm that can be seen."
    )


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _ranking_section(ordered: Sequence[Compared], recommended: str) -> str:
    told = [each for each in ordered if _as_float(each.auc) is not None]
    known = [_known(value, 1.0) for each in told for value in (each.low, each.auc, each.true_auc)]
    start = min(0.9, math.floor(10 * min(known, default=0.0)) / 10)
    items = "".join(_method(each, start, each.name == recommended) for each in ordered)
    entries = [("first", "estimate"), ("span", "interval")]
    if any(each.true_auc is not None for each in ordered):
        entries.append(("truth", "true AUC"))
    axis = (
        f'<li class="axis" aria-hidden="true"><span></span><div class="ends"><span>{start:.1f}</span>'
        "<span>1.0, perfect</span></div><span></span></li>"
    )
    lead = (
        "<p>AUC of each method, cross-validated on labeled and unlabeled rows alone. An AUC is the share of pairs in "
        "which a positive is ranked above a negative. Intervals may overlap though one method is surely better: the "
        "table compares each with the recommended one on the same rows.</p>"
    )
    return section("ranking", "How good is each?", f'{lead}{key(*entries)}<ul class="methods">{items}{axis}</ul>')


def _method(each: Compared, start: float, is_best: bool) -> str:
    star = ' <span class="badge good">recommended</span>' if is_best else ""
    name = f'<span class="name">{escape(each.name)}{star}</span>'
    if each.auc is None or each.low is None or each.high is None or not math.isfinite(each.auc):
        return f'<li>{name}<div class="scale" aria-hidden="true"></div><span class="value">not known</span></li>'
    left, right, point = (_place(value, start) for value in (each.low, each.high, each.auc))
    truth = ""
    if each.true_auc is not None:
        truth = f'<span class="truth" style="left:{_place(each.true_auc, start):.2f}%"></span>'
    return (
        f'<li>{name}<div class="scale" aria-hidden="true"><span class="span" style="left:{left:.2f}%;'
        f'width:{right - left:.2f}%"></span><span class="point" style="left:{point:.2f}%"></span>{truth}</div>'
        f'<span class="value"><b>{auc_text(each.auc)}</b> ({interval(each.low, each.high)})</span></li>'
    )


def _place(value: float, start: float) -> float:
    return 100 * min(1.0, max(0.0, (value - start) / (1 - start)))


def _table_section(ordered: Sequence[Compared], recommended: str) -> str:
    with_truth = any(each.true_auc is not None for each in ordered)
    names = ["method", "in the paper", "AUC", "interval", "difference from recommended", "share of positives", "time"]
    names += ["true AUC"] if with_truth else []
    header = "".join(f'<th scope="col">{name}</th>' for name in names)
    rows = "".join(_row(each, with_truth, each.name == recommended) for each in ordered)
    table = (
        '<div class="scroll" tabindex="0" role="region" aria-label="All methods"><table id="methods"><thead><tr>'
        f"{header}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
    note = (
        '<p class="soft">The difference is the interval of this method\'s AUC minus that of the recommended one, on '
        "the same rows, wide enough that all of these hold together in 95 % of tables. Where it reaches from below 0 "
        "to above, the two cannot be told apart.</p>"
    )
    return section("all", "All numbers", table + note)


def _row(each: Compared, with_truth: bool, is_best: bool) -> str:
    known = _as_float(each.auc) is not None
    difference = "\u2014" if is_best else "not known"
    if known and each.difference_low is not None and each.difference_high is not None:
        difference = f"{each.difference_low:+.3f} to {each.difference_high:+.3f}".replace("-", "\u2212")
    cells = [
        escape(each.table_name),
        exact(auc_text(each.auc), _as_float(each.auc)),
        interval(each.low, each.high) if known else "\u2014",
        difference,
        "not known" if each.prior is None or not known else exact(percent(each.prior), each.prior),
        "not known" if each.seconds is None else _time(each.seconds),
    ]
    if with_truth:
        cells.append(exact(auc_text(each.true_auc), each.true_auc))
    kind = ' class="best"' if is_best else ""
    tail = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr{kind} data-method="{escape(each.name)}"><th scope="row">{escape(each.name)}</th>{tail}</tr>'


def _as_float(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value
