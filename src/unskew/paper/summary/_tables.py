"""Tables of mean test AUCs and of times beside the paper's: data sets in lines, methods or variants in columns."""

import math

from unskew.paper.plans import Plan
from unskew.paper.summary._records import STAND_INS, Entry, Line, Parts, ResultTable, dataset_title
from unskew.paper.summary._results import (
    FULL,
    PlanColumn,
    Published,
    Results,
    Runs,
    columns_of,
    is_the_papers,
    published_for,
    results_of,
)
from unskew.paper.summary._statistics import (
    PAPER_RUNS,
    Mean,
    Standing,
    mark_of,
    mean_of,
    most_seeds,
    partial_notes,
    standard_errors_apart,
    standing,
)

_UNTESTED = "‡"
_COLUMNS_AT_ONCE = 5
"""Nine methods with standard deviations are too wide for a page; the paper's App. F.11 has two tables, too."""
_LEFT = 2  # columns that every part of a split table repeats
_WITH_LABELING = ", with labeling network"
_VARIED = {
    "confidence_noise": "noise on confidence",
    "labeling_noise": "noise on labeling probability",
    "clip": "least labeling probability",
}


def auc_parts(runs: Runs) -> Parts:
    """Mean test AUCs."""
    results = results_of(runs)
    return Parts(_auc_tables(runs.plan, results), (), _auc_notes(runs.plan, results))


def time_parts(runs: Runs) -> Parts:
    """Seconds of training."""
    groups = tuple(_time_group(runs, dataset) for dataset in runs.datasets())
    return Parts((ResultTable(_table_header(runs.plan), groups),), (), _time_notes(runs))


def _auc_tables(plan: Plan, results: list[Results]) -> tuple[ResultTable, ...]:
    """The plan's table, or its parts."""
    first = _VARIED.get(next(iter(plan.variants), ""), "Data")
    whole = ResultTable(_table_header(plan, first), tuple(_table_group(plan, each) for each in results))
    if plan.show != "spread":
        return (whole,)
    n, starts = len(whole.header), range(_LEFT, len(whole.header), _COLUMNS_AT_ONCE)
    return tuple(_columns_of_table(whole, [*range(_LEFT), *range(start, n)[:_COLUMNS_AT_ONCE]]) for start in starts)


def _table_header(plan: Plan, first: str = "Data") -> tuple[str, ...]:
    return first, "priors × seeds", *(column.title for column in columns_of(plan))


def _columns_of_table(table: ResultTable, places: list[int]) -> ResultTable:
    groups = tuple(tuple(tuple(line[place] for place in places) for line in group) for group in table.groups)
    return ResultTable(tuple(table.header[place] for place in places), groups)


def _table_group(plan: Plan, results: Results) -> tuple[Line, ...]:
    seeds = most_seeds(results.means)
    title = Entry(dataset_title(results.dataset))
    lines = [(title, Entry(f"{len(plan.priors)} × {seeds}"), *_entries_of_means(plan, results, seeds))]
    if any(results.paper):
        numbers = (Entry(_mean_in_table(plan, each)) if each else Entry() for each in results.paper)
        lines.append((Entry(paper_title(results.dataset)), Entry(""), *numbers))
    if apart := _distance_from_paper(results):
        lines.append((Entry("difference / s.e."), Entry(""), *apart))
    return tuple(lines)


def paper_title(dataset: str) -> str:
    """Title of the line with the paper's numbers; it names their data set where ours stands in for it."""
    return f"paper, {dataset_title(STAND_INS[dataset])}" if dataset in STAND_INS else "paper"


def _entries_of_means(plan: Plan, results: Results, seeds: int) -> list[Entry]:
    no = (False,) * len(results.means)  # variants are of one method, which the paper does not test
    compared = Standing(no, no) if plan.variants else standing(results.values, plan.priors)
    return [
        Entry(_mean_in_table(plan, mean), bold, mark_of(mean, seeds) + _UNTESTED * untested) if mean else Entry()
        for mean, bold, untested in zip(results.means, compared.bold, compared.untested, strict=True)
    ]


def _mean_in_table(plan: Plan, number: Mean | Published) -> str:
    known = number.std is not None and not math.isnan(number.std)
    return f"{number.value:.4f} ({number.std:.4f})" if plan.show == "spread" and known else f"{number.value:.4f}"


def _distance_from_paper(results: Results) -> list[Entry]:
    """Differences from the paper's numbers in standard errors; empty where no number can be compared."""
    found = [
        standard_errors_apart(mean, number.value, number.std) if mean and number and results.comparable else None
        for mean, number in zip(results.means, results.paper, strict=True)
    ]
    known = any(each is not None for each in found)
    return [Entry() if each is None else Entry(f"{each:+.1f}") for each in found] if known else []


