"""Columns that give something away are named, and strong columns are not."""

import importlib
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import unskew
from toy_table import ASIDE, COLUMNS, run, toy_frame, write_toy
from unskew.checks import Checked, _columns, check_rows, check_table
from unskew.tables import EncodedRows, infer_features, read_column

FAST = "--method", "conf-reg"


@pytest.fixture(scope="module")
def warned_tables():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend("benchmarks")
        yield importlib.import_module("warned_tables")


def texts(table, X=None):
    found = check_table(table.X if X is None else X, table.labeled, table.confidence, label="known")
    return [each.text for each in found]


@pytest.fixture(scope="module")
def toy(warned_tables):
    frame = toy_frame(1500, seed=5)
    X = frame.drop("known", "risk", "truth", "case")
    sure = frame["risk"].fill_null(np.nan).to_numpy()
    return warned_tables.Table(X, frame["known"].to_numpy(), sure, frame["truth"].to_numpy())


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (
            "status_word",
            r'"leak" gives the labels away: confirmed is found on (all )?[\d of]+ labeled rows and on none of',
        ),
        ("true_class", r'"leak" marks the labeled rows: 1 is found on all \d+ labeled rows, but only on \d+ % of the'),
        ("confidence_in_percent", r'"leak" follows the confidence: on labeled rows it '),
        ("confidence_as_odds", r'"leak" follows the confidence: on labeled rows it never goes the other way'),
        ("review_date", r'"leak" gives the labels away: a value is found on all \d+ labeled rows and on none of the'),
        ("reviewed_too", r'"leak" marks the labeled rows: a value is found on all \d+ labeled rows, but only on [23]'),
        ("order_of_numbers", r'"leak" gives the labels away: from 7\d+,\d+ to 99\d,\d+ is found on all \d+ labeled'),
        ("minutes_of_review", r'"leak" marks the labeled rows: .* is found on all \d+ labeled rows, but only on [12]'),
    ],
)
def test_every_planted_leak_is_named(toy, warned_tables, kind, words):
    (text,) = texts(warned_tables.LEAKS[kind](toy, np.random.RandomState(0)))
    assert re.search(words, text), text


@pytest.mark.parametrize(
    "name",
    ["example_claims", "toy_500", "breast_cancer", "iris_setosa", "strong_number", "few_labels_many_columns",
     "gaps_that_matter", "coarse_answers", "most_positives_labeled"],
)  # fmt: skip
def test_clean_tables_get_no_finding(warned_tables, name):
    assert texts(warned_tables.CLEAN[name](np.random.RandomState(7))) == []


def test_chance_alone_finds_nothing_with_few_labels():
    """Labels that have nothing to do with forty columns of every kind."""
    alarms = 0
    for seed in range(200):
        rng = np.random.RandomState(seed)
        n = rng.choice([30, 60, 200])
        y = np.zeros(n, dtype=int)
        y[rng.permutation(n)[: rng.choice([2, 3, 5, 10])]] = 1
        kinds = rng.normal(size=(n, 20)), rng.randint(0, 2, (n, 10)), rng.poisson(0.1, (n, 10))
        X = np.hstack([each.astype(float) for each in kinds])
        X[rng.uniform(size=X.shape) < 0.1] = np.nan
        alarms += bool(check_table(X, y, rng.uniform(size=n)))
    assert alarms <= 4


def test_labels_of_grades_and_of_mirrored_columns(toy):
    labeled = toy.labeled == 1
    sure = np.where(labeled, toy.confidence, np.random.RandomState(0).uniform(size=len(labeled)))
    grades = np.array(["low", "middle", "high"])[np.digitize(sure, np.quantile(sure[labeled], [1 / 3, 2 / 3]))]
    (found,) = texts(toy.with_column("grade", grades))
    assert '"grade" follows the confidence: each of its values stands for a range of it' in found
    (found,) = texts(toy.with_column("doubt", -sure))
    assert "never goes the other way" in found


