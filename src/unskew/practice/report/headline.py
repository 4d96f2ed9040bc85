"""The numbers that a model's page opens with, each with a plain sentence."""

from html import escape

from unskew._support.text import auc_text, cases, interval, percent, plural
from unskew.metrics.evidence import Estimate, Evidence
from unskew.practice.report.findings import findings_summary
from unskew.practice.report.parts import section
from unskew.practice.report.words import exact


def headline(evidence: Evidence) -> str:
    """AUC, share of positives, and what the labels are worth."""
    estimate = evidence.estimate
    tiles = [_prior_tile(evidence)]
    if estimate.label_freq is not None and estimate.auc is not None:
        tiles.append(_label_freq_tile(evidence, estimate.label_freq))
    size = estimate.effective_labeled
    tiles.append(
        _tile(
            "Labels after weighting",
            exact(f"{size:,.0f}", size, "effective-labeled"),
            f"of {evidence.n_labeled:,} labeled rows",
            "Some labels stand for many positives and count more; together they are worth this many equal ones.",
        )
    )
    content = f'{_auc_tile(estimate)}<div class="tiles">{"".join(tiles)}</div>'
    note = (
        '<p class="soft">Every estimate is from the labeled and unlabeled rows alone, on rows that the model did not '
        "see when it was trained. They hold as far as the confidence is a probability. "
        f'{findings_summary(evidence.findings)} <a href="#checks">See the checks.</a></p>'
    )
    return section("headline", "How good is the ranking?", content + note)


def _tile(title: str, big: str, small: str, sentence: str) -> str:
    return (
        f'<div class="tile"><h3>{escape(title)}</h3><p class="big">{big}</p><p class="range">{small}</p>'
        f"<p>{escape(sentence)}</p></div>"
    )


def _auc_tile(estimate: Estimate) -> str:
    level = f"{100 * estimate.level:g} %"
    if estimate.auc is None or estimate.low is None or estimate.high is None:
        return (
            '<div class="tile main"><div><h3>AUC, estimated</h3><p class="big"><span id="auc">not known</span></p>'
            '</div><div class="words"><p>Confidence and labeling probability contradict each other, so that no AUC '
            "can be told. The checks below say what to do.</p></div></div>"
        )
    ends = f"{level} interval {interval(estimate.low, estimate.high)}"
    sentence = (
        f"A random positive is ranked above a random negative in {cases(estimate.auc)} cases, estimated without a "
        f"single negative; {ends}."
    )
    if estimate.auc >= 1:  # no ranking is perfect; an estimate may be, and then it was cut off there
        sentence = (
            "The estimate came out at the top of its scale, or above, which says that chance took it there or that "
            f"fewer rows are positive than estimated: go by the {ends}."
        )
    return (
        f'<div class="tile main"><div><h3>AUC, estimated</h3><p class="big">'
        f'{exact(auc_text(estimate.auc), estimate.auc, "auc")}</p><p class="range">{level} interval '
        f"{exact(auc_text(estimate.low), estimate.low, 'auc-low')} to "
        f"{exact(auc_text(estimate.high), estimate.high, 'auc-high')}</p></div>"
        f'<div class="words"><p>{escape(sentence)}</p>{_auc_scale(estimate.auc, estimate.low, estimate.high)}</div>'
        "</div>"
    )


def _auc_scale(auc: float, low: float, high: float) -> str:
    """Estimate and interval between chance (or 0, where the interval reaches below) and perfection."""
    start = 0.5 if low >= 0.5 else 0.0
    left, right, point = (100 * (each - start) / (1 - start) for each in (low, high, max(auc, start)))
    text = f"{start:.1f}, chance" if start else "0"
    return (
        f'<div class="scale" aria-hidden="true"><span class="span" style="left:{left:.2f}%;width:{right - left:.2f}%">'
        f'</span><span class="point" style="left:{point:.2f}%"></span></div>'
        f'<div class="ends" aria-hidden="true"><span>{text}</span><span>1.0, perfect</span></div>'
    )


def _prior_tile(evidence: Evidence) -> str:
    estimate = evidence.estimate
    prior = estimate.prior
    if prior is None:
        return ""
    if estimate.auc is None:
        return _tile(
            "Share of positives",
            '<span id="prior">not known</span>',
            "",
            "By confidence and labeling probability no row would be negative, which cannot be.",
        )
    count = prior * evidence.n_ranked
    rounded = round(count, -max(0, len(f"{count:.0f}") - 2))  # two digits: it is an estimate
    small = "as given"
    if estimate.prior_low is not None and estimate.prior_high is not None:
        low, high = percent(estimate.prior_low), percent(estimate.prior_high)
        small = f"{100 * estimate.level:g} % interval {low} to {high}"
    sentence = (
        f"About {rounded:,.0f} of {plural(evidence.n_ranked, 'row')} are positive; {evidence.n_labeled:,} are labeled."
    )
    return _tile("Share of positives", exact(percent(prior), prior, "prior"), small, sentence)


def _label_freq_tile(evidence: Evidence, label_freq: float) -> str:
    low, high = evidence.estimate.prior_low, evidence.estimate.prior_high
    alpha = evidence.n_labeled / evidence.n_rows
    small = ""
    if low and high:
        small = (
            f"{100 * evidence.estimate.level:g} % interval {percent(alpha / high)} to {percent(min(1, alpha / low))}"
        )
    sentence = f"The other {percent(1 - label_freq)} of the positives are still among the unlabeled rows."
    if label_freq >= 1:
        sentence = "By this estimate no positive is left among the unlabeled rows."
    return _tile("Labeled among the positives", exact(percent(label_freq), label_freq, "label-freq"), small, sentence)
