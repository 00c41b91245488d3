"""The text of a page that is a shell for scripts, where its structured data have one."""

from __future__ import annotations

import re
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, Any

from lxml import html

from simhash_gate.page.extract import Article, is_leftover
from simhash_gate.page.invisible import drop_invisible
from simhash_gate.page.parse import parse, printable
from simhash_gate.page.structured import text, types, values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.html import HtmlElement

    from simhash_gate.page.blocks import Block
    from simhash_gate.page.clean import Cleaned
    from simhash_gate.page.facts import Kind
    from simhash_gate.page.structured import Node

_BODIES = ("articleBody", "text", "reviewBody")
_DESCRIBED = frozenset({"Product", "ProductGroup", "Recipe"})  # elsewhere it is a summary
_TAG = re.compile(r"</?[a-z][a-z0-9]*\b[^<>]*>", re.I)
_SHELL = 200  # characters: a page that says less is one that scripts fill
_LEAST = 200  # characters: less is a caption, or the site's own line about itself
_MANY = 1_000
_DEEP = 4


def is_lost(found: list[Block], article: Article, page: Cleaned, kind: Kind | None) -> bool:
    """Tell if what was found of a page is not what it is about."""
    if says_title_alone(found, article) or page.size < _SHELL:
        return True
    return (article.listing and kind == "article") or is_leftover(article, page)


def says_title_alone(found: list[Block], article: Article) -> bool:
    """Tell if what was found says no more than the page's head does."""
    return not found or (len(found) == 1 and article.titled and found[0].kind == "heading")


def told_article(main: Node, title: str) -> Article | None:
    """Return what the node of a page's main entity says, under the title; None if it is little."""
    article = html.Element("article")
    if title:
        _add(article, "h1", title)
    body = next(filter(None, (_raw(main.get(name)) for name in _BODIES)), "")
    if body:
        _add_text(article, body)
    elif types(main) & _DESCRIBED:
        _add_text(article, _raw(main.get("description")))
    _add_list(article, "ul", map(text, values(main.get("recipeIngredient"))))
    steps = main.get("recipeInstructions")
    if isinstance(steps, str):
        _add_text(article, steps)
    else:
        _add_list(article, "ol", _steps(steps, _DEEP))
    said = sum(len(part) for child in article[1 if title else 0 :] for part in child.itertext())
    return Article(article, False, bool(title)) if said >= _LEAST else None


def _raw(value: Any) -> str:
    """Return the first text of a property as it is: its lines are paragraphs."""
    return next((part for part in values(value) if isinstance(part, str)), "")


def _steps(data: Any, depth: int) -> Iterator[str]:
    for step in values(data):
        if isinstance(step, str):
            yield step
        elif isinstance(step, dict) and depth:
            if isinstance(step.get("text"), str):
                yield step["text"]
            else:
                yield text(step.get("name"))
                yield from _steps(step.get("itemListElement"), depth - 1)


def _add_list(article: HtmlElement, tag: str, entries: Iterable[str]) -> None:
    box = html.Element(tag)
    for entry in islice(filter(None, entries), _MANY):
        _add(box, "li", _TAG.sub(" ", unescape(entry)))
    if len(box):
        article.append(box)


def _add_text(article: HtmlElement, said: str) -> None:
    """Add a text, which may be HTML, in paragraphs."""
    said = unescape(said) if "<" not in said else said
    if _TAG.search(said):
        root = parse(said.encode("utf-8", "replace"))
        body = None if root is None else root.find("body")
        if root is not None and body is not None:
            drop_invisible(root)
            body.tag = "div"
            article.append(body)
        return
    for line in unescape(said).splitlines():
        if line.strip():
            _add(article, "p", line)


def _add(article: HtmlElement, tag: str, said: str) -> None:
    element = html.Element(tag)
    element.text = printable(said)
    article.append(element)
