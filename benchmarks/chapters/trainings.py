"""Whole trainings: several at once, beside other libraries, and on tables larger than memory."""

from chapters.axes import key_below, log_log
from chapters.text import TextRow, count, number, numbers, picture, short, table, where
from unskew._support.pictures import BLUE, DARK, ORANGE, as_png, new_figure

WAYS = {"at once": "at once [s]", "one after another": "one after another [s]"}


def job_section(rows: list[TextRow]) -> str:
    """Trainings at once, or one after another."""
    lines = []
    for network in dict.fromkeys(row["network"] for row in rows):
        at_once, after = (number(where(rows, network=network, way=way), "seconds") for way in WAYS)
        ratio = after / at_once if at_once and after else None
        lines.append([network, where(rows, network=network)[0]["epochs"], *map(short, (at_once, after, ratio))])
    if not lines:
        return ""
    verdicts = [f"{line[0]}: {line[-1]} times as long one after another" for line in lines]
    return (
        "## Several trainings at once\n\n"
        f"`python benchmarks/jobs.py`. Seconds of {rows[0]['trainings']} trainings on {count(rows[0]['train_rows'])} "
        "rows each: in as many processes at once with one thread each, or in one process one after another with as "
        f"many threads. {'; '.join(verdicts)}.\n\n"
        + table(["network", "epochs", *WAYS.values(), "one after another over at once"], lines)
    )


def fit_section(rows: list[TextRow]) -> str:
    """Whole fits beside others."""
    if not rows:
        return ""
    lines = [
        [
            row["what"],
            count(row["rows"]),
            *(short(number([row], column)) for column in ("seconds", "peak_mb", "before_mb")),
            f"{float(row['auc']):.4f}" if row.get("auc") else row.get("why_not", ""),
        ]
        for row in rows
    ]
    return "\n\n".join(
        [
            "## Whole fits",
            "`python benchmarks/whole_fits.py`. The toy law with biased labels, one draw of each size, one thread. The "
            f"methods of unskew train {rows[0]['epochs']} epochs with a learning rate of {rows[0]['learning_rate']}, "
            "all others have their defaults. scikit-learn tells labeled from unlabeled; pulearn "
            "assumes that labels are given at random among the positives; only the methods of unskew are handed the "
            "confidence, which is the true posterior here. Each fit runs in a process of its own. Memory is of the "
            "whole process, at the peak and before the fit, libraries with it. The AUC is "
            f"the true one, on {count(rows[0]['n_test'])} new rows. " + best_text(rows),
            picture("whole_fits", "Seconds and peak memory of whole fits against the number of rows"),
            table(["what", "rows", "seconds", "peak [MB]", "before [MB]", "AUC"], lines),
        ]
    )


def best_text(rows: list[TextRow]) -> str:
    """Which method ranks best and which is fastest, at each size."""
    sentences = []
    for size in sizes_of(rows):
        measured = [row for row in where(rows, rows=size) if row.get("auc")]
        if measured:
            best = max(measured, key=lambda row: float(row["auc"]))["what"]
            fastest = min(measured, key=lambda row: float(row["seconds"]))["what"]
            sentences.append(f"At {count(size)} rows {best} ranks best and {fastest} is the fastest.")
    return " ".join(sentences)


def sizes_of(rows: list[TextRow]) -> list[str]:
    """Sizes in their order."""
    return list(dict.fromkeys(row["rows"] for row in rows))


def larger_section(rows: list[TextRow]) -> str:
    """Tables larger than memory."""
    if not rows:
        return ""
    columns = "seconds", "rows_per_second", "peak_mb"
    lines = [[row["what"], *(short(float(row[column])) for column in columns)] for row in rows]
    return (
        "## Tables larger than memory\n\n"
        f"`python benchmarks/larger_than_memory.py`. {count(rows[0]['rows'])} rows x {rows[0]['columns']} columns of "
        "float32 in Parquet files, which are never read whole. Each line is a process of its own. One epoch of "
        "conf-auc holds the training of the labeling network, that of the ranker and the pass that sets the threshold. "
        "SGDClassifier is scikit-learn's logistic regression on the same stream.\n\n"
        + table(["what", "seconds", "rows per second", "peak [MB]"], lines)
    )


def million_section(rows: list[TextRow]) -> str:
    """The command line from a file to a model."""
    if not rows:
        return ""
    columns = "rows", "file_mb", "polars_seconds", "fit_seconds", "seconds", "ratio", "peak_mb", "peak_over_file"
    lines = [
        [f"{row['what']}, {row['method']}", row["epochs"], *(short(number([row], column)) for column in columns)]
        for row in rows
    ]
    base = short(number(where(rows, what="csv"), "libraries_mb"))
    return (
        "## From the file to the model\n\n"
        "`python benchmarks/million_rows.py`. `unskew fit --no-estimate` on a table of 10 columns of numbers and 10 of "
        "words, with 3 to 100 words each, a label and a confidence. Reading is `polars.read_csv`; the fit alone is the "
        "same fit on features in memory; each in a process of its own, one after another. Of the peak memory of a "
        f'process, {base} MB are libraries before any row is read. "In the file" is a Parquet file of which the '
        "command may hold less than its columns take.\n\n"
        + table(
            ["what", "epochs", "rows", "file [MB]", "polars [s]", "fit alone [s]", "command [s]", "over both"]
            + ["peak [MB]", "peak over file"],
            lines,
        )
    )


def fit_picture(rows: list[TextRow]) -> bytes:
    """Time and memory of whole fits."""
    titles = list(dict.fromkeys(row["what"] for row in rows))
    colors = [BLUE, BLUE, ORANGE, ORANGE, DARK, DARK]
    with new_figure(2, panel=(4.2, 3.4)) as (figure, panels):
        for axes, column, label in zip(panels, ("seconds", "peak_mb"), ("seconds", "peak memory [MB]"), strict=True):
            for place, title in enumerate(titles):
                own = [row for row in where(rows, what=title) if row.get(column)]
                line = ("-", ":")[place % 2]
                x, y = numbers(own, "rows"), numbers(own, column)
                axes.plot(x, y, line, marker="o", markersize=4, color=colors[place % len(colors)], label=title)
            log_log(axes, "rows", label)
        # Libraries take most of it: on a log scale small differences would look large.
        panels[1].set_yscale("linear")
        panels[1].set_ylim(0)
        key_below(figure, panels)
        return as_png(figure)
