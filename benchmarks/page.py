"""Write docs/benchmarks.md and its pictures from the rows that the other benchmarks have written.

    python benchmarks/page.py [--rows results/benchmarks] [--docs docs]

Every figure on the page is from the rows, and so is whether a goal is met. A test holds the page to the rows.
"""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import log_slope
from rows import MACHINE, read_rows
from unskew.files import write_atomically
from unskew.report.figures import BLUE, DARK, GREY, ORANGE, as_png, new_figure

ROOT = Path(__file__).parents[1]
FILES = "pair_sums", "step_ratio", "cnn_step", "jobs", "whole_fits", "larger_than_memory"
FOLDER = "benchmarks"  # of the pictures, beside the page

TextRow = dict[str, str]
Results = dict[str, list[TextRow]]


def read_results(folder: Path) -> Results:
    """All tables by name; one that has not been measured is empty."""
    names = *FILES, Path(MACHINE).stem
    paths = {name: folder / f"{name}.csv" for name in names}
    return {name: read_rows(path) if path.exists() else [] for name, path in paths.items()}


def where(rows: Iterable[TextRow], /, **entries: object) -> list[TextRow]:
    """Rows with these entries."""
    wanted = {column: str(value) for column, value in entries.items()}
    return [row for row in rows if all(row.get(column) == value for column, value in wanted.items())]


def number(rows: Sequence[TextRow], column: str) -> float | None:
    """Entry of the first row; None if there is no row, or nothing in it."""
    return float(rows[0][column]) if rows and rows[0].get(column) else None


def numbers(rows: Iterable[TextRow], column: str) -> list[float]:
    """All entries of a column that are there."""
    return [float(row[column]) for row in rows if row.get(column)]


def count(entry: str) -> str:
    """A whole number for people."""
    return f"{int(entry):,d}"


def short(value: float | None) -> str:
    """Three digits, or all before the point; a dash for nothing."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown; the first column names the row, the others are figures."""
    rule = "|".join(["---", *["---:"] * (len(header) - 1)])
    return "\n".join([f"| {' | '.join(header)} |", f"|{rule}|", *(f"| {' | '.join(row)} |" for row in rows)])


def picture(name: str, text: str) -> str:
    """Markdown of a picture."""
    return f"![{text}]({FOLDER}/{name}.png)"


# The goals.


@dataclass(frozen=True)
class Goal:
    """What the project wants, and what came out; None if these rows do not tell."""

    text: str
    bound: float
    measured: float | None
    unit: str = ""
    at_most: bool = True

    @property
    def verdict(self) -> str:
        """Whether it is met, in a word."""
        if self.measured is None:
            return "not measured"
        is_met = self.measured <= self.bound if self.at_most else self.measured >= self.bound
        return "met" if is_met else "**missed**"

    def cells(self) -> list[str]:
        """Its row of the table."""
        bound = f"at {'most' if self.at_most else 'least'} {short(self.bound)}{self.unit}"
        measured = "–" if self.measured is None else short(self.measured) + self.unit
        return [self.text, bound, measured, self.verdict]


def goals(results: Results) -> list[Goal]:
    """All goals, with what the rows say."""
    return [*pair_goals(results["pair_sums"]), *step_goals(results), *table_goals(results["larger_than_memory"])]


def pair_goals(rows: list[TextRow]) -> list[Goal]:
    """Goals of the sums over pairs."""
    n_high, n_low = 10_000, 1_000_000
    costs = where(rows, what="cost", surrogate="sigmoid", series="fixed high", n_high=n_high, n_low=n_low)
    ours, chunked = where(costs, method="unskew"), where(costs, method="chunked torch")
    seconds, others = number(ours, "seconds"), number(chunked, "seconds")
    errors, batch = where(rows, what="error"), where(rows, what="batch", method="unskew, in a training step")
    slopes = [slope for series in SERIES if (slope := slope_of(rows, series)) is not None]
    sums = f"{n_high:,d} x {n_low:,d} pairs"
    return [
        Goal(
            f"{sums}: faster than chunked torch", 300, others / seconds if seconds and others else None, " times", False
        ),
        Goal(f"{sums}: extra memory", 300, number(ours, "extra_mb"), " MB"),
        Goal(
            f"Slope of log time from {SLOPE_FROM:,d} to {SLOPE_TO:,d} low scores, the larger of both series",
            1.1,
            max(slopes) if len(slopes) == len(SERIES) else None,
        ),
        Goal("Error of losses, relative, at every size", 1e-6, max(numbers(errors, "loss_error"), default=None)),
        Goal(
            "Error of slopes, relative to the largest, at every size",
            1e-5,
            max(numbers(errors, "slope_error"), default=None),
        ),
        Goal("Risk at the paper's batch, over the plain dense form", 1, number(batch, "ratio"), " times"),
    ]


