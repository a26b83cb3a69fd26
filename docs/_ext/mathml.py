r"""Formulas as MathML, made when the site is built.

A reader's browser needs no script and no network for them; the font is in ``_static``.
latex2mathml does the translation; what comes out is then put right where browsers would set it
differently from TeX: limits under sums, space around function names, signs, bold digits. A
command that latex2mathml does not know is a warning here, not a backslash on the page.
"""

import re
from html import escape
from itertools import pairwise
from xml.etree import ElementTree as ET

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)

LIMITS = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}
TAKES_LIMITS = {"∑", "∏", "⋃", "⋂", "max", "min", "sup", "inf", "lim", "arg max", "arg min"}
CLOSING = {")", "]", "}", "|", "!"}
SIGNS = {"−", "+", "±"}
BOLD = {"A": 0x1D400, "a": 0x1D41A, "0": 0x1D7CE}


def to_mathml(latex, *, block):
    """Translate a formula; a ``ValueError`` names what could not be translated."""
    latex = latex.strip().replace("{aligned}", "{split}")
    if block and r"\\" in latex and r"\begin" not in latex:
        latex = rf"\begin{{split}}{latex}\end{{split}}"
    markup = convert(latex, display="block" if block else "inline")
    try:
        math = ET.fromstring(markup.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "", 1))  # noqa: S314 (our own)
    except ET.ParseError as error:
        raise ValueError(f"latex2mathml cannot translate this: {error}") from error
    for element in math.iter():
        text = (element.text or "").strip()
        if text.startswith("\\"):
            raise ValueError(f"latex2mathml does not know {text}")
        _embolden(element)
        _align(element)
    for parent in list(math.iter()):
        _set_operators(parent)
    return ET.tostring(math, encoding="unicode", short_empty_elements=False)


def _embolden(element):
    """Browsers ignore mathvariant="bold"; Unicode has the letters."""
    if element.get("mathvariant") != "bold" or not element.text:
        return
    del element.attrib["mathvariant"]
    element.text = re.sub(
        r"[A-Za-z0-9]",
        lambda m: next(
            chr(start + ord(m[0]) - ord(first))
            for first, start in BOLD.items()
            if 0 <= ord(m[0]) - ord(first) < (10 if first == "0" else 26)
        ),
        element.text,
    )


def _align(element):
    """Browsers ignore columnalign; the style sheet aligns by class."""
    if side := element.attrib.pop("columnalign", None):
        element.set("class", side)


def _set_operators(parent):
    if parent.tag in LIMITS and len(parent) and parent[0].text in TAKES_LIMITS:
        parent.tag = LIMITS[parent.tag]
        if parent[0].text.isascii():
            parent[0].tag = "mo"
            parent[0].attrib.update(movablelimits="true", lspace="0.17em", rspace="0.17em")
        return
    for child in parent:
        if child.tag == "mo" and (child.text == "∞" or _is_word(child.text)):
            child.tag = "mi"
            child.attrib.clear()
        elif child.tag == "mo" and child.text == "/":
            child.attrib.update(lspace="0", rspace="0")
    if parent.tag in ("mrow", "mtd", "math"):
        parent[:] = _spaced(parent)


def _spaced(parent):
    """Add the thin space that TeX sets around function names, and find the signs."""
    row = []
    for child, following in pairwise([*parent, None]):
        row.append(child)
        if following is None or following.tag == "mspace" or child.tag == "mspace":
            continue
        if child.tag == "mo":
            if following.tag == "mo" and following.text in SIGNS and child.text not in CLOSING:
                following.set("form", "prefix")
        elif (_is_function(child) and not _opens(following)) or _is_function(following):
            row.append(ET.Element("mspace", width="0.17em"))
    return row


def _is_word(text):
    return bool(text) and len(text) > 1 and text.replace(" ", "").isalpha() and text.isascii()


def _is_function(element):
    base = element[0] if element.tag in LIMITS and len(element) else element
    return base.tag == "mi" and _is_word(base.text)


def _opens(element):
    """Whether no space belongs between a function's name and this."""
    first = element[0] if len(element) else element
    return first.tag == "mo" and first.text not in TAKES_LIMITS


def _render(node, *, block):
    try:
        return to_mathml(node.astext(), block=block)
    except ValueError as error:
        logger.warning("%s: %s", error, node.astext(), location=node)
        return f"<code>{escape(node.astext())}</code>"


def visit_inline(translator, node):
    translator.body.append(_render(node, block=False))
    raise nodes.SkipNode


def visit_block(translator, node):
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append(_render(node, block=True))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
