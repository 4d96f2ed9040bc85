"""Rows of the same law are not said to differ, and rows of another law are."""

import json
import re

import numpy as np
import polars as pl
import pytest

import unskew
from toy_table import ASIDE, COLUMNS, run, toy_frame, write_toy
from unskew.checks import TableSummary, _columns, drift
from unskew.checks._columns import Checked
from unskew.checks.drift import DriftTally
from unskew.practice.model import TableModel
from unskew.tables import infer_features


class Straight:
    """A model whose score is the sum of the features."""

    threshold_ = 1.0

    def decision_function(self, X):
        return np.asarray(X.sum(axis=1)).ravel()


def draw(n, rng):
    """Every kind of column: even, skewed, counts, mostly zero, words, rare words, gaps, dates, truth values."""
    day = np.datetime64("2024-01-01") + rng.randint(0, 365, n)
    return pl.DataFrame(
        {
            "even": rng.normal(size=n),
            "skewed": rng.lognormal(3, 1.5, n),
            "count": rng.poisson(1.5, n),
            "zeros": rng.poisson(0.05, n) * rng.uniform(size=n),
            "word": rng.choice(["a", "b", "c"], n, p=[0.7, 0.29, 0.01]),
            "many": rng.choice([f"shop {i}" for i in range(60)], n, p=np.arange(1, 61) / np.arange(1, 61).sum()),
            "gaps": pl.Series(np.where(rng.uniform(size=n) < 0.1, np.nan, rng.gamma(2, 3, n))).fill_nan(None),
            "day": day,
            "yes": rng.uniform(size=n) < 0.3,
        }
    )


def summed_up(frame, n_labeled=50):
    schema, X = infer_features(frame)
    y = (np.arange(len(frame)) < n_labeled).astype(int)
    return schema, TableSummary.of(Checked.of(X, y, None, schema), Straight())


def compared(schema, summary, *frames):
    tally = DriftTally(summary)
    for frame in frames:
        X = schema.transform(frame, tally=tally)
        tally.count_scores(Straight().decision_function(X), None, Straight.threshold_)
    return tally.drift(schema)


def test_rows_of_the_same_law_are_hardly_ever_said_to_differ():
    alarms = n_files = 0
    for seed in range(12):
        rng = np.random.RandomState(seed)
        schema, summary = summed_up(draw(rng.choice([300, 1000, 5000]), rng))
        for size in (20, 60, 250, 1000, 6000) * 5:
            alarms += bool(compared(schema, summary, draw(size, rng)).notes())
            n_files += 1
    assert n_files == 300
    assert alarms <= 6  # the bound is one in a hundred; more than six would come up once in 10,000 times


@pytest.mark.parametrize(
    ("column", "change", "words"),
    [
        ("even", lambda x: x + 1, r"above -?0\.\d+ on \d+ % of the rows, in training on \d+ %"),
        ("skewed", lambda x: x / 3, r"below \d+(\.\d+)? on \d+ % of the rows, in training on \d+ %"),
        ("count", lambda x: x + 2, r"above [0-9.]+ on \d+ % of the rows, in training on \d+ %"),
        ("zeros", lambda x: x + (pl.int_range(pl.len()) % 3 == 0), "above 0"),
        ("word", lambda x: pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.lit("b")).otherwise(x), '"b" on 6'),
        ("word", lambda x: pl.when(pl.int_range(pl.len()) % 4 == 0).then(pl.lit("new")).otherwise(x), "25 % of"),
        ("many", lambda x: pl.lit("shop 3"), r'("shop 3"|rare values) on 100 % of the rows, in training on'),
        ("gaps", lambda x: pl.when(pl.int_range(pl.len()) % 2 == 0).then(x), r"missing on 5\d % of the rows, in"),
        ("gaps", lambda x: x.fill_null(3.0), r"missing on 0 % of the rows, in training on \d+ %|below|above"),
        ("day", lambda x: x + pl.duration(days=400), r"later than 2025-01-\d+ on 100 % of the rows, in training on 0"),
        ("yes", lambda x: ~x, r"true on \d+ % of the rows, in training on \d+ %"),
    ],
)  # fmt: skip
def test_a_column_that_moved_is_named_in_plain_words(column, change, words):
    rng = np.random.RandomState(3)
    schema, summary = summed_up(draw(2000, rng))
    found = compared(schema, summary, draw(800, rng).with_columns(change(pl.col(column)).alias(column)))
    assert [each.column for each in found.moved] == [column]
    assert re.search(words, found.moved[0].text), found.moved[0].text
    assert found.notes()[0].startswith(f'the rows differ from those of training: "{column}" (')
    assert 0.04 < found.size <= 1


def test_batches_do_not_matter_and_memory_does_not_grow():
    rng = np.random.RandomState(0)
    schema, summary = summed_up(draw(2000, rng))
    frame = draw(3000, rng).with_columns(even=pl.col("even") + 0.5)
    whole, parts = compared(schema, summary, frame), compared(schema, summary, *frame.iter_slices(70))
    assert whole == parts
    tally = DriftTally(summary)
    schema.transform(frame, tally=tally)
    size = sum(each.nbytes for each in tally._counts.values())
    schema.transform(pl.concat([frame] * 5), tally=tally)
    assert sum(each.nbytes for each in tally._counts.values()) == size < 10_000


