"""Who may ask, and for what: only the browser that opened the address with the token, only from our own pages.

Any page on the web can make a browser send requests to this machine, and any program on this machine can send its own.
So each request must name this server in its Host header (a page of another name that was pointed to this machine does
not), must carry the token, and, if it changes anything, must come from one of our own pages, by its Origin header and
by a second token that only these pages hold.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from html import escape
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE = ("GET", "HEAD")
MOST_FORM_BYTES = 4 << 20
FORM_TOKEN = "form_token"
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers would send no origin with forms
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
MOST_DRAINED = 1 << 30
_HEAD = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,">'
_PAGE_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')


class TooLarge(Exception):
    """A request has more bytes than it may; the text says how many it may have."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"What was sent must have at most {limit / (1 << 20):,.0f} MB, but it has more. Nothing was kept. For "
            "larger files, start the studio with --max-upload-mb, or use the commands."
        )


class Guard:
    """Refuses requests that are not from our own pages, and says to browsers what ours may do.

    Parameters
    ----------
    app : ASGI application
    token : str
        What the address holds that the user opened.
    port : int
        Of this server.
    most_bytes : mapping of path to int
        Longest body of a request; 4 MB for others.
    """

    def __init__(self, app: ASGIApp, token: str, port: int, most_bytes: Mapping[str, int]) -> None:
        self._app, self._token, self._most_bytes = app, token, most_bytes
        self._hosts = [f"127.0.0.1:{port}", f"localhost:{port}"]
        self._cookie = f"unskew_studio_{port}"  # cookies of one host are shared between its ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    own.setdefault(name, value)
            await send(message)

        answer = self._refusal(scope, headers)
        if answer is not None:
            await _drain(receive)
            await answer(scope, receive, send_with_headers)
            return
        limit = self._most_bytes.get(scope["path"], MOST_FORM_BYTES)
        await self._app(scope, _counted(receive, headers, limit), send_with_headers)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """Answer to a request that may not pass; None if it may."""
        host = headers.get("host", "")
        if len(headers.getlist("host")) != 1 or host not in self._hosts:
            return _page(421, "Wrong address", f"This server answers to {self._hosts[0]} only. Open that address.")
        if scope["method"] in SAFE and scope["path"] == "/" and b"token=" in scope["query_string"]:
            return self._let_in(parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[-1])
        if not hmac.compare_digest(self._token.encode(), self._token_of(headers).encode()):
            return _not_known()
        if scope["method"] not in SAFE and headers.get("origin") != f"http://{host}":
            return _page(403, "Refused", "This request does not come from a page of this studio. Nothing was changed.")
        return None

    def _let_in(self, token: str) -> Response:
        """Hand the token over to a cookie.

        By a page instead of a redirect: after a link from another site, browsers keep a strict cookie from redirects.
        """
        if not hmac.compare_digest(self._token.encode(), token.encode()):
            return _not_known()
        answer = HTMLResponse(
            f'{_HEAD}<meta http-equiv="refresh" content="0; url=/">'
            '<title>unskew studio</title><p><a href="/">Go on to the studio</a></p></html>'
        )
        answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict", path="/")
        return answer

    def _token_of(self, headers: Headers) -> str:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return ""
        return "" if found is None else found.value


def form_token(token: str) -> str:
    """What our own forms hold: it follows from the token, but nobody can find that from it."""
    return hmac.new(token.encode(), b"forms", hashlib.sha256).hexdigest()


def policy_of(page: str) -> str:
    """What a page that brings its own style and script says that it may do, for the header; it is not framed."""
    found = _PAGE_POLICY.search(page)
    own = POLICY if found is None else found[1].replace("&#39;", "'")
    return f"{own.partition('; frame-ancestors')[0]}; frame-ancestors 'none'"


def _counted(receive: Receive, headers: Headers, limit: int) -> Receive:
    """The body as it arrives, no more of it than the limit."""
    length, arrived = headers.get("content-length", "0"), 0

    async def counted() -> Message:
        nonlocal arrived
        if not length.isdecimal() or int(length) > limit:
            await _drain(receive)
            raise TooLarge(limit)
        message = await receive()
        arrived += len(message.get("body", b""))
        if arrived > limit:
            await _drain(receive, message)
            raise TooLarge(limit)
        return message

    return counted


async def _drain(receive: Receive, message: Message | None = None) -> None:
    """Take in what still arrives, up to a limit: a browser reads no answer while it sends."""
    message, drained = message or await receive(), 0
    while message.get("more_body") and drained < MOST_DRAINED:
        message = await receive()
        drained += len(message.get("body", b""))


def _not_known() -> Response:
    text = "This browser is not known here. Open the address that `unskew studio` printed when it was started."
    return _page(403, "Not known", text)


def _page(status: int, title: str, text: str) -> Response:
    body = f"{_HEAD}<title>{escape(title)}</title><h1>{escape(title)}</h1><p>{escape(text)}</p></html>"
    return HTMLResponse(body, status)
