"""The plain AUC: weights and classes as they may come, and clear words where they cannot be read."""

import numpy as np
import pandas as pd
import pytest
import torch

import unskew
from quick_fits import QUICK
from unskew.metrics import auc

Y = np.array([1, 1, 0, 0, 0])
SCORE = np.array([3.0, 1.0, 1.0, 0.0, 2.0])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.zeros(5), "above zero for some row of each class, but all 3 of class 0 are 0"),
        ([0, 0, 1, 1, 1], "above zero for some row of each class, but all 2 of class 1 are 0. The AUC compares"),
        ([1, -2, 1, 1, 1], r"finite and not negative, but 1 of 5 entries are not \(first: -2 at row 1\)"),
        ([1, 1, np.nan, np.nan, 1], r"2 of 5 entries are not \(first: nan at row 2\)"),
        ([1, 1, 1, np.inf, 1], r"first: inf at row 3"),
        ([1, 1, 1, None, 1], r"first: nan at row 3"),
        (["1", "1", "much", "1", "1"], "sample_weight must be a number on every row, but it is 'much' at row 2"),
        (np.ones(4), r"sample_weight must have one entry per row, 5 in all, but its shape is \(4,\)"),
        (np.ones((5, 2)), r"but its shape is \(5, 2\)"),
        (1.0, r"but its shape is \(\)"),
    ],
)
def test_weights_that_cannot_be_used(weight, message):
    with pytest.raises(ValueError, match=message):
        auc(Y, SCORE, sample_weight=weight)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 0, None, 0, 0], r"1 of 5 entries are something else \(first: None at row 2\). Write classes as 1 and 0"),
        (np.array([1, 0, 0, pd.NA, 0], dtype=object), r"\(first: <NA> at row 3\)"),
        (np.array([1, 0, "x", "y", 0], dtype=object), r"2 of 5 entries are something else \(first: 'x' at row 2\)"),
        (["1", "0", "1", "0", "0"], r"5 of 5 entries are something else \(first: '1' at row 0\)"),
        (pd.Series(["1", "0", "1", "0", "0"]), r"5 of 5 entries are something else \(first: '1' at row 0\)"),
        ([1, 0, 0, np.nan, 0], r"\(first: nan at row 3\)"),
        ([1, 0, -1, -1, 0], r"2 of 5 entries are something else \(first: -1 at row 2\)"),
        (np.zeros(5, int), r"it holds \[0\]. Take rows of both classes"),
    ],
)
def test_classes_that_cannot_be_read(y, message):
    with pytest.raises(ValueError, match=f"y must hold the true class, 1 or 0, and both must occur, but .*{message}"):
        auc(y, SCORE)


def test_classes_of_any_type():
    for same in (Y.astype(object), Y.astype(bool).astype(object), pd.Series(Y, dtype="Int64"), Y.astype(float)):
        assert auc(same, SCORE) == auc(Y, SCORE)


def test_score_of_a_ranker_checks_them_too(toy_data):
    ranker = unskew.make("ntc", **QUICK).fit(toy_data.X, toy_data.labeled)
    with pytest.raises(ValueError, match="above zero for some row of each class"):
        ranker.score(toy_data.X, toy_data.y, sample_weight=np.zeros(300))


def test_weights_count_rows():
    weight = [2, 1, 0, 1, 3]
    expected = auc(np.repeat(Y, weight), np.repeat(SCORE, weight))
    for same in (weight, np.array(weight)[:, None], pd.Series(weight, dtype="Int64"), torch.tensor(weight)):
        assert auc(Y, SCORE, sample_weight=same) == pytest.approx(expected)


def test_torch_tensors_with_a_gradient():
    y, score, weight = (torch.tensor(each, dtype=torch.float64, requires_grad=True) for each in (Y, SCORE, Y + 1))
    assert auc(y, score, sample_weight=weight) == auc(Y, SCORE, sample_weight=Y + 1)
    assert auc(Y, score.bfloat16()) == auc(Y, SCORE)
