"""What a command holds beside its table: no library that it does not use, and no copies of its features."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

MOST_MEGABYTES = 75
CATEGORIES = 3, 5, 8, 12
PROGRAM = """
import sys
from pathlib import Path
from unskew._support.memory import keep_little, without_module

def held(entry):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(entry)) * 1024 / 1e6

keep_little()
with without_module("pandas"):
    import unskew.practice.fit, unskew.practice.labeled_table, unskew.practice.results
libraries = held("VmRSS")
from unskew.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(held("VmHWM") - libraries, *(name for name in ("pandas", "pyarrow", "lightgbm") if name in sys.modules))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is read from /proc")
def test_a_fit_from_csv_takes_little_memory_beside_its_libraries(tmp_path):
    rng, n_rows = np.random.default_rng(0), 2_000
    columns = {f"number {place}": rng.normal(size=n_rows) for place in range(4)}
    for count in CATEGORIES:
        columns[f"word of {count}"] = np.array([f"word{each}" for each in range(count)])[rng.integers(0, count, n_rows)]
    labeled = (rng.random(n_rows) < 0.02).astype(np.int8)
    path = tmp_path / "cases.csv"
    pl.DataFrame({**columns, "label": labeled, "risk": np.round(rng.random(n_rows), 3)}).write_csv(path)
    request = ["fit", path, "--label", "label", "--confidence", "risk", "--method", "conf-reg", "--no-estimate"]
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, *request, "--out", tmp_path / "cases.unskew"],
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
    )
    peak, *loaded = found.stdout.splitlines()[-1].split()
    assert loaded == []
    assert float(peak) < MOST_MEGABYTES
