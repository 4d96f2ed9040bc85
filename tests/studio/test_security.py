"""Who is refused: without the token, from another page, under another name, with too much, with a way out in a name."""

import pytest

from studio_visits import TOKEN, studio_thread, visiting
from unskew.studio.app import SENT, SHOWN
from unskew.studio.forms import Form, NotOurForm, require_our_form
from unskew.studio.security import form_token

KEY, LIMIT = "0123456789ab", 1 << 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("studio") / "studio"


@pytest.fixture(scope="module")
def visitor(folder):
    with visiting(folder, LIMIT) as found:
        yield found


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    with studio_thread(tmp_path_factory.mktemp("other") / "studio") as found:
        yield found


def cookie_of(client):
    """Name of the cookie that the studio gives to browsers."""
    return f"unskew_studio_{client.base_url.port}"


def all_addresses():
    """Every address that there is, with the way it is asked for."""
    shown = [("GET", path) for path in SHOWN] + [("GET", "/static/page.css"), ("GET", "/nowhere")]
    sent = [("POST", path) for path in SENT] + [("POST", "/tables")]
    return [(way, path.replace("{key}", KEY).replace("{number:int}", "1")) for way, path in shown + sent]


@pytest.mark.parametrize(("way", "path"), all_addresses())
def test_nothing_is_shown_or_changed_without_the_token(stranger, way, path):
    form = None if way == "GET" else {"form_token": form_token(TOKEN)}
    for cookie in ("", f"{cookie_of(stranger)}=guess", f"{cookie_of(stranger)}=", "other=; =;;", f"a={TOKEN}"):
        headers = {"Origin": str(stranger.base_url), "Cookie": cookie}
        answer = stranger.request(way, path, data=form, headers=headers)
        assert answer.status_code == 403
        assert "unskew studio" in answer.text
        assert "form_token" not in answer.text


@pytest.mark.parametrize("token", ["", "guess", TOKEN[:-1], TOKEN + "x", "é"])
def test_a_wrong_token_in_the_address_opens_nothing(stranger, token):
    answer = stranger.get("/", params={"token": token})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_the_cookie_is_strict_and_out_of_reach_of_scripts(stranger):
    answer = stranger.get("/", params={"token": TOKEN})
    cookie = answer.headers["set-cookie"]
    assert answer.status_code == 200
    for part in (f"{cookie_of(stranger)}={TOKEN}", "HttpOnly", "SameSite=strict", "Path=/"):
        assert part in cookie


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://127.0.0.1:1", "http://localhost"])
@pytest.mark.parametrize("path", [*SENT, "/tables"])
def test_forms_from_other_origins_are_refused(visitor, path, origin):
    path = path.replace("{key}", KEY).replace("{number:int}", "1")
    headers = {} if origin is None else {"Origin": origin}
    answer = visitor.client.post(path, data={"form_token": visitor.form_token}, headers=headers)
    assert answer.status_code == 403
    assert "does not come from a page of this studio" in answer.text


@pytest.mark.parametrize("path", list(SENT))
@pytest.mark.parametrize("token", ["", "guess", TOKEN])
def test_forms_without_the_token_of_our_pages_are_refused(visitor, path, token):
    path = path.replace("{key}", KEY).replace("{number:int}", "1")
    answer = visitor.post(path, {"form_token": token})
    assert answer.status_code == 403
    assert "does not come from a page of this studio" in answer.text


def test_an_upload_without_the_token_of_our_pages_leaves_nothing(visitor, folder):
    answer = visitor.client.post(
        "/tables", data={"form_token": "guess"}, files={"file": ("a.csv", b"x\n1\n")}, headers={"Origin": visitor.base}
    )
    assert answer.status_code == 403
    assert not list((folder / "uploads").iterdir())
    assert not list((folder / "tables").iterdir())


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "localhost.:PORT", ""]
)
def test_a_name_that_was_pointed_to_this_machine_is_refused(visitor, host):
    for path in ("/", f"/?token={TOKEN}"):
        answer = visitor.get(path, headers={"Host": host.replace("PORT", str(visitor.client.base_url.port))})
        assert answer.status_code == 421
        assert "set-cookie" not in answer.headers


def test_pages_say_to_browsers_what_they_may_do(visitor):
    for path in ("/", "/static/studio.js", "/nowhere", f"/tables/{KEY}"):
        headers = visitor.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize(
    "name",
    [
        "../evil.csv",
        "..\\evil.csv",
        "/etc/evil.csv",
        "a/b.csv",
        ".hidden.csv",
        "C:evil.csv",
        "nul\0.csv",
        "x" * 200 + ".csv",
    ],
)
def test_a_name_that_leads_out_of_the_folder_is_refused(visitor, folder, name):
    # written by hand, because clients do not send such names
    body = (
        f'--b\r\nContent-Disposition: form-data; name="form_token"\r\n\r\n{visitor.form_token}\r\n'
        f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\nx,y\n1,2\n\r\n--b--\r\n'
    )
    headers = {"Origin": visitor.base, "Content-Type": "multipart/form-data; boundary=b"}
    answer = visitor.client.post("/tables", content=body.encode(), headers=headers)
    assert answer.status_code == 422
    left = [each for each in folder.parent.rglob("*") if each.is_file() and each.name != ".lock"]
    assert not left


@pytest.mark.parametrize("key", ["%2e%2e", "..%2f..%2fetc", "0123456789AB", KEY, "%00", "tables"])
@pytest.mark.parametrize("rest", ["", "/columns", "/list", "/tasks/1/report", "/tasks/1/model"])
def test_an_address_leads_to_no_other_file(visitor, key, rest):
    assert visitor.get(f"/tables/{key}{rest}").status_code == 404


@pytest.mark.parametrize("name", ["../app.py", "..%2fapp.py", "studio.css%00", "layout.html"])
def test_only_listed_files_are_static(visitor, name):
    assert visitor.get(f"/static/{name}").status_code == 404


def test_a_file_over_the_limit_is_refused_and_nothing_is_kept(visitor, folder):
    answer = visitor.upload("large.csv", b"x\n" + b"1\n" * LIMIT)
    assert answer.status_code == 413
    assert "at most 1 MB" in answer.text
    assert not list((folder / "uploads").iterdir())


def test_the_limit_holds_for_a_body_of_unknown_length(visitor, folder):
    def chunks():
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        for _ in range(40):
            yield b"1\n" * (1 << 15)

    headers = {"Origin": visitor.base, "Content-Type": "multipart/form-data; boundary=b"}
    answer = visitor.client.post("/tables", content=chunks(), headers=headers)
    assert answer.status_code == 413
    assert not list((folder / "uploads").iterdir())


def test_other_forms_have_a_limit_of_their_own(visitor):
    assert visitor.post("/examples", {"name": "x" * (5 << 20)}).status_code == 413


def test_a_form_without_a_token_is_nobodys():
    with pytest.raises(NotOurForm):
        require_our_form(Form(), form_token(TOKEN))
