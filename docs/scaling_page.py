"""Write docs/scaling.md from the rows of the benchmarks of workers and of the simulation of clusters.

    python docs/scaling_page.py

Run this after the benchmarks `workers.py`, `subsampling.py` and `scaling.py`: a test compares the page with the rows.
"""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from unskew._support.files import write_atomically

DOCS = Path(__file__).parent
ROWS = DOCS.parent / "results" / "benchmarks"
SHOWN_TABLES, SHOWN_WORKERS = (10**6, 10**7, 10**8, 10**9), (1, 2, 8, 64)
NEAR = 0.002
"""AUCs that differ by less are taken for the same."""
LARGE, MANY, ENOUGH = 10**9, 64, 10**7
GOAL_ROWS, LEAST_OF_CORE = 5 * 10**7, 0.8
NAMES = {
    "start": "the start of the workers",
    "scoring": "computing scores",
    "storage": "reading and writing the shared storage",
    "network": "computing in the network",
    "risk": "the risk of the whole batch, which every worker computes",
    "latency": "waiting for messages",
    "bytes": "the bytes of the messages",
}
Row = dict[str, str]

INTRODUCTION = """# More than one machine

```text
pip install 'unskew[ray]'
unskew fit month/ --label known --confidence severity --workers ray:4 --out cases.unskew
unskew score cases.unskew month/ --out ranked/ --workers ray:4
unskew reproduce table1 --workers ray://head:10001
unskew compare cases.csv --label known --confidence severity --workers ray:4
```

`ray:N` starts N processes on this machine, `ray://HOST:PORT` reaches a Ray cluster, and `ray:auto` the cluster that
this machine is part of; `fit` also takes `local:N`, which needs no Ray. In Python: `unskew.distributed.fit` and
`unskew.distributed.score`, and `workers=` of `cross_val_sar_auc`. All machines must reach model and folders under the
same paths. Workers and machines may be killed: what they were doing is done again elsewhere, and the result is the
same. An interrupted command is resumed by the next one.

Below: from which number of rows on this is faster than one machine, and what bounds it. Times of clusters are
**simulated** (`python benchmarks/scaling.py`) from costs that were measured on one machine of two cores, because we had
no cluster; what had to be assumed is said. `python docs/scaling_page.py` writes this page.
"""


