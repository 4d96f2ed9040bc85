"""Files as frames: encodings, delimiters, quotes, damage, batches, and what a user reads when a file is wrong."""

import csv
import gzip
import io
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unskew.tables._csv
import unskew.tables._text_blocks
import unskew.tables.reading
from odd_tables import damaged, odd_table
from unskew.errors import TableError
from unskew.tables import infer_features, open_table, read_batches, read_table

LARGE = 2**32 - 1


def put(folder, content, name="data.csv"):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def parquet(folder, columns, name="data.parquet", **options):
    path = folder / name
    pl.DataFrame(columns).write_parquet(path, **options)
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_delimiters_line_ends_and_encodings_are_found_out(tmp_path, delimiter, end, encoding):
    lines = ["näme,b,c", "é,1,", ' "x",,2', "ü,3,4"]
    path = put(tmp_path, end.join(line.replace(",", delimiter) for line in lines).encode(encoding))
    frame = read_table(path)
    assert frame.columns == ["näme", "b", "c"]
    assert frame.rows() == [("é", "1", None), (' "x"', None, "2"), ("ü", "3", "4")]
    assert frame.dtypes == [pl.String] * 3


def test_a_decimal_comma_does_not_pass_for_a_delimiter(tmp_path):
    path = put(tmp_path, "a;b\n" + "1,5;2,5\n" * 5)
    assert read_table(path).row(0) == ("1,5", "2,5")


def test_an_eight_bit_encoding_is_told(tmp_path):
    assert open_table(put(tmp_path, "a,b\ncafé,€\n".encode("cp1252"))).notes == (
        f"{tmp_path / 'data.csv'}: not UTF-8, read as cp1252. If letters look wrong, save the file as UTF-8.",
    )
    assert open_table(put(tmp_path, b"a,b\ncaf\xe9\x81,2\n")).text.encoding == "latin-1"
    assert open_table(put(tmp_path, "a,b\ncafé,€\n")).notes == ()


def test_quoted_fields_may_hold_anything(tmp_path):
    path = put(tmp_path, 'a,b\n"x,y","line\nbreak"\n"say ""so""",5" pipe\n"",\n')
    assert read_table(path).rows() == [("x,y", "line\nbreak"), ('say "so"', '5" pipe'), (None, None)]


def test_blank_lines_are_no_rows_and_lines_of_delimiters_are(tmp_path):
    path = put(tmp_path, "\n\na,b\n\n1,2\n   \n,\n3,4\n\n\n")
    assert read_table(path).rows() == [("1", "2"), (None, None), ("3", "4")]


def test_names_are_stripped_and_made_where_there_is_none(tmp_path):
    table = open_table(put(tmp_path, ", a ,b\n0,1,2\n"))
    assert table.columns == ("column 1", "a", "b")
    assert "column 1 has no name in the header" in table.notes[0]


def test_whole_numbers_may_be_names_as_pandas_writes_them(tmp_path):
    assert read_table(put(tmp_path, "0,1,2\n5,6,7\n")).columns == ["0", "1", "2"]


def test_the_content_decides_where_the_ending_says_nothing(tmp_path):
    frame = pl.DataFrame({"a": [1, 2]})
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    assert read_table(put(tmp_path, buffer.getvalue(), "data")).equals(frame)
    assert read_table(put(tmp_path, "a\n1\n", "data.dat")).rows() == [("1",)]
    assert read_table(put(tmp_path, gzip.compress(b"a,b\n1,2\n"), "data.csv.gz")).rows() == [("1", "2")]
    assert read_table(put(tmp_path, "a,x\tb\n1\t2\n", "data.tsv")).columns == ["a,x", "b"]


def test_names_of_files_are_no_patterns(tmp_path):
    parquet(tmp_path, {"a": [1]}, "x1.parquet")
    assert read_table(parquet(tmp_path, {"a": [2]}, "x[1]*.parquet")).rows() == [(2,)]


