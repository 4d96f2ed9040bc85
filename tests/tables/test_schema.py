"""Kinds of columns, encoding into features, and holding new files to what training saw."""

import datetime
import decimal
import json
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unskew.tables._values
import unskew.tables.inference
from odd_tables import odd_table
from unskew.errors import TableError
from unskew.tables import (
    Schema,
    Tally,
    infer_features,
    read_batches,
    read_confidence,
    read_labels,
    read_table,
)

LARGE = 2**32 - 1


def infer_schema(frame, **options):
    return infer_features(frame, **options)[0]


def unseen(schema, frame):
    """Sentences about values of a frame that training did not see."""
    schema.transform(frame, tally=(tally := Tally()))
    return tally.sentences()


def kinds(columns, **options):
    schema = infer_schema(pl.DataFrame({"x": [0.5, 0.7, 0.1, 0.2, 0.3, 0.9] * 5, **columns}, **options))
    return {name: kind for name, kind, _ in schema.describe() if name != "x"}


def reasons(columns):
    return {each.name: each.reason for each in infer_schema(pl.DataFrame(columns)).left_out}


def schema_or_none(frame, exclude):
    """Schema, or None where no column is of use, which odd tables may lawfully be."""
    try:
        return infer_schema(frame.drop(exclude))
    except TableError as error:
        if "none is left" not in str(error):
            raise
        return None


