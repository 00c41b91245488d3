"""The trap shield over generated sites: traps end soon, honest sites are left alone."""

import random
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_gate.fingerprints.folding import HashedLines
from simhash_gate.fingerprints.sample import read_sample, sample_of
from simhash_gate.identity import traps
from simhash_gate.identity.address import address_of
from simhash_gate.identity.traps import TracedRequest, TrapShield
from tests.identity import sites

ORDERS = ("breadth", "depth", "shuffled")


def in_any_order(pages: sites.Pages, start: str, most: int) -> list[sites.Crawled]:
    """Crawl a site in each order; its pages are made once."""
    pages = cache(pages)
    return [sites.crawl(pages, start, most, order=order) for order in ORDERS]


@pytest.mark.parametrize("style", ["number", "root", "deeper"])
def test_a_maze_ends_though_no_two_pages_are_alike(style: str) -> None:
    for done in in_any_order(sites.maze(style), "/maze/start", 300):
        assert len(done.fetched) <= 200
        assert "endless" in {change.why for change in done.changes}


@pytest.mark.parametrize(
    ("pages", "start", "real"),
    [(sites.filters, "/shop", 300), (sites.session_path, "/", 80)],
)
def test_an_endless_space_ends(pages: sites.Pages, start: str, real: int) -> None:
    """`real` pages bring something new, or are found on pages that do."""
    for done in in_any_order(pages, start, 600):
        assert len(done.fetched) <= 200 + real
        assert any(change.why for change in done.changes)


def test_articles_in_the_shape_of_a_trap_are_all_fetched() -> None:
    for done in in_any_order(sites.soft404, "/", 3_000):
        assert {f"/article/{number}" for number in range(300)} <= {*done.fetched}
        # Each article names one that is missing; behind these it goes no deeper.
        assert len(done.fetched) <= 601 + 200


@pytest.mark.parametrize(
    ("pages", "start"),
    [
        (sites.archive(300), "/"),
        (sites.chain(300, vocabulary=600), "/story/0"),
        (sites.web(330, vocabulary=600), "/wiki/0"),
        (sites.tree(5, 5), "/taxon?id="),
        (sites.catalogue(300), "/"),
    ],
)
def test_a_large_honest_site_is_never_limited(pages: sites.Pages, start: str) -> None:
    for done in in_any_order(pages, start, 300):
        assert len(done.fetched) >= 300
        assert done.held == []
        assert not any(change.why for change in done.changes)


def test_thousands_of_articles_of_one_shape_are_never_limited() -> None:
    """So many that their words are no new ones, and new words count no more."""
    done = sites.crawl(sites.archive(2_400, vocabulary=600, words=40), "/", 3_000)
    assert len(done.fetched) == 2_521
    assert done.held == []


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=300), st.randoms())
def test_every_request_is_fetched_or_said_to_be_held_back(
    stream: list[tuple[int, bool]], rng: random.Random
) -> None:
    shield = TrapShield()
    parents = [shield.ask(address_of("https://a.example/"), "a.example", None)]
    for number, (branch, new) in enumerate(stream):
        address = address_of(f"https://a.example/{branch}/{number}")
        parent = rng.choice(parents)
        shield.found(parent, address, "a.example")
        visit = shield.ask(address, "a.example", parent.as_origin)
        assert visit.held == (bool(visit.why) and not visit.probe)
        if visit.held:
            assert visit.group.held > 0
            assert parent.leads_into_trap
            continue
        judged(shield, visit, passed=new, title=f"x{number}")
        parents.append(visit)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOST_SHAPES", "MOST_SCOPES", "MOST_KNOWN", "MOST_HASHES"):
        monkeypatch.setattr(traps, name, 50)
    shield = TrapShield()
    origin = None
    for number in range(800):
        scope = f"s{number % 11}.example"
        keys = "&".join(f"k{sites.word(number % (3 + each))}=1" for each in range(4))
        url = f"https://{scope}/{sites.word(number % 60)}?{keys}&n={number}"
        visit = shield.ask(address_of(url), scope, origin)
        judged(shield, visit, passed=True, title=f"word{number}")
        origin = visit.as_origin
        assert len(shield) <= 250


