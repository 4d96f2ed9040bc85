"""Self-contained HTML pages from templates: nothing in them comes from anywhere else."""

import base64
import hashlib
import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from unskew._support.text import (
    auc_text,
    cases,
    chosen_percent,
    commas,
    duration,
    interval,
    likely,
    percent,
    plural,
    times,
    visible,
)

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, *, script: str = "", **content: Any) -> str:
    """Text of a page; `script` is the name of the file whose code it runs."""
    style, code = _page_asset("page.css"), _page_asset(script) if script else Markup()
    return (
        environment()
        .get_template(template)
        .render(content, style=style, script=code, policy=_content_policy(style, code))
    )


def _content_policy(style: str, script: str) -> Markup:
    """What the browser is to hold the page to: only its own style and script, and nothing is fetched from anywhere.

    Attributes may say where something lies on a scale, so that styles in attributes are allowed.
    """
    return Markup(
        f"default-src 'none'; style-src-elem {_hash_for_policy(style)}; style-src-attr 'unsafe-inline'; "
        f"script-src {_hash_for_policy(script)}; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash_for_policy(text: str) -> str:
    if not text:
        return "'none'"
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def scale_marks(
    start: float, low: float, high: float, point: float | None, truth: float | None = None
) -> dict[str, float | None]:
    """Where an estimate, its interval and the truth lie on a scale from `start` to 1, in per cent of its width.

    What lies outside is drawn at the end, and what is None not at all.
    """

    def place(value: float) -> float:
        return 100 * min(1.0, max(0.0, (value - start) / (1 - start)))

    marks = {name: None if value is None else place(value) for name, value in (("point", point), ("truth", truth))}
    return {"left": place(low), "width": place(high) - place(low), **marks}


@cache
def environment(*packages: str) -> "Environment":
    """Templates of these packages and of this one, and the words that they use.

    Made for the first page, because jinja2 takes a while to load.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(each) for each in (*packages, "unskew.practice.report")]),
        autoescape=True,
        finalize=_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (
        auc_text,
        cases,
        commas,
        duration,
        interval,
        likely,
        outside,
        chosen_percent,
        percent,
        plural,
        signed,
        times,
        unbroken,
        with_code,
    )
    environment.filters |= {each.__name__: each for each in filters}
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False}
    return environment


def _visible(value: object) -> object:
    """What a template writes, with control characters escaped wherever it comes from."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def outside(value: object) -> Markup:
    """Text from the user's file: it cannot turn the direction of what stands around it."""
    return Markup("<bdi>{}</bdi>").format(visible(str(value)))


def signed(difference: float) -> str:
    """A difference of AUCs with its sign."""
    return f"{difference:+.3f}".replace("-", "\N{MINUS SIGN}")


def unbroken(html: str) -> Markup:
    """HTML in which numbers and their per cent sign stay on one line."""
    return Markup(re.sub(r"(\d) %", "\\1\N{NO-BREAK SPACE}%", html))


def with_code(text: str) -> Markup:
    """Text in which what stands between backticks is to be typed."""
    return Markup(re.sub("`([^`]*)`", r"<code>\1</code>", str(escape(text))))


@cache
def _page_asset(name: str) -> Markup:
    return Markup(resources.files("unskew.practice.report").joinpath("templates", name).read_text("utf-8"))
