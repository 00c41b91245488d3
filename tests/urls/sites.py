"""Generated sites for the trap shield: pages by their path, honest ones and traps."""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from simhash_gate.fingerprints.gist import gist_of, read_gist
from simhash_gate.urls.traps import Change, TrapShield, Visit

HOST = "https://site.example"
LOG_WORDS = math.log(100_000)
SYLLABLES = ("ba", "co", "di", "fu", "ga", "ho", "ki", "lu", "me", "no", "pa", "ri", "so", "tu")


def word(number: int) -> str:
    """Return the word of a number; low numbers are short."""
    made = ""
    while True:
        number, last = divmod(number, len(SYLLABLES))
        made += SYLLABLES[last]
        if not number:
            return made


def prose(seed: str, words: int = 160, vocabulary: int = 0) -> list[list[str]]:
    """Return blocks of words: of a vocabulary that is used up, or of one that grows for ever."""
    rng = random.Random(seed)
    if vocabulary:
        said = [word(rng.randrange(vocabulary)) for _ in range(words)]
    else:  # Zipf's law: each word as often as its rank tells
        said = [word(int(math.exp(rng.random() * LOG_WORDS))) for _ in range(words)]
    return [said[place : place + 20] for place in range(0, words, 20)]


@dataclass(frozen=True)
class Made:
    """A page: its title, its blocks of words, the paths of its links."""

    title: str
    blocks: list[list[str]]
    links: tuple[str, ...] = ()


Pages = Callable[[str], "Made | None"]


def article(path: str, links: Iterable[str] = (), *, vocabulary: int = 0, words: int = 160) -> Made:
    """Return the article of a path."""
    blocks = prose(path, words, vocabulary)
    return Made(" ".join(prose("t" + path, 5, vocabulary)[0]), blocks, tuple(links))


@dataclass
class Crawled:
    """What a crawl of generated pages did."""

    fetched: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    shield: TrapShield = field(default_factory=TrapShield)

    @property
    def limited(self) -> list[str]:
        """The shapes that were limited."""
        return [change.shape for change in self.changes if change.limited]


def crawl(
    pages: Pages,
    starts: Iterable[str] = ("/",),
    *,
    order: str = "breadth",
    most: int = 3_000,
    in_flight: int = 8,
    seed: int = 1,
) -> Crawled:
    """Crawl generated pages as a spider does that follows every link once."""
    done = Crawled()
    rng = random.Random(seed)
    queue: deque[tuple[str, Visit | None]] = deque((path, None) for path in starts)
    seen = set(starts)
    texts: set[str] = set()
    while queue and len(done.fetched) < most:
        batch = []
        while queue and len(batch) < in_flight:
            path, parent = _next(queue, order, rng)
            visit = None
            if parent is not None or path not in starts:
                origin = parent.as_origin if parent else None
                visit = done.shield.ask(HOST + path, "site.example", origin)
                if visit.held:
                    done.held.append(path)
                    continue
            batch.append((path, visit))
        for path, asked in batch:
            made = pages(path)
            if made is None:
                continue
            visit = asked or done.shield.visit(HOST + path, "site.example", None)
            done.fetched.append(path)
            said = repr(made.blocks)
            new = said not in texts
            texts.add(said)
            done.changes += done.shield.told(
                visit,
                passed=new,
                title=made.title,
                gist=read_gist(gist_of(made.blocks)),
                links=lambda made=made: [HOST + link for link in made.links],
            )
            for link in made.links:
                if link not in seen:
                    seen.add(link)
                    queue.append((link, visit))
    return done


def _next(queue: deque, order: str, rng: random.Random):
    if order == "depth":
        return queue.pop()
    if order == "shuffled":
        queue.rotate(rng.randrange(len(queue)))
    return queue.popleft()


# Honest sites.


