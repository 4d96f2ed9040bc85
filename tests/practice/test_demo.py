"""The demo end to end, trained for fewer steps: what it prints is what its pages show, and is true of its table."""

import re
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from chromium import Browser, find_chromium
from unskew.cli import app
from unskew.practice.demo import rows_to_find


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Folder that the demo made, and what it printed."""
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unskew.learning.pace.STEPS", 100)
        result = CliRunner().invoke(app, ["demo", "--out", str(folder)])
    assert result.exit_code == 0, result.output
    return folder, result.output


def numbers(printed, row):
    """Estimate, ends of its interval and truth in the row of a printed table."""
    (line,) = re.findall(rf"^ *{re.escape(row)}  +(.*)$", printed, re.M)
    return [float(each) for each in re.findall(r"\d+(?:\.\d+)?", line)]


def test_demo_leaves_table_model_pages_and_picture(demo):
    folder, printed = demo
    names = ["biopsies.csv", "biopsies.unskew", "index.html", "overview.png", "report.html"]
    assert sorted(each.name for each in folder.iterdir()) == names
    assert f"Page: {folder / 'index.html'}" in printed
    assert f"Report: {folder / 'report.html'}" in printed
    assert (folder / "overview.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "row", ["AUC of auto", "AUC of logistic regression", "malignant in the top 30 %, auto", "malignant in all rows"]
)
def test_the_interval_has_the_truth_in_it(row, demo):
    value, low, high, true = numbers(demo[1], row)
    assert low < value < high
    assert low <= true <= high


def test_auto_is_ahead_of_what_people_usually_do(demo):
    assert numbers(demo[1], "AUC of auto")[3] > numbers(demo[1], "AUC of logistic regression")[3] + 0.01
    ours, plain = map(int, re.findall(r"review (\d+) rows .* or (\d+) in", demo[1])[0])
    assert ours < plain


def test_the_first_rows_are_unlabeled_and_their_truth_is_that_of_the_table(demo):
    folder, printed = demo
    table = pl.read_csv(folder / "biopsies.csv")
    assert len(table) == 569
    rows = dict(re.findall(r"^ *(B\d{3}) .* (malignant|benign) *$", printed, re.M))
    assert len(rows) == 10
    for name, truth in rows.items():
        row = table.row(by_predicate=pl.col("case") == name, named=True)
        assert row["known"] == 0
        assert truth == ("benign", "malignant")[row["malignant"]]
    assert table["malignant"].mean() == pytest.approx(numbers(printed, "malignant in all rows")[3] / 100, abs=0.005)


class Addresses(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found += [value for name, value in attributes if name in ("src", "href", "xlink:href", "action")]


def test_the_page_has_every_printed_number_and_fetches_nothing(demo):
    folder, printed = demo
    page = (folder / "index.html").read_text().replace("\N{NO-BREAK SPACE}", " ")
    for figure in re.findall(r"\d\.\d{3} to \d\.\d{3}|\d+ % to \d+ %|review \d+ rows|B\d{3}", printed):
        assert figure in page
    addresses = Addresses(page).found
    assert [each for each in addresses if not each.startswith(("#", "data:"))] == ["report.html"]
    assert not re.search(r"url\((?!#|data:)", page)


def test_a_browser_shows_the_page_without_complaint(demo, tmp_path):
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium here: the page is not shown in a browser")
    with Browser(program, tmp_path / "profile") as browser:
        browser.open(demo[0] / "index.html")
        assert browser.complaints == []
        assert browser.run("document.querySelectorAll('.rows > li').length") == 10


def test_rows_to_find():
    score, truth = np.array([5, 4, 3, 2, 1]), np.array([1, 0, 1, 1, 0])
    assert [rows_to_find(share, score, truth) for share in (0.01, 1 / 3, 0.34, 1.0)] == [1, 1, 3, 4]
