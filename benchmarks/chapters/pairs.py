"""Sums over all pairs: time, memory, errors, the change-over, and the risk of a batch."""

from chapters.axes import key_below, log_log
from chapters.text import TextRow, count, number, numbers, picture, short, table, where
from measure import log_slope
from unskew._support.pictures import BLUE, DARK, GREY, ORANGE, as_png, new_figure

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
            "small to be distinguished from what the process held already.",
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
