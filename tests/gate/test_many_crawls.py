"""Many crawls of one site: what a user has who keeps what is delivered is what the site has."""

from __future__ import annotations

import os
import random
import re
import tempfile
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import lru_cache
from types import SimpleNamespace

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from scrapy import Request

from simhash_gate.gate.asked import Asked
from simhash_gate.gate.judge import Gate
from simhash_gate.gate.policy import Policy
from simhash_gate.gate.revisit import Sent
from simhash_gate.identity.keys import Keys, PageKey
from simhash_gate.page import Page
from simhash_gate.pipeline import read_page
from simhash_gate.plugin.page_keys import PageKeys, moved_from, note_gone
from simhash_gate.stores import open_store
from simhash_gate.stores.store import Store

SITE = "example.com"
SECTIONS = ("news", "print", "m")
WORDS = [f"{a}{b}{c}" for a in "bcdfglmnprstv" for b in "aeiou" for c in ("lan", "mer", "no", "s")]
HOUR = 3_600.0
Address = tuple[int, int]


@dataclass
class Edition:
    """What the site has for some time, and how it is crawled then.

    Each address of an article is a page, `gone`, or `unlinked`: a page that nothing leads to; or it
    has moved to another address of the article, that of a number.
    """

    state: dict[Address, str | int]
    version: dict[int, int]
    crawls: list[list[Crawl]]

    def final(self, at: Address) -> Address | None:
        """Return where an address leads to in the end; None if it leads round in circles."""
        seen = [at]
        while isinstance(to := self.state[at], int):
            at = (at[0], to)
            if at in seen:
                return None
            seen.append(at)
        return at

    def is_alive(self, at: Address) -> bool:
        return self.state[self.final(at)] in ("page", "unlinked")


@dataclass
class Crawl:
    """A crawl in its order; with others in one list it runs at once, each taking some turns."""

    order: list[Address]
    rule: bool
    turns: list[int]


@st.composite
def plans(draw) -> tuple[list[Edition], bool]:
    numbers = draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))
    all_of = [(a, b) for a, many in enumerate(numbers) for b in range(many)]
    rules = draw(st.sampled_from(os.environ.get("RULES", "none learned any").split()))
    editions = []
    acts = False
    state: dict = dict.fromkeys(all_of, "page")
    version = dict.fromkeys(range(len(numbers)), 0)
    for _ in range(draw(st.integers(1, 4))):
        for at in draw(st.lists(st.sampled_from(all_of), max_size=3)):
            others = [b for b in range(numbers[at[0]]) if b != at[1]]
            state[at] = draw(st.sampled_from(["page", "gone", "unlinked", *others]))
            if Edition(state, {}, []).final(at) is None:
                state[at] = "page"
        for a in draw(st.lists(st.sampled_from(range(len(numbers))), max_size=2)):
            # The old text may be kept under the key of a rule that is taken back since.
            version[a] = draw(st.integers(version[a] if rules == "any" else 0, 3))
        crawls = []
        for _ in range(draw(st.integers(1, 2))):
            at_once = []
            for _ in range(draw(st.sampled_from([1, 1, 1, 2]))):
                if rules == "any":
                    acts = draw(st.booleans())
                elif rules == "learned":
                    acts = acts or draw(st.booleans())
                turns = draw(st.lists(st.integers(1, 4), max_size=3))
                at_once.append(Crawl(draw(st.permutations(all_of)), acts, turns))
            crawls.append(at_once)
        editions.append(Edition(dict(state), dict(version), crawls))
    return editions, draw(st.booleans())


def path_of(at: Address) -> str:
    return f"/{SECTIONS[at[1]]}/story-{WORDS[at[0]]}"


@lru_cache(None)
def page_of(article: int, version: int, section: int) -> Page:
    """Return what an article says: a word is another in each odd version, and all from 2 on."""
    draw = random.Random(f"{article} {version // 2}")
    name = " ".join(random.Random(article).choices(WORDS, k=3)).title()
    lines = [" ".join(draw.choices(WORDS, k=14)) for _ in range(8)]
    lines[3] += " corrected" * (version % 2)
    text = "".join(f"<p>{line}.</p>" for line in lines)
    body = {
        0: f"<nav><a href='/'>Home</a></nav><article><h1>{name}</h1>{text}</article>",
        1: f"<h1>{name}</h1><div id='text'>{text}</div>",
        2: f"<header>News</header><div class='m'><h1>{name}</h1>{text}</div>",
    }[section]
    html = f"<html><head><title>{name}</title></head><body>{body}</body></html>"
    return read_page(html.encode(), url=f"http://{SITE}{path_of((article, section))}")


class RuledKeys(Keys):
    """The keys of a crawl; once a rule `acts`, the first part of a path does not matter."""

    acts = False

    def of(self, scope: str, url: str, *, word: str = "", canonical: str = "") -> PageKey:
        found = super().of(scope, url, word=word, canonical=canonical)
        if not self.acts:
            return found
        return found._replace(key=re.sub(f"{SITE}/[^/]+/", f"{SITE}/*/", found.key))


