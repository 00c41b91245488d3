"""Many crawls of one site: what a user has who keeps what is delivered is what the site has.

Articles have several addresses, which come, change, move and go. The links are followed in any
order, by crawls that may run two at once, and on the way the site shows that a part of its
addresses does not matter.
"""

import random
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from types import SimpleNamespace

from hypothesis import given, note, settings
from hypothesis import strategies as st
from scrapy import Request
from scrapy.http import Response

from simhash_gate.gate.judge import Gate
from simhash_gate.gate.verdict import Verdict
from simhash_gate.gate.visit import Visit
from simhash_gate.identity.keys import Keys, PageKey
from simhash_gate.page import Page
from simhash_gate.pipeline import read_page
from simhash_gate.plugin.page_keys import PageKeys
from simhash_gate.stores import open_store
from simhash_gate.stores.base import UNKNOWN_GAVE
from simhash_gate.stores.store import Store
from tests.stores.kept import histories

SITE = "example.com"
POLICIES = SimpleNamespace(site_of=lambda _: SimpleNamespace(scope=SITE))
SECTIONS = ("news", "print", "m")
WORDS = [f"{a}{b}{c}" for a in "bcdfglmnprstv" for b in "aeiou" for c in ("lan", "mer", "no", "s")]
HOUR = 3_600.0
Address = tuple[int, int]
"""The number of an article, and that of one of its addresses."""


@dataclass
class Crawl:
    """The addresses in the order in which a crawl asks for them, and whether the `rule` acts.

    Of two that run at once, each makes so many visits in turn. Its clock is so many hours `ahead`.
    """

    order: list[Address]
    rule: bool
    turns: list[int] = field(default_factory=list)
    ahead: int = 0


@dataclass
class Edition:
    """What the site has for some time, and the crawls of that time, some two at once.

    Each address is a `page`, `gone`, or a page to which nothing leads (`unlinked`); or it has moved
    for good to the address with that number. Each article has one version, wherever it stands. As
    canonical its pages name one of its own ("right"), that of another article ("wrong"), or none.
    """

    state: dict[Address, str | int]
    version: dict[int, int]
    crawls: list[list[Crawl]]
    names: str = "none"

    def canonical(self, at: Address) -> Address | None:
        """Return the address that the page at an address calls its own."""
        article = min(self.version) if self.names == "wrong" else at[0]
        pages = (it for it, state in self.state.items() if it[0] == article and state == "page")
        return None if self.names == "none" else next(pages, None)

    def way(self, at: Address) -> list[Address]:
        """Return the addresses by which one leads to where it ends, itself first."""
        way = [at]
        while isinstance(to := self.state[way[-1]], int) and len(way) <= len(SECTIONS):
            way.append((at[0], to))
        return way

    def is_alive(self, at: Address) -> bool:
        return self.state[self.way(at)[-1]] in ("page", "unlinked")


@st.composite
def plans(draw) -> list[Edition]:
    numbers = draw(st.lists(st.integers(1, len(SECTIONS)), min_size=1, max_size=2))
    all_of = [(a, b) for a, many in enumerate(numbers) for b in range(many)]
    rules = draw(st.sampled_from(["none", "learned", "taken back"]))
    rule = False
    names = draw(st.sampled_from(["none", "right", "wrong"])) if rules == "none" else "none"
    state: dict[Address, str | int] = dict.fromkeys(all_of, "page")
    version = dict.fromkeys(range(len(numbers)), 0)
    editions = []
    for _ in range(draw(st.integers(1, 4))):
        for at in draw(st.lists(st.sampled_from(all_of), max_size=3)):
            others = [b for b in range(numbers[at[0]]) if b != at[1]]
            state[at] = draw(st.sampled_from(["page", "gone", "unlinked", *others]))
            if len(Edition(state, {}, []).way(at)) > len(SECTIONS):  # in circles
                state[at] = "page"
        for a in draw(st.lists(st.sampled_from(range(len(numbers))), max_size=2)):
            # What a page said under the key of a rule that is taken back, or of a wrong link, is
            # known under it still: it is not told if the page changes just then, and says so again.
            only_on = "taken back" in rules or names == "wrong"
            version[a] = draw(st.integers(version[a] if only_on else 0, 3))
        crawls = []
        for _ in range(draw(st.integers(1, 2))):
            crawls.append([])
            for _ in range(draw(st.sampled_from([1, 1, 1, 2]))):
                if rules != "none":
                    rule = draw(st.booleans()) or (rule and rules == "learned")
                turns = draw(st.lists(st.integers(1, 4), max_size=3))
                ahead = draw(st.sampled_from([0, 0, 100, -100]))
                crawls[-1].append(Crawl(draw(st.permutations(all_of)), rule, turns, ahead))
        editions.append(Edition(dict(state), dict(version), crawls, names))
    return editions


