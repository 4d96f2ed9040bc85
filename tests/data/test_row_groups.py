"""Parquet files as they lie on the disk: what is missing, damaged, hidden or empty in them, and kinds of numbers."""

import errno
import tracemalloc
from decimal import Decimal
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from parquet_files import run, write
from unskew.data.parquet import ParquetRows
from unskew.errors import TableError


def test_a_folder_may_hold_more_files_than_may_be_open(tmp_path):
    for number in range(100):
        write(tmp_path / f"{number:03d}.parquet", a=[float(number)], flag=[number % 2])
    script = """if True:
        import resource, sys
        import numpy as np
        from unskew.data.parquet import ParquetRows

        resource.setrlimit(resource.RLIMIT_NOFILE, (60, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        rows = ParquetRows(sys.argv[1], ["a"])
        assert np.array_equal(rows.take(np.arange(100))[:, 0], np.arange(100))
        assert np.array_equal(rows.column("flag"), np.arange(100) % 2)
    """
    run(script, tmp_path)


LARGE = 2**53 + 1  # no float


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array([LARGE, None]), [LARGE, None]),
        (pa.array([LARGE, None], type=pa.uint64()), [LARGE, None]),
        (pa.array([True, None]), [True, None]),
        (pa.array(["x", None, "y"]).dictionary_encode(), ["x", None, "y"]),
        (pa.array([LARGE, None, 7]).dictionary_encode(), [LARGE, None, 7]),
        (pa.array([None, "x"]), [None, "x"]),
        (pa.array([Decimal("1.5"), None]), [Decimal("1.5"), None]),
        (pa.nulls(2), [None, None]),
    ],
)
def test_a_column_has_none_where_a_value_is_missing(values, expected, tmp_path):
    write(tmp_path / "1.parquet", a=np.zeros(len(values)), value=values)
    write(tmp_path / "2.parquet", a=np.zeros(1), value=values[:1])
    column = ParquetRows(tmp_path, ["a"]).column("value")
    assert column.dtype == object
    assert column.tolist() == [*expected, expected[0]]


def test_a_column_of_floats_has_nan_where_a_value_is_missing(tmp_path):
    path = write(tmp_path / "x.parquet", a=pa.array([1.5, None]), day=np.array(["2024-01-02", "NaT"], "datetime64[ns]"))
    rows = ParquetRows(path)
    np.testing.assert_array_equal(rows.column("a"), [1.5, np.nan])
    assert np.isnat(rows.column("day")).tolist() == [False, True]


def damage(path, group, name):
    """Spoil one column of one row group, and nothing else."""
    metadata = pq.read_metadata(path)
    column = metadata.row_group(group).column(metadata.schema.names.index(name))
    start = column.dictionary_page_offset or column.data_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(content)


def test_damage_inside_a_file_is_told_with_its_name_and_place(tmp_path):
    path = tmp_path / "part-2.parquet"
    write(tmp_path / "part-1.parquet", a=np.arange(5.0), flag=np.arange(5))
    pq.write_table(pa.table({"a": np.arange(30.0), "flag": np.arange(30)}), path, row_group_size=10)
    damage(path, 1, "a")
    rows = ParquetRows(tmp_path, ["a"])
    assert rows.column("flag")[-1] == 29
    start, end = r"part-2.parquet: a Parquet file must be whole and readable by pyarrow, but", r"Copy or write it again"
    with pytest.raises(TableError, match=rf"{start} its row group 1 is not \(.+\). {end}"):
        rows.take(np.arange(35))
    with pytest.raises(TableError, match=rf"{start} its column 'a' is not \(.+\). {end}"):
        rows.column("a")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(TableError, match=rf"{start} it is not \(.+\). {end}"):
        ParquetRows(tmp_path)


def test_what_is_missing_or_forbidden_is_not_called_damaged(tmp_path, monkeypatch):
    path = write(tmp_path / "x.parquet", a=[1.0, 2.0])
    rows = ParquetRows(path)

    def refuse(*_arguments, **_options):
        raise PermissionError(errno.EACCES, "Failed to open local file")

    with monkeypatch.context() as patch:
        patch.setattr(pq, "ParquetFile", refuse)
        for read in (partial(ParquetRows, path), partial(rows.take, np.arange(2)), partial(rows.column, "a")):
            with pytest.raises(PermissionError, match=r"x.parquet must be readable, but it is not: Permission denied"):
                read()
    path.unlink()
    with pytest.raises(FileNotFoundError, match="there is no file or folder .*x.parquet"):
        rows.column("a")


def test_a_file_that_changes_is_told(tmp_path):
    path = write(tmp_path / "x.parquet", a=[1.0, 2.0])
    rows = ParquetRows(path)
    write(path, a=[1.0, 2.0, 3.0], b=[1, 2, 3])
    with pytest.raises(TableError, match=r"x.parquet must not change while it is in use, .* Open it again"):
        rows.take(np.arange(2))


