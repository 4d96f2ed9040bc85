"""Tables of mean test AUCs beside the paper's: data sets in lines, methods or variants in columns."""

from collections.abc import Mapping
from dataclasses import dataclass

from unskew.paper.plans import Plan
from unskew.paper.summary.coverage import mark_of, most_seeds, partial_notes
from unskew.paper.summary.names import STAND_INS, dataset_title
from unskew.paper.summary.paper import Published, is_the_papers, published
from unskew.paper.summary.records import Entry, Line, ResultTable
from unskew.paper.summary.runs import Column, Runs, columns_of
from unskew.paper.summary.statistics import PAPER_RUNS, Mean, Run, mean_of, standard_errors_apart, standing

UNTESTED = "‡"
COLUMNS_AT_ONCE = 5
"""With standard deviations nine methods are too wide for a page: the paper's App. F.11 has two tables as well."""
_LEFT = 2  # the columns that every part of a split table repeats
_VARIED = {
    "confidence_noise": "noise on confidence",
    "labeling_noise": "noise on labeling probability",
    "clip": "least labeling probability",
}


@dataclass(frozen=True)
class Results:
    """All columns of one data set.

    Attributes
    ----------
    dataset : str
    columns : list of Column
    values : list of mappings from prior and seed to AUC
    means : list of Mean or None
    paper : list of Published or None
    comparable : bool
        Whether a difference from the paper's numbers says something.
    """

    dataset: str
    columns: list[Column]
    values: list[dict[Run, float]]
    means: list[Mean | None]
    paper: list[Published | None]
    comparable: bool

    def by_title(self) -> Mapping[str, Mean | None]:
        """Means by the title of the column."""
        return {column.title: mean for column, mean in zip(self.columns, self.means, strict=True)}


def results_of(runs: Runs) -> list[Results]:
    """Results of each data set that has rows."""
    return [_results(runs, dataset) for dataset in runs.datasets()]


def _results(runs: Runs, dataset: str) -> Results:
    plan, columns = runs.plan, columns_of(runs.plan)
    values = [runs.values(dataset, column) for column in columns]
    paper = published(plan.name)
    return Results(
        dataset=dataset,
        columns=columns,
        values=values,
        means=[mean_of(each, plan.priors) for each in values],
        paper=[paper.get((STAND_INS.get(dataset, dataset), each.method, each.variant)) for each in columns],
        comparable=is_the_papers(plan) and dataset not in STAND_INS,
    )


def auc_tables(plan: Plan, results: list[Results]) -> tuple[ResultTable, ...]:
    """The plan's table, or its parts."""
    groups = tuple(_group(plan, each) for each in results)
    first = _VARIED.get(next(iter(plan.variants), ""), "")
    header = (first or "Data", "priors × seeds", *(each.title for each in columns_of(plan)))
    whole = ResultTable(header, groups)
    return split(whole, COLUMNS_AT_ONCE) if plan.show == "spread" else (whole,)


def split(table: ResultTable, size: int) -> tuple[ResultTable, ...]:
    """The table in parts of so many columns, each with the first ones."""
    starts = range(_LEFT, len(table.header), size)
    return tuple(_part(table, [*range(_LEFT), *range(start, len(table.header))[:size]]) for start in starts)


def _part(table: ResultTable, places: list[int]) -> ResultTable:
    groups = tuple(tuple(tuple(line[place] for place in places) for line in group) for group in table.groups)
    return ResultTable(tuple(table.header[place] for place in places), groups)


def _group(plan: Plan, results: Results) -> tuple[Line, ...]:
    seeds = most_seeds(results.means)
    title = Entry(dataset_title(results.dataset))
    lines = [(title, Entry(f"{len(plan.priors)} × {seeds}"), *_means(plan, results, seeds))]
    if any(results.paper):
        lines.append((Entry(paper_title(results.dataset)), Entry(""), *(_paper(plan, each) for each in results.paper)))
    if apart := _apart(results):
        lines.append((Entry("difference / s.e."), Entry(""), *apart))
    return tuple(lines)


