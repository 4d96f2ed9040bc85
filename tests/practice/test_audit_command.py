"""An audit by the commands that an analyst types: a list to check, and what the checked list says."""

import json

import numpy as np
import polars as pl
import pytest

from program import run_program
from toy_table import ASIDE, COLUMNS, run, toy_frame
from unskew.metrics import audit_estimate, audit_sample
from unskew.practice.audit import probabilities
from unskew.practice.model import TableModel


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """A model, and a file with odd ids to audit."""
    folder = tmp_path_factory.mktemp("audit")
    toy_frame(600).write_csv(folder / "cases.csv")
    odd = ["=1+1", 'a "quoted", one', "ünï\nline", "-5", "@x"]
    names = [odd[number] if number < len(odd) else f"C-{number}" for number in range(500)]
    toy_frame(500, seed=1).with_columns(case=pl.Series(names)).write_csv(folder / "new.csv")
    run("fit", folder / "cases.csv", *COLUMNS, *ASIDE, "--epochs", 30, "--no-estimate", "--out", folder / "m.unskew")
    return folder


def draw(folder, out, *more):
    return run("audit", folder / "m.unskew", folder / "new.csv", "--id", "case", "--rows", 120, "--out", out, *more)


def filled(folder, path, yes="1", no="0"):
    """The list with true classes."""
    truth = pl.read_csv(folder / "new.csv")["truth"].to_list()
    frame = pl.read_csv(path, infer_schema=False)
    answers = [yes if truth[int(row) - 1] else no for row in frame["row"]]
    return frame.with_columns(positive=pl.Series(answers))


def refused(folder, checked):
    told = run_program("audit", folder / "m.unskew", folder / "new.csv", "--checked", checked)
    assert told.returncode == 2
    assert told.stderr.count("error: ") == 1
    return " ".join(told.stderr.split())


def test_the_list_has_ids_and_an_empty_answer_and_hides_what_the_model_thinks(ready, tmp_path):
    told = draw(ready, tmp_path / "audit.csv").output
    assert "120 rows to check" in told
    assert "--checked" in told
    frame = pl.read_csv(tmp_path / "audit.csv", infer_schema=False)
    assert frame.columns == ["case", "positive", "row", "audit"]
    assert frame["positive"].null_count() == 120
    assert frame["audit"].n_unique() == 1
    names = pl.read_csv(ready / "new.csv")["case"].to_list()
    for name, row in frame.select("case", "row").iter_rows():
        expected = names[int(row) - 1]
        assert name == ("'" + expected if expected in ("=1+1", "@x") else expected)
    score = TableModel.load(ready / "m.unskew").score(pl.read_csv(ready / "new.csv"))
    rows = frame["row"].cast(pl.Int64).to_numpy() - 1
    assert abs(np.corrcoef(np.arange(120), score[rows])[0, 1]) < 0.35  # the order says nothing


def test_formulas_among_the_ids_are_neutralized(ready, tmp_path):
    """All rows are drawn, so that the odd ones are among them."""
    told = run_program(
        *("audit", ready / "m.unskew", ready / "new.csv", "--id", "case", "--rows", 500),
        *("--out", tmp_path / "all.csv"),
    )
    assert "a ' was put before 2 cells" in told.stderr
    cells = pl.read_csv(tmp_path / "all.csv", infer_schema=False)["case"].to_list()
    assert {"'=1+1", "'@x", "-5", 'a "quoted", one', "ünï\nline"} <= set(cells)


@pytest.mark.parametrize(("suffix", "yes", "no"), [(".csv", "1", "0"), (".csv", "Yes", "no"), (".parquet", "t", "F")])
def test_a_checked_list_says_how_good_the_model_is(ready, tmp_path, suffix, yes, no):
    draw(ready, tmp_path / "audit.csv")
    checked = filled(ready, tmp_path / "audit.csv", yes, no).sample(fraction=1, shuffle=True, seed=3)  # sorted anew
    path = tmp_path / f"checked{suffix}"
    checked.write_parquet(path) if suffix == ".parquet" else checked.write_csv(path)
    arguments = ["audit", ready / "m.unskew", ready / "new.csv", "--checked", path]
    told = run(*arguments, "--json", tmp_path / "result.json").output
    for word in ("share of positives", "AUC", "precision of the top", "recall of the top", "95 % interval"):
        assert word in told
    found = json.loads((tmp_path / "result.json").read_text())["estimate"]
    # The same as in Python; whether intervals cover is tested there, because one draw in twenty may miss.
    new, model = pl.read_csv(ready / "new.csv"), TableModel.load(ready / "m.unskew")
    score, truth = model.score(new), new["truth"].to_numpy()
    drawn = audit_sample(score, 120, 0, threshold=float(model.ranker.threshold_))
    probability = probabilities(model, model.schema.transform(new))
    expected = audit_estimate(score, probability, drawn, truth[drawn.rows])
    for name in ("prior", "auc", "precision", "recall"):
        for end in ("", "_low", "_high"):
            assert found[name + end] == pytest.approx(getattr(expected, name + end), abs=1e-6)
    assert found["n_checked"] == 120
    assert f"{found['auc']:.3f}" in told
    assert found["calibration"].split(":")[0] in " ".join(told.split())