def step_goals(results: Results) -> list[Goal]:
    """Goals of the training steps."""
    mlp, cnn = results["step_ratio"], results["cnn_step"]
    bounds = {784: 1.25, 142: 1.45, 100: 1.5}
    scores = number(where(cnn, what="difference", name="scores"), "difference")
    return [
        *(
            Goal(
                f"Step of the perceptron with {inputs} inputs, over its matrix products",
                bound,
                number(where(mlp, inputs=inputs), "ratio_of_least"),
                " times",
            )
            for inputs, bound in bounds.items()
        ),
        Goal(
            "Step of the CNN: faster than plain torch",
            1.3,
            number(where(cnn, what="step", name="least"), "ratio"),
            " times",
            False,
        ),
        Goal("Scores of the CNN: difference from plain torch", 1e-5, scores),
    ]


def table_goals(rows: list[TextRow]) -> list[Goal]:
    """Goals of tables larger than memory."""
    n_rows, n_columns = 10_000_000, 50
    text = f"{n_rows:,d} rows x {n_columns} columns, {{}}: peak memory"
    works = {"one epoch": "conf-auc, one epoch", "scoring": "conf-auc, scoring"}
    measured = {
        name: number(where(rows, what=work, rows=n_rows, columns=n_columns), "peak_mb") for name, work in works.items()
    }
    return [Goal(text.format(name), 1500, peak, " MB") for name, peak in measured.items()]


def goal_section(results: Results) -> str:
    """The table of goals, and in a sentence which are missed."""
    every = goals(results)
    missed = [goal for goal in every if goal.verdict == "**missed**"]
    unknown = [goal for goal in every if goal.measured is None]
    summary = (
        "These goals are missed: " + "; ".join(f"{goal.text} ({goal.cells()[2]})" for goal in missed) + "."
        if missed
        else "No goal that was measured is missed."
    )
    if unknown:
        summary += " Some were not measured in these rows."
    rows = (goal.cells() for goal in every)
    return f"## Goals\n\n{summary}\n\n{table(['goal', 'bound', 'measured', 'verdict'], rows)}"


# Sums over all pairs.

SLOPE_FROM, SLOPE_TO = 10**5, 10**7
SERIES = {"fixed high": "as many high scores at every size", "fixed share": "high scores a fixed share of the low ones"}
METHODS = {  # and the color, and the line
    ("unskew", "sigmoid"): (BLUE, "-"),
    ("chunked torch", "sigmoid"): (ORANGE, "-"),
    ("dense torch", "sigmoid"): (DARK, "-"),
    ("unskew", "logistic"): (BLUE, ":"),
    ("LibAUC", "logistic"): (GREY, "-"),
}


def costs_of(rows: list[TextRow], series: str, method: tuple[str, str]) -> list[TextRow]:
    """Rows of one method that have been measured."""
    own = where(rows, what="cost", series=series, method=method[0], surrogate=method[1])
    return [row for row in own if row.get("seconds")]


def slope_of(rows: list[TextRow], series: str) -> float | None:
    """Slope of our log time against the log of the low scores; None if the rows do not go so far."""
    own = costs_of(rows, series, ("unskew", "sigmoid"))
    large = [row for row in own if SLOPE_FROM <= int(row["n_low"]) <= SLOPE_TO]
    if not large or int(large[-1]["n_low"]) < SLOPE_TO:
        return None
    return log_slope(numbers(large, "n_low"), numbers(large, "seconds"))


def pair_section(rows: list[TextRow]) -> str:
    """Time and memory by size, errors, the change-over, and the risk of a batch."""
    return "\n\n".join(
        [
            "## Sums over all pairs",
            "`python benchmarks/pair_sums.py`. Value and gradients of both sets of scores, in float32, with one "
            "thread. Dense torch is the matrix of all pairs with autograd. Chunked torch is the same matrix block by "
            "block with gradients written out instead of autograd. LibAUC is its PairwiseAUCLoss with the "
            "logistic surrogate, beside ours with the same. All take turns in one run and the least time counts; "
            "memory is what a call adds at its peak, in a process of its own. Figures of a few megabytes are too "
            "small to be told from what the process held already.",
            picture("pair_sums_time", "Seconds of a sum over all pairs against the number of low scores"),
            picture("pair_sums_memory", "Extra memory of a sum over all pairs against the number of low scores"),
            *(cost_table(rows, series) for series in SERIES),
            stops(rows),
            agreement(rows),
            error_table(rows),
            crossover_table(rows),
            batch_table(rows),
        ]
    )


