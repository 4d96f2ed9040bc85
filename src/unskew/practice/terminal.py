"""Results, methods and data sets as tables and text for the terminal."""

import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from unskew._support.text import Table, chosen_percent, commas, percent, ranged, times

if TYPE_CHECKING:  # listing data sets must not wait for the library that trains
    from unskew.datasets import Description
    from unskew.metrics import AuditEstimate
    from unskew.metrics.evidence import Estimate, TopShare
    from unskew.practice.compare import Comparison
    from unskew.practice.evaluate import Evaluation
    from unskew.practice.labeled_table import LabeledTable
    from unskew.practice.model import TableModel
    from unskew.rankers import MethodCard

TOP_TITLE = "What the top of the ranking holds, each with its interval"
NO_ESTIMATE, NO_POINT = "cannot be estimated", "see interval"
MOST_COLUMNS = 40
"""Columns shown before training; a table may have thousands."""


def data_table(table: "LabeledTable") -> Table:
    """What each column is taken for."""
    rows = table.schema.describe()
    more = len(rows) - MOST_COLUMNS
    if more > 0:
        rows = [*rows[:MOST_COLUMNS], (f"and {more} more", "", "all of them are in the report")]
    return Table(("column", "kind", "note"), rows)


def estimates_table(model: "TableModel") -> Table:
    """What is known of a model without one negative label."""
    if model.evidence is None:
        from unskew.practice.fit import why_no_estimate

        return Table(("what", "estimate"), [("AUC", f"not known: {why_no_estimate(model.source)}")])
    return _estimate_table(model.evidence.estimate)


def parts_table(model: "TableModel") -> Table:
    """Methods that were combined, and why each has its weight."""
    from unskew.practice.report.model_page import PARTS_HEADER

    return Table(PARTS_HEADER, model.parts)


def evaluation_table(result: "Evaluation") -> Table:
    """AUC of a model on a file."""
    known = []
    if result.true_auc is not None:
        known.append(("true AUC", f"{result.true_auc:.3f}"))
    if result.covered is not None:
        known.append(("true AUC in the interval", "yes" if result.covered else "no"))
    if result.estimate is None:
        return Table(("what", "value"), known)
    found = _estimate_table(result.estimate)
    return Table(found.header, [*found.rows, *((*each, "") for each in known)])


def top_table(top: Sequence["TopShare"], *, with_points: bool) -> Table:
    """What the top of a ranking holds, with intervals."""

    def cell(row: "TopShare", name: str, words: Callable[[float], str]) -> str:
        value, low, high = (getattr(row, f"{name}{end}") for end in ("", "_low", "_high"))
        return ranged(value, low, high, words, with_point=with_points)

    rows = [
        (
            f"top {chosen_percent(row.share)}",
            f"{row.n:,}",
            cell(row, "precision", percent),
            cell(row, "recall", percent),
            cell(row, "lift", times),
            cell(row, "expected_positives", commas),
        )
        for row in top
    ]
    return Table(("share", "rows", "precision", "recall", "lift", "positives"), rows)


def audit_table(found: "AuditEstimate") -> Table:
    """What checked rows say; each number with its interval."""
    shown = {
        "share of positives": (found.prior, found.prior_low, found.prior_high),
        "AUC": (found.auc, found.auc_low, found.auc_high),
        f"precision of the top {found.n_top:,}": (found.precision, found.precision_low, found.precision_high),
        f"recall of the top {found.n_top:,}": (found.recall, found.recall_low, found.recall_high),
    }
    if not math.isnan(found.slope):  # the intercept is at one half, where it says little without the slope
        shown["slope of the probabilities (1 is right)"] = found.slope, found.slope_low, found.slope_high
    rows = [
        (name, f"{value:.3f}" if not math.isnan(value) else NO_ESTIMATE, f"{low:.3f} to {high:.3f}")
        for name, (value, low, high) in shown.items()
    ]
    if not math.isnan(found.mean_probability):
        rows.insert(1, ("mean probability of the model", f"{found.mean_probability:.3f}", ""))
    return Table(("what", "estimate", f"{100 * found.level:g} % interval"), rows)


