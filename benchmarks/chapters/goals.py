"""What the project wants, and whether the rows say that it is so."""

from dataclasses import dataclass

from chapters.pairs import SERIES, SLOPE_FROM, SLOPE_TO, slope_of
from chapters.text import Results, TextRow, number, numbers, short, table, where
from chapters.trainings import latest_peaks, long_gain, time_over_trees


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
    return [
        *pair_goals(results["pair_sums"]),
        *step_goals(results),
        *fit_goals(results),
        *table_goals(results["larger_than_memory"]),
        *million_goals(results["million_rows"], results["million_rows_peak"]),
        *file_goals(results["damaged_files"]),
    ]


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


STEP_BOUNDS = {784: 1.25, 142: 1.45, 100: 1.5}
"""Inputs of the perceptron, and how much longer than its matrix products its step may take."""


def processors(rows: list[TextRow]) -> list[str]:
    """Those on which steps were measured, each once; a nameless one where there are none."""
    return list(dict.fromkeys(row["processor"] for row in rows)) or ["any processor"]


def step_goals(results: Results) -> list[Goal]:
    """Goals of the training steps."""
    mlp, cnn = results["step_ratio"], results["cnn_step"]
    scores = number(where(cnn, what="difference", name="scores"), "difference")
    return [
        *(
            Goal(
                f"Step of the perceptron with {inputs} inputs, over its matrix products ({processor})",
                bound,
                number(where(mlp, inputs=inputs, processor=processor), "ratio_of_least"),
                " times",
            )
            for processor in processors(mlp)
            for inputs, bound in STEP_BOUNDS.items()
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


def fit_goals(results: Results) -> list[Goal]:
    """Goals of whole fits on a large table."""
    n_rows = 1_000_000
    networks, found = where(results["long_training"], rows=n_rows), []
    for size in (100_000, n_rows):
        trees = where(results["trees"], rows=size)
        fit, objective = (number(where(trees, what=what), "ratio") for what in ("fit", "objective"))
        found += [
            Goal(f"{size:,d} rows: fit of trees over LightGBM's own", 3, fit, " times"),
            Goal(f"{size:,d} rows: objective in a round of trees", 0.12, objective),
        ]
    return [
        *found,
        Goal(
            f"{n_rows:,d} rows: default fit of the network over that of trees", 6, time_over_trees(networks), " times"
        ),
        Goal(f"{n_rows:,d} rows: AUC that ten times the epochs would add", 0.01, long_gain(networks)),
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


def million_goals(rows: list[TextRow], peaks: list[TextRow]) -> list[Goal]:
    """Goals of a command from the file to the model, for every method that was measured."""
    found, name = [], "`unskew fit --method {}`, 1,000,000 rows of CSV"
    for row in where(rows, what="csv", rows=1_000_000):
        text = f"{name.format(row['method'])}: time, over reading with polars and the fit alone"
        found.append(Goal(text, 3, number([row], "ratio"), " times"))
    of_memory = latest_peaks(rows, peaks)
    for row in where(of_memory, what="csv", rows=1_000_000):
        text = f"{name.format(row['method'])}: peak memory, over the file"
        found.append(Goal(text, 3, number([row], "peak_over_file"), " times"))
    for row in where(of_memory, rows=10_000_000):
        text = f"`unskew fit --method {row['method']}`, 10,000,000 rows ({row['what']}): peak memory"
        found.append(Goal(text, 2000, number([row], "peak_mb"), " MB"))
    return found


def file_goals(rows: list[TextRow]) -> list[Goal]:
    """Goals of damaged files, for every kind that was tried."""
    wrong = "loaded_wrong", "traceback", "aborted", "hung"
    return [
        Goal(
            f"{int(row['files']):,d} damaged files ({row['kind']}): loaded wrong, or ended in anything but a message",
            0,
            sum(numbers([row], each)[0] for each in wrong),
        )
        for row in rows
    ]


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
