"""Does the AUC that `unskew fit` reports cover the true one, and does `unskew compare` recommend a good method?

    UNSKEW_DATA=folder python benchmarks/practitioner.py [--dataset diabetes-2015] [--prior 0.1] [--seeds 4]
        [--label-freq 0.1] [--methods NAME ...] [--rows 6000] [--no-compare]

A table as an analyst has it, made from a data set with the paper's biased labeling: `fit` on it as a CSV file, the true
AUC on 5,000 other rows, half of them positive; then `compare`, and the true AUC of each method on the same rows. The
data set's own true classes are seen by nobody before that.
"""

import argparse
import csv
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import torch
from sklearn.utils import check_random_state

import unskew
from unskew.metrics import auc
from unskew.practice.compare import compare_table
from unskew.practice.fit import TrainingOptions, fit_table
from unskew.practice.labeled_table import LabeledTable, read_labeled
from unskew.practice.model import TableModel
from unskew.records import Sizes, Split
from unskew.scenario import draw_split
from unskew.tables import read_table


def write_table(path: Path, split: Split) -> None:
    """Training and validation part as one CSV file, as they are one to an analyst."""
    parts = split.train, split.validation
    X, y, confidence = (np.concatenate([getattr(part, name) for part in parts]) for name in ("X", "y", "confidence"))
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"x{number}" for number in range(X.shape[1])), "known", "confidence"])
        for row, label, sure in zip(X, y, confidence, strict=True):
            writer.writerow([*(f"{value:.6g}" for value in row), label, "" if np.isnan(sure) else f"{sure:.6f}"])


def true_auc(model: TableModel, split: Split, folder: Path) -> float:
    """AUC on the test part, which goes through a file as well."""
    path = folder / "test.csv"
    frame = pl.DataFrame(split.test_X, schema=[f"x{number}" for number in range(split.test_X.shape[1])], orient="row")
    frame.write_csv(path)
    return float(auc(split.test_y, model.score(read_table(path))))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dataset", default="diabetes-2015")
    parser.add_argument("--prior", type=float, default=0.1)
    parser.add_argument("--label-freq", type=float, default=0.1)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--rows", type=int, default=6000)
    parser.add_argument("--methods", nargs="+", default=list(unskew.methods()))
    parser.add_argument("--no-compare", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    raw = unskew.datasets.load(arguments.dataset)
    covered = 0
    for seed in range(arguments.seeds):
        split = draw_split(
            raw,
            prior=arguments.prior,
            label_freq=arguments.label_freq,
            rng=check_random_state(seed),
            sizes=Sizes(train=arguments.rows - 1000),
        )
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "cases.csv"
            write_table(path, split)
            table = read_labeled(path, "known", "confidence")
            model = fit_table(table, TrainingOptions(seed=seed))
            true = true_auc(model, split, Path(scratch))
            assert model.evidence is not None
            estimate = model.evidence.estimate
            assert estimate.low is not None
            assert estimate.high is not None
            inside = estimate.low <= true <= estimate.high
            covered += inside
            print(
                f"seed {seed}: AUC {estimate.auc:.3f} ({estimate.low:.3f} to {estimate.high:.3f}), true {true:.3f}, "
                f"{'inside' if inside else 'outside'}; share of positives {estimate.prior:.3f} "
                f"({estimate.prior_low:.3f} to {estimate.prior_high:.3f}), true {arguments.prior:g}; "
                f"reliability {estimate.reliability:.2f}",
                flush=True,
            )
            if not arguments.no_compare:
                tell_comparison(table, split, seed, arguments.methods, Path(scratch))
    print(f"covered: {covered} of {arguments.seeds}")


def tell_comparison(table: LabeledTable, split: Split, seed: int, names: list[str], folder: Path) -> None:
    result = compare_table(table, TrainingOptions(seed=seed), names)
    true = {}
    for name in names:
        model = fit_table(table, TrainingOptions(method=name, seed=seed), estimate=False)
        true[name] = true_auc(model, split, folder)
    best = max(true, key=lambda name: true[name])
    order = ", ".join(f"{each.name} {each.auc:.3f} ({true[each.name]:.3f})" for each in result.compared)
    print(f"  estimated (true): {order}")
    print(f"  recommended {result.recommended}: {true[best] - true[result.recommended]:.3f} below {best}", flush=True)


if __name__ == "__main__":
    main()
