"""The whole way in a real browser: from a file to a second training, with no complaint and no request to elsewhere."""

import re

import polars as pl
import pytest

from chromium import Browser, find_chromium
from made_up_claims import write_claims
from studio_visits import TOKEN, AtOnce, studio_thread
from unskew.studio.tasks import Tasks

WIDE, NARROW = 1280, 390


class Switched(AtOnce):
    """Does tasks at once, or in processes of their own while `apart` is set."""

    apart = False

    def _launch(self, folder):
        (Tasks if self.apart else AtOnce)._launch(self, folder)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium here: the studio is not driven in a browser")
    with Browser(program, tmp_path_factory.mktemp("profile")) as running:
        running.show_as(WIDE)
        yield running


@pytest.fixture
def claims(tmp_path):
    (tmp_path / "claims.csv").write_bytes(write_claims())
    return tmp_path / "claims.csv"


def open_studio(browser, client):
    """Open the address that a studio printed."""
    base = str(client.base_url).rstrip("/")
    browser.visit(f"{base}/?token={TOKEN}")
    browser.wait_for("location.pathname === '/' && !location.search && document.querySelector('[data-drop]')")
    return base


def click(browser, words, within="document"):
    """Click the button or link with these words."""
    browser.run(
        f"[...{within}.querySelectorAll('button, a')].find((each) => each.textContent.trim() === {words!r}).click()"
    )


def use_as(browser, column, use):
    browser.run(f"document.querySelector('[data-column=\"{column}\"] select').value = {use!r}")


def heading(browser, words):
    browser.wait_for(f"document.querySelector('h1').textContent === {words!r} && document.readyState === 'complete'")


def text(browser):
    return re.sub(r"\s+", " ", browser.run("document.body.innerText")).replace("\N{NO-BREAK SPACE}", " ")


def rows(browser):
    """Numbers of the rows on the page."""
    return browser.run("[...document.querySelectorAll('[data-row]')].map((each) => Number(each.dataset.row))")


def mark(browser, row, words, confidence=""):
    """Mark a row, and wait until that is kept."""
    browser.run(f"document.querySelector('#row-{row} [name=confidence]').value = {confidence!r}")
    click(browser, words, f"document.querySelector('#row-{row}')")
    browser.wait_for(f"document.querySelector('#row-{row} .said').textContent")
    return browser.run(f"document.querySelector('#row-{row} .said').textContent")