WRONG = {
    "no file": (None, "there must be a file, but there is none"),
    "empty": (b"", "the file is empty"),
    "blank": (b" \n\n \r\n", "the file is empty"),
    "header only": (b"a,b\n", "a table must have rows, but there is only a header"),
    "zero bytes": (b"a,b\n1,\0\n", "the file holds zero bytes"),
    "binary": (b"\x89PNG\r\n\x1a\n\xff\xfe\xfa" * 9, "holds control characters"),
    "excel": (b"PK\x03\x04" + b"\0" * 50, "this is a zip or Excel file"),
    "parquet as csv": (b"PAR1....PAR1", "this is a Parquet file, whose name must end in .parquet"),
    "short line": (b"a,b,c\n1,2,3\n4,5\n", r"as the header, 3, but line 3 has 2 \(it starts with \"4\""),
    "long line": (b"a,b\n1,2\n4,5,6\n", "as the header, 2, but line 3 has 3"),
    "long line after quotes": (b'a,b\n"1\n1",2\n\n4,5,6\n', "as the header, 2, but line 5 has 3"),
    "open quote": (b'a,b\n1,2\n"3,4\n5,6\n', "the record that starts at line 3"),
    "text after a quote": (b'a,b\n1,2\n"3"x,4\n', "the record that starts at line 3"),
    "open quote in the header": (b'a,"b\n1,2\n', "the record that starts at line 1"),
    "same names": (b"a,b,a\n1,2,3\n", 'columns 1 and 3 are both called "a"'),
    "no header": (b"1.5,2\n2.5,3\n", "it holds numbers"),
    "half of a character": (b"\xff\xfea\0,\0b\0\n\x001", "the file must be UTF-16"),
    "cut-off gzip": (gzip.compress(b"a,b\n" + b"1,2\n" * 999)[:-20], "cannot be unpacked"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_file_is_told_by_name(tmp_path, case):
    content, message = WRONG[case]
    path = tmp_path / "data.csv" if content is None else put(tmp_path, content)
    with pytest.raises(TableError, match=message) as error:
        read_table(path)
    assert str(error.value).startswith(f"{path}: ")


def test_a_mistyped_file_gets_a_hint_and_a_folder_is_none(tmp_path):
    put(tmp_path, "a\n1\n", "transactions.csv")
    with pytest.raises(TableError, match=r"Did you mean 'transactions.csv'\?"):
        read_table(tmp_path / "transaction.csv")
    with pytest.raises(TableError, match="this is a folder"):
        read_table(tmp_path)
    with pytest.raises(TableError, match="its name cannot be used|there is none"):
        read_table("x\0y.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_told(tmp_path):
    path = put(tmp_path, "a\n1\n")
    path.chmod(0)
    with pytest.raises(TableError, match="must be readable, but it is not: Permission denied"):
        read_table(path)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"a,b\n1,2\n", b"PAR1" + b"x" * 99])
def test_what_is_no_parquet_file_is_told(tmp_path, content):
    with pytest.raises(TableError, match="must begin and end with the letters PAR1"):
        read_table(put(tmp_path, content, "data.parquet"))


def test_a_damaged_parquet_file_is_told(tmp_path):
    content = parquet(tmp_path, {"a": list(range(100))}).read_bytes()
    with pytest.raises(TableError, match="must be whole and readable by pyarrow"):
        read_table(put(tmp_path, content[:30] + b"\xff" * (len(content) - 34) + b"PAR1", "data.parquet"))
    with pytest.raises(TableError, match="there is only a header"):
        read_table(parquet(tmp_path, {"a": []}))


def test_a_parquet_file_knows_its_rows(tmp_path):
    assert open_table(parquet(tmp_path, {"a": list(range(77))}, row_group_size=10)).n_rows == 77


@pytest.mark.parametrize("rows", [1, 7, 100, 1000])
def test_batches_are_the_table_in_order(tmp_path, rows):
    lines = "".join(f'{i},"x\n{i}",{i % 3}\n' if i % 5 else f"{i},y,\n" for i in range(100))
    frame = read_table(path := put(tmp_path, "a,b,c\n" + lines))
    batches = list(read_batches(path, ["c", "a"], rows=rows))
    assert pl.concat(batches).equals(frame.select("c", "a"))
    assert all(batch.height == rows for batch in batches[:-1])
    whole = read_table(path := parquet(tmp_path, frame, row_group_size=9))
    assert pl.concat(read_batches(path, ["b"], rows=rows)).equals(whole.select("b"))


def test_batches_name_a_column_that_is_not_there(tmp_path):
    with pytest.raises(
        TableError, match=r'there must be a column "amuont", but there is none. Did you mean "amount"\?'
    ):
        list(read_batches(put(tmp_path, "amount,b\n1,2\n"), ["amuont"]))


def test_the_type_of_a_batch_does_not_depend_on_the_batch(tmp_path):
    path = put(tmp_path, "a\n" + "1\n" * 10 + "word\n")
    assert {batch.dtypes[0] for batch in read_batches(path, None, rows=3)} == {pl.String()}


@pytest.fixture
def tiny_blocks(monkeypatch):
    monkeypatch.setattr(unskew.tables._text_blocks, "BLOCK", 64)
    monkeypatch.setattr(unskew.tables._csv, "ROWS_AT_ONCE", 3)


def test_records_may_cross_blocks(tmp_path, tiny_blocks):
    cells = ["short", "x" * 300, "many\n" * 40, "\r\n" * 30, 'quo"te' * 20]
    quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells]
    content = "name,other\r\n" + "".join(f"{cell},1\r\nplain,2\r\n" for cell in quoted * 3)
    assert (
        read_table(put(tmp_path, content))["name"].to_list() == [word for cell in cells for word in (cell, "plain")] * 3
    )
    with pytest.raises(TableError, match=f"but line {content.count(chr(10)) + 1} has 1"):
        read_table(put(tmp_path, content + "too short\r\n"))


