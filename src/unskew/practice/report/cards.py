"""What the methods say of themselves, for people."""

import re
from collections.abc import Sequence

from unskew._support.text import Table
from unskew.rankers import MethodCard


def cards_table(cards: Sequence[MethodCard]) -> Table:
    """One row per method."""
    header = ("name", "assumes", "needs", "scenarios", "what it does")
    rows = [
        (card.name, card.assumption, ", ".join(card.needs) or "labels only", ", ".join(card.scenarios), card.summary)
        for card in cards
    ]
    return Table(header, rows)


def card_text(card: MethodCard) -> str:
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