def test_scores_that_moved_are_told_by_what_is_flagged():
    rng = np.random.RandomState(0)
    schema, summary = summed_up(draw(2000, rng))
    found = compared(schema, summary, draw(800, rng).with_columns(even=pl.col("even") + 3, yes=pl.lit(True)))
    assert found.score is not None
    (_, about) = found.notes()
    assert about.startswith("the scores differ from those of training: ")
    assert f"{100 * found.flagged:.0f} % of the rows are flagged, in training {100 * summary.flagged:.0f} %" in about
    assert json.loads(json.dumps(found.to_json()))["score"]["column"] == "score"


def test_few_rows_are_not_compared():
    rng = np.random.RandomState(0)
    schema, summary = summed_up(draw(500, rng))
    other = draw(drift.LEAST_ROWS - 1, rng).with_columns(even=pl.lit(99.0))
    assert compared(schema, summary, other).notes() == []


def test_shares_of_training_are_those_of_all_rows_though_labels_are_drawn_more_often(monkeypatch):
    monkeypatch.setattr(_columns, "MOST_UNLABELED", 500)
    rng = np.random.RandomState(0)
    frame = draw(5000, rng).with_columns(even=pl.when(pl.int_range(pl.len()) < 500).then(5.0).otherwise(pl.col("even")))
    schema, summary = summed_up(frame, n_labeled=500)
    assert summary.n_rows == 1000
    (even,) = [each for each in summary.columns if each.name == "even"]
    assert sum(share for share, edge in zip(even.shares[1:], even.edges, strict=True) if edge > 4) <= 0.11
    assert compared(schema, summary, frame).moved == ()


def test_a_model_file_holds_no_number_of_a_row_in_its_summary():
    rng = np.random.RandomState(0)
    frame = draw(1500, rng)
    schema, summary = summed_up(frame)
    for name in ("even", "skewed", "gaps"):
        (own,) = [each for each in summary.columns if each.name == name]
        assert not set(own.edges) & set(frame[name].to_list())
    word, many = ([each for each in summary.columns if each.name == name][0] for name in ("word", "many"))
    assert len(word.shares) == 4  # the last bin is for rare ones, of which there are none
    counts = frame["many"].value_counts()
    n_rare = counts.filter(pl.col("count") < 10).height
    assert n_rare > 2
    assert many.bins.count(len(many.shares) - 1) == n_rare


def test_summaries_survive_the_model_file_and_older_files_have_none(tmp_path):
    frame = write_toy(tmp_path / "cases.csv", 500)
    run(
        "fit",
        tmp_path / "cases.csv",
        *COLUMNS,
        *ASIDE,
        "--method",
        "conf-reg",
        "--no-estimate",
        "--out",
        tmp_path / "m",
    )
    model = TableModel.load(tmp_path / "m")
    assert model.summary is not None
    assert TableSummary.from_json(json.loads(json.dumps(model.summary.to_json())), model.schema) == model.summary
    fresh = toy_frame(400, seed=9)
    fresh.write_csv(tmp_path / "new.csv")
    silent = run("score", tmp_path / "m", tmp_path / "new.csv", "--id", "case", "--out", tmp_path / "s.csv")
    assert silent.stderr == ""
    fresh.with_columns(level=pl.col("level") + 2).write_csv(tmp_path / "new.csv")
    scored = run(
        "score", tmp_path / "m", tmp_path / "new.csv", "--out", tmp_path / "s.csv", "--json", tmp_path / "s.json"
    )
    assert 'note: the rows differ from those of training: "level" (above' in scored.stderr
    told = json.loads((tmp_path / "s.json").read_text())
    assert told["rows"] == 400
    assert told["drift"]["moved"][0]["column"] == "level"
    assert told["drift"]["flagged_in_training"] == model.summary.flagged
    evaluated = run("evaluate", tmp_path / "m", tmp_path / "new.csv", "--label", "known", "--truth", "truth")
    assert '"level" (above' in evaluated.stderr
    old = TableModel(model.ranker, model.schema, model.source, None)
    old.save(tmp_path / "old")
    assert TableModel.load(tmp_path / "old").summary is None
    again = run("score", tmp_path / "old", tmp_path / "new.csv", "--out", tmp_path / "s.csv")
    assert again.stderr == ""
    assert len(frame) == 500


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda found: found["columns"].pop(), "must have the columns of the table"),
        (lambda found: found["columns"][0].update(edges=[3.0, 1.0]), "edges that rise"),
        (lambda found: found["columns"][0].update(shares=[7.0]), "one bin more than edges|shares between 0 and 1"),
        (lambda found: found.update(n_rows=0), "at least one row"),
        (lambda found: found.pop("columns"), "must hold columns"),
    ],
)
def test_damaged_summaries_are_refused(tmp_path, damage, words):
    write_toy(tmp_path / "cases.csv", 300)
    run(
        "fit",
        tmp_path / "cases.csv",
        *COLUMNS,
        *ASIDE,
        "--method",
        "conf-reg",
        "--no-estimate",
        "--out",
        tmp_path / "m",
    )
    model = TableModel.load(tmp_path / "m")
    content = json.loads(json.dumps(model.summary.to_json()))
    damage(content)
    model.ranker.save(
        tmp_path / "bad",
        notes={"schema": model.schema.to_json(), "source": vars(model.source), "evidence": None, "summary": content},
    )
    with pytest.raises(unskew.errors.ModelFileError, match=words):
        TableModel.load(tmp_path / "bad")


def test_a_model_without_probabilities_has_none_in_its_summary():
    schema, summary = summed_up(draw(300, np.random.RandomState(0)))
    assert summary.probability is None
    assert compared(schema, None, draw(50, np.random.RandomState(1))).notes() == []
