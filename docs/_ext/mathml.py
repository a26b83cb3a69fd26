r"""Formulas as MathML, made when the site is built.

A reader's browser needs no script, no font and no network for them. latex2mathml does the
translation; what comes out is then put right where browsers would set it differently from TeX:
limits under sums, space after function names, bold digits. A command that latex2mathml does not
know is a warning here, not a backslash on the page.
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
OPENING = {"(", "[", "{", "|"}
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


def _set_operators(parent):
    if parent.tag in LIMITS and len(parent) and parent[0].text in TAKES_LIMITS:
        parent.tag = LIMITS[parent.tag]
        if parent[0].text.isascii():
            parent[0].tag = "mo"
            parent[0].attrib.update(movablelimits="true", lspace="0", rspace="0.17em")
        return
    for child in parent:
        if child.tag == "mo" and (child.text == "∞" or _is_name(child.text)):
            child.tag = "mi"
            child.attrib.clear()
    if parent.tag not in ("mrow", "mtd", "math"):
        return
    spaced = []
    for child, following in pairwise([*parent, None]):
        spaced.append(child)
        base = child[0] if child.tag in LIMITS and len(child) else child
        if base.tag == "mi" and _is_name(base.text) and not _opens(following):
            spaced.append(ET.Element("mspace", width="0.17em"))
    parent[:] = spaced


def _is_name(text):
    return bool(text) and len(text) > 1 and text.replace(" ", "").isalpha() and text.isascii()


def _opens(element):
    """Whether no space belongs between a function's name and this."""
    if element is None or element.tag in ("mspace", "mtext"):
        return True
    if element.tag == "mo":
        return True  # operators bring their own space, and parentheses want none
    return bool(len(element)) and element[0].tag == "mo" and element[0].text in OPENING


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
