"""What is known of a method, as data: read from its class and its docstring, so that nothing is said twice."""

import inspect
import re
from dataclasses import dataclass
from typing import Any

from unskew.rankers._base import Ranker


@dataclass(frozen=True)
class MethodCard:
    """All that reports, pages and the command line say about a method.

    Attributes
    ----------
    name, table_name, class_name : str
        On the command line, in the paper's tables, in Python.
    summary, description : str
        One line; problem and formula, in the notation of docstrings (reStructuredText).
    assumption : str
        On how labels were given, in a few words: SCAR (at random among the positives), SAR (depending on features).
    assumption_text, use_when, avoid_when, differences : str
        Paragraphs of the docstring's notes; empty where the method has none.
    parameters : str
        Those of its own, beyond the ones of every method.
    needs : tuple of str
        What it cannot do without: "confidence", "prior".
    uses_labeling : bool
        Whether it estimates the labeling probability first.
    scenarios : tuple of str
        Where it is defined: "one-sample", "two-sample".
    reference : str
    """

    name: str
    table_name: str
    class_name: str
    summary: str
    description: str
    assumption: str
    assumption_text: str
    use_when: str
    avoid_when: str
    differences: str
    parameters: str
    needs: tuple[str, ...]
    uses_labeling: bool
    scenarios: tuple[str, ...]
    reference: str


_SECTIONS = {
    "assumption_text": "Assumption",
    "use_when": "Use it when",
    "avoid_when": "Do not use it when",
    "differences": "Differs from its authors",
    "parameters": "Parameters",
    "reference": "References",
}


def card_of(kind: type[Ranker]) -> MethodCard:
    """Card of a method's class."""
    # Its own docstring: that of the base says nothing of the method, and one that dataclass made up neither.
    said = vars(kind).get("__doc__") or ""
    text = "" if said.startswith(f"{kind.__name__}(") else inspect.cleandoc(said)
    summary, description, sections = _read_docstring(text)
    sections |= _read_leads(sections.get("Notes", ""))
    own = ("name", "table_name", "assumption", "needs", "uses_labeling", "scenarios")
    entries: dict[str, Any] = {name: getattr(kind, name) for name in own}
    entries |= {name: sections.get(title, "") for name, title in _SECTIONS.items()}
    return MethodCard(class_name=kind.__name__, summary=summary, description=description, **entries)


def _read_docstring(text: str) -> tuple[str, str, dict[str, str]]:
    """First line, the text below it, and the sections by their titles (which are underlined)."""
    pieces = re.split(r"^(\S.*)\n-{3,}$", text, flags=re.MULTILINE)
    summary, _, description = pieces[0].partition("\n")
    titles, bodies = pieces[1::2], pieces[2::2]
    return summary, description.strip(), {title: body.strip() for title, body in zip(titles, bodies, strict=True)}


def _read_leads(notes: str) -> dict[str, str]:
    """Parts of the notes by the words in bold that they begin with, such as ``**Assumption.**``."""
    # Not sections: scikit-learn warns of titles that numpydoc does not know whenever a notebook shows an estimator.
    pieces = re.split(r"^\*\*([^*\n]+)\.\*\*\s+", notes, flags=re.MULTILINE)
    return {lead: body.strip() for lead, body in zip(pieces[1::2], pieces[2::2], strict=True)}
