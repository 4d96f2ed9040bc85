"""Warnings about tables: what is found of what was planted, and what is found in clean tables."""

from chapters.text import TextRow, table, where

CLEAN = "clean"
MOST_FALSE, CLEAN_TABLES = 1, 20
PLANTED = {
    "status_word": "a word that is set when a row is labeled, and sometimes forgotten",
    "true_class": "the true class",
    "confidence_in_percent": "the confidence in another unit",
    "confidence_as_odds": "the odds of the confidence",
    "review_date": "a date that only labeled rows have",
    "reviewed_too": "a date that labeled rows have, and some others",
    "order_of_numbers": "numbers from a range that only labeled rows have",
    "minutes_of_review": "minutes that a review took, 0 without one",
}


def warning_section(rows: list[TextRow]) -> str:
    """Leaks found, by kind, and false warnings."""
    if not rows:
        return ""
    clean = where(rows, what=CLEAN)
    false = [row for row in clean if row["found"] == "yes"]
    allowed = MOST_FALSE * len(clean) / CLEAN_TABLES
    lines = []
    for kind, about in PLANTED.items():
        own = where(rows, what=kind)
        if own:
            missed = [f"{row['table']} ({row['labeled']} labels)" for row in own if row["found"] != "yes"]
            lines.append([about, f"{len(own) - len(missed)} of {len(own)}", ", ".join(missed) or "none"])
    verdict = "met" if len(false) <= allowed else "**missed**"
    parts = [
        "## Warnings about tables",
        "`python benchmarks/warnings_study.py --judge`. Each leak is planted in each clean table, on seeds that "
        "nothing was tuned on, and must be named before anything is trained.",
        table(["planted", "named", "missed in"], lines),
        f"Clean tables with a false warning: {len(false)} of {len(clean)} (at most {MOST_FALSE} of {CLEAN_TABLES}: "
        f"{verdict}).",
    ]
    return "\n\n".join(parts)
