"""The tour end to end on a small story, its page, and the command's manners."""

import itertools
import re
import sys
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from chromium import Browser, find_chromium
from program import run_program
from unskew._support.pictures import new_figure
from unskew.cli import app
from unskew.metrics import RankingEstimate
from unskew.practice import tour
from unskew.practice.report.tour_page import _draw_aucs
from unskew.records import Labeled, Split

Quick = {"network": "linear", "learning_rate": 0.02, "max_epochs": 2}


def small(tell):
    def story(seed):
        whole = tell(seed)
        rng = np.random.RandomState(0)

        def fewer(part):
            rows = np.r_[np.flatnonzero(part.y == 1)[:14], rng.choice(np.flatnonzero(part.y == 0), 60, replace=False)]
            return Labeled(part.X[rows], part.y[rows], part.confidence[rows])

        split = Split(fewer(whole.split.train), fewer(whole.split.validation), whole.split.test_X, whole.split.test_y)
        return tour.Story(whole.title, whole.paragraphs, split, whole.prior, whole.label_freq, Quick)

    return story


@pytest.fixture(scope="module")
def small_tour(tmp_path_factory):
    """Folder that the tour made, and what it printed."""
    folder = tmp_path_factory.mktemp("tour") / "new" / "folder"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("toy_story", "digits_story"):
            patch.setattr(tour, name, small(getattr(tour, name)))
        result = CliRunner().invoke(app, ["tour", "--out", str(folder)])
    assert result.exit_code == 0, result.output
    return folder, result.output


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.addresses = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href", "xlink:href", "action")]


def test_browser_loads_the_page_without_complaint(small_tour, tmp_path):
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium here: the page is not shown in a browser")
    with Browser(program, tmp_path / "profile") as browser:
        browser.open(small_tour[0] / "index.html")
        assert browser.complaints == []
        assert browser.run("getComputedStyle(document.querySelector('figure svg path')).strokeLinejoin") == "round"


def test_tour_prints_tables_and_leaves_one_page_that_stands_alone(small_tour):
    folder, printed = small_tour
    columns = ("true", "estimated", "95 % interval")
    rows = ("AUC of conf-auc", "AUC of no-conf", "AUC of ntc", "share of positives", "reliability")
    for word in ("The toy law", "Digits", *columns, *rows):
        assert word in printed
    page = (folder / "index.html").read_text()
    parsed = Page(page)
    assert parsed.tags.count("svg") == 5
    assert "script" not in parsed.tags
    # Only places inside the page itself: nothing is fetched from outside.
    assert all(address.startswith(("#", "data:")) for address in parsed.addresses)
    assert not re.search(r"url\((?!#|data:)", page)
    assert sorted(each.name for each in folder.iterdir()) == ["index.html", "overview.png"]
    # Every figure of the printed table is on the page.
    for figure in re.findall(r"\d\.\d{3} to \d\.\d{3}", printed):
        assert figure in page


@pytest.mark.parametrize(("reliability", "shown"), [(0.9, "0.850"), (0.2, "see interval")])
def test_a_story_of_low_reliability_shows_intervals_only(reliability, shown):
    found = RankingEstimate(0.85, 0.7, 0.92, 0.25, 0.21, 0.3, 0.5, reliability, 0.95, None)
    ranker = SimpleNamespace(name="conf-auc", table_name="Ours")
    result = tour.StoryResult(SimpleNamespace(prior=0.2), {"conf-auc": ranker}, {"conf-auc": 0.9}, {"conf-auc": found})
    aucs, share, last = result.table().rows
    assert aucs == ("AUC of conf-auc (Ours)", "0.900", shown, "0.700 to 0.920")
    assert share[3] == "0.210 to 0.300 (missed)"
    assert last[2] == f"{reliability:.2f} of 1"
    with new_figure(1) as (_, (axes,)):
        _draw_aucs(axes, result)
        dots = [line for line in axes.get_lines() if line.get_marker() == "o"]
    assert len(dots) == (reliability == 0.9)


def test_an_unwritable_folder_is_told_without_a_traceback(tmp_path):
    (tmp_path / "file").write_text("")
    result = run_program("tour", "--out", tmp_path / "file" / "folder")
    assert result.returncode == 2
    assert result.stderr.startswith("error: ")
    assert str(tmp_path / "file" / "folder") in result.stderr
    assert "Traceback" not in result.stderr


def test_missing_matplotlib_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    from unskew._support.pictures import new_figure
    from unskew.errors import MissingExtra

    with pytest.raises(MissingExtra, match=r"pip install 'unskew\[plots\]'"), new_figure(1):
        pass


def test_version():
    result = CliRunner().invoke(app, ["--version"])
    assert result.output.startswith("unskew 0.")


def test_progress_is_silent_off_a_terminal(capsys):
    from unskew._support.progress import progress_bar

    with progress_bar("waiting", 3, shown=True) as step:
        step("note")
    assert capsys.readouterr() == ("", "")


LOWS = [1e-4, 0.0123, 0.5, 0.97, 1.05, 2.1, 4.3]
DECADES = [0, 0.01, 1 / 3, 0.5, 0.8, 1, 1.4, 2, 3, 4.5, 6]
SPANS = list(itertools.product(LOWS, DECADES))


@pytest.mark.parametrize("spans", [SPANS[first : first + 3] for first in range(0, len(SPANS), 3)])
def test_ticks_of_the_weights_are_plain_numbers_apart_from_each_other(spans):
    from unskew._support.pictures import new_figure
    from unskew.practice.report.tour_page import draw_weights

    with new_figure(3) as (figure, panels):  # laying one out takes a while, and each has room for three
        for panel, (low, decades) in zip(panels, spans, strict=False):
            draw_weights(panel, np.geomspace(low, low * 10**decades, 50))
        figure.draw_without_rendering()
    for panel, (_, decades) in zip(panels, spans, strict=False):
        # Those of the minor ticks, too, which matplotlib writes as powers of ten.
        labels = [each for each in panel.xaxis.get_ticklabels(which="both") if each.get_text()]
        assert 2 <= len(labels) <= 8
        assert all(re.fullmatch(r"\d+(\.\d+)?", each.get_text()) for each in labels)
        assert [float(each.get_text()) for each in labels] == pytest.approx(panel.get_xticks(), rel=0.006)
        boxes = [each.get_window_extent() for each in labels]
        assert all(left.x1 + 0.05 * figure.dpi < right.x0 for left, right in itertools.pairwise(boxes))
        if decades >= 1 / 3:
            assert all(len(each.get_text().replace(".", "").strip("0")) <= 2 for each in labels)  # round ones
