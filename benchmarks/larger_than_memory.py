"""What do training and scoring cost on a table that is not read whole?

    python benchmarks/larger_than_memory.py [--rows 10000000] [--folder FOLDER] [--out FILE]

Makes a Parquet folder of 50 float32 columns, a label and a confidence, if it is not there yet (2 GB for ten million
rows). In a process of its own each, prints seconds, rows per second and peak memory of: one epoch of conf-auc (labeling
network, risk, and the pass that sets the threshold), one scoring pass, and on the same stream one pass of partial_fit
and one of decision_function of scikit-learn's logistic regression by stochastic gradient descent.
"""

import argparse
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import unskew
from measure import in_own_process, peak_megabytes, seconds
from rows import Rows, add_out, save_rows

N_COLUMNS, ROWS_PER_GROUP, ROWS_PER_FILE = 50, 100_000, 1_000_000
COLUMNS = [f"x{number}" for number in range(N_COLUMNS)]


def make_table(folder: Path, n_rows: int) -> None:
    """Positives (10 %) lie along one direction, and are labeled the more often the further out they lie."""
    rng = np.random.RandomState(0)
    direction = rng.normal(size=N_COLUMNS) / np.sqrt(N_COLUMNS)
    for number, start in enumerate(range(0, n_rows, ROWS_PER_FILE)):
        path = folder / f"part-{number:03d}.parquet"
        size = min(ROWS_PER_FILE, n_rows - start)
        if path.exists() and pq.read_metadata(path).num_rows == size:
            continue
        X = np.random.RandomState(number).standard_normal((size, N_COLUMNS)).astype(np.float32)
        posterior = 1 / (1 + np.exp(3.2 - 2 * X @ direction))
        positive = rng.uniform(size=size) < posterior
        labeled = positive & (rng.uniform(size=size) < 0.02 / (1 + np.exp(-X[:, 0])))
        table = {**dict(zip(COLUMNS, X.T, strict=True)), "flag": labeled.astype(np.int8), "risk": posterior}
        pq.write_table(pa.table(table), path, row_group_size=ROWS_PER_GROUP)


def train(folder: Path, model: Path) -> None:
    rows = unskew.ParquetRows(folder, COLUMNS)
    ranker = unskew.make("conf-auc", max_epochs=1, random_state=0)
    ranker.fit(rows, rows.column("flag"), confidence=rows.column("risk")).save(model)


def score(folder: Path, model: Path) -> None:
    rows = unskew.ParquetRows(folder, COLUMNS)
    assert np.isfinite(unskew.load(model).decision_function(rows)).all()


def sklearn_train(folder: Path, _model: Path) -> None:
    from sklearn.linear_model import SGDClassifier

    rows = unskew.ParquetRows(folder, COLUMNS)
    y, classifier = rows.column("flag"), SGDClassifier(loss="log_loss", random_state=0)
    for start in range(0, len(rows), 1024):
        index = np.arange(start, min(start + 1024, len(rows)))
        classifier.partial_fit(rows.take(index), y[index], classes=[0, 1])


def sklearn_score(folder: Path, _model: Path) -> None:
    from sklearn.linear_model import SGDClassifier

    rows = unskew.ParquetRows(folder, COLUMNS)
    y, classifier = rows.column("flag")[:100_000], SGDClassifier(loss="log_loss", random_state=0)
    classifier.fit(rows.take(np.arange(len(y))), y)
    scores = np.empty(len(rows))
    for start in range(0, len(rows), 1024):
        index = np.arange(start, min(start + 1024, len(rows)))
        scores[index] = classifier.decision_function(rows.take(index))


WORKS = {
    "conf-auc, one epoch": train,
    "conf-auc, scoring": score,
    "SGDClassifier, one partial_fit pass": sklearn_train,
    "SGDClassifier, scoring": sklearn_score,
}


def measured(work: Callable[[Path, Path], None], folder: Path, model: Path) -> tuple[float, float]:
    """Seconds, and peak memory of this process in megabytes."""
    return seconds(partial(work, folder, model)), peak_megabytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, help="Where the table is kept; a temporary folder if left out.")
    add_out(parser)
    arguments = parser.parse_args()
    n_rows, results = arguments.rows, Rows()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or Path(scratch) / "table"
        folder.mkdir(parents=True, exist_ok=True)
        make_table(folder, n_rows)
        print(f"{'what':>35} {'rows':>11} {'seconds':>8} {'rows/s':>10} {'peak MB':>8}")
        for title, work in WORKS.items():
            time, peak = in_own_process(measured, work, folder, Path(scratch) / "model")
            results.append({"what": title, "rows": n_rows, "columns": N_COLUMNS, "seconds": time})
            results[-1] |= {"rows_per_second": n_rows / time, "peak_mb": peak}
            print(f"{title:>35} {n_rows:11,d} {time:8.1f} {n_rows / time:10,.0f} {peak:8.0f}", flush=True)
    save_rows(results, arguments.out)


if __name__ == "__main__":
    main()
