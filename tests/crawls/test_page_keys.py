"""A page is one page whatever address it comes by, with and without a canonical link."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from simhash_gate.cli import main
from tests.crawls.harness import Answer, Site, corrected, crawl, page, text
from tests.crawls.test_revisits import outcomes

ADDRESSES = [
    ("/a{n}", "/a{n}"),
    ("/~a{n}", "/%7Ea{n}"),
    ("/a{n}?x=1&y=2", "/a{n}?y=2&x=1"),
    ("/a{n}?utm_source=mail", "/a{n}?utm_source=feed&fbclid=5"),
    ("/a{n}", "/a{n}?gclid=7"),
    ("/a{n}?PHPSESSID=0a", "/a{n}?PHPSESSID=1b"),
    ("/a{n};jsessionid=0A", "/a{n}"),
    ("/a{n}", "/a{n}/"),
    ("/a{n}/", "/a{n}/index.html"),
]
"""The addresses of pages in the first crawl, and in the second one."""
UNCHANGED, CHANGED, GONE = 0, 1, 2
FINGERPRINTER = "simhash_gate.plugin.page_keys.PageKeyFingerprinter"


def with_link(answer: Answer, href: str) -> Answer:
    """Return a page that calls a URL its own."""
    link = f'<link rel="canonical" href="{href}"><title>'.encode()
    return Answer(answer.body.replace(b"<title>", link, 1), headers=answer.headers)


def store_of(request, kind: str, folder) -> str:
    if kind == "redis":
        return f"{request.getfixturevalue('redis_server').url}?prefix={folder.name}:"
    return f"sqlite:///{folder}/store.sqlite"


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("redis", marks=pytest.mark.slow)])
@pytest.mark.parametrize("canonical", [False, True])
def test_the_second_crawl_knows_each_page_by_another_address(
    request, tmp_path, kind: str, canonical: bool
) -> None:
    first: dict[str, Answer] = {}
    second: dict[str, Answer] = {}
    expected: dict[str, str] = {}
    for row, addresses in enumerate(ADDRESSES):
        for fate in (UNCHANGED, CHANGED, GONE):
            number = 10 * row + fate
            old, new = (form.format(n=number) for form in addresses)
            told = page(number)
            own = old if "x=1" in old else old.partition("?")[0]
            answer = with_link(told, own) if canonical else told
            first[old] = answer
            if fate == GONE:
                copy = f"/copy{number}"
                second[copy] = page(number, noise=3)
                expected[copy] = "new"  # what it is a copy of is gone
            else:
                second[new] = corrected(answer) if fate == CHANGED else answer
                expected[new] = "updated" if fate == CHANGED else "unchanged"
    asked = [path for path in [*second] if "copy" not in path]
    gone = [new.format(n=10 * row + GONE) for row, (_, new) in enumerate(ADDRESSES)]
    copies = [path for path in second if "copy" in path]
    settings = {
        "SIMHASH_GATE_STORE": store_of(request, kind, tmp_path),
        "SIMHASH_GATE_REVISIT": "pass",
        "CONCURRENT_REQUESTS": 1,
        "HTTPERROR_ALLOW_ALL": True,
    }
    with Site(first).running() as site:
        result = crawl(tmp_path / "1", site, " ".join(first), settings=settings)
        assert outcomes(result) == dict.fromkeys(first, "new")
        site.routes = second
        paths = " ".join([*gone, *asked, *copies])
        result = crawl(tmp_path / "2", site, paths, settings=settings)
    found = {path: outcome for path, outcome in outcomes(result).items() if path in expected}
    assert found == expected


FALSE = {
    "home": "/",
    "page 1": "/list?page=1",
    "another site": "http://other.example/a",
    "another page": "/story/0",
    "a chain": "/story/{before}",
    "relative": "index.html",
}


@pytest.mark.parametrize("target", FALSE.values(), ids=FALSE)
def test_false_canonical_links_lose_nothing(tmp_path, target: str) -> None:
    routes = {"/": page(1_000)}
    for number in range(8):
        routes[f"/story/{number}"] = with_link(page(number), target.format(before=number - 1))
        routes[f"/list?page={number + 1}"] = with_link(page(500 + number), target.format(before=0))
    settings = {"SIMHASH_GATE_STORE": f"sqlite:///{tmp_path}/store.sqlite"}
    with Site(routes).running() as site:
        first = crawl(tmp_path / "1", site, " ".join(routes), settings=settings)
        assert outcomes(first) == dict.fromkeys(routes, "new")
        site.routes = {path: corrected(answer) for path, answer in routes.items()}
        second = crawl(tmp_path / "2", site, " ".join(routes), settings=settings)
        assert {*outcomes(second)} == {*routes}
        third = crawl(tmp_path / "3", site, " ".join(routes), settings=settings)
    assert first.count("dropped") == second.count("dropped") == 0
    assert third.count("unchanged") == len(routes)


@pytest.mark.parametrize("orders", ["bac acb bac", "abc acb abc"])
def test_what_comes_back_is_delivered_in_whatever_order_canonical_links_are_met(
    tmp_path, orders: str
) -> None:
    """The first page with a link may be taken for its target, until another page contradicts."""
    settings = {
        "SIMHASH_GATE_STORE": f"sqlite:///{tmp_path}/store.sqlite",
        "CONCURRENT_REQUESTS": 1,
    }
    routes = {"/p?v=a": with_link(page(1), "/p"), "/p?v=c": with_link(page(2), "/p")}
    with Site(routes).running() as site:
        for day, order in enumerate(orders.split()):
            price = f" In blue it costs {10 + day % 2} of our coins.</p>".encode()
            blue = replace(page(1), body=page(1).body.replace(b"</p>", price, 1))
            site.routes = {**routes, "/p?v=b": with_link(blue, "/p")}
            paths = " ".join(f"/p?v={name}" for name in order)
            result = crawl(tmp_path / str(day), site, paths, settings=settings)
            assert "/p?v=b" in result.delivered()
    assert result.delivered() == ["/p?v=b"]


@pytest.mark.parametrize("says", ["canonical", "tracking"])
def test_a_page_that_has_changed_is_known_by_an_address_that_is_new(tmp_path, says: str) -> None:
    """Much of a short page changes, and it comes by another address in each crawl."""
    settings = {"SIMHASH_GATE_STORE": f"sqlite:///{tmp_path}/store.sqlite"}
    if says == "tracking":
        settings["SIMHASH_GATE_TRACKING"] = "ref"

    def told(number: int, day: int) -> Answer:
        answer = page(number, words=200)
        body = answer.body.replace(b"</p>", f" {text(900 + day, 14)}.</p>".encode(), 1)
        answer = replace(answer, body=body)
        return with_link(answer, f"/a{number}") if says == "canonical" else answer

    with Site({}).running() as site:
        for day, query in enumerate(("", "?ref=b", "?ref=c", "")):
            site.routes = {f"/a{n}{query}": told(n, day) for n in range(8)}
            result = crawl(tmp_path / str(day), site, settings=settings)
            known = {"new"} if day == 0 else {"updated", "rewritten"}
            assert {*outcomes(result).values()} <= known
            assert len(result.items) == 8


def test_two_canonical_links_say_nothing(tmp_path) -> None:
    routes = {}
    for number in range(4):
        routes[f"/story/{number}"] = with_link(with_link(page(number), "/x"), "/y")
    result = crawl(tmp_path, routes)
    assert outcomes(result) == dict.fromkeys(routes, "new")


def test_what_the_spider_says_is_the_page(tmp_path) -> None:
    words = """
    def request(self, path, **more):
        found = super().request(path, **more)
        found.meta["simhash_gate_page"] = path.rpartition("/")[2]
        return found
