"""Rows to label next by the commands that an analyst types: a list, the table with the new labels, another fit."""

import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from program import run_program
from toy_table import ASIDE, COLUMNS, run, toy_frame
from unskew.datasets.toy import ToyLaw, draw
from unskew.practice.model import TableModel
from unskew.practice.suggest import write_suggestions


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """A model, and the file with odd ids that it was fitted on."""
    folder = tmp_path_factory.mktemp("suggest")
    odd = ["=1+1", 'a "quoted", one', "ünï\nline", "-5", "@x"]
    names = [odd[number] if number < len(odd) else f"C-{number}" for number in range(600)]
    toy_frame(600).with_columns(case=pl.Series(names)).write_csv(folder / "cases.csv")
    fit(folder / "cases.csv", folder / "m.unskew")
    return folder


def fit(data, out):
    run("fit", data, *COLUMNS, *ASIDE, "--method", "conf-gp", "--no-estimate", "--out", out)


def suggest(folder, out, *more, data="cases.csv"):
    return run("suggest", folder / "m.unskew", folder / data, "--id", "case", "--rows", 20, "--out", out, *more)


def answered(path, skip=0):
    """The list with what a checker finds: the true class, and the confidence of the law; some rows are not checked."""
    data = draw(600, random_state=0)
    frame = pl.read_csv(path, infer_schema=False)
    rows = frame["row"].cast(pl.Int64).to_numpy() - 1
    positive = [str(each) for each in data.y[rows]]
    confidence = [f"{each:.3f}" for each in ToyLaw().posterior(data.X[rows])]
    blank = [None] * skip
    return frame.with_columns(
        positive=pl.Series([*blank, *positive[skip:]]), confidence=pl.Series([*blank, *confidence[skip:]])
    )


def refused(folder, checked, *more):
    arguments = ["--checked", checked, "--out", checked.with_name("out.csv"), *more]
    told = run_program("suggest", folder / "m.unskew", folder / "cases.csv", *arguments)
    assert told.returncode == 2
    assert told.stderr.count("error: ") == 1
    assert not checked.with_name("out.csv").exists()
    return " ".join(told.stderr.split())


def test_the_list_names_unlabeled_rows_with_reasons_and_blanks_to_fill_in(ready, tmp_path):
    told = suggest(ready, tmp_path / "list.csv")
    assert "20 rows to label" in told.output
    assert "--checked" in told.output
    frame = pl.read_csv(tmp_path / "list.csv", infer_schema=False)
    assert frame.columns == ["case", "positive", "confidence", "why", "row", "table"]
    assert frame["positive"].null_count() == frame["confidence"].null_count() == 20
    table = pl.read_csv(ready / "cases.csv", infer_schema=False)
    for case, row in frame.select("case", "row").iter_rows():
        expected = table[int(row) - 1]
        assert expected["known"].item() == "0"
        assert case.removeprefix("'") == expected["case"].item()
    assert all("rows like it" in each or "Positives like it" in each for each in frame["why"])
    suggest(ready, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "list.csv").read_bytes()


def test_a_list_that_was_filled_in_goes_back_into_the_table_for_another_fit(ready, tmp_path):
    suggest(ready, tmp_path / "list.csv")
    checked = answered(tmp_path / "list.csv", skip=3).sample(fraction=1, shuffle=True, seed=0)  # sorted anew
    checked.write_csv(tmp_path / "checked.csv")
    told = run_program(
        *("suggest", ready / "m.unskew", ready / "cases.csv", "--checked", tmp_path / "checked.csv"),
        *("--out", tmp_path / "labeled.csv"),
    )
    n_positive = int((checked["positive"] == "1").sum())
    assert f"17 new labels, {n_positive} of them positive" in told.stdout
    before, after = (pl.read_csv(each, infer_schema=False) for each in (ready / "cases.csv", tmp_path / "labeled.csv"))
    assert before.columns == after.columns
    assert before.drop("known", "risk").equals(after.drop("known", "risk"))
    changed = (before["known"] != after["known"]).to_numpy()
    filled = checked.filter(pl.col("confidence").is_not_null())
    assert set(np.flatnonzero(changed) + 1) == set(filled["row"].cast(pl.Int64))
    for row, confidence in filled.select("row", "confidence").iter_rows():
        assert after["known"][int(row) - 1] == "1"
        assert float(after["risk"][int(row) - 1]) == float(confidence)
    assert before.filter(~pl.Series(changed))["risk"].equals(after.filter(~pl.Series(changed))["risk"])
    (command,) = re.findall("Fit again: unskew (.*)", told.stdout)
    run(*shlex.split(command), "--no-estimate", "--out", tmp_path / "again.unskew")
    models = first, second = [TableModel.load(each) for each in (ready / "m.unskew", tmp_path / "again.unskew")]
    assert first.ranker.name == second.ranker.name == "conf-gp"
    assert first.schema.names == second.schema.names
    assert second.source.excluded == first.source.excluded != ()
    assert [each.source.n_labeled for each in models] == [first.source.n_labeled, first.source.n_labeled + 17]
    arguments = ["--id", "case", "--rows", 200, "--out", tmp_path / "next.csv"]
    run("suggest", tmp_path / "again.unskew", tmp_path / "labeled.csv", *arguments)
    assert not set(pl.read_csv(tmp_path / "next.csv")["row"]) & set(filled["row"].cast(pl.Int64))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_labels_are_spelled_as_the_column_has_them(ready, tmp_path, suffix):
    frame = pl.read_csv(ready / "cases.csv").with_columns(known=pl.col("known") == 1)
    path, out = tmp_path / f"cases{suffix}", tmp_path / f"labeled{suffix}"
    if suffix == ".csv":
        frame = frame.with_columns(known=pl.when("known").then(pl.lit("Yes")).otherwise(pl.lit("No")))
    (frame.write_csv if suffix == ".csv" else frame.write_parquet)(path)
    run("suggest", ready / "m.unskew", path, "--id", "case", "--rows", 4, "--out", tmp_path / "list.csv")
    answered(tmp_path / "list.csv").write_csv(tmp_path / "list.csv")
    run("suggest", ready / "m.unskew", path, "--checked", tmp_path / "list.csv", "--out", out)
    after = pl.read_csv(out) if suffix == ".csv" else pl.read_parquet(out)
    changed = after.filter(after["known"] != frame["known"])["known"].to_list()
    assert changed == [True] * 4 if suffix == ".parquet" else ["yes"] * 4
    assert after["risk"].null_count() == frame["risk"].null_count() - 4


