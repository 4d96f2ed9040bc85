"""How many rows per second do workers on Ray score, and what does it cost to have them?

    python benchmarks/workers.py [--rows 50000000] [--rounds 2] [--folder FOLDER] [--out FILE]

Makes Parquet files of 20 float32 columns, if they are not there yet (4 GB for fifty million rows), in as many folders
as there are rounds. Each folder is scored by one worker and by two, one after the other, in turns that change: with a
network, probabilities and ranks over all files of the folder included. Prints seconds and rows per second of both, the
peak memory of a worker, and how long it took until workers were there; beside them the rows of one file by
`unskew score` on one thread, without workers. What else runs on the machine is in the figures: the load of the system
is printed.
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

from measure import in_own_process, peak_megabytes, seconds
from rows import Rows, add_out, save_rows
from unskew import distributed
from unskew.workers import Pool

N_COLUMNS, ROWS_PER_GROUP, FILES = 20, 500_000, 5
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


def peak(_: int) -> float:
    """Of this worker, which stays busy for as long as the others need to begin."""
    time.sleep(2)
    return peak_megabytes()


class Some(Pool):
    """So many of the workers that are there."""

    most = 1

    @property
    def count(self) -> int:
        return min(self.most, super().count)


def score_by(pool: Some, count: int, model: Path, folder: Path, out: Path) -> float:
    """Seconds of scoring a folder by so many workers, whose processes have loaded what they need."""
    pool.most = count
    shutil.rmtree(out, ignore_errors=True)
    return seconds(lambda: distributed.score(model, folder, out, workers=pool))


def without_workers(model: Path, file: Path, out: Path) -> float:
    """Seconds of the list of one file, on one thread."""
    os.environ["POLARS_MAX_THREADS"] = "1"
    from unskew.learning.threads import one_thread
    from unskew.practice.list_options import ListOptions
    from unskew.practice.model import TableModel
    from unskew.practice.score import score_file

    loaded = TableModel.load(model, to_score=True)
    with one_thread():
        return seconds(lambda: score_file(loaded, file, out, ListOptions(keep_order=True)))


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
            times: dict[int, list[float]] = {1: [], 2: []}
            for number, folder in enumerate(folders):
                for count in (1, 2) if number % 2 == 0 else (2, 1):
                    times[count].append(score_by(pool, count, model, folder, out))
                    about = f"{n_rows / times[count][-1]:,.0f} rows/s, load {os.getloadavg()[0]:.1f}"
                    print(f"round {number + 1}, {count} of 2 workers: {times[count][-1]:.0f} s, {about}", flush=True)
            pool.most = 2
            peaks = [found for _, found in pool.run(peak, [0, 1])]
        for count, taken in times.items():
            row = {"what": "workers", "workers": count, "rows": n_rows * len(taken), "columns": N_COLUMNS}
            row |= {"seconds": sum(taken), "rows_per_second": n_rows * len(taken) / sum(taken)}
            results.append(row | {"peak_mb": max(peaks), "start_up_seconds": start_up, "load": os.getloadavg()[1]})
        rows_alone = n_rows // FILES
        row = {"what": "without workers, one thread", "workers": 0, "rows": rows_alone, "columns": N_COLUMNS}
        results.append(row | {"seconds": alone, "rows_per_second": rows_alone / alone})
    ratios = [one / two for one, two in zip(times[1], times[2], strict=True)]
    results[1]["ratio"] = sum(times[1]) / sum(times[2])
    print(
        f"2 workers over 1: {results[1]['ratio']:.2f} times the rows per second (by round "
        f"{', '.join(f'{each:.2f}' for each in ratios)}); peak of a worker {max(peaks):.0f} MB; workers were "
        f"there after {start_up:.0f} s; without workers, on one thread: {rows_alone / alone:,.0f} rows/s"
    )
    save_rows(results, arguments.out)


if __name__ == "__main__":
    main()
