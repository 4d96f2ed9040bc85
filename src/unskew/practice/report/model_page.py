"""The page of one model: what was found, how many rows to review and which first, how sure that is, what to do next."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unskew._support.text import beside, commas, percent, plural, times
from unskew.metrics.diagnostics import GOOD, Finding, Shift
from unskew.metrics.evidence import Estimate, Evidence, Number, ThresholdCurve, first_cut, top_of_old_record
from unskew.metrics.reliability import NOT_SEEN_FROM_INSIDE, WARN_BELOW
from unskew.practice.report.charts import (
    gain_chart,
    histogram_chart,
    precision_chart,
    roc_chart,
    training_chart,
    weight_chart,
)
from unskew.practice.report.page import render, scale_marks
from unskew.practice.report.story import next_steps, reliability_in_words, report_command, rounded_count, story

if TYPE_CHECKING:
    from unskew.practice.first_rows import FirstRows

MOST_SHIFTS = 15
LEVEL_WORDS = {"warning": "! Warning", "note": "i Note", "good": "\u2713 Good"}
"""What each level of a finding is called; the worst first."""
_SHIFT_WORDS = {
    "number": ("high values are over-represented", "low values are over-represented"),
    "share": ("over-represented", "under-represented"),
    "date": ("late dates are over-represented", "early dates are over-represented"),
}

TITLES = {
    "found": "What was found",
    "cut-section": "How many rows to review?",
    "first": "Which rows to look at first?",
    "sure": "How sure is this?",
    "shifts": "What do the labels over-represent?",
    "next": "What to do next",
    "appendix": "Appendix: the details",
}
"""Sections in the order of the page."""
NEED_EVIDENCE = ("cut-section", "sure", "shifts")

PARTS_HEADER = (
    "method",
    "weight",
    "agrees with left-out confidence",
    "tells left-out labels from other rows (AUC, weighted against the bias)",
)


@dataclass(frozen=True)
class ModelCard:
    """What a model is, apart from how good it is.

    Attributes
    ----------
    file : str
        Name of the file that it was fitted on.
    label : str
        Name of its label column.
    model : str
        Name of the model's own file, for commands.
    parts : sequence of (method, weight, agreement, separation), in words
        Methods that were combined.
    data_facts : sequence of (name, value)
    schema : sequence of (column, kind, note)
    left_out : sequence of (column, reason)
        Columns that are not features.
    why_no_estimate : str
        Where there is no evidence, the reason.
    """

    file: str
    method: str
    label: str = ""
    model: str = "MODEL"
    method_summary: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)
    parts: Sequence[tuple[str, str, str, str]] = ()
    data_facts: Sequence[tuple[str, str]] = ()
    schema: Sequence[tuple[str, str, str]] = ()
    left_out: Sequence[tuple[str, str]] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    made: str = ""
    why_no_estimate: str = ""


def model_page(
    card: ModelCard,
    evidence: Evidence | None,
    first: "FirstRows | None" = None,
    best: Mapping[str, Any] | None = None,
) -> str:
    """One self-contained HTML page; without evidence it says little more than the model card.

    `best` is what `unskew.practice.cut.cut_for_page` gives, where costs decide how many rows to review.
    """
    aside = {name for name, _ in card.left_out}
    found = {} if evidence is None else _values_for_template(card, evidence, None if best is None else best["sentence"])
    n_review = best["n"] if best else found["cut"]["n_flagged"] if found.get("cut") else None
    return render(
        "model.html",
        script="" if evidence is None else "page.js",
        card=card,
        titles=TITLES,
        parts=[(id, title) for id, title in TITLES.items() if evidence is not None or id not in NEED_EVIDENCE],
        parts_header=PARTS_HEADER,
        summary=_lower_first(card.method_summary).rstrip("."),
        features=[row for row in card.schema if row[0] not in aside],
        evidence=evidence,
        first=first,
        best=best,
        steps=next_steps(card.file, card.model, evidence, n_review),
        report_command=report_command(card.model, card.file),
        **{"points": True, **found},
    )


def findings_summary(findings: Sequence[Finding]) -> str:
    """How many checks are not good, in a sentence."""
    counts = {level: sum(each.level == level for each in findings) for level in LEVEL_WORDS}
    words = [plural(counts["warning"], "warning"), plural(counts["note"], "note"), f"{counts['good']} good"]
    shown = [text for text, level in zip(words, LEVEL_WORDS, strict=True) if counts[level]]
    return f"{plural(len(findings), 'check')}: {', '.join(shown)}."


def first_shown_cut(evidence: Evidence, curve: ThresholdCurve) -> int:
    """Where as many rows are flagged as are positive, by estimate."""
    share = evidence.estimate.prior or 0.0
    places = range(first_cut(evidence, curve), len(curve.flagged))
    return min(places, key=lambda place: abs(curve.flagged[place] - share))


def _lower_first(text: str) -> str:
    """Text that goes on after a colon; abbreviations keep their capitals."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _values_for_template(card: ModelCard, evidence: Evidence, on_cut: str | None) -> dict[str, Any]:
    """Everything in the template that has to be computed."""
    estimate, order = evidence.estimate, list(LEVEL_WORDS)
    low, high, level = estimate.prior_low, estimate.prior_high, f"{100 * estimate.level:g} %"
    divisor = "labeling probability" if evidence.scenario == "one-sample" else "density ratio"
    largest = evidence.shifts[:MOST_SHIFTS]
    shows_curves = evidence.curve is not None and estimate.shows_points
    top = evidence.top or top_of_old_record(evidence)
    findings = sorted(evidence.findings, key=lambda each: order.index(each.level))
    return {
        "story": story(card.file, card.label, evidence, top, on_cut),
        "sure": "" if estimate.reliability is None else reliability_in_words(estimate.reliability),
        "level": level,
        "points": estimate.shows_points,
        "not_seen": NOT_SEEN_FROM_INSIDE,
        "warn_below": f"{WARN_BELOW:g}",
        **_auc_scale(estimate),
        "prior": _tile(estimate.prior, low, high, level, estimate.shows_points, "as given"),
        "label_freq": _tile(estimate.label_freq, *estimate.label_freq_ends, level, estimate.shows_points),
        "n_positive": _count_of_positives(evidence),
        "cut": _part_on_thresholds(evidence, evidence.curve) if evidence.curve and shows_curves else None,
        "top": top,
        "top_columns": (("precision", percent), ("recall", percent), ("lift", times), ("expected_positives", commas)),
        "troubles": [each for each in findings if each.level != GOOD],
        "passed": [each for each in findings if each.level == GOOD],
        "findings_summary": findings_summary(evidence.findings),
        "level_words": LEVEL_WORDS,
        "shifts": [_shift_for_template(each, max(abs(each.shift) for each in largest)) for each in largest],
        "n_more_shifts": len(evidence.shifts) - len(largest),
        "divisor": divisor,
        "label_charts": [
            ("Weights", weight_chart(evidence)),
            ("Confidence of the labels", histogram_chart(evidence.confidence, "confidence")),
            (divisor.capitalize(), histogram_chart(evidence.labeling_prob, divisor)),
        ],
        "trainings": _part_on_training(evidence),
    }


