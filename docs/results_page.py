"""Write docs/results.md and its pictures from the rows under results/.

    python docs/results_page.py

The text about a plan is in docs/results/analysis/PLAN.md (about all of them in analysis/introduction.md) and goes into
the page as it is, except for numbers: ``{{mnist conf-auc}}`` becomes that mean, ``{{mnist conf-auc=0.05}}`` that of a
variant, ``{{mnist conf-auc - puauc}}`` the difference of two, ``{{mnist conf-auc - paper}}`` that from the paper's
number. The study of open choices has its text in analysis/paper_choices.md. Run this after adding rows: a test compares
the page with them.
"""

import csv
import re
from collections.abc import Iterable
from pathlib import Path

from unskew._support.files import write_atomically
from unskew.paper.plans import PLANS, Plan
from unskew.paper.store import Row, Store
from unskew.paper.summary import (
    Results,
    Runs,
    dataset_title,
    pictures,
    plan_on_datasets_of,
    published,
    results_of,
    summarize,
    to_markdown,
)
from unskew.rankers import ranker_class

DOCS = Path(__file__).parent
RESULTS = DOCS.parent / "results"
PICTURES = DOCS / "results"
ANALYSIS = PICTURES / "analysis"
INTRODUCTION = """
The paper's tables and figures from our own runs, beside the published numbers. "Ours" is the paper's name for its
method, `conf-auc`; all numbers except those in lines called "paper" are from this repository. The rows of results, one
for each run, are in `results/`; `python docs/results_page.py` writes this page from them.
How the experiments are set up, and what the paper leaves open, is in [the protocol](reproduction.md).
"""


def all_rows(folder: Path) -> list[Row]:
    """Rows of all plans."""
    return [row for path in sorted(folder.glob("*.jsonl")) for row in Store(folder, path.stem).rows()]


def plans_with(rows: list[Row]) -> list[Plan]:
    """Plans that have rows, on the data sets of these."""
    found = (plan_on_datasets_of(plan, rows) for plan in PLANS.values())
    return [plan for plan in found if plan.datasets]


def page(results: Path = RESULTS, analysis: Path = ANALYSIS) -> str:
    """The text of the page."""
    rows = all_rows(results)
    plans = plans_with(rows)
    missing = [name for name in PLANS if name not in {plan.name for plan in plans}]
    parts = [
        "# Results",
        INTRODUCTION.strip(),
        words(analysis / "introduction.md"),
        made_by(results, rows),
        *(section(plan, rows, analysis) for plan in plans),
        open_choices(results, analysis),
        f"## Not run yet\n\n{', '.join(missing)}." if missing else "",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def words(path: Path) -> str:
    """Text of a file; empty if it does not exist."""
    return path.read_text(encoding="utf-8").strip() if path.exists() else ""


def made_by(results: Path, rows: list[Row]) -> str:
    """Commands, versions and machines behind the rows."""
    commands = words(results / "commands.txt")
    parts = [
        f"`make results` runs these, with the data under `UNSKEW_DATA`.\n\n```\n{commands}\n```" if commands else "",
        listed("Versions", (row["versions"] for row in rows)),
        listed("Machines", (row["machine"] for row in rows)),
    ]
    text = "\n\n".join(filter(None, parts))
    return f"## How they were made\n\n{text}" if text else ""


def listed(title: str, records: Iterable[dict[str, object]]) -> str:
    """Each different record once, as a list."""
    different = dict.fromkeys(", ".join(f"{name} {value}" for name, value in record.items()) for record in records)
    return "\n".join([f"{title}:", "", *(f"- {each}" for each in sorted(different))]) if different else ""


def section(plan: Plan, rows: list[Row], analysis: Path) -> str:
    """The tables of a plan, and what was written about it."""
    summary = summarize(plan, rows)
    picture = f"results/{plan.name}.png" if summary.panels else ""
    text = filled(words(analysis / f"{plan.name}.md"), plan, rows)
    return "\n\n".join(filter(None, [to_markdown(summary, picture=picture, level=2).strip(), text]))


def filled(text: str, plan: Plan, rows: list[Row]) -> str:
    """The text with numbers instead of what is between double braces."""
    results = {each.dataset: each for each in results_of(Runs(plan, rows))}

    def number(match: re.Match[str]) -> str:
        dataset, _, term = match[1].strip().partition(" ")
        first, _, second = term.partition(" - ")
        if dataset not in results:
            raise ValueError(f"{plan.name}: there are no rows of {dataset!r} for {match[0]}.")
        value = mean(results[dataset], first)
        if not second:
            return f"{value:.4f}"
        return (
            f"{value - (paper(results[dataset], first) if second == 'paper' else mean(results[dataset], second)):+.4f}"
        )

    return re.sub(r"\{\{(.+?)\}\}", number, text)


def open_choices(results: Path, analysis: Path) -> str:
    """Results of the study of choices that the paper leaves open, one table for each data set."""
    files = sorted(path for path in (results / "choices").glob("*.csv") if path.stem != "machine")
    tables = [choices_table(list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))) for path in files]
    if not tables:
        return ""
    about = (
        "`python benchmarks/paper_choices.py` trains methods again on draws of table1, with one thing changed. Mean "
        "test AUC and, in brackets, its difference from training as in the experiments with the standard error over "
        "draws."
    )
    text = words(analysis / "paper_choices.md")
    return "\n\n".join(filter(None, ["## Choices that the paper leaves open", about, *tables, text]))