def test_a_folder_of_parquet_files_is_one_table(ready, tmp_path):
    frame, folder = pl.read_csv(ready / "cases.csv"), tmp_path / "cases"
    folder.mkdir()
    frame[:250].write_parquet(folder / "a.parquet")
    frame[250:].write_parquet(folder / "b.parquet")
    run("suggest", ready / "m.unskew", folder, "--id", "case", "--rows", 30, "--out", tmp_path / "list.csv")
    suggest(ready, tmp_path / "whole.csv", "--rows", 30)
    listed, whole = (pl.read_csv(tmp_path / name).drop("table") for name in ("list.csv", "whole.csv"))
    assert listed.equals(whole)
    answered(tmp_path / "list.csv").write_csv(tmp_path / "list.csv")
    out = tmp_path / "labeled.parquet"
    run("suggest", ready / "m.unskew", folder, "--checked", tmp_path / "list.csv", "--out", out)
    assert pl.read_parquet(out)["known"].sum() == frame["known"].sum() + 30
    frame[:100].write_parquet(folder / "b.parquet")
    told = run_program("suggest", ready / "m.unskew", folder, "--checked", tmp_path / "list.csv", "--out", out)
    assert "comes from another one, or the table was changed" in " ".join(told.stderr.split())


def test_new_rows_without_a_label_column_get_one(ready, tmp_path):
    toy_frame(300, seed=4).drop("known", "risk").write_csv(tmp_path / "new.csv")
    n_rows, notes = write_suggestions(
        TableModel.load(ready / "m.unskew"), tmp_path / "new.csv", ["case"], 6, tmp_path / "list.csv", seed=0
    )
    assert (n_rows, notes) == (6, [])
    answered(tmp_path / "list.csv").write_csv(tmp_path / "list.csv")
    arguments = ["--checked", tmp_path / "list.csv", "--out", tmp_path / "labeled.csv"]
    run("suggest", ready / "m.unskew", tmp_path / "new.csv", *arguments)
    after = pl.read_csv(tmp_path / "labeled.csv")
    assert after["known"].sum() == len(after) - after["risk"].null_count() == 6


def test_of_a_large_file_some_rows_are_looked_at_and_a_note_says_so(ready, tmp_path, monkeypatch):
    monkeypatch.setattr("unskew.practice.suggest.MOST_ROWS", 150)
    model = TableModel.load(ready / "m.unskew")
    for name, seed in (("first", 0), ("same", 0), ("other", 1)):
        _, notes = write_suggestions(model, ready / "cases.csv", ["case"], 10, tmp_path / f"{name}.csv", seed=seed)
        assert "the list was chosen from 150 rows, drawn at random from 600." in notes
    first, same, other = ((tmp_path / f"{name}.csv").read_text() for name in ("first", "same", "other"))
    assert first == same != other


