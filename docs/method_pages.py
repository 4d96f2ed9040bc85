"""Write docs/methods/*.md, one page per method and an index, from what the methods say of themselves.

    python docs/method_pages.py

A test holds the pages to the docstrings: run this after changing one.
"""

import re
import textwrap
from pathlib import Path

import unskew
from unskew.rankers import MethodCard

PAGES = Path(__file__).parent / "methods"
LETTERS = """
Letters: r confidence, u(x) = p(o=1|x) probability of being labeled, e(x) = p(o=1|x, y=1) propensity, η(x) = p(y=1|x)
posterior, π = p(y=1) prior, c = p(o=1|y=1) label frequency, α share of labeled instances; E_l, E_u and E_x are means
over labeled, unlabeled and all instances. See [notation](../notation.md).
"""


def markdown(text: str) -> str:
    """Docstring text as Markdown with formulas between dollar signs."""
    text = re.sub(r"^\.\. math::(.*(?:\n[ \t]+\S.*)*)", _formula, text, flags=re.MULTILINE)
    text = re.sub(r":math:`([^`]*)`", r"$\1$", text)
    return text.replace("``", "`")


def _formula(match: re.Match[str]) -> str:
    first, _, rest = match[1].partition("\n")
    lines = [first.strip(), *textwrap.dedent(rest).splitlines()]
    return "\n".join(["$$", *filter(None, lines), "$$"])


def parameters(text: str) -> str:
    """The docstring's parameters as a list."""
    items = re.split(r"\n(?=\S)", text)
    lines = [(head, " ".join(body.split())) for head, _, body in (item.partition("\n") for item in items)]
    return "\n".join(f"- `{head}`: {body}" for head, body in lines)


def page(card: MethodCard) -> str:
    """One method's page."""
    sections = [
        f"# {card.name}: {card.summary.rstrip('.')}",
        f"`unskew.make({card.name!r})` or `unskew.{card.class_name}`; **{card.table_name}** in tables.",
        f"## When to use it\n\n{markdown(card.use_when)}",
        f"## When not\n\n{markdown(card.avoid_when)}",
        f"## What it needs\n\n{facts(card)}",
        f"## What it does\n\n{markdown(card.description)}",
        f"## What it assumes\n\n{markdown(card.assumption_text)}",
        f"## Where it differs from its authors\n\n{markdown(card.differences)}",
        f"## Parameters of its own\n\n{parameters(card.parameters)}" if card.parameters else "",
        f"## Reference\n\n{card.reference}",
        LETTERS.strip(),
    ]
    return "\n\n".join(filter(None, sections)) + "\n"


def facts(card: MethodCard) -> str:
    """The card's short entries as a table."""
    return "\n".join(
        [
            "| assumption | needs | estimates u first | scenarios |",
            "|---|---|---|---|",
            f"| {card.assumption} | {needs(card)} | {'yes' if card.uses_labeling else 'for the prior only'} "
            f"| {', '.join(card.scenarios)} |",
        ]
    )


def needs(card: MethodCard) -> str:
    """What the method needs besides labels, in words."""
    return ", ".join(card.needs) or "labels only"


def index(cards: tuple[MethodCard, ...]) -> str:
    """The page that leads to the others."""
    rows = [
        f"| [{card.name}]({card.name}.md) | {card.table_name} | {card.summary} | {card.assumption} | {needs(card)} "
        f"| {', '.join(card.scenarios)} |"
        for card in cards
    ]
    return "\n".join(
        [
            "# Methods",
            "",
            "Not sure? `auto` is the first to try: it combines several methods and says which it used. The others, in "
            "the paper's order. Where the prior is needed and not given, it is estimated from the confidence.",
            "",
            "| name | in tables | what it does | assumption | needs | scenarios |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
            "SCAR: labels are given at random among the positives. SAR: who gets labeled depends on the features.",
            "These pages are written by `python docs/method_pages.py` from the methods' docstrings.",
            "",
            "```{toctree}",
            ":hidden:",
            "",
            *(f"{card.name} <{card.name}>" for card in cards),
            "```",
            "",
        ]
    )


def pages() -> dict[str, str]:
    """All pages by file name."""
    cards = unskew.method_cards()
    return {"index.md": index(cards), **{f"{card.name}.md": page(card) for card in cards}}


def main() -> None:
    """Write all pages."""
    PAGES.mkdir(exist_ok=True)
    for name, text in pages().items():
        (PAGES / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
