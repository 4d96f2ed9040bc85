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
    header = ["what", "rows", "labels", "fit [s]", "scoring [s]", "peak [MB]", "before [MB]", "AUC"]
    lines = [
        [
            row["what"],
            *(count(row[column]) if row.get(column) else "–" for column in ("rows", "labels")),
            *(short(number([row], column)) for column in ("fit_seconds", "score_seconds", "peak_mb", "before_mb")),
            f"{float(row['auc']):.4f}" if row.get("auc") else row["why_not"],
        ]
        for row in sorted(rows, key=lambda row: int(row["rows"]))
    ]
    return "\n\n".join(
        [
            "## Beside others",
            "`python benchmarks/beside_others.py`. One law with 20 columns that interact, biased labels and a noisy "
            "confidence, one draw of each size; everything with its defaults and on one thread. The probabilities that "
            "each method of unskew learns beside its score are a part of its fit; a line of their own says how much. "
            "Only the methods of unskew are handed the confidence. LightGBM and scikit-learn tell labeled from "
            "unlabeled rows; pulearn assumes that labels are given at random among the positives. Each fit runs in a "
            f"process of its own. Seconds are those of the processor, for the fit and for {count(rows[0]['n_test'])} "
            "new rows, on which the AUC is the true one. Memory is of the whole process, at the peak and before the "
            "fit, libraries and the table with it. " + best_text(rows),
            picture("beside_others", "Seconds of a fit, its peak memory and the AUC against the number of rows"),
            table(header, lines),
        ]
    )


def best_text(rows: list[TextRow]) -> str:
    """Which method ranks best and which is fastest, at each size, and the AUC of the truth."""
    sentences, n_titles = [], len({row["what"] for row in rows})
    for size in sizes_of(rows):
        measured = [row for row in where(rows, rows=size) if row.get("auc")]
        among = "" if len(measured) == n_titles else f", of the {len(measured)} that were measured,"
        if measured:
            best = max(measured, key=lambda row: float(row["auc"]))
            fastest = min(measured, key=lambda row: float(row["fit_seconds"]))["what"]
            sentences.append(
                f"At {count(size)} rows{among} {best['what']} ranks best ({float(best['auc']):.4f}; the true posterior "
                f"{float(best['best_auc']):.4f}) and {fastest} is the fastest."
            )
    return " ".join(sentences)


NETWORK, TREES, LONG = "network", "trees", "network, long training"
"""Fits whose times and AUCs are compared."""


def long_section(rows: list[TextRow]) -> str:
    """The default fit of the network on a large table, beside trees and its own long training."""
    if not rows:
        return ""
    columns = "rows", "labels", "law", "what", "epochs"
    lines = [
        [*(count(row[name]) if row[name].isdigit() else row[name] for name in columns)]
        + [short(float(row["fit_seconds"])), f"{float(row['auc']):.4f}", f"{float(row['best_auc']):.4f}"]
        for row in rows
    ]
    return (
        "## The network on a large table\n\n"
        "`python benchmarks/long_training.py`. Default fits of conf-auc, labeling model and probabilities included, by "
        "the network and by boosted trees, and the network with ten times its epochs. Seconds are those of the "
        "processor, with one thread. How long to train was chosen on other laws than these.\n\n"
        + table(["rows", "labels", "law", "what", "epochs", "seconds", "AUC", "AUC of the true posterior"], lines)
    )


def time_over_trees(rows: list[TextRow]) -> float | None:
    """Time of the default fit of the network over that of the trees, both summed over the laws."""
    network, trees = (sum(numbers(where(rows, what=what), "fit_seconds")) for what in (NETWORK, TREES))
    return network / trees if network and trees else None


def long_gain(rows: list[TextRow]) -> float | None:
    """What the AUC gains by the long training, on the law where that is most."""
    usual, long = (
        {(row["rows"], row["law"]): float(row["auc"]) for row in where(rows, what=what)} for what in (NETWORK, LONG)
    )
    return max((long[law] - usual[law] for law in usual.keys() & long.keys()), default=None)


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


def million_section(rows: list[TextRow], peaks: list[TextRow]) -> str:
    """The command line from a file to a model; `peaks` are rows of programs of which only the memory was measured."""
    if not rows:
        return ""
    columns = "rows", "file_mb", "polars_seconds", "fit_seconds", "seconds", "ratio"
    of_peak = "rows", "file_mb", "peak_mb", "peak_over_file"
    lines, of_memory = (
        [
            [f"{row['what']}, {row['method']}", row["epochs"], *(short(number([row], column)) for column in names)]
            for row in these
        ]
        for these, names in ((rows, columns), (latest_peaks(rows, peaks), of_peak))
    )
    base = short(number([*where(peaks, what="csv"), *where(rows, what="csv")], "libraries_mb"))
    return (
        "## From the file to the model\n\n"
        "`python benchmarks/million_rows.py`. `unskew fit --no-estimate` on a table of 10 columns of numbers and 10 of "
        "words, with 3 to 100 words each, a label and a confidence. Reading is `polars.read_csv`; the fit alone is the "
        "same fit on features in memory; each in a process of its own, one after another.\n\n"
        + table(
            ["what", "epochs", "rows", "file [MB]", "polars [s]", "fit alone [s]", "command [s]", "over both"], lines
        )
        + f"\n\nPeak memory of the program, of which {base} MB are libraries before any row is read "
        '(`--only-peak` measures it alone). "In the file" is a Parquet file of which the command may hold less than '
        "its columns take, so that its rows stay there.\n\n"
        + table(["what", "epochs", "rows", "file [MB]", "peak [MB]", "peak over file"], of_memory)
    )


def latest_peaks(rows: list[TextRow], peaks: list[TextRow]) -> list[TextRow]:
    """Rows with the peak memory of each command: those of which only this was measured count before the others."""
    measured = [(row["what"], row["method"], row["rows"]) for row in peaks]
    return [*peaks, *(row for row in rows if (row["what"], row["method"], row["rows"]) not in measured)]


def fit_picture(rows: list[TextRow]) -> bytes:
    """Time and memory of whole fits, and how well they rank."""
    titles = list(dict.fromkeys(row["what"] for row in rows))
    labels = {"fit_seconds": "seconds of the fit", "peak_mb": "peak memory [MB]", "auc": "true AUC"}
    marks = "osD^v"
    with new_figure(len(labels), panel=(4.2, 3.6)) as (figure, panels):
        for axes, (column, label) in zip(panels, labels.items(), strict=True):
            for title in titles:
                color, of_same = color_of(title, titles)
                own = [row for row in where(rows, what=title) if row.get(column)]
                x, y = numbers(own, "rows"), numbers(own, column)
                axes.plot(x, y, marker=marks[of_same % len(marks)], markersize=4, color=color, label=title)
            log_log(axes, "rows", label)
        # Libraries and the table take most of the memory: on a log scale small differences would look large.
        panels[1].set_yscale("linear")
        panels[1].set_ylim(0)
        panels[2].set_yscale("linear")
        key_below(figure, panels)
        return as_png(figure)


def color_of(title: str, titles: list[str]) -> tuple[str, int]:
    """Color of ours, of pulearn's, of the others; and the place among those of this color."""
    colors = {
        each: BLUE if each.startswith("unskew") else ORANGE if each.startswith("pulearn") else DARK for each in titles
    }
    same = [each for each in titles if colors[each] == colors[title]]
    return colors[title], same.index(title)