def read(name: str) -> list[Row]:
    """Rows of a benchmark."""
    with (ROWS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table."""
    return ["| " + " | ".join(each) + " |" for each in (header, ["---"] * len(header), *rows)]


def power(count: int) -> str:
    """A number of rows as people write it."""
    digits = len(str(count)) - 1
    first = count / 10**digits
    return f"10^{digits}" if first == 1 else f"{first:g} × 10^{digits}"


def duration(seconds: float) -> str:
    """Seconds, minutes or hours."""
    for size, name in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {name}"
    return f"{seconds:.0f} s"


def measured_lines() -> list[str]:
    """What was measured of workers."""
    one, two, alone = read("workers")
    ratio, rows = float(two["ratio"]), int(two["rows"])
    names = {"0": "`unskew score` on one thread, without workers", "1": "one worker", "2": "two workers"}
    shown = table(
        ["", "rows", "rows per second", "rows per second of processor", "most memory of a worker"],
        (
            [names[row["workers"]], f"{int(row['rows']):,}", f"{float(row['rows_per_second']):,.0f}"]
            + [f"{float(row['rows_per_processor_second']):,.0f}"]
            + [f"{float(row['peak_mb']):,.0f} MB" if row["peak_mb"] else ""]
            for row in (alone, one, two)
        ),
    )
    goal = "the goal, 1.6, is met" if ratio >= 1.6 else "the goal was 1.6, which is **missed**"
    fewer = "" if rows >= GOAL_ROWS else f" The goal was to be judged on {GOAL_ROWS:,} rows; these are fewer."
    of_core = float(one["rows_per_second"]) / float(one["rows_per_processor_second"])
    busy = (
        ""
        if of_core >= LEAST_OF_CORE
        else (
            f" The run says little about it: {float(two['load']):.0f} processes on average wanted two cores, and one "
            f"worker got {of_core:.0%} of a core. It has to be repeated on a machine that does nothing else."
        )
    )
    return [
        "## What was measured",
        "",
        f"Tables of {one['columns']} columns in Parquet files, scored by a network of the default size with "
        "probabilities, ranks over all files included; each worker on one thread (`python benchmarks/workers.py`).",
        "",
        *shown,
        "",
        f"Two workers score {ratio:.2f} times the rows per second of one: {goal}.{fewer}{busy} By the seconds of "
        "processor, which other work changes less, two workers need "
        f"{1 / float(two['processor_ratio']):.2f} times the work of one for a row. Workers were there after "
        f"{float(two['start_up_seconds']):.0f} seconds.",
    ]


def times(what: str, batch: str = "") -> dict[tuple[int, int], Row]:
    """Simulated rows by table and workers."""
    rows = [row for row in read("scaling") if row["what"] == what and row["batch"] == batch]
    return {(int(row["rows"]), int(row["workers"])): row for row in rows}


def time_table(found: dict[tuple[int, int], Row]) -> list[str]:
    """Durations by table and workers."""
    header = ["rows", *(f"{n} workers" if n > 1 else "one machine, one thread" for n in SHOWN_WORKERS)]
    lines = (
        [power(size), *(duration(float(found[size, n]["seconds"])) for n in SHOWN_WORKERS)] for size in SHOWN_TABLES
    )
    return table(header, lines)


def breaks_even(found: dict[tuple[int, int], Row], workers: int) -> int | None:
    """Rows of the smallest table that so many workers are faster on than one process."""
    sizes = sorted({size for size, _ in found})
    faster = (n for n in sizes if float(found[n, workers]["seconds"]) < float(found[n, 1]["seconds"]))
    return next(faster, None)


def from_when(found: dict[tuple[int, int], Row]) -> str:
    """From which table on workers pay, in a sentence."""
    parts = []
    for workers in SHOWN_WORKERS[1:]:
        least = breaks_even(found, workers)
        parts.append(f"{workers} workers {'never' if least is None else f'from {power(least)} rows on'}")
    return f"Faster than one process: {', '.join(parts)}."


def bound(found: dict[tuple[int, int], Row]) -> str:
    """What bounds many workers on a large table."""
    row, one = found[LARGE, MANY], found[LARGE, 1]
    gain = float(one["seconds"]) / float(row["seconds"])
    return (
        f"At {power(LARGE)} rows and {MANY} workers most of the time, {duration(float(row['most_seconds']))} of "
        f"{duration(float(row['seconds']))}, is {NAMES[row['most']]}; it is {gain:.1f} times as fast as one process."
    )


def subsampling_lines(small: str) -> list[str]:
    """AUC by the number of unlabeled rows; times of training are those with small batches."""
    rows = read("subsampling")
    shown = table(
        ["law", "labels", "unlabeled rows", "AUC", "seconds of the fit"],
        (
            [row["law"], f"{int(row['labels']):,}", f"{int(row['unlabeled']):,}", f"{float(row['auc']):.4f}"]
            + [f"{float(row['fit_seconds']):.0f}"]
            for row in rows
        ),
    )
    needed = {key: least_enough(group) for key, group in by_labels(rows).items()}
    training = times("training", small)
    enough, all_ = (duration(float(training[key]["seconds"])) for key in ((ENOUGH, 1), (LARGE, MANY)))
    most = max(unlabeled / labels for (_, labels), unlabeled in needed.items())
    lost = max(
        max(aucs) - aucs[-1] for aucs in ([float(row["auc"]) for row in group] for group in by_labels(rows).values())
    )
    return [
        "## Fewer unlabeled rows instead of more machines",
        "",
        "What a model can learn is bounded by its labels, and nobody labels more because the table is larger. By the "
        f"table above, training on {power(ENOUGH)} rows takes {enough} on one machine; on {power(LARGE)} rows {all_} "
        f"on {MANY}. "
        "`python benchmarks/subsampling.py` fits `conf-auc` on the labeled rows and on some of the unlabeled ones:",
        "",
        *shown,
        "",
        f"An AUC within {NEAR} of the best of its lines needed "
        + ", ".join(
            f"{unlabeled:,} unlabeled rows with {labels:,} labels (law {law})"
            for (law, labels), unlabeled in needed.items()
        )
        + f": at most {most:,.0f} for each label. With the most that were tried it was lower than the best by up to "
        f"{lost:.3f}. By that measure {power(ENOUGH)} unlabeled rows are enough for "
        f"{ENOUGH / most:,.0f} labels, whatever the size of the table; with fewer labels, draw {power(ENOUGH)} "
        "unlabeled rows at random, train on one machine, and share the scoring. Tables beyond two million rows were "
        "not tried, and neither were positives so rare that a sample of this size has few of them.",
    ]


def by_labels(rows: Iterable[Row]) -> dict[tuple[int, int], list[Row]]:
    """Rows of one law and number of labels."""
    groups: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((int(row["law"]), int(row["labels"])), []).append(row)
    return groups


def least_enough(rows: Sequence[Row]) -> int:
    """Fewest unlabeled rows with which the AUC is about the best."""
    best = max(float(row["auc"]) for row in rows)
    return min(int(row["unlabeled"]) for row in rows if float(row["auc"]) >= best - NEAR)


def page() -> str:
    """The page as the rows are now."""
    scoring = times("scoring")
    small, large = sorted({row["batch"] for row in read("scaling") if row["batch"]}, key=int)
    lines = [
        *measured_lines(),
        "",
        "## Scoring",
        "",
        "Simulated: parts of a million rows go to the worker that is free next; parts take times that vary by 20 %. "
        "The shared storage gives 2 GB a second to all workers together (assumed).",
        "",
        *time_table(scoring),
        "",
        f"{from_when(scoring)} {bound(scoring)}",
        "",
        "## Training",
        "",
        "Simulated: the exact steps of one process, for which every step sums the scores and then the gradients of all "
        "workers; every worker computes the risk of the whole batch. Three epochs. A message takes 0.1 ms and the "
        "network carries 10 Gbit/s (assumed); all wait for the slowest worker, whose time varies by 20 %.",
        "",
        f"Batches of {int(small):,}, the default:",
        "",
        *time_table(times("training", small)),
        "",
        f"{from_when(times('training', small))} {bound(times('training', small))}",
        "",
        f"Batches of {int(large):,}, which have to be asked for, and which learn less in as many epochs:",
        "",
        *time_table(times("training", large)),
        "",
        f"{from_when(times('training', large))} {bound(times('training', large))}",
        "",
        *subsampling_lines(small),
    ]
    return INTRODUCTION + "\n" + "\n".join(lines) + "\n"


def main() -> None:
    """Write the page."""
    write_atomically(DOCS / "scaling.md", page().encode())


if __name__ == "__main__":
    main()