def choices_table(rows: list[dict[str, str]]) -> str:
    """Choices in lines, methods in columns, and the paper's numbers last."""
    dataset, draws = rows[0]["dataset"], rows[0]["draws"]
    methods, choices = (list(dict.fromkeys(row[name] for row in rows)) for name in ("method", "choice"))
    entries = {(row["choice"], row["method"]): choice_entry(row) for row in rows}
    papers = [published("table1").get((dataset, name, "")) for name in methods]
    lines = [
        [f"{dataset_title(dataset)}, {draws} draws", *(ranker_class(name).table_name for name in methods)],
        ["---", *("---:" for _ in methods)],
        *([choice, *(entries[choice, name] for name in methods)] for choice in choices),
        ["paper", *(f"{known.value:.4f}" if known else "–" for known in papers)],
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def choice_entry(row: dict[str, str]) -> str:
    """Mean, and its distance from that of the experiments."""
    change = f" ({float(row['difference']):+.3f} ± {float(row['error']):.3f})" if float(row["error"]) else ""
    return f"{float(row['auc']):.4f}{change}"


def place(results: Results, term: str) -> int:
    """Which column METHOD or METHOD=VARIANT is."""
    names = [f"{each.method}={each.variant}" if each.variant else each.method for each in results.columns]
    if term not in names:
        raise ValueError(f"there is no column {term!r} for {results.dataset}, only {', '.join(names)}.")
    return names.index(term)


def mean(results: Results, term: str) -> float:
    """Mean of a column."""
    found = results.means[place(results, term)]
    if found is None:
        raise ValueError(f"{term} has no rows on {results.dataset}.")
    return found.value


def paper(results: Results, term: str) -> float:
    """The paper's number of a column."""
    found = results.paper[place(results, term)]
    if found is None:
        raise ValueError(f"the paper has no number for {term} on {results.dataset}.")
    return found.value


def main() -> None:
    """Write the page and its pictures."""
    PICTURES.mkdir(exist_ok=True)
    rows = all_rows(RESULTS)
    for plan in plans_with(rows):
        drawn = pictures(summarize(plan, rows))
        if drawn:
            write_atomically(PICTURES / f"{plan.name}.png", drawn[".png"])
    write_atomically(DOCS / "results.md", page().encode())


if __name__ == "__main__":
    main()
