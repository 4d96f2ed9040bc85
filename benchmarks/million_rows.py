"""What does `unskew fit` cost on a million rows with words, from the file to the model?

    python benchmarks/million_rows.py [--rows 1000000] [--parquet-rows 10000000] [--method auto ...] [--only-peak]
        [--words 10] [--out FILE]

Makes a CSV file of 20 columns, half of them numbers and half of them words, a label and a confidence. For each method,
in a process of its own each: seconds of reading the file with polars alone, of the fit alone on features in memory, and
of the program `unskew fit --no-estimate`; the ratio of the last to the sum of the others; the peak memory of the
program, libraries included, as a multiple of the size of the file, and what the libraries alone take. Then the program
on a Parquet file, with as much memory for the table as `--table-bytes` says: beyond that, its rows stay in the file.
`--epochs` limits networks. With `--only-peak` the programs alone run, for their memory.
"""

import argparse
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from measure import in_own_process, of_program, peak_megabytes, seconds
from rows import Rows, add_out, save_rows

N_NUMBERS, ROWS_AT_ONCE = 10, 500_000
CATEGORIES = 3, 5, 8, 12, 20, 30, 40, 50, 80, 100
COLUMNS = "--label", "label", "--confidence", "risk"


def words(count: int, rng: np.random.Generator) -> np.ndarray:
    """Different words of 4 to 12 letters."""
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    return np.array(["".join(rng.choice(letters, rng.integers(4, 13))) for _ in range(count)])


def part_of_table(n_rows: int, number: int) -> pl.DataFrame:
    """Some rows: positives lie along one number and one word, and are labeled the more often by another number."""
    rng, of_words = np.random.default_rng([1, number]), np.random.default_rng(0)
    hidden = rng.standard_normal(n_rows)
    columns: dict[str, np.ndarray] = {}
    for place in range(N_NUMBERS):
        noise = rng.standard_normal(n_rows) * 10.0 ** (place % 4)
        columns[f"number {place}"] = np.round(noise + hidden * (place < 3), 4)
    for place, count in enumerate(CATEGORIES):
        columns[f"word {place}"] = words(count, of_words)[rng.integers(0, count, n_rows)]
    posterior = 1 / (1 + np.exp(2.5 - 2 * hidden))
    chance = 0.03 / (1 + np.exp(-columns["number 0"]))
    labeled = (rng.random(n_rows) < posterior) & (rng.random(n_rows) < chance)
    return pl.DataFrame({**columns, "label": labeled.astype(np.int8), "risk": np.round(posterior, 3)})


def make_table(path: Path, n_rows: int) -> None:
    """Write the table a part at a time."""
    sizes = [min(ROWS_AT_ONCE, n_rows - start) for start in range(0, n_rows, ROWS_AT_ONCE)]
    parts = (part_of_table(size, number) for number, size in enumerate(sizes))
    if path.suffix == ".csv":
        with path.open("wb") as file:
            for number, part in enumerate(parts):
                part.write_csv(file, include_header=number == 0)
        return
    first = next(parts).to_arrow()
    with pq.ParquetWriter(path, first.schema) as writer:
        writer.write_table(first)
        for part in parts:
            writer.write_table(part.to_arrow().cast(first.schema))


def read_alone(path: Path) -> tuple[float, float]:
    """Seconds of reading with polars."""
    return seconds(partial(pl.read_csv, path)), peak_megabytes()


def fit_alone(path: Path, method: str, epochs: int | None) -> tuple[float, float]:
    """Seconds of the fit on features in memory."""
    from unskew.practice.fit import TrainingOptions, fit_table
    from unskew.practice.labeled_table import read_labeled

    table = read_labeled(path, "label", "risk")
    return seconds(lambda: fit_table(table, TrainingOptions(method, epochs=epochs), estimate=False)), peak_megabytes()


def command(
    path: Path, method: str, epochs: int | None, limit: int | None = None, n_words: int = len(CATEGORIES)
) -> tuple[float, float]:
    """Seconds of the whole command, and peak memory of the program; of columns of words only the first are features."""
    options = [] if epochs is None else ["--epochs", str(epochs)]
    options += [part for place in range(n_words, len(CATEGORIES)) for part in ("--exclude", f"word {place}")]
    out = str(path.with_suffix(".unskew"))
    request = "fit", str(path), *COLUMNS, "--method", method, "--no-estimate", "--out", out, *options
    return of_program("-m", "unskew", *request, **({} if limit is None else {"UNSKEW_MAX_TABLE_BYTES": str(limit)}))


