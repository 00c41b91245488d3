"""Generated sites for the trap shield: pages by their path, honest ones and traps."""

import math
import random
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from simhash_gate.fingerprints.folding import HashedLines
from simhash_gate.fingerprints.sample import Sample, read_sample, sample_of
from simhash_gate.identity.address import address_of
from simhash_gate.identity.traps import Change, TracedRequest, TrapShield

HOST, SITE = "https://site.example", "site.example"
LOG_WORDS = math.log(100_000)
IN_FLIGHT = 8
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
    links: Iterable[str] = ()

    @cached_property
    def sample(self) -> Sample:
        """What the shield reads of it."""
        return read_sample(sample_of(HashedLines.of(self.blocks)))


Pages = Callable[[str], Made]


def article(path: str, links: Iterable[str] = (), *, vocabulary: int = 0, words: int = 160) -> Made:
    """Return the article of a path."""
    return Made(_title(path, vocabulary), prose(path, words, vocabulary), links)


def _title(path: str, vocabulary: int = 0, words: int = 5) -> str:
    return " ".join(prose("t" + path, words, vocabulary)[0])


def _name(path: str) -> str:
    return _title(path, words=3)


@dataclass
class Crawled:
    """What a crawl of generated pages did."""

    fetched: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)


def crawl(pages: Pages, start: str, most: int, *, order: str = "breadth") -> Crawled:
    """Crawl generated pages as a spider does that follows every link once."""
    done, shield, rng = Crawled(), TrapShield(), random.Random(1)
    queue: deque[tuple[str, TracedRequest | None]] = deque([(start, None)])
    seen, texts = {start}, set()
    while queue and len(done.fetched) < most:
        batch = []
        while queue and len(batch) < IN_FLIGHT:
            if order == "shuffled":
                queue.rotate(rng.randrange(len(queue)))
            path, parent = queue.pop() if order == "depth" else queue.popleft()
            visit = shield.ask(address_of(HOST + path), SITE, parent.as_origin if parent else None)
            if visit.held:
                done.held.append(path)
            else:
                batch.append((path, visit))
        for path, visit in batch:
            made = pages(path)
            done.fetched.append(path)
            said = repr(made.blocks)
            passed = said not in texts
            done.changes += shield.judged(
                visit, SITE, passed=passed, title=made.title, sample=made.sample
            )
            for link in made.links:
                done.changes += shield.found(visit, address_of(HOST + link), SITE)
            texts.add(said)
            queue += [(link, visit) for link in dict.fromkeys(made.links) if link not in seen]
            seen.update(made.links)
    return done


def _number(path: str) -> int:
    return int(path.replace("=", "/").rpartition("/")[2] or 0)


# Honest sites.


def listed(size: int, page: Pages, title: Callable[[str], str]) -> Pages:
    """Pages of one shape, linked from numbered listings of their titles."""

    def pages(path: str) -> Made:
        if path == "/":
            return Made("home", [["welcome", "to", "the", "site"]], ["/list?page=1"])
        if not path.startswith("/list"):
            return page(path)
        last = _number(path) * 20
        own = [f"/article/{each}" for each in range(last - 20, min(size, last))]
        more = [f"/list?page={last // 20 + 1}"] if last < size else []
        return Made("Listing", [title(each).split() for each in own], own + more)

    return pages


def archive(size: int, *, vocabulary: int = 0, words: int = 160) -> Pages:
    """Articles that are found from listings alone."""

    def page(path: str) -> Made:
        return article(path, ["/"], vocabulary=vocabulary, words=words)

    return listed(size, page, lambda path: _title(path, vocabulary))


def catalogue(size: int) -> Pages:
    """Products whose pages differ in their names and a number."""
    terms = [f"the terms of delivery of all goods {word(each)}".split() for each in range(12)]

    def page(path: str) -> Made:
        return Made(_name(path), [_name(path).split(), *terms], ["/"])

    return listed(size, page, _name)


