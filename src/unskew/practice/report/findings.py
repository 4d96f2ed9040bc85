"""What the diagnostics found, each with its level in words and what to do."""

from collections.abc import Sequence
from html import escape

from unskew._support.text import plural
from unskew.metrics.diagnostics import Finding
from unskew.practice.report.parts import section

LEVEL_WORDS = {"warning": "! Warning", "note": "i Note", "good": "\u2713 Good"}


def findings_summary(findings: Sequence[Finding]) -> str:
    """How many checks are not good, in a sentence."""
    counts = {level: sum(each.level == level for each in findings) for level in LEVEL_WORDS}
    words = [plural(counts["warning"], "warning"), plural(counts["note"], "note"), f"{counts['good']} good"]
    shown = [text for text, level in zip(words, LEVEL_WORDS, strict=True) if counts[level]]
    return f"{plural(len(findings), 'check')}: {', '.join(shown)}."


def findings_section(findings: Sequence[Finding]) -> str:
    """All findings, the worst first."""
    order = list(LEVEL_WORDS)
    items = "".join(_finding(each) for each in sorted(findings, key=lambda each: order.index(each.level)))
    lead = f"<p>{findings_summary(findings)} Each says what it found, and what to do about it.</p>"
    return section("checks", "Can the estimates be trusted?", f'{lead}<ul class="findings">{items}</ul>')


def _finding(finding: Finding) -> str:
    advice = f'<p class="advice"><strong>What to do:</strong> {escape(finding.advice)}</p>' if finding.advice else ""
    return (
        f'<li class="finding {finding.level}" data-name="{escape(finding.name)}"><span class="badge {finding.level}">'
        f"{LEVEL_WORDS[finding.level]}</span><div><p>{escape(finding.text)}</p>{advice}</div></li>"
    )
