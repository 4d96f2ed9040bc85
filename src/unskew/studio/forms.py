"""What browsers send: fields of forms, and files."""

import hmac
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from unskew.studio.security import FORM_TOKEN
from unskew.studio.store import remove

MOST_FIELDS, LONGEST_FIELD = 100_000, 1000


class NotOurForm(PermissionError):
    """A form does not hold the token that our own pages have."""


class Form(dict[str, str]):
    """Fields of a form; one that is missing is empty."""

    def __missing__(self, name: str) -> str:
        return ""

    def number(self, name: str, what: str) -> int:
        """A whole number, or a ValueError that says what it must be."""
        try:
            return int(self[name])
        except ValueError:
            raise ValueError(f"{what} must be a whole number, but it is {self[name][:40]!r}. Change it.") from None


async def read_form(request: Request, token: str) -> Form:
    """Fields of a form from one of our pages."""
    body = await request.body()
    try:
        fields = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise ValueError("the form cannot be read. Reload the page, and send it again.") from None
    return require_our_form(Form(fields), token)


def require_our_form(form: Form, token: str) -> Form:
    """Refuse a form that another page made up."""
    if not hmac.compare_digest(token.encode(), form[FORM_TOKEN].encode()):
        raise NotOurForm("This form does not come from a page of this studio. Nothing was changed.")
    return form


async def read_upload(request: Request, folder: Path, token: str) -> tuple[Path, str]:
    """The file of a form from one of our pages, as it arrives written to `folder`; returns it and its name."""
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise ValueError("a file must be sent by the form of the start page. Reload it, and choose the file again.")
    with _Arriving(folder, options[b"boundary"]) as arriving:
        try:
            async for chunk in request.stream():
                await run_in_threadpool(arriving.parser.write, chunk)
            arriving.parser.finalize()
        except FormParserError:
            raise ValueError("what was sent was cut off. Choose the file again.") from None
        require_our_form(arriving.form, token)
        if not arriving.is_whole or not arriving.name:
            raise ValueError("a file must be chosen, but none was. Choose a CSV or Parquet file.")
        return arriving.keep(), arriving.name


class _Arriving:
    """Parts of a form as they arrive: short ones are kept as fields, the file goes to disk."""

    def __init__(self, folder: Path, boundary: bytes) -> None:
        self.form, self.name, self.is_whole = Form(), "", False
        self._file = open(folder / secrets.token_hex(8), "xb")  # noqa: SIM115
        self._is_kept, self._in_file = False, False
        self._header, self._value, self._headers = b"", b"", dict[bytes, bytes]()
        self._field, self._text = "", b""
        callbacks: Any = {
            "on_part_begin": self._begin,
            "on_header_field": self._on_header,
            "on_header_value": self._on_value,
            "on_header_end": self._end_header,
            "on_headers_finished": self._end_headers,
            "on_part_data": self._data,
            "on_part_end": self._end,
        }
        self.parser = MultipartParser(boundary, callbacks)

    def __enter__(self) -> "_Arriving":
        return self

    def __exit__(self, *_raised: object) -> None:
        self._file.close()
        if not self._is_kept:
            remove(Path(self._file.name))

    def keep(self) -> Path:
        """Leave the file where it is."""
        self._is_kept = True
        return Path(self._file.name)

    def _begin(self) -> None:
        self._headers, self._text, self._in_file = {}, b"", False

    def _on_header(self, data: bytes, begin: int, end: int) -> None:
        self._header += data[begin:end]

    def _on_value(self, data: bytes, begin: int, end: int) -> None:
        self._value += data[begin:end]

    def _end_header(self) -> None:
        self._headers[self._header.lower()] = self._value
        self._header, self._value = b"", b""

    def _end_headers(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition"))
        self._field = _decoded(options.get(b"name", b""))
        self._in_file = b"filename" in options
        if self._in_file:
            if self.name:
                raise ValueError("one file at a time can be added, but there are more. Choose one.")
            self.name = _decoded(options[b"filename"])

    def _data(self, data: bytes, begin: int, end: int) -> None:
        if self._in_file:
            self._file.write(data[begin:end])
            return
        self._text += data[begin:end]
        if len(self._text) > LONGEST_FIELD:
            raise ValueError("the form cannot be read. Reload the page, and send it again.")

    def _end(self) -> None:
        if self._in_file:
            self.is_whole = True
        else:
            self.form[self._field] = _decoded(self._text)


def _decoded(value: bytes) -> str:
    return value.decode("utf-8", "replace")
