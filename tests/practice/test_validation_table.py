"""A file whose rows choose the epoch: what is told of it, and what the model keeps of it."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import unskew.tables._values
import unskew.tables.inference
import unskew.tables.labels
from toy_table import ASIDE, COLUMNS, run, toy_frame, write_toy
from unskew._support.modelfile import read_model_file
from unskew.errors import ModelFileError, TableError
from unskew.practice.labeled_table import read_labeled
from unskew.practice.model import TableModel
from unskew.tables import _text_columns, streaming
from unskew.tables.reading import frames_of

UNSEEN = 'column "color" has 5 rows with values not seen in training (first: "mauve", row 1)'
GAPS = 'column "level" has 2 rows without a value (first: row 1), and training had none'


def fit(folder, *more):
    return run(
        *("fit", folder / "cases.csv", *COLUMNS, *ASIDE, "--epochs", 1, "--no-estimate"),
        *("--out", folder / "m.unskew", "--json", folder / "fit.json", *more),
    ).output


@pytest.fixture
def folder(tmp_path):
    """Folder with a file to fit on, and one to validate on with values and a column that the first has not."""
    write_toy(tmp_path / "cases.csv", 200)
    frame = toy_frame(150, seed=3)
    color, level = (frame[name].to_list() for name in ("color", "level"))
    frame = frame.with_columns(
        color=pl.Series(["mauve"] * 5 + color[5:]), level=pl.Series([None, None, *level[2:]]), extra=pl.lit(1)
    )
    frame.write_csv(tmp_path / "other.csv")
    return tmp_path


def test_fit_tells_of_a_validation_file_what_score_and_evaluate_tell(folder):
    other = folder / "other.csv"
    told = fit(folder, "--validation", other)
    for words in (UNSEEN, GAPS, 'there is a column that the model does not use: "extra"'):
        assert told.count(f"note: {other}: {words}") == told.count(words) == 1
        assert words in run("evaluate", folder / "m.unskew", other, *COLUMNS).output
        assert words in run("score", folder / "m.unskew", other, "--out", folder / "ranked.csv").output


def test_nothing_is_told_of_a_validation_file_like_the_table(folder):
    write_toy(folder / "other.csv", 150, seed=3)
    assert "note:" not in fit(folder, "--validation", folder / "other.csv")


def test_the_model_knows_which_file_chose_the_epoch(folder):
    fit(folder, "--validation", folder / "other.csv")
    source = json.loads((folder / "fit.json").read_text())["source"]
    assert (source["validation_file"], source["n_validation_rows"]) == ("other.csv", 150)
    assert (source["file"], source["n_rows"]) == ("cases.csv", 200)
    run("report", folder / "m.unskew", "--out", folder / "page.html", "--json", folder / "page.json")
    assert json.loads((folder / "page.json").read_text())["source"] == source


def test_the_page_shows_the_validation_file_and_no_share_that_was_not_held_out(folder):
    for more, shown in ((["--validation", folder / "other.csv"], True), ([], False)):
        fit(folder, *more)
        run("report", folder / "m.unskew", "--out", folder / "page.html")
        page = (folder / "page.html").read_text()
        assert ("validation file" in page, "other.csv" in page, ">150<" in page) == (shown, shown, shown)
        parameters = json.loads((folder / "fit.json").read_text())["parameters"]
        assert ("validation_fraction" in page, "validation_fraction" in parameters) == (not shown, not shown)


def test_a_share_that_cross_validation_held_out_is_shown_beside_the_validation_file(folder):
    fit(folder, "--validation", folder / "other.csv", "--estimate")
    assert json.loads((folder / "fit.json").read_text())["parameters"]["validation_fraction"] == 0.2


def rewritten(folder, change):
    """Model file whose notes were changed, as old or damaged files have them."""
    model = TableModel.load(folder / "m.unskew")
    notes = {"schema": model.schema.to_json(), "source": {**vars(model.source), "excluded": []}, "evidence": None}
    notes["encoder"] = {"version": 1, "schema": model.schema.to_json()}
    change(notes)
    model.ranker.save(folder / "old.unskew", notes=notes)
    return folder / "old.unskew"


def without_validation(notes):
    notes["source"] = {name: value for name, value in notes["source"].items() if "validation" not in name}


def test_a_model_file_that_says_nothing_of_validation_is_read(folder):
    fit(folder)
    model = TableModel.load(folder / "m.unskew")
    assert (model.source.validation_file, model.source.n_validation_rows) == (None, None)
    old = TableModel.load(rewritten(folder, without_validation))
    assert old.source == replace(model.source, excluded=())
    run("report", folder / "old.unskew", "--out", folder / "page.html")


def test_a_model_file_with_the_columns_written_twice_is_read(folder):
    fit(folder)
    model = TableModel.load(folder / "m.unskew")
    assert "encoder" not in read_model_file(folder / "m.unskew").header["notes"]
    old, frame = TableModel.load(rewritten(folder, lambda notes: None)), toy_frame(150, seed=3)
    assert old.schema == model.schema
    np.testing.assert_array_equal(old.score(frame), model.score(frame))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda notes: notes["encoder"]["schema"]["columns"][0].update(mean=0.5), "schema and encoder, must agree"),
        (lambda notes: notes.update(encoder=5), "notes.encoder must be an object, but it is 5"),
        (lambda notes: notes.pop("schema"), "notes must hold schema"),
        (lambda notes: notes["schema"].update(columns=[]), "some column must become features, but none of 0 does"),
        (lambda notes: notes["schema"]["columns"].pop(), "schema and encoder, must agree"),
        (
            lambda notes: (notes["schema"]["columns"].pop(), notes.pop("encoder")),
            r"one input per feature, \d, but it takes",
        ),
        (lambda notes: notes["source"].update(n_rows="many"), "source.n_rows must be a whole number"),
        (lambda notes: notes["source"].update(excluded="id"), "source.excluded must be a list"),
    ],
)
def test_a_model_file_that_contradicts_itself_is_refused(folder, change, message):
    fit(folder)
    path = rewritten(folder, change)
    with pytest.raises(ModelFileError, match=f"old.unskew must describe its table as .*{message}.*Fit again"):
        TableModel.load(path)


def test_every_file_is_parsed_once(folder, monkeypatch):
    cleaned, clean = Counter(), unskew.tables._values.clean

    def counted(series):
        cleaned[series.name] += 1
        return clean(series)

    for module in (unskew.tables._values, _text_columns, unskew.tables.inference, unskew.tables.labels):
        monkeypatch.setattr(module, "clean", counted)
    fit(folder, "--validation", folder / "other.csv")
    assert max(cleaned.values()) == 2  # once for each file
    cleaned.clear()
    run("evaluate", folder / "m.unskew", folder / "other.csv", *COLUMNS)
    assert max(cleaned.values()) == 1


def test_an_excluded_column_must_be_there_and_is_not_read(folder, monkeypatch):
    with pytest.raises(TableError, match='there must be a column "colr".*Did you mean "color"'):
        read_labeled(folder / "cases.csv", "known", "risk", exclude=["colr"])
    read = []

    def noted(table, names):
        read.extend(names)
        return frames_of(table, names)

    monkeypatch.setattr(streaming, "frames_of", noted)
    table = read_labeled(folder / "cases.csv", "known", "risk", truth="truth", exclude=["case"])
    assert "case" not in read
    assert {"known", "risk", "truth", "color"} <= set(read)
    assert table.excluded == ("case", "truth")
    assert not {"known", "risk", "truth", "case"} & set(table.schema.names)
    assert set(table.truth) == {0, 1}