def cost_table(rows: list[TextRow], series: str) -> str:
    """Seconds and megabytes of all methods at each size of one series."""
    sizes = dict.fromkeys((row["n_high"], row["n_low"]) for row in where(rows, what="cost", series=series))
    lines = []
    for n_high, n_low in sizes:
        at_size = where(rows, what="cost", series=series, n_high=n_high, n_low=n_low)
        found = [where(at_size, method=name, surrogate=surrogate) for name, surrogate in METHODS]
        ours, chunked = number(found[0], "seconds"), number(found[1], "seconds")
        ratio = chunked / ours if ours and chunked else None
        lines.append([f"{count(n_high)} x {count(n_low)}", *map(cost, found), short(ratio)])
    names = [f"{name}, {surrogate}" for name, surrogate in METHODS]
    slope = slope_of(rows, series)
    told = f" The slope of our log time from {SLOPE_FROM:,d} low scores on is {short(slope)}." if slope else ""
    text = f"With {SERIES[series]}, seconds and extra megabytes.{told}"
    return f"{text}\n\n{table(['high x low', *names, 'chunked over unskew'], lines)}"


def cost(found: list[TextRow]) -> str:
    """One cell."""
    if number(found, "seconds") is None:
        return "–"
    mark = "~" if found[0].get("from_part") == "yes" else ""
    return f"{mark}{short(number(found, 'seconds'))} s, {max(0, number(found, 'extra_mb') or 0):,.0f} MB"


def stops(rows: list[TextRow]) -> str:
    """Which method stops where, and why."""
    sentences = []
    for name, surrogate in METHODS:
        left_out = [row for row in where(rows, what="cost", method=name, surrogate=surrogate) if row.get("why_not")]
        if not left_out:
            continue
        own = [row for series in SERIES for row in costs_of(rows, series, (name, surrogate))]
        most = max(own, key=lambda row: int(row["n_high"]) * int(row["n_low"]), default=None)
        if most is None:
            sentences.append(f"{name} was not measured ({left_out[0]['why_not']}).")
        else:
            sentences.append(
                f"{name} stops at {count(most['n_high'])} x {count(most['n_low'])}, where it takes "
                f"{short(float(most['extra_mb']))} MB (left out: {left_out[0]['why_not']})."
            )
    if where(rows, what="cost", from_part="yes"):
        sentences.append("A ~ marks times that were measured on a part of the high scores and scaled up.")
    return " ".join(sentences)


def agreement(rows: list[TextRow]) -> str:
    """How far LibAUC and ours are the same function."""
    found = where(rows, what="agreement")
    parts = [
        f"{row['surrogate']}: loss {short(float(row['loss_error']))}, slopes {short(float(row['slope_error']))}"
        for row in found
    ]
    if not parts:
        return "LibAUC was not there to compare values with."
    return f"LibAUC's loss is the mean over pairs; ours, divided by their number, differs by ({'; '.join(parts)})."


def error_table(rows: list[TextRow]) -> str:
    """Errors by size."""
    lines = [
        [
            f"{count(row['n_high'])} x {count(row['n_low'])}",
            short(float(row["loss_error"])),
            short(float(row["slope_error"])),
        ]
        for row in where(rows, what="error")
    ]
    text = (
        "Errors of the linear form against float64, for some scores of either side: of losses relative to "
        "themselves, of slopes relative to the largest."
    )
    return f"{text}\n\n{table(['high x low', 'loss', 'slope'], lines)}"


def crossover_table(rows: list[TextRow]) -> str:
    """Time in chunks over linear time, around the change-over."""
    found = where(rows, what="crossover")
    factors = list(dict.fromkeys(row["crossovers"] for row in found))
    kinds = dict.fromkeys((row["surrogate"], row["dtype"], row["n_high"]) for row in found)
    lines = [
        [
            f"{surrogate}, {dtype}, {n_high} high",
            *(
                short(number(where(found, surrogate=surrogate, dtype=dtype, n_high=n_high, crossovers=factor), "ratio"))
                for factor in factors
            ),
        ]
        for surrogate, dtype, n_high in kinds
    ]
    text = (
        "Time in chunks over time in linear form, at so many times the number of pairs at which `pair_sum` changes "
        "from one to the other."
    )
    return f"{text}\n\n{table(['what', *factors], lines)}"


