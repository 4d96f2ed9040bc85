"""The pages in a real browser: no complaint, no request, and controls that show the numbers of the evidence."""

import re

import pytest

from chromium import Browser, find_chromium
from page_samples import KINDS, Page, sample_evidence, sample_pages


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium here: the pages are not driven in a browser")
    with Browser(program, tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for kind, text in sample_pages().items():
        (folder / f"{kind}.html").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def evidence():
    return sample_evidence()


@pytest.mark.parametrize("kind", KINDS)
def test_loads_the_page_without_complaint_or_request(browser, files, kind):
    browser.show_as(1200)
    browser.open(files / f"{kind}.html")
    assert browser.requests == [(files / f"{kind}.html").resolve().as_uri()]
    assert browser.complaints == []


def test_browser_runs_no_script_that_came_into_the_page(browser, files, tmp_path):
    planted = "<script>document.title = 'planted'</script><p onclick=\"document.title = 'clicked'\" id=\"p\">x</p>"
    text = (files / "model.html").read_text(encoding="utf-8").replace("</main>", f"{planted}</main>")
    (tmp_path / "planted.html").write_text(text, encoding="utf-8")
    browser.open(tmp_path / "planted.html")
    browser.run("document.getElementById('p').click()")
    assert browser.run("document.title").startswith("Ranking of")
    assert browser.run("document.getElementById('control').hidden") is False  # our own script ran
    assert len(browser.complaints) == 2


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


def test_slider_changes_the_row_to_the_numbers_of_the_evidence(browser, files, evidence):
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


def test_first_row_is_the_static_one(browser, files):
    static = Page(sample_pages()["model"])
    browser.open(files / "model.html")
    for name in ("flagged", "rows", "precision", "recall", "fpr", "score"):
        element = static.by_id[f"chosen-{name}"]
        assert browser.run(f"document.getElementById('chosen-{name}').textContent") == element["text"]
        assert static.value(f"chosen-{name}") == float(
            browser.run(f"document.getElementById('chosen-{name}').dataset.value")
        )


def test_shows_values_under_the_pointer_and_a_click_cuts_there(browser, files):
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


def test_arrow_keys_move_the_slider(browser, files):
    browser.open(files / "model.html")
    browser.run("document.getElementById('cut').focus()")
    before = browser.run(ROW)
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="ArrowRight", code="ArrowRight", windowsVirtualKeyCode=39)
    assert browser.run(ROW)["flagged"] > before["flagged"]


def test_without_scripts_shows_the_same_without_the_slider(browser, files, evidence):
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
def test_page_itself_never_scrolls_sideways(browser, files, kind, width):
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
def test_text_stands_out_from_its_background(browser, files, kind, dark):
    browser.show_as(1200, dark=dark)
    browser.open(files / f"{kind}.html")
    background = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(13, 17, 23)") == dark
    assert browser.run(CONTRAST) == []