def _auc_notes(plan: Plan, results: list[Results]) -> list[str]:
    priors = ", ".join(format(prior, "g") for prior in plan.priors)
    spread = ", with the standard deviation of the runs, all priors together," if plan.show == "spread" else ""
    notes = [f"Test AUC{spread} as a mean over seeds and then over the priors {priors}."]
    if not plan.variants:
        notes.append(
            "Bold: the best of the line, and those that do not differ from it at the 5 % level by a paired t-test over "
            "the runs (prior and seed) that both have."
        )
        if any(any(standing(each.values, plan.priors).untested) for each in results):
            notes.append(f"{_UNTESTED} fewer than two runs in common with the best of the line: not tested.")
    notes += _paper_notes(plan, results)
    titles = [column.title for column in columns_of(plan)]
    means = {dataset_title(each.dataset): dict(zip(titles, each.means, strict=True)) for each in results}
    return notes + partial_notes(means)


def _paper_notes(plan: Plan, results: list[Results]) -> list[str]:
    shown = [each for each in results if any(each.paper)]
    notes = [_difference_note(shown)] if any(_distance_from_paper(each) for each in shown) else []
    if shown and not is_the_papers(plan):
        notes.append("The paper's numbers are for other priors or epochs than these, so no difference is given.")
    return notes + _stand_in_notes([each.dataset for each in shown])


def _difference_note(results: list[Results]) -> str:
    known = any(number and number.std is not None for each in results for number in each.paper)
    theirs = "from its App. F.11" if known else "for which s is used, because the paper does not give it here"
    return (
        f"Difference / s.e.: (ours - paper) / √(s²/n + t²/{PAPER_RUNS}), with s the standard deviation of our n runs "
        f"and t that of the paper's {PAPER_RUNS}, {theirs}. Both include the spread between priors, although it does "
        "not blur the means, which are over the same priors: the true distance in standard errors is rather larger."
    )


def _stand_in_notes(datasets: list[str]) -> list[str]:
    """Why data sets that stand in for others are not compared with the paper's numbers."""
    found = [name for name in datasets if name in STAND_INS]
    if not found:
        return []
    own = " and ".join(dataset_title(name) for name in found)
    of = " and ".join(dataset_title(STAND_INS[name]) for name in found)
    return [
        f"{own}: only the survey of 2015, with other features than the paper's {of}. The data differ, so the paper's "
        "numbers are shown for orientation, without a difference."
    ]


def _time_notes(runs: Runs) -> list[str]:
    notes = [
        "Training time in seconds on one thread: mean over seeds and then priors, with the standard deviation of the "
        "runs. The first line of a data set does not include the network that estimates the labeling probability, like "
        "the paper's table; the second includes it, for the methods that use it.",
        "The paper used another machine, and gives no standard deviations.",
    ]
    if any(column.method == "npu" for column in columns_of(runs.plan)):
        notes.append(
            "NPU trains nine networks, one for each of its weights 0.1 to 0.9, and its time is that of all nine; the "
            "paper's is about that of one."
        )
    lines = {
        dataset_title(dataset): {
            column.title: _mean_time(runs, dataset, column, with_labeling=False) for column in columns_of(runs.plan)
        }
        for dataset in runs.datasets()
    }
    return notes + partial_notes(lines)


def _time_group(runs: Runs, dataset: str) -> tuple[Line, ...]:
    columns, title = columns_of(runs.plan), dataset_title(dataset)
    alone, full = ([_mean_time(runs, dataset, each, with_labeling=also) for each in columns] for also in (False, True))
    seeds = most_seeds(alone)
    lines = [
        (Entry(title), Entry(f"{len(runs.plan.priors)} × {seeds}"), *(_seconds_entry(each, seeds) for each in alone))
    ]
    if any(full):
        lines.append((Entry(title + _WITH_LABELING), Entry(""), *(_seconds_entry(each, seeds) for each in full)))
    for variant, words in (("", ""), (FULL, _WITH_LABELING)):
        numbers = [published_for(runs.plan, dataset, column.method, variant) for column in columns]
        if any(numbers):
            label = Entry(paper_title(dataset) + words)
            lines.append((label, Entry(""), *(Entry(f"{each.value:.2f}") if each else Entry() for each in numbers)))
    return tuple(lines)


def _mean_time(runs: Runs, dataset: str, column: PlanColumn, *, with_labeling: bool) -> Mean | None:
    """Mean seconds of training; with the labeling network, of the runs that use one."""
    rows = runs.of(dataset, column).items()
    times = {run: row["seconds"] for run, row in rows}
    if with_labeling:
        times = {run: times[run] + row["labeling_seconds"] for run, row in rows if row["labeling_seconds"]}
    return mean_of(times, runs.plan.priors)


def _seconds_entry(mean: Mean | None, seeds: int) -> Entry:
    if not mean:
        return Entry()
    spread = f" ({mean.std:.2f})" if mean.n > 1 else ""
    return Entry(f"{mean.value:.2f}{spread}", mark=mark_of(mean, seeds))
