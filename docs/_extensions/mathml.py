"""Formulas as MathML, which browsers show themselves: no script, no font and no request to anywhere.

docutils translates TeX to MathML. Two things that it does not know are put another way first: big delimiters without a
side, and equation numbers.
"""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)


def translate(tex: str, *, as_block: bool) -> tuple[str, str]:
    r"""MathML of a formula, and its number, if it has one.

    Examples
    --------
    >>> mathml, number = translate(r"\big(a\big)^2 \tag{A1}", as_block=True)
    >>> number, "<math" in mathml
    ('A1', True)
    """
    number = re.search(r"\\tag\{(\w+)\}", tex)
    tex = re.sub(r"\\tag\{\w+\}", "", tex)
    tex = re.sub(r"\\([bB]ig)(?=\s*(?:\(|\[|\\\{))", r"\\\1l", tex)
    tex = re.sub(r"\\([bB]ig)(?=\s*(?:\)|\]|\\\}))", r"\\\1r", tex)
    tex = re.sub(r"\\[bB]ig\s*/", "/", tex)
    return tex2mathml(tex.strip(), as_block=as_block), "" if number is None else number[1]


def visit_inline(self: Any, node: nodes.math) -> None:
    """Write a formula within a sentence."""
    self.body.append(_mathml(node, as_block=False)[0])
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Write a formula in a line of its own, with its number at the right."""
    mathml, number = _mathml(node, as_block=True)
    shown = f'<span class="equation-number">({number})</span>' if number else ""
    self.body.append(f'<div class="formula" tabindex="0" role="region" aria-label="Formula">{mathml}{shown}</div>')
    raise nodes.SkipNode


def _mathml(node: nodes.Node, *, as_block: bool) -> tuple[str, str]:
    try:
        return translate(node.astext(), as_block=as_block)
    except MathError as error:
        logger.warning("this formula cannot be shown: %s", error, location=node)
        return nodes.literal("", node.astext()).astext(), ""


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