def test_negatives_without_a_confidence_stay_unlabeled(ready, tmp_path):
    suggest(ready, tmp_path / "list.csv")
    frame = answered(tmp_path / "list.csv")
    n_negative = int((frame["positive"] == "0").sum())
    frame = frame.with_columns(confidence=pl.when(pl.col("positive") == "1").then("confidence"))
    frame.write_csv(tmp_path / "list.csv")
    arguments = ["--checked", tmp_path / "list.csv", "--out", tmp_path / "labeled.csv"]
    told = run_program("suggest", ready / "m.unskew", ready / "cases.csv", *arguments)
    assert f"{n_negative} rows that are not positive and without a confidence stay unlabeled" in " ".join(
        told.stderr.split()
    )
    assert f"{20 - n_negative} new labels, {20 - n_negative} of them positive" in told.stdout


def test_answers_that_cannot_be_used_are_refused(ready, tmp_path):
    suggest(ready, tmp_path / "list.csv")
    assert "must have rows with a confidence" in refused(ready, tmp_path / "list.csv")
    whole = answered(tmp_path / "list.csv")

    def told_of(column, place, value):
        values = whole[column].to_list()
        values[place] = value
        whole.with_columns(pl.Series(column, values)).write_csv(tmp_path / "changed.csv")
        return refused(ready, tmp_path / "changed.csv")

    place = whole["positive"].to_list().index("1")
    told = told_of("confidence", place, None)
    assert "a positive row must have a confidence" in told
    assert f"(rows of the table: {whole['row'][place]})" in told
    assert "must lie in [0, 1]" in told_of("confidence", 3, "1.5")
    assert "must be a number" in told_of("confidence", 3, "high")
    assert 'the label column "positive" must say' in told_of("positive", 3, "maybe")
    assert f'"{whole["row"][0]}" are there twice' in told_of("row", 1, whole["row"][0])
    assert '"x" are no row numbers' in told_of("row", 1, "x")
    assert "comes from another one, or the table was changed" in told_of("table", 1, "0" * 16)
    whole.drop("row").write_csv(tmp_path / "cut.csv")
    assert 'there must be a column "row"' in refused(ready, tmp_path / "cut.csv")


def test_the_blocks_of_the_page_run_as_written(tmp_path, capsys):
    text = (Path(__file__).parents[2] / "docs/suggestions.md").read_text()
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(compile(block, "docs/suggestions.md", "exec"), {})
    assert "rows like it" in (shown := capsys.readouterr().out) or "Positives like it" in shown
    (commands,) = re.findall(r"```console\n(.*?)```", text, re.S)
    run_program("example", "claims", cwd=tmp_path)
    columns = ["--label", "known_fraud", "--confidence", "risk", "--exclude", "claim_id", "--exclude", "fraud"]
    quick = ["--method", "conf-gp", "--no-estimate"]
    assert run_program("fit", "claims.csv", *columns, *quick, "--out", "claims.unskew", cwd=tmp_path).returncode == 0
    for command in commands.splitlines():
        arguments = shlex.split(command)[1:]
        result = run_program(*arguments, *(quick if arguments[0] == "fit" else ()), cwd=tmp_path)
        assert result.returncode == 0, (command, result.stderr)
        if arguments[-1] == "to_label.csv":  # a checker finds each of the rows to be rather unlikely
            found = pl.read_csv(tmp_path / "to_label.csv", infer_schema=False)
            found.with_columns(positive=pl.lit("0"), confidence=pl.lit("0.2")).write_csv(tmp_path / "to_label.csv")
    first, second = (TableModel.load(tmp_path / name).source for name in ("claims.unskew", "again.unskew"))
    assert second.n_labeled == first.n_labeled + 50


def test_requests_that_cannot_be_met(ready, tmp_path):
    def told_of(*arguments):
        told = run_program("suggest", *arguments, "--out", tmp_path / "list.csv")
        assert told.returncode == 2
        assert not (tmp_path / "list.csv").exists()
        return " ".join(told.stderr.split())

    data = ready / "m.unskew", ready / "cases.csv"
    assert "there is no id column. Pass --id COLUMN" in told_of(*data)
    assert "there must be a column" in told_of(*data, "--id", "nothing")
    assert "--rows must be from 1 to the number of rows without a label" in told_of(
        *data, "--id", "case", "--rows", 600
    )
    pl.read_csv(ready / "cases.csv").rename({"case": "why"}).write_csv(tmp_path / "why.csv")
    assert "must not be called 'why'" in told_of(ready / "m.unskew", tmp_path / "why.csv", "--id", "why")
    arguments = ["--label", "known", "--exclude", "risk", *ASIDE, "--method", "ntc-linear", "--no-estimate"]
    run("fit", ready / "cases.csv", *arguments, "--out", tmp_path / "n.unskew")
    assert "Fit it with confidence" in told_of(tmp_path / "n.unskew", ready / "cases.csv", "--id", "case")
    whole = tmp_path / "n.unskew", ready / "cases.csv", "--checked", ready / "cases.csv"
    assert "must have been fitted with a confidence column" in told_of(*whole)