@dataclass
class User:
    """Who keeps what is delivered, by article, and drops what is gone."""

    has: dict[int, tuple[Address, int]] = field(default_factory=dict)
    twice: list = field(default_factory=list)
    rows: dict[Address, int] = field(default_factory=dict)

    def gets(self, at: Address, version: int, edition: Edition) -> None:
        before = self.has.get(at[0])
        if before is not None and before[1] == version and edition.is_alive(before[0]):
            self.twice.append((at, version, before))
        self.has[at[0]] = at, version
        self.rows[at] = version

    def finds_gone(self, asked: list[Address]) -> None:
        for at in asked:
            self.rows.pop(at, None)
            if at[0] in self.has and self.has[at[0]][0] == at:
                del self.has[at[0]]


class Run:
    """A crawl as the middleware runs it, one visit after the other."""

    def __init__(self, store: Store, number: int, crawl: Crawl, edition: Edition) -> None:
        self.name = f"run {number}"
        self.store, self.edition = store, edition
        self.left = list(crawl.order)
        self.seen: set[Address] = set()
        keys = RuledKeys()
        keys.acts = crawl.rule
        self.keys = PageKeys(None, keys)  # type: ignore[arg-type]
        store.begin(self.name)
        self.gate = Gate(store, run=self.name, pipeline="v1")
        self.policies = SimpleNamespace(site_of=lambda url: SimpleNamespace(scope=SITE))

    def submit(self, ask) -> None:
        ask(self.gate)

    def visit(self, at: float, user: User, sid: str) -> None:
        """Make the next visit."""
        asked = self.left.pop(0)
        edition = self.edition
        if edition.state[asked] == "unlinked":
            return
        way = [asked]
        while isinstance(to := edition.state[way[-1]], int):
            way.append((asked[0], to))
        final = way[-1]
        if final in self.seen and edition.state[final] != "gone":
            return  # the filter of duplicate requests
        self.seen.add(final)
        urls = [f"http://{SITE}{path_of(each)}{sid}" for each in way]
        request = Request(urls[-1], meta={"simhash_gate_time": at})
        if urls[:-1]:
            reasons = [301] * len(urls[:-1])
            request.meta.update(redirect_urls=urls[:-1], redirect_reasons=reasons)
        if edition.state[final] == "gone":
            note_gone(self, self.keys, request, self.policies)
            user.finds_gone(way)
            note(f"{at / HOUR}: {self.name} finds {way} gone")
            return
        version = edition.version[final[0]]
        if user.rows.get(final) != version:
            user.rows.pop(final, None)
        key = self.keys.of_request(request, SITE).key
        verdict = self.gate.judge(
            page_of(final[0], version, final[1]),
            url=urls[-1],
            scope=SITE,
            request=key,
            at=at,
            sent=Sent(moved_from=moved_from(self.keys, request, SITE)),
            asked=Asked("parse", gives=False),
        )
        match = verdict.match and verdict.match.record
        note(f"{at / HOUR}: {self.name} {key} {way} v{version}: {verdict.outcome} {verdict.reason}"
             f" {match and (match.url, match.request)}")
        if not verdict.rejected:
            user.gets(final, version, edition)
        if verdict.record is not None:
            self.store.update([verdict.record], settled=True, gave=not verdict.rejected)


def crawl_at_once(runs: list[Run], turns: list[list[int]], clock, user: User, sids) -> None:
    while any(run.left for run in runs):
        for run, its in zip(runs, turns, strict=True):
            for _ in range(its.pop(0) if its else 1):
                if run.left:
                    run.visit(next(clock), user, next(sids))
    for run in runs:
        run.store.end(run.name)


def check(plan, stores: list[Store], sids) -> None:
    clock = (HOUR * n for n in range(1, 10_000))
    user, number = User(), 0
    for edition in plan:
        settled = 0
        for at_once in edition.crawls:
            runs = []
            for place, crawl in enumerate(at_once):
                number += 1
                runs.append(Run(stores[place], number, crawl, edition))
            note(f"crawl of {edition.state} {edition.version}")
            crawl_at_once(runs, [crawl.turns for crawl in at_once], clock, user, sids)
            assert not user.twice
            settled += 1
            if settled < STRICT or len(at_once) > 1:
                continue
            for article, version in edition.version.items():
                own = [at for at in edition.state if at[0] == article]
                there = [at for at in own if edition.is_alive(at) and edition.state[at] != "unlinked"]
                has = user.has.get(article)
                if not any(map(edition.is_alive, own)):
                    assert has is None, article
                elif there:
                    assert has is not None, article
                    # What an address showed that nothing leads to any more may be there still.
                    assert version in [has[1], *(user.rows.get(at) for at in own)], (article, has)
                    assert edition.is_alive(has[0]), (article, has)


STRICT = int(os.environ.get("STRICT", 2))


@settings(max_examples=int(os.environ.get("EXAMPLES", 100)), deadline=None,
          suppress_health_check=[HealthCheck.too_slow])
@given(plan=plans())
def test_a_user_has_what_the_site_has(plan) -> None:
    editions, in_memory = plan
    if in_memory:
        with closing(open_store("memory:")) as store:
            check(editions, [store, store], iter(lambda: "", None))
        return
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        url = f"sqlite:///{folder}/pages.sqlite"
        stores = [stack.enter_context(closing(open_store(url))) for _ in range(2)]
        check(editions, stores, iter(lambda: "", None))
