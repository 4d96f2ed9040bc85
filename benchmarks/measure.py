"""What the benchmarks measure with: time, and the memory of a process. Megabytes are millions of bytes."""

import math
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

STATUS = Path("/proc/self/status")


def seconds(run: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Time of one call."""
    start = clock()
    run()
    return clock() - start


def least_seconds(*runs: Callable[[], object], turns: int = 5, patience: float = math.inf) -> list[float]:
    """Least time of each over some turns; what has taken longer than `patience` altogether has no more turns."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(turns):
        for own, run in zip(times, runs, strict=True):
            if sum(own) <= patience:
                own.append(seconds(run))
    return [min(own) for own in times]


def log_slope(sizes: Sequence[float], times: Sequence[float]) -> float:
    """Slope of log time against log size: 1 where time is proportional to size."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def in_own_process(function: Callable[..., Any], *arguments: object, limit: float | None = None) -> Any:
    """Result of a function in a new process, whose peak of memory is its own; after `limit` seconds a TimeoutError."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply_async(function, arguments).get(limit)


def of_program(*arguments: str, **variables: str) -> tuple[float, float]:
    """Seconds of a Python program and its peak of memory, all that it loads included; for `in_own_process`."""
    environment = {**os.environ, **variables}
    time = seconds(
        lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)
    )
    return time, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6


def held_megabytes() -> float:
    """Memory that this process holds now; not a number where the system does not tell."""
    return _entry("VmRSS") if STATUS.exists() else math.nan


def peak_megabytes() -> float:
    """Memory of this process at its peak. (What getrusage says begins with the peak of the process that started it.)"""
    return _entry("VmHWM") if STATUS.exists() else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def used_by_worker(_: int) -> tuple[int, float, float]:
    """Number, seconds of the processor and peak memory of a worker, which stays busy until the others have begun."""
    time.sleep(2)
    return os.getpid(), time.process_time(), peak_megabytes()


def extra_megabytes(run: Callable[[], object]) -> float:
    """What a call adds at its peak to what this process holds; not a number where the system does not tell."""
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts again at what is held now
    except OSError:
        return math.nan
    held = held_megabytes()
    run()
    return peak_megabytes() - held


def _entry(name: str) -> float:
    return int(re.findall(rf"{name}:\s+(\d+)", STATUS.read_text())[0]) * 1024 / 1e6
