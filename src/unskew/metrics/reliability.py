"""How far an estimate can be trusted, as findings for people and as warnings in Python, in the same words."""

import warnings

from unskew._support.text import percent
from unskew.errors import GivenPriorWarning, LowReliabilityWarning, NoEstimateWarning
from unskew.metrics.diagnostics import GOOD, NOTE, WARNING, Finding

WARN_BELOW = 0.8
"""Reliability below which an estimate comes with a note, and in Python with a warning."""
INTERVALS_ONLY_BELOW = 0.3
"""Reliability below which the command line and the pages show intervals only.

Both were read off the tables in `docs/estimates.md`. From the first on, probabilities are off by at most 0.05 in the
mean on laws where they are known, and the share of positives by more than an eighth of itself one time in ten. Below
the second it is off by a third or more that often.
"""
NOT_SEEN_FROM_INSIDE = (
    "All estimates take the confidence for a probability. Whether it is calibrated cannot be seen from these rows: "
    "check some by hand with `unskew audit MODEL DATA --id COLUMN`."
)
_CATEGORIES: dict[str, type[Warning]] = {
    "reliability": LowReliabilityWarning,
    "given-prior": GivenPriorWarning,
    "labeled-share": NoEstimateWarning,
}


def shows_points(reliability: float | None) -> bool:
    """Whether single values are shown beside their intervals; None is that of files of earlier versions."""
    return reliability is None or reliability >= INTERVALS_ONLY_BELOW


def check_reliability(reliability: float, *, varies: bool = True) -> Finding:
    """Whether the confidence can be predicted from the rows, which every estimate rests on.

    `varies`: whether labels differ in their confidence at all.

    Examples
    --------
    >>> check_reliability(0.93).text
    'The confidence can be predicted from the other columns: reliability 0.93 of 1.'
    """
    name, advice = "reliability", "Add columns that the confidence depends on, or label more rows."
    if reliability >= WARN_BELOW:
        return Finding(
            GOOD, name, f"The confidence can be predicted from the other columns: reliability {reliability:.2f} of 1."
        )
    if not varies:
        text = (
            "All labels have the same confidence, so nothing can be learned from it about which rows are more likely "
            "to be positive: estimates rest on assumptions."
        )
        advice = "Use the intervals only, not the single values. Give each label a confidence of its own."
        return Finding(WARNING, name, text, advice)
    hardly = "only partly" if shows_points(reliability) else "hardly"
    text = (
        f"The confidence can {hardly} be predicted from the other columns: reliability {reliability:.2f} of 1, and "
        f"estimates need {WARN_BELOW:g}."
    )
    if shows_points(reliability):
        return Finding(NOTE, name, text, f"Rely on the intervals rather than on single values. {advice}")
    return Finding(WARNING, name, text, f"Use the intervals only, not the single values. {advice}")


def check_given_prior(given: float, low: float, high: float) -> Finding:
    """Whether the share of positives that was given lies in the interval that is estimated without it.

    Examples
    --------
    >>> check_given_prior(0.2, 0.15, 0.25).level
    'good'
    """
    text = (
        f"{percent(given)} of all rows are positive, as given; without that the estimate would be {percent(low)} to "
        f"{percent(high)}"
    )
    if low <= given <= high:
        return Finding(GOOD, "given-prior", f"{text}.")
    advice = "Check the given share, and whether the confidence is a probability."
    return Finding(NOTE, "given-prior", f"{text}, which does not contain it.", advice)


def check_labeled_share(high: float, labeled: float) -> Finding:
    """Whether the share of positives can be as low as estimated, `high` at most, though labeled rows are positive.

    Examples
    --------
    >>> check_labeled_share(0.3, 0.1).level
    'good'
    """
    name, known = "labeled-share", f"{percent(labeled)} of all rows are labeled, and so are positive"
    if high >= labeled:
        return Finding(GOOD, name, f"{known}; the estimated share of positives has room for them.")
    text = f"{known}, but by the confidence at most {percent(high)} can be."
    return Finding(WARNING, name, text, "The confidence is too low to be a probability: ask how it was made.")


def warn_of(finding: Finding, stacklevel: int = 3) -> None:
    """Warn in Python of what the command line shows as a note or a warning; a good finding is silent."""
    if finding.level != GOOD:
        warnings.warn(f"{finding.text} {finding.advice}", _CATEGORIES[finding.name], stacklevel=stacklevel)