def path_of(at: Address) -> str:
    return f"/{SECTIONS[at[1]]}/story-{WORDS[at[0]]}"


@lru_cache(None)
def page_of(at: Address, version: int, canonical: Address | None = None) -> Page:
    """Return what an article says: odd versions have a word more, and those from 2 on others."""
    article, section = at
    chosen = random.Random(f"{article} {version // 2}")
    name = " ".join(random.Random(article).choices(WORDS, k=3)).title()
    lines = [" ".join(chosen.choices(WORDS, k=14)) for _ in range(8)]
    lines[3] += " corrected" * (version % 2)
    text = f"<h1>{name}</h1>" + "".join(f"<p>{line}.</p>" for line in lines)
    body = (
        f"<nav><a href='/'>Home</a></nav><article>{text}</article>",
        text,
        f"<header>News</header><div>{text}</div>",
    )[section]
    link = canonical and f"<link rel=canonical href={path_of(canonical)}>"
    html = f"<html><head><title>{name}</title>{link or ''}</head><body>{body}</body></html>"
    return read_page(html.encode(), url=f"http://{SITE}{path_of(at)}")


class RuledKeys(Keys):
    """The keys of a crawl; where the rule acts, the first part of a path does not matter."""

    rule = False

    def of(self, url: str, *, word: str = "", canonical: str = "") -> PageKey:
        found = super().of(url, word=word, canonical=canonical)
        if not self.rule:
            return found
        return found._replace(key=re.sub(f"{SITE}/[^/]+", f"{SITE}/*", found.key))


class User:
    """Who keeps the version of each article that came last, and removes it once it is gone.

    `shows` are the versions that came from addresses, as long as nobody has seen others there.
    """

    def __init__(self) -> None:
        self.has: dict[int, tuple[Address, int]] = {}
        self.shows: dict[Address, int] = {}
        self.twice: list[tuple[Address, int]] = []

    def gets(self, at: Address, edition: Edition) -> None:
        version = edition.version[at[0]]
        its_address, its_version = self.has.get(at[0], (at, -1))
        if its_version == version and edition.is_alive(its_address):
            self.twice.append((at, version))
        self.has[at[0]] = at, version
        self.shows[at] = version

    def sees(self, at: Address, version: int | None) -> None:
        """Look at what an address shows, None for nothing."""
        if self.shows.get(at) != version:
            self.shows.pop(at, None)
        if version is None and self.has.get(at[0], (None,))[0] == at:
            del self.has[at[0]]

    def check(self, edition: Edition) -> None:
        assert not self.twice
        for article, version in edition.version.items():
            own = [at for at in edition.state if at[0] == article]
            has = self.has.get(article)
            if not any(map(edition.is_alive, own)):
                assert has is None
            elif any(edition.is_alive(at) and edition.state[at] != "unlinked" for at in own):
                assert has is not None
                assert edition.is_alive(has[0])
                # A page to which nothing leads any more may still be what it was when it came.
                assert version in [has[1], *(self.shows.get(at) for at in own)]


