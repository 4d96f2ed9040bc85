"""Parquet files as tables: types of every kind, memory, and damage of every kind."""

import datetime
import decimal
import json

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from parquet_files import run, write
from unskew.data.parquet import ParquetRows
from unskew.errors import TableError
from unskew.tables import infer_features, open_table, read_batches, read_table

DAY, MOMENT = datetime.date(2024, 1, 31), datetime.datetime(2024, 1, 31, 12)
ODD = {
    "categories": pa.array(["a", None, "b"]).dictionary_encode(),
    "numbered": pa.array([1, None, 2]).dictionary_encode(),
    "decimals": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-3")]),
    "durations": pa.array([datetime.timedelta(1), None, datetime.timedelta(2)], pa.duration("s")),
    "times": pa.array([datetime.time(1), None, datetime.time(2)], pa.time32("ms")),
    "days": pa.array([DAY, None, DAY]),
    "moments": pa.array([MOMENT, None, MOMENT], pa.timestamp("ns", "Asia/Tokyo")),
    "halves": pa.array([np.float16(1.5), None, np.float16(2.0)], pa.float16()),
    "nothing": pa.nulls(3),
    "lists": pa.array([[1], None, []]),
    "structs": pa.array([{"a": 1}, None, {"a": 2}]),
    "bytes": pa.array([b"ab", None, b"cd"], pa.binary(2)),
    "views": pa.array(["a", None, "b"], pa.string_view()),
}


def test_types_are_those_that_polars_gives(tmp_path):
    path = write(tmp_path / "odd.parquet", **ODD)
    frame, expected = read_table(path), pl.read_parquet(path)
    assert frame.schema == expected.schema
    assert frame.equals(expected)
    assert open_table(path).no_rows(["lists", "days"]).schema == expected.select("lists", "days").schema
    enum = pl.DataFrame({"e": pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"]))})
    enum.write_parquet(tmp_path / "enum.parquet")
    assert read_table(tmp_path / "enum.parquet").equals(enum)


def test_categories_may_differ_between_row_groups(tmp_path):
    path = tmp_path / "x.parquet"
    words = pa.array(["a", "b", "c", "d", None, "a"]).dictionary_encode()
    pq.write_table(pa.table({"word": words}), path, row_group_size=2)
    assert read_table(path)["word"].to_list() == ["a", "b", "c", "d", None, "a"]


def test_decimals_too_long_for_polars_become_floats(tmp_path):
    long = pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-3")], pa.decimal256(60, 2))
    assert read_table(write(tmp_path / "x.parquet", a=long))["a"].to_list() == [1.25, None, -3.0]


def test_a_type_that_polars_does_not_have_is_refused_with_the_file(tmp_path):
    path = write(tmp_path / "x.parquet", a=pa.array([MOMENT], pa.timestamp("us", "Mars/City")))
    with pytest.raises(TableError, match=r"x.parquet: .* but its data is not \(.*Mars/City"):
        read_table(path)


def test_a_dot_in_a_name_means_nothing(tmp_path):
    path = write(tmp_path / "x.parquet", **{"a.b": [1, 2], "a": [3, 4], "c": [0.5, 0.5]})
    assert read_table(path, ["a"]).rows() == [(3,), (4,)]
    assert read_table(path, ["c", "a.b"]).rows() == [(0.5, 1), (0.5, 2)]
    assert ParquetRows(path).column("a").tolist() == [3, 4]


def test_names_must_differ_and_there_must_be_some(tmp_path):
    pq.write_table(pa.table([[1], [2], [3]], names=["a", "b", "a"]), tmp_path / "x.parquet")
    with pytest.raises(TableError, match="columns with different names, but 1 of 3 are repeated"):
        read_table(tmp_path / "x.parquet")
    pq.write_table(pa.table({}), tmp_path / "x.parquet")
    with pytest.raises(TableError, match="columns with different names, but there are none"):
        read_table(tmp_path / "x.parquet")


def test_one_large_row_group_is_not_in_memory_at_once(tmp_path):
    X = np.random.default_rng(0).normal(size=(8, 400_000))
    path = write(tmp_path / "x.parquet", **{f"x{place}": column for place, column in enumerate(X)})
    pool, usual = pa.proxy_memory_pool(pa.system_memory_pool()), pa.default_memory_pool()
    pa.set_memory_pool(pool)
    try:
        n_rows = sum(batch.height for batch in read_batches(path, None))
    finally:
        pa.set_memory_pool(usual)
    assert n_rows == 400_000
    assert pool.max_memory() < 0.9 * X.nbytes


def test_text_that_is_not_utf8_is_refused(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"word": ["plain", "marker", "plain"]}), path, compression="none", write_statistics=False)
    path.write_bytes(path.read_bytes().replace(b"marker", b"m\xff\xfe\x80er"))
    with pytest.raises(TableError, match=r"x.parquet: .* but its data is not \(.*UTF8"):
        read_table(path)