def batch_table(rows: list[TextRow]) -> str:
    """The risk of one batch."""
    found = where(rows, what="batch")
    if not found:
        return ""
    lines = [[row["method"], short(1e6 * float(row["seconds"])), short(float(row["ratio"]))] for row in found]
    text = (
        f"The risk of Eq. (17) at the paper's batch, {found[0]['n_high']} labeled and {count(found[0]['n_low'])} "
        "unlabeled scores, value and gradients."
    )
    return f"{text}\n\n{table(['form', 'microseconds', 'over plain dense torch'], lines)}"


# Training steps.


def step_section(results: Results) -> str:
    """Steps of both networks, and what bounds that of the CNN."""
    mlp = [
        [row["inputs"], *(short(float(row[column])) for column in STEP_COLUMNS.values())]
        for row in results["step_ratio"]
    ]
    batches = numbers(results["step_ratio"], "batch")
    return "\n\n".join(
        [
            "## Training steps",
            "`python benchmarks/step_ratio.py`. A step of the paper's perceptron (sampling, forward, risk, backward, "
            "Adam) over the five matrix products that it cannot do without, with one thread"
            + (f" and batches of {short(batches[0])}" if batches else "")
            + ". Steps and products take turns. The least time of either comes nearest to an idle machine, and the "
            "goals are about the ratio of these; that of the medians stands beside it.",
            table(["inputs", *STEP_COLUMNS], mlp),
            picture("steps", "Ratios of training steps"),
            cnn_text(results["cnn_step"]),
        ]
    )


STEP_COLUMNS = {
    "step [ms]": "step_ms",
    "products [ms]": "products_ms",
    "ratio of least": "ratio_of_least",
    "ratio of medians": "ratio_of_medians",
}


def cnn_text(rows: list[TextRow]) -> str:
    """The step of the CNN, its profile, and the rates."""
    steps = [
        [row["name"], *(short(float(row[column])) for column in ("ours_ms", "plain_ms", "ratio"))]
        for row in where(rows, what="step")
    ]
    differences = [f"{row['name']} {short(float(row['difference']))}" for row in where(rows, what="difference")]
    parts = [[row["name"], f"{float(row['share']):.1%}"] for row in where(rows, what="part")]
    return "\n\n".join(
        [
            "`python benchmarks/cnn_step.py`. The same for the paper's CNN, beside the same network with the same "
            "weights written plainly in torch. Time is that of the processor, with one thread. Largest differences "
            f"between the two: {', '.join(differences) or '–'}.",
            table(["", "ours [ms]", "plain torch [ms]", "plain over ours"], steps),
            "The parts of our step:",
            table(["part", "share"], parts),
            bounds_text(rows),
        ]
    )


def bounds_text(rows: list[TextRow]) -> str:
    """What bounds the step of the CNN."""
    shares = {row["name"]: float(row["share"]) for row in where(rows, what="part")}
    convolutions = [row for row in where(rows, what="rate") if row["name"] in shares]
    rate = number(where(rows, what="rate", name="matrix product"), "gflops")
    if not convolutions or rate is None:
        return ""
    together = sum(shares[row["name"]] for row in convolutions)
    lines = [
        [
            row["name"],
            *(short(float(row[column])) for column in ("gflops", "needed_gflops", "plain_gflops")),
            f"{float(row['gflops']) / rate:.0%}",
        ]
        for row in convolutions
    ]
    header = ["", "ours, all operations", "ours, needed operations", "torch's convolution", "ours, all, of the machine"]
    return (
        f"What bounds it: both convolutions take {together:.0%} of the step. A large matrix product runs at "
        f"{short(rate)} GFlop/s on this machine with one thread. The table has the rates of the convolutions, forward "
        "and backward, in the same unit. Ours are matrix products that multiply more often than a convolution has to, "
        "so their rate is told for all of their operations and for the needed ones alone; their time holds pooling, "
        "ReLU and the copying of strips as well, which multiply nothing, while torch's is of the convolution alone.\n\n"
        f"{table(header, lines)}"
    )


# Whole trainings.


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


WAYS = {"at once": "at once [s]", "one after another": "one after another [s]"}


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


# The page.


