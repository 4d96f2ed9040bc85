"""Labels, confidence and true classes."""

import numpy as np
import polars as pl
import pytest

from unskew.errors import TableError
from unskew.tables import read_confidence, read_labels, read_truth, require_both_kinds

SPELLINGS = [
    ["1", "0"],
    ["1.0", "0.0"],
    ["TRUE", "false"],
    ["Yes", "NO"],
    [" y ", "N"],
    ["T", "f"],
    [1, 0],
    [1.0, 0.0],
    [True, False],
]


@pytest.mark.parametrize("values", SPELLINGS)
def test_labels_in_all_spellings(values):
    frame = pl.DataFrame({"known": values})
    labels = read_labels(frame, "known")
    assert labels.dtype == np.int8
    assert labels.tolist() == read_truth(frame, "known").tolist() == [1, 0]


def test_labels_of_categories():
    series = pl.Series("known", ["yes", "no", "yes"], dtype=pl.Categorical)
    assert read_labels(pl.DataFrame([series]), "known").tolist() == [1, 0, 1]


@pytest.mark.parametrize("blank", ["", "  ", "NA", None])
def test_blank_is_unlabeled_only_if_said(blank):
    frame = pl.DataFrame({"known": ["1", "0", blank, blank]})
    assert read_labels(frame, "known", blank_is_unlabeled=True).tolist() == [1, 0, 0, 0]
    with pytest.raises(TableError, match=r"2 rows of 4 are blank \(first: row 3\).*--blank-is-unlabeled"):
        read_labels(frame, "known")


@pytest.mark.parametrize(
    ("values", "found"),
    [(["1", "maybe"], '"maybe"'), (["1", "2"], '"2"'), ([1, -1], "-1"), ([1.0, 0.5], "0.5"), (["1", "inf"], '"inf"')],
)
def test_other_labels_are_told_with_value_and_row(values, found):
    with pytest.raises(
        TableError, match=f'data.csv: the label column "known" must say .* \\(first: {found} at row 2\\)'
    ):
        read_labels(pl.DataFrame({"known": values}), "known", path="data.csv")


def test_nested_labels_are_told():
    with pytest.raises(TableError, match="say something else"):
        read_labels(pl.DataFrame({"known": [[1], [0]]}), "known")


def test_a_column_that_is_not_there_is_told_with_the_nearest():
    frame = pl.DataFrame({"label": ["1"], "b": ["2"]})
    message = (
        r'data.csv: there must be a column "lable", but there is none. Did you mean "label"\? There are: "label", "b".'
    )
    with pytest.raises(TableError, match=message):
        read_labels(frame, "lable", path="data.csv")
    for read in (read_truth, lambda frame, name, path: read_confidence(frame, name, np.ones(1), path=path)):
        with pytest.raises(TableError, match=message):
            read(frame, "lable", path="data.csv")


@pytest.mark.parametrize(
    ("labels", "message"),
    [([0, 0, 0], "of 3 rows none is"), ([0, 1, 0], "only row 2 is"), ([1, 1], "all 2 are labeled")],
)
def test_none_one_or_all_labeled(labels, message):
    with pytest.raises(TableError, match=f'the label column "known" must .*{message}'):
        require_both_kinds(np.array(labels), "known")


def test_two_labeled_are_enough():
    require_both_kinds(np.array([1, 1, 0]), "known")


@pytest.mark.parametrize("dtype", [pl.String, pl.Float64])
def test_confidence_is_read_on_labeled_rows_alone(dtype):
    frame = pl.DataFrame({"risk": [0.25, None, 1.0, 7.0]}).cast(dtype)
    confidence = read_confidence(frame, "risk", np.array([1, 0, 1, 0]))
    assert confidence.dtype == np.float64
    np.testing.assert_array_equal(confidence, [0.25, np.nan, 1, np.nan])
    assert read_confidence(pl.DataFrame({"r": ["high", "1"]}), "r", np.array([0, 1]))[1] == 1


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("1.5", r'must lie in \[0, 1\] on every labeled row, but 1 of 2 does not \(first: "1.5" at row 3\)'),
        ("-0.1", r'must lie in \[0, 1\] on every labeled row, but 1 of 2 does not \(first: "-0.1" at row 3\)'),
        ("inf", r"must lie in \[0, 1\]"),
        ("high", r'must be a number on every labeled row, but 1 of 2 is not \(first: "high" at row 3\)'),
        ("0,5", r"must be a number .* decimal comma or a unit: write them as 0.95"),
        ("", r"must have a value on every labeled row, but 1 of 2 has none \(first: nothing at row 3\)"),
        ("NaN", r"must have a value"),
        (None, r"must have a value"),
    ],
)
def test_wrong_confidence_is_told_with_value_and_row(value, message):
    frame = pl.DataFrame({"risk": ["0.5", "9", value]})
    with pytest.raises(TableError, match=f'data.csv: the confidence column "risk" {message}'):
        read_confidence(frame, "risk", np.array([1, 0, 1]), path="data.csv")


def test_confidence_that_is_all_zero_is_told():
    with pytest.raises(TableError, match="must be above 0 on some labeled row, but all 2 are 0"):
        read_confidence(pl.DataFrame({"risk": [0.0, 0.0, 1.0]}), "risk", np.array([1, 1, 0]))


def test_truth_needs_both_classes_and_every_row():
    with pytest.raises(TableError, match='the truth column "y" must hold both classes, but all 2 rows are 1'):
        read_truth(pl.DataFrame({"y": ["1", "1"]}), "y")
    with pytest.raises(TableError, match="must hold both classes, but the only row is 0"):
        read_truth(pl.DataFrame({"y": ["0"]}), "y")
    with pytest.raises(TableError, match=r"1 row of 2 is blank \(first: row 2\)"):
        read_truth(pl.DataFrame({"y": ["1", ""]}), "y")
    with pytest.raises(TableError, match=r'the truth column "y" .* \(first: "dunno" at row 1\)'):
        read_truth(pl.DataFrame({"y": ["dunno", "1"]}), "y")