class Run:
    """A crawl on a store, one visit after the other, as the middleware makes it."""

    def __init__(self, store: Store, name: str, crawl: Crawl, edition: Edition) -> None:
        self.store, self.name, self.edition = store, name, edition
        self.left, self.turns, self.ahead = list(crawl.order), list(crawl.turns), crawl.ahead
        self.sent: set[str] = set()
        self.outcomes: list[tuple[Address, Verdict, bool]] = []
        keys = RuledKeys()
        keys.rule = self.rule = crawl.rule
        self.keys = PageKeys(None, keys)  # type: ignore[arg-type]
        store.begin(name)
        self.gate = Gate(store, run=name, pipeline="v1")

    def submit(self, ask: Callable[[Gate], object]) -> None:
        ask(self.gate)

    def turn(self, clock: Iterator[int], user: User, query: Callable[[], str]) -> None:
        for _ in range(self.turns.pop(0) if self.turns else 1):
            if self.left:
                self.visit(self.left.pop(0), HOUR * (next(clock) + self.ahead), user, query())

    def visit(self, asked: Address, at: float, user: User, query: str) -> None:
        state, way = self.edition.state, self.edition.way(asked)
        if state[asked] == "unlinked":
            return
        *before, url = [f"http://{SITE}{path_of(each)}{query}" for each in way]
        # Else a filter of requests hides that several addresses lead to one that is gone.
        if url in self.sent and state[way[-1]] != "gone":
            return
        self.sent.add(url)
        request = Request(url, meta={"simhash_gate_time": at})
        if before:
            request.meta.update(redirect_urls=before, redirect_reasons=[301] * len(before))
        if state[way[-1]] == "gone":
            note(f"{at / HOUR}: {self.name}, {url} is gone")
            self.keys.note_gone(self, request, POLICIES)  # type: ignore[arg-type]
            for each in way:
                user.sees(each, None)
            return
        article = way[-1]
        version = self.edition.version[article[0]]
        user.sees(article, version)
        asked_key, moved = self.keys.of_request(request), self.keys.moved_from(request)
        page = page_of(article, version, self.edition.canonical(article))
        key = self.keys.of_page(asked_key, request, Response(url), page, SITE, at)
        rendition = key.by == "canonical" and key.key != asked_key.key
        visit = Visit(url, SITE, key.key, at, "parse", "", 0, moved_from=moved, rendition=rendition)
        verdict = self.gate.judge(page, visit=visit)
        # An address to which nothing leads any more may still show what the page says again.
        shown = any(user.shows.get(other) == version for other in state if other[0] == article[0])
        shown = shown or user.has.get(article[0], (article, -1))[1] == version
        self.outcomes.append((article, verdict, shown))
        note(f"{at / HOUR}: {self.name}, {url} in version {version}: {verdict.outcome}")
        if not verdict.rejected:
            user.gets(article, self.edition)
        if verdict.record is not None:
            self.store.update([verdict.record], settled=True, gave=UNKNOWN_GAVE)


@contextmanager
def open_stores(kind: str) -> Iterator[list[Store]]:
    """Open a store for each of two crawls: that in memory is one."""
    if kind == "memory":
        with closing(open_store("memory:")) as store:
            yield [store, store]
        return
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/pages.sqlite"
        with closing(open_store(url)) as one, closing(open_store(url)) as other:
            yield [one, other]


def crawl(
    edition: Edition,
    stores: list[Store],
    clock: Iterator[int],
    user: User,
    query: Callable[[], str] = str,
) -> Iterator[list[Run]]:
    """Yield the crawls of an edition, some two at once, after they have ended."""
    for at_once in edition.crawls:
        note(f"{edition.state}, {edition.version}")
        runs = [
            Run(store, f"run {next(clock)}", each, edition)
            for store, each in zip(stores, at_once, strict=False)
        ]
        while any(run.left for run in runs):
            for run in runs:
                run.turn(clock, user, query)
        for run in runs:
            run.store.end(run.name)
        yield runs


@settings(max_examples=150)
@given(editions=plans(), kind=st.sampled_from(["sqlite", "memory"]))
def test_what_a_user_has_is_what_the_site_has(editions, kind) -> None:
    clock, user = count(1), User()
    with open_stores(kind) as stores:
        for edition in editions:
            for number, runs in enumerate(crawl(edition, stores, clock, user)):
                assert not user.twice
                # A copy that is met before its page is found gone comes in the next crawl. Of two
                # crawls at once, none knows what the other has found gone.
                if number and len(runs) == 1:
                    user.check(edition)


