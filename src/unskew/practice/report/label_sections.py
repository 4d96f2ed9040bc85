"""What the labels are like and how training went: the middle of a model's page."""

import datetime
from html import escape

from unskew._support.text import beside, percent, plural
from unskew.metrics.diagnostics import Shift
from unskew.metrics.evidence import Evidence, Training
from unskew.practice.report.charts import histogram_chart, training_chart, weight_chart
from unskew.practice.report.parts import figure, key, section
from unskew.practice.report.words import exact

MOST_SHIFTS = 15
_TRAINING_KEY = key(("first", "validation"), ("second", "training"), ("kept", "kept"))


def shifts_section(evidence: Evidence) -> str:
    """Features that differ between labels and positives, largest shift first."""
    title = "What do the labels over-represent?"
    if not evidence.shifts:
        text = "No feature differs between the labels and what they count after weighting by more than chance would."
        return section("shifts", title, f"<p>{text}</p>")
    shown = evidence.shifts[:MOST_SHIFTS]
    more = len(evidence.shifts) - len(shown)
    widest = max(abs(each.shift) for each in shown)
    items = "".join(_shift(each, widest) for each in shown)
    lead = (
        "<p>Labeled rows are not like all positives. For each feature: the mean over the labels as they came, beside "
        "the mean after weighting, which estimates that of all positives. Only differences beyond chance are shown, "
        "largest first, in standard deviations of the feature.</p>"
    )
    end = f'<p class="soft">{plural(more, "more feature")} with smaller shifts left out.</p>' if more else ""
    return section("shifts", title, f'{lead}<ul class="shifts">{items}</ul>{end}')


_WORDS = {
    "number": ("high values are over-represented", "low values are over-represented"),
    "share": ("over-represented", "under-represented"),
    "date": ("late dates are over-represented", "early dates are over-represented"),
}


def _shift(shift: Shift, widest: float) -> str:
    width = 50 * abs(shift.shift) / widest
    more = shift.shift > 0
    place, kind = ("left:50%", "") if more else ("right:50%", ' class="less"')
    amount = exact(f"{abs(shift.shift):.2f}", shift.shift)
    labeled, weighted, everything = (
        exact(_mean_text(each, shift), each) for each in (shift.labeled_mean, shift.weighted_mean, shift.all_mean)
    )
    return (
        f'<li><div class="name"><span>{escape(shift.feature)}</span><span>{_WORDS[shift.kind][not more]}, {amount} sd'
        f'</span></div><div class="diverging" aria-hidden="true"><i{kind} style="{place};width:{width:.2f}%"></i></div>'
        f"<p>labeled rows {labeled} · all positives, by estimate {weighted} · all rows {everything}</p></li>"
    )


def _mean_text(mean: float, shift: Shift) -> str:
    """A mean in the unit of its feature, as exact as a difference of a standard deviation needs."""
    if shift.kind == "share":
        return percent(mean)
    if shift.kind == "date":
        return (datetime.date(1970, 1, 1) + datetime.timedelta(days=round(mean))).isoformat()
    return beside(mean, abs((shift.labeled_mean - shift.weighted_mean) / shift.shift))


def labels_section(evidence: Evidence) -> str:
    """Weights, confidence and labeling probability of the labeled rows."""
    what = "labeling probability" if evidence.scenario == "one-sample" else "density ratio"
    lead = (
        f"<p>A label counts its confidence divided by its {what}: the less likely a row was to be labeled, the more "
        f"positives it stands for. Values below {evidence.clip:g} were raised to it, so that no row takes over.</p>"
    )
    charts = (
        figure("Weights", weight_chart(evidence)),
        figure("Confidence of the labels", histogram_chart(evidence.confidence, "confidence")),
        figure(f"{what.capitalize()}", histogram_chart(evidence.labeling_prob, what)),
    )
    return section("labels", "How does each label count?", f'{lead}<div class="charts three">{"".join(charts)}</div>')


def training_section(evidence: Evidence) -> str:
    """Risks by epoch of the networks; empty where none was trained."""
    parts = [
        _training_figure(title, each)
        for title, each in (
            ("Score network", evidence.score_training),
            ("Labeling network", evidence.labeling_training),
        )
        if each is not None and any(row.validation_risk is not None for row in each.history)
    ]
    if not parts:
        return ""
    lead = "<p>Risk by epoch; lower is better. The epoch with the lowest validation risk is kept.</p>"
    return section("training", "How did training go?", f'{lead}<div class="charts">{"".join(parts)}</div>')


def _training_figure(title: str, training: Training) -> str:
    kept = training.best_epoch + 1  # the record counts from 0
    label = f"{title}: training and validation risk by epoch, epoch {kept} kept"
    below = f'<p class="soft">Epoch {kept} was kept, of {len(training.history)} trained.</p>'
    return figure(title, training_chart(training, label), _TRAINING_KEY + below)
