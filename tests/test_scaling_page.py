"""The page about several machines is what the rows of its benchmarks say."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def pages():
    spec = importlib.util.spec_from_file_location("scaling_page", DOCS / "scaling_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_is_what_the_rows_say(pages):
    assert pages.page() == (DOCS / "scaling.md").read_text(), "run: python docs/scaling_page.py"


def test_where_workers_break_even_by_hand(pages):
    seconds = {(100, 1): "1", (1000, 1): "10", (100, 2): "15", (1000, 2): "9.5", (100, 8): "14", (1000, 8): "12"}
    found = {key: {"seconds": value} for key, value in seconds.items()}
    assert pages.breaks_even(found, 2) == 1000
    assert pages.breaks_even(found, 8) is None


def test_fewest_unlabeled_rows_that_are_enough_by_hand(pages):
    rows = [{"unlabeled": n, "auc": auc} for n, auc in (("10", ".7"), ("20", ".799"), ("30", ".8"), ("40", ".795"))]
    assert pages.least_enough(rows) == 20


def test_a_missed_goal_is_shown_as_missed(pages, monkeypatch):
    row = {"rows": "9", "columns": "20", "rows_per_second": "5", "rows_per_processor_second": "6", "peak_mb": "400"}
    row |= {"start_up_seconds": "20", "ratio": "1.5", "processor_ratio": "0.8", "load": "2"}
    rows = [{**row, "workers": n} for n in "120"]
    monkeypatch.setattr(pages, "read", lambda name: rows)
    said = pages.measured_lines()[-1]
    assert "1.50 times the rows per second of one: the goal was 1.6, which is **missed**" in said
    assert "judged on 50,000,000 rows; these are fewer" in said
    assert "1.25 times the work" in said
    assert "one worker got 83%" not in said
    rows[0]["rows_per_processor_second"] = "20"
    assert "one worker got 25% of a core" in pages.measured_lines()[-1]
    rows[1] |= {"ratio": "1.61", "rows": "50000000"}
    said = pages.measured_lines()[-1]
    assert "the goal, 1.6, is met" in said
    assert "fewer" not in said


def test_numbers_in_words(pages):
    assert [pages.power(n) for n in (10**6, 3 * 10**7)] == ["10^6", "3 × 10^7"]
    assert [pages.duration(s) for s in (5.2, 130, 7300)] == ["5 s", "2 min", "2 h"]
