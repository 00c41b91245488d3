"""Crawls that ask for known pages only if they have changed, of servers that lie and that don't."""

import hashlib
import json
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from itertools import count
from pathlib import Path
from typing import ClassVar

import pytest

from simhash_gate.history.validators import FEWEST_UNCHANGED
from simhash_gate.history.versions import History
from simhash_gate.stores import open_store
from tests.crawls.harness import Answer, Answering, Crawl, Site, corrected, crawl, html_answer, page
from tests.stores.kept import histories, keep_text, texts

DROP = {
    "SIMHASH_GATE_STORE": "sqlite:///store.sqlite",
    "SIMHASH_GATE_REVALIDATE": 1e-9,
    "SIMHASH_GATE_REVISIT": "drop",
    "CONCURRENT_REQUESTS": 1,
}
KEEP = {**DROP, "SIMHASH_GATE_REVISIT": "links", "SIMHASH_GATE_KEEP_MARKDOWN": 1 << 24}
PROBED = 5  # pages of a domain that are fetched, if one has changed, before it is asked anything
PATHS = [f"/{number}" for number in range(20)]
FEW = PATHS[:10]
TELLS = """
    def parse(self, response):
        yield {**next(super().parse(response)), "body": response.text, "status": response.status,
               "stored": "simhash_gate_stored" in response.flags, "encoding": response.encoding,
               "type": response.headers["Content-Type"].decode()}
"""


def honest(answer: Answer) -> dict[str, str]:
    return {"ETag": f'"{hashlib.sha256(answer.body).hexdigest()[:16]}"'}


def dated(answer: Answer) -> dict[str, str]:
    changed = 1714557600 + zlib.crc32(answer.body) % 9999
    return {"Last-Modified": formatdate(changed, usegmt=True)}


def constant(answer: Answer) -> dict[str, str]:
    return {"ETag": '"always"'}


@dataclass
class Stated(Answering):
    """A page whose server says by some headers which version it is, and heeds conditions."""

    answer: Answer
    says: Callable[[Answer], dict[str, str]] = honest
    refusal: dict[str, str] = field(default_factory=dict)
    conditions: list[str] = field(default_factory=list)

    def answer_to(self, headers: Mapping[str, str]) -> Answer:
        said = self.says(self.answer)
        tags = headers.get("If-None-Match", "")
        since = headers.get("If-Modified-Since", "")
        self.conditions += [each for each in (tags, since) if each]
        known = said.get("ETag") in tags.split(", ") if tags else since == said.get("Last-Modified")
        if known:
            return Answer(b"", 304, {**said, **self.refusal})
        return replace(self.answer, headers={**self.answer.headers, **said})


def stated(paths=PATHS, says=honest) -> dict[str, Stated]:
    return {path: Stated(page(int(path[1:])), says) for path in paths}


def change(routes: Mapping[str, Stated], *paths: str) -> None:
    """Let pages say something else from now on."""
    for path in paths:
        routes[path].answer = page(10_000 + int(path[1:]))


def visit(folder, site: Site, paths=PATHS, settings=DROP, **kwargs) -> Crawl:
    site.answers.clear()
    return crawl(folder, site, " ".join(paths), settings=settings, **kwargs)


def answered(site: Site, status: int) -> list[str]:
    return sorted(path for path, given in site.answers if given == status)


@dataclass
class Believed:
    """A site that told of a change, so that it is believed; and the crawls that met it."""

    site: Site
    folder: Path
    first: Crawl
    second: Crawl

    def visit(self, settings=DROP, **kwargs) -> Crawl:
        return visit(self.folder, self.site, settings=settings, **kwargs)


