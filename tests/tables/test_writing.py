"""Tables that appear whole or not at all."""

import datetime
import errno
import os
import resource
import signal
import subprocess
import sys
import textwrap

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odd_tables import odd_table
from unskew.errors import TableError
from unskew.tables import TableWriter, check_types, read_table

ENDINGS = [".csv", ".csv.gz", ".tsv", ".parquet", ".pq"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_batches_become_one_table(tmp_path, ending):
    frame = pl.DataFrame({"id": ["a,b", 'q"q', "x\ny", "tab\t", None] * 20, "score": [str(i) for i in range(100)]})
    with TableWriter(tmp_path / f"out{ending}") as writer:
        for batch in frame.iter_slices(13):
            writer.write(batch)
        assert not (tmp_path / f"out{ending}").exists()
    assert read_table(tmp_path / f"out{ending}").equals(frame)
    assert os.listdir(tmp_path) == [f"out{ending}"]


def write_and_raise(path, error):
    with TableWriter(path) as writer:
        writer.write(pl.DataFrame({"a": [1]}))
        raise error


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("before", [None, b"old"])
def test_after_an_error_nothing_is_left(tmp_path, ending, before):
    path = tmp_path / f"out{ending}"
    if before is not None:
        path.write_bytes(before)
    with pytest.raises(KeyboardInterrupt):
        write_and_raise(path, KeyboardInterrupt)
    assert os.listdir(tmp_path) == ([] if before is None else [path.name])
    assert before is None or path.read_bytes() == before


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_file_keeps_the_usual_permissions(tmp_path, ending):
    path = tmp_path / f"out{ending}"
    with TableWriter(path) as writer:
        writer.write(pl.DataFrame({"a": [1]}))
    (tmp_path / "usual").touch()
    assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_private_file_stays_private_also_while_it_is_written(tmp_path, ending):
    path = tmp_path / f"out{ending}"
    path.touch(mode=0o600)
    with TableWriter(path) as writer:
        writer.write(pl.DataFrame({"a": [1]}))
        assert len(os.listdir(tmp_path)) == 2
        assert {each.stat().st_mode & 0o777 for each in tmp_path.iterdir()} == {0o600}
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("ending", [".csv.gz", ".parquet"])
def test_what_a_killed_process_left_is_removed(tmp_path, ending):
    script = """
        import os, signal, sys
        import polars as pl
        from unskew.tables import TableWriter
        with TableWriter(sys.argv[1]) as writer:
            writer.write(pl.DataFrame({"a": [1]}))
            os.kill(os.getpid(), signal.SIGKILL)
    """
    path = tmp_path / f"out{ending}"
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script), path], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(os.listdir(tmp_path)) == 1
    with TableWriter(path) as writer:
        writer.write(pl.DataFrame({"a": [1]}))
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_no_rows_are_a_file_all_the_same(tmp_path, ending):
    with TableWriter(tmp_path / f"out{ending}"):
        pass
    assert (tmp_path / f"out{ending}").exists()


def test_where_nothing_can_be_written_is_told(tmp_path):
    with pytest.raises(TableError, match=r"must end in .csv, .csv.gz, .tsv, .tsv.gz or .parquet, .pq, but it does not"):
        TableWriter(tmp_path / "out.xlsx")
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(TableError, match="there must be no folder of this name"):
        TableWriter(tmp_path / "out.csv")
    for name in ("none/out.csv", "none/out.parquet"):
        with (
            pytest.raises(TableError, match="out.* must be writable, but it is not: No such file"),
            TableWriter(tmp_path / name),
        ):
            pass


def test_nested_columns_go_to_parquet_only(tmp_path):
    frame = pl.DataFrame({"tags": [["a"], ["b", "c"]]})
    with (
        pytest.raises(TableError, match='column "tags" is of type List.*write to a .parquet file'),
        TableWriter(tmp_path / "o.csv") as writer,
    ):
        writer.write(frame)
    with TableWriter(tmp_path / "o.parquet") as writer:
        writer.write(frame)
    assert os.listdir(tmp_path) == ["o.parquet"]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pl.Series([datetime.timedelta(hours=1)]), "Duration"),
        (pl.Series([None], dtype=pl.Duration("ns")), "Duration"),
        (pl.Series([b"a"]), "Binary"),
        (pl.Series([[1]]), "List"),
        (pl.Series([[1]], dtype=pl.Array(pl.Int64, 1)), "Array"),
        (pl.Series([{"a": 1}]), "Struct"),
    ],
)
def test_types_that_csv_cannot_hold_are_refused_before_there_are_rows(tmp_path, values, kind):
    frame = pl.DataFrame({"id": [1], "wait": values})
    message = f'single values such as .* column "wait" is of type {kind}.* Leave it out, or write to a .parquet file'
    for name in ("o.csv", "o.tsv.gz"):
        with pytest.raises(TableError, match=message):
            check_types(tmp_path / name, frame.clear())
    check_types(tmp_path / "o.parquet", frame)
    with TableWriter(tmp_path / "o.parquet") as writer:
        writer.write(frame)
    assert read_table(tmp_path / "o.parquet").equals(frame)


