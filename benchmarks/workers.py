"""How many rows per second do workers on Ray score, and what does it cost to have them?

    python benchmarks/workers.py [--rows 50000000] [--rounds 2] [--folder FOLDER] [--out FILE]

Makes Parquet files of 20 float32 columns, if they are not there yet (4 GB for fifty million rows), in as many folders
as there are rounds. Each folder is scored by one worker and by two, one after the other, in turns that change: with a
network, probabilities and ranks over all files of the folder included. Prints seconds and rows per second of both,
rows per second that the workers used of the processors (which other work on the machine hardly changes), the peak
memory of a worker, and how long it took until workers were there; beside them the rows of one file by `unskew score` on
one thread, without workers. The load of the machine is printed, too.
"""

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from measure import in_own_process, seconds, used_by_worker
from rows import Rows, add_out, save_rows
from unskew import distributed
from unskew.workers import Pool

N_COLUMNS, ROWS_PER_GROUP, FILES = 20, 500_000, 8
COLUMNS = [f"x{number}" for number in range(N_COLUMNS)]


def frame_of(n_rows: int, seed: int) -> dict[str, np.ndarray]:
    X = np.random.default_rng(seed).standard_normal((N_COLUMNS, n_rows), dtype=np.float32)
    return dict(zip(COLUMNS, X, strict=True))


def make_files(folder: Path, n_rows: int, seed: int) -> None:
    """So many rows in a few files."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        path, size = folder / f"part-{number}.parquet", n_rows // FILES
        if path.exists() and pq.read_metadata(path).num_rows == size:
            continue
        table = pa.table(frame_of(size, seed * FILES + number))
        pq.write_table(table, path, row_group_size=ROWS_PER_GROUP, compression="none", use_dictionary=False)


def make_model(folder: Path) -> Path:
    """A network with probabilities, as the command line fits it."""
    from unskew.cli import app

    columns, rng = frame_of(20_000, 1000), np.random.default_rng(0)
    posterior = 1 / (1 + np.exp(1 - columns["x0"] - columns["x1"]))
    labeled = rng.random(len(posterior)) < 0.1 * posterior
    file, out = folder / "train.parquet", folder / "model.unskew"
    pq.write_table(pa.table({**columns, "known": labeled.astype(np.int8), "risk": posterior}), file)
    request = "fit", str(file), "--label", "known", "--confidence", "risk", "--method", "conf-auc", "--no-estimate"
    app([*request, "--out", str(out)], standalone_mode=False)
    return out


class Some(Pool):
    """So many of the workers that are there."""

    most = 1

    @property
    def count(self) -> int:
        return min(self.most, super().count)


def processor_seconds(pool: Some) -> dict[int, float]:
    """What each of the workers has used of the processors so far."""
    pool.most = 2
    return {pid: taken for _, (pid, taken, _) in pool.run(used_by_worker, [0, 1])}


def score_by(pool: Some, count: int, model: Path, folder: Path, out: Path) -> tuple[float, float]:
    """Seconds of scoring a folder by so many workers, and those that these used of the processors."""
    shutil.rmtree(out, ignore_errors=True)
    before, pool.most = processor_seconds(pool), count
    taken = seconds(lambda: distributed.score(model, folder, out, workers=pool))
    return taken, sum(processor_seconds(pool).values()) - sum(before.values())


def without_workers(model: Path, file: Path, out: Path) -> tuple[float, float]:
    """Seconds of the list of one file on one thread, and those of the processor."""
    os.environ["POLARS_MAX_THREADS"] = "1"
    from unskew.learning.threads import one_thread
    from unskew.practice.list_options import ListOptions
    from unskew.practice.model import TableModel
    from unskew.practice.score import score_file

    loaded = TableModel.load(model, to_score=True)
    before = time.process_time()
    with one_thread():
        taken = seconds(lambda: score_file(loaded, file, out, ListOptions(keep_order=True)))
    return taken, time.process_time() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000_000, help="In all folders.")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="Where the tables are kept; a temporary folder if left out.")
    add_out(parser)
    arguments = parser.parse_args()
    n_rows, results = arguments.rows // arguments.rounds, Rows()
    with tempfile.TemporaryDirectory() as scratch:
        top, out = arguments.folder or Path(scratch), Path(scratch) / "out"
        folders = [top / f"folder-{number}" for number in range(arguments.rounds)]
        for number, folder in enumerate(folders):
            make_files(folder, n_rows, number)
        model = make_model(Path(scratch))
        alone = in_own_process(without_workers, model, folders[0] / "part-0.parquet", Path(scratch) / "list.parquet")
        start = time.perf_counter()
        with distributed.connected("ray:2"):
            import ray  # once the options of `connected` are set

            pool = Some(ray)
            list(pool.run(abs, [1]))
            start_up = time.perf_counter() - start
            make_files(Path(scratch) / "small", 10 * FILES, 1001)
            score_by(pool, 2, model, Path(scratch) / "small", out)  # now both have loaded what they need
            times: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
            for number, folder in enumerate(folders):
                for count in (1, 2) if number % 2 == 0 else (2, 1):
                    taken, used_up = score_by(pool, count, model, folder, out)
                    times[count].append((taken, used_up))
                    about = (
                        f"{taken:.0f} s, {n_rows / taken:,.0f} rows/s, {n_rows / used_up:,.0f} per second of processor"
                    )
                    print(f"round {number + 1}, {count} of 2: {about}, load {os.getloadavg()[0]:.0f}", flush=True)
            peak = max(each for _, (_, _, each) in pool.run(used_by_worker, [0, 1]))
        for count, both in times.items():
            done = n_rows * len(both)
            taken, used_up = (sum(each) for each in zip(*both, strict=True))
            row = {"what": "workers", "workers": count, "rows": done, "columns": N_COLUMNS, "seconds": taken}
            row |= {"rows_per_second": done / taken, "rows_per_processor_second": done / used_up, "peak_mb": peak}
            results.append(row | {"start_up_seconds": start_up, "load": os.getloadavg()[1]})
        done = n_rows // FILES
        row = {"what": "without workers, one thread", "workers": 0, "rows": done, "columns": N_COLUMNS}
        row |= {"seconds": alone[0], "rows_per_second": done / alone[0], "rows_per_processor_second": done / alone[1]}
        results.append(row)
    ratio, of_processor = (
        results[1][name] / results[0][name] for name in ("rows_per_second", "rows_per_processor_second")
    )
    results[1] |= {"ratio": ratio, "processor_ratio": of_processor}
    print(f"2 workers over 1: {ratio:.2f} times the rows per second, by the processors {of_processor:.2f} times")
    print(f"peak of a worker {peak:.0f} MB; workers were there after {start_up:.0f} s")
    save_rows(results, arguments.out)


if __name__ == "__main__":
    main()
