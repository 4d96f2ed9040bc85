"""The page of one model: what it can be trusted with, where to cut, what the labels are like, and its card."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from unskew._support.text import Table, percent
from unskew.metrics.evidence import Evidence, ThresholdRow, first_cut, threshold_table
from unskew.practice.report.charts import precision_chart, roc_chart
from unskew.practice.report.findings import findings_section
from unskew.practice.report.headline import headline
from unskew.practice.report.interactive import own_cut, page_scripts, threshold_control
from unskew.practice.report.label_sections import labels_section, shifts_section, training_section
from unskew.practice.report.page import render_document, render_table
from unskew.practice.report.parts import facts, figure, key, section
from unskew.practice.report.words import exact

_ROC_KEY = key(("first", "estimated without negatives"), ("chance", "by chance"), ("chosen", "the cut"))
_BENDS = "The curves are estimates: small bends, also backwards, are chance. Point at a curve to read its values."


@dataclass(frozen=True)
class ModelCard:
    """What a model is, apart from how good it is.

    Attributes
    ----------
    title : str
    method, method_summary : str
        Name, and one line on what it does.
    parameters : mapping of str to object
    data_facts : sequence of (name, value)
    schema : sequence of (column, kind, note)
    left_out : sequence of (column, reason)
        Columns that are no features.
    versions : mapping of str to str
    made : str
        Date, in ISO form.
    """

    title: str
    method: str
    method_summary: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)
    data_facts: Sequence[tuple[str, str]] = ()
    schema: Sequence[tuple[str, str, str]] = ()
    left_out: Sequence[tuple[str, str]] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    made: str = ""


def model_page(card: ModelCard, evidence: Evidence | None) -> str:
    """One self-contained HTML page; without evidence it is the model card alone."""
    made = f" Made {escape(card.made)}." if card.made else ""
    summary = f": {escape(_lower_first(card.method_summary))}" if card.method_summary else ""
    head = (
        f'<header><p class="brand">unskew · model report</p><h1>{escape(card.title)}</h1>'
        f'<p class="lead">Method <strong>{escape(card.method)}</strong>{summary.rstrip(".")}.{made}</p></header>'
    )
    if evidence is None:
        parts = [_no_evidence()]
    else:
        parts = [
            headline(evidence),
            _cut_section(evidence),
            findings_section(evidence.findings),
            shifts_section(evidence),
            labels_section(evidence),
            training_section(evidence),
        ]
    body = head + "\n".join(parts) + _card_section(card) + _footer(card)
    return render_document(card.title, body, "" if evidence is None else page_scripts(evidence))


def _lower_first(text: str) -> str:
    """Text that goes on after a colon; abbreviations keep their capitals."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _no_evidence() -> str:
    return section(
        "headline",
        "How good is it?",
        "<p>Nothing can be said of this model's AUC: no estimate was asked for, or it was fitted without confidence, "
        "or with too few labels to hold some out. Fit it with a confidence column, and with more labels, to get "
        "estimates here.</p>",
    )


def _cut_section(evidence: Evidence) -> str:
    curve, title = evidence.curve, "Where to cut?"
    if curve is None:
        return section("cut-section", title, "<p>No curves can be drawn, because no AUC could be told.</p>")
    chosen = own_cut(evidence, curve)
    lead = f"<p>Rows are flagged from the top of the ranking down. {_first_shown(evidence)}</p>"
    prior, first = evidence.estimate.prior or 0.0, first_cut(evidence, curve)
    figures = (
        figure("ROC curve", roc_chart(curve, chosen), _ROC_KEY),
        figure("Precision and recall", precision_chart(curve, chosen, prior, first), _ROC_KEY),
    )
    charts = f'<div class="charts">{"".join(figures)}</div><p class="soft">{_BENDS}</p>'
    return section("cut-section", title, lead + threshold_control(evidence, curve) + charts + _threshold_rows(evidence))


def _first_shown(evidence: Evidence) -> str:
    """What the slider starts at, and how that goes together with the share of positives above."""
    prior, own = evidence.estimate.prior, evidence.own_share
    if own is None or prior is None:
        return "As many as are positive, by estimate, are shown first."
    text = f"What the model itself flags is shown first, {percent(own)}"
    if abs(own - prior) <= max(0.005, 0.1 * prior):
        return f"{text}: as many as are positive."
    return (
        f"{text}: as many as are positive by what it learned in training. That is not the share estimated above, "
        f"{percent(prior)}, which comes from models that did not see the row. With few labels both are rough."
    )


def _threshold_rows(evidence: Evidence) -> str:
    table = threshold_table(evidence)
    rows = "".join(
        f'<tr><th scope="row">{exact(percent(row.flagged), row.flagged)}</th>'
        f"<td>{round(row.flagged * evidence.n_ranked):,}</td>"
        + "".join(f"<td>{exact(percent(each), each)}</td>" for each in (row.precision, row.recall, row.fpr))
        + "</tr>"
        for row in table
    )
    names = ("share flagged", "rows flagged", "precision", "recall", "false positive rate")
    header = "".join(f'<th scope="col">{name}</th>' for name in names)
    return (
        '<h3>Thresholds at a glance</h3><div class="scroll" tabindex="0" role="region" aria-label="Thresholds">'
        f'<table id="thresholds"><thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table></div>'
        + _contradiction(evidence, table)
    )


def _contradiction(evidence: Evidence, table: list[ThresholdRow]) -> str:
    """Tell where a row speaks of more positives than are flagged."""
    prior = evidence.estimate.prior or 0.0
    impossible = [row for row in table if prior * row.recall > 1.05 * row.flagged]
    if not impossible:
        return ""
    row, estimated = impossible[-1], evidence.estimate.weighted_prior is None
    source = "is estimated" if estimated else "that was given is"
    advice = " If you know the share, fit with --prior." if estimated else ""
    return (
        f'<p class="soft" id="contradiction">Where {percent(row.flagged)} are flagged, recall and share of positives '
        f"do not go together: {percent(row.recall)} of {percent(prior)} would be {percent(prior * row.recall)} of all "
        f"rows, more than are flagged. Probably the share of positives {source} too high, and with it the precision; "
        f"where few rows are flagged, it may also be chance. The recall does not depend on the share.{advice}</p>"
    )


def _card_section(card: ModelCard) -> str:
    parts = [f"<h3>Data</h3>{facts(card.data_facts)}" if card.data_facts else ""]
    aside = {name for name, _ in card.left_out}
    features = [row for row in card.schema if row[0] not in aside]
    if features:
        table = Table(("column", "kind", "note"), features)
        parts.append(f"<h3>Columns that are features</h3>{render_table(table, kind='words')}")
    if card.left_out:
        table = Table(("column", "why"), card.left_out)
        parts.append(f"<h3>Columns left out</h3>{render_table(table, kind='words')}")
    if card.parameters:
        values = [(name, str(value)) for name, value in card.parameters.items()]
        parts.append(f"<h3>Parameters</h3>{facts(values)}")
    if card.versions:
        parts.append(f"<h3>Versions</h3>{facts(list(card.versions.items()))}")
    return section("card", "Model card", "".join(parts))


def _footer(card: ModelCard) -> str:
    version = card.versions.get("unskew", "")
    return (
        f"<footer>Made by unskew{f' {escape(version)}' if version else ''}. This page is complete in itself: it loads "
        "nothing from anywhere, and may be mailed or printed.</footer>"
    )