def test_the_whole_way(browser, claims, tmp_path):
    fraud, tasks = pl.read_csv(claims)["fraud"], Switched()
    browser.requests, browser.complaints = [], []
    with studio_thread(tmp_path / "studio", tasks=tasks) as client:
        bases = [open_studio(browser, client)]

        # add a file, correct a column
        browser.choose_file("#file", claims)
        click(browser, "Add it")
        heading(browser, "What is in each column?")
        table = browser.run("location.pathname").removesuffix("/columns")
        assert "zip number: from 100 to 105" in text(browser)
        use_as(browser, "zip", "categorical")
        use_as(browser, "fraud", "unused")
        click(browser, "Save without training")
        browser.wait_for("location.search === '?saved=1'")
        assert "zip category: 6 categories" in text(browser)

        # train, look on, stop
        tasks.apart = True
        click(browser, "Train")
        heading(browser, "Training")
        first = browser.run("document.querySelector('[data-doing]').textContent")
        browser.wait_for(f"document.querySelector('[data-doing]').textContent !== {first!r}")
        click(browser, "Stop")
        browser.wait_for("document.body.innerText.includes('Stopped on request')")
        click(browser, "Back to the columns")
        heading(browser, "What is in each column?")

        # train quickly
        tasks.apart = False
        browser.run("document.querySelector('[name=method]').value = 'conf-reg'")
        click(browser, "Train")
        heading(browser, "What was found")
        assert "Of 200 rows of claims.csv" in text(browser)

        # the report is a page of its own, under its own rules
        report = browser.run("document.querySelector('a[href$=\"/report\"]').href")
        browser.visit(report)
        assert browser.run("document.getElementById('control').hidden") is False  # its script runs
        browser.visit(f"{bases[0]}{table}/result")

        # the list: search, reasons, marks
        click(browser, "See the ranked list")
        heading(browser, "Which rows to look at first")
        assert browser.run("document.querySelectorAll('#rows .reasons li').length") > 50
        best = rows(browser)
        browser.run("document.querySelector('[name=search]').value = 'C-000'")
        click(browser, "Show")
        browser.wait_for("location.search.includes('C-000')")
        assert set(rows(browser)) <= set(range(1, 10))
        browser.visit(f"{bases[0]}{table}/list")
        assert mark(browser, best[0], "Positive", "0.9") == "kept"
        assert browser.run(f"document.querySelector('#row-{best[0]} [value=positive]').ariaPressed") == "true"
        assert "1 row checked, 1 positive, 0 not positive." in text(browser)
        assert mark(browser, best[1], "Not positive") == "kept"

        # two tabs: older choices do not overwrite newer ones, and marks of both are kept
        tab = browser._session
        other = browser.new_tab()
        browser.visit(f"{bases[0]}{table}/list")
        assert mark(browser, best[2], "Positive", "0.7") == "kept"
        browser.visit(f"{bases[0]}{table}/columns")
        browser.use_tab(tab)
        assert mark(browser, best[3], "Not positive") == "kept"
        assert "4 rows checked, 2 positive, 2 not positive." in text(browser)
        browser.visit(f"{bases[0]}{table}/columns")
        click(browser, "Save without training")
        browser.wait_for("location.search === '?saved=1'")
        browser.use_tab(other)
        assert browser.complaints == []
        click(browser, "Save without training")
        browser.wait_for("document.body.innerText.includes('changed in another tab')")
        assert ["409" in each for each in browser.complaints] == [True]  # browsers note answers that are errors
        browser.complaints.clear()
        browser.use_tab(tab)

        # what to label next, and an audit
        browser.visit(f"{bases[0]}{table}/suggest")
        browser.run("document.querySelector('[name=rows]').value = 5")
        click(browser, "Choose rows")
        browser.wait_for("document.querySelectorAll('[data-row]').length === 5")
        assert not set(rows(browser)) & set(best[:4])
        browser.visit(f"{bases[0]}{table}/audit")
        browser.run("document.querySelector('[name=rows]').value = 12")
        click(browser, "Draw them")
        browser.wait_for("document.querySelectorAll('[data-row]').length === 12")
        for row in rows(browser):
            mark(browser, row, "Positive" if fraud[row - 1] else "Not positive", "0.8")
        browser.wait_for("!document.querySelector('[data-needs-all]').disabled")
        click(browser, "Say how good the model is")
        browser.wait_for("document.getElementById('calibration')")
        assert "12 rows of 200 checked" in text(browser)

        # train again with what was checked
        browser.visit(f"{bases[0]}{table}/result")
        click(browser, "Train again with the checked rows")
        browser.wait_for("document.body.innerText.includes('Training 6')")
        assert "with 14 checked rows" in text(browser)

    # start it again: a new address, and everything is there
    with studio_thread(tmp_path / "studio", tasks=AtOnce()) as client:
        bases.append(open_studio(browser, client))
        assert "claims.csv" in text(browser)
        browser.visit(f"{bases[1]}{table}/audit?model=2")
        assert "12 rows of 200 checked" in text(browser)
    assert browser.complaints == []
    assert {re.match(r"data:|http://127\.0\.0\.1:\d+", each)[0] for each in browser.requests} <= {"data:", *bases}


