"""What labels bring that were suggested, beside random ones."""

from chapters.rankings import by_table, mean
from chapters.text import TextRow, table, where

NONE, OURS, RIVAL = "none", "50 suggested", "100 random"


def suggest_section(rows: list[TextRow], of_auto: list[TextRow]) -> str:
    """True AUC, lengths of intervals and errors after labels that were chosen in different ways."""
    if not rows:
        return ""
    ways = list(dict.fromkeys(row["way"] for row in rows))
    of_tables = [(name, {way: where(own, way=way) for way in ways}) for name, own in by_table(rows)]
    gains, quality = [], []
    for name, own in of_tables:
        before = own[NONE]
        found = f"{mean(own[OURS], 'positives'):.0f}"
        changes = [f"{mean(own[way], 'auc') - mean(before, 'auc'):+.4f}" for way in ways if way != NONE]
        counts = str(len(before)), f"{mean(before, 'labels'):.0f}", found
        gains.append([name, *counts, f"{mean(before, 'auc'):.4f}", *changes, _apart(own[OURS], own[RIVAL])])
        for what, length, error in (("AUC", "own_auc", "own_auc"), ("share of positives", "prior", "prior")):
            entries = [f"{_length(own[way], length):.3f} ({_error(own[way], error):.3f})" for way in ways]
            quality.append([f"{name}, {what}", *entries])
    parts = [
        "## Labels that were suggested",
        "`python benchmarks/suggest.py`. Biased labels, then rows that were chosen in one of four ways and labeled "
        "with their confidence, positive or not; on the thirty seeds of each table that were written down before any "
        "of them was run, as far as they are done. True test AUC of `conf-gp` before, and how it changes; the last "
        "column is the difference of 50 suggested and 100 random labels, with its standard error.",
        table(
            ["table", "draws", "labels before", "positives among 50 suggested", "AUC before"]
            + [way for way in ways if way != NONE]
            + ["suggested over 100 random"],
            gains,
        ),
        "Mean length of the 95 % interval and, in parentheses, mean error of the estimate on the same draws.",
        table(["table, estimate", *ways], quality),
        _verdict(of_tables),
        _auto_part(of_auto),
    ]
    return "\n\n".join(each for each in parts if each)


def _verdict(of_tables: list[tuple[str, dict[str, list[TextRow]]]]) -> str:
    """Where the goal is met."""
    better, shorter, missed = [], [], []
    for name, own in of_tables:
        ours, rival = own[OURS], own[RIVAL]
        ranks, cuts = mean(ours, "auc") >= mean(rival, "auc"), _length(ours, "own_auc") <= _length(rival, "own_auc")
        better += [name] * ranks
        shorter += [name] * cuts
        missed += [name] * (not ranks and not cuts)
    sentences = [
        f"The goal, as written down before: 50 suggested labels raise the mean AUC by as much as 100 random ones "
        f"({_listed(better)}), or make the mean interval of the AUC as short ({_listed(shorter)}).",
        f"Neither holds on {_listed(missed)}." if missed else "One or the other holds on every table.",
    ]
    return " ".join(sentences)


def _auto_part(rows: list[TextRow]) -> str:
    """The same AUC for `auto`, of which there are few draws."""
    if not rows:
        return ""
    ways = list(dict.fromkeys(row["way"] for row in rows))
    lines = []
    for name, own in by_table(rows):
        means = [f"{mean(where(own, way=way), 'auc'):.4f}" for way in ways]
        lines.append([name, str(len(where(own, way=NONE))), *means])
    text = "`python benchmarks/suggest.py --auto`. Mean true AUC of `auto` on a few of these draws, with the same rows."
    return text + "\n\n" + table(["table", "draws", *ways], lines)


def _apart(ours: list[TextRow], rival: list[TextRow]) -> str:
    """Mean difference of the AUC on the same draws, with its standard error."""
    found = {row["seed"]: float(row["auc"]) for row in rival}
    gaps = [float(row["auc"]) - found[row["seed"]] for row in ours if row["seed"] in found]
    middle = sum(gaps) / len(gaps)
    if len(gaps) < 2:
        return f"{middle:+.4f}"
    spread = (sum((gap - middle) ** 2 for gap in gaps) / (len(gaps) - 1) / len(gaps)) ** 0.5
    return f"{middle:+.4f} ± {spread:.4f}"


def _length(rows: list[TextRow], what: str) -> float:
    return mean(rows, f"{what}_high") - mean(rows, f"{what}_low")


def _error(rows: list[TextRow], what: str) -> float:
    return sum(abs(float(row[what]) - float(row[f"{what}_true"])) for row in rows) / len(rows)


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) if names else "nowhere"
