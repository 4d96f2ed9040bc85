"""What makes a page move: the data inside it, and the script that reads them."""

import json
from html import escape
from typing import Any

from unskew._support.text import NOT_KNOWN, percent
from unskew.metrics.evidence import Curve, Evidence, first_cut
from unskew.practice.report.page import asset
from unskew.practice.report.words import exact


def embedded_json(content: Any, name: str) -> str:
    r"""Data as a script element that nothing in them can close, and that no browser runs.

    Examples
    --------
    >>> embedded_json({"feature": "</script>&"}, "data")
    '<script type="application/json" id="data">{"feature": "\\u003c/script\\u003e\\u0026"}</script>'
    """
    text = json.dumps(content, allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" id="{escape(name)}">{text}</script>'


def page_scripts(evidence: Evidence) -> str:
    """The evidence and the script of a model's page."""
    return f"{embedded_json(evidence.to_json(), 'evidence')}<script>{asset('page.js')}</script>"


def own_cut(evidence: Evidence, curve: Curve) -> int:
    """Where the model itself cuts; without a model, where as many rows are flagged as are positive, by estimate."""
    share = (evidence.estimate.prior or 0.0) if evidence.own_share is None else evidence.own_share
    return min(
        range(first_cut(evidence, curve), len(curve.flagged)), key=lambda place: abs(curve.flagged[place] - share)
    )


def threshold_control(evidence: Evidence, curve: Curve) -> str:
    """A slider over the thresholds, hidden until the script is there, and what the chosen one gives."""
    chosen = own_cut(evidence, curve)
    flagged, score = curve.flagged[chosen], curve.threshold[chosen]
    rows = round(flagged * evidence.n_ranked)
    numbers = [
        ("share flagged", exact(percent(flagged), flagged, "chosen-flagged"), "of all rows"),
        ("rows flagged", exact(f"{rows:,}", rows, "chosen-rows"), f"of {evidence.n_ranked:,}"),
        ("precision", exact(percent(curve.precision[chosen]), curve.precision[chosen], "chosen-precision"),
         "of the flagged are positive"),
        ("recall", exact(percent(curve.tpr[chosen]), curve.tpr[chosen], "chosen-recall"),
         "of the positives are flagged"),
        ("false positive rate", exact(percent(curve.fpr[chosen]), curve.fpr[chosen], "chosen-fpr"),
         "of the negatives are flagged"),
    ]  # fmt: skip
    if any(each is not None for each in curve.threshold):
        text = NOT_KNOWN if score is None else f"{score:.4g}"
        numbers.append(("score", exact(text, score, "chosen-score"), "from which on a row is flagged"))
    first, last = first_cut(evidence, curve), len(curve.flagged) - 1
    row = "".join(f"<div><dt>{name}</dt><dd>{value}<small>{note}</small></dd></div>" for name, value, note in numbers)
    return (
        '<div class="chosen-row"><div class="control" id="control" hidden>'
        '<label for="cut">Move to flag fewer or more rows</label>'
        f'<input type="range" id="cut" min="{first}" max="{last}" step="1" value="{chosen}" '
        f'aria-describedby="cut-ends" autocomplete="off">'
        '<div class="ends" id="cut-ends"><span>few, most likely positive</span><span>all</span></div></div>'
        f'<dl class="numbers" id="chosen" aria-live="polite">{row}</dl></div>'
    )
