"""The toy law as a file such as an analyst has: numbers, categories, dates, gaps, ids."""

import numpy as np
import polars as pl
from typer.testing import CliRunner

from unskew.cli import app
from unskew.datasets import toy

COLUMNS = ["--label", "known", "--confidence", "risk"]
ASIDE = ["--exclude", "truth", "--exclude", "case"]


def toy_frame(n=600, seed=0):
    data = toy.draw(n, random_state=seed)
    rng = np.random.RandomState(seed + 1000)  # not that of the draw: gaps must not tell the class
    age = np.where(rng.uniform(size=n) < 0.1, np.nan, 40 + 10 * data.X[:, 0])
    return pl.DataFrame(
        {
            "case": [f"C-{number:05d}" for number in range(n)],
            "age": pl.Series(age).fill_nan(None),
            "level": data.X[:, 1],
            "color": rng.choice(["red", "green", "blue"], n),
            "member": rng.choice(["yes", "no"], n),
            "day": [f"2024-{1 + number % 12:02d}-{1 + number % 28:02d}" for number in range(n)],
            "known": data.labeled,
            "risk": pl.Series(data.confidence).fill_nan(None),
            "truth": data.y,
        }
    )


def write_toy(path, n=600, seed=0):
    frame = toy_frame(n, seed)
    (frame.write_parquet if path.suffix == ".parquet" else frame.write_csv)(path)
    return frame


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result
