"""`python -m benchmarks.quality.trees FOLDER...`: do our trees say what a browser's tree says?

The words that a reader sees, in order, of every `.html` file within the folders: of libxml2's tree
as it is, of the tree that `parse` returns, and of the tree of an HTML5 parser (lexbor). What nobody
sees is left out of all three.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from lxml.html import HtmlElement
from selectolax.lexbor import LexborHTMLParser, LexborNode

from benchmarks.quality.methods import texts
from benchmarks.speed.measure import options_of
from simhash_gate.page.hidden import drop_invisible
from simhash_gate.page.parse import parse, read_by_libxml2, utf8_of
from simhash_gate.page.repair import is_misread
from simhash_gate.page.vocabulary import INLINE, INVISIBLE, MEDIA

UNSEEN = INVISIBLE | MEDIA | {"input"}
OUTER = re.compile(r'^<template(?:[^>"]|"[^"]*")*>|</template>$')
LONG = 20_000  # words: more are compared by their ends, and not one with each


class Outcome(NamedTuple):
    """One page: its words, what share of them differs before and after, if it was read again."""

    path: Path
    words: int
    before: float
    after: float
    again: bool


def compare(path: Path) -> Outcome:
    """Read a page with all three."""
    body = path.read_bytes()
    data = utf8_of(body)
    page = LexborHTMLParser(data, scripting=True)
    top = page.body or page.root
    seen = "".join(_lexbor_texts(top)).split() if top is not None else []
    root, errors = read_by_libxml2(data) if data.strip() else (None, ())
    again = root is not None and is_misread(root, errors, data)
    before = difference(_words(root), seen)
    return Outcome(path, len(seen), before, difference(_words(parse(body)), seen), again)


def difference(ours: list[str], theirs: list[str]) -> float:
    """Return the share of words that differ: 0 if the lists are equal, 1 if nothing is common."""
    if ours == theirs:
        return 0.0
    longest = max(len(ours), len(theirs))
    pairs = enumerate(zip(ours, theirs, strict=False))
    start = next((n for n, (a, b) in pairs if a != b), min(len(ours), len(theirs)))
    ours, theirs = ours[start:], theirs[start:]
    rest = max(len(ours), len(theirs))
    if rest > LONG:
        return rest / longest
    blocks = SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
    return (rest - sum(block.size for block in blocks)) / longest or 1e-9


def _words(root: HtmlElement | None) -> list[str]:
    if root is None:
        return []
    drop_invisible(root)
    body = root.find("body")
    return "".join(texts(root if body is None else body)).split()


def _lexbor_texts(top: LexborNode) -> Iterator[str]:
    node: LexborNode | None = top
    end = top.mem_id
    while node is not None:
        tag = node.tag or ""
        inner = None
        if tag == "-text":
            yield node.text_content or ""
        elif tag == "template" and "shadowrootmode" in node.attributes:
            within = LexborHTMLParser(OUTER.sub("", node.html or ""), scripting=True)
            yield " "
            if within.body is not None:
                yield from _lexbor_texts(within.body)
            yield " "
        elif not tag.startswith("-") and tag not in UNSEEN:
            if tag not in INLINE:
                yield " "
            inner = node.first_child
        while inner is None and node is not None:
            if node.mem_id == end:
                return
            inner, node = node.next, node.parent
            if inner is None and node is not None and node.tag not in INLINE:
                yield " "
        node = inner


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare all pages and print what agrees."""
    folders = (Path, "of pages", {"nargs": "+", "metavar": "FOLDER"})
    options = options_of(__doc__, arguments, {"folders": folders})
    paths = [p for folder in options.folders for p in sorted(folder.rglob("*.html"))]
    with ProcessPoolExecutor() as pool:
        outcomes = list(pool.map(compare, paths, chunksize=8))
    shares = {
        "the same words, as libxml2 reads them": sum(not o.before for o in outcomes),
        "the same words, as we read them": sum(not o.after for o in outcomes),
        "read again by an HTML5 parser": sum(o.again for o in outcomes),
    }
    count = len(outcomes) or 1
    for name, number in shares.items():
        print(f"{name}: {number} of {count} pages ({number / count:.2%})")
    for o in sorted((o for o in outcomes if o.after), key=lambda o: -o.after)[:20]:
        print(f"{o.after:7.2%} of {o.words} words differ: {o.path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