def paper_title(dataset: str) -> str:
    """Title of the line with the paper's numbers: on which data they are, if not on these."""
    return f"paper, {dataset_title(STAND_INS[dataset])}" if dataset in STAND_INS else "paper"


def _means(plan: Plan, results: Results, seeds: int) -> list[Entry]:
    if plan.variants:  # of one method: the paper has no test there
        return [_mean(plan, mean, False, mark_of(mean, seeds)) if mean else Entry() for mean in results.means]
    compared = standing(results.values, plan.priors)
    return [
        _mean(plan, mean, bold, mark_of(mean, seeds) + UNTESTED * untested) if mean else Entry()
        for mean, bold, untested in zip(results.means, compared.bold, compared.untested, strict=True)
    ]


def _mean(plan: Plan, mean: Mean, bold: bool, mark: str) -> Entry:
    return Entry(_number(plan, mean.value, mean.std if mean.n > 1 else None), bold, mark)


def _paper(plan: Plan, number: Published | None) -> Entry:
    return Entry(_number(plan, number.value, number.std)) if number else Entry()


def _number(plan: Plan, value: float, std: float | None) -> str:
    return f"{value:.4f} ({std:.4f})" if plan.show == "spread" and std is not None else f"{value:.4f}"


def _apart(results: Results) -> list[Entry]:
    """Differences from the paper's numbers in standard errors; empty where none can be told."""
    if not results.comparable:
        return []
    found = [
        standard_errors_apart(mean, number.value, number.std) if mean and number else None
        for mean, number in zip(results.means, results.paper, strict=True)
    ]
    told = any(each is not None for each in found)
    return [Entry() if each is None else Entry(f"{each:+.1f}") for each in found] if told else []


def auc_notes(plan: Plan, results: list[Results]) -> list[str]:
    """How to read the table, and what is missing in it."""
    notes = [_mean_note(plan)]
    if not plan.variants:
        notes.append(
            "Bold: the best of the line, and what does not differ from it at the 5 % level by a paired t-test over the "
            "runs (prior and seed) that both have."
        )
        if any(any(standing(each.values, plan.priors).untested) for each in results):
            notes.append(f"{UNTESTED} fewer than two runs in common with the best of the line: not tested.")
    notes += _paper_notes(plan, results)
    return notes + partial_notes({dataset_title(each.dataset): each.by_title() for each in results})


def _mean_note(plan: Plan) -> str:
    priors = ", ".join(format(prior, "g") for prior in plan.priors)
    spread = ", with the standard deviation of the runs, all priors together," if plan.show == "spread" else ""
    return f"Test AUC{spread} as a mean over seeds and then over the priors {priors}."


def _paper_notes(plan: Plan, results: list[Results]) -> list[str]:
    shown = [each for each in results if any(each.paper)]
    notes = []
    if any(_apart(each) for each in shown):
        notes.append(_difference_note(shown))
    if shown and not is_the_papers(plan):
        notes.append("The paper's numbers are for its own priors and epochs, not for these: no difference is given.")
    return notes + stand_in_notes([each.dataset for each in shown])


def _difference_note(results: list[Results]) -> str:
    known = any(number and number.std is not None for each in results for number in each.paper)
    theirs = "from its App. F.11" if known else "which the paper does not give here, so that s takes its place"
    return (
        f"Difference / s.e.: (ours - paper) / √(s²/n + t²/{PAPER_RUNS}), with s the standard deviation of our n runs "
        f"and t that of the paper's {PAPER_RUNS}, {theirs}. Both contain the spread between priors, which does not "
        "blur the means, since both sides have the same priors: the true distance in standard errors is rather larger."
    )


def stand_in_notes(datasets: list[str]) -> list[str]:
    """Why the paper's numbers are not compared on data sets that stand in for others."""
    found = [name for name in datasets if name in STAND_INS]
    if not found:
        return []
    own = " and ".join(dataset_title(name) for name in found)
    of = " and ".join(dataset_title(STAND_INS[name]) for name in found)
    return [
        f"{own}: the survey of 2015 alone, with other features than the paper's {of}. These are different data, so the "
        "paper's numbers stand there only to look at, and no difference is given."
    ]