"""
    settings = {"SIMHASH_GATE_STORE": f"sqlite:///{tmp_path}/store.sqlite"}
    routes = {"/old/7": page(7), "/old/8": page(8)}
    with Site(routes).running() as site:
        crawl(tmp_path / "1", site, " ".join(routes), spider=words, settings=settings)
        site.routes = {"/new/7": corrected(page(7)), "/new/8": page(8)}
        settings["SIMHASH_GATE_REVISIT"] = "pass"
        paths = " ".join(site.routes)
        second = crawl(tmp_path / "2", site, paths, spider=words, settings=settings)
    assert outcomes(second) == {"/new/7": "updated", "/new/8": "unchanged"}


def test_scrapy_itself_can_drop_requests_by_what_never_matters(tmp_path) -> None:
    words = """
    def request(self, path, **more):
        found = super().request(path, **more)
        if "word" in path:
            found.meta["simhash_gate_page"] = "one"
        return found
"""
    routes = {"/a": page(1), "/b?ref=1": page(2), "/b?ref=2": page(3), "/word/1": page(4)}
    asked = "/a /a?utm_source=x&gclid=7 /b?ref=1 /b?ref=2 /word/1 /word/2 /a?own=1"
    settings = {"REQUEST_FINGERPRINTER_CLASS": FINGERPRINTER, "SIMHASH_GATE_TRACKING": "own"}
    result = crawl(tmp_path, routes, asked, spider=words, settings=settings)
    assert {*result.site.hits} == {*routes}
    assert result.stats["dupefilter/filtered"] == 3


SESSIONS = ("0a1b" * 8, "2c3d" * 8)
FORMS = ("/a;jsessionid={}", "/b?PHPSESSID={}&x=1", "/c?sid={}", "/(S({}))/d", "/e?utm_id={}")


def test_sessions_are_left_out_of_fingerprints_and_numbers_of_pages_are_not(tmp_path) -> None:
    routes = {f.format(s): page(n) for n, f in enumerate(FORMS) for s in SESSIONS}
    numbered = {f"/c?sid={n}": page(10 + n) for n in range(2)}
    settings = {"REQUEST_FINGERPRINTER_CLASS": FINGERPRINTER}
    result = crawl(tmp_path, routes | numbered, settings=settings)
    assert {*result.site.hits} == {*numbered, *(form.format(SESSIONS[0]) for form in FORMS)}


DISCARDING = """
import tldextract.tldextract  # asks the network for a list
tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
class Spider(Base):
    name = "test"
    def request(self, path, **more):
        return super().request(path, meta={"dud": "past" not in path}, **more)