def archive(
    size: int,
    *,
    vocabulary: int = 0,
    related: int = 0,
    neighbours: bool = False,
    words: int = 160,
) -> Pages:
    """Articles of one shape, linked from numbered listings; with links among them, or none."""
    per = 20

    def pages(path: str) -> Made | None:
        if path == "/":
            return Made("home", [["welcome", "to", "the", "site"]], ("/list?page=1",))
        if path.startswith("/list"):
            number = int(path.partition("=")[2])
            own = range((number - 1) * per, min(size, number * per))
            links = [f"/article/{each}" for each in own]
            if number * per < size:
                links.append(f"/list?page={number + 1}")
            blocks = [prose(f"t/article/{each}", 5, vocabulary)[0] for each in own]
            return Made("Listing", blocks, tuple(links))
        number = int(path.rpartition("/")[2])
        rng = random.Random(number)
        links = ["/", *(f"/article/{rng.randrange(size)}" for _ in range(related))]
        if neighbours:
            links += [f"/article/{each}" for each in (number - 1, number + 1) if 0 <= each < size]
        return article(path, links, vocabulary=vocabulary, words=words)

    return pages


def chain(size: int, vocabulary: int = 0) -> Pages:
    """Articles that are found from the one before alone."""

    def pages(path: str) -> Made | None:
        number = int(path.rpartition("/")[2] or 0)
        links = [f"/story/{each}" for each in (number - 1, number + 1) if 0 <= each < size]
        return article(path, links, vocabulary=vocabulary)

    return pages


def web(size: int, *, vocabulary: int = 0, links: int = 8) -> Pages:
    """Pages of one shape that link to any others, as in a wiki without a listing."""

    def pages(path: str) -> Made | None:
        number = int(path.rpartition("/")[2] or 0)
        rng = random.Random(number)
        made = [f"/wiki/{int(rng.random() ** 2 * size)}" for _ in range(links)]
        return article(path, made, vocabulary=vocabulary)

    return pages


def tree(branches: int, depth: int, vocabulary: int = 0) -> Pages:
    """A tree of pages in one shape, each found from the one above alone."""

    def pages(path: str) -> Made | None:
        node = path.rpartition("=")[2] if "=" in path else ""
        below = [f"/taxon?id={node}{each:x}" for each in range(branches)]
        above = [f"/taxon?id={node[:end]}" for end in range(1, len(node))]
        return article(path, [*above, *(below if len(node) < depth else [])], vocabulary=vocabulary)

    return pages


def catalogue(size: int) -> Pages:
    """Products whose pages differ in their names and a number."""
    terms = [f"the terms of delivery of all goods {word(each)}".split() for each in range(12)]

    def pages(path: str) -> Made | None:
        if path == "/":
            return Made("shop", [["our", "goods"]], ("/shop?page=1",))
        if path.startswith("/shop"):
            number = int(path.partition("=")[2])
            own = range((number - 1) * 20, min(size, number * 20))
            names = [prose(f"name{each}", 3)[0] for each in own]
            links = [f"/product/{each}" for each in own]
            more = [f"/shop?page={number + 1}"] if number * 20 < size else []
            return Made("Our goods", names, (*links, *more))
        name = prose(f"name{path.rpartition('/')[2]}", 3)[0]
        return Made(" ".join(name), [name, *terms], ("/",))

    return pages


# Traps.


def maze(vocabulary: int = 800, *, style: str = "number", links: int = 6) -> Pages:
    """Generated pages of nonsense, each linked from one other alone."""

    def pages(path: str) -> Made | None:
        rng = random.Random(path)
        if style == "number":
            made = [f"/maze/{rng.randrange(10**12)}" for _ in range(links)]
        elif style == "words":
            made = [f"/maze/{_slug(rng)}/{_slug(rng)}" for _ in range(links)]
        elif style == "root":
            made = [
                "/" + "/".join(_slug(rng) for _ in range(rng.randrange(2, 5))) for _ in range(links)
            ]
        else:  # deeper
            made = [f"{path.rstrip('/')}/{_slug(rng)}" for _ in range(links)]
        return article(path, made, vocabulary=vocabulary)

    return pages


def _slug(rng: random.Random) -> str:
    return "-".join(word(rng.randrange(200, 4000)) for _ in range(2))


MONTHS = "january february march april may june july august september october november december"