def test_a_folder_is_read_without_what_is_hidden_or_being_written(tmp_path):
    names = [".hidden.parquet", "_temporary.parquet", "._x.parquet"]
    for name in names:
        (tmp_path / name).write_text("no table")
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(
        FileNotFoundError, match=r"there is none \(folders, and names that begin with '.' or '_', do not"
    ):
        ParquetRows(tmp_path)
    write(tmp_path / "x.parquet", a=[1.0, 2.0])
    assert len(ParquetRows(tmp_path)) == 2
    write(tmp_path / "_one.parquet", a=[1.0, 2.0, 3.0])
    assert len(ParquetRows(tmp_path / "_one.parquet")) == 3  # asked for by name


def test_a_row_group_is_not_in_memory_three_times(tmp_path):
    n_rows, n_columns = 20_000, 64
    X = np.random.RandomState(0).normal(size=(n_columns, n_rows))
    path = write(tmp_path / "x.parquet", **{f"x{place}": column for place, column in enumerate(X)})
    pool, usual = pa.proxy_memory_pool(pa.system_memory_pool()), pa.default_memory_pool()
    rows = ParquetRows(path)
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        read = rows._read(np.array([0]))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(usual)
    np.testing.assert_array_equal(read, X.T.astype(np.float32))
    assert peak < 2.3 * read.nbytes  # the rows, and the same by column
    assert pool.max_memory() < X.nbytes  # not all columns at once in the type of the file


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array([Decimal("1.25"), Decimal("-3.5")]), [1.25, -3.5]),
        (pa.array([Decimal("1.25"), Decimal("-3.5")], type=pa.decimal256(60, 2)), [1.25, -3.5]),
        (pa.array(np.array([0.1, -65504], np.float16)), np.array([0.1, -65504], np.float16)),
        (pa.array([2**62 + 1, -1]), [2**62, -1]),
        (pa.array([2**64 - 1, 0], type=pa.uint64()), [2**64, 0]),
        (pa.array([True, False]), [1, 0]),
    ],
)
def test_numbers_of_every_kind_are_features(values, expected, tmp_path):
    rows = ParquetRows(write(tmp_path / "x.parquet", a=values))
    np.testing.assert_array_equal(rows.take(np.arange(2))[:, 0], np.asarray(expected, np.float32))


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (pa.array([1, None]), "nan"),
        (pa.array([True, None]), "nan"),
        (pa.array([Decimal("1.25"), None]), "nan"),
        (pa.array([np.float16(1), None], type=pa.float16()), "nan"),
        (pa.array([1.0, 1e39]), "inf"),
        (pa.array([1, -(10**40)], type=pa.decimal256(60, 2)), "-inf"),
    ],
)
def test_missing_or_too_large_features_are_told_with_column_and_row(values, found, tmp_path):
    write(tmp_path / "1.parquet", a=np.zeros(1500), b=np.zeros(1500))
    pq.write_table(pa.table({"a": np.zeros(2), "b": values}), tmp_path / "2.parquet", row_group_size=1)
    message = (
        rf"features must be finite and within float32, but column 'b' has {found} \(missing values count as NaN\) at "
        r"row 1,501, which is row 1 of .*2\.parquet\. Fill or drop such rows first"
    )
    with pytest.raises(ValueError, match=message):
        ParquetRows(tmp_path).take(np.arange(1502))


def write_groups(path, *sizes):
    kinds = pa.schema([("a", pa.float64()), ("flag", pa.int64())])
    with pq.ParquetWriter(path, kinds) as writer:
        for size in sizes:
            writer.write_table(pa.table({"a": np.arange(size), "flag": np.arange(size)}).cast(kinds))


def test_row_groups_and_files_without_rows_are_passed_over(tmp_path):
    write_groups(tmp_path / "1.parquet")
    write_groups(tmp_path / "2.parquet", 0, 3, 0, 2, 0)
    write(tmp_path / "3.parquet", a=np.zeros(0), flag=pa.nulls(0))  # as pandas writes a frame without rows
    write_groups(tmp_path / "4.parquet", 1)
    rows = ParquetRows(tmp_path, ["a"])
    np.testing.assert_array_equal(rows.take(np.arange(6))[:, 0], [0, 1, 2, 0, 1, 0])
    assert sorted(rows.shuffle(np.arange(6), torch.Generator().manual_seed(0)).tolist()) == list(range(6))
    assert rows.column("flag").tolist() == [0, 1, 2, 0, 1, 0]
    assert rows.column("flag").dtype == np.int64


def test_a_folder_without_rows(tmp_path):
    write_groups(tmp_path / "1.parquet")
    write_groups(tmp_path / "2.parquet", 0)
    with pytest.raises(ValueError, match="must have rows, but it has none. Pass a file or folder that has some"):
        ParquetRows(tmp_path)
