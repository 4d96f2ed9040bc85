"""Training, lists, marks, suggestions, audits, retraining: what the commands do, in processes that can be stopped."""

import datetime
import io
import re

import polars as pl
import pytest

from made_up_claims import write_claims
from program import run_program
from studio_visits import AtOnce, columns_form, listed, mark, text_of, train, visiting, wait_for
from unskew.studio.store import Table
from unskew.studio.tasks import Tasks


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("studio") / "studio"


@pytest.fixture(scope="module")
def visitor(folder):
    with visiting(folder, tasks=AtOnce()) as found:
        yield found


@pytest.fixture(scope="module")
def trained(visitor):
    """Address of a table with a model, and the page of its result."""
    table = visitor.add()
    state, page = wait_for(visitor, train(visitor, table))
    assert state == "done", text_of(page)
    return table, page


def test_the_result_says_what_was_found(trained):
    text = text_of(trained[1])
    assert "Of 200 rows of claims.csv," in text
    assert "AUC" in text
    assert "share of positives" in text


def test_model_list_and_report_are_those_of_the_command_line(visitor, trained, tmp_path):
    table, _ = trained
    (tmp_path / "claims.csv").write_bytes(write_claims())
    options = ["--label", "known", "--confidence", "sure", "--exclude", "id", "--exclude", "fraud"]
    run_program("fit", "claims.csv", *options, "--read-as", "zip=categorical", "--method", "conf-reg", cwd=tmp_path)
    run_program(
        "score", "model.unskew", "claims.csv", "--id", "id", "--reasons", 3, "--out", "ranked.csv", cwd=tmp_path
    )
    expected, found = pl.read_csv(tmp_path / "ranked.csv"), listed(visitor, table, show="all")
    assert found.columns == ["row", *expected.columns, "checked", "confidence"]
    assert found.select(expected.columns).equals(expected)
    report = visitor.get(f"{table}/tasks/1/report")
    assert "Ranking of <bdi>claims.csv</bdi>" in report.text
    assert "'sha256-" in report.headers["content-security-policy"]
    (tmp_path / "downloaded.unskew").write_bytes(visitor.get(f"{table}/tasks/1/model").content)
    done = run_program("score", "downloaded.unskew", "claims.csv", "--id", "id", "--out", "again.csv", cwd=tmp_path)
    assert done.returncode == 0
    assert pl.read_csv(tmp_path / "again.csv")["id"].equals(expected["id"])


def test_the_list_is_searched_sorted_and_paged(visitor, trained):
    table, _ = trained
    rows = listed(visitor, table, show="all", search="c-001")
    assert sorted(rows["id"]) == [f"C-001{digit}" for digit in range(10)]
    assert rows["rank"].is_sorted()
    assert listed(visitor, table, show="all", sort="row", down="1")["row"].to_list() == list(range(200, 0, -1))
    amounts = pl.read_csv(write_claims())["amount"]
    by_amount = listed(visitor, table, show="all", sort="1", down="1")["row"]
    assert amounts[by_amount - 1].is_sorted(descending=True)  # by number, not as text
    first, second = (visitor.get(f"{table}/list", params={"show": "all", "page": page}).text for page in (1, 2))
    shown = [re.findall(r'data-row="(\d+)"', page) for page in (first, second)]
    assert [len(each) for each in shown] == [50, 50]
    assert not set(shown[0]) & set(shown[1])
    assert "No rows are like that" in visitor.get(f"{table}/list", params={"search": "nowhere"}).text


@pytest.mark.parametrize("query", ["sort=99", "sort=x", "show=x", "page=0", "page=x", "page=99999999999", "model=77"])
def test_lists_that_there_are_not_are_told_or_are_the_nearest(visitor, trained, query):
    assert visitor.get(f"{trained[0]}/list?{query}").status_code in (200, 422)


