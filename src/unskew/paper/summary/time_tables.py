"""Training times beside the paper's."""

from collections.abc import Callable

from unskew.paper.summary.auc_tables import paper_title
from unskew.paper.summary.coverage import mark_of, most_seeds, partial_notes
from unskew.paper.summary.names import STAND_INS, dataset_title
from unskew.paper.summary.paper import FULL, published
from unskew.paper.summary.records import Entry, Line, ResultTable
from unskew.paper.summary.runs import Column, Runs, columns_of
from unskew.paper.summary.statistics import Mean, Run, mean_of

_WITH = "with labeling network"


def time_tables(runs: Runs) -> tuple[ResultTable, ...]:
    """Seconds of each method on each data set."""
    header = ("Data", "priors × seeds", *(column.title for column in columns_of(runs.plan)))
    return (ResultTable(header, tuple(_group(runs, dataset) for dataset in runs.datasets())),)


def time_notes(runs: Runs) -> list[str]:
    """How to read the table, and what is missing in it."""
    notes = [
        "Training time in seconds on one thread: mean over seeds and then priors, with the standard deviation of the "
        "runs. The first line of a data set leaves out the network that estimates the labeling probability, as the "
        "paper's table does; the second has it, for the methods that use it.",
        "The paper used another machine, and gives no standard deviations.",
    ]
    if any(column.method == "npu" for column in columns_of(runs.plan)):
        notes.append(
            "NPU trains nine networks, one for each of its weights 0.1 to 0.9, and its time is that of all nine; the "
            "paper's is about that of one."
        )
    lines = {
        dataset_title(dataset): {column.title: _mean(runs, dataset, column, _alone) for column in columns_of(runs.plan)}
        for dataset in runs.datasets()
    }
    return notes + partial_notes(lines)


def _group(runs: Runs, dataset: str) -> tuple[Line, ...]:
    columns, title = columns_of(runs.plan), dataset_title(dataset)
    alone = [_mean(runs, dataset, column, _alone) for column in columns]
    full = [_mean(runs, dataset, column, _full) for column in columns]
    seeds = most_seeds(alone)
    lines = [(Entry(title), Entry(f"{len(runs.plan.priors)} × {seeds}"), *(_seconds(each, seeds) for each in alone))]
    if any(full):
        lines.append((Entry(f"{title}, {_WITH}"), Entry(""), *(_seconds(each, seeds) for each in full)))
    for variant, words in (("", ""), (FULL, f", {_WITH}")):
        numbers = [published(runs.plan.name).get((STAND_INS.get(dataset, dataset), c.method, variant)) for c in columns]
        if any(numbers):
            label = Entry(paper_title(dataset) + words)
            lines.append((label, Entry(""), *(Entry(f"{each.value:.2f}") if each else Entry() for each in numbers)))
    return tuple(lines)


Time = Callable[[dict[str, float]], float | None]


def _alone(row: dict[str, float]) -> float | None:
    return row["seconds"]


def _full(row: dict[str, float]) -> float | None:
    return row["seconds"] + row["labeling_seconds"] if row["labeling_seconds"] else None


def _mean(runs: Runs, dataset: str, column: Column, time: Time) -> Mean | None:
    found: dict[Run, float | None] = {run: time(row) for run, row in runs.rows(dataset, column).items()}
    return mean_of({run: value for run, value in found.items() if value is not None}, runs.plan.priors)


def _seconds(mean: Mean | None, seeds: int) -> Entry:
    if not mean:
        return Entry()
    spread = f" ({mean.std:.2f})" if mean.n > 1 else ""
    return Entry(f"{mean.value:.2f}{spread}", mark=mark_of(mean, seeds))
