"""The recipe that everybody writes first: clean, readability, Markdown, SimHash."""

from __future__ import annotations

import re
from collections import Counter

from bs4 import BeautifulSoup, Tag
from markdownify import markdownify
from readability import Document

from benchmarks.quality.methods.base import Content, Extractor, HammingMethod
from benchmarks.quality.text import shown
from simhash_gate import simhash
from simhash_gate.page.parse import decode

_CHROME = (
    "script,style,noscript,template,nav,header,footer,aside,form,input,button,iframe,svg,"
    "[role=navigation],[role=complementary],[role=banner],[role=contentinfo],[role=search]"
)
_NAME = re.compile(
    r"sidebar|ads?|advert(isement)?|banner|cookie|share|social|popup|modal|newsletter|"
    r"breadcrumbs?|pagination|related|comments?"
)
_WORD = re.compile(r"\w+")


class PlainRecipe(HammingMethod):
    """Counted shingles of three words of the Markdown, link targets and all."""

    title = "plain recipe: BeautifulSoup, readability-lxml, markdownify"
    needs = ("beautifulsoup4", "readability-lxml", "markdownify", "lxml")

    def fingerprint(self, body: bytes, url: str) -> int | None:
        summary = _cleaned(body).summary(html_partial=True)
        words = _WORD.findall(markdownify(summary, heading_style="ATX").lower())
        found = Counter(map(" ".join, zip(words, words[1:], words[2:], strict=False)))
        return simhash(found) if found else None


class PlainContent(Extractor):
    """The text of the HTML that becomes Markdown, and readability's title."""

    title = PlainRecipe.title
    needs = PlainRecipe.needs

    def read(self, body: bytes, url: str) -> Content:
        if not body.strip():
            return Content("", "")
        document = _cleaned(body)
        title = document.short_title()
        return Content(shown(document.summary(html_partial=True)), title)


def _cleaned(body: bytes) -> Document:
    soup = BeautifulSoup(decode(body), "lxml")
    for element in [*soup.select(_CHROME), *soup(_speaks_of_chrome)]:
        element.decompose()
    return Document(str(soup))


def _speaks_of_chrome(element: Tag) -> bool:
    if element.name in ("html", "body"):
        return False
    names = [*(element.get("class") or ()), element.get("id") or ""]
    parts = (part for name in names for part in re.split(r"[-_]", name.lower()))
    return any(map(_NAME.fullmatch, parts))
