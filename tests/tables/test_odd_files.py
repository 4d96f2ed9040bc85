"""Generated CSV files, as odd as people have them, through fit and score.

`UNSKEW_ODD_FILES` says how many (1000 for a thorough look).
"""

import os

import polars as pl
import pytest
from typer.testing import CliRunner

from odd_tables import odd_table
from unskew.cli import app

N_FILES = int(os.environ.get("UNSKEW_ODD_FILES", "60"))
CHUNKS = 4


def run(*arguments):
    """Exit code and message; whatever is not told as wrong data fails here."""
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    if result.exit_code == 0:
        return 0, result.output
    assert isinstance(result.exception, ValueError), (arguments, repr(result.exception))
    return 2, str(result.exception)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_odd_files_are_ranked_row_by_row_or_refused_in_words(chunk, tmp_path):
    ranked = refused = 0
    for seed in range(chunk, N_FILES, CHUNKS):
        table, new = odd_table(seed), odd_table(seed).another(seed + 1)
        data, other = table.write(tmp_path, "odd.csv"), new.write(tmp_path, "new.csv")
        model, out = tmp_path / "m.unskew", tmp_path / "out.csv"
        columns = ["--label", table.label_column, "--confidence", table.confidence_column, "--exclude", table.id_column]
        blank = ["--blank-is-unlabeled"] if table.blank_is_unlabeled else []
        code, told = run("fit", data, *columns, *blank, "--epochs", 1, "--no-estimate", "--out", model)
        if code:
            refused += 1
            assert len(told) > 30
            continue
        code, told = run("score", model, other, "--id", table.id_column, "--keep-order", "--out", out)
        if code:  # a value of another kind than in training
            assert "column" in told
            refused += 1
            continue
        ranked += 1
        result = pl.read_csv(out, infer_schema=False)
        place = new.names.index(table.id_column)
        assert result.height == len(new.rows), seed
        assert [each or "" for each in result[table.id_column]] == [row[place].strip() for row in new.rows], seed
        assert result["score"].cast(pl.Float64).is_finite().all()
    assert ranked > 3 * refused  # most of them are lawful