@pytest.fixture(scope="module")
def visited_twice(tmp_path_factory):
    folder = tmp_path_factory.mktemp("believed")
    latin = page(4).body.decode().replace('charset="utf-8"', "").replace("a", "ä")
    as_latin = {"Content-Type": "text/html; charset=iso-8859-1"}
    links = "".join(f'<li><a class="story" href="{path}">{path}</a></li>' for path in PATHS)
    routes = {
        **stated(),
        "/1": Stated(page(1), dated),
        "/4": Stated(Answer(latin.encode("latin-1"), headers=as_latin)),
        "/list": Stated(html_answer(f"<title>All</title><ul class='list'>{links}</ul>")),
    }
    with Site(routes).running() as site:
        first = visit(folder, site, routes, KEEP, spider=TELLS)
        assert first.delivered() == sorted(routes)
        assert answered(site, 304) == []
        change(routes, "/0")
        second = visit(folder, site, routes, KEEP, spider=TELLS)
        assert len(answered(site, 200)) == PROBED
        assert len(answered(site, 304)) == len(routes) - PROBED
        yield Believed(site, folder, first, second)


@pytest.fixture
def believed(visited_twice, tmp_path):
    """The site as it was visited twice, in a folder of the test."""
    routes = visited_twice.site.routes
    for file in visited_twice.folder.glob("store.sqlite*"):
        shutil.copy(file, tmp_path)
    visited_twice.site.routes = {path: replace(it, conditions=[]) for path, it in routes.items()}
    yield replace(visited_twice, folder=tmp_path)
    visited_twice.site.routes = routes


def last_seen(folder: Path) -> dict[str, float]:
    with closing(open_store(f"sqlite:///{folder}/store.sqlite")) as store:
        assert len(list(histories(store))) == len(PATHS) + 1
        return {record.url: record.last_seen for record in store.records()}


def test_pages_that_an_honest_server_says_are_the_same_are_not_sent_again(believed) -> None:
    second = believed.second
    assert second.delivered() == ["/0"]
    assert second.count("unchanged") == len(PATHS)
    assert second.count("validators/sent") == 16
    assert second.count("validators/not_modified") == 16
    before = last_seen(believed.folder)
    change(believed.site.routes, "/3", "/17")
    third = believed.visit({**DROP, "SIMHASH_GATE_JOURNAL": "dropped"})
    assert third.delivered() == ["/17", "/3"]
    assert "not modified (304), last seen" in third.log
    assert third.count("journaled") == 0  # there is no page to keep
    assert len(answered(believed.site, 304)) == len(PATHS) - 2
    assert third.count("fetched") == third.count("checked") == len(PATHS)
    assert third.count("dropped") == len(PATHS) - 2
    assert third.count("updated") + third.count("rewritten") == 2
    assert third.count("validators/sent") == len(PATHS)
    assert third.count("validators/wrong") == 0
    # A 304 is a visit, and keeps the record alive.
    visited = {url for url, seen in last_seen(believed.folder).items() if seen > before.get(url, 0)}
    assert visited == {believed.site.url + path for path in PATHS}


def test_a_redirect_a_retry_a_wrong_304_and_a_page_that_was_gone_are_no_answer(believed) -> None:
    """To a condition, that is: the pages are fetched and judged as ever."""
    routes = believed.site.routes
    gone, busy, target = routes["/2"], routes["/5"], Stated(page(50))

    class Busy(Answering):
        calls = 0

        def answer_to(self, headers: Mapping[str, str]) -> Answer:
            self.calls += 1
            return Answer(b"", 503) if self.calls == 1 else busy.answer_to(headers)

    routes |= {"/2": Answer(b"gone", 410), "/5": Busy(), "/new": target}
    routes["/9"].refusal = {"ETag": '"another"'}
    routes["/19"] = Answer(b"", 301, {"Location": "/new"})
    result = believed.visit()
    assert result.delivered() == ["/new"]
    assert target.conditions == []
    assert len(busy.conditions) == 1
    assert (believed.site.answers["/9", 304], believed.site.answers["/9", 200]) == (1, 1)
    assert result.count("unchanged") == len(PATHS) - 2

    routes["/2"] = gone
    assert believed.visit().delivered() == ["/2"]
    assert gone.conditions == []