def test_lines_must_end_some_time(tmp_path, tiny_blocks, monkeypatch):
    monkeypatch.setattr(unskew.tables._text_blocks, "LONGEST_LINE", 1 << 20)
    with pytest.raises(TableError, match="lines must be shorter than 1 MiB"):
        read_table(put(tmp_path, "a,b\n" + "x" * (1 << 21)))


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_long_fields_are_read_and_the_limit_of_the_process_stays(tmp_path, delimiter):
    before, long = csv.field_size_limit(), 'say "so"\n' * 20_000
    lines = ["name,text", '"x",' + '"' + long.replace('"', '""') + '"', '"y",' + "z" * 200_000]
    path = put(tmp_path, "\n".join(line.replace(",", delimiter) for line in lines) + "\n")
    assert read_table(path).rows() == [("x", long), ("y", "z" * 200_000)]
    batches = read_batches(path, None, rows=1)
    next(batches)
    assert csv.field_size_limit() == before  # also while the rest waits
    header = put(tmp_path, f'"{"h" * 200_000}"{delimiter}b\n1{delimiter}2\n')
    assert open_table(header).columns == ("h" * 200_000, "b")
    with pytest.raises(TableError, match="the record that starts at line 2"):
        read_table(put(tmp_path, 'a,b\n"1"x,2\n'))
    assert csv.field_size_limit() == before


def test_long_fields_are_read_by_several_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(unskew.tables._csv, "ROWS_AT_ONCE", 1)
    before, path = csv.field_size_limit(), put(tmp_path, "a,b\n" + f'"{"x" * 140_000}",1\n' * 20)
    with ThreadPoolExecutor(8) as threads:
        assert {frame.height for frame in threads.map(read_table, [path] * 8)} == {20}
    assert csv.field_size_limit() == before


def test_fields_must_end_some_time(tmp_path, tiny_blocks, monkeypatch):
    monkeypatch.setattr(unskew.tables._csv, "LONGEST_LINE", 1 << 20)
    with pytest.raises(TableError, match="fields must be shorter than 1 MiB, but the record that starts at line 3 has"):
        read_table(put(tmp_path, 'a,b\n1,2\n"3,4\n' + "5,6\n" * (1 << 19)))