def test_what_is_found_does_not_depend_on_the_form_of_the_table(toy, warned_tables):
    planted = toy
    for kind, plant in warned_tables.LEAKS.items():
        planted = plant(planted, np.random.RandomState(1))
        planted = type(toy)(planted.X.rename({"leak": kind}), toy.labeled, toy.confidence, toy.truth)
    schema, features = infer_features(planted.X)
    series = [read_column(planted.X[column.name], column.kind) for column in schema.columns]
    rows = EncodedRows.of(schema, series, len(features))
    dense, compact = (
        [each.text for each in check_rows(Checked.of(X, toy.labeled, toy.confidence, schema), X, toy.labeled)]
        for X in (features, rows)
    )
    assert dense == compact
    assert len(dense) == len(warned_tables.LEAKS)


def test_a_part_of_many_rows_is_enough(toy, warned_tables, monkeypatch):
    planted = warned_tables.LEAKS["reviewed_too"](toy, np.random.RandomState(0))
    whole = check_table(planted.X, toy.labeled)
    monkeypatch.setattr(_columns, "MOST_LABELED", 60)
    monkeypatch.setattr(_columns, "MOST_UNLABELED", 400)
    part = check_table(planted.X, toy.labeled)
    assert [each.columns for each in whole] == [each.columns for each in part] == [("leak",)]


def test_arrays_pandas_and_missing_numbers(toy):
    data = unskew.datasets.toy.draw(800, random_state=0)
    X = np.column_stack([data.X, np.where(data.labeled == 1, 3.0, np.nan)])
    (found,) = check_table(X, data.labeled)
    assert (found.level, found.name, found.columns) == ("warning", "leak", ("column 2",))
    assert found.advice.endswith("leave it out (--exclude 'column 2').")
    (found,) = check_table(pd.DataFrame(X, columns=["a", "b", "note"]), data.labeled)
    assert found.columns == ("note",)
    (found,) = check_table(sparse.csr_array(np.column_stack([data.X, data.labeled])), data.labeled)
    assert found.columns == ("column 2",)


def test_fit_compare_and_the_page_name_a_leak(tmp_path):
    frame = write_toy(tmp_path / "cases.csv", 500)
    frame.with_columns(review_date=pl.when(pl.col("known") == 1).then(pl.lit("2024-02-01"))).write_csv(
        tmp_path / "leaky.csv"
    )
    table = [tmp_path / "leaky.csv", *COLUMNS, *ASIDE]
    fitted = run("fit", *table, *FAST, "--out", tmp_path / "m.unskew", "--json", tmp_path / "m.json")
    line = 'warning: Column "review_date" gives the labels away: a value is found on all'
    assert fitted.output.count(line) == 1
    assert "leave it out (--exclude review_date)" in fitted.stderr
    run("report", tmp_path / "m.unskew", "--out", tmp_path / "m.html")
    assert "review_date&#34; gives the labels away" in (tmp_path / "m.html").read_text()
    findings = json.loads((tmp_path / "m.json").read_text())["evidence"]["findings"]
    assert [each["name"] for each in findings if "columns" in each] == ["leak"]
    assert findings[0]["columns"] == ["review_date"]
    compared = run("compare", *table, "--methods", "conf-reg,conf-gp", "--folds", 2, "--out", tmp_path / "c")
    assert compared.output.count(line) == 1
    assert "gives the labels away" in (tmp_path / "c/index.html").read_text()
    clean = run("fit", *table, "--exclude", "review_date", *FAST, "--out", tmp_path / "m.unskew")
    assert "gives the labels away" not in clean.output


def test_a_clean_run_is_not_noisier_than_before(tmp_path):
    write_toy(tmp_path / "cases.csv", 600)
    run("fit", tmp_path / "cases.csv", *COLUMNS, *ASIDE, *FAST, "--no-estimate", "--out", tmp_path / "m.unskew")
    silent = run(
        "fit", tmp_path / "cases.csv", *COLUMNS, *ASIDE, *FAST, "--no-estimate", "--out", tmp_path / "m.unskew"
    )
    assert silent.stderr == ""
