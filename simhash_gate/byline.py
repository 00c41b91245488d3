"""Who wrote a page, and when, as its data say it, or else the lines around its headline."""

from __future__ import annotations

import re

from simhash_gate.fingerprints.words import DATED, is_of_page, without_dates, words
from simhash_gate.page.document import Document

_YEAR = re.compile(r"(?:19|20)\d\d")
_BY = re.compile(
    r"\W*(?i:(?:posted |written )?(?:by|von|par|por))\b[\s:|]*"
    r"((?:\s?(?![a-zß-ÿ\d:–—-])[^\s|·•⋅,;(]+){1,5})"
)


def find_byline(document: Document, url: str) -> dict[str, str | None]:
    """Return the `author` of a page, and as `dated` what says when it was published, best first.

    Lines say it between the headline and the first paragraph, or just above; of an entry of a list
    they say nothing of the page. for: news and blogs without data, archives with days in addresses.
    """
    facts, blocks, lines = document.facts, document.blocks, document.shown.lines
    texts = (it.text for it in blocks if it.kind == "text" and len(words(it.text)) >= 15)
    end = next((lines.index(text) for text in texts if text in lines), 0)
    heads = {document.titles.headline, document.titles.title, *(it.text for it in blocks[:1])}
    top = max((at for at in range(max(end - 14, 0), end) if lines[at] in heads), default=end + 2)
    head, rest = [
        [*zip(document.places[part], lines[part], strict=True)]
        for part in (slice(max(top - 2, 0), end), slice(end, None))
    ]
    dated = {place for place, line in head if _YEAR.search(line)}
    again = {place for place, line in rest if place in dated and _YEAR.search(line)}
    near = [line for place, line in head if place not in again or not _YEAR.search(line)]
    entries = {block.text for block in blocks if block.linked and block.kind == "heading"} - heads
    near = near if entries.isdisjoint(near) and facts.kind != "product" else []
    links = [a for a in facts.elements.by_tag["a"] if "author" in a.get("rel", "").split()]
    names = (" ".join(link.text_content().split()) for link in links)
    authors = [facts.author, *(name for name in names if name in " | ".join(near))]
    pairs = (without_dates(" | ".join(near[at : at + 2])) for at in range(len(near)))
    authors += [by[1].strip() for by in map(_BY.match, pairs) if by]
    told = (line for line in (*near, url) if not is_of_page(line))
    dates = [d for t in told for d in (*(m[0] for m in DATED.finditer(t)), t) if _YEAR.search(d)]
    return {"author": next(filter(None, authors), None), "dated": "\n".join([*facts.dates, *dates])}
