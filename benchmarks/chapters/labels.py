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


def what_it_brings(rows: list[TextRow]) -> str:
    """What suggested labels bring beside twice as many random ones, for the page that explains them."""
    ways = list(dict.fromkeys(row["way"] for row in rows))
    of_tables = [(name, {way: where(own, way=way) for way in ways}) for name, own in by_table(rows)]
    lines = []
    for name, own in of_tables:
        ours, rival = own[OURS], own[RIVAL]
        lengths = f"{_length(ours, 'own_auc'):.3f} and {_length(rival, 'own_auc'):.3f}"
        errors = f"{_error(ours, 'own_auc'):.3f} and {_error(rival, 'own_auc'):.3f}"
        lines.append([name, str(len(ours)), _apart(ours, rival), _ranks(own), lengths, _shortens(own), errors])
    header = ["table", "draws", "true AUC, suggested minus random", "as high", "length of the interval of the AUC"]
    parts = [
        "50 suggested labels beside 100 random ones, on draws that were written down before any of them was run ("
        "`python benchmarks/suggest.py`; [all ways](benchmarks.md#labels-that-were-suggested)). The standard error of "
        "a difference stands behind it; of lengths and errors the first is that of suggested labels.",
        table([*header, "as short", "error of the estimated AUC"], lines),
        _verdict(of_tables),
        "\n".join(_where_not(of_tables)),
    ]
    return "\n\n".join(each for each in parts if each)


def _where_not(of_tables: list[tuple[str, dict[str, list[TextRow]]]]) -> list[str]:
    """Tables on which suggested labels are behind in one way or the other."""
    rivals = [(name, own[OURS], own[RIVAL], own[NONE]) for name, own in of_tables]
    lower = [name for name, ours, rival, _ in rivals if mean(ours, "auc") < mean(rival, "auc")]
    worse = [name for name, ours, _, before in rivals if mean(ours, "auc") < mean(before, "auc")]
    random_worse = [name for name, _, rival, before in rivals if mean(rival, "auc") < mean(before, "auc")]
    longer = [name for name, own in of_tables if _shortens(own) == "no"]
    farther = [name for name, ours, rival, _ in rivals if _error(ours, "own_auc") > _error(rival, "own_auc")]
    told = [
        (lower, "100 random labels raise the true AUC more than 50 suggested ones on {}."),
        (longer, "The interval of the AUC is longer after 50 suggested labels than after 100 random ones on {}."),
        (worse, "Suggested labels make the ranking worse than none on {}."),
        (random_worse, "Random ones make it worse than none on {}."),
        (
            farther,
            "The estimated AUC is farther from the truth after suggested labels than after random ones on {}: the "
            "model does not ask for what it does not know that it does not know.",
        ),
    ]
    return [f"- {text.format(_listed(names))}" for names, text in told if names]


def _ranks(own: dict[str, list[TextRow]]) -> str:
    """Whether suggested labels raise the true AUC as much."""
    return "yes" if mean(own[OURS], "auc") >= mean(own[RIVAL], "auc") else "no"


def _shortens(own: dict[str, list[TextRow]]) -> str:
    """Whether suggested labels make the interval as short."""
    return "yes" if _length(own[OURS], "own_auc") <= _length(own[RIVAL], "own_auc") else "no"


def _verdict(of_tables: list[tuple[str, dict[str, list[TextRow]]]]) -> str:
    """Where the goal is met."""
    better, shorter, missed = [], [], []
    for name, own in of_tables:
        ranks, cuts = _ranks(own) == "yes", _shortens(own) == "yes"
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