def comparison_table(result: "Comparison") -> Table:
    """Methods, the best first."""
    header = ["method", "AUC", "95 % interval", "difference from recommended", "seconds"]
    has_truth = result.compared[0].true_auc is not None
    rows = []
    for each in result.compared:
        name, difference = f"{each.name} (recommended)" if each.name == result.recommended else each.name, ""
        if each.difference_low is not None:
            difference = f"{each.difference_low:+.3f} to {each.difference_high:+.3f}"
        point = f"{each.auc:.3f}" if result.shows_points else NO_POINT
        shown = [point, f"{each.low:.3f} to {each.high:.3f}", difference, f"{each.seconds:.1f}"]
        rows.append([name, *shown, *([f"{each.true_auc:.3f}"] if has_truth else [])])
    return Table([*header, *(["true AUC"] if has_truth else [])], rows)


def about_compared_table(result: "Comparison") -> str:
    """What is estimated of a table, whatever method ranks it."""
    share = ranged(result.prior, result.prior_low, result.prior_high, percent, with_point=result.shows_points)
    return f"Share of positives: {share}. Reliability of the estimates: {result.reliability:.2f} of 1."


def _estimate_table(estimate: "Estimate") -> Table:
    """Estimates one under another, with their intervals."""
    values = {
        "AUC": (estimate.auc, estimate.low, estimate.high),
        "share of positives": (estimate.prior, estimate.prior_low, estimate.prior_high),
        "share of these that is labeled": (estimate.label_freq, *estimate.label_freq_ends),
    }
    rows = [(name, *_point_and_ends(*each, with_point=estimate.shows_points)) for name, each in values.items()]
    if estimate.reliability is not None:
        rows.append(("reliability", f"{estimate.reliability:.2f} of 1", ""))
    return Table(("what", "estimate", f"{100 * estimate.level:g} % interval"), rows)


def _point_and_ends(value: float | None, low: float | None, high: float | None, *, with_point: bool) -> tuple[str, str]:
    if value is None:
        return NO_ESTIMATE, ""
    if low is None or high is None:
        return f"{value:.3f}", ""
    return f"{value:.3f}" if with_point else NO_POINT, f"{low:.3f} to {high:.3f}"


def cards_table(cards: Sequence["MethodCard"]) -> Table:
    """One row per method."""
    header = ("name", "assumes", "needs", "scenarios", "what it does")
    rows = [
        (card.name, card.assumption, ", ".join(card.needs) or "labels only", ", ".join(card.scenarios), card.summary)
        for card in cards
    ]
    return Table(header, rows)


def card_text(card: "MethodCard") -> str:
    """All that is known of one method, for a terminal."""
    sections = {
        f"{card.name} ({card.class_name}): {card.summary}": card.description,
        "Assumes": card.assumption_text,
        "Needs": ", ".join(card.needs) or "labels only",
        "Scenarios": ", ".join(card.scenarios),
        "Use it when": card.use_when,
        "Do not use it when": card.avoid_when,
        "Differs from its authors": card.differences,
        "Parameters of its own": card.parameters,
        "Reference": card.reference,
    }
    return "\n\n".join(f"{title}\n\n{_indented(text)}" for title, text in sections.items() if text)


def _indented(text: str) -> str:
    """Text under its title; formulas stay as they are written, without the marks around them."""
    text = re.sub(r":math:`([^`]*)`", r"\1", text).replace(".. math::", "  ").replace("``", "`")
    return "\n".join(f"  {line}".rstrip() for line in text.splitlines())


def datasets_table(descriptions: Sequence["Description"]) -> Table:
    """One row per data set."""
    header = ("name", "files", "what it is", "where it comes from")
    return Table(header, [(each.name, _files_state(each), each.summary, each.source) for each in descriptions])


def dataset_text(description: "Description") -> str:
    """All that is known of one data set, for a terminal."""
    sizes = description.sizes
    facts = {
        "source": description.source,
        "licence": description.licence,
        "network": description.network,
        "parts": f"{sizes.train:,d} for training, {sizes.validation:,d} for validation, {sizes.confidence:,d} for the "
        f"classifier that gives confidence, {sizes.test:,d} for the test",
        "stand-in": description.stand_in,
        "files": _files_state(description),
    }
    lines = [f"{description.name} ({description.table_name}): {description.summary}"]
    lines += [f"  {name}: {fact}" for name, fact in facts.items() if fact]
    for file in description.files:
        lines.append(f"  - {file.path}: {'there' if file.present else 'MISSING'}")
        lines.append(f"    from {file.address}")
        lines.append(f"    checksum {file.checksum or 'none published'}")
    return "\n".join(lines)


def _files_state(description: "Description") -> str:
    lacking = sum(not file.present for file in description.files)
    if not description.files:
        return "none needed"
    return f"{lacking} of {len(description.files)} missing" if lacking else "there"
