"""How long and how fast networks are trained where the user does not say."""

import math

import pytest

from unskew.learning.pace import LARGE_RATE, LARGE_ROWS, LARGEST_BATCH, LEAST_EPOCHS, MOST_EPOCHS, pace_for


def distance(n_rows, n_labeled, drive=1.0):
    """Learning rate times steps."""
    pace = pace_for(n_rows, n_labeled, drive)
    return pace.learning_rate * pace.max_epochs * math.ceil(n_rows / pace.batch_size)


@pytest.mark.parametrize("n_rows", [600, 1500, 5000, 20_000, LARGE_ROWS - 1])
def test_about_as_far_as_in_the_paper_whatever_the_number_of_rows(n_rows):
    paper = 1e-4 * 200 * 5
    assert 0.8 * paper <= distance(n_rows, 100) <= 1.3 * paper
    assert distance(n_rows, 10) == distance(n_rows, 100)


def test_four_times_the_labels_go_twice_as_far():
    assert distance(5000, 400) == pytest.approx(2 * distance(5000, 100), rel=0.05)
    assert distance(5000, 100, drive=4) == pytest.approx(4 * distance(5000, 100))


def test_bounds():
    assert pace_for(10, 5).batch_size == 64
    assert pace_for(10, 5).max_epochs == MOST_EPOCHS
    assert pace_for(10**8, 100) == (LEAST_EPOCHS, LARGEST_BATCH, LARGE_RATE)


def test_in_large_tables_the_same_steps_go_further():
    small, large = (pace_for(n_rows, 500) for n_rows in (LARGE_ROWS - 1, LARGE_ROWS))
    assert large == small._replace(learning_rate=LARGE_RATE)
    assert small.learning_rate < LARGE_RATE
    # What is driven harder anyway stays as it is.
    assert pace_for(LARGE_ROWS, 500, drive=4) == pace_for(LARGE_ROWS - 1, 500, drive=4)


def test_a_given_batch_size_makes_as_many_steps():
    pace = pace_for(5000, 100, batch_size=100)
    assert pace.batch_size == 100
    assert pace.max_epochs * 50 == 400