def test_a_table_that_is_too_large_is_refused_with_the_way_to_allow_it(tmp_path, monkeypatch):
    path = put(tmp_path, gzip.compress(b"a,b\n" + b"1,2\n" * 50_000), "data.csv.gz")
    typed = parquet(tmp_path, {"a": np.zeros(200_000), "b": np.zeros(200_000)})
    monkeypatch.setattr(unskew.tables.reading, "_free_memory", lambda: 3_000_000)
    for each in (path, typed):
        message = r"its columns may take 1 MB now, but the first [\d,]+ rows take \d+ MB.*set UNSKEW_MAX_TABLE_BYTES"
        with pytest.raises(TableError, match=message) as error:
            read_table(each)
        assert str(error.value).startswith(f"{each}: ")
        assert sum(batch.height for batch in read_batches(each, None)) > 40_000  # in constant memory
    assert read_table(path, ["b"]).height == 50_000  # what is not read takes nothing
    monkeypatch.setenv("UNSKEW_MAX_TABLE_BYTES", "100000000")
    assert read_table(path).height == 50_000
    monkeypatch.setenv("UNSKEW_MAX_TABLE_BYTES", "1 GB")
    with pytest.raises(ValueError, match="UNSKEW_MAX_TABLE_BYTES must be a whole number of bytes, but it is '1 GB'"):
        read_table(path)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are set and read as on Linux")
def test_a_table_beyond_a_limit_of_memory_does_not_end_the_process(tmp_path):
    path = put(tmp_path, gzip.compress(b"a,b,c,d\n" + b"1,2,3,4\n" * 4_000_000), "data.csv.gz")
    script = """
        import resource, sys
        from unskew.errors import TableError
        from unskew.tables import read_batches, read_table

        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10

        before = peak()
        assert sum(batch.height for batch in read_batches(sys.argv[1], None)) == 4_000_000
        assert peak() - before < 200 << 20
        in_use = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (in_use + (500 << 20), resource.getrlimit(resource.RLIMIT_AS)[1]))
        try:
            read_table(sys.argv[1])
        except TableError as error:
            assert "must fit into memory" in str(error)
        else:
            raise AssertionError
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script), path], check=True)


@settings(max_examples=60)
@given(st.integers(0, LARGE))
def test_small_blocks_change_nothing(tmp_path_factory, seed):
    path = odd_table(seed).write(tmp_path_factory.mktemp("odd"))
    whole = read_table(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unskew.tables._text_blocks, "BLOCK", 3000 + seed % 1000)  # the first must show the delimiter
        assert read_table(path).equals(whole)


@settings(max_examples=100)
@given(st.integers(0, LARGE))
def test_odd_files_are_read_as_they_are_written(tmp_path_factory, seed):
    table = odd_table(seed)
    path = table.write(tmp_path_factory.mktemp("odd"))
    frame = read_table(path)
    assert frame.columns == list(table.names)
    assert frame.rows() == [tuple(cell or None for cell in row) for row in table.rows]
    assert pl.concat(read_batches(path, None, rows=5)).equals(frame)


@settings(max_examples=100)
@given(st.integers(0, LARGE), st.booleans())
def test_a_damaged_file_gives_rows_or_a_table_error(tmp_path_factory, seed, as_parquet):
    folder, table = tmp_path_factory.mktemp("damaged"), odd_table(seed)
    content, name = table.content(), "damaged.csv"
    if as_parquet:
        path = parquet(folder, {name: [row[i] for row in table.rows] for i, name in enumerate(table.names)})
        content, name = path.read_bytes(), "damaged.parquet"
    path = put(folder, damaged(content, seed), name)
    try:
        frame = read_table(path)
        assert frame.height == sum(batch.height for batch in read_batches(path, None, rows=7))
        infer_features(frame)
    except TableError:
        pass


def test_polars_is_loaded_by_tables_alone_and_told_if_it_is_not_there():
    script = """
        import subprocess, sys
        import unskew, unskew.errors, unskew.cli
        assert "polars" not in sys.modules
        sys.modules["polars"] = None
        try:
            import unskew.tables
        except unskew.errors.MissingExtra as error:
            assert str(error) == "reading tables needs polars and pyarrow. Install them: pip install 'unskew[tables]'"
        else:
            raise AssertionError
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True)
