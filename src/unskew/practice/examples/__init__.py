"""Tables to try the commands on, each with a truth to compare with, one file each.

A table is two texts of CSV: one to fit on, and newer rows to score. The last column of both is the truth.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.utils import check_random_state

from unskew._support.files import make_folder, write_atomically
from unskew.practice.examples.claims import claims_tables
from unskew.practice.examples.digits import digits_tables
from unskew.practice.examples.payments import payments_tables
from unskew.practice.examples.screening import screening_tables

Tables = Callable[[np.random.RandomState], tuple[str, str]]
EXAMPLES: dict[str, Tables] = {
    "claims": claims_tables,
    "digits": digits_tables,
    "payments": payments_tables,
    "screening": screening_tables,
}


def write_example(name: str, folder: Path, *, seed: int = 0) -> tuple[Path, Path]:
    """Write ``NAME.csv`` to fit on and ``new_NAME.csv`` to score; the last column of both is the truth."""
    rng = check_random_state(seed)
    texts = EXAMPLES[name](rng)
    make_folder(folder)
    paths = folder / f"{name}.csv", folder / f"new_{name}.csv"
    for path, text in zip(paths, texts, strict=True):
        write_atomically(path, text.encode())
    return paths
