"""Write docs/benchmarks.md, its pictures and the end of docs/suggestions.md from the rows of the other benchmarks.

    python benchmarks/page.py [--rows results/benchmarks] [--docs docs]

Every figure on the page is from the rows, and so is whether a goal is met. A test holds the page to the rows.
"""

import argparse
from pathlib import Path

from chapters.explanations import explanation_section
from chapters.goals import goal_section
from chapters.labels import suggest_section, what_it_brings
from chapters.pairs import pair_picture, pair_section
from chapters.rankings import categories_section, trees_section
from chapters.steps import step_picture, step_section
from chapters.text import FOLDER, Results, TextRow
from chapters.trainings import (
    fit_picture,
    fit_section,
    job_section,
    larger_section,
    long_section,
    million_section,
)
from chapters.warnings import warning_section
from rows import MACHINE, read_rows
from unskew._support.files import write_atomically

ROOT = Path(__file__).parents[1]
FILES = (
    *("pair_sums", "step_ratio", "cnn_step", "jobs", "beside_others", "trees", "long_training"),
    *("larger_than_memory", "million_rows", "million_rows_peak", "explain", "trees_auc", "trees_categories"),
    *("suggest", "suggest_auto", "damaged_files", "warnings"),
)


def read_results(folder: Path) -> Results:
    """All tables by name; one that has not been measured is empty."""
    names = *FILES, Path(MACHINE).stem
    paths = {name: folder / f"{name}.csv" for name in names}
    return {name: read_rows(path) if path.exists() else [] for name, path in paths.items()}


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
        fit_section(results["beside_others"]),
        long_section(results["long_training"]),
        larger_section(results["larger_than_memory"]),
        million_section(results["million_rows"], results["million_rows_peak"]),
        explanation_section(results["explain"]),
        trees_section(results["trees_auc"]),
        categories_section(results["trees_categories"]),
        suggest_section(results["suggest"], results["suggest_auto"]),
        warning_section(results["warnings"]),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def with_what_it_brings(text: str, results: Results) -> str:
    """The page about suggested labels, whose last section is what the rows say."""
    own, title, _ = text.partition("## What it brings\n")
    return f"{own}{title}\n{what_it_brings(results['suggest'])}\n"


def pictures(results: Results) -> dict[str, bytes]:
    """All pictures by name, as PNG."""
    pairs = results["pair_sums"]
    return {
        "pair_sums_time": pair_picture(pairs, "seconds", "seconds"),
        "pair_sums_memory": pair_picture(pairs, "extra_mb", "extra memory [MB]"),
        "steps": step_picture(results),
        "beside_others": fit_picture(results["beside_others"]),
    }


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
    suggestions = arguments.docs / "suggestions.md"
    if suggestions.exists() and results["suggest"]:
        write_atomically(suggestions, with_what_it_brings(suggestions.read_text(encoding="utf-8"), results).encode())


if __name__ == "__main__":
    main()
