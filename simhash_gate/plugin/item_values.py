"""What items say, as digests: an unchanged page may give an item that says something else.

A spider also takes what no reading of a page compares: pictures, attributes, what stands beside the
article. So the items of two visits are compared, field by field. A field may be another one at each
visit, such as the time of the crawl or the number of readers. Which fields are steady is learned
from pages that are unchanged. No such proof is needed if each item fills a field that none has
filled before, or if an answer has changed that the callback awaits.
"""

from __future__ import annotations

from array import array
from base64 import b64decode, b64encode
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import chain

import mmh3

from simhash_gate.fingerprints.relative_times import AGO, without_relative_times
from simhash_gate.fingerprints.words import is_volatile, without_counters, words
from simhash_gate.plugin.followed import FollowedPage

MOST_SAID = 1_000
"""Digests of one page. If it gives more, these are not compared with those of the next visit."""
AWAITED = "an awaited answer"
"""Stands for a field of all answers that a callback has awaited."""
FEW, TIMES = 3, 3
"""A field is steady if it said the same on so many pages, and so many times as often as not."""
_LINE, _BYLINE = 60, 200
DIGEST = (1 << 16) - 1


def said_by(values: Iterable[tuple[str, str]], own: Collection[str]) -> dict[str, set[int]]:
    """Return digests of 16 bits of what items say, by field.

    The addresses of the page, its `own`, are all the same there, and so are times such as "2 days
    ago". Of a text of several lines, bylines with a counter or such a time do not count.
    """
    found: dict[str, set[int]] = {}
    for name, value in values:
        said = "its address" if value in own else value
        if "\n" in said:
            said = "\n".join(it for it in said.split("\n") if it and not _is_of_page(it))
        elif len(said) < _LINE:
            said = " ".join(without_relative_times(words(said)))
        if value:
            found.setdefault(name, set()).add(_digest(f"{name}={said}"))
    return found


def _is_of_page(line: str) -> bool:
    """Tell whether a line has a counter or a relative time, and little else but dates."""
    said = words(line) if len(line) <= _BYLINE else []
    if not (said and is_volatile(line, len(said))):
        return False
    return without_counters(line) != line or AGO in without_relative_times(said)


def _digest(text: str) -> int:
    return mmh3.hash(text.encode("utf-8", "replace"), signed=False) & DIGEST


def packed(said: Mapping[str, set[int]]) -> str:
    """Return what the items of a page said as `Version.items`; "" if that is nothing, or much."""
    digests = {*map(_digest, said), *chain(*said.values())}
    return b64encode(array("H", sorted(digests))).decode() if len(digests) <= MOST_SAID else ""


class SteadyFields:
    """Learns which fields of items stay the same as long as their pages do, for each callback.

    `known` tells it of the fields of each callback that earlier crawls have seen. `unsure` counts
    the pages where a field differs of which it is not known.
    """

    def __init__(self) -> None:
        self.known: dict[str, dict[str, bool]] = {}
        self.unsure: Counter[str] = Counter()
        self._pages = defaultdict[str, Counter[tuple[str, bool]]](Counter)

    def differing(
        self, callback: str, page: FollowedPage, before: str, *, elsewhere: bool
    ) -> list[str]:
        """Return the fields where the items of an unchanged page say what none said before.

        `before` is what they said then, as `Version.items`. A page that was `elsewhere` then, at
        another address, may show itself otherwise: what is steady there is learned by itself.
        """
        if not before:
            return []
        said, digests = page.said, frozenset(array("H", b64decode(before)))
        items = max(map(len, page.filled.values()), default=0)
        by_all = (name for name, values in page.filled.items() if len(values) == items)
        found = [name for name in by_all if _digest(name) not in digests]
        if found:
            return found
        callback += " of another address" * elsewhere
        pages, known = self._pages[callback], self.known.get(callback, {})
        fields = {name: not values <= digests for name, values in said.items()}
        others = [name for name, differs in fields.items() if differs]
        found = [
            name for name in others
            if name == AWAITED or known.get(name) or _is_steady(pages, name)
        ]  # fmt: skip
        if not found:
            self.unsure.update(name for name in others if name not in known)
        if len(pages) < MOST_SAID:  # a spider may name fields as it likes
            pages.update(fields.items())
        return found

    def learned(self) -> dict[str, dict[str, bool]]:
        """Return what is known by now of the fields of the callbacks that were seen."""
        found = {}
        for callback, pages in self._pages.items():
            shown = {name for name, _ in pages if pages[name, True] + pages[name, False] >= FEW}
            now = {name: _is_steady(pages, name) for name in sorted(shown)}
            found[callback] = {**self.known.get(callback, {}), **now}
        return found


def _is_steady(pages: Counter[tuple[str, bool]], name: str) -> bool:
    return pages[name, False] >= max(FEW, TIMES * pages[name, True])
