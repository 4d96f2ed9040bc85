"""A table that is read a part at a time is the same as one that is read whole."""

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from unskew.errors import TableError
from unskew.practice.labeled_table import read_labeled
from unskew.tables import EncodedParquetRows, EncodedRows, _text_columns, reading, streaming
from unskew.tables.inference import column_of, infer_features
from unskew.tables.schema import LeftOut
from whole_columns import infer_whole_column

KINDS = {
    "numbers": ["1", "2.5", " 3", "-4e2", "1e-9", "7.0", "0", "12345678901234567890", "+5", "0.1", "1.0", "1.00"],
    "whole": [str(each) for each in range(1, 40)],
    "truth": ["1", "0", "true", "FALSE", "yes", "No", "t", "f", "1.0", "0.00", " Y"],
    "dates": [
        "2024-01-31",
        "2024-02-29",
        "1999-12-31T23:59",
        "2024-01-31 10:00:01.5+02:00",
        "2000-01-01Z",
        " 2001-01-01",
    ],
    "words": ["red", "blue", " green", "é", "日本", "a", "b", "c", "d", "e", "Red"],
    "missing": ["", "NA", " ", "nan", "?"],
    "separated": ["1,5", "1 000", "12%", "€7"],
    "like dates": ["31.1.2024", "2024/01/31", "2024-02-30"],
    "infinite": ["inf", "-Infinity", " inf"],
}


@st.composite
def columns(draw):
    """Mostly values of one kind or two, of which others may come late."""
    pools = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3, unique=True))
    main = st.sampled_from(KINDS[pools[0]])
    values = draw(st.lists(main, min_size=1, max_size=40))
    for pool in pools[1:]:
        values += draw(st.lists(st.sampled_from(KINDS[pool]), max_size=12))
    return draw(st.permutations(values)) if draw(st.booleans()) else values


def found(read):
    """What a column is, with its values; or the words of an error."""
    try:
        result = read()
    except TableError as error:
        return str(error)
    if isinstance(result, LeftOut):
        return result
    column, values = result
    return column, values.cast(pl.String).to_list() if column.kind == "categorical" else values.to_list()


def in_parts(series, size):
    column = column_of(series.name, series.dtype, "data.csv", 1)
    for _ in range(2):
        for part in series.to_frame().iter_slices(size):
            column.take_in(part[series.name])
        if not column.needs_another_look():
            break
        column.begin_again()
    return column.decide()


@settings(deadline=None, max_examples=300)
@given(columns(), st.integers(1, 50), st.sampled_from([2, 5, 200]), st.sampled_from(["x", "customer_id"]))
@example(["1", "2", "3", "4", "5", "6", "x"], 2, 2, "x")
@example(["2024-01-31", "2024-02-01", "2024-02-02", "2024-02-01", "red"], 1, 2, "x")
@example(["1", "1.0", "1.00", "0", "true", "no"], 2, 2, "x")
def test_a_column_in_parts_is_what_it_is_as_a_whole(values, size, most, name):
    series = pl.Series(name, [value or None for value in values], dtype=pl.String)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_text_columns, "MOST_CATEGORIES", most)
        patch.setattr("unskew.tables.inference.MOST_CATEGORIES", most)
        patch.setattr("unskew.tables.inference.FEW_CATEGORIES", min(10, most))
        assert found(lambda: in_parts(series, size)) == found(lambda: infer_whole_column(series, "data.csv", 1))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.one_of(st.none(), st.floats(), st.integers(-5, 5).map(float)), min_size=1), st.integers(1, 9))
def test_numbers_in_parts_are_what_they_are_as_a_whole(values, size):
    series = pl.Series("number", values, dtype=pl.Float64)
    assert found(lambda: in_parts(series, size)) == found(lambda: infer_whole_column(series, "data.csv", 1))


def mixed(n, seed=0):
    """A table with every kind of column; words and numbers come in their order of a seed."""
    rng = np.random.default_rng(seed)
    some = rng.random(n)
    return pl.DataFrame(
        {
            "amount": np.round(rng.normal(size=n), 3),
            "age": pl.Series(rng.integers(18, 90, n)).set(pl.Series(some < 0.1), None),
            "color": pl.Series(rng.choice(["red", "blue", "gre,en"], n)).set(pl.Series(some > 0.9), None),
            "town": rng.choice([f"town {each}" for each in range(90)], n),
            "member": rng.choice(["yes", "no"], n),
            "since": pl.Series(rng.integers(0, 9000, n)).cast(pl.Int32).cast(pl.Date),
            "note": [f"free text {each}" for each in rng.integers(0, 10**9, n)],
            "late": [*[str(each) for each in np.round(rng.normal(size=n - 1), 6)], "oops"],
            "key": np.arange(n),
            "label": (some < 0.1).astype(int),
            "risk": np.round(rng.random(n), 3),
        }
    )


@pytest.fixture
def blocks(monkeypatch):
    """Files are read in tiny parts."""
    monkeypatch.setattr("unskew.tables._text_blocks.BLOCK", 2000)
    monkeypatch.setattr(reading, "ROWS_AT_ONCE", 70)


