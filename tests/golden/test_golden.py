"""Nothing that a user gets has changed: against files that an earlier state of the library wrote.

Wording may change and is not compared: of texts only the numbers are, and names without a space in them. On another
processor, or with other versions of the numerical libraries, numbers are compared only about.
"""

import csv
import json
import re
from collections import Counter
from html.parser import HTMLParser

import make
import pytest

SAME_MACHINE = make.environment() == json.loads((make.HERE / "environment.json").read_text())
SHORTLY_TRAINED = {"rel": 0.02, "abs": 0.05}  # large steps enlarge a last bit, and thresholds jump from row to row
TRAINED = {"rel": 1e-3, "abs": 2e-3}
SCORED = {"rel": 1e-6, "abs": 1e-6}
PASSING = {"seconds", "labeling_seconds", "made", "versions", "machine"}
"""Keys whose values differ from run to run or from machine to machine."""


def golden(name):
    return json.loads((make.HERE / name).read_text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("golden")


@pytest.fixture(scope="module")
def fitted(folder):
    return make.fit(folder)


@pytest.fixture(scope="module")
def compared(folder):
    return make.compare(folder)


@pytest.fixture(scope="module")
def page_numbers(folder, compared):
    """Numbers of each page: as they were, and as they are."""
    old = {name: NumbersOf(make.HERE / f"{name}.html") for name in ("report", "comparison")}
    new = {"report": NumbersOf(make.report(make.MODEL, folder)), "comparison": NumbersOf(compared[0])}
    return {name: (old[name], new[name]) for name in old}


def test_public_names_are_still_there():
    assert set(golden("public_names.json")) <= set(make.public_names())


def test_commands_take_what_they_took():
    now = make.commands()
    for name, then in golden("commands.json").items():
        assert name in now
        assert now[name]["arguments"] == then["arguments"], name
        for option, told in then["options"].items():
            assert now[name]["options"].get(option) == told, (name, option)


def test_every_method_learns_the_same():
    assert_same(golden("methods.json"), make.methods(), SHORTLY_TRAINED)


def test_a_ranker_of_an_old_file_scores_the_same():
    assert_same(golden("toy_scores.json"), make.toy_scores(make.TOY_MODEL), SCORED)


def test_fit_tells_the_same(fitted):
    assert_same(golden("fit.json"), json.loads(fitted[1].read_text()), TRAINED)


def test_fit_makes_the_same_model(fitted, folder):
    assert_same_ranking(make.score(fitted[0], folder), TRAINED)


def test_a_model_of_an_old_file_scores_the_same(folder):
    assert_same_ranking(make.score(make.MODEL, folder), SCORED)


def test_evaluate_tells_the_same(folder):
    now = json.loads(make.evaluate(make.MODEL, folder).read_text())
    assert_same(golden("evaluation.json"), now, SCORED)


def test_compare_tells_the_same(compared):
    assert_same(golden("comparison.json"), json.loads(compared[1].read_text()), TRAINED)


def test_reproduce_gives_the_same_rows(folder):
    now = [{key: value for key, value in row.items() if key not in PASSING} for row in make.reproduce(folder)]
    assert_same(golden("reproduce.json"), now, TRAINED)


@pytest.mark.parametrize("page", ["report", "comparison"])
@pytest.mark.parametrize("kind", ["tables", "prose", "drawing"])
def test_pages_show_the_same_numbers(page_numbers, page, kind):
    then, now = (getattr(numbers, kind) for numbers in page_numbers[page])
    assert then  # else nothing would be compared
    if not SAME_MACHINE:
        assert len(now) == len(then)
    elif kind == "prose":  # a sentence that is put another way may tell its numbers in another order
        assert Counter(now) == Counter(then)
    else:
        assert now == then


@pytest.mark.parametrize("page", ["report", "comparison"])
def test_pages_carry_the_same_data(page_numbers, page):
    then, now = (numbers.data for numbers in page_numbers[page])
    assert then
    assert_same(then, now, TRAINED)


def test_comparison_sees_a_changed_last_digit():
    with pytest.raises(AssertionError):
        assert_same({"a": [1.0]}, {"a": [1.0 + (1e-15 if SAME_MACHINE else 1e-2)]}, TRAINED)
    for then, now in [
        (1, None),
        (True, False),
        ([1], [1, 1]),
        ({"a": 1}, {"b": 1}),
        ("conf-auc", "ntc"),
        ("a b", None),
    ]:
        with pytest.raises(AssertionError):
            assert_same(then, now, TRAINED)
    assert_same({"text": "so many words", "seconds": 1.0}, {"text": "other words", "seconds": 2.0}, TRAINED)


def assert_same(then, now, tolerance, where=""):
    """Compare what JSON can hold, without sentences and without what passes."""
    assert type(now) is type(then), where
    if isinstance(then, dict):
        assert sorted(now) == sorted(then), where
        for key in then.keys() - PASSING:
            assert_same(then[key], now[key], tolerance, f"{where}.{key}")
    elif isinstance(then, list):
        assert len(now) == len(then), where
        for place, (old, new) in enumerate(zip(then, now, strict=True)):
            assert_same(old, new, tolerance, f"{where}[{place}]")
    elif isinstance(then, float) and not SAME_MACHINE:
        assert now == pytest.approx(then, **tolerance), where
    elif isinstance(then, str) and " " in then:
        assert now, where
    else:
        assert now == then, where


def assert_same_ranking(path, tolerance):
    """Compare the columns of the golden list, in whatever order and beside whatever others they are now."""
    then, now = (list(csv.DictReader(each.read_text().splitlines())) for each in (make.HERE / path.name, path))
    now = [{name: row[name] for name in then[0]} for row in now]
    if SAME_MACHINE:
        assert now == then
        return
    assert [row["claim_id"] for row in now] == [row["claim_id"] for row in then]
    scores = [[float(row["score"]) for row in rows] for rows in (now, then)]
    assert scores[0] == pytest.approx(scores[1], **tolerance)


class NumbersOf(HTMLParser):
    """Numbers of a page, without those of dates, versions and durations.

    tables: as shown in tables and charts. prose: as shown elsewhere. drawing: where things are drawn, and values that
    elements carry. data: JSON that the page's scripts read.
    """

    NUMBER = re.compile(r"(?<![\w.])[-−+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")
    PASSING = re.compile(r"\d{4}-\d\d-\d\d|\d+\.\d+\.\d+\S*|\d[\d.]*\s*s(?:ec(?:onds?)?)?\b")
    PLACES = re.compile(r"[xy][12]?|c[xy]|d[xy]?|r|points|width|height|transform|viewbox|style|data-.*")
    CONTROLS = re.compile("min|max|step|value")

    def __init__(self, path):
        super().__init__()
        self.tables, self.prose, self.drawing, self.data = [], [], [], []
        self._open = Counter()  # of the elements whose text is not prose, how many are open
        self._text = ""
        self._script_is_data = False
        self.feed(path.read_text(encoding="utf-8"))
        self.close()

    def handle_starttag(self, tag, attrs):
        self._end_of_text()
        if tag in ("table", "svg", "style", "script", "head"):
            self._open[tag] += 1
        self._script_is_data = tag == "script" and dict(attrs).get("type") == "application/json"
        if not self._open["head"]:
            self._draw(tag, attrs)

    def handle_startendtag(self, tag, attrs):
        self._end_of_text()
        self._draw(tag, attrs)

    def handle_endtag(self, tag):
        self._end_of_text()
        self._open[tag] -= self._open[tag] > 0

    def handle_data(self, data):
        self._text += data

    def _draw(self, tag, attrs):
        for name, value in sorted(attrs):  # in whatever order they are written
            if self.PLACES.fullmatch(name) or (tag == "input" and self.CONTROLS.fullmatch(name)):
                found = re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", value or "")
                self.drawing += [(tag, name, float(each)) for each in found]

    def _end_of_text(self):
        text, self._text = self._text, ""
        if self._open["script"] and self._script_is_data:
            self.data.append(json.loads(text))
        elif not any(self._open[tag] for tag in ("style", "script", "head")):
            shown = self.tables if self._open["table"] or self._open["svg"] else self.prose
            shown += self.NUMBER.findall(self.PASSING.sub(" ", text))