def repeat(*values):
    return list(values) * (30 // len(values))


def test_kinds_of_text():
    assert kinds(
        {
            "numbers": repeat("1", "-2.5", " 3e5 ", "", "NA", ".5"),
            "truth": repeat("Yes", "no", "TRUE", "f", None, "n"),
            "days": repeat(
                "2024-01-31", "1999-12-01", "", "2000-02-29", "2024-01-31T12:00", "2024-01-31 12:00:00.5+01:00"
            ),
            "words": repeat("red", "blue", "green"),
            "no days": repeat("2024-02-31", "2024-01-31", "2024-01-30"),
            "zeros and ones": repeat("0", "1"),
        }
    ) == {
        "numbers": "numeric",
        "truth": "boolean",
        "days": "date",
        "words": "categorical",
        "no days": "categorical",
        "zeros and ones": "numeric",
    }


def test_kinds_of_types():
    day, time = datetime.date(2024, 1, 31), datetime.datetime(2024, 1, 31, 12)
    assert kinds(
        {
            "int": repeat(1, 5, None),
            "float": repeat(1.5, float("nan"), 2.0),
            "decimal": repeat(decimal.Decimal("1.5"), decimal.Decimal("2.5")),
            "bool": repeat(True, False, None),
            "day": repeat(day, day + datetime.timedelta(3)),
            "time": repeat(time, None),
            "duration": repeat(datetime.timedelta(hours=1), datetime.timedelta(hours=2)),
            "clock": repeat(datetime.time(3), datetime.time(4)),
            "category": pl.Series(repeat("a", "b"), dtype=pl.Categorical),
            "list": repeat([1], [2, 3]),
            "struct": repeat({"a": 1}, {"a": 2}),
            "binary": repeat(b"a", b"b"),
            "null": [None] * 30,
        }
    ) == {
        "int": "numeric",
        "float": "numeric",
        "decimal": "numeric",
        "bool": "boolean",
        "day": "date",
        "time": "date",
        "duration": "numeric",
        "clock": "numeric",
        "category": "categorical",
        "list": "left out",
        "struct": "left out",
        "binary": "left out",
        "null": "left out",
    }


def test_all_rows_decide():
    n = 20_000
    text = pl.Series("late", ["1"] * (n - 1) + ["word"])
    frame = pl.DataFrame([text, pl.Series("x", np.arange(n) % 7 + 0.5)])
    schema = infer_schema(frame)
    assert [column.kind for column in schema.columns] == ["categorical", "numeric"]
    assert 'all but 1 of 20,000 values are numbers (first other: "word" at row 20,000)' in schema.columns[0].note


def test_columns_of_no_use_are_left_out_with_the_reason():
    n = 300
    found = reasons(
        {
            "x": np.linspace(0, 1, n) ** 2,
            "constant": ["a"] * n,
            "same number": [1.5] * n,
            "nothing": ["", "NA", None] * (n // 3),
            "code": [f"id-{i:04d}" for i in range(n)],
            "diagnosis": [f"code {i % 210}" for i in range(n)],
            "amount": [f"{1000 + 37 * i:,}" for i in range(n)],
            "day": [f"{i % 28 + 1}.{i % 12 + 1}.{1990 + i % 33}" for i in range(n)],
        }
    )
    assert found["constant"] == 'constant: every value is "a"'
    assert found["same number"] == "constant: every value is 1.5"
    assert found["nothing"] == "all values are missing"
    assert found["code"].startswith("looks like an identifier or free text: 300 different values in 300")
    assert found["diagnosis"].startswith("text with too many different values: ")
    assert "looks like numbers with separators" in found["amount"]
    assert "looks like dates; write them as 2024-01-31" in found["day"]
    assert "x" not in found


def test_identifiers_are_left_out_and_amounts_are_not():
    n, rng = 200, np.random.default_rng(0)
    different = rng.permutation(10_000)[:n]
    found = reasons(
        {
            "counter": np.arange(n) + 17,
            "as text": [str(i) for i in range(n)],
            "in order": np.sort(different),
            "customer_id": different,
            "customerId": different,
            "order number": different,
            "long id": [str(10**25 + int(i)) for i in different],
            "number of orders": different,
            "paid": different,
            "amount": different / 100,
            "sorted amount": np.sort(different) / 4,
            "age_id": different % 50,
        }
    )
    identifiers = {"counter", "as text", "in order", "customer_id", "customerId", "order number", "long id"}
    assert set(found) == identifiers
    assert all("looks like an identifier" in reason for reason in found.values())


def test_a_few_rows_in_order_are_no_identifier():
    schema = infer_schema(pl.DataFrame({"age": [21, 34, 40, 52, 60, 71], "b": [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]}))
    assert schema.names == ("age", "b")


def test_many_rare_words_are_no_categories_and_few_are():
    schema = infer_schema(pl.DataFrame({"few": ["a", "b", "c", "d", "a"], "many": [f"w{i % 4}" for i in range(5)]}))
    assert schema.names == ("few", "many")
    countries = [f"country {i % 195}" for i in range(1000)]
    assert len(infer_schema(pl.DataFrame({"country": countries})).columns[0].categories) == 195


def test_infinite_values_are_told():
    for values, found in (
        (["1", "2", "-inf"], '"-inf"'),
        ([1.0, 2.0, float("inf")], "inf"),
        (["1", "2", "1e999"], '"1e999"'),
    ):
        message = rf'data.csv: column "a" must hold finite numbers, but 1 row of 3 .* \(first: {found} at row 3\)'
        with pytest.raises(TableError, match=message):
            infer_schema(pl.DataFrame({"a": values}), path="data.csv")


def test_no_feature_left_is_told_with_the_reasons():
    message = 'none is left .*"a": constant: every value is "x".*"b": all values are missing'
    with pytest.raises(TableError, match=message):
        infer_schema(pl.DataFrame({"a": ["x"] * 3, "b": [None] * 3}))
    with pytest.raises(TableError, match="there are no others"):
        infer_schema(pl.DataFrame({"y": ["1", "0"]}).drop("y"))


@pytest.fixture
def training():
    return pl.DataFrame(
        {
            "age": ["10", "20", "", "30", "20", "20"],
            "size": ["1", "2", "3", "1", "2", "3.5"],
            "color": ["red", "blue", " red ", "NA", "blue", "red"],
            "member": ["yes", "no", "yes", "", "no", "no"],
            "active": [True, False, True, True, False, False],
            "since": ["2024-01-01", "2024-01-03", "2024-01-02", "2024-01-02", "2024-01-01", "2024-01-03"],
            "flag": ["7", "", "7", "", "7", ""],
        }
    )


def test_features_by_hand(training):
    schema = infer_schema(training)
    assert schema.feature_names == (
        *("age", "age is missing", "size", "color=blue", "color=red", "color is missing"),
        *("member", "member is missing", "active", "since", "flag is missing"),
    )
    assert schema.feature_columns[:6] == ("age", "age", "size", "color", "color", "color")
    X = dict(zip(schema.feature_names, schema.transform(training).T, strict=True))
    deviation = np.std([10, 20, 30, 20, 20])
    np.testing.assert_allclose(X["age"], np.array([-10, 0, 0, 10, 0, 0]) / deviation, rtol=1e-6)
    np.testing.assert_array_equal(X["age is missing"], [0, 0, 1, 0, 0, 0])
    np.testing.assert_array_equal(X["color=red"], [1, 0, 1, 0, 0, 1])
    np.testing.assert_array_equal(X["color is missing"], [0, 0, 0, 1, 0, 0])
    np.testing.assert_array_equal(X["member"], [1, 0, 1, 0, 0, 0])
    np.testing.assert_array_equal(X["member is missing"], [0, 0, 0, 1, 0, 0])
    np.testing.assert_array_equal(X["active"], [1, 0, 1, 1, 0, 0])
    np.testing.assert_allclose(X["since"], np.array([-1, 1, 0, 0, -1, 1]) / np.std([0, 2, 1, 1, 0, 2]), rtol=1e-5)
    np.testing.assert_array_equal(X["flag is missing"], [0, 1, 0, 1, 0, 1])
    assert schema.transform(training).dtype == np.float32


def test_new_rows(training):
    schema = infer_schema(training)
    new = pl.DataFrame(
        {
            "age": ["20", None, "1e300"],
            "size": ["", "2", "2"],
            "color": ["teal", "blue", "pink"],
            "member": ["1", "TRUE", "0.0"],
            "active": ["", "f", "y"],
            "since": ["2024-01-02T00:00:00Z", "2024-01-02 05:30+05:30", "2024-01-02"],
            "flag": ["7", "8", ""],
        }
    )
    X = dict(zip(schema.feature_names, schema.transform(new).T, strict=True))
    np.testing.assert_array_equal(X["age"], [0, 0, 1e6])
    np.testing.assert_allclose(X["size"][0], 0, atol=1e-7)
    np.testing.assert_array_equal(X["color=red"], [0, 0, 0])
    np.testing.assert_array_equal(X["member"], [1, 1, 0])
    np.testing.assert_array_equal(X["active"], [0.5, 0, 1])
    np.testing.assert_array_equal(X["since"], [0, 0, 0])
    without = (
        "has 1 row without a value (first: row 1), and training had none; they count as average, or as no category"
    )
    assert unseen(schema, new) == [
        'column "color" has 2 rows with values not seen in training (first: "teal", row 1); they count as none of the '
        "known",
        f'column "size" {without}',
        f'column "active" {without}',
    ]
    assert unseen(schema, training) == []


def test_a_tally_adds_up_batches(training):
    schema, tally = infer_schema(training), Tally()
    for batch in range(3):
        schema.transform(training.with_columns(color=pl.lit("teal")), first_row=1 + 6 * batch, tally=tally)
    assert 'column "color" has 18 rows with values not seen in training (first: "teal", row 1)' in tally.sentences()[0]


def test_the_same_data_in_other_types_give_the_same_features(training):
    schema = infer_schema(training)
    typed = training.with_columns(
        pl.col("age").cast(pl.Int16, strict=False),
        pl.col("size").cast(pl.Float32),
        pl.col("color").str.strip_chars().cast(pl.Categorical),
        pl.col("member").replace_strict({"yes": True, "no": False}, default=None),
        pl.col("active").cast(pl.Int8),
        pl.col("since").str.to_datetime("%Y-%m-%d", time_zone="Asia/Tokyo").dt.replace_time_zone("UTC"),
        pl.col("flag").cast(pl.Float64, strict=False).fill_null(float("nan")),
    )
    np.testing.assert_array_equal(
        schema.transform(typed.with_columns(color=training["color"])), schema.transform(training)
    )
    assert infer_schema(typed).columns[0].mean == infer_schema(training).columns[0].mean


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_days_of_text_and_of_types_agree(unit):
    text = ["2024-01-31 12:30:15", "1969-07-20T20:17:40", "2100-12-31 23:59:59", "2000-01-01 00:00:00"]
    typed = pl.Series("t", text).str.replace("T", " ").str.to_datetime("%Y-%m-%d %H:%M:%S", time_unit=unit)
    schema = infer_schema(pl.DataFrame({"t": text}))
    assert schema.columns[0].low == pytest.approx(-165 + (20 * 3600 + 17 * 60 + 40) / 86400)
    assert schema.columns == infer_schema(pl.DataFrame([typed])).columns


def test_extreme_numbers_stay_finite():
    columns = {
        "huge": [1e308, -1e308, 1.7e308, 0.0],
        "tiny": [5e-324, 0.0, 1e-310, 0.0],
        "long": ["123456789012345678901234567890", "1", "2", "99999999999999999999999999999999"],
        "near": [1e15 + 1, 1e15 + 2, 1e15 + 3, 1e15 + 4],
    }
    frame = pl.DataFrame(columns)
    schema, X = infer_features(frame)
    assert np.isfinite(X).all()
    near = np.arange(4) - 1.5
    np.testing.assert_allclose(X[:, -1], near / near.std(), rtol=0.2)
    json.loads(json.dumps(schema.to_json(), allow_nan=False))


def test_a_new_file_is_held_to_the_schema(training):
    schema = infer_schema(training)
    assert schema.check_columns(training.columns, "new.csv") == []
    extra = training.with_columns(id=pl.lit(1), other=pl.lit(2))
    assert schema.check_columns(extra.columns, "new.csv", ignore=["id"]) == [
        'new.csv: there is a column that the model does not use: "other".'
    ]
    assert schema.check_columns(extra.columns, None) == [
        'there are 2 columns that the model does not use: "id", "other".'
    ]
    with pytest.raises(
        TableError, match='new.csv: there must be a column "color".*Did you mean "colour".*trained with it'
    ):
        schema.check_columns(training.rename({"color": "colour"}).columns, "new.csv")
    with pytest.raises(TableError, match='there must be a column "age"'):
        schema.transform(training.drop("age"))


@pytest.mark.parametrize(
    ("name", "value", "kind", "found"),
    [
        ("age", "old", "numeric", '"old"'),
        ("age", "1,5", "numeric", '"1,5"'),
        ("member", "2", "boolean", '"2"'),
        ("since", "03.01.2024", "date", '"03.01.2024"'),
        ("since", "2024-13-01", "date", '"2024-13-01"'),
        ("since", "2024-01-01 25:00", "date", '"2024-01-01 25:00"'),
    ],
)
def test_a_changed_type_is_told_with_the_first_value_and_row(training, name, value, kind, found):
    schema = infer_schema(training)
    new = training.with_columns(pl.Series(name, [*training[name].to_list()[:4], value, value]))
    message = (
        rf'new.csv: column "{name}" is {kind}: .* but 2 rows of 6 hold something else \(first: {found} at row 105\)'
    )
    with pytest.raises(TableError, match=message):
        schema.transform(new, path="new.csv", first_row=101)


def test_a_number_is_no_date_and_a_list_no_category(training):
    schema = infer_schema(training)
    with pytest.raises(TableError, match=r'column "since" is date: .*\(first: 5 at row 1\)'):
        schema.transform(training.with_columns(since=pl.lit(5)))
    with pytest.raises(TableError, match='column "color" is categorical: every value must be a single value'):
        schema.transform(training.with_columns(color=pl.lit([1])))


def test_notes_are_plain_words(training):
    notes = {name: note for name, _, note in infer_schema(training).describe()}
    assert notes["age"] == "from 10 to 30, mean 20; 17 % missing, marked by a feature of its own"
    assert notes["color"] == "2 categories, one-hot; 17 % missing, marked by a feature of its own"
    assert notes["active"] == "true in 50 % of those with a value"
    assert notes["since"] == "2024-01-01 to 2024-01-03, as days"


def test_json_keeps_everything(training):
    schema = infer_schema(training.with_columns(constant=pl.lit(1)))
    assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema


WRONG = {
    "no columns": (lambda data: data.pop("columns"), "schema must hold columns"),
    "columns that are no list": (lambda data: data.update(columns=5), "schema.columns must be a list, but it is 5"),
    "an empty list": (lambda data: data.update(columns=[]), "some column must become features, but none of 0 does"),
    "no features": (
        lambda data: data.update(columns=[data["columns"][1] | {"low": 1, "high": 1}]),
        "some column must become features, but none of 1 does",
    ),
    "a kind": (lambda data: data["columns"][0].update(kind="code"), "kind must be one of 'numeric', .*it is 'code'"),
    "a mean": (
        lambda data: data["columns"][0].update(mean=float("nan")),
        "mean must be a finite number",
    ),
    "a text as number": (lambda data: data["columns"][0].update(mean="1"), "mean must be a number|a finite number"),
    "a fraction as count": (lambda data: data["columns"][0].update(n_rows=6.5), "n_rows must be a whole number"),
    "a truth value as count": (lambda data: data["columns"][0].update(n_missing=True), "n_missing must be a whole"),
    "a count below 0": (lambda data: data["columns"][0].update(n_missing=-1), "n_missing between 0 and n_rows"),
    "more missing than rows": (lambda data: data["columns"][0].update(n_missing=7), "n_missing between 0 and n_rows"),
    "low above high": (lambda data: data["columns"][0].update(low=31), '"age" must have low at most high'),
    "no deviation": (lambda data: data["columns"][0].update(std=0), '"age" must have std above 0'),
    "numbers of categories": (lambda data: data["columns"][2].update(high=1), '"color" must have low at most high'),
    "categories of numbers": (lambda data: data["columns"][0].update(categories=["a"]), "categories only if it is"),
    "a number as category": (lambda data: data["columns"][2].update(categories=[1]), r"categories\[0\] must be a text"),
    "a category twice": (lambda data: data["columns"][2].update(categories=["a", "a"]), "categories that differ"),
    "a boolean above 1": (lambda data: data["columns"][3].update(high=2), "numbers between 0 and 1"),
    "a name twice": (lambda data: data["columns"].append(data["columns"][0]), "columns must have different names"),
    "left out": (lambda data: data.update(left_out=[{}]), r"left_out\[0\] must hold name, reason"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_damaged_schema_is_refused(training, case):
    (change, message), data = WRONG[case], infer_schema(training).to_json()
    change(data)
    with pytest.raises(ValueError, match=message):
        Schema.from_json(json.loads(json.dumps(data)))


def test_each_column_is_parsed_once(training, monkeypatch):
    calls = Counter()

    def counted(function):
        def count(*arguments):
            calls[function.__name__, next(each for each in arguments if isinstance(each, pl.Series)).name] += 1
            return function(*arguments)

        return count

    for name in ("clean", "to_numbers", "to_booleans", "to_days", "to_categories"):
        counting = counted(getattr(unskew.tables._values, name))
        for module in (unskew.tables._values, unskew.tables._text_columns, unskew.tables.inference):
            monkeypatch.setattr(module, name, counting, raising=False)
    schema, X = infer_features(training)
    assert set(calls.values()) == {1}
    assert {column for reader, column in calls if reader == "clean"} == set(training.columns)
    calls.clear()
    np.testing.assert_array_equal(schema.transform(training, tally=Tally()), X)
    assert set(calls.values()) == {1}
    assert {column for reader, column in calls if reader == "clean"} == set(training.columns)


@settings(max_examples=70)
@given(st.integers(0, LARGE))
def test_odd_files_become_features(tmp_path_factory, seed):
    table = odd_table(seed)
    path = table.write(tmp_path_factory.mktemp("odd"))
    frame = read_table(path)
    labels = read_labels(frame, table.label_column, blank_is_unlabeled=table.blank_is_unlabeled)
    assert tuple(labels.tolist()) == table.labels
    assert np.isfinite(read_confidence(frame, table.confidence_column, labels)[labels == 1]).all()
    schema = schema_or_none(frame, table.roles)
    if schema is None:
        return
    X = schema.transform(frame)
    assert X.shape == (len(table.rows), len(schema.feature_names))
    assert np.isfinite(X).all()
    assert unseen(schema, frame) == []
    again = Schema.from_json(json.loads(json.dumps(schema.to_json(), allow_nan=False)))
    batches = [again.transform(batch) for batch in read_batches(path, schema.names, rows=17)]
    np.testing.assert_array_equal(np.concatenate(batches), X)


@settings(max_examples=50)
@given(st.integers(0, LARGE))
def test_other_rows_of_odd_files_have_the_same_features(tmp_path_factory, seed):
    table, folder = odd_table(seed, n_rows=40), tmp_path_factory.mktemp("odd")
    frame = read_table(table.write(folder))
    schema = schema_or_none(frame, table.roles)
    if schema is None:
        return
    other = table.another(seed + 1)
    new = read_table(other.write(folder, "new.csv"))
    assert schema.check_columns(new.columns, "new.csv", ignore=table.roles) == []
    assert schema.transform(new).shape == (len(other.rows), len(schema.feature_names))