@pytest.mark.parametrize("kind", ["csv", "parquet", "folder"])
def test_a_file_in_parts_gives_the_features_of_the_whole(kind, tmp_path, blocks, monkeypatch):
    frame = mixed(900)
    path = tmp_path / f"table.{kind}"
    if kind == "csv":
        frame.write_csv(path)
    elif kind == "parquet":
        frame.write_parquet(path, row_group_size=130)
    else:
        path.mkdir()
        for number, part in enumerate(frame.iter_slices(400)):
            part.write_parquet(path / f"{number}.parquet", row_group_size=90)
    as_read = pl.read_csv(path, infer_schema=False) if kind == "csv" else frame
    schema, X = infer_features(as_read.drop("label", "risk"))
    for most, rows_kind in ((1 << 30, np.ndarray), (0, EncodedRows)):
        monkeypatch.setattr(streaming, "DENSE_BYTES", most)
        table = read_labeled(path, "label", "risk")
        assert isinstance(table.X, rows_kind)
        assert table.schema == schema
        assert table.y.tolist() == frame["label"].to_list()
        matrix = table.matrix if most else table.matrix.toarray()
        np.testing.assert_array_equal(matrix, X)
    late = next(each.reason for each in schema.left_out if each.name == "late")
    assert "all but 1 of 900 values are numbers" in late
    assert '"oops" at row 900' in late
    some = np.random.default_rng(1).permutation(900)[:101]
    np.testing.assert_array_equal(table.X.take(some), X[some])
    np.testing.assert_array_equal(table.some_rows(np.sort(some)).X.take(np.arange(101)), X[np.sort(some)])


def test_a_parquet_table_larger_than_memory_stays_in_its_file(tmp_path, blocks, monkeypatch):
    frame = mixed(900)
    frame.write_parquet(tmp_path / "table.parquet", row_group_size=130)
    frame.write_csv(tmp_path / "table.csv")
    whole = read_labeled(tmp_path / "table.parquet", "label", "risk")
    monkeypatch.setenv("UNSKEW_MAX_TABLE_BYTES", "9000")
    table = read_labeled(tmp_path / "table.parquet", "label", "risk")
    assert isinstance(table.X, EncodedParquetRows)
    assert not table.in_memory
    assert table.schema == whole.schema
    assert any("larger than the memory that it may take" in note for note in table.notes)
    some = np.random.default_rng(0).permutation(900)[:77]
    np.testing.assert_array_equal(table.X.take(some), whole.X[some])
    table.X.keep(np.arange(100, 400))
    np.testing.assert_array_equal(table.X.take(some), whole.X[some])
    np.testing.assert_array_equal(table.some_rows(np.sort(some)).X.take(np.arange(77)), whole.X[np.sort(some)])
    with pytest.raises(TableError, match="may take 0 MB now.*Save it as Parquet"):
        read_labeled(tmp_path / "table.csv", "label", "risk")


def test_files_of_a_folder_must_have_the_same_columns(tmp_path):
    frame = mixed(50)
    frame.write_parquet(tmp_path / "a.parquet")
    frame.with_columns(pl.col("age").cast(pl.String)).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(TableError, match='column "age" is of type int64 in "a.parquet" and of type large_string in "b'):
        read_labeled(tmp_path, "label", "risk")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("label", "maybe", r'label column "label" must say .*, but 2 rows of 900 say .* \(first: "maybe" at row 701\)'),
        ("label", "", r"label column .* in every row, but 2 rows of 900 are blank \(first: row 701\)"),
        ("risk", "1.7", r'must lie in \[0, 1\] .* but 2 of \d+ do not \(first: "1.7" at row 701\)'),
        ("risk", "high", r'must be a number .* but 2 of \d+ are not \(first: "high" at row 701\)'),
        ("risk", "", r"must have a value .* but 2 of \d+ have none \(first: nothing at row 701\)"),
        (
            "amount",
            "-inf",
            r'column "amount" must hold finite numbers, but 2 rows of 900 .* \(first: "-inf" at row 701\)',
        ),
    ],
)
def test_a_wrong_value_in_a_late_part_is_named_with_its_row(name, value, words, tmp_path, blocks):
    lines = mixed(900).with_columns(pl.all().cast(pl.String))
    place = pl.int_range(900).is_in([700, 899])
    lines = lines.with_columns(label=pl.when(place).then(pl.lit("1")).otherwise("label"))
    lines = lines.with_columns(pl.when(place).then(pl.lit(value)).otherwise(name).alias(name))
    lines.write_csv(tmp_path / "table.csv")
    with pytest.raises(TableError, match=words):
        read_labeled(tmp_path / "table.csv", "label", "risk")


@pytest.mark.parametrize(
    ("values", "bytes_per_row"),
    [
        (["a rather long word", "another one"], 1),
        ([f"{each}.5" for each in range(5000)], 4),
        ([f"{each}.123" for each in range(5000)], 8),
        ([f"2024-01-{1 + each % 28:02d}T{each % 24:02d}:{each % 60:02d}:{each % 59:02d}" for each in range(5000)], 8),
        ([f"free text that goes on and on {each}" for each in range(5000)], 8),
    ],
    ids=["words", "short numbers", "numbers", "times", "free text"],
)
def test_no_column_holds_its_text(values, bytes_per_row):
    column = column_of("x", pl.String())
    for _ in range(10):
        column.take_in(pl.Series(values * (5000 // len(values))))
    assert column.n_bytes <= 10 * 5000 * bytes_per_row
