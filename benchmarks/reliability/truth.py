"""What a round's site has to say: contents, the pages that show them, and which are alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from random import Random
from urllib.parse import urlsplit
from zlib import crc32

from simhash_gate import hamming_distance, read_page

SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
PARAGRAPH = 40
THRESHOLD = 3
"""Bits: the gate's default, which no plan changes."""


def digest_of(text: str) -> str:
    """Return a short name of a text."""
    return sha256(text.encode()).hexdigest()[:16]


def words(rng: Random, count: int) -> list[str]:
    """Return words that nothing else has."""
    return ["".join(rng.choices(SYLLABLES, k=rng.randint(2, 4))) for _ in range(count)]


@dataclass(frozen=True)
class Content:
    """One thing that pages say, under whatever URL and among whatever furniture."""

    words: tuple[str, ...]

    @cached_property
    def paragraphs(self) -> list[str]:
        """The headline and the paragraphs below it."""
        rest = self.words[6:]
        parts = [rest[start : start + PARAGRAPH] for start in range(0, len(rest), PARAGRAPH)]
        return [" ".join(self.words[:6]), *(f"{' '.join(part)}." for part in parts)]

    @cached_property
    def text(self) -> str:
        """What a spider reads of the page."""
        return " ".join(self.paragraphs)

    @cached_property
    def digest(self) -> str:
        """The name of the text, by which deliveries are told."""
        return digest_of(self.text)

    @cached_property
    def fingerprint(self) -> int:
        """That of its pages: furniture changes nothing."""
        found = read_page(self.page("/"), url="http://localhost/").fingerprint
        assert found is not None
        return found

    def page(self, path: str) -> bytes:
        """Return the page of this content at a path, with furniture of its own."""
        rng = Random(path)
        title, *paragraphs = self.paragraphs
        article = "".join(f"<p>{part}</p>" for part in paragraphs)
        return f"""<!doctype html><html><head><meta charset="utf-8"><title>{title}</title></head>
<body><nav><a href="/">Home</a> <a href="/x/{rng.randrange(999)}">{words(rng, 1)[0]}</a></nav>
<main><article><h1>{title}</h1>{article}</article></main>
<aside class="ad">{" ".join(words(rng, 25))}</aside>
<footer>{rng.randrange(99999)} visitors</footer></body></html>""".encode()

    def covered_by(self, others: Iterable[Content]) -> bool:
        """Tell whether one of the others is this content, or within the threshold of it."""
        mine = self.fingerprint
        return any(
            other.digest == self.digest or hamming_distance(mine, other.fingerprint) <= THRESHOLD
            for other in others
        )


def article(key: str) -> Content:
    """Return an article that shares nothing with those of other keys."""
    rng = Random(key)
    return Content(tuple(words(rng, rng.randint(120, 260))))


def relative(content: Content, key: str, apart: range, of: Content | None = None) -> Content:
    """Return the content with some words changed: within the threshold, `apart` bits from `of`."""
    rng = Random(key)
    for _ in range(400):
        changed = list(content.words)
        for place in rng.sample(range(10, len(changed)), 2):
            changed[place] = words(rng, 1)[0]
        found = Content(tuple(changed))
        near = hamming_distance(found.fingerprint, content.fingerprint) in range(1, THRESHOLD + 1)
        if near and (of is None or hamming_distance(found.fingerprint, of.fingerprint) in apart):
            return found
    return content


def listing(path: str, links: Iterable[str]) -> bytes:
    """Return a page that leads to others, each by a headline that is found nowhere else."""
    rng = Random(path)
    entries = "".join(f'<li><a href="{link}">{" ".join(words(rng, 7))}</a></li>' for link in links)
    title = " ".join(words(rng, 4))
    return f"""<!doctype html><html><head><meta charset="utf-8"><title>{title}</title></head>
<body><main><h1>{title}</h1><ul class="listing">{entries}</ul></main></body></html>""".encode()


def is_refused(url: str) -> bool:
    """Tell whether a pipeline refuses the items of a URL of the demonstration: of one in eight."""
    parts = urlsplit(url)
    return crc32(f"{parts.path}?{parts.query}".encode()) % 8 == 0
