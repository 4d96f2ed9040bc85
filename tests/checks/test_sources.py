"""Times and sources that gave no labels, and scales of confidence that differ."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import unskew
from toy_table import run, toy_frame
from unskew.checks import check_table


@pytest.fixture(scope="module")
def data():
    return unskew.datasets.toy.draw(4000, random_state=0)


def texts(data, labeled=None, confidence=None, *, order=None, **columns):
    labeled = data.labeled if labeled is None else labeled
    confidence = data.confidence if confidence is None else confidence
    frame = pl.DataFrame({"a": data.X[:, 0], "b": data.X[:, 1], **columns})
    known = SimpleNamespace(predict=lambda X: data.law.posterior(X[:, :2].astype(float)))
    order = np.arange(len(labeled)) if order is None else order
    confidence = np.where(labeled == 1, confidence, np.nan)
    if columns:  # words make features standardized
        mean, std = data.X.mean(axis=0), data.X.std(axis=0)
        known = SimpleNamespace(predict=lambda X: data.law.posterior(mean + std * X[:, :2].astype(float)))
    found = check_table(frame[order], labeled[order], confidence[order], posterior=known)
    return [each.text for each in found]


def days(rng, n=4000):
    return np.datetime64("2024-01-01") + rng.randint(0, 400, n)


def test_time_without_labels(data):
    day = days(np.random.RandomState(0))
    (text,) = texts(data, np.where(day < np.datetime64("2024-07-01"), data.labeled, 0), opened=day)
    assert text.startswith('Labels are missing in a part of column "opened": 2024-')
    assert "has 0 labeled rows, where about " in text
    assert texts(data, opened=day) == []


@pytest.mark.parametrize(("name", "n_found"), [("annotator", 1), ("Data Source", 1), ("color", 1)])
def test_a_group_without_labels(data, name, n_found):
    source = np.random.RandomState(0).choice(["a", "b", "c"], 4000)
    found = texts(data, np.where(source == "b", 0, data.labeled), **{name: source})
    assert len(found) == n_found
    assert f'in a part of column "{name}": b has 0 labeled rows' in found[0]


def test_labels_that_prefer_a_group_are_no_fault_unless_it_is_a_source(data):
    rng = np.random.RandomState(0)
    group = rng.choice(["a", "b"], 4000)
    fewer = np.where((group == "b") & (rng.uniform(size=4000) < 0.95), 0, data.labeled)
    assert texts(data, fewer, color=group) == []
    (text,) = texts(data, fewer, source=group)
    assert 'part of column "source": b has' in text


def test_a_scale_that_differs_between_sources(data):
    source = np.random.RandomState(0).choice(["ours", "theirs"], 4000)
    low = np.where(source == "theirs", data.confidence / 3, data.confidence)
    (text,) = texts(data, confidence=low, source=source)
    assert text.startswith('The confidence depends on column "source": its median is 0.')
    assert "for the labeled rows of " in text
    assert texts(data, source=source) == []


def test_the_order_of_the_rows_is_a_time_unless_the_table_is_sorted_by_its_labels(data):
    late = np.where(np.arange(4000) < 2000, data.labeled, 0)
    (text,) = texts(data, late)
    assert "Labels are missing in a part of the order of the rows: row " in text
    assert texts(data, order=np.argsort(-data.labeled, kind="stable")) == []


def test_years_and_gaps_count_as_times(data):
    rng = np.random.RandomState(0)
    year = rng.randint(2010, 2026, 4000).astype(float)
    gaps = np.where(rng.uniform(size=4000) < 0.1, np.nan, year)
    labeled = np.where(year < 2018, data.labeled, 0)
    (text,) = texts(data, labeled, claim_year=pl.Series(gaps).fill_nan(None))
    assert 'part of column "claim_year": 2,0' in text


def test_chance_alone_finds_nothing():
    alarms = 0
    for seed in range(60):
        rng = np.random.RandomState(seed)
        data = unskew.datasets.toy.draw(rng.choice([300, 1000, 3000]), random_state=seed)
        n = len(data.labeled)
        columns = {f"source {i}": rng.choice(list("abcdefg")[: 2 + i], n) for i in range(4)}
        alarms += bool(texts(data, opened=days(rng, n), **columns))
    assert alarms <= 2


def test_fit_shows_it_after_training_and_keeps_it(tmp_path):
    frame = toy_frame(2500, seed=4)
    labeled = pl.col("day") < "2024-07"
    frame = frame.with_columns(known=pl.when(labeled).then("known").otherwise(0), risk=pl.when(labeled).then("risk"))
    frame.write_csv(tmp_path / "cases.csv")
    options = "--label", "known", "--confidence", "risk", "--exclude", "truth", "--exclude", "case"
    fitted = run("fit", tmp_path / "cases.csv", *options, "--method", "conf-reg", "--out", tmp_path / "m")
    assert fitted.stdout.count('note: Labels are missing in a part of column "day": 2024-') == 1
    run("report", tmp_path / "m", "--out", tmp_path / "m.html")
    assert "Labels are missing in a part of column" in (tmp_path / "m.html").read_text()