def test_a_page_that_does_not_match_its_checksum_is_refused(tmp_path):
    path = tmp_path / "x.parquet"
    options = {"compression": "none", "use_dictionary": False, "write_statistics": False, "write_page_checksum": True}
    pq.write_table(pa.table({"a": [1.0, 1234.5678, 3.0]}), path, **options)
    spoiled = np.float64(1234.5679).tobytes()
    path.write_bytes(path.read_bytes().replace(np.float64(1234.5678).tobytes(), spoiled))
    with pytest.raises(TableError, match="CRC checksum"):
        read_table(path)
    with pytest.raises(TableError, match="its row group 0 is not .*CRC checksum"):
        ParquetRows(path).take(np.arange(3))


def test_a_damaged_file_never_ends_the_process(tmp_path):
    """Flipped bytes, zeroed blocks and cuts, in footer and pages, read in a process of their own."""
    path, rng = tmp_path / "whole.parquet", np.random.default_rng(0)
    n = 200
    columns = {"x": rng.normal(size=n), "word": rng.choice(["red", "blue"], n), "day": [DAY] * n, "id": list(range(n))}
    pq.write_table(pa.table({**columns, "list": [[1, 2]] * n}), path, row_group_size=70)
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for number in range(150):
        content = bytearray(whole)
        for _ in range(rng.integers(1, 4)):
            place = int(rng.integers(footer, len(whole) - 4) if number % 2 else rng.integers(4, footer))
            width = int(rng.choice([1, 4, 64])) if number % 3 else 1
            width = min(width, len(whole) - 4 - place)
            content[place : place + width] = bytes(width) if width > 1 else bytes([rng.integers(256)])
        if number % 10 == 0:
            del content[100 : 100 + int(rng.integers(1, 60))]
        (tmp_path / f"{number}.parquet").write_bytes(content)
    script = """if True:
        import sys, json, pathlib
        from unskew.errors import TableError
        from unskew.tables import infer_features, read_table

        results = []
        for path in sorted(pathlib.Path(sys.argv[1]).glob("*.parquet")):
            try:
                infer_features(read_table(path))
                results.append("read")
            except TableError as error:
                assert str(error).startswith(str(path)) or "usable as a feature" in str(error), error
                results.append("refused")
        pathlib.Path(sys.argv[2]).write_text(json.dumps(results))
    """
    run(script, tmp_path, tmp_path / "results.json")
    results = json.loads((tmp_path / "results.json").read_text())
    assert len(results) == 151
    assert results.count("refused") > 50


def test_a_file_that_changes_meanwhile_is_refused(tmp_path):
    table = open_table(write(tmp_path / "x.parquet", a=[1.0, 2.0]))
    write(tmp_path / "x.parquet", a=[1.0, 2.0, 3.0])
    with pytest.raises(TableError, match="x.parquet must not change while it is in use"):
        infer_features(read_table(table))
