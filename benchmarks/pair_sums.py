"""What does a sum over all pairs cost as a matrix, in blocks and in linear time, and how exact is it?

    python benchmarks/pair_sums.py [--full] [--out rows.csv]

Value and gradients of both sets of scores, float32, one thread for torch and for numpy. All methods take turns in one
run, and the least time counts: other work on the machine only adds to it. In blocks more than 10^9 pairs are
measured on a part of the high scores and scaled up, because the time is proportional to them; such times are marked
with a ~. `--full` measures 10^4 x 10^6 pairs whole, which takes some minutes. Errors are those of losses and slopes of
some scores of either side against float64, the losses relative to themselves and the slopes to the largest. Memory is
what the linear sum adds at its peak to a process that holds the scores; it is told on Linux only.
"""

import argparse
import csv
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from unskew.pairs import DENSE_PAIRS, DENSE_PAIRS_PER_SCORE, _block_sums, _linear_sums, _sums_by_block, pair_sum
from unskew.surrogates import SURROGATES, sigmoid

N_HIGH = 10_000
LOW_SIZES = [10**3, 10**4, 10**5, 10**6, 10**7]
SHARE = 100  # low scores to a high one, where their ratio is fixed
LARGEST_MATRIX, LARGEST_IN_BLOCKS = 10**8, 10**9
CHECKED = 16

Row = dict[str, object]