def test_the_callback_of_a_listing_runs_on_what_was_kept_and_links_are_followed(believed) -> None:
    follows = """        for link in response.css("ul.list > li > a.story::attr(href)").getall():
            yield self.request(link)
"""
    change(believed.site.routes, "/7")
    settings = {**KEEP, "SIMHASH_GATE_IGNORE": "code"}
    result = believed.visit(settings, paths=["/list"], spider=TELLS + follows)
    assert sum(believed.site.answers.values()) == 1 + len(PATHS)
    assert believed.site.answers["/list", 304] == 1
    assert result.delivered() == ["/7"]
    assert result.count("validators/not_modified") == len(PATHS)
    assert result.count("items_held") == result.count("unchanged") == len(PATHS)


def test_a_page_whose_text_is_not_kept_or_had_to_go_is_fetched(believed) -> None:
    without = {name: value for name, value in KEEP.items() if "MARKDOWN" not in name}
    result = believed.visit(without, spider=TELLS)
    assert len(answered(believed.site, 200)) == result.count("items_held") == len(PATHS)
    assert "Set SIMHASH_GATE_KEEP_MARKDOWN, or SIMHASH_GATE_REVISIT = 'drop'" in result.log
    assert result.count("validators/sent") == 0
    with closing(open_store(f"sqlite:///{believed.folder}/store.sqlite")) as store:
        keep_text(store, "else", 1, b"x", 2e9, 1)  # for nothing else there is room
        assert sum(size for *_, size in texts(store)) <= 1
    result = believed.visit(KEEP, spider=TELLS)
    assert len(answered(believed.site, 200)) == result.count("unchanged") == len(PATHS)


def test_an_unchanged_page_that_passes_is_the_very_page(believed) -> None:
    result = believed.visit({**KEEP, "SIMHASH_GATE_REVISIT": "pass"}, spider=TELLS)
    assert len(answered(believed.site, 304)) == len(result.items) == len(PATHS)
    told = {item["path"]: item for item in (*believed.first.items, *believed.second.items)}
    for item in result.items:
        before = told[item["path"]]
        assert item.pop("stored")
        assert item == {name: before[name] for name in item} | {"outcome": "unchanged"}
    assert told["/4"]["encoding"] == "cp1252"


def test_domains_requests_and_who_installs_the_gate_choose_what_is_asked(believed) -> None:
    asks = """
    def request(self, path, **kwargs):
        share = 0 if int(path[1:]) % 2 else 1e-9
        return super().request(path, meta={"simhash_gate": {"revalidate": share}}, **kwargs)
"""
    believed.visit(spider=asks)
    assert answered(believed.site, 304) == sorted(PATHS[::2])
    middlewares = {
        "simhash_gate.SimhashGateMiddleware": 20,
        "simhash_gate.ConditionalRequests": 840,
    }
    domains = {"127.0.0.1": {"revalidate": False}, "other.example": {}}
    cache = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(believed.folder / "cache")}
    for settings, asked, said in (
        ({"ADDONS": "{}", "DOWNLOADER_MIDDLEWARES": json.dumps(middlewares)}, PATHS, ""),
        ({"SIMHASH_GATE_DOMAINS": json.dumps(domains)}, [], ""),
        (cache, [], "HttpCache is on"),
    ):
        result = believed.visit({**DROP, **settings})
        assert answered(believed.site, 304) == sorted(asked)
        assert result.count("validators/sent") == len(asked)
        assert said in result.log


def test_a_request_with_conditions_of_its_own_is_left_alone(believed) -> None:
    asks = """
    handle_httpstatus_list = [304]
    def request(self, path, **kwargs):
        return super().request(path, headers={"If-None-Match": '"mine"'}, **kwargs)
    def parse(self, response):
        yield {"path": "asked", "status": response.status, "empty": not response.body}
"""
    for route in believed.site.routes.values():
        route.says = lambda _: {"ETag": '"mine"'}
    result = believed.visit(spider=asks)
    assert {(item["status"], item["empty"]) for item in result.items} == {(304, True)}
    assert result.count("skipped/status") == len(PATHS)
    assert result.count("validators/sent") == 0