@st.composite
def still_sites(draw) -> Edition:
    """Draw a site that does not change, whose addresses come several times, under sessions."""
    numbers = draw(st.lists(st.integers(1, len(SECTIONS)), min_size=1, max_size=3))
    all_of = [(a, b) for a, many in enumerate(numbers) for b in range(many)]
    state = draw(st.fixed_dictionaries(dict.fromkeys(all_of, st.sampled_from(["page", "gone"]))))
    orders = st.permutations(2 * all_of)
    rules = draw(st.lists(st.booleans(), min_size=2, max_size=5))
    crawls = [[Crawl(draw(orders), rule)] for rule in rules]
    return Edition(state, dict.fromkeys(range(len(numbers)), 0), crawls)


@settings(max_examples=50)
@given(edition=still_sites(), kind=st.sampled_from(["sqlite", "memory"]))
def test_the_rows_of_a_site_that_does_not_change_stay_as_many(edition, kind) -> None:
    """Whatever its sessions; a page has a history under each key that it had."""
    clock, user, sessions = count(1), User(), count()
    rows: dict[bool, int] = {}
    articles = {at[0] for at, state in edition.state.items() if state == "page"}
    with open_stores(kind) as (store, _):
        for (run,) in crawl(edition, [store], clock, user, lambda: f"?sid={next(sessions)}"):
            assert not user.twice
            assert len([*store.records()]) == len(articles)
            kept = [page for page in histories(store) if ("*" in page.key) == run.rule]
            assert rows.setdefault(run.rule, len(kept)) == len(kept)


@st.composite
def named_sites(draw) -> list[Edition]:
    """Draw a site whose articles are corrected, and come first by the address that all name."""
    numbers = draw(st.lists(st.integers(1, len(SECTIONS)), min_size=1, max_size=3))
    all_of = [(a, b) for a, many in enumerate(numbers) for b in range(many)]
    editions, orders = [], [[(a, 0) for a in range(len(numbers))], *[all_of] * 4]
    for order in orders:
        version = {a: draw(st.integers(0, 1)) for a in range(len(numbers))}
        some = draw(st.lists(st.sampled_from(order), unique=True)) if editions else order
        crawls = [[Crawl(some, rule=False)]]
        editions.append(Edition(dict.fromkeys(all_of, "page"), version, crawls, "right"))
    return editions


@settings(max_examples=30)
@given(editions=named_sites(), kind=st.sampled_from(["sqlite", "memory"]))
def test_a_page_that_changes_is_one_page_by_all_addresses_that_name_it(editions, kind) -> None:
    """As an article that is corrected, and is read today by `?ref=mostread`."""
    clock, user = count(1), User()
    known: dict[int, int] = {}
    with open_stores(kind) as (store, _):
        for edition in editions:
            for (run,) in crawl(edition, [store], clock, user):
                met = set()
                for (article, _), verdict, shown in run.outcomes:
                    version = edition.version[article]
                    if article in met:
                        assert verdict.outcome == "duplicate"
                    elif known.get(article) == version:
                        assert verdict.outcome == "unchanged"
                    else:
                        changed = ["updated", "rewritten", *["unchanged"] * shown]
                        assert verdict.outcome in (changed if article in known else ["new"])
                    met.add(article)
                    known[article] = version
            assert {page.key for page in histories(store)} == {
                f"https://{SITE}{path_of((article, 0))}" for article in known
            }


@settings(max_examples=30)
@given(editions=named_sites(), kind=st.sampled_from(["sqlite", "memory"]))
def test_pages_that_name_another_page_stay_pages(editions, kind) -> None:
    clock, user = count(1), User()
    with open_stores(kind) as (store, _):
        for edition in editions:
            edition.names = "wrong"
            for (run,) in crawl(edition, [store], clock, user):
                for at, verdict, _ in run.outcomes:
                    assert verdict.match is None or WORDS[at[0]] in verdict.match.record.url
