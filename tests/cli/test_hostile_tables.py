"""Tables whose cells and names are meant for a spreadsheet or a terminal to obey."""

import io
import os
import sys

import polars as pl
import pytest

from program import run_program
from toy_table import run, toy_frame, write_toy
from unskew._support.progress import progress_bar
from unskew._support.text import visible

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
    told = run("score", model, table, "--id", "case", "--id", "=name", "--keep-order", "--out", out).stderr
    ranked = pl.read_csv(out, separator="\t" if "tsv" in ending else ",", infer_schema=False)
    assert ranked.columns == ["case", "'=name", "rank", "score"]
    assert ranked["case"].to_list() == [f"'{cell}" for cell in FORMULAS] + HARMLESS
    assert set(ranked["'=name"]) == {"safe"}
    assert told.count("--raw") == 1
    assert f'a \' was put before {len(FORMULAS) + 1} cells of "=name", "case" so that no spreadsheet' in told


def test_raw_keeps_cells_as_they_are_and_parquet_always_does(model, table, tmp_path):
    for out, options in (("out.csv", ["--raw"]), ("out.parquet", [])):
        done = run(
            "score", model, table, "--id", "case", "--id", "=name", "--keep-order", "--out", tmp_path / out, *options
        )
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


HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202e\u2066\x9b31m\r\nerror: no"


def everything_said(*arguments, cwd):
    """What the program prints on both streams: nothing that a terminal would obey, except line breaks."""
    result = run_program(*arguments, cwd=cwd)
    said = result.stdout + result.stderr
    assert "Traceback" not in said
    assert said == visible(said, keep="\n")
    return result.returncode, said


def test_no_terminal_obeys_a_name_or_a_cell(tmp_path):
    frame = toy_frame(300).rename({"level": f"level{HOSTILE}", "color": f"[red]color{HOSTILE}"})
    data = f"cases{HOSTILE}.parquet"
    frame.with_columns(pl.lit(HOSTILE).alias("constant")).write_parquet(tmp_path / data)
    options = ["--label", "known", "--confidence", "risk", "--exclude", "truth", "--exclude", "case"]
    fast = ["--method", "ntc", "--epochs", "1", "--no-estimate", "--out", "m.unskew"]
    code, said = everything_said("fit", data, *options, *fast, cwd=tmp_path)
    assert code == 0, said
    assert r"\x1b]0;owned\x07\x1b[2J\u202e\u2066\x9b31m\r\nerror: no" in said
    assert "[red]color" in said
    frame.drop(f"level{HOSTILE}").write_parquet(tmp_path / "new.parquet")
    for wrong in (["new.parquet", "--id", f"case{HOSTILE}"], ["new.parquet"], [f"no{HOSTILE}.csv"]):
        code, said = everything_said("score", "m.unskew", *wrong, cwd=tmp_path)
        assert code == 2
        assert said.count("\n") == 1, said


@pytest.mark.parametrize("arguments", [["fit", "a.csv", HOSTILE], [HOSTILE], [f"--{HOSTILE}"], ["fit", f"-{HOSTILE}"]])
def test_no_terminal_obeys_what_was_typed(arguments, tmp_path):
    assert everything_said(*arguments, cwd=tmp_path)[0] == 2


@pytest.mark.parametrize("name", ["", "*", "^.*", "{0}", "%s", "\\", "a,b", '"', "[/]", "None"])
def test_odd_names_of_columns_are_names(name, tmp_path):
    frame = toy_frame(120).rename({"level": name})
    frame.write_parquet(tmp_path / "cases.parquet")
    data = tmp_path / "cases.parquet"
    if name:  # a CSV file without a name for a column has a note about it
        data = tmp_path / "cases.csv"
        frame.write_csv(data)
    aside = ["--exclude", "truth", "--exclude", "risk", "--exclude", "case"]
    run("fit", data, "--label", "known", *aside, "--method", "ntc", "--epochs", 1, "--out", tmp_path / "m")
    for each in (data, tmp_path / "cases.parquet"):
        run("score", tmp_path / "m", each, "--id", name, "--keep-order", "--out", tmp_path / "out.parquet")
        ranked = pl.read_parquet(tmp_path / "out.parquet")
        assert ranked.columns == [name, "rank", "score"]
        assert ranked[name].cast(pl.Float64).to_list() == pytest.approx(frame[name].to_list())


@pytest.mark.parametrize(("name", "seen"), [("^a$", "^a$"), ("^.*$", "^.*$"), ("a\0b", r"a\x00b")])
def test_names_that_polars_would_take_for_something_else_are_refused(name, seen, tmp_path):
    toy_frame(120).rename({"level": name}).write_parquet(tmp_path / "cases.parquet")
    code, said = everything_said("fit", "cases.parquet", "--label", "known", cwd=tmp_path)
    assert code == 2
    assert f'of column "{seen}" does. Rename it.' in said


def test_a_file_name_that_is_not_text(model, tmp_path):
    write_toy(tmp_path / "new.csv", 20)
    name = os.fsencode(tmp_path) + b"/new\xff.csv"
    os.rename(tmp_path / "new.csv", name)
    code, said = everything_said("score", model, os.fsdecode(name), "--out", "out.csv", cwd=tmp_path)
    assert code == 0, said


def test_no_bar_obeys_its_title_or_its_note(monkeypatch):
    written = io.StringIO()
    written.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", written)
    with progress_bar(f"[red]fit{HOSTILE}", 2, shown=True) as step:
        step(note=f"[b]note{HOSTILE}")
    said = written.getvalue()
    assert "[red]fit" in said
    assert "\x1b]0;owned" not in said
    assert "\u202e" not in said
