"""Tables whose cells and names are meant for a spreadsheet or a terminal to obey."""

import polars as pl
import pytest

from toy_table import run, toy_frame, write_toy

FORMULAS = ['=HYPERLINK("http://x.example")', "+1+1", "-2+3", "@SUM(A1)", "\t=1", "  =1+1", "\r=1", "＝1+1", "-2.5.1"]
HARMLESS = ["-2.5", "+3", "1e-5", "-1.5E+10", " -7 ", "-", "a=b", "'=1", "x"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    write_toy(folder / "cases.csv", 300)
    options = ["--label", "known", "--exclude", "truth", "--exclude", "case", "--exclude", "risk"]
    run("fit", folder / "cases.csv", *options, "--method", "ntc", "--epochs", 1, "--out", folder / "m.unskew")
    return folder / "m.unskew"


@pytest.fixture
def table(tmp_path):
    cells = FORMULAS + HARMLESS
    frame = toy_frame(len(cells)).with_columns(pl.Series("case", cells), pl.lit("safe").alias("=name"))
    frame.write_parquet(tmp_path / "new.parquet")
    return tmp_path / "new.parquet"


@pytest.mark.parametrize("ending", [".csv", ".tsv.gz"])
def test_no_spreadsheet_runs_a_cell_or_name_of_the_list(model, table, tmp_path, ending):
    out = tmp_path / f"out{ending}"
    told = run("score", model, table, "--id", "case", "--id", "=name", "--out", out).stderr
    ranked = pl.read_csv(out, separator="\t" if "tsv" in ending else ",", infer_schema=False)
    assert ranked.columns == ["case", "'=name", "score", "rank"]
    assert ranked["case"].to_list() == [f"'{cell}" for cell in FORMULAS] + HARMLESS
    assert set(ranked["'=name"]) == {"safe"}
    assert told.count("--raw") == 1
    assert f'a \' was put before {len(FORMULAS) + 1} cells of "=name", "case" so that no spreadsheet' in told


def test_raw_keeps_cells_as_they_are_and_parquet_always_does(model, table, tmp_path):
    for out, options in (("out.csv", ["--raw"]), ("out.parquet", [])):
        done = run("score", model, table, "--id", "case", "--id", "=name", "--out", tmp_path / out, *options)
        assert "--raw" not in done.output
        read = pl.read_parquet if out.endswith("parquet") else pl.read_csv
        ranked = read(tmp_path / out)
        assert ranked.columns[:2] == ["case", "=name"]
        assert ranked["case"][: len(FORMULAS)].to_list() == FORMULAS


def test_plain_tables_get_no_note(model, tmp_path):
    write_toy(tmp_path / "new.csv", 20)
    assert "--raw" not in run("score", model, tmp_path / "new.csv", "--id", "level", "--out", tmp_path / "o.csv").stderr


def test_names_that_would_become_one_are_refused(model, tmp_path):
    toy_frame(20).with_columns(pl.lit(1).alias("=a"), pl.lit(2).alias("'=a")).write_csv(tmp_path / "new.csv")
    arguments = ["score", model, tmp_path / "new.csv", "--id", "=a", "--id", "'=a", "--out", tmp_path / "out.csv"]
    assert 'column "=a" would be called "\'=a"' in str(run(*arguments, code=1).exception)
    run(*arguments, "--raw")
