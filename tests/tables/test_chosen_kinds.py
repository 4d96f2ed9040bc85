"""Columns that are read as somebody chose: as asked for, or an error that says why not."""

import numpy as np
import polars as pl
import pytest

from program import run_program
from unskew.practice.labeled_table import read_labeled
from unskew.practice.model import TableModel
from unskew.tables import infer_schema

LINES = "zip,when,amount,flag,free,known,sure\n" + "".join(
    f"{100 + row % 3},2024-01-{1 + row % 28:02d},{row * 7 % 11},{row % 2},word{row},{int(row < 12)},"
    f"{0.5 + row % 5 / 10 if row < 12 else ''}\n"
    for row in range(60)
)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "table.csv").write_text(LINES)
    return tmp_path / "table.csv"


def read(path, **kinds):
    return read_labeled(path, "known", "sure", kinds=kinds)


def kinds_of(table):
    return {name: kind for name, kind, _ in table.schema.describe()}


def test_a_chosen_kind_overrules_what_values_look_like(path):
    found = kinds_of(read(path))
    assert (found["zip"], found["when"], found["flag"], found["free"]) == ("numeric", "date", "numeric", "left out")
    found = kinds_of(read(path, zip="categorical", when="categorical", flag="boolean"))
    assert (found["zip"], found["when"], found["flag"]) == ("categorical", "categorical", "boolean")


def test_features_of_a_chosen_kind_are_those_of_its_values(path):
    table = read(path, zip="categorical")
    place = table.schema.feature_names.index("zip=101")
    assert table.matrix[:, place].tolist() == [float(row % 3 == 1) for row in range(60)]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_later_files_are_read_by_the_chosen_kind(path, tmp_path, ending):
    if ending == "parquet":
        pl.read_csv(path).write_parquet(tmp_path / "table.parquet")
        path = tmp_path / "table.parquet"
    options = ["--label", "known", "--confidence", "sure", "--method", "conf-reg", "--no-estimate"]
    done = run_program("fit", path, *options, "--read-as", "zip=categorical", "--read-as", "free=categorical",
                       "--out", tmp_path / "model")  # fmt: skip
    assert done.returncode == 0, done.stderr
    model = TableModel.load(tmp_path / "model")
    assert {each.name: each.kind for each in model.schema.columns}["zip"] == "categorical"
    assert run_program("score", tmp_path / "model", path, "--out", tmp_path / "scored.csv").returncode == 0
    assert np.isfinite(pl.read_csv(tmp_path / "scored.csv")["score"].to_numpy()).all()


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"free": "numeric"}, 'column "free" is numeric: every value must be a number or missing, but 60 rows of 60'),
        ({"amount": "boolean"}, 'column "amount" is boolean: every value must be true or false'),
        ({"zip": "number"}, 'but "number" was asked for column "zip". Did you mean'),
        ({"known": "boolean"}, 'but "known" is none of them'),
        ({"zipp": "boolean"}, "but \"zipp\" is none of them. Did you mean 'zip'"),
    ],
)
def test_what_cannot_be_read_so_is_told(path, kinds, message):
    with pytest.raises(ValueError, match="(?s)" + message.replace("(", r"\(").replace(".", r"\.")):
        read(path, **kinds)


def test_too_many_categories_are_told():
    frame = pl.DataFrame({"a": [str(each) for each in range(5000)], "b": [0.5, 1.5] * 2500})
    with pytest.raises(ValueError, match="to be read as categories, but it has 5,000"):
        infer_schema(frame, {"a": "categorical"})


def test_constant_and_missing_columns_are_left_out_all_the_same():
    frame = pl.DataFrame({"a": ["x", "x"], "b": [None, None], "c": [1, 1], "d": [0.0, 1.0]})
    schema = infer_schema(frame, {"a": "categorical", "b": "numeric", "c": "numeric"})
    assert [each.name for each in schema.left_out] == ["a", "b", "c"]


def test_an_option_without_a_kind_is_refused(path):
    done = run_program("fit", path, "--label", "known", "--read-as", "zip")
    assert done.returncode == 2
    assert done.stderr == 'error: --read-as must be COLUMN=KIND, such as zip=categorical, but it is "zip".\n'