def test_types_that_csv_can_hold_are_not_refused(tmp_path):
    time = datetime.datetime(2024, 1, 31, 12)
    frame = pl.DataFrame({"int": [1], "text": ["a"], "truth": [True], "none": [None], "time": [time]}).with_columns(
        pl.col("text").cast(pl.Categorical).alias("category"),
        pl.col("int").cast(pl.Decimal(10, 2)).alias("decimal"),
        pl.col("time").dt.date().alias("day"),
        pl.col("time").dt.time().alias("clock"),
        pl.col("time").dt.replace_time_zone("UTC").alias("zone"),
    )
    check_types(tmp_path / "o.csv", frame.clear())
    with TableWriter(tmp_path / "o.csv") as writer:
        writer.write(frame)
    assert read_table(tmp_path / "o.csv").height == 1


def test_types_that_parquet_cannot_hold_are_refused_before_there_are_rows(tmp_path):
    frame = pl.DataFrame({"a": pl.Series([1], dtype=pl.Int128)})
    with pytest.raises(TableError, match='o.parquet: .* column "a" is of type Int128. Leave it out.'):
        check_types(tmp_path / "o.parquet", frame.clear())


def test_what_cannot_be_converted_is_no_error_of_the_disk(tmp_path, monkeypatch):
    def fail(_):
        raise pl.exceptions.ComputeError("this value is too large")

    monkeypatch.setattr("unskew.tables.writing.check_types", lambda *_: None)
    monkeypatch.setattr(pl.DataFrame, "to_arrow", fail)
    with (
        pytest.raises(TableError, match="o.parquet: .* that failed: this value is too large.*; leave out the column"),
        TableWriter(tmp_path / "o.parquet") as writer,
    ):
        writer.write(pl.DataFrame({"a": [1]}))
    assert os.listdir(tmp_path) == []


def test_parquet_keeps_every_type_that_a_table_may_have(tmp_path):
    time = datetime.datetime(2024, 1, 31, 12, 0, 0, 123456)
    frame = pl.DataFrame({"int": [1, 2, 3], "text": ["a", "b", None], "none": [None] * 3, "time": [time] * 3})
    frame = frame.with_columns(
        *(pl.col("int").cast(kind).alias(str(kind)) for kind in (pl.Int8, pl.UInt64, pl.Float32, pl.Decimal(10, 2))),
        *(pl.col("time").cast(pl.Datetime(unit)).alias(unit) for unit in ("ms", "us", "ns")),
        *((pl.col("time") - pl.col("time")).cast(pl.Duration(unit)).alias(f"d{unit}") for unit in ("ms", "us", "ns")),
        pl.col("text").cast(pl.Categorical).alias("category"),
        pl.col("text").cast(pl.Enum(["a", "b", "c"])).alias("enum"),
        pl.col("text").cast(pl.Binary).alias("bytes"),
        pl.col("time").dt.date().alias("day"),
        pl.col("time").dt.time().alias("clock"),
        pl.col("time").dt.replace_time_zone("Europe/Berlin").alias("zone"),
        pl.struct(pl.col("int"), pl.concat_list("text").alias("list")).alias("record"),
        (pl.col("int") > 1).alias("truth"),
    )
    frame.write_parquet(tmp_path / "by polars.parquet")
    with TableWriter(tmp_path / "o.parquet") as writer:
        for row in frame.iter_slices(1):
            writer.write(row)
    before, after = (pl.read_parquet(tmp_path / name) for name in ("by polars.parquet", "o.parquet"))
    assert after.schema == before.schema
    assert after.equals(before)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("before", [None, b"old"])
def test_a_link_stays_a_link_and_what_it_points_to_is_written(tmp_path, ending, before):
    folder, link = tmp_path / "elsewhere", tmp_path / f"link{ending}"
    folder.mkdir()
    target = folder / f"target{ending}"
    if before is not None:
        target.write_bytes(before)
    link.symlink_to(target)
    with TableWriter(link) as writer:
        writer.write(pl.DataFrame({"a": ["1"]}))
        writer.write(pl.DataFrame({"a": ["2"]}))
    assert link.is_symlink()
    assert read_table(target).rows() == [("1",), ("2",)]
    assert os.listdir(folder) == [target.name]
    assert sorted(os.listdir(tmp_path)) == ["elsewhere", link.name]


def test_all_frames_have_the_same_columns(tmp_path):
    with TableWriter(tmp_path / "o.csv") as writer:
        writer.write(pl.DataFrame({"a": [1]}))
        with pytest.raises(TypeError, match="all frames must have the columns"):
            writer.write(pl.DataFrame({"b": [1]}))


@pytest.fixture
def small_files():
    """Most bytes that any file may have in this test."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    most = 1 << 18
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    yield most
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet"])
@pytest.mark.parametrize("batches", [1, 40])
def test_a_full_disk_is_reported_and_nothing_left(tmp_path, name, batches, small_files):
    values = np.random.default_rng(0).normal(size=(batches, 4 * small_files // 8 // batches))

    def write():
        with TableWriter(tmp_path / name) as writer:
            for each in values:
                writer.write(pl.DataFrame({"a": each}))

    with pytest.raises(OSError, match="File too large") as raised:
        write()
    assert raised.value.errno == errno.EFBIG
    told = str(raised.value)
    assert told.startswith(f"{tmp_path / name}: the table must be written whole, but that failed: ")
    assert "Nothing was left behind" in told
    assert os.listdir(tmp_path) == []


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(ENDINGS))
def test_odd_tables_go_round(tmp_path_factory, seed, ending):
    folder = tmp_path_factory.mktemp("odd")
    frame = read_table(odd_table(seed).write(folder))
    path = folder / f"out{ending}"
    with TableWriter(path) as writer:
        for batch in frame.iter_slices(7):
            writer.write(batch)
    assert read_table(path).equals(frame)
