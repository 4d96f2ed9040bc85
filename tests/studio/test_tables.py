"""Adding a table, and saying what its columns are: the same messages as on the command line, and nothing is lost."""

import re
from concurrent.futures import ThreadPoolExecutor
from html import unescape

import httpx
import polars as pl
import pytest

from made_up_claims import write_claims
from program import run_program
from studio_visits import Visitor, make_site, serving, visiting
from unskew.studio.choices import METHODS
from unskew.studio.pages.start import EXAMPLES


@pytest.fixture
def visitor(tmp_path):
    with visiting(tmp_path / "studio") as found:
        yield found


def text_of(page):
    """What a page says, without its marks."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", page.text))).replace("\N{NO-BREAK SPACE}", " ")


def uses_of(page):
    """What each column of the page is used for."""
    names = re.findall(r'<li data-column="([^"]*)"', page.text)
    chosen = re.findall(r'<select name="use-\d+".*?value="(\w+)" selected', page.text, re.DOTALL)
    return dict(zip(names, chosen, strict=True))


def kinds_of(page):
    """What each column of the page is taken for."""
    names = re.findall(r'<li data-column="([^"]*)"', page.text)
    return dict(zip(names, re.findall(r"<p><strong>([^<]*)</strong>", page.text), strict=True))


def choose(visitor, table, revision=0, then="save", **uses):
    """Send the form of the columns."""
    page = visitor.get(f"{table}/columns")
    fields = {f"use-{place}": use for place, use in enumerate((uses_of(page) | uses).values())}
    return visitor.post(f"{table}/columns", {"revision": revision, "method": "conf-reg", "then": then, **fields})


def test_columns_of_an_uploaded_table_are_shown_and_guessed(visitor):
    page = visitor.get(f"{visitor.add()}/columns")
    assert kinds_of(page) == {
        "id": "left out", "amount": "number", "zip": "number", "channel": "category", "known": "number",
        "sure": "number", "fraud": "number",
    }  # fmt: skip
    assert uses_of(page) == {
        "id": "name", "amount": "automatic", "zip": "automatic", "channel": "automatic", "known": "label",
        "sure": "confidence", "fraud": "automatic",
    }  # fmt: skip
    assert "for example C-0001, C-0002, C-0003" in text_of(page)


def test_names_in_any_script_are_kept(visitor):
    assert "Kürbis 南瓜.csv" in text_of(visitor.get(f"{visitor.add('Kürbis 南瓜.csv')}/columns"))


def test_nobody_else_can_look_into_a_new_folder(visitor, tmp_path):
    assert (tmp_path / "studio").stat().st_mode & 0o077 == 0


def test_a_table_of_parquet_is_read_as_well(visitor, tmp_path):
    pl.read_csv(write_claims()).write_parquet(tmp_path / "claims.parquet")
    table = visitor.add("claims.parquet", (tmp_path / "claims.parquet").read_bytes())
    assert uses_of(visitor.get(f"{table}/columns"))["known"] == "label"


def test_a_column_can_be_corrected(visitor):
    table = visitor.add()
    answer = choose(visitor, table, zip="categorical", fraud="unused")
    assert answer.headers["location"] == f"{table}/columns?saved=1"
    page = visitor.get(answer.headers["location"])
    assert kinds_of(page)["zip"] == "category"
    assert uses_of(page)["fraud"] == "unused"
    assert "Saved." in text_of(page)


def test_a_correction_that_cannot_be_is_refused_with_what_was_sent(visitor):
    table = visitor.add()
    page = choose(visitor, table, channel="numeric", fraud="unused")
    assert page.status_code == 422
    assert 'claims.csv: column "channel" is numeric: every value must be a number or missing, but 200' in text_of(page)
    assert uses_of(page)["channel"] == "numeric"
    assert uses_of(visitor.get(f"{table}/columns"))["channel"] == "automatic"


def test_training_needs_one_label(visitor):
    table = visitor.add()
    page = choose(visitor, table, then="train", fraud="label")
    assert page.status_code == 422
    assert 'exactly one column can be the label: known positives, but "known", "fraud" are' in text_of(page)
    page = choose(visitor, table, revision=1, then="train", fraud="unused", known="unused")
    assert "one column must be the label: known positives, but none is" in text_of(page)


def test_older_choices_of_another_tab_do_not_overwrite_newer_ones(visitor):
    table = visitor.add()
    assert choose(visitor, table, revision=0, fraud="unused").status_code == 303
    page = choose(visitor, table, revision=0, fraud="categorical")
    assert page.status_code == 409
    assert "changed in another tab" in text_of(page)
    assert uses_of(page)["fraud"] == "unused"


WRONG = {
    "empty.csv": b"",
    "header.csv": b"a,b\n",
    "ragged.csv": b"a,b\n1,2\n3\n",
    "twice.csv": b"a,a\n1,2\n",
    "picture.csv": b"%PDF-1.4",
    "excel.csv": b"PK\x03\x04rest",
    "cut.parquet": b"PAR1 and no more",
    "bytes.csv": b"a,b\n\xff\xfe\x00,2\n",
    "infinite.csv": b"a,b\ninf,0\n1,1\n2,1\n3,0\n",
    "constant.csv": b"a,b\n1,2\n1,2\n",
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files_give_the_messages_of_the_command_line(visitor, tmp_path, name):
    (tmp_path / name).write_bytes(WRONG[name])
    said = run_program("fit", tmp_path / name, "--label", "b", cwd=tmp_path).stderr
    page = visitor.upload(name, WRONG[name])
    assert page.status_code == 422
    told = re.search(r'role="alert">(.*?)</p>', page.text, re.DOTALL)[1]
    told = unescape(re.sub(r"<[^>]+>", "", told)).replace("\N{NO-BREAK SPACE}", " ")
    assert told.startswith(f"{name}: ")
    if name != "constant.csv":  # without a label, one column more might be a feature
        assert said.replace(f"{tmp_path}/", "") == f"error: {told}\n"
    assert not list((tmp_path / "studio" / "tables").iterdir())
    assert not list((tmp_path / "studio" / "uploads").iterdir())


def test_other_endings_are_refused(visitor):
    page = visitor.upload("notes.docx", b"a,b\n1,2\n")
    assert page.status_code == 422
    assert "a table must be a CSV or Parquet file, whose name ends in .csv" in text_of(page)


@pytest.mark.parametrize("fields", [{}, {"other": "x"}])
def test_a_form_without_a_file_is_told(visitor, fields):
    answer = visitor.post("/tables", fields)
    assert answer.status_code == 422
    assert "choose the file again" in text_of(answer)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_come_with_their_columns(visitor, name):
    answer = visitor.post("/examples", {"name": name})
    uses = uses_of(visitor.get(answer.headers["location"]))
    assert {use: [each for each in uses if uses[each] == use] for use in EXAMPLES[name][1]} == EXAMPLES[name][1]


def test_names_of_columns_cannot_add_marks_to_the_page(visitor):
    table = visitor.add("a.csv", b'<script>alert(1)</script>,"x"" onfocus=""alert(1)",b\n1,u,2\n2,v,3\n1,u,2\n')
    page = visitor.get(f"{table}/columns").text
    assert "<script>alert" not in page
    assert '" onfocus=' not in page


def test_deleting_a_table_removes_all_of_it(visitor, tmp_path):
    table = visitor.add()
    assert visitor.post(f"{table}/delete").headers["location"] == "/"
    assert visitor.get(table).status_code == 404
    assert not list((tmp_path / "studio" / "tables").iterdir())


def test_one_studio_at_a_time_has_a_folder(visitor, tmp_path):
    with pytest.raises(BlockingIOError, match="must be used by one studio at a time"):
        make_site(tmp_path / "studio")


def test_what_a_killed_studio_left_half_done_is_removed(tmp_path):
    (tmp_path / "studio" / "uploads").mkdir(parents=True)
    (tmp_path / "studio" / "uploads" / "tmp123").write_bytes(b"half")
    (tmp_path / "studio" / "tables" / ".new-0123").mkdir(parents=True)
    make_site(tmp_path / "studio").store.close()
    assert not list((tmp_path / "studio" / "uploads").iterdir())
    assert not list((tmp_path / "studio" / "tables").iterdir())


def test_methods_of_the_page_exist():
    import unskew

    assert set(METHODS) <= set(unskew.methods())


def test_many_requests_and_uploads_at_once_lose_nothing(tmp_path):
    claims = write_claims()
    with serving(tmp_path / "studio") as (_, address):
        base, token = address.split("/?token=")
        with httpx.Client(base_url=base, timeout=60, limits=httpx.Limits(max_connections=220)) as client:
            visitor = Visitor(client, token)
            table = visitor.add()
            with ThreadPoolExecutor(220) as pool:
                marked = [
                    pool.submit(visitor.post, f"{table}/marks", {"row": row, "answer": "positive", "confidence": "0.5"})
                    for row in range(1, 201)
                ]
                uploads = [pool.submit(visitor.upload, f"claims {number}.csv", claims) for number in range(20)]
                answers = [each.result().status_code for each in marked + uploads]
            assert answers == [303] * 220
            page = visitor.get("/").text
    assert len(re.findall(r"claims \d+\.csv</bdi>", page)) == 20
    site = make_site(tmp_path / "studio")
    marks = site.store.table(table.rpartition("/")[2]).marks
    site.store.close()
    assert sorted(marks) == list(range(1, 201))
    folder = tmp_path / "studio" / "tables"
    assert all(each.read_bytes() == claims for each in folder.glob("*/data/*.csv"))
    assert len(list(folder.iterdir())) == 21
