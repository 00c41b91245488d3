"""Whole sites, of which nobody needs labels: how much of what a page alone says is read?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from lxml import etree

from benchmarks.quality.methods import Content, Method
from benchmarks.quality.sets import Contents, Page, Readings, load_pages, percent, words_of
from simhash_gate.page.parse import parse
from simhash_gate.page.vocabulary import INLINE

OF_A_PAGE, OF_A_SITE = 0.05, 0.3
"""A line is the page's own if so few of the site's pages show it, or two; the site's if so many."""
FEWEST_WORDS, FEWEST_PAGES, MOST_PAGES = 30, 20, 60
POOR = 0.25
_NOT_SHOWN = set("script style noscript template svg head iframe object select button".split())


class Said(NamedTuple):
    """The words that a page alone says outside of links, and those that its site alone says."""

    own: Counter[str]
    of_site: set[str]


class Own:
    """The text of pages against the lines of their sites, mean over sites.

    Own words that are read: the more, the better. Of what is read, words that are in lines of the
    site alone: the fewer, the better. A page is poor if under a quarter of its own words is read.
    """

    ours, peers = Contents.ours, Contents.peers

    def __init__(self, pages: Sequence[Page], said: dict[str, Said]) -> None:
        self.pages, self.said = pages, said

    @classmethod
    def load(cls, folder: Path) -> Own:
        sites: defaultdict[str, list[Page]] = defaultdict(list)
        for page in load_pages(folder, "domain"):
            sites[page.site].append(page)
        chosen, said = list[Page](), dict[str, Said]()
        for pages in sites.values():
            lines = {page.id: [*lines_of(page.path.read_bytes())] for page in pages}
            shown = Counter(line for own in lines.values() for line in {line for line, _ in own})
            few, many = max(2, OF_A_PAGE * len(pages)), OF_A_SITE * len(pages)
            found = dict[str, Said]()
            for page in pages[:: max(1, len(pages) // MOST_PAGES)]:
                own, all_own, of_site = Counter[str](), set[str](), set[str]()
                for line, unlinked in lines[page.id]:
                    if shown[line] <= few:
                        own.update(words_of(unlinked))
                        all_own.update(words_of(line))
                    elif shown[line] >= many:
                        of_site.update(words_of(line))
                if own.total() >= FEWEST_WORDS:
                    found[page.id] = Said(own, of_site - all_own)
            if len(found) >= FEWEST_PAGES:
                chosen += [page for page in pages if page.id in found]
                said |= found
        return cls(chosen, said)

    def score(self, method: Method, readings: Readings) -> dict[str, str]:
        own, of_site = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
        for page in self.pages:
            read = Counter(words_of((readings[page.id].value or Content("", None)).text))
            said = self.said[page.id]
            own[page.site].append((said.own & read).total() / said.own.total())
            others = sum(number for word, number in read.items() if word in said.of_site)
            of_site[page.site].append(others / max(1, read.total()))
        poor = [share < POOR for shares in own.values() for share in shares]
        return {
            "own words read": percent(fmean(map(fmean, own.values()))),
            "of what is read, the site's": percent(fmean(map(fmean, of_site.values()))),
            "poor pages": percent(fmean(poor)),
        }


def lines_of(body: bytes) -> Iterator[tuple[str, str]]:
    """Yield the lines that a page shows, each with what of it is in no link."""
    root = parse(body)
    if root is None:
        return
    for element in [*root.iter("*")]:
        hidden = "display:none" in element.get("style", "").replace(" ", "").lower()
        if (element.tag in _NOT_SHOWN or hidden) and element.getparent() is not None:
            element.drop_tree()
    line, unlinked, links = "", "", 0
    for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event in ("start", "end") and element.tag not in INLINE:
            if line.strip():
                yield " ".join(line.split()), " ".join(unlinked.split())
            line = unlinked = ""
        links += (element.tag == "a") * (1 if event == "start" else -1)
        text = (element.text if event == "start" else element.tail) or ""
        line += text
        unlinked += "" if links else text