def machine_section(rows: list[TextRow]) -> str:
    """On what the figures were measured, once for each kind."""
    kinds: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for row in rows:
        kind = tuple((column, value) for column, value in row.items() if column != "file" and value)
        kinds.setdefault(kind, []).append(row["file"].removesuffix(".csv"))
    lines = []
    for kind, files in kinds.items():
        facts = dict(kind)
        machine = f"{facts.pop('processor', 'unknown processor')}, {facts.pop('cores', '?')} cores"
        versions = ", ".join(f"{name} {value}" for name, value in facts.items())
        lines.append(f"- {machine}; {versions} ({', '.join(files)})")
    return "\n".join(["Measured on:", "", *lines])


def page(results: Results) -> str:
    """The text of the page."""
    sections = [
        "# Benchmarks",
        "Written by `python benchmarks/page.py` from the rows in `results/benchmarks/`; `make bench` measures them "
        "anew. Times depend on the machine and on what else runs on it at the time, and ratios do so too.",
        machine_section(results["machine"]),
        goal_section(results),
        pair_section(results["pair_sums"]),
        step_section(results),
        job_section(results["jobs"]),
        fit_section(results["whole_fits"]),
        larger_section(results["larger_than_memory"]),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def pictures(results: Results) -> dict[str, bytes]:
    """All pictures by name, as PNG."""
    pairs = results["pair_sums"]
    return {
        "pair_sums_time": pair_picture(pairs, "seconds", "seconds"),
        "pair_sums_memory": pair_picture(pairs, "extra_mb", "extra memory [MB]"),
        "steps": step_picture(results),
        "whole_fits": fit_picture(results["whole_fits"]),
    }


def pair_picture(rows: list[TextRow], column: str, label: str) -> bytes:
    """One panel for each series, one line for each method."""
    with new_figure(len(SERIES), panel=(4.2, 3.4)) as (figure, panels):
        for axes, (series, title) in zip(panels, SERIES.items(), strict=True):
            for (name, surrogate), (color, line) in METHODS.items():
                own = costs_of(rows, series, (name, surrogate))
                # What is below a megabyte is no measurement, and has no place on a log scale.
                points = [(int(row["n_low"]), float(row[column])) for row in own if float(row[column]) > 0]
                points = [point for point in points if column == "seconds" or point[1] >= 1]
                if points:
                    x, y = zip(*points, strict=True)
                    axes.plot(x, y, line, marker="o", markersize=4, color=color, label=f"{name}, {surrogate}")
            log_log(axes, "low scores", label)
            axes.set_title(title)
        key_below(figure, panels)
        return as_png(figure)


def log_log(axes: Any, x_label: str, y_label: str) -> None:
    """Name and scale both axes."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(color=GREY, linewidth=0.4, alpha=0.6)


def key_below(figure: Any, panels: Sequence[Any]) -> None:
    """One key for all panels, which may miss some lines each."""
    named = {name: line for axes in panels for line, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    if named:
        figure.legend(named.values(), named, loc="outside lower center", ncols=3)


def step_picture(results: Results) -> bytes:
    """Ratios of the perceptron's step and parts of the CNN's, with their goals."""
    steps, parts = results["step_ratio"], where(results["cnn_step"], what="part")
    bounds = {
        row["inputs"]: goal.bound
        for row in steps
        for goal in step_goals(results)
        if f"{row['inputs']} inp" in goal.text
    }
    with new_figure(2, panel=(4.2, 2.8)) as (figure, (left, right)):
        for place, row in enumerate(steps):
            left.bar(place, float(row["ratio_of_least"]), color=BLUE, width=0.6)
            if row["inputs"] in bounds:
                left.plot([place - 0.4, place + 0.4], [bounds[row["inputs"]]] * 2, color=ORANGE)
        left.plot([], [], color=ORANGE, label="goal")
        left.set_xticks(range(len(steps)), [f"{row['inputs']} inputs" for row in steps])
        left.set_ylabel("step over its products")
        left.legend(loc="upper right")
        left.margins(y=0.2)
        left.set_title("perceptron")
        right.barh([row["name"] for row in parts], [100 * float(row["share"]) for row in parts], color=BLUE)
        right.invert_yaxis()
        right.set_xlabel("share of a step [%]")
        right.set_title("CNN")
        return as_png(figure)


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=Path, default=ROOT / "results" / "benchmarks", help="Folder of the CSV files.")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="Folder of the page.")
    arguments = parser.parse_args()
    results = read_results(arguments.rows)
    (arguments.docs / FOLDER).mkdir(parents=True, exist_ok=True)
    for name, content in pictures(results).items():
        write_atomically(arguments.docs / FOLDER / f"{name}.png", content)
    write_atomically(arguments.docs / "benchmarks.md", page(results).encode())


if __name__ == "__main__":
    main()
