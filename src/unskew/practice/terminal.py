"""Results, methods and data sets as tables and text for the terminal."""

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from unskew._support.text import Table

if TYPE_CHECKING:  # listing data sets must not wait for the library that trains
    from unskew.datasets import Description
    from unskew.metrics import AuditEstimate
    from unskew.practice.compare import Comparison
    from unskew.practice.evaluate import Evaluation
    from unskew.practice.labeled_table import LabeledTable
    from unskew.practice.model import TableModel
    from unskew.rankers import MethodCard

NO_ESTIMATE = "cannot be estimated"
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


def evaluation_table(result: "Evaluation") -> Table:
    """AUC of a model on a file."""
    rows = [] if result.estimate is None else list(_estimate_table(result.estimate).rows)
    if result.true_auc is not None:
        rows.append(("true AUC", f"{result.true_auc:.3f}"))
    if result.covered is not None:
        rows.append(("true AUC in the interval", "yes" if result.covered else "no"))
    return Table(("what", "value"), rows)


def audit_table(found: "AuditEstimate") -> Table:
    """What checked rows say; each number with its interval."""
    shown = {
        "share of positives": (found.prior, found.prior_low, found.prior_high),
        "AUC": (found.auc, found.auc_low, found.auc_high),
        f"precision of the top {found.n_top:,}": (found.precision, found.precision_low, found.precision_high),
        f"recall of the top {found.n_top:,}": (found.recall, found.recall_low, found.recall_high),
    }
    if _is_known(found.slope):
        shown["intercept (0 is right)"] = found.intercept, found.intercept_low, found.intercept_high
        shown["slope (1 is right)"] = found.slope, found.slope_low, found.slope_high
    rows = [
        (name, f"{value:.3f}" if _is_known(value) else NO_ESTIMATE, f"{low:.3f} to {high:.3f}")
        for name, (value, low, high) in shown.items()
    ]
    return Table(("what", "estimate", f"{100 * found.level:g} % interval"), rows)


def comparison_table(result: "Comparison") -> Table:
    """Methods, the best first."""
    header = ["method", "AUC", "95 % interval", "difference from recommended", "prior", "seconds"]
    has_truth = result.compared[0].true_auc is not None
    rows = []
    for each in result.compared:
        name, difference = f"{each.name} (recommended)" if each.name == result.recommended else each.name, ""
        shown = [NO_ESTIMATE] * 4
        if each.auc is not None:
            if each.difference_low is not None:
                difference = f"{each.difference_low:+.3f} to {each.difference_high:+.3f}"
            shown = [f"{each.auc:.3f}", f"{each.low:.3f} to {each.high:.3f}", difference, f"{each.prior:.3f}"]
        rows.append([name, *shown, f"{each.seconds:.1f}", *([f"{each.true_auc:.3f}"] if has_truth else [])])
    return Table([*header, *(["true AUC"] if has_truth else [])], rows)


def _estimate_table(estimate: Any) -> Table:
    """Estimates one under another; where the AUC cannot be estimated, nothing that it rests on can be."""
    level, worth = f"{100 * estimate.level:g} % interval", f"{estimate.effective_labeled:.0f} equal ones"
    shown = [NO_ESTIMATE] * 4
    if _is_known(estimate.auc):
        label_freq = f"{estimate.label_freq:.3f}" if _is_known(estimate.label_freq) else NO_ESTIMATE
        ends = f"{estimate.low:.3f} to {estimate.high:.3f}"
        auc = f"{estimate.auc:.3f}" + (", the end of the scale: rely on the interval" if estimate.auc >= 1 else "")
        shown = [auc, ends, f"{estimate.prior:.3f}", label_freq]
    names = ("AUC", level, "share of positives", "share of these that is labeled")
    return Table(("what", "estimate"), [*zip(names, shown, strict=True), ("labels are worth", worth)])


def _is_known(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


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