def test_marks_are_kept_changed_and_taken_back(visitor, trained):
    table, _ = trained
    assert mark(visitor, table, 7, "positive", "0.9").json() == {
        "checked": 1, "positive": 1, "negative": 0, "answer": "positive", "can_be_added": 1,
    }  # fmt: skip
    assert mark(visitor, table, 7, "negative").json()["negative"] == 1
    row = listed(visitor, table, show="checked")
    assert row["checked"].to_list() == ["negative"]
    assert mark(visitor, table, 7, "clear").json()["checked"] == 0


@pytest.mark.parametrize(
    ("row", "answer", "confidence", "message"),
    [
        ("7", "positive", "", "a positive row must have a confidence"),
        ("7", "positive", "1.5", "the confidence must lie between 0 and 1"),
        ("7", "positive", "nan", "the confidence must lie between 0 and 1"),
        ("7", "positive", "high", "the confidence must be a number from 0 to 1, but it is 'high'"),
        ("7", "perhaps", "", "a row is marked as positive or negative"),
        ("0", "negative", "", "the row must be from 1 to 200, but it is 0"),
        ("201", "negative", "", "the row must be from 1 to 200, but it is 201"),
        ("x", "negative", "", "the row must be a whole number"),
    ],
)
def test_marks_that_cannot_be_are_told(visitor, trained, row, answer, confidence, message):
    found = mark(visitor, trained[0], row, answer, confidence)
    assert found.status_code == 422
    assert message in found.json()["error"]


@pytest.mark.parametrize("back", ["https://evil.example", "//evil.example", "/tables/other/list", "{table}/../.."])
def test_after_a_mark_nobody_is_led_away(visitor, trained, back):
    table, _ = trained
    fields = {"row": 1, "answer": "clear", "confidence": "", "back": back.replace("{table}", table)}
    assert visitor.post(f"{table}/marks", fields).headers["location"] == f"{table}/list"
    fields["back"] = f"{table}/audit?model=1#row-3"
    assert visitor.post(f"{table}/marks", fields).headers["location"] == fields["back"]


def test_suggestions_audit_and_retraining_use_the_marks(visitor, trained):
    table, _ = trained
    fraud = pl.read_csv(write_claims())["fraud"]
    answer = visitor.post(f"{table}/suggest", {"model": 1, "rows": 5})
    state, page = wait_for(visitor, answer.headers["location"])
    first = re.findall(r'data-row="(\d+)"', page.text)
    assert (state, len(first)) == ("done", 5)
    for row in first:
        mark(
            visitor, table, row, "positive" if fraud[int(row) - 1] else "negative", "0.8" if fraud[int(row) - 1] else ""
        )
    state, page = wait_for(visitor, visitor.post(f"{table}/suggest", {"model": 1, "rows": 5}).headers["location"])
    assert not set(first) & set(re.findall(r'data-row="(\d+)"', page.text))

    state, page = wait_for(visitor, visitor.post(f"{table}/draw", {"model": 1, "rows": 20}).headers["location"])
    drawn = re.findall(r'data-row="(\d+)"', page.text)
    assert (state, len(drawn)) == ("done", 20)
    refused = visitor.post(f"{table}/judge", {"model": 1})
    assert refused.status_code == 422
    assert "every row that was drawn must be checked" in text_of(refused)
    for row in drawn:
        mark(visitor, table, row, "positive" if fraud[int(row) - 1] else "negative", "0.8")
    state, page = wait_for(visitor, visitor.post(f"{table}/judge", {"model": 1}).headers["location"])
    n_positive = sum(fraud[int(row) - 1] for row in drawn)
    assert f"20 rows of 200 checked, {n_positive} positive." in text_of(page)

    before = sum(pl.read_csv(write_claims())["known"])
    new = [row for row in {*first, *drawn} if not pl.read_csv(write_claims())["known"][int(row) - 1]]
    added = [row for row in new if row in drawn or fraud[int(row) - 1]]
    state, page = wait_for(visitor, visitor.post(f"{table}/retrain", {"model": 1}).headers["location"])
    assert state == "done"
    assert f"Of 200 rows of claims.csv, {before + len(added)} are marked as known positives" in text_of(page)
    assert "Training 1" in text_of(page)