"""


def test_a_crawl_tells_rules_to_the_next_which_tells_when_one_is_wrong(tmp_path) -> None:
    """The second crawl requests pages by new values of `ref`, which then chooses what is shown."""
    logs = [str(tmp_path / f"{n}.jsonl") for n in (1, 2)]
    rules = tmp_path / "rules.json"
    plain = {f"/a?id={n}": page(n) for n in range(30)}
    settings = {"SIMHASH_GATE_VERDICTS": logs[0], "CONCURRENT_REQUESTS": 1}
    with Site(plain | {f"/a?id={n}&ref=x": page(n) for n in range(30)}).running() as site:
        crawl(tmp_path, site, " ".join(site.routes), settings=settings)
        assert main(["urls", logs[0], "-o", str(rules)]) == 0
        spared = {f"/a?id={n}&ref=y;jsessionid={SESSIONS[0]}": page(50 + n) for n in range(30)}
        past = {"/a?id=1&ref=past": page(99), "/a?id=2&ref=past": page(2)}
        site.routes, site.hits = plain | spared | past, Counter()
        settings |= {
            "SIMHASH_GATE_VERDICTS": logs[1],
            "REQUEST_FINGERPRINTER_CLASS": "duplicate_url_discarder.Fingerprinter",
            "DUD_FALLBACK_REQUEST_FINGERPRINTER_CLASS": FINGERPRINTER,
            "DUD_LOAD_RULE_PATHS": str(rules),
        }
        result = crawl(tmp_path, site, " ".join(site.routes), spider=DISCARDING, settings=settings)
    assert {*site.hits} == {*plain, *past}
    assert outcomes(result)["/a?id=1&ref=past"] == "new"
    assert result.count("dropped") == 1  # the other one is a copy, though its meta differs
    assert [len(json.loads(rules.read_text())), main(["urls", *logs, "-o", str(rules)])] == [1, 0]
    assert json.loads(rules.read_text()) == []


def test_what_the_spider_says_of_a_page_is_not_said_of_those_that_it_leads_to(tmp_path) -> None:
    words = """
    async def start(self):
        yield self.request("/a", meta={"simhash_gate_page": "one"})
    def parse(self, response):
        yield from super().parse(response)
        for href in response.css("footer a::attr(href)").getall():
            yield self.request(href, meta=response.meta)
"""
    routes = {"/a": page(1, links='<a href="/b">b</a> <a href="/c">c</a>')}
    routes |= {"/b": page(2), "/c": page(3)}
    settings = {"REQUEST_FINGERPRINTER_CLASS": FINGERPRINTER}
    result = crawl(tmp_path, routes, "", spider=words, settings=settings)
    assert outcomes(result) == dict.fromkeys(routes, "new")