@pytest.mark.parametrize("url", ["http://[", "", "mailto:x", "https://a.example", "//"])
def test_any_url_can_be_asked_for(url: str) -> None:
    shield = TrapShield()
    visit = shield.ask(address_of(url), "a.example", None)
    assert not visit.held
    assert shield.found(visit, address_of(url), "a.example") == []


def test_what_leads_to_no_more_of_its_part_is_no_trap() -> None:
    """Nine hundred profiles that say nothing, on a list: they end by themselves."""
    done = sites.crawl(sites.profiles(900), "/members/list/0", 2_000)
    assert len(done.fetched) == 945
    assert done.held == []


def test_what_is_for_sale_is_something_new() -> None:
    """Variants of a product have one text, and lead to others: each has a price of its own."""
    shield, origin = TrapShield(), None
    for number in range(300):
        address = address_of(f"https://a.example/shop/lamp?finish={number}")
        visit = shield.ask(address, "a.example", origin)
        assert not visit.held
        judged(shield, visit, passed=True, title="Lamp", offers=(("price", f"{number} EUR"),))
        more = address_of(f"https://a.example/shop/lamp?finish={number + 1}")
        assert shield.found(visit, more, "a.example") == []
        origin = visit.as_origin


def test_old_versions_in_a_part_that_is_limited_are_something_new() -> None:
    """A quarter of what each says is new. Lists of them, and logs, bring nothing."""
    shield, log = TrapShield(), None
    for number in range(100):
        log = ask(shield, f"/wiki/log?from={number}", log)
        judged(shield, log, passed=False, title="Log")
        shield.found(log, address_of(f"{SITE}/wiki/log?from={number + 1}"), "a.example")
    assert log is not None
    assert log.group.why == "barren"
    for number in range(200, 300):
        page = f"/wiki/{sites.word(number)}"
        article = ask(shield, page, None)
        judged(shield, article, passed=True, title="Story", blocks=sites.prose(page))
        history = ask(shield, f"{page}?history", log)
        judged(shield, history, passed=True, title="Log")
        version = ask(shield, f"{page}?version=1", history)
        assert not version.held
        changed = zip(sites.prose(page), sites.prose(f"{page} before"), strict=True)
        blocks = [old[:15] + new[15:] for old, new in changed]
        judged(shield, version, passed=True, title="Story", blocks=blocks)


SITE = "https://a.example"


def ask(shield: TrapShield, path: str, parent: TracedRequest | None) -> TracedRequest:
    origin = parent.as_origin if parent else None
    return shield.ask(address_of(SITE + path), "a.example", origin)


def judged(
    shield: TrapShield, visit: TracedRequest, *, passed: bool, title: str, offers=(), blocks=None
):
    sample = read_sample(sample_of(HashedLines.of(blocks or [title.split()])))
    return shield.judged(
        visit, "a.example", passed=passed, title=title, sample=sample, offers=offers
    )


def test_a_chain_is_no_maze_whatever_words_it_repeats() -> None:
    """Sixty words in new combinations on each page; the last of 3,000 words come ever later."""
    shield, origin = TrapShield(), None
    for number in range(900):
        visit = ask(shield, f"/archive?page={number}", origin)
        assert not visit.held
        blocks = sites.prose(f"page {number}", words=60, vocabulary=3_000)
        judged(shield, visit, passed=True, title="Archive", blocks=blocks)
        shield.found(visit, address_of(f"{SITE}/archive?page={number + 1}"), "a.example")
        origin = visit


def test_a_chain_that_leads_to_ever_more_copies_is_a_maze() -> None:
    """Comments by a machine, each with a link to answer it on a copy of an article."""
    shield, origin = TrapShield(), None
    for number in range(900):
        visit = ask(shield, f"/comments?before={number}", origin)
        if visit.held:
            break
        blocks = sites.prose(f"page {number}", words=60, vocabulary=600)
        judged(shield, visit, passed=True, title="Comments", blocks=blocks)
        shield.found(visit, address_of(f"{SITE}/comments?before={number + 1}"), "a.example")
        for copy in range(2):
            shield.is_known(ask(shield, f"/story/{copy}?reply={number}", visit))
        origin = visit
    assert origin is not None
    assert origin.group.why == "endless"
    assert number < 200