def test_a_domain_whose_validators_lie_is_noticed_told_and_believed_no_more(tmp_path) -> None:
    routes = stated(FEW, says=constant)
    with Site(routes).running() as site:
        visit(tmp_path, site, FEW)
        change(routes, *FEW)
        second = visit(tmp_path, site, FEW)
        for number, path in enumerate(FEW):
            routes[path].answer = page(20_000 + number)
        third = visit(tmp_path, site, FEW)
    assert second.delivered() == FEW
    assert second.count("validators/wrong") == len(FEW)
    (warning,) = [line for line in second.log.splitlines() if "are wrong" in line]
    assert f"are wrong: {site.url}/0 and {site.url}/1 have changed" in warning
    assert third.delivered() == FEW
    assert third.count("validators/sent") == 0
    assert "without conditions until" in third.log


@pytest.mark.parametrize("parts", [[(0.3, 0)], [(1e-9, 10), (1.0, 0)]])
def test_what_never_changed_is_believed_after_many_pages_and_fetched_again_if_that_was_a_lie(
    tmp_path, parts
) -> None:
    paths = [f"/{number}" for number in range(36)]
    routes = stated(paths, says=constant)
    with Site(routes).running() as site:
        for _ in range(2):
            result = visit(tmp_path, site, paths)
            assert result.count("validators/sent") == 0
        result = visit(tmp_path, site, paths)
        assert result.count("validators/sent") == 2 * len(paths) - FEWEST_UNCHANGED
        change(routes, *paths)
        settings = {**DROP, "CONCURRENT_REQUESTS": 8, "JOBDIR": "job"}
        spared, delivered = 0, []
        for probes, items in parts:
            own = {"SIMHASH_GATE_REVALIDATE": probes, "CLOSESPIDER_ITEMCOUNT": items}
            result = visit(tmp_path, site, paths, {**settings, **own})
            spared += result.count("validators/not_modified")
            delivered += result.delivered()
    assert spared
    assert result.count("validators/wrong")
    assert result.log.count("are wrong") == 1
    assert sorted(delivered) == sorted(paths)
    assert result.count("validators/fetched_again") <= spared


def test_a_lie_of_a_domain_that_told_the_truth_before_ends_its_conditions_and_loses_nothing(
    believed,
) -> None:
    last_are_fetched = """
    def request(self, path, **kwargs):
        share = 1.0 if path in ("/18", "/19") else 1e-9
        return super().request(path, meta={"simhash_gate": {"revalidate": share}}, **kwargs)
"""
    routes = believed.site.routes
    for path in PATHS[10:]:  # the same validator, and another page
        said = routes[path].says(routes[path].answer)
        routes[path].says = lambda _, said=said: said
    change(routes, *PATHS[10:])
    result = believed.visit(spider=last_are_fetched)
    assert len(answered(believed.site, 304)) == len(PATHS) - 2
    assert result.delivered() == sorted(PATHS[10:])
    assert result.count("validators/wrong") == 10
    assert result.count("validators/fetched_again") == len(PATHS) - 2
    assert "; 18 pages that they spared in this crawl are fetched now" in result.log


SPOKEN = """
    def request(self, path, **kwargs):
        said, way = self.settings["TEST_SAYS"], int(path[1:]) % 5
        own = [{"cookies": {"lang": said}}, {"headers": {"Accept-Language": said}},
               {"headers": {"Authorization": said}}, {"headers": {"X-Region": said}}, {}]
        return super().request(path, meta={"cookiejar": way}, **own[way], **kwargs)
    def parse(self, response):
        yield {**next(super().parse(response)), "text": response.css("article").get()}
"""
SAYING = ("Cookie", "Accept-Language", "Authorization", "X-Region")


@dataclass
class Spoken(Stated):
    """A page in two languages under one validator, whose server gives each visitor a number."""

    other: Answer = field(default_factory=lambda: Answer(b""))
    vary: str = ""
    visitors: ClassVar[Iterator[int]] = count(1)

    def answer_to(self, headers: Mapping[str, str]) -> Answer:
        answer = super().answer_to(headers)
        if answer.status == 200 and any("second" in headers.get(name, "") for name in SAYING):
            answer = replace(answer, body=self.other.body)
        given = {"Vary": self.vary} if self.vary else {}
        if "visitor" not in headers.get("Cookie", ""):
            given["Set-Cookie"] = f"visitor={next(self.visitors):032x}; Path=/"
        return replace(answer, headers={**answer.headers, **given})


