"""What several methods hash: a page's text, cut out in different ways.

Bytes are decoded in one way for all: encodings are not what is compared here.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree, html
from lxml.html import HtmlElement
from readability import Document

from simhash_gate.page.blocks import blocks
from simhash_gate.page.clean import clean
from simhash_gate.page.extract import SteadyExtractor
from simhash_gate.page.flow import flow
from simhash_gate.page.parse import decode, parse
from simhash_gate.page.vocabulary import INLINE

UNSEEN = ("script", "style", "noscript", "template")


def page_text(body: bytes) -> str:
    """Return all that the page's body shows, menus and all."""
    root = parse(body)
    if root is None:
        return ""
    page = root if root.find("body") is None else root.find("body")
    for element in list(page.iter(*UNSEEN)):
        element.drop_tree()
    return " ".join(" ".join(page.itertext()).split())


def readability_text(body: bytes) -> str:
    """Return the text of readability-lxml's summary; "" where it finds none."""
    if not body.strip():
        return ""
    summary = Document(decode(body)).summary(html_partial=True)
    found = html.fragment_fromstring(summary, create_parent=True)
    return " ".join(" ".join(found.itertext()).split())


def gate_text(body: bytes) -> str:
    """Return the text that simhash_gate takes for the article, with nothing masked."""
    root = parse(body)
    if root is None:
        return ""
    return "\n".join(block.text for block in blocks(flow(SteadyExtractor()(clean(root)).element)))


def shown(fragment: str) -> str:
    """Return the text of some HTML, with white space where a block begins and ends."""
    if not fragment.strip():
        return ""
    return " ".join("".join(texts(html.fragment_fromstring(fragment, create_parent=True))).split())


def texts(top: HtmlElement) -> Iterator[str]:
    """Yield the texts within an element, and white space where a block begins and ends."""
    for event, element in etree.iterwalk(top, events=("start", "end", "comment", "pi")):
        if isinstance(element.tag, str) and element.tag not in INLINE:
            yield " "
        text = element.text if event == "start" else element.tail
        if text and (event == "start" or element is not top):
            yield text