LIBRARIES = """
from unskew._support.memory import keep_little, without_module

keep_little()
with without_module("pandas"):
    import unskew.practice.fit
    import unskew.practice.labeled_table
    import unskew.practice.results
"""


def libraries() -> tuple[float, float]:
    """Seconds and peak memory of a program that loads what the command needs, and does nothing."""
    return of_program("-c", LIBRARIES)


def peak_rows(
    what: str, path: Path, n_rows: int, methods: list[str], epochs: int | None, limit: int | None, n_words: int
) -> Rows:
    """Peak memory of the program on a file."""
    if n_words < len(CATEGORIES):
        what += f", {n_words} columns of words"
    results: Rows = []
    size, (_, base) = path.stat().st_size / 1e6, in_own_process(libraries)
    for method in methods:
        _, peak = in_own_process(command, path, method, epochs, limit, n_words)
        row = {"what": what, "method": method, "epochs": epochs or "by size", "rows": n_rows, "file_mb": size}
        results.append({**row, "peak_mb": peak, "libraries_mb": base, "peak_over_file": peak / size})
        print(f"{what}, {method}: peak {peak:.0f} MB, {peak / size:.2f} times the file of {size:.0f} MB", flush=True)
    return results


def csv_rows(path: Path, n_rows: int, methods: list[str], epochs: int | None) -> Rows:
    """The figures of the CSV file."""
    results: Rows = []
    size, (_, base) = path.stat().st_size / 1e6, in_own_process(libraries)
    for method in methods:
        reading, _ = in_own_process(read_alone, path)
        whole, peak = in_own_process(command, path, method, epochs)
        alone, _ = in_own_process(fit_alone, path, method, epochs)
        row = {"what": "csv", "method": method, "epochs": epochs or "by size", "rows": n_rows, "file_mb": size}
        row |= {"polars_seconds": reading, "fit_seconds": alone, "seconds": whole, "ratio": whole / (reading + alone)}
        row |= {"peak_mb": peak, "libraries_mb": base, "peak_over_file": peak / size}
        results.append(row)
        print(
            f"{method}: polars {reading:.1f} s, fit alone {alone:.1f} s, whole command {whole:.1f} s: "
            f"{row['ratio']:.2f} times both; peak {peak:.0f} MB, {peak / size:.2f} times the file of {size:.0f} MB "
            f"(libraries alone {base:.0f} MB)",
            flush=True,
        )
    return results


def parquet_rows(path: Path, n_rows: int, methods: list[str], epochs: int | None, limits: list[int | None]) -> Rows:
    """The figures of the Parquet file."""
    results: Rows = []
    for method in methods:
        for limit in limits:
            whole, peak = in_own_process(command, path, method, epochs, limit)
            where = "parquet" if limit is None else "parquet, in the file"
            row = {"what": where, "method": method, "epochs": epochs or "by size", "rows": n_rows}
            row |= {"file_mb": path.stat().st_size / 1e6, "seconds": whole, "peak_mb": peak}
            results.append(row)
            print(f"{where}, {method}: {n_rows:,} rows, {whole:.0f} s, peak {peak:.0f} MB", flush=True)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--parquet-rows", type=int, default=10_000_000)
    parser.add_argument("--method", action="append", help="May be repeated; auto and conf-reg if left out.")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--table-bytes", type=int, default=100_000_000, help="0: only as the command does by itself.")
    parser.add_argument("--only-peak", action="store_true", help="Only the programs, and only their memory.")
    parser.add_argument("--words", type=int, default=len(CATEGORIES), help="Columns of words to use for that.")
    add_out(parser)
    arguments = parser.parse_args()
    methods, results = arguments.method or ["auto", "conf-reg"], Rows()
    with tempfile.TemporaryDirectory() as scratch:
        if arguments.rows:
            path = Path(scratch) / "million.csv"
            make_table(path, arguments.rows)
            request = path, arguments.rows, methods, arguments.epochs
            results += peak_rows("csv", *request, None, arguments.words) if arguments.only_peak else csv_rows(*request)
            path.unlink()
            save_rows(results, arguments.out)
        if arguments.parquet_rows:
            path, limit = Path(scratch) / "large.parquet", arguments.table_bytes
            make_table(path, arguments.parquet_rows)
            limits = [limit, None] if limit else [None]
            request = path, arguments.parquet_rows, methods, arguments.epochs
            if arguments.only_peak:
                results += peak_rows("parquet, in the file", *request, limit or None, arguments.words)
            else:
                results += parquet_rows(*request, limits)
    save_rows(results, arguments.out)


if __name__ == "__main__":
    main()
