"""The methods that are compared: ours, and what others do to a page.

A method reads a page's bytes to a value, and tells how far two values are apart. To add one, give
it an entry in `METHODS`. What it imports is imported when it reads: peers may not be installed.
Bytes are decoded in one way for all: encodings are not what is compared here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple
from weakref import finalize

import numpy as np
from bs4 import BeautifulSoup, Tag
from lxml import etree, html
from lxml.html import HtmlElement
from markdownify import markdownify
from readability import Document

from simhash_gate import (
    Gate,
    Page,
    Policy,
    Visit,
    hamming_distance,
    open_store,
    read_page,
    simhash,
)
from simhash_gate.fingerprints.words import unsegmented, words
from simhash_gate.page.blocks import blocks
from simhash_gate.page.clean import clean
from simhash_gate.page.extract import SteadyExtractor
from simhash_gate.page.flow import flow
from simhash_gate.page.parse import in_utf8, parse
from simhash_gate.page.vocabulary import INLINE
from simhash_gate.pipeline import read_closely

_CHROME = (
    "script,style,noscript,template,nav,header,footer,aside,form,input,button,iframe,svg,"
    "[role=navigation],[role=complementary],[role=banner],[role=contentinfo],[role=search]"
)
_CHROME_NAME = re.compile(
    r"sidebar|ads?|advert(isement)?|banner|cookie|share|social|popup|modal|newsletter|"
    r"breadcrumbs?|pagination|related|comments?"
)


class Content(NamedTuple):
    """The main content of a page as plain text, and its title."""

    text: str
    title: str | None


class Reading(NamedTuple):
    """A page's value, None for nothing to compare, and the CPU time it took."""

    value: Any
    milliseconds: float
    error: str | None = None


class Nearest:
    """The kept pages of a site. A page is dropped for the nearest, if that is near enough."""

    def __init__(self, method: Method) -> None:
        self._method = method
        self._kept: dict[str, Any] = {}

    def see(self, id_: str, value: Any) -> str | None:
        """Keep the site's next page, or return the id of the kept page that it is dropped for."""
        apart = {kept: self._method.distance(other, value) for kept, other in self._kept.items()}
        nearest = min(apart, key=apart.__getitem__, default=None)
        if nearest is not None and apart[nearest] <= self._method.threshold:
            return nearest
        self._kept[id_] = value
        return None


class GateWindow:
    """A gate, and what it remembers of one site."""

    def __init__(self, policy: Policy) -> None:
        store = open_store("memory:")
        finalize(self, store.close)
        store.begin("site")
        self._gate = Gate(store, run="site", pipeline="benchmark")
        self._policy = policy

    def see(self, id_: str, value: Any) -> str | None:
        """Let the gate judge a page; return the id of the page that it is dropped for."""
        verdict = self._gate.judge(value, self._policy, Visit(id_, "site", id_))
        kept = verdict.match if verdict.outcome == "duplicate" else None
        return kept.record.url if kept else None


@dataclass(frozen=True)
class Method:
    """`read` returns a page's value, which can be pickled; None for nothing to compare.

    Two pages are called duplicates when their `distance` is at most `threshold`. `window` makes
    what sees a whole site.
    """

    title: str
    read: Callable[[bytes, str], Any]
    distance: Callable[[Any, Any], float] = hamming_distance
    threshold: float = 3
    window: Callable[[Method], Nearest | GateWindow] = Nearest


def _verdict(title: str, policy: Policy) -> Method:
    """Return a gate with an empty window that sees both pages, one after the other."""

    def distance(a: Page, b: Page) -> float:
        window = GateWindow(policy)
        window.see("a", a)
        return float(window.see("b", b) is None)

    title = f"**simhash_gate**, {title}"
    return Method(title, _page, distance, 0, lambda _: GateWindow(policy))


def _page(body: bytes, url: str) -> Page | None:
    page = read_page(body, url=url)
    return None if page.fingerprint is None else page


def _content(body: bytes, url: str) -> Content:
    reading = read_closely(body, url=url)
    return Content(reading.text, reading.page.title)


def _not_equal(a: Any, b: Any) -> float:
    return float(a != b)


def _other_words(a: Content, b: Content) -> float:
    return float(a.text.split() != b.text.split())


def _counted(found: Iterable[str]) -> int | None:
    weights = Counter(found)
    return simhash(weights) if weights else None


def page_text(body: bytes) -> str:
    """Return all that the page's body shows, menus and all."""
    root = parse(body)
    if root is None:
        return ""
    page = root if root.find("body") is None else root.find("body")
    for element in list(page.iter("script", "style", "noscript", "template")):
        element.drop_tree()
    return " ".join(" ".join(page.itertext()).split())


def texts(top: HtmlElement) -> Iterator[str]:
    """Yield the texts within an element, and white space where a block begins and ends."""
    for event, element in etree.iterwalk(top, events=("start", "end", "comment", "pi")):
        if isinstance(element.tag, str) and element.tag not in INLINE:
            yield " "
        text = element.text if event == "start" else element.tail
        if text and (event == "start" or element is not top):
            yield text