def _tile(
    value: Number, low: Number, high: Number, level: str, with_point: bool, without: str = ""
) -> dict[str, Any] | None:
    """Large text of a share, the small one below, and the value for programs; None where it is not known."""
    if value is None:
        return None
    if not low or not high:
        return {"text": percent(value), "value": value, "range": without}
    ends = f"{percent(low)} to {percent(high)}"
    if not with_point:
        return {"text": ends, "value": None, "range": f"{level} interval"}
    return {"text": percent(value), "value": value, "range": f"{level} interval {ends}"}


def _count_of_positives(evidence: Evidence) -> str:
    """How many rows are positive, as a clause."""
    estimate, n = evidence.estimate, evidence.n_ranked
    if estimate.shows_points or not estimate.prior_low or not estimate.prior_high:
        return f"About {commas(rounded_count((estimate.prior or 0.0) * n))}"
    low, high = (commas(rounded_count(share * n)) for share in (estimate.prior_low, estimate.prior_high))
    return f"Between {low} and {high}"


def _auc_scale(estimate: Estimate) -> dict[str, Any]:
    """The AUC on a scale from chance, or from 0 where the interval reaches below; empty where it is not known."""
    auc, low, high = estimate.auc, estimate.low, estimate.high
    if auc is None or low is None or high is None:
        return {"auc_marks": None}
    start = 0.5 if low >= 0.5 else 0.0
    point = auc if estimate.shows_points else None
    return {"auc_marks": scale_marks(start, low, high, point), "scale_start": "0.5, chance" if start else "0"}


def _part_on_thresholds(evidence: Evidence, curve: ThresholdCurve) -> dict[str, Any]:
    """The chosen threshold and the curves."""
    prior = evidence.estimate.prior or 0.0
    chosen, first = first_shown_cut(evidence, curve), first_cut(evidence, curve)
    n_flagged = round(curve.flagged[chosen] * evidence.n_ranked)
    return {
        "chosen": chosen,
        "first": first,
        "last": len(curve.flagged) - 1,
        "row": [each[chosen] for each in (curve.flagged, curve.tpr, curve.fpr, curve.precision, curve.threshold)],
        "n_flagged": n_flagged,
        "n_found": round(n_flagged * curve.precision[chosen]),
        "gain": gain_chart(curve, chosen),
        "has_scores": any(each is not None for each in curve.threshold),
        "roc": roc_chart(curve, chosen),
        "precision": precision_chart(curve, chosen, prior, first),
    }


def _shift_for_template(shift: Shift, widest: float) -> dict[str, Any]:
    means = shift.labeled_mean, shift.weighted_mean, shift.all_mean
    return {
        "feature": shift.feature,
        "size": shift.shift,
        "words": _SHIFT_WORDS[shift.kind][shift.shift <= 0],
        "width": 50 * abs(shift.shift) / widest,
        "means": [(_mean_text(each, shift), each) for each in means],
    }


def _mean_text(mean: float, shift: Shift) -> str:
    """A mean in the unit of its feature, as exact as a difference of a standard deviation needs."""
    if shift.kind == "share":
        return percent(mean)
    if shift.kind == "date":
        return (datetime.date(1970, 1, 1) + datetime.timedelta(days=round(mean))).isoformat()
    return beside(mean, abs((shift.labeled_mean - shift.weighted_mean) / shift.shift))


def _part_on_training(evidence: Evidence) -> list[dict[str, Any]]:
    """Risks by epoch of the networks that were trained."""
    found = {"Score network": evidence.score_training, "Labeling network": evidence.labeling_training}
    shown = []
    for title, training in found.items():
        if training is None or all(row.validation_risk is None for row in training.history):
            continue
        kept = training.best_epoch + 1  # the record counts from 0
        label = f"{title}: training and validation risk by epoch, epoch {kept} kept"
        svg = training_chart(training, label)
        shown.append({"title": title, "svg": svg, "kept": kept, "n_epochs": len(training.history)})
    return shown
