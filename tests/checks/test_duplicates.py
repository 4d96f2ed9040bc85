"""Cases that are labeled and unlabeled at once."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import unskew
from unskew._support.text import percent
from unskew.checks import check_table, duplicates
from unskew.checks.duplicates import find_twins


@pytest.fixture(scope="module")
def data():
    return unskew.datasets.toy.draw(1000, random_state=0)


def with_twins(data, n):
    rows = np.flatnonzero(data.labeled == 1)[:n]
    X = np.vstack([data.X, data.X[rows]])
    return X, np.concatenate([data.labeled, np.zeros(n, dtype=int)]), rows


@pytest.mark.parametrize("n", [3, 20])
def test_twins_are_counted_with_examples(data, n, monkeypatch):
    monkeypatch.setattr(duplicates, "ROWS_AT_ONCE", 97)  # rows of several blocks
    X, y, rows = with_twins(data, n)
    (found,) = find_twins(X, y)
    n_labeled = int(data.labeled.sum())
    assert found.text.startswith(f"{n} labeled rows ({percent(n / n_labeled)}) and")
    assert f"{n} unlabeled rows have the same values in all columns" in found.text
    assert f"(rows {rows[0] + 1} and 1,001; {rows[1] + 1} and 1,002; {rows[2] + 1} and 1,003)" in found.text
    assert found.level == "note"
    (same,) = find_twins(sparse.csr_array(X), y)
    assert same.text == found.text


def test_two_twins_are_chance(data):
    X, y, _ = with_twins(data, 2)
    assert find_twins(X, y) == []


def test_tables_whose_rows_repeat_anyway_get_no_note():
    rng = np.random.RandomState(0)
    X = rng.randint(0, 3, (3000, 4)).astype(float)
    assert find_twins(X, (rng.uniform(size=3000) < 0.1).astype(int)) == []


def test_words_and_gaps_count_as_values():
    rng = np.random.RandomState(0)
    n = 900
    frame = pl.DataFrame({"a": rng.normal(size=n), "b": np.array(["x", "y", ""])[rng.randint(0, 3, n)]})
    y = (np.arange(n) < 100).astype(int)
    both = pl.concat([frame, frame.head(30), frame.head(30).with_columns(b=pl.lit("z"))])
    (found,) = check_table(both, np.concatenate([y, np.zeros(60, dtype=int)]))
    assert found.text.startswith("30 labeled rows (30 %) and 30 unlabeled rows have the same values")
    assert "(rows 0 and 900; 1 and 901; 2 and 902)" in found.text  # Python counts from 0


def test_different_rows_have_different_digests():
    """Permuted columns, opposite signs and single bits."""
    X = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, 2.0], [1.0, -2.0], [0.0, 0.0], [0.0, 5e-324], [1.0, np.nan]])
    assert len(np.unique(duplicates._digests(X, len(X)))) == len(X)
    assert len(np.unique(duplicates._digests(np.array([[0.0], [-0.0]]), 2))) == 1