@pytest.fixture(scope="module")
def trained(browser, tmp_path_factory):
    """A studio with a model, rows to label and rows of an audit; gives the addresses of its pages."""
    with studio_thread(tmp_path_factory.mktemp("pages") / "studio", tasks=AtOnce()) as client:
        base = open_studio(browser, client)
        (tmp_path_factory.getbasetemp() / "claims.csv").write_bytes(write_claims())
        browser.choose_file("#file", tmp_path_factory.getbasetemp() / "claims.csv")
        click(browser, "Add it")
        heading(browser, "What is in each column?")
        use_as(browser, "fraud", "unused")
        browser.run("document.querySelector('[name=method]').value = 'conf-reg'")
        click(browser, "Train")
        heading(browser, "What was found")
        table = base + browser.run("location.pathname").removesuffix("/result")
        for page, button in (("suggest", "Choose rows"), ("audit", "Draw them")):
            browser.visit(f"{table}/{page}")
            click(browser, button)
            browser.wait_for("document.querySelectorAll('[data-row]').length > 5")
        yield {"start": base, **{each: f"{table}/{each}" for each in ("columns", "result", "list", "suggest", "audit")}}


DROP = """((name, content) => {
  const carried = new DataTransfer();
  carried.items.add(new File([content], name));
  document.querySelector("[data-drop]").dispatchEvent(new DragEvent("drop", { dataTransfer: carried, bubbles: true }));
})"""


def test_a_file_can_be_dropped_unless_it_is_too_large(browser, trained):
    browser.visit(trained["start"])
    browser.run(f"{DROP}('large.csv', 'x'.repeat({2 << 20}))")
    assert browser.run("document.querySelector('[data-too-large]').hidden") is False
    browser.run(f"{DROP}('dropped.csv', 'a,b\\n1,2\\n2,1\\n')")
    heading(browser, "What is in each column?")
    assert "dropped.csv" in text(browser)


PAGES = ("start", "columns", "result", "list", "suggest", "audit")
WITHOUT_A_NAME = """[...document.querySelectorAll("input:not([type=hidden]), select, button, a, progress")].filter(
  (each) => !(each.labels && each.labels.length) && !each.textContent.trim() && !each.getAttribute("aria-label")
    && !each.getAttribute("aria-labelledby")).map((each) => each.outerHTML)"""
OUT_OF_SIGHT = """[...document.querySelectorAll("main *")].filter((each) => {
  const box = each.getBoundingClientRect();
  return box.width && box.right > innerWidth + 1 && !each.closest(".scroll") && !each.closest(".unseen");
}).map((each) => each.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(("width", "dark"), [(WIDE, False), (NARROW, True)])
def test_nothing_is_cut_off_and_everything_has_a_name(browser, trained, page, width, dark):
    browser.show_as(width, dark=dark, mobile=width == NARROW)
    browser.visit(trained[page])
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run(OUT_OF_SIGHT) == []
    assert browser.run(WITHOUT_A_NAME) == []
    assert browser.run("document.querySelectorAll('h1').length") == 1


def test_without_the_script_forms_do_the_same(browser, trained):
    browser.show_as(WIDE)
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.visit(trained["list"])
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    row = rows(browser)[0]
    browser.run(f"document.querySelector('#row-{row} [name=confidence]').value = '0.6'")
    click(browser, "Positive", f"document.querySelector('#row-{row}')")
    browser.wait_for(f"location.hash === '#row-{row}' && document.body.innerText.includes('1 row checked')")


def test_rows_can_be_marked_by_the_keyboard_alone(browser, trained):
    browser.visit(trained["list"])
    row = rows(browser)[1]
    browser.run(f"document.querySelector('#row-{row} [name=confidence]').focus()")
    for key in "0.5":
        browser.call("Input.dispatchKeyEvent", type="char", text=key)
    press(browser, "Tab")
    assert browser.run("document.activeElement.value") == "positive"
    press(browser, "Enter")
    browser.wait_for(f"document.querySelector('#row-{row} .said').textContent === 'kept'")


def press(browser, key):
    """Press a key and let it go."""
    code, said = {"Tab": (9, None), "Enter": (13, "\r")}[key]
    for kind in ("keyDown", "keyUp"):
        more = {"text": said} if said and kind == "keyDown" else {}
        browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **more)


def test_a_wrong_mark_is_told_beside_the_row(browser, trained):
    browser.visit(trained["list"])
    row = rows(browser)[2]
    assert "a positive row must have a confidence" in mark(browser, row, "Positive")
    assert browser.run(f"document.querySelector('#row-{row} [value=positive]').ariaPressed") == "false"