def test_what_training_refuses_is_told_on_the_page(visitor):
    table = visitor.add("few.csv", b"x,known\n" + b"".join(b"%d,%d\n" % (row, row < 1) for row in range(9)))
    fields = {"revision": 0, "method": "ntc", "then": "train", "use-0": "automatic", "use-1": "label"}
    state, page = wait_for(visitor, visitor.post(f"{table}/columns", fields).headers["location"])
    assert state == "failed"
    assert 'few.csv: the label column "known" must mark at least two rows as labeled' in text_of(page)
    refused = visitor.post(f"{table}/retrain", {"model": 1})
    assert "there is no model of this table yet" in text_of(refused)


def odd_table():
    """A Parquet file with columns of many types, and names that lists have themselves; no confidence."""
    day, n = datetime.datetime(2024, 1, 1), 40
    frame = pl.DataFrame(
        {
            "x": [float(row % 7) for row in range(n)],
            "when": [day + datetime.timedelta(row) for row in range(n)],
            "long": [datetime.timedelta(seconds=row) for row in range(n)],
            "list": [[row] for row in range(n)],
            "bytes": [b"x"] * n,
            "nothing": [None] * n,
            "kind": pl.Series(["a", "b"] * 20, dtype=pl.Categorical),
            "rank": [f"r{row}" for row in range(n)],
            "reason 1": [row % 5 for row in range(n)],
            "positive": [row < 15 for row in range(n)],
        }
    )
    content = io.BytesIO()
    frame.write_parquet(content)
    return content.getvalue(), frame.columns


def test_columns_of_any_type_and_name_go_the_whole_way_without_confidence(visitor):
    content, columns = odd_table()
    table = visitor.add("odd.parquet", content)
    uses = {"positive": "label", "rank": "name", "reason 1": "name"}
    form = {f"use-{place}": uses.get(column, "automatic") for place, column in enumerate(columns)}
    form |= {"revision": 0, "method": "ntc", "then": "train"}
    state, page = wait_for(visitor, visitor.post(f"{table}/columns", form).headers["location"])
    assert state == "done"
    assert "is not known: no confidence column was given." in text_of(page)
    assert len(listed(visitor, table, show="all")) == 40
    assert "long PT6S" in text_of(visitor.get(f"{table}/list", params={"show": "all"}))
    _, page = wait_for(visitor, visitor.post(f"{table}/draw", {"model": 1, "rows": 10}).headers["location"])
    for row in re.findall(r'data-row="(\d+)"', page.text):
        mark(visitor, table, row, "positive" if int(row) % 2 else "negative")
    state, page = wait_for(visitor, visitor.post(f"{table}/judge", {"model": 1}).headers["location"])
    assert "10 rows of 40 checked" in text_of(page)
    refused = visitor.post(f"{table}/retrain", {"model": 1})
    assert "a model must have been trained with a confidence column" in text_of(refused)


def test_a_fault_of_ours_is_told_as_one(visitor, monkeypatch, capfd):
    def fail(*_):
        raise KeyError("oops")

    monkeypatch.setattr("unskew.studio.training.train", fail)
    state, page = wait_for(visitor, train(visitor, visitor.add()))
    assert state == "failed"
    assert "something went wrong that is a fault of unskew" in text_of(page)
    assert "KeyError: 'oops'" in capfd.readouterr().err


def test_warnings_are_told_without_options_of_commands(visitor):
    table = visitor.add()
    form = columns_form("conf-reg") | {"use-6": "automatic"}
    _, page = wait_for(
        visitor, visitor.post(f"{table}/columns", {"revision": 0, "then": "train", **form}).headers["location"]
    )
    assert 'Column "fraud" marks the labeled rows' in text_of(page)
    assert "--" not in text_of(page)


def test_no_task_ends_twice(visitor, trained, folder):
    table, _ = trained
    tasks = Tasks()
    task = tasks.get(Table(folder / table.removeprefix("/")), 1)
    end = task.end
    tasks.stop(task)
    assert task.end == end