def calendar(path: str) -> Made | None:
    """Months with their days, for ever."""
    parts = [int(part) for part in path.split("/")[2:] if part] or [2026, 1]
    year, month = parts[0], parts[1]
    named = MONTHS.split()[month - 1]
    ahead = f"/calendar/{year + month // 12}/{month % 12 + 1:02}"
    back = f"/calendar/{year - (month == 1)}/{(month - 2) % 12 + 1:02}"
    if len(parts) == 3:
        day = [["no", "events", "on", str(parts[2]), named, str(year)]]
        return Made(f"{parts[2]} {named} {year}", day, (ahead, back))
    days = [f"/calendar/{year}/{month:02}/{day:02}" for day in range(1, 29)]
    blocks = [["events", "in", named, str(year)], *(["no", "events", str(d)] for d in range(28))]
    return Made(f"{named} {year}", blocks, (ahead, back, *days))


@lru_cache
def _name(number: int) -> tuple[str, ...]:
    return tuple(prose(f"name{number}", 3)[0])


FACETS = {"colour": 8, "size": 6, "brand": 9, "price": 5, "material": 7, "sale": 2}


def filters(path: str) -> Made | None:
    """A listing of 60 products under any set of filters."""
    chosen = dict(pair.split("=") for pair in path.partition("?")[2].split("&") if pair)
    links = []
    for facet, count in FACETS.items():
        for value in range(count):
            query = sorted({**chosen, facet: word(value + 300)}.items())
            links.append("/shop?" + "&".join(f"{key}={said}" for key, said in query))
    if path.startswith("/product"):
        return article(path)
    rng = random.Random(repr(sorted(chosen.items())))
    shown = rng.sample(range(60), 60 if not chosen else rng.randrange(1, 20))
    links += [f"/product/{each}" for each in shown]
    return Made(" ".join(chosen.values()), [list(_name(each)) for each in shown], tuple(links))


def sort(path: str) -> Made | None:
    """A listing of 60 products in any order, on any page, with any number of them."""
    if path.startswith("/product"):
        return article(path)
    chosen = dict(pair.split("=") for pair in path.partition("?")[2].split("&") if pair)
    links = []
    for key, values in (
        ("sort", [f"{word(each)}-{way}" for each in range(8) for way in ("asc", "desc")]),
        ("limit", [str(each) for each in range(10, 60, 5)]),
        ("page", ["1", "2", "3"]),
        ("view", ["grid", "list"]),
    ):
        for value in values:
            query = {**chosen, key: value}
            links.append("/goods?" + "&".join(f"{name}={said}" for name, said in query.items()))
    shown = random.Random(path).sample(range(60), 30)
    links += [f"/product/{each}" for each in shown]
    return Made("Goods", [list(_name(each)) for each in shown], tuple(links))


def path_loop(path: str) -> Made | None:
    """A relative link that leads deeper into the same page."""
    return Made("A page", prose("loop"), (f"{path.rstrip('/')}/a/", f"{path.rstrip('/')}/b/a/"))


def session_path(path: str) -> Made | None:
    """Forty articles under an id that is another one on each page."""
    if path == "/":
        return Made("home", [["home"]], ("/s/start/article/1",))
    _, _, _session, _, number = path.split("/")
    rng = random.Random(path)
    ids = [f"{rng.getrandbits(64):016x}" for _ in range(3)]
    links = [f"/s/{each}/article/{rng.randrange(40)}" for each in ids]
    return Made(f"Article {number}", prose(f"a{number}"), tuple(links))


def soft404(path: str) -> Made | None:
    """Articles; what is no article says so with status 200, and links to more of that kind."""
    number = int(path.rpartition("/")[2] or 0)
    if path == "/":
        return Made("home", [["home"]], tuple(f"/article/{each}" for each in range(0, 300, 10)))
    if number < 300:
        return article(path, [f"/article/{number + 1}", f"/article/{number + 100_000}"])
    links = [f"/article/{random.Random(number + n).randrange(10**6, 10**9)}" for n in range(4)]
    gone = [["sorry", "nothing", "was", "found", "at", "article", str(number)]]
    return Made("Not found", gone, tuple(links))


def replytocom(path: str) -> Made | None:
    """Articles with forty links to reply to each of their comments."""
    bare, _, query = path.partition("?")
    number = int(bare.rpartition("/")[2] or 0)
    links = [f"/post/{number + 1}"] if number < 100 else []
    links += [f"{bare}?replytocom={number * 100 + each}" for each in range(40)]
    made = article(bare, links)
    return made if not query else Made(made.title, made.blocks, tuple(links))
