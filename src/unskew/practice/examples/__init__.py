"""Tables to try the commands on, each with a truth to compare with, one file each.

An example is three CSV files: a table to fit on, newer rows to score, both with the truth as their last column, and the
answers: what a check of any row by hand would find, its class and the confidence that it would get.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.utils import check_random_state

from unskew._support.files import make_folder, write_atomically
from unskew.practice.examples.biopsies import biopsies_tables
from unskew.practice.examples.claims import claims_tables
from unskew.practice.examples.digits import digits_tables
from unskew.practice.examples.payments import payments_tables
from unskew.practice.examples.screening import screening_tables

Tables = Callable[[np.random.RandomState], tuple[list[str], list[str], list[str]]]
EXAMPLES: dict[str, Tables] = {
    "biopsies": biopsies_tables,
    "claims": claims_tables,
    "digits": digits_tables,
    "payments": payments_tables,
    "screening": screening_tables,
}


def write_example(name: str, folder: Path, *, seed: int = 0) -> tuple[Path, ...]:
    """Write ``NAME.csv`` to fit on, ``new_NAME.csv`` to score and ``NAME_answers.csv``."""
    tables = EXAMPLES[name](check_random_state(seed))
    make_folder(folder)
    paths = tuple(folder / f"{file}.csv" for file in (name, f"new_{name}", f"{name}_answers"))
    for path, lines in zip(paths, tables, strict=True):
        write_atomically(path, "".join(f"{line}\n" for line in lines).encode())
    return paths
