"""Furniture of pages, as real templates have it, put into the bytes of a page.

`furniture.html` has the boxes: a blank line apart, each after a comment that names its kind, with
fields of `Values` in braces, and what comes several times in double brackets.
"""

from __future__ import annotations

import codecs
import re
from collections import defaultdict
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from html import escape
from operator import itemgetter
from pathlib import Path
from random import Random
from typing import NamedTuple

from crawler.site.prose import Writer, grammar

BOXES = Path(__file__).with_name("furniture.html")
FEWEST, MOST = 2, 3  # kinds on a page
OUTER = 1  # containers, at most, around a box that stands beside a `</div>`

_BOX = re.compile(r"<!-- (\w+) -->\n(.+?)(?:\n\n|\Z)", re.S)
_SEVERAL = re.compile(r"\[\[(.+?)\]\]", re.S)
_TAG = re.compile(
    r"<!--.*?-->|<(script|style|noscript|textarea|template)\b.*?</\1\s*>"
    r"|<(?P<closes>/?)(?P<name>body|div|section|article|main|aside|nav|header|footer|form|table"
    r"""|ul|ol|dl)\b(?:[^>"']|"[^"]*"|'[^']*')*>""",
    re.I | re.S | re.A,
)
_WIDE = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_FIRST = datetime(2012, 1, 1, tzinfo=timezone.utc)
_PROSE = ("ad", "headline", "place", "thing")


class Places(NamedTuple):
    """Where boxes can stand, as offsets: first and last in the body, and around its `</div>`s."""

    first: list[int]
    last: list[int]
    between: list[int]


class Values:
    """What stands in the fields of boxes: another value each time."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._writer = Writer("en", rng.choice(grammar("en").topics()), rng)

    def __getitem__(self, name: str) -> str | int | datetime:
        """Return a value; raises KeyError for an unknown name."""
        if name in _PROSE:
            return escape(self._writer.write(name))
        if name == "number":
            return self._rng.randint(100, 9999)
        if name == "small":
            return self._rng.randint(10, 59)
        if name == "id":
            return f"{self._rng.getrandbits(32):08x}"
        if name == "moment":
            return _FIRST + timedelta(seconds=self._rng.randrange(1_000_000_000))
        raise KeyError(name)


def furnish(body: bytes, seed: str, values: str) -> bytes:
    """Return a page with two or three boxes more, and otherwise as it was.

    `seed` decides which boxes and where, both together what stands in them.
    """
    # Latin-1 keeps the bytes of every encoding that begins with ASCII, whatever they mean.
    codec = next((codec for bom, codec in _WIDE.items() if body.startswith(bom)), "latin-1")
    text = body.decode(codec, "replace")
    rng, written = Random(seed), Values(Random(f"{seed} {values}"))
    places = [offsets for offsets in find_places(text) if offsets]
    boxes = [
        (rng.choice(rng.choice(places)), _box(kind, rng).format_map(written))
        for kind in rng.sample(sorted(_boxes()), rng.randint(FEWEST, MOST))
    ]
    for offset, box in sorted(boxes, key=itemgetter(0), reverse=True):
        ascii_only = box.encode("ascii", "xmlcharrefreplace").decode()
        text = text[:offset] + ascii_only + text[offset:]
    return text.encode(codec)


def find_places(text: str) -> Places:
    """Return where boxes can stand in a page; a page without a body has at least an end."""
    places = Places([], [len(text)], [])
    depth = 0
    for tag in _TAG.finditer(text):
        name, closes = (tag["name"] or "").lower(), bool(tag["closes"])
        if name == "body":
            if closes:
                places.last[:] = [tag.start()]
            elif not places.first:
                places.first.append(tag.end())
        elif name:
            depth = max(0, depth - 1 if closes else depth + 1)
            if name == "div" and closes and depth <= OUTER:
                places.between.extend(tag.span())
    return places


def _box(kind: str, rng: Random) -> str:
    times = rng.randint(3, 6)
    return _SEVERAL.sub(lambda found: found[1] * times, rng.choice(_boxes()[kind]))


@lru_cache(maxsize=1)
def _boxes() -> dict[str, list[str]]:
    found = defaultdict(list)
    for kind, box in _BOX.findall(BOXES.read_text("utf-8")):
        found[kind].append(box)
    return dict(found)
