"""The site of a round: contents under several URLs, which are alike, and scenes that are hard."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
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


_PLEASE = (
    "your session is over please sign in again to go on reading what you came for we keep you "
    "signed in for a week if you ask us to and forget you else"
)
OVER = Content(tuple(_PLEASE.split()))
LATER = ["over", "other", "503", "gone", "cut", "slow", "redirect"]
"""What a page may say when it is asked again: see `site.py`."""


@dataclass
class Site:
    """What is served: contents by their key, pages by their path, and who fails on what.

    `pages` maps a path to the key of its content; `answers` what is served for it at the first,
    second, ... time that a crawl asks: the content where nothing is said. `order` has priorities.
    """

    key: str
    pages: dict[str, str] = field(default_factory=dict)
    listings: dict[str, list[str]] = field(default_factory=dict)
    kin: dict[str, list[str]] = field(default_factory=dict)
    answers: dict[str, list[str]] = field(default_factory=dict)
    fails: dict[str, int] = field(default_factory=dict)
    holds: dict[str, float] = field(default_factory=dict)
    order: dict[str, int] = field(default_factory=dict)
    delay: float = 0.0

    def contents(self) -> dict[str, Content]:
        """Return the contents by their key; `kin` are within the threshold of another."""
        found: dict[str, Content] = {"over": OVER}
        for key in dict.fromkeys(self.pages.values()):
            if key in found:
                continue
            rng = Random(f"{self.key}/{key}")
            found[key] = Content(tuple(words(rng, rng.randint(120, 260))))
            first = None
            for other in self.kin.get(key, []):
                apart = range(THRESHOLD + 1, 64)
                found[other] = relative(found[key], f"{self.key}/{other}", apart, first)
                first = found[other]
        return found


def random_site(rng: Random, key: str) -> Site:
    """Return a site of 15 to 30 articles."""
    site = Site(key, delay=rng.choice([0.002, 0.01, 0.03]))
    groups = []
    for number in range(rng.randint(15, 30)):
        paths = [f"/a/{number}/{copy}" for copy in range(rng.choice([1, 1, 2, 2, 3, 4]))]
        site.pages |= dict.fromkeys(paths, f"c{number}")
        groups.append(paths)
    for path in list(site.pages):
        if rng.random() < 0.06:
            first = rng.choice(["ok", "503", "cut", "slow", "over"])
            site.answers[path] = [first, rng.choice(["ok", "ok", *LATER])]
    for scene, likely in ((_crowd, 0.25), (_chain, 0.4), (_swap, 0.5), (_detour, 0.4)):
        if rng.random() < likely:
            paths = scene(rng, site, len(groups))
            groups.append(paths)
            if rng.random() < 0.8:
                site.order |= {path: -place for place, path in enumerate(paths)}
    rng.shuffle(groups)
    paths = [path for group in groups for path in group]
    if rng.random() < 0.4:
        rng.shuffle(paths)
    count = rng.randint(2, 4)
    names = [f"/list/{number}" for number in range(count)]
    spread = [path for path in paths if path not in site.order]
    site.listings = {name: spread[number::count] for number, name in enumerate(names)}
    # Scenes that have an order stay together, and come early.
    site.listings[names[0]] = [*names[1:], *site.order, *site.listings[names[0]]]
    return site


def _crowd(rng: Random, site: Site, number: int) -> list[str]:
    """Many copies, of which only the last few can be parsed."""
    paths = [f"/crowd/{number}/{copy}" for copy in range(rng.randint(20, 36))]
    site.pages |= dict.fromkeys(paths, f"c{number}")
    for path in paths[: -rng.randint(1, 3)]:
        site.fails[path] = -1
    site.holds[paths[0]] = rng.choice([1.0, 2.5])
    return paths


def _chain(rng: Random, site: Site, number: int) -> list[str]:
    """A page that fails, and two that are near it, but not near each other."""
    key = f"c{number}"
    paths = [f"/chain/{number}/{part}" for part in "kcd"]
    site.kin[key] = [f"{key}c", f"{key}d"]
    site.pages |= dict(zip(paths, [key, f"{key}c", f"{key}d"], strict=True))
    site.fails[paths[0]] = rng.choice([1, -1])
    site.holds[paths[0]] = rng.choice([0.5, 1.5])
    return paths


def _swap(rng: Random, site: Site, number: int) -> list[str]:
    """A page that fails, and a copy that says something else when it is asked again."""
    paths = [f"/swap/{number}/{part}" for part in "kcde"[: rng.randint(3, 4)]]
    site.pages |= dict.fromkeys(paths, f"c{number}")
    site.fails[paths[0]] = rng.choice([1, -1])
    site.holds[paths[0]] = rng.choice([0.5, 1.5])
    site.answers[paths[1]] = ["ok", rng.choice(LATER)]
    return paths


def _detour(rng: Random, site: Site, number: int) -> list[str]:
    """A page that is busy first, and then leads to one that was there before."""
    paths = [f"/detour/{number}/0", f"/detour/{number}/1"]
    site.pages |= dict.fromkeys(paths, f"c{number}")
    site.answers[paths[1]] = ["503"] * rng.randint(1, 2) + ["redirect"]
    return paths