def test_no_condition_is_sent_for_another_variant_of_a_page(tmp_path) -> None:
    """Whatever its `Vary` says; but a visitor's number makes no variant."""
    varies = ["Cookie", "", "Accept-Encoding", "X-Region", "Accept-Encoding, Cookie"]
    routes = {
        path: Spoken(page(number), other=page(1000 + number), vary=varies[number % 5])
        for number, path in enumerate(PATHS)
    }
    routes["/10"].vary, routes["/19"].vary = "", "*"
    alike = set(PATHS[4::5]) - {"/19"}
    settings = {**KEEP, "SIMHASH_GATE_REVISIT": "pass"}
    first, second = ({**settings, "TEST_SAYS": said} for said in ("first", "second"))
    with Site(routes).running() as site:
        visit(tmp_path, site, settings=first, spider=SPOKEN)
        change(routes, "/4")
        visit(tmp_path, site, settings=first, spider=SPOKEN)
        assert len(answered(site, 304)) == len(PATHS) - PROBED - 1
        third = visit(tmp_path, site, settings=second, spider=SPOKEN)
        assert answered(site, 304) == sorted(alike)
        texts = {item["path"]: item["text"] for item in third.items}
        for path, route in routes.items():
            shown = route.answer if path in {*alike, "/19"} else route.other
            assert texts[path] in shown.body.decode()
        visit(tmp_path, site, settings=second, spider=SPOKEN)
        assert len(answered(site, 304)) == len(PATHS) - 1
    assert third.count("validators/wrong") == 0


def test_a_crawl_in_two_languages_gets_each_update_and_each_page_in_its_own(tmp_path) -> None:
    """That the other language was seen last makes a page neither a copy nor that page."""
    both = """
    async def start(self):
        for path in self.settings["TEST_PATHS"].split():
            for said in ("first", "second"):
                meta = {"cookiejar": said, "said": said}
                yield self.request(path, cookies={"lang": said}, meta=meta, dont_filter=True)
    def parse(self, response):
        item = next(super().parse(response))
        yield {**item, "said": response.meta["said"], "text": response.css("article").get()}
"""
    routes = {path: Spoken(page(n), other=page(1000 + n)) for n, path in enumerate(FEW)}

    def told(result: Crawl, outcome: str) -> list[tuple[str, str]]:
        assert len(result.items) == 2 * len(FEW)
        for item in result.items:
            route = routes[item["path"]]
            shown = route.other if item["said"] == "second" else route.answer
            assert item["text"] in shown.body.decode()
        items = [item for item in result.items if item["outcome"] == outcome]
        return sorted((item["path"], item["said"]) for item in items)

    settings = {**KEEP, "SIMHASH_GATE_REVISIT": "pass"}
    with Site(routes).running() as site:
        first = visit(tmp_path, site, FEW, settings, spider=both)
        assert len(told(first, "new")) == 2 * len(FEW)
        routes["/0"].answer = corrected(routes["/0"].answer)
        routes["/1"].other = corrected(routes["/1"].other)
        second = visit(tmp_path, site, FEW, settings, spider=both)
        assert told(second, "updated") == [("/0", "first"), ("/1", "second")]
        third = visit(tmp_path, site, FEW, {**settings, "CONCURRENT_REQUESTS": 4}, spider=both)
    assert len(told(second, "unchanged")) == 2 * len(FEW) - 2
    assert len(told(third, "unchanged")) == 2 * len(FEW)
    with closing(open_store(f"sqlite:///{tmp_path}/store.sqlite")) as store:
        kept = [len(History.decode(page.history).versions) for page in histories(store)]
    assert sorted(kept) == [2] * (len(FEW) - 2) + [3, 3]
