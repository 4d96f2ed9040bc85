"""The pages: whole in themselves, readable by machines and people, and alive in a real browser."""

import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from chromium import Browser, find_chromium
from unskew.datasets import toy
from unskew.diagnostics import Finding, Shift
from unskew.evidence import Risk, Training, gather_evidence, threshold_table
from unskew.report.comparison_page import Compared, comparison_page, recommend
from unskew.report.interactive import embedded_json
from unskew.report.model_page import ModelCard, model_page
from unskew.report.svg import log_axis, nice_axis

NASTY = "<script>alert(\"1\")</script> & 'co' </style>"
VOID = {"meta", "link", "input", "br", "hr", "img"}


class Page(HTMLParser):
    """A page as its elements, with what they say."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.by_id = [], [], {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        element = {
            "tag": tag,
            "attributes": dict(attributes),
            "text": "",
            "parents": [each["tag"] for each in self.open],
        }
        self.elements.append(element)
        if "id" in element["attributes"]:
            assert element["attributes"]["id"] not in self.by_id
            self.by_id[element["attributes"]["id"]] = element
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open[-1]["tag"] == tag, (tag, self.open[-1])
        self.open.pop()

    def handle_data(self, data):
        for each in self.open:
            each["text"] += data

    def all(self, tag):
        return [each for each in self.elements if each["tag"] == tag]

    def json(self, name):
        return json.loads(self.by_id[name]["text"])

    def value(self, name):
        return float(self.by_id[name]["attributes"]["data-value"])


@pytest.fixture(scope="module")
def evidence():
    data = toy.draw(2500, random_state=0)
    found = gather_evidence(
        y=data.labeled,
        score=data.X @ [1.0, 0.3],
        confidence=data.confidence,
        labeling_prob=data.labeling_prob,
        clip=0.01,
        scenario="one-sample",
        X=data.X,
        feature_names=["first", NASTY],
    )
    history = tuple(Risk(epoch, 1 / (epoch + 1), 1.2 / (epoch + 1)) for epoch in range(400))
    threshold = (None, *(3.0 - 6 * each for each in found.curve.flagged[1:]))
    return replace(
        found,
        curve=replace(found.curve, threshold=threshold),
        score_training=Training(history, 211),
        labeling_training=Training(history[:1], 0),
        findings=(*found.findings, Finding("warning", "planted", f"A {NASTY} of 3 %.", f"Do {NASTY}.")),
        shifts=(
            *found.shifts,
            Shift("opened", 18000.2, 18100.0, 18200.0, -0.4, "date"),
            Shift("b=1", 0.1, 0.2, 0.3, -0.2, "share"),
        ),
    )


@pytest.fixture(scope="module")
def card():
    return ModelCard(
        title=f"Ranking of {NASTY}",
        method="conf-auc",
        method_summary="AUC maximization.",
        parameters={"clip": 0.01, NASTY: NASTY},
        data_facts=[("rows", "2,500"), (NASTY, NASTY)],
        schema=[("first", "numeric", ""), (NASTY, "categorical", NASTY), ("id", "left out", "an identifier")],
        left_out=[("id", "an identifier"), ("a" * 300, NASTY)],
        versions={"unskew": "0.1"},
        made="2030-01-02",
    )


@pytest.fixture(scope="module")
def compared():
    return [
        Compared("conf-auc", "Ours", 0.923, 0.89, 0.951, 0.19, 41.0, 0.931),
        Compared("no-conf", "w/oConf", 0.917, 0.88, 0.94, 0.19, 40.0, 0.928, -0.012, 0.004),
        Compared("ntc", "NTC", 0.91, 0.87, 0.94, 0.19, 9.0, 0.905, -0.02, 0.001),
        Compared("pconf", "Pconf", 0.62, 0.52, 0.71, 0.19, 130.0, 0.6, -0.4, -0.2),
        Compared(NASTY, NASTY, float("nan"), 0.0, 1.0, None, None),
    ]


@pytest.fixture(scope="module")
def pages(evidence, card, compared):
    facts = [("rows", "2,500"), (NASTY, NASTY)]
    return {
        "model": model_page(card, evidence),
        "bare": model_page(card, None),
        "no estimate": model_page(card, replace(evidence, curve=None, estimate=replace(evidence.estimate, auc=None))),
        "two-sample": model_page(
            ModelCard("plain", "ntc"),
            replace(
                evidence,
                scenario="two-sample",
                estimate=replace(evidence.estimate, label_freq=None),
                shifts=(),
                score_training=None,
                labeling_training=None,
            ),
        ),
        "comparison": comparison_page(f"Methods for {NASTY}", facts, compared, recommend(compared), f"Right: {NASTY}"),
        "one method": comparison_page("One", [], compared[:1], recommend(compared[:1])),
    }


KINDS = ["model", "bare", "no estimate", "two-sample", "comparison", "one method"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_whole_in_itself(pages, kind):
    text = pages[kind]
    page = Page(text)
    assert len(page.all("h1")) == 1
    for element in page.elements:
        for name, value in element["attributes"].items():
            if name in ("src", "href", "xlink:href", "action", "srcset", "data", "poster"):
                assert value.startswith(("#", "data:"))
                assert not value.startswith("#") or value[1:] in page.by_id
    # Texts of the user are in the page, too, but not as something that is fetched.
    assert not re.search(r"https?://|url\(|@import|src=.?//", text)
    assert "default-src 'none'" in text
    assert len(text) < 300_000


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_can_be_read_without_seeing_it(pages, kind):
    page = Page(pages[kind])
    assert page.all("html")[0]["attributes"]["lang"] == "en"
    levels = [int(each["tag"][1]) for each in page.elements if re.fullmatch(r"h[1-6]", each["tag"])]
    assert levels[0] == 1
    assert all(later - earlier <= 1 for earlier, later in zip(levels, levels[1:], strict=False))
    assert all(each["attributes"].get("scope") in ("row", "col") for each in page.all("th"))
    assert all(each["attributes"]["role"] == "img" and each["attributes"]["aria-label"] for each in page.all("svg"))
    labels = {each["attributes"]["for"] for each in page.all("label")}
    assert all(each["attributes"]["id"] in labels for each in page.all("input"))
    for element in page.elements:
        for name in ("aria-labelledby", "aria-describedby"):
            assert element["attributes"].get(name, "") in {"", *page.by_id}


@pytest.mark.parametrize("kind", ["model", "bare", "no estimate", "comparison"])
def test_texts_of_the_user_stay_texts(pages, kind):
    text = pages[kind]
    assert "<script>alert" not in text
    assert html.escape(NASTY) in text
    scripts = Page(text).all("script")
    assert all("alert" not in each["text"] or each["attributes"].get("type") for each in scripts)


def test_embedded_data_cannot_leave_their_element():
    nasty = {"a": "</script><!--<script>", "b": "&lt;\u2028", "c": [1.5, None]}
    element = embedded_json(nasty, "x")
    assert "<" not in element[1 : element.rindex("</script>")].replace("</script>", "")
    assert Page(element).json("x") == nasty
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded_json(float("nan"), "x")


def test_numbers_of_the_page_are_those_of_the_evidence(pages, evidence):
    page = Page(pages["model"])
    assert page.json("evidence") == evidence.to_json()
    estimate = evidence.estimate
    assert page.value("auc") == estimate.auc
    assert page.by_id["auc"]["text"] == f"{estimate.auc:.3f}"
    assert (page.value("auc-low"), page.value("auc-high")) == (estimate.low, estimate.high)
    assert page.value("prior") == estimate.prior
    assert page.value("label-freq") == estimate.label_freq
    assert page.value("effective-labeled") == estimate.effective_labeled
    chosen = int(page.by_id["cut"]["attributes"]["value"])
    assert abs(evidence.curve.flagged[chosen] - estimate.prior) < 0.02
    for name, values in (("flagged", "flagged"), ("precision", "precision"), ("recall", "tpr"), ("fpr", "fpr")):
        assert page.value(f"chosen-{name}") == getattr(evidence.curve, values)[chosen]
    cells = [
        float(each["attributes"]["data-value"])
        for each in page.all("span")
        if "table" in each["parents"] and "data-value" in each["attributes"]
    ]
    assert cells == [value for row in threshold_table(evidence) for value in row]
    assert f"in {100 * estimate.auc:.0f} of 100 cases, estimated without a single negative" in pages["model"]


def test_levels_are_told_in_words_and_warnings_come_first(pages, evidence):
    badges = [
        each["text"] for each in Page(pages["model"]).all("span") if "badge" in each["attributes"].get("class", "")
    ]
    assert len(badges) == len(evidence.findings)
    assert badges[0] == "! Warning"
    assert badges[-1] == "\u2713 Good"


def test_shifts_are_told_in_the_unit_of_their_feature(pages):
    text = pages["model"]
    for words in (
        "2019-04-14",
        "early dates are over-represented",
        "under-represented",
        "high values are over-represented",
    ):
        assert words in text


def test_the_bare_page_says_why(pages):
    assert "fitted without confidence, or with too few labels" in pages["bare"]
    assert "not known" in pages["no estimate"]
    assert "no AUC can be told" in pages["no estimate"]
    left_out = [each["text"] for each in Page(pages["bare"]).all("th")]
    assert left_out.count("id") == 1


def test_an_estimate_at_the_top_of_its_scale_is_not_called_a_perfect_ranking(card, evidence, pages):
    top = replace(evidence, estimate=replace(evidence.estimate, auc=1.0, high=1.0))
    page = model_page(card, top)
    assert "came out at the top of its scale, or above" in page
    assert "in all cases" not in page
    assert "came out at the top" not in pages["model"]


def test_recommendation(compared):
    name, reason = recommend(compared)
    assert name == "conf-auc"
    assert reason == (
        "conf-auc has the highest AUC estimated without negatives, 0.923. These data cannot tell no-conf and ntc from "
        "it; ntc is quicker (9.0 s instead of 41 s)."
    )
    assert recommend(compared[:1])[1].endswith("nothing else was compared.")
    below = "below it by more than chance explains."
    assert recommend([compared[3], compared[0]])[1].endswith(f"the other method is {below}")
    assert recommend([compared[3], compared[0], compared[3]])[1].endswith(f"each of the 2 others is {below}")
    assert "no harm that can be seen" in recommend(compared[:2])[1]
    assert "No method's AUC can be told: confidence and labeling" in recommend(compared[4:])[1]
    tied = [replace(compared[1], auc=0.923), compared[0]]
    assert recommend(tied)[0] == "conf-auc"
    with pytest.raises(ValueError, match="none was compared"):
        recommend([])


@pytest.mark.parametrize(
    ("low", "auc", "named", "why"),
    [
        (0.013, 0.98, "ntc", "its interval, 0.013 to 1.000, contains 0.5, which is chance"),
        (0.97, 1.0, "ntc", "lies at the very end of what an AUC can be"),
        (0.013, 0.98, "conf-auc", "its interval, 0.013 to 1.000, contains 0.5, which is chance"),
    ],
)
def test_few_labels_tell_no_method_from_another(low, auc, named, why):
    """However far below the others are: an interval like that, or an estimate cut off at 1, is worth nothing."""
    best, other = Compared("ntc", "NTC", auc, low, 1.0, 0.2, 9.0), Compared("conf-auc", "Ours", 0.6, 0.2, 0.9, 0.2, 1.0)
    reference = {"ntc": (best, other), "conf-auc": (other, best)}[named]
    name, reason = recommend([reference[0], replace(reference[1], difference_low=-0.5, difference_high=-0.1)])
    assert name == named
    assert why in reason
    assert "the labels are too few to tell which method is best." in reason
    assert ("conf-auc assumes the least" in reason) == (named != "ntc")
    assert "too few to tell how good it is" in recommend([best])[1]
    assert "chance explains" not in reason


def test_what_cannot_be_told_is_no_number_on_the_page(compared):
    none = [
        replace(each, auc=float("nan"), low=0.0, high=1.0, prior=1.0, difference_low=low, difference_high=high)
        for each, low, high in ((compared[0], None, None), (compared[1], -1.0, 1.0))
    ]
    text = comparison_page("None", [], none, recommend(none))
    row = text[text.index('data-method="no-conf"') :].split("</tr>")[0]
    assert "100" not in row
    assert "1.000" not in row
    assert row.count("not known") == 3


def test_epochs_are_counted_from_one(evidence, card):
    history = tuple(Risk(epoch, 1.0 - 0.1 * epoch, 1.0 - 0.1 * epoch) for epoch in range(5))
    text = model_page(card, replace(evidence, score_training=Training(history, 4), labeling_training=None))
    assert "Epoch 5 was kept, of 5 trained." in text
    assert "epoch 5 kept" in text


def test_no_threshold_is_shown_that_the_page_calls_chance(pages, evidence, card):
    few = replace(evidence, n_ranked=400)  # a hundredth of them are four rows
    page = Page(model_page(card, few))
    rows = [
        int(page.elements[place + 1]["text"])
        for place, each in enumerate(page.elements)
        if each["tag"] == "span" and each["parents"][-1] == "th" and "tbody" in each["parents"]
    ]
    assert rows
    assert min(rows) >= 10


def test_comparison_page_holds_its_numbers(pages, compared):
    page = Page(pages["comparison"])
    content = page.json("comparison")
    assert content["recommended"] == "conf-auc" == page.by_id["recommended"]["text"]
    assert [each["name"] for each in content["compared"]] == [each.name for each in compared]
    assert content["compared"][-1]["auc"] is None
    values = [
        float(each["attributes"]["data-value"]) for each in page.all("span") if "data-value" in each["attributes"]
    ]
    assert {each.auc for each in compared[:4]} | {each.true_auc for each in compared[:4]} <= set(values)


@pytest.mark.parametrize(("low", "high"), [(0, 47), (0, 1), (-0.31, 0.02), (0, 1e-7), (3, 3), (0, 123456)])
def test_ticks_enclose_the_values_and_are_few(low, high):
    ticks = nice_axis(low, high, "").ticks
    assert ticks[0] <= low
    assert ticks[-1] >= high
    assert 2 <= len(ticks) <= 8


def test_ticks_of_logarithmic_axes():
    assert list(log_axis(0.15, 30, "").ticks) == pytest.approx([0.2, 0.5, 1, 2, 5, 10, 20])
    assert list(log_axis(0.05, 500, "").ticks) == pytest.approx([0.1, 1, 10, 100])
    assert len(log_axis(2.85, 3.15, "").ticks) >= 2


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium here: the pages are not driven in a browser")
    with Browser(program, tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def files(pages, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for kind, text in pages.items():
        (folder / f"{kind}.html").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_browser_loads_the_page_without_complaint_or_request(browser, files, kind):
    browser.show_as(1200)
    browser.open(files / f"{kind}.html")
    assert browser.requests == [(files / f"{kind}.html").resolve().as_uri()]
    assert browser.complaints == []


ROW = """(() => {
  const read = (name) => Number(document.getElementById("chosen-" + name).dataset.value);
  const dot = document.querySelector("#roc .chosen");
  return {
    flagged: read("flagged"), rows: read("rows"), precision: read("precision"), recall: read("recall"),
    fpr: read("fpr"), score: read("score"), text: document.getElementById("chosen").innerText,
    said: document.getElementById("cut").getAttribute("aria-valuetext"),
    dot: [Number(dot.getAttribute("cx")), Number(dot.getAttribute("cy"))],
  };
})()"""
MOVE = """(() => {
  const slider = document.getElementById("cut");
  slider.value = %d;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
})()"""


def test_browser_slider_changes_the_row_to_the_numbers_of_the_evidence(browser, files, evidence):
    browser.open(files / "model.html")
    assert browser.run("document.getElementById('control').hidden") is False
    assert float(browser.run("document.getElementById('auc').dataset.value")) == evidence.estimate.auc
    assert browser.run("JSON.parse(document.getElementById('evidence').textContent)") == evidence.to_json()
    before = browser.run(ROW)
    curve = evidence.curve
    first = int(browser.run("document.getElementById('cut').min"))
    assert curve.flagged[first] * evidence.n_ranked >= 10
    for place in (first, first + 20, len(curve.flagged) - 1):
        browser.run(MOVE % place)
        row = browser.run(ROW)
        assert row["flagged"] == curve.flagged[place]
        assert row["rows"] == round(curve.flagged[place] * evidence.n_ranked)
        assert (row["precision"], row["recall"], row["fpr"]) == (
            curve.precision[place],
            curve.tpr[place],
            curve.fpr[place],
        )
        assert row["score"] == pytest.approx(curve.threshold[place])
        assert row["text"] != before["text"]
        assert "flagged, precision" in row["said"]
        # The mark lies on the curve: 0 at the left and bottom of the plot, 1 at the right and top.
        assert row["dot"][0] == pytest.approx(70 + (420 - 24 - 70) * curve.fpr[place])
        assert row["dot"][1] == pytest.approx(252 - (252 - 14) * curve.tpr[place])
    assert browser.complaints == []


def test_browser_first_row_is_the_static_one(browser, files, pages):
    static = Page(pages["model"])
    browser.open(files / "model.html")
    for name in ("flagged", "rows", "precision", "recall", "fpr", "score"):
        element = static.by_id[f"chosen-{name}"]
        assert browser.run(f"document.getElementById('chosen-{name}').textContent") == element["text"]
        assert static.value(f"chosen-{name}") == float(
            browser.run(f"document.getElementById('chosen-{name}').dataset.value")
        )


def test_browser_shows_values_under_the_pointer_and_a_click_cuts_there(browser, files):
    browser.show_as(1200)
    browser.open(files / "model.html")
    box = browser.run(
        "(() => { const chart = document.getElementById('precision-recall'); chart.scrollIntoView({block: 'center'});"
        " const box = chart.getBoundingClientRect(); return [box.left, box.top, box.width, box.height]; })()"
    )
    x, y = round(box[0] + 0.5 * box[2]), round(box[1] + 0.3 * box[3])
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    tip = browser.run("[...document.querySelectorAll('.tip')].filter((tip) => !tip.hidden).map((tip) => tip.innerText)")
    assert len(tip) == 1
    assert re.fullmatch(r"flagged .*\nprecision .*\nrecall .*\nfalse positives .*", tip[0])
    before = browser.run(ROW)
    for kind in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    after = browser.run(ROW)
    assert after["recall"] != before["recall"]
    shown = tip[0].splitlines()[2].removeprefix("recall ")
    assert browser.run("document.getElementById('chosen-recall').textContent") == shown


def test_browser_arrow_keys_move_the_slider(browser, files):
    browser.open(files / "model.html")
    browser.run("document.getElementById('cut').focus()")
    before = browser.run(ROW)
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="ArrowRight", code="ArrowRight", windowsVirtualKeyCode=39)
    assert browser.run(ROW)["flagged"] > before["flagged"]


def test_browser_without_scripts_shows_the_same_without_the_slider(browser, files, evidence):
    browser.open(files / "model.html", scripts=False)
    try:
        hidden = browser.call("DOM.getDocument", depth=0)["root"]["nodeId"]
        control = browser.call("DOM.querySelector", nodeId=hidden, selector="#control")["nodeId"]
        assert "hidden" in browser.call("DOM.getAttributes", nodeId=control)["attributes"]
        row = browser.call("DOM.querySelector", nodeId=hidden, selector="#chosen-precision")["nodeId"]
        assert "data-value" in browser.call("DOM.getAttributes", nodeId=row)["attributes"]
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [320, 390, 1200])
def test_browser_page_itself_never_scrolls_sideways(browser, files, kind, width):
    browser.show_as(width, mobile=width < 500)
    browser.open(files / f"{kind}.html")
    assert browser.run("document.documentElement.scrollWidth") <= width
    wide = browser.run(
        """[...document.querySelectorAll("main *")]
        .filter((each) => !each.closest(".scroll, svg, [hidden]"))
        .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
        .map((each) => each.outerHTML.slice(0, 80))"""
    )
    assert wide == []


CONTRAST = """(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const part = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = channels(getComputedStyle(each).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const element of document.querySelectorAll("body *")) {
    const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!text || element.closest("script, title, [hidden]")) continue;
    const style = getComputedStyle(element);
    const front = light(channels(element.closest("svg") ? style.fill : style.color));
    const back = light(behind(element));
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    if (ratio < 4.5) poor.push([ratio, element.outerHTML.slice(0, 80)]);
  }
  return poor;
})()"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("kind", ["model", "comparison"])
def test_browser_text_stands_out_from_its_background(browser, files, kind, dark):
    browser.show_as(1200, dark=dark)
    browser.open(files / f"{kind}.html")
    background = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(13, 17, 23)") == dark
    assert browser.run(CONTRAST) == []