def _shingles(tokens: list[str]) -> list[str]:
    """Return the shingles of a text, as the gate has them: three words, or five characters."""
    characters = unsegmented(tokens)
    sizes = [5 if token in characters else 3 for token in tokens]
    ends = [(at, at + size) for at, size in enumerate(sizes) if at + size <= len(tokens)]
    return [" ".join(tokens[at:end]) for at, end in ends] or [*filter(None, [" ".join(tokens)])]


def _minhash(body: bytes, _: str) -> np.ndarray | None:
    from datasketch import MinHash

    root = parse(body)
    kept = [] if root is None else blocks(flow(SteadyExtractor()(clean(root)).element))
    found = {*_shingles(words("\n".join(block.text for block in kept)))}
    sketch = MinHash(128)
    sketch.update_batch([shingle.encode("utf-8", "replace") for shingle in found])
    return sketch.hashvalues if found else None


def _trafilatura_content(body: bytes, url: str) -> Content:
    from trafilatura import bare_extraction

    found = bare_extraction(in_utf8(body).decode(), url=url, with_metadata=True)
    if found is None:
        return Content("", "")
    return Content(f"{found.text or ''}\n{found.comments or ''}", found.title or "")


def _cleaned(body: bytes) -> Document:
    soup = BeautifulSoup(in_utf8(body).decode(), "lxml")
    for element in [*soup.select(_CHROME), *soup(_speaks_of_chrome)]:
        element.decompose()
    return Document(str(soup))


def _speaks_of_chrome(element: Tag) -> bool:
    if element.name in ("html", "body"):
        return False
    names = [*(element.get("class") or ()), element.get("id") or ""]
    parts = (part for name in names for part in re.split(r"[-_]", name.lower()))
    return any(map(_CHROME_NAME.fullmatch, parts))


def plain_recipe(body: bytes, _: str) -> int | None:
    """Return the SimHash that everybody writes first: of the Markdown's words, three by three."""
    summary = _cleaned(body).summary(html_partial=True)
    said = re.findall(r"\w+", markdownify(summary, heading_style="ATX").lower())
    return _counted(map(" ".join, zip(said, said[1:], said[2:], strict=False)))


def _plain_content(body: bytes, _: str) -> Content:
    """Return the text of readability-lxml's summary, and the title without the site's part."""
    if not body.strip():
        return Content("", "")
    read = _cleaned(body)
    title, summary = read.short_title(), read.summary(html_partial=True)
    if not summary.strip():
        return Content("", title)
    found = html.fragment_fromstring(summary, create_parent=True)
    return Content(" ".join("".join(texts(found)).split()), title)


def _resiliparse(body: bytes, _: str) -> Content:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    tree = HTMLTree.parse(in_utf8(body).decode())
    return Content(extract_plain_text(tree, main_content=True), tree.title)


def _simhash_of(read: Callable[[bytes, str], Content], body: bytes, url: str) -> int | None:
    """Return the SimHash of what a program reads."""
    return _counted(_shingles(words(read(body, url).text)))


_PLAIN = "plain recipe: BeautifulSoup, readability-lxml, markdownify"
_PAGE = "the whole page's text"
METHODS = {
    "fingerprint": Method(
        "**simhash_gate**, fingerprint", lambda body, url: read_page(body, url=url).fingerprint
    ),
    "verdict": _verdict("verdict", Policy()),
    "distance": _verdict("verdict by distance alone", Policy(verify=False)),
    "page-text": Method(
        f"SimHash of {_PAGE}", lambda body, _: _counted(_shingles(words(page_text(body))))
    ),
    "exact": Method(f"hash of {_PAGE}", lambda body, _: page_text(body) or None, _not_equal, 0),
    "minhash": Method(
        "datasketch MinHash of our text, Jaccard ≥ 0.9",
        _minhash,
        lambda a, b: 1 - float(np.mean(a == b)),
        0.1,
    ),
    "trafilatura": Method("trafilatura, SimHash", partial(_simhash_of, _trafilatura_content)),
    "resiliparse": Method("resiliparse, SimHash", partial(_simhash_of, _resiliparse)),
    "plain": Method(_PLAIN, plain_recipe),
    "content": Method("**simhash_gate**", _content),
    "content-trafilatura": Method("trafilatura", _trafilatura_content, _other_words, 0),
    "content-resiliparse": Method("resiliparse, main content", _resiliparse, _other_words, 0),
    "content-plain": Method(_PLAIN, _plain_content, _other_words, 0),
}
OURS = ("fingerprint", "verdict", "distance")
CONTENT = tuple(name for name in METHODS if name.startswith("content"))
PEERS = tuple(name for name in METHODS if name not in (*OURS, *CONTENT))
BY_TEXT = (*CONTENT[1:], "page-text", "exact")
"""What is compared with the gate in whether a page has changed."""