def scores(n_high: int, n_low: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """High and low scores that overlap as those of a trained ranker do, and their weights."""
    rng = torch.Generator().manual_seed(0)
    high, low = 2 * torch.randn(n_high, generator=rng) + 3, 2 * torch.randn(n_low, generator=rng)
    return high, low, 1 + 9 * torch.rand(n_high, generator=rng), torch.ones(n_low)


def through_autograd(n_high: int, n_low: int) -> Callable[[], None]:
    high, low, weight, _ = scores(n_high, n_low)
    high.requires_grad_()
    low.requires_grad_()
    return lambda: pair_sum(high, low, sigmoid, high_weight=weight).backward()


def least_seconds(*runs: Callable[[], object], turns: int = 3) -> list[float]:
    """Least time of each over some turns."""
    times = np.array([[_seconds(run) for run in runs] for _ in range(turns)])
    return list(times.min(axis=0))


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def time_row(n_high: int, n_low: int, full: bool) -> Row:
    """Seconds of each method that can be measured."""
    inputs = scores(n_high, n_low)
    whole = n_high * n_low <= LARGEST_IN_BLOCKS or (full and (n_high, n_low) == (N_HIGH, 10**6))
    part = n_high if whole else max(1, LARGEST_IN_BLOCKS // (5 * n_low))
    some = inputs[0][:part], inputs[1], inputs[2][:part], inputs[3]
    runs = [through_autograd(n_high, n_low), lambda: _sums_by_block(*some, sigmoid, True, False)]
    if n_high * n_low <= LARGEST_MATRIX:
        runs.append(lambda: _block_sums(*inputs, sigmoid, True, False))
    turns = 5 if part * n_low <= LARGEST_MATRIX else 3 if part * n_low <= LARGEST_IN_BLOCKS else 1
    runs[0]()  # what a first call loads is not counted
    linear, blocks, *matrix = least_seconds(*runs, turns=turns)
    blocks *= n_high / part
    return {
        "matrix_s": matrix[0] if matrix else None,
        "blocks_s": blocks,
        "blocks_from_part": not whole,
        "linear_s": linear,
        "blocks_over_linear": blocks / linear,
    }


def error_row(n_high: int, n_low: int) -> Row:
    """Errors of the losses and slopes of some scores of either side."""
    high, low, a, b = scores(n_high, n_low)
    ours = _linear_sums(high, low, a, b, sigmoid, True, False)
    some_high, some_low = (torch.linspace(0, n - 1, CHECKED).long() for n in (n_high, n_low))
    exact = [each.double() for each in (high, low, a, b)]
    loss, _, slope_of_high, _ = _sums_by_block(
        exact[0][some_high], exact[1], exact[2][some_high], exact[3], sigmoid, True, False
    )
    _, _, _, slope_of_low = _sums_by_block(
        exact[0], exact[1][some_low], exact[2], exact[3][some_low], sigmoid, True, False
    )
    slopes = [(ours[2][some_high], slope_of_high), (ours[3][some_low], slope_of_low)]
    return {
        "loss_error": ((ours[0][some_high] - loss).abs() / loss).max().item(),
        "slope_error": max(((mine - other).abs().max() / other.abs().max()).item() for mine, other in slopes),
    }


def extra_megabytes(n_high: int, n_low: int) -> float:
    """Extra peak memory, in a process of its own."""
    command = [sys.executable, __file__, "--memory-of", str(n_high), str(n_low)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def print_own_extra_megabytes(n_high: int, n_low: int) -> None:
    through_autograd(2000, 2000)()  # what a first call loads is not counted
    run = through_autograd(n_high, n_low)
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts again at what is held now
        held = megabytes("VmRSS")
        run()
        print(megabytes("VmHWM") - held)
    except OSError:
        print("nan")


def megabytes(entry: str) -> float:
    """Memory of this process as the kernel tells it; `resource.getrusage` would start at the peak of the parent."""
    return int(re.findall(rf"{entry}:\s+(\d+)", Path("/proc/self/status").read_text())[0]) / 1024


def print_sizes(sizes: list[tuple[int, int]], full: bool) -> list[Row]:
    print("    high       low  matrix [s]  blocks [s]  linear [s]  blocks/linear  extra [MB]  loss err  slope err")
    rows = []
    for n_high, n_low in sizes:
        row: Row = {"n_high": n_high, "n_low": n_low, **time_row(n_high, n_low, full), **error_row(n_high, n_low)}
        row["extra_mb"] = extra_megabytes(n_high, n_low)
        rows.append(row)
        matrix = "-" if row["matrix_s"] is None else f"{row['matrix_s']:.3f}"
        blocks = f"{'~' if row['blocks_from_part'] else ''}{row['blocks_s']:.3f}"
        print(
            f"{n_high:8d} {n_low:9d} {matrix:>11s} {blocks:>11s} {row['linear_s']:11.4f} "
            f"{row['blocks_over_linear']:14.0f} {row['extra_mb']:11.0f} {row['loss_error']:9.0e} "
            f"{row['slope_error']:10.0e}",
            flush=True,
        )
    return rows


def log_slope(rows: list[Row]) -> float:
    """Slope of log time against log size, from 10^5 low scores on."""
    points = np.array([(row["n_low"], row["linear_s"]) for row in rows if int(str(row["n_low"])) >= 10**5], float)
    return float(np.polyfit(*np.log(points).T, 1)[0])


def print_crossover(names: list[str]) -> list[Row]:
    """Time in blocks over time in linear form, around the number of pairs at which the dispatch changes over."""
    factors = [0.25, 0.5, 1, 2, 4]
    print("time in blocks over linear time at so many times the pairs where pair_sum changes over:")
    print("      surrogate  dtype    high  " + "  ".join(f"{factor:5g}" for factor in factors))
    rows: list[Row] = []
    for name in names:
        for dtype, n_high in [(torch.float32, n) for n in (20, 30, 100, 1000)] + [(torch.float64, 100)]:
            ratios = [crossover_ratio(name, dtype, n_high, factor) for factor in factors]
            print(
                f"{name:>15s} {str(dtype)[6:]} {n_high:6d}  " + "  ".join(f"{ratio:5.2f}" for ratio in ratios),
                flush=True,
            )
            rows += [
                {"surrogate": name, "dtype": str(dtype)[6:], "n_high": n_high, "crossovers": factor, "ratio": ratio}
                for factor, ratio in zip(factors, ratios, strict=True)
            ]
    return rows


def crossover_ratio(name: str, dtype: torch.dtype, n_high: int, factor: float) -> float:
    # n_high n_low = DENSE_PAIRS + DENSE_PAIRS_PER_SCORE (n_high + n_low)
    n_low = (DENSE_PAIRS + DENSE_PAIRS_PER_SCORE * n_high) / (n_high - DENSE_PAIRS_PER_SCORE)
    inputs = [each.to(dtype) for each in scores(n_high, int(factor * n_low))]
    arguments = *inputs, SURROGATES[name], True, False
    blocks, linear = least_seconds(lambda: _sums_by_block(*arguments), lambda: _linear_sums(*arguments), turns=7)
    return blocks / linear


def save(rows: list[Row], path: Path) -> None:
    """One table: what a row does not have stays empty."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true", help="10^4 x 10^6 pairs in blocks as a whole")
    parser.add_argument("--out", type=Path, help="write the rows to this CSV file")
    parser.add_argument("--memory-of", type=int, nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with threadpool_limits(1):
        if arguments.memory_of:
            print_own_extra_megabytes(*arguments.memory_of)
            return
        fixed = print_sizes([(N_HIGH, n_low) for n_low in LOW_SIZES], arguments.full)
        share = print_sizes([(n_low // SHARE, n_low) for n_low in LOW_SIZES[2:]], False)
        print(
            f"slope of log time: {log_slope(fixed):.2f} with {N_HIGH} high, {log_slope(share):.2f} with a fixed share"
        )
        crossover = print_crossover(["sigmoid", "logistic", "ramp", "squared_hinge", "squared"])
    if arguments.out:
        save(fixed + share + crossover, arguments.out)


if __name__ == "__main__":
    main()