def profiles(size: int) -> Pages:
    """Members of whom nothing is said, on a list of twenty a page that says nothing else."""

    def pages(path: str) -> Made:
        links = []
        if path.startswith("/members/list"):
            first = _number(path) * 20
            links = [f"/members/{each}" for each in range(first, first + 20)]
            links += [f"/members/list/{first // 20 + 1}"] if first + 20 < size else []
        return Made("Members", [["member", "since", "then", "no", "posts", "yet"]], links)

    return pages


def chain(size: int, vocabulary: int) -> Pages:
    """Articles that are found from the one before alone."""

    def pages(path: str) -> Made:
        number = _number(path)
        links = [f"/story/{each}" for each in (number - 1, number + 1) if 0 <= each < size]
        return article(path, links, vocabulary=vocabulary)

    return pages


def web(size: int, vocabulary: int) -> Pages:
    """Pages of one shape that link to any others, as in a wiki without a listing."""

    def pages(path: str) -> Made:
        rng = random.Random(path)
        links = [f"/wiki/{int(rng.random() ** 2 * size)}" for _ in range(8)]
        return article(path, links, vocabulary=vocabulary)

    return pages


def tree(branches: int, depth: int) -> Pages:
    """A tree of pages in one shape, each found from the one above alone."""

    def pages(path: str) -> Made:
        node = path.rpartition("=")[2]
        below = [f"/taxon?id={node}{each:x}" for each in range(branches)]
        above = [f"/taxon?id={node[:end]}" for end in range(1, len(node))]
        return article(path, [*above, *(below if len(node) < depth else [])])

    return pages


# Traps.


def maze(style: str) -> Pages:
    """Generated pages of nonsense, each linked from one other alone."""

    def pages(path: str) -> Made:
        rng = random.Random(path)

        def slugs(count: int) -> str:
            made = (word(rng.randrange(200, 4000)) for _ in range(2 * count))
            return "/".join(f"{one}-{next(made)}" for one in made)

        into = {
            "number": lambda: f"/maze/{rng.randrange(10**12)}",
            "root": lambda: f"/{slugs(rng.randrange(2, 5))}",
            "deeper": lambda: f"{path.rstrip('/')}/{slugs(1)}",
        }
        return article(path, [into[style]() for _ in range(6)], vocabulary=800)

    return pages


FACETS = {"colour": 8, "size": 6, "brand": 9, "price": 5, "material": 7, "sale": 2}


def filters(path: str) -> Made:
    """A listing of 60 products under any set of filters."""
    if path.startswith("/product"):
        return article(path)
    chosen = dict(pair.split("=") for pair in path.partition("?")[2].split("&") if pair)
    links = []
    for name, count in FACETS.items():
        for value in range(count):
            query = {**chosen, name: word(value + 300)}
            links.append("/shop?" + "&".join(map("=".join, sorted(query.items()))))
    rng = random.Random(path)
    shown = rng.sample(range(60), rng.randrange(1, 20) if chosen else 60)
    links += [f"/product/{each}" for each in shown]
    names = [_name(f"/product/{each}").split() for each in shown]
    return Made(" ".join(chosen.values()), names, links)


def session_path(path: str) -> Made:
    """Forty articles under an id that is another one on each page."""
    if path == "/":
        return Made("home", [["home"]], ["/s/start/article/1"])
    rng = random.Random(path)
    links = [f"/s/{rng.getrandbits(64):016x}/article/{rng.randrange(40)}" for _ in range(3)]
    return Made(f"Article {_number(path)}", prose(f"a{_number(path)}"), links)


def soft404(path: str) -> Made:
    """Articles; what is no article says so with status 200, and links to more of that kind."""
    number = _number(path)
    if path == "/":
        return Made("home", [["home"]], [f"/article/{each}" for each in range(0, 300, 10)])
    if number < 300:
        return article(path, [f"/article/{number + 1}", f"/article/{number + 100_000}"])
    links = [f"/article/{random.Random(number + n).randrange(10**6, 10**9)}" for n in range(4)]
    gone = [["sorry", "nothing", "was", "found", "at", "article", str(number)]]
    return Made("Not found", gone, links)