def test_blanks_are_refused_with_their_rows(ready, tmp_path):
    draw(ready, tmp_path / "audit.csv")
    assert "120 rows of 120 are blank" in refused(ready, tmp_path / "audit.csv")
    frame = filled(ready, tmp_path / "audit.csv")
    answers = frame["positive"].to_list()
    answers[4], answers[7] = None, "n/a"
    frame.with_columns(positive=pl.Series(answers)).write_csv(tmp_path / "some.csv")
    told = refused(ready, tmp_path / "some.csv")
    assert "2 rows of 120 are blank" in told
    assert f"{frame['row'][4]}, {frame['row'][7]}" in told
    assert "not a random part" in told
    answers[4] = answers[7] = "maybe"
    frame.with_columns(positive=pl.Series(answers)).write_csv(tmp_path / "some.csv")
    assert '"maybe"' in refused(ready, tmp_path / "some.csv")


def test_rows_that_are_missing_twice_or_strange_are_refused(ready, tmp_path):
    draw(ready, tmp_path / "audit.csv")
    frame = filled(ready, tmp_path / "audit.csv")
    first = frame["row"][0]
    frame[1:].write_csv(tmp_path / "short.csv")
    assert f'rows "{first}" are missing' in refused(ready, tmp_path / "short.csv")
    pl.concat([frame, frame[:1]]).write_csv(tmp_path / "twice.csv")
    assert f'rows "{first}" are there twice' in refused(ready, tmp_path / "twice.csv")
    rows = ["99999", *frame["row"][1:].to_list()]
    frame.with_columns(row=pl.Series(rows)).write_csv(tmp_path / "strange.csv")
    assert 'rows "99999" were not drawn' in refused(ready, tmp_path / "strange.csv")
    frame.drop("audit").write_csv(tmp_path / "cut.csv")
    assert 'there must be a column "audit"' in refused(ready, tmp_path / "cut.csv")
    frame.with_columns(audit=pl.lit("mine")).write_csv(tmp_path / "mine.csv")
    assert 'it says "mine"' in refused(ready, tmp_path / "mine.csv")


def test_a_changed_table_or_model_is_refused_by_name(ready, tmp_path):
    draw(ready, tmp_path / "audit.csv")
    filled(ready, tmp_path / "audit.csv").write_csv(tmp_path / "checked.csv")
    (tmp_path / "new.csv").write_text((ready / "new.csv").read_text() + "\n")
    told = run_program("audit", ready / "m.unskew", tmp_path / "new.csv", "--checked", tmp_path / "checked.csv")
    assert told.returncode == 2
    assert "the table must be the one that the list was made from" in told.stderr
    run(
        *("fit", ready / "cases.csv", *COLUMNS, *ASIDE, "--epochs", 2, "--no-estimate"),
        *("--out", tmp_path / "other.unskew"),
    )
    told = run_program("audit", tmp_path / "other.unskew", ready / "new.csv", "--checked", tmp_path / "checked.csv")
    assert told.returncode == 2
    assert "the model must be the one that the list was made from" in told.stderr
    assert "other.unskew" in told.stderr


def test_wrong_requests(ready, tmp_path):
    start = ["audit", ready / "m.unskew", ready / "new.csv"]
    out = ["--out", tmp_path / "a.csv"]
    for more, words in (
        ([*out], "there is no id column. Pass --id COLUMN"),
        ([*out, "--id", "nothing"], '"nothing"'),
        ([*out, "--id", "case", "--rows", 5], "--rows must be from 10 to the number of rows, 500, but it is 5"),
        ([*out, "--id", "case", "--rows", 501], "but it is 501"),
        ([*out, "--id", "case", "--json", tmp_path / "x.json"], "--json must come with --checked"),
        (["--out", tmp_path / "a.docx", "--id", "case"], "must end in"),
        (["--checked", tmp_path / "no.csv"], "no.csv"),
    ):
        told = run_program(*start, *more)
        assert told.returncode == 2, more
        assert words in " ".join(told.stderr.split())
    assert list(tmp_path.iterdir()) == []


def test_another_seed_draws_other_rows(ready, tmp_path):
    draw(ready, tmp_path / "a.csv")
    draw(ready, tmp_path / "b.csv", "--seed", 1)
    draw(ready, tmp_path / "c.csv")
    a, b, c = (pl.read_csv(tmp_path / f"{name}.csv")["row"].to_list() for name in "abc")
    assert a == c
    assert a != b


def test_probabilities_come_from_the_ranker_if_it_has_them():
    class Ranker:
        def predict_proba(self, X):
            return np.column_stack([1 - X[:, 0], X[:, 0]])

    class Model:
        ranker = Ranker()

    assert probabilities(Model(), np.array([[0.2], [0.7]])) == pytest.approx([0.2, 0.7])
    Model.ranker = object()
    assert probabilities(Model(), np.zeros((2, 1))) is None
